"""Systems that predict ratings: co-clusterings of observed cells, and what they are compared with.

A system learns from cells (pairs of a row and a column) with their values, given a seed, and
returns what predicts the values of other cells.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from rich.console import Console

from neocc import NEOCC, CellPredictor

Array: TypeAlias = np.ndarray[Any, Any]
Prediction: TypeAlias = Callable[[Array], Array]
"""Returns the values of cells."""
System: TypeAlias = Callable[[Array, Array, int], Prediction]
"""Learns from cells and their values, given a seed."""

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


def one_start(
    seed: int, n_clusters: int = 5, overlap: float = 2.0, overlap_model: str = "share"
) -> NEOCC:
    """Make one that runs once, from random memberships."""
    sides = {"n_row_clusters": n_clusters, "n_column_clusters": n_clusters}
    sides |= {"row_overlap": overlap, "column_overlap": overlap}
    once = {"init": "random", "n_init": 1, "refine": False}
    return cocluster(seed, **sides, **once, overlap_model=overlap_model)


def fitted(model: CellPredictor, pairs: Array, values: Array) -> Prediction:
    """Fit a predictor."""
    found: Prediction = model.fit(pairs, values).predict
    return found


def biases(pairs: Array, values: Array, seed: int) -> Prediction:
    """Predict by the effects of users and films alone: by a co-clustering of one block."""
    one_block = cocluster(seed, n_row_clusters=1, n_column_clusters=1)
    return fitted(CellPredictor(one_block, n_models=1, random_state=seed), pairs, values)


def searched(pairs: Array, values: Array, seed: int) -> Prediction:
    """Predict by one co-clustering, the best that a search finds."""
    best = cocluster(seed, **SINGLE, n_init=3)
    return fitted(CellPredictor(best, n_models=1, random_state=seed), pairs, values)


def mean_of(n_models: int, *settings: Any) -> System:
    """Return the mean of co-clusterings with these settings (see `one_start`)."""

    def system(pairs: Array, values: Array, seed: int) -> Prediction:
        model = CellPredictor(one_start(seed, *settings), n_models=n_models, random_state=seed)
        return fitted(model, pairs, values)

    return system


def chosen_mean(pairs: Array, values: Array, seed: int) -> Prediction:
    """Predict by the mean of sixteen; a fifth of the training ratings chooses the settings."""
    held_out = np.random.default_rng(seed).random(len(values)) < 1 / N_FOLDS

    def error(choice: tuple[int, float]) -> float:
        predict = mean_of(4, *choice)(pairs[~held_out], values[~held_out], seed)
        return float(np.mean((predict(pairs[held_out]) - values[held_out]) ** 2))

    return mean_of(16, *min(CHOICES, key=error))(pairs, values, seed)


def george_merugu(pairs: Array, values: Array, seed: int) -> Prediction:
    """Co-clusters of George and Merugu (2005), 3 x 3, as Surprise has them.

    The mean of the user plus that of the film, plus the mean of their block less those of their
    clusters; users and films join in turn the cluster that predicts their ratings best.
    """
    k, rng = 3, np.random.default_rng(seed)
    sizes = pairs.max(axis=0) + 1
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

    def predict(asked: Array) -> Array:
        known = np.isin(asked[:, 0], rows) & np.isin(asked[:, 1], columns)
        p, t = np.where(known, asked.T, 0)
        return np.where(known, of_rows[p] + of_columns[t] + table()[U[p], V[t]], mean)

    return predict


def of_surprise(name: str) -> System:
    """Return a system of Surprise, with its own defaults."""

    def system(pairs: Array, values: Array, seed: int) -> Prediction:
        import pandas as pd
        import surprise

        frame = pd.DataFrame({"user": pairs[:, 0], "film": pairs[:, 1], "value": values})
        reader = surprise.Reader(rating_scale=SCALE)
        train = surprise.Dataset.load_from_df(frame, reader).build_full_trainset()
        algorithm = getattr(surprise, name)(random_state=seed)
        algorithm.fit(train)
        return lambda asked: np.array([algorithm.predict(*pair).est for pair in asked.tolist()])

    return system


OURS: dict[str, System] = {
    "biases": biases,
    "George and Merugu, 3 x 3": george_merugu,
    "NEOCC, 5 x 5, one start": mean_of(1, 5),
    "NEOCC, 5 x 5, search": searched,
    "CellPredictor, 8 of 5 x 5": mean_of(8, 5),
    "CellPredictor, 8 of 10 x 10": mean_of(8, 10),
    "CellPredictor, 16 of a chosen size": chosen_mean,
}
THEIRS = {f"Surprise {name}": of_surprise(name) for name in ("CoClustering", "SVD", "SVDpp")}
DEFAULT = "CellPredictor, 8 of 10 x 10"
GOALS = {"NEOCC, 5 x 5, one start": 0.930, "CellPredictor, 16 of a chosen size": 0.918}
# Pairs of clusters beside shares, on other folds of the same ratings.
PAIRED: dict[str, System] = {
    "CellPredictor, 8 of 5 x 5": mean_of(8, 5),
    DEFAULT: mean_of(8, 10),
    "CellPredictor, average, 8 of 5 x 5": mean_of(8, 5, 0.5, "average"),
    "CellPredictor, average, 8 of 10 x 10": mean_of(8, 10, 0.5, "average"),
}
# For ten times as many ratings.
LARGE: dict[str, System] = {
    "biases": biases,
    "NEOCC, share, 5 x 5": mean_of(1, 5),
    "NEOCC, share, 10 x 10": mean_of(1, 10),
    "NEOCC, average, 10 x 10": mean_of(1, 10, 0.5, "average"),
    "CellPredictor, 8 of 10 x 10 (default)": mean_of(8, 10),
    "CellPredictor, 8 of 15 x 15": mean_of(8, 15),
    "CellPredictor, 8 of 20 x 20": mean_of(8, 20),
    "CellPredictor, average, 8 of 10 x 10": mean_of(8, 10, 0.5, "average"),
}
LARGE_GOALS = {
    **{name: 0.885 for name in LARGE if name.startswith("NEOCC")},
    **{name: 0.870 for name in LARGE if name.startswith("CellPredictor")},
}


def with_surprise(
    ours: dict[str, System], theirs: dict[str, System], console: Console
) -> dict[str, System]:
    """Return systems of both kinds, or ours alone if Surprise is not installed."""
    try:
        import surprise  # noqa: F401
    except ImportError:
        console.print("Surprise is left out: see python -m benchmarks.ratings --help.")
        return ours
    return {**ours, **theirs}
