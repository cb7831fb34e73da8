"""ROCC, step 1: a grid that leaves out rows and columns a few at a time.

The pressure schedule is that of Bregman bubble clustering.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from neocc.core.engine import Engine
from neocc.core.problem import Counts, Problem
from neocc.core.solve import Solution, continued
from neocc.engines.validation import make_counts

# Clusters on each side of the grid where nothing says how many co-clusters there are.
_DEFAULT_GRID = 6

# A phase need not converge: the next one takes over from wherever it stands.
_PHASE_ITERATIONS = 3


def grid_counts(
    shape: tuple[int, int],
    n_coclusters: int | None,
    n_clusters: tuple[int | None, int | None],
    outliers: tuple[float, float],
) -> tuple[Counts, Counts]:
    """Return the counts of both sides of the grid, given those of rows and columns."""
    default = _DEFAULT_GRID if n_coclusters is None else 2 * n_coclusters
    rows, columns = (
        make_counts(side, n, min(default, n) if k is None else k, -left_out, left_out)
        for side, n, k, left_out in zip(("row", "column"), shape, n_clusters, outliers, strict=True)
    )
    n_blocks = rows.n_clusters * columns.n_clusters
    if n_coclusters is not None and n_coclusters > n_blocks:
        raise ValueError(
            f"n_coclusters={n_coclusters} is more than the {rows.n_clusters} x "
            f"{columns.n_clusters} blocks of the grid. Raise n_row_clusters or n_column_clusters."
        )
    return rows, columns


def exhaustive(problem: Problem) -> Problem:
    """Return the problem that keeps every row and column: where the pressure starts."""
    return _under_pressure(problem, 0.0, 0.0)


def pressurise(data: Engine, problem: Problem, solution: Solution, decay: float) -> Solution:
    """Carry a solution of the exhaustive problem on to one that leaves out all it may.

    The numbers of items still kept beyond those of `problem` shrink as floor(b decay^t),
    t = 1, 2, ...; the last phase, with none left, runs until it converges.
    """
    for phase in _phases(problem, decay):
        solution = continued(data, phase, solution)
    return solution


def _phases(problem: Problem, decay: float) -> Iterator[Problem]:
    assert problem.rows is not None and problem.columns is not None
    sides = (problem.rows, problem.columns)
    factor = decay
    while any(math.floor(side.max_outliers * factor) > 0 for side in sides):
        phase = _under_pressure(problem, *(_share_let_go(side, factor) for side in sides))
        yield replace(phase, max_iter=min(_PHASE_ITERATIONS, problem.max_iter))
        factor *= decay
    yield problem


def _share_let_go(side: Counts, factor: float) -> float:
    outliers = side.max_outliers
    return 1.0 - math.floor(outliers * factor) / outliers if outliers else 0.0


def _under_pressure(problem: Problem, row_share: float, column_share: float) -> Problem:
    """Return the problem with shares of its outliers."""
    assert problem.rows is not None and problem.columns is not None
    return replace(
        problem,
        rows=problem.rows.with_outliers(row_share),
        columns=problem.columns.with_outliers(column_share),
    )
