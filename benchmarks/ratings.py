"""`python -m benchmarks.ratings [PART ...]` predicts ratings that were held out.

Parts: `predictions` (MovieLens 100K, five folds, as many times as there are seeds: biases,
co-clustering of George and Merugu, NEOCC over observed cells and means of several fits, beside the
systems of Surprise if it is installed), `fresh` (some of them on other folds) and `observed` (one
iteration over observed cells against one of NEO-CC-M on MovieLens 1M). `--write docs/ratings.md`
keeps their tables.

Surprise is not needed by neocc, and is best kept apart from it:

    pip install --no-deps --target FOLDER scikit-surprise
    PYTHONPATH=FOLDER python -m benchmarks.ratings

Times are seconds of CPU on one thread for one fold: fitting and predicting, and choosing settings.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from rich.console import Console

from benchmarks.data import movielens_1m
from benchmarks.iterations import in_words, interleaved, judged
from benchmarks.pages import Line
from benchmarks.parts import Part, run_parts
from neocc import NEOCC, CellPredictor, RedundancyWarning
from neocc.core.initialise import random_pair
from neocc.core.objectives import find_objective
from neocc.core.overlap import OverlapModel, bounded_model
from neocc.core.problem import Counts, Problem
from neocc.core.solve import solve
from neocc.datasets import fetch_movielens_100k
from neocc.engines import Workers, open_engine
from neocc.engines.observed import read_observed
from neocc.engines.reading import as_matrix
from neocc.kernels import get_kernels

Array: TypeAlias = np.ndarray[Any, Any]
System: TypeAlias = Callable[[Array, Array, Array, int], Array]
"""Predicts the values of cells, given others with theirs, and a seed."""

N_FOLDS = 5
SCALE = (1.0, 5.0)
# Chosen in advance, from the number of ratings: about 4,000 of them for each block mean.
SINGLE = {"n_row_clusters": 5, "n_column_clusters": 5, "row_overlap": 2, "column_overlap": 2}
# What a part of the training ratings chooses from, by the numbers of clusters and the overlap.
CHOICES = ((5, 2.0), (8, 2.0), (10, 2.0))


def cocluster(seed: int, **options: Any) -> NEOCC:
    """Make a co-clustering over observed cells."""
    given = {"overlap_model": "share", "missing": "ignore", "remove_effects": True, "n_jobs": 1}
    return NEOCC(**{**given, "random_state": seed, **options})


def one_start(seed: int, n_clusters: int = 5, overlap: float = 2.0) -> NEOCC:
    """Make one that runs once, from random memberships."""
    sides = {"n_row_clusters": n_clusters, "n_column_clusters": n_clusters}
    sides |= {"row_overlap": overlap, "column_overlap": overlap}
    return cocluster(seed, **sides, init="random", n_init=1, refine=False)


def predicted(model: CellPredictor, pairs: Array, values: Array, asked: Array) -> Array:
    """Fit a predictor, and predict."""
    found: Array = model.fit(pairs, values).predict(asked)
    return found


def biases(pairs: Array, values: Array, asked: Array, seed: int) -> Array:
    """Predict by the effects of users and films alone: by a co-clustering of one block."""
    one_block = cocluster(seed, n_row_clusters=1, n_column_clusters=1)
    model = CellPredictor(one_block, n_models=1, random_state=seed)
    return predicted(model, pairs, values, asked)


def single(pairs: Array, values: Array, asked: Array, seed: int) -> Array:
    """Predict by one co-clustering from one start."""
    model = CellPredictor(one_start(seed), n_models=1, random_state=seed)
    return predicted(model, pairs, values, asked)


def searched(pairs: Array, values: Array, asked: Array, seed: int) -> Array:
    """Predict by one co-clustering, the best that a search finds."""
    model = CellPredictor(cocluster(seed, **SINGLE, n_init=3), n_models=1, random_state=seed)
    return predicted(model, pairs, values, asked)


def mean_of(n_clusters: int) -> System:
    """Return the mean of eight co-clusterings of so many clusters on each side."""

    def system(pairs: Array, values: Array, asked: Array, seed: int) -> Array:
        model = CellPredictor(one_start(seed, n_clusters), random_state=seed)
        return predicted(model, pairs, values, asked)

    return system


def chosen_mean(pairs: Array, values: Array, asked: Array, seed: int) -> Array:
    """Predict by the mean of sixteen; a fifth of the training ratings chooses the settings."""
    held_out = np.random.default_rng(seed).random(len(values)) < 1 / N_FOLDS

    def error(choice: tuple[int, float]) -> float:
        model = CellPredictor(one_start(seed, *choice), n_models=4, random_state=seed)
        found = predicted(model, pairs[~held_out], values[~held_out], pairs[held_out])
        return float(np.mean((found - values[held_out]) ** 2))

    best = min(CHOICES, key=error)
    model = CellPredictor(one_start(seed, *best), n_models=16, random_state=seed)
    return predicted(model, pairs, values, asked)


def george_merugu(pairs: Array, values: Array, asked: Array, seed: int) -> Array:
    """Co-clusters of George and Merugu (2005), 3 x 3, as Surprise has them.

    The mean of the user plus that of the film, plus the mean of their block less those of their
    clusters; users and films join in turn the cluster that predicts their ratings best.
    """
    k, rng = 3, np.random.default_rng(seed)
    sizes = [max(pairs[:, side].max(), asked[:, side].max()) + 1 for side in (0, 1)]
    rows, columns = pairs.T
    mean = values.mean()

    def means(places: Array, n: int, by: Array = values) -> Array:
        total, number = np.bincount(places, by, n), np.bincount(places, minlength=n)
        return np.where(number > 0, total / np.maximum(number, 1), mean)

    of_rows, of_columns = means(rows, sizes[0]), means(columns, sizes[1])
    U, V = (rng.integers(k, size=size) for size in sizes)
    rest = values - of_rows[rows] - of_columns[columns]

    def table() -> Array:
        blocks = means(U[rows] * k + V[columns], k * k).reshape(k, k)
        found: Array = blocks - means(U[rows], k)[:, None] - means(V[columns], k)
        return found

    def nearest(items: Array, n: int, levels: Array) -> Array:
        """Return the cluster of each item whose levels are nearest to the rest of its ratings."""
        errors = [np.bincount(items, (rest - level) ** 2, n) for level in levels]
        return np.argmin(errors, axis=0)

    for _ in range(20):
        U = nearest(rows, sizes[0], table()[:, V[columns]])
        V = nearest(columns, sizes[1], table()[U[rows]].T)
    known = np.isin(asked[:, 0], rows) & np.isin(asked[:, 1], columns)
    p, t = asked.T
    return np.where(known, of_rows[p] + of_columns[t] + table()[U[p], V[t]], mean)


def of_surprise(name: str) -> System:
    """Return a system of Surprise, with its own defaults."""

    def system(pairs: Array, values: Array, asked: Array, seed: int) -> Array:
        import pandas as pd
        import surprise

        frame = pd.DataFrame({"user": pairs[:, 0], "film": pairs[:, 1], "value": values})
        reader = surprise.Reader(rating_scale=SCALE)
        train = surprise.Dataset.load_from_df(frame, reader).build_full_trainset()
        algorithm = getattr(surprise, name)(random_state=seed)
        algorithm.fit(train)
        return np.array([algorithm.predict(*pair).est for pair in asked.tolist()])

    return system


OURS: dict[str, System] = {
    "biases": biases,
    "George and Merugu, 3 x 3": george_merugu,
    "NEOCC, 5 x 5, one start": single,
    "NEOCC, 5 x 5, search": searched,
    "CellPredictor, 8 of 5 x 5": mean_of(5),
    "CellPredictor, 8 of 10 x 10": mean_of(10),
    "CellPredictor, 16 of a chosen size": chosen_mean,
}
THEIRS = {f"Surprise {name}": of_surprise(name) for name in ("CoClustering", "SVD", "SVDpp")}
DEFAULT = "CellPredictor, 8 of 10 x 10"
GOALS = {"NEOCC, 5 x 5, one start": 0.930, "CellPredictor, 16 of a chosen size": 0.918}


def systems(console: Console) -> dict[str, System]:
    """Return all systems that can run."""
    try:
        import surprise  # noqa: F401
    except ImportError:
        console.print("Surprise is left out: see python -m benchmarks.ratings --help.")
        return OURS
    return {**OURS, **THEIRS}


def prediction_lines(n_seeds: int, console: Console, first: int = 0) -> Iterator[Line]:
    """Compare the errors of all systems over five folds for each seed, from the first on.

    Folds of later seeds are for systems with a goal, and the default of the predictor.
    """
    yield ["system", "RMSE", "spread over folds", "MAE", "seconds", "goal"]
    ratings = fetch_movielens_100k().data.tocoo()
    pairs, values = np.column_stack([ratings.row, ratings.col]), ratings.data.astype(np.float64)
    compared = systems(console)
    if first > 0:
        compared = {name: OURS[name] for name in (*GOALS, DEFAULT)}
    for name, system in compared.items():
        errors = []
        for seed in range(first, first + n_seeds):
            order = np.random.default_rng(seed).permutation(len(values))
            for fold, test in enumerate(np.array_split(order, N_FOLDS)):
                train = np.setdiff1d(order, test)
                start = time.process_time()
                found = system(pairs[train], values[train], pairs[test], seed * N_FOLDS + fold)
                seconds = time.process_time() - start
                rest = np.clip(found, *SCALE) - values[test]
                errors.append((np.sqrt(np.mean(rest**2)), np.abs(rest).mean(), seconds))
        squared, absolute, seconds = np.transpose(errors)
        goal, rmse = GOALS.get(name), squared.mean()
        met = "" if goal is None else f"<= {goal}: {'met' if rmse <= goal else 'not met'}"
        line = [name, f"{rmse:.4f}", f"{squared.std():.4f}", f"{absolute.mean():.4f}"]
        line += [f"{np.median(seconds):.1f}", met]
        console.print(" | ".join(line), highlight=False)
        yield line


def observed_lines(n_seeds: int, console: Console) -> Iterator[Line]:
    """Time one iteration over observed cells beside one of NEO-CC-M, from the same starts."""
    yield ["clusters", "overlap", "overlap model", "observed", "all cells", "ratio", "goal"]
    X = movielens_1m()
    if X is None:
        console.print("MovieLens 1M is left out: set NEOCC_DATA to a folder that holds it.")
        return
    for k, overlap, model in ((10, 0.0, "repeat"), (10, 0.2, "repeat"), (10, 0.2, "share")):
        counts = [Counts.from_fractions(size, k, overlap, 0.0) for size in X.shape]
        rule = bounded_model(model, None, "mean")
        times = iteration_times(X, counts, rule, n_seeds)
        ratio = times[0] / times[1]
        line = [f"{k} x {k}", f"{overlap:g}", model, *map(in_words, times)]
        line += [f"{ratio:.2f}", judged(ratio, 2.5)]
        console.print(" | ".join(line), highlight=False)
        yield line


def iteration_times(
    X: Any, counts: list[Counts], rule: OverlapModel, n_seeds: int, few: int = 2, many: int = 10
) -> tuple[float, float]:
    """Return the seconds of an iteration over observed cells, and of one over all cells."""
    observed, plain = find_objective("mean", "ignore", 10.0), find_objective("mean")
    kernels = get_kernels("numba", 0)
    with Workers(1) as workers:
        engines = [
            (open_engine(matrix, kernels, workers), Problem(of, *counts, tol=0.0))
            for matrix, of in ((read_observed(X), observed), (as_matrix(X), plain))
        ]
        problems = [(engine, replace(each, overlap_model=rule)) for engine, each in engines]
        pair = random_pair(problems[0][1], np.random.default_rng(0))

        def run(place: int, n: int) -> Callable[[], object]:
            engine, problem = problems[place]
            return lambda: solve(engine, replace(problem, max_iter=n), pair)

        calls = [run(place, n) for place in (0, 1) for n in (few, many)]
        short, long, other_short, other_long = interleaved(*calls, repeats=3 * n_seeds)
    return (long - short) / (many - few), (other_long - other_short) / (many - few)


PARTS: dict[str, Part] = {
    "predictions": (prediction_lines, 2),
    # Nobody had looked at these folds when settings were decided upon.
    "fresh": (partial(prediction_lines, first=2), 1),
    "observed": (observed_lines, 2),
}


if __name__ == "__main__":
    warnings.simplefilter("ignore", RedundancyWarning)
    run_parts("benchmarks.ratings", __doc__, PARTS)
