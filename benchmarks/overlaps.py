"""An iteration of the overlap model "average" against one of "repeat", at the same counts.

Part of `python -m benchmarks iterations`. Both models run in one process and take turns. On one
thread processor time counts; on two what a clock on the wall shows, the best of all turns.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from benchmarks import data
from benchmarks.iterations import FEW, in_words, interleaved, judged, long_run
from benchmarks.pages import Line
from neocc.core.objectives import MEAN
from neocc.core.overlap import bounded_model
from neocc.core.problem import Counts, Problem
from neocc.core.solve import Solution, solve
from neocc.core.steps import Pair
from neocc.datasets import fetch_yeast
from neocc.engines import Workers, open_engine
from neocc.engines.reading import as_matrix
from neocc.kernels import get_kernels

OUTLIERS = (0.0, 0.05)
THREADS = (1, 2)


@dataclass(frozen=True)
class Case:
    """A matrix, the numbers of its clusters and their overlaps, and the goal without outliers."""

    name: str
    make: Callable[[], Any]
    n_clusters: tuple[int, int]
    overlaps: tuple[float, float]
    goal: float


CASES = (
    Case("10 million entries, 20 x 20, overlap 0.1", data.planted, (20, 20), (0.1, 0.1), 2.0),
    Case("10 million entries, 20 x 20, overlap 0.2", data.planted, (20, 20), (0.2, 0.2), 2.0),
    Case("yeast, 14 x 3, overlap 3.24, 0.2", lambda: fetch_yeast().data, (14, 3), (3.237, 0.2), 3),
)


def lines(repeats: int, cases: tuple[Case, ...] = CASES) -> Iterator[Line]:
    """Measure all cases, with and without outliers, on one thread and on two."""
    yield ["matrix, clusters", "outliers", "threads", "repeat", "average", "ratio", "goal"]
    for case in cases:
        matrix = as_matrix(case.make())
        for outliers in OUTLIERS:
            for n_threads in THREADS:
                times = _times(case, matrix, outliers, n_threads, repeats)
                ratio = times[1] / times[0]
                words = [f"{outliers:g}", str(n_threads), *map(in_words, times)]
                goal = judged(ratio, None if outliers else case.goal)
                yield [case.name, *words, f"{ratio:.2f}", goal]


def _times(case: Case, matrix: Any, outliers: float, n_threads: int, repeats: int) -> list[float]:
    """Return the seconds of an iteration of each model."""
    sides = zip(matrix.shape, case.n_clusters, case.overlaps, strict=True)
    counts = tuple(Counts.from_fractions(*side, outliers) for side in sides)
    clock = time.process_time if n_threads == 1 else time.perf_counter
    with Workers(n_threads) as workers:
        engine = open_engine(matrix, get_kernels("numba", 0), workers)

        def run(name: str, pair: Pair, n_iter: int) -> Solution:
            model = bounded_model(name, None, "mean", case.overlaps)
            problem = Problem(MEAN, *counts, max_iter=n_iter, tol=0.0, overlap_model=model)
            return solve(engine.centred(problem.centring), problem, pair)

        calls, numbers = [], []
        for name in ("repeat", "average"):
            pair, many = long_run(counts, partial(run, name))
            calls += [partial(run, name, pair, FEW), partial(run, name, pair, many)]
            numbers.append(many - FEW)
        found = interleaved(*calls, repeats=repeats, clock=clock)
    return [
        (long - short) / n for short, long, n in zip(found[::2], found[1::2], numbers, strict=True)
    ]
