"""What a round of refinement costs, in iterations of the plain alternation."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from rich.console import Console

from benchmarks import data
from benchmarks.pages import Line
from benchmarks.quality.yeast import SETTING
from neocc.core.objectives import OBJECTIVES
from neocc.core.problem import Counts, Problem
from neocc.core.samples import SAMPLING, Sample, draw_sample
from neocc.core.search.local import local_search, rounds
from neocc.core.search.perturb import Bandit
from neocc.core.search.starts import run_starts
from neocc.datasets import fetch_yeast
from neocc.engines import Workers, open_engine
from neocc.engines.reading import as_matrix
from neocc.kernels import get_kernels

_PATIENCE = 10


def lines(n_seeds: int, console: Console) -> Iterator[Line]:
    """Time iterations, rounds and the closing swaps from the same converged solutions."""
    yield [
        "data",
        "objective",
        "iteration",
        "round",
        "ratio",
        "closing swaps",
        "ratio",
    ]
    movielens = data.movielens_1m()
    cases: list[tuple[str, Any, tuple[int, int], tuple[float, float]]] = [
        ("yeast", fetch_yeast().data, (14, 3), (SETTING["row_overlap"], SETTING["column_overlap"]))
    ]
    if movielens is not None:
        cases.append(("MovieLens 1M", movielens, (10, 10), (0.1, 0.1)))
    for name, X, (k, other), (row_overlap, column_overlap) in cases:
        rows = Counts.from_fractions(X.shape[0], k, row_overlap, 0.0)
        columns = Counts.from_fractions(X.shape[1], other, column_overlap, 0.0)
        for objective in ("mean", "residue"):
            times = [
                _times(
                    X, Problem(OBJECTIVES[objective], rows, columns), np.random.default_rng(seed)
                )
                for seed in range(n_seeds)
            ]
            iteration, one_round, closing = np.median(times, axis=0)
            line = [name, objective, f"{1e3 * iteration:.2f} ms"]
            line += [f"{1e3 * one_round:.1f} ms", f"{one_round / iteration:.1f}"]
            line += [f"{1e3 * closing:.0f} ms", f"{closing / iteration:.0f}"]
            console.print(" | ".join(line))
            yield line


def _times(X: Any, problem: Problem, rng: np.random.Generator) -> tuple[float, float, float]:
    """Return the seconds of an iteration, of a round, and of local search, where it makes them.

    That is on all rows, or on the sample that a search of a large matrix runs on.
    """
    matrix = as_matrix(X, None)
    with Workers() as workers:
        engine = open_engine(matrix, get_kernels("auto", matrix.n_stored), workers)
        data = engine.centred(problem.centring)
        where = None
        if engine.n_stored > SAMPLING.largest_searched:
            where = draw_sample(engine, data, problem, rng)
        where = where or Sample(engine, data, problem)
        begin = time.perf_counter()
        (found,) = run_starts(where.engine, where.problem, "random", [rng])
        iteration = (time.perf_counter() - begin) / max(1, found.n_iter)
        bandit = Bandit()
        before = bandit.tries.sum()
        begin = time.perf_counter()
        better = rounds(where.data, where.problem, found, _PATIENCE, rng, bandit)
        one_round = (time.perf_counter() - begin) / (bandit.tries.sum() - before)
        begin = time.perf_counter()
        local_search(where.data, where.problem, better)
        return iteration, one_round, time.perf_counter() - begin
