"""What each effort of a search gains and costs, on data of many kinds."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

from benchmarks.data import planted
from benchmarks.pages import Line
from benchmarks.quality.starts import Case
from benchmarks.quality.yeast import SETTING
from neocc import NEOCC
from neocc.datasets import fetch_movielens_100k, fetch_yeast, make_coclusters
from neocc.preprocessing import binormalize

_N_INIT = 10
EFFORTS: dict[str, dict[str, Any]] = {
    "plain": {"refine": False, "n_init": _N_INIT},
    "default": {"n_init": _N_INIT},
    "thorough": {"refine": "thorough", "n_init": _N_INIT},
}
# A thorough search takes long: it is made with one seed in so many.
_THOROUGH_SHARE = 4
# An objective this much higher, as a share, is the same: kernels may round differently.
_SAME = 1e-9


class Runs(NamedTuple):
    """Objectives and processor seconds of an effort, one for each seed."""

    J: np.ndarray
    seconds: np.ndarray


def cases() -> Iterator[Case]:
    """Yield dense and sparse data, with and without overlap, outliers and structure."""

    def sizes(k: int, l: int, **more: Any) -> dict[str, Any]:  # noqa: E741
        return {"n_row_clusters": k, "n_column_clusters": l, **more}

    def scaled(X: np.ndarray) -> np.ndarray:
        return (X - X.mean(axis=0)) / X.std(axis=0)

    few, heavy = {"row_overlap": 0.3, "row_outliers": 0.1}, {"row_outliers": 0.3}
    digits, noise = load_digits().data, np.random.default_rng(0).normal(size=(400, 100))
    small = planted(475, 1000, 16_000, 4)
    yield Case("digits", digits, sizes(10, 6))
    yield Case("digits, residue", digits, sizes(8, 5, objective="residue"))
    yield Case("breast cancer", scaled(load_breast_cancer().data), sizes(4, 4))
    yield Case("wine, overlap", scaled(load_wine().data), sizes(3, 3, row_overlap=0.2))
    yield Case("noise", noise, sizes(5, 5))
    for name, more in (("overlap and outliers", few), ("many outliers", heavy)):
        X = make_coclusters((500, 200), 5, 5, **more, noise=2.0, random_state=0)[0]
        yield Case(f"planted, {name}", X, sizes(5, 5, **more))
    yield Case("sparse, four clusters", small, sizes(4, 4))
    yield Case("the same, binormalized", binormalize(small), sizes(4, 4))
    yield Case("sparse, twenty clusters", planted(2000, 1000, 120_000, 20), sizes(20, 20))
    yield Case("sparse, binary", (planted(800, 300, 24_000, 6) > 0).astype(float), sizes(6, 6))
    wide = planted(300, 6000, 45_000, 6)
    yield Case("sparse, wide", wide, sizes(6, 6))
    yield Case("the same, tall", wide.T.tocsr(), sizes(6, 6))
    if "NEOCC_DATA" in os.environ:
        yield Case("MovieLens 100K", fetch_movielens_100k().data, sizes(5, 5))
        yield Case("yeast", fetch_yeast().data, SETTING)


def lines(n_seeds: int, console: Console) -> Iterator[Line]:
    """Tell how far above the lowest J known each effort ends, and its time in plain starts."""
    yield [
        "data",
        *(f"{effort}, above the lowest J" for effort in (*EFFORTS, "restarts")),
        "default above its starts",
        "default above restarts",
        *(f"time, {effort}" for effort in (*EFFORTS, "restarts") if effort != "plain"),
    ]
    n_above, n_beaten, n_runs = 0, 0, 0
    for case in cases():
        numbers = dict.fromkeys(EFFORTS, n_seeds) | {"thorough": -(-n_seeds // _THOROUGH_SHARE)}
        runs = {name: _runs(case, options, numbers[name]) for name, options in EFFORTS.items()}
        # As many starts as take the time of a default fit.
        n = round(_N_INIT * runs["default"].seconds.mean() / runs["plain"].seconds.mean())
        runs["restarts"] = _runs(case, {"refine": False, "n_init": max(n, 1)}, n_seeds)
        lowest = min(run.J.min() for run in runs.values())
        excess = {effort: 100 * (run.J / lowest - 1) for effort, run in runs.items()}
        limits = {name: runs[name].J * (1 + _SAME) for name in ("plain", "restarts")}
        above, beaten = (np.count_nonzero(each < runs["default"].J) for each in limits.values())
        n_above, n_beaten, n_runs = n_above + above, n_beaten + beaten, n_runs + n_seeds
        ratios = [runs[name].seconds.mean() / runs["plain"].seconds.mean() for name in runs]
        line = [case.name, *(f"{e.mean():.3f} %, {e.max():.3f} %" for e in excess.values())]
        line += [str(above), str(beaten), *(f"{ratio:.1f}" for ratio in ratios[1:])]
        console.print(" | ".join(line))
        yield line
    yield [
        "**runs**",
        *[""] * (len(EFFORTS) + 1),
        *(f"{n} of {n_runs}" for n in (n_above, n_beaten)),
    ]


def _runs(case: Case, options: dict[str, Any], n_seeds: int) -> Runs:
    values, seconds = [], []
    # The first run, which may compile, does not count.
    for seed in (0, *range(n_seeds)):
        begin = time.process_time()
        model = NEOCC(**case.options, **options, kernel="numba", random_state=seed, n_jobs=1)
        values.append(model.fit(case.X).objective_)
        seconds.append(time.process_time() - begin)
    return Runs(np.array(values[1:]), np.array(seconds[1:]))
