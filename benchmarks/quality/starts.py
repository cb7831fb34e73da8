"""Which start serves best: single starts, and searches that begin with them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console

from benchmarks.pages import Line
from benchmarks.quality.movielens import NAMES, matrices
from benchmarks.quality.planted import SETTINGS
from benchmarks.quality.yeast import SETTING
from neocc import NEOCC
from neocc.datasets import fetch_yeast

INITS = ("neo-kmeans", "random", "spectral", "sketch")
# The largest of the planted settings tell no more than the others, and take long.
_LARGEST = 1000
_SEARCH_STARTS = 2


class Case(NamedTuple):
    """A matrix and the parameters of a fit."""

    name: str
    X: Any
    options: dict[str, Any]


def cases() -> Iterator[Case]:
    """Yield every data set of the other parts, with both objectives for the real ones."""
    real = [("yeast", fetch_yeast().data, SETTING)]
    for name in NAMES:
        data, setting = matrices(name)
        real += [(f"{name}, {kind}", X, setting) for kind, X in data.items()]
    for name, X, setting in real:
        for objective in ("mean", "residue"):
            yield Case(f"{name}, {objective}", X, {**setting, "objective": objective})
    for setting in SETTINGS:
        if setting.shape[0] <= _LARGEST:
            options = {"n_row_clusters": setting.k, "n_column_clusters": setting.l}
            name = f"planted {setting.shape[0]} x {setting.shape[1]}, "
            name += f"{setting.overlap}, {setting.outliers}, {setting.noise}"
            yield Case(name, setting.make(0)[0], options | setting.fractions)


def lines(n_seeds: int, console: Console) -> Iterator[Line]:
    """Tell how far above the lowest J known each start ends, and what it costs, in the mean."""
    yield [
        "data",
        *(f"one start, {init}" for init in INITS),
        *(f"search, {init}" for init in INITS),
    ]
    excesses, times = [], []
    for case in cases():
        J, seconds = (np.array(each) for each in zip(*_runs(case, n_seeds), strict=True))
        excess = 100 * (J.mean(axis=0) / J.min() - 1)
        excesses.append(excess)
        times.append(seconds.mean(axis=0) / seconds[:, 0].mean())
        line = [case.name, *(f"{value:.2f} %" for value in excess)]
        console.print(" | ".join(line))
        yield line
    yield ["**mean above the lowest J**", *(f"{v:.2f} %" for v in np.mean(excesses, axis=0))]
    yield ["**median**", *(f"{v:.2f} %" for v in np.median(excesses, axis=0))]
    yield ["**time, in starts of the first kind**", *(f"{v:.1f}" for v in np.mean(times, axis=0))]


def _runs(case: Case, n_seeds: int) -> Iterator[tuple[list[float], list[float]]]:
    """Yield objectives and seconds per seed: every single start, then every search."""
    for seed in range(n_seeds):
        values, seconds = [], []
        for options in (
            {"n_init": 1, "refine": False},
            {"n_init": _SEARCH_STARTS, "refine": "thorough"},
        ):
            for init in INITS:
                model = NEOCC(**case.options, **options, init=init, random_state=seed)
                begin = time.perf_counter()
                values.append(model.fit(case.X).objective_)
                seconds.append(time.perf_counter() - begin)
        yield values, seconds
