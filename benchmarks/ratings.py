"""`python -m benchmarks.ratings [PART ...]` predicts ratings that were held out.

Parts: `predictions` (MovieLens 100K, five folds, as many times as there are seeds: biases,
co-clustering of George and Merugu, NEOCC over observed cells and means of several fits, beside the
systems of Surprise if it is installed), `fresh` (some of them on other folds, and pairs of clusters
in place of shares), `large` (MovieLens 1M, a fifth held out) and `genres` (groups of films beside
genres). `--write docs/ratings-study.md` keeps their tables.

Surprise is not needed by neocc, and is best kept apart from it:

    pip install --no-deps --target FOLDER scikit-surprise
    PYTHONPATH=FOLDER python -m benchmarks.ratings

Times are seconds of CPU on one thread for one fold: fitting and predicting, and choosing settings.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
from rich.console import Console

from benchmarks.genres import genre_lines
from benchmarks.iterations import judged
from benchmarks.pages import Line
from benchmarks.parts import Part, run_parts
from benchmarks.predictors import (
    GOALS,
    LARGE,
    LARGE_GOALS,
    N_FOLDS,
    OURS,
    PAIRED,
    SCALE,
    THEIRS,
    Array,
    System,
    with_surprise,
)
from neocc import RedundancyWarning
from neocc.datasets import fetch_movielens_1m, fetch_movielens_100k


class Result(NamedTuple):
    """Errors of the ratings held out, and seconds of CPU."""

    rmse: float
    mae: float
    fitting: float
    predicting: float


def cells_of(X: object) -> tuple[Array, Array]:
    """Return the cells of a sparse matrix, as pairs, and their values."""
    ratings = X.tocoo()  # type: ignore[attr-defined]
    return np.column_stack([ratings.row, ratings.col]), ratings.data.astype(np.float64)


def held_out(system: System, pairs: Array, values: Array, test: Array, seed: int) -> Result:
    """Fit a system to all cells but some, and predict these."""
    train = np.setdiff1d(np.arange(len(values)), test)
    start = time.process_time()
    predict = system(pairs[train], values[train], seed)
    middle = time.process_time()
    found = predict(pairs[test])
    end = time.process_time()
    rest = np.clip(found, *SCALE) - values[test]
    rmse, mae = float(np.sqrt(np.mean(rest**2))), float(np.abs(rest).mean())
    return Result(rmse, mae, middle - start, end - middle)


def folds(n: int, seed: int) -> list[Array]:
    """Cut the numbers below n into folds at random."""
    return np.array_split(np.random.default_rng(seed).permutation(n), N_FOLDS)


def prediction_lines(n_seeds: int, console: Console, first: int = 0) -> Iterator[Line]:
    """Compare the errors of all systems over five folds for each seed, from the first on.

    Folds of later seeds are for systems with a goal, and for pairs of clusters beside shares.
    """
    yield ["system", "RMSE", "spread over folds", "MAE", "seconds", "goal"]
    pairs, values = cells_of(fetch_movielens_100k().data)
    if first > 0:
        compared = {name: OURS[name] for name in GOALS} | PAIRED
    else:
        compared = with_surprise(OURS, THEIRS, console)
    for name, system in compared.items():
        results = [
            held_out(system, pairs, values, test, seed * N_FOLDS + fold)
            for seed in range(first, first + n_seeds)
            for fold, test in enumerate(folds(len(values), seed))
        ]
        rmse, mae, fitting, predicting = np.transpose(results)
        line = [name, f"{rmse.mean():.4f}", f"{rmse.std():.4f}", f"{mae.mean():.4f}"]
        line += [f"{np.median(fitting + predicting):.1f}", judged(rmse.mean(), GOALS.get(name))]
        console.print(" | ".join(line), highlight=False)
        yield line


def large_lines(n_seeds: int, console: Console) -> Iterator[Line]:
    """Compare errors on MovieLens 1M: for each seed one fold is held out."""
    yield ["system", "RMSE", "MAE", "fitting", "predicting", "goal"]
    pairs, values = cells_of(fetch_movielens_1m().data)
    theirs = {"Surprise SVD": THEIRS["Surprise SVD"]}
    for name in ("NEOCC, share, 10 x 10", "NEOCC, average, 10 x 10"):
        LARGE[name](pairs, values, 0)  # loads compiled code
    for name, system in with_surprise(LARGE, theirs, console).items():
        tests = [folds(len(values), seed)[0] for seed in range(n_seeds)]
        results = [held_out(system, pairs, values, test, at) for at, test in enumerate(tests)]
        rmse, mae, fitting, predicting = np.mean(results, axis=0)
        line = [name, f"{rmse:.4f}", f"{mae:.4f}", f"{fitting:.1f} s", f"{predicting:.1f} s"]
        line.append(judged(rmse, LARGE_GOALS.get(name)))
        console.print(" | ".join(line), highlight=False)
        yield line


PARTS: dict[str, Part] = {
    "predictions": (prediction_lines, 2),
    # Nobody had looked at these folds when settings were decided upon.
    "fresh": (partial(prediction_lines, first=2), 1),
    "large": (large_lines, 2),
    "genres": (genre_lines, 3),
}


if __name__ == "__main__":
    warnings.simplefilter("ignore", RedundancyWarning)
    run_parts("benchmarks.ratings", __doc__, PARTS)
