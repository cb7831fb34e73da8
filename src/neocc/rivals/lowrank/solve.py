"""From the relaxations to memberships: of the rows alone, and of both sides of NEO-CC.

`solve_relaxed` is NEO-K-Means: it solves the relaxation, rounds the result and refines what was
rounded.

`sdp_start` is a start of NEO-CC. For a fixed side, be it memberships or a relaxed point, the other
side of both objectives is a relaxed problem of `sides`, and the sides are solved in turn. Random
row clusters give the first problem: they are a random projection of the columns and favour no
basin. Memberships are rounded only once neither side changes any more: rounding in between would
freeze what the other side still moves. Both ways of rounding compete.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from neocc.core.engine import Engine
from neocc.core.initialise import random_start
from neocc.core.problem import Counts, Problem
from neocc.core.search import local_search
from neocc.core.solve import Report, Solution, solve
from neocc.core.steps import Pair
from neocc.kernels import Memberships
from neocc.rivals.lowrank.multipliers import Relaxed, Solver, relax
from neocc.rivals.lowrank.relaxation import Point, Relaxation, average, check_size, point_of
from neocc.rivals.lowrank.rounding import round_clusters, round_counts
from neocc.rivals.lowrank.sides import of_columns, of_points, of_rows

Rounding: TypeAlias = Literal["clusters", "counts"]

_ROUNDINGS: dict[Rounding, Callable[[Relaxed, Relaxation], Memberships]] = {
    "clusters": round_clusters,
    "counts": lambda relaxed, relaxation: round_counts(relaxed, relaxation.counts),
}

# Of a start of NEO-CC: memberships that a random point is the average of, and rounds.
_STARTS = 1
_ROUNDS = 15
# What the next round and the rounding change anyway need not be known exactly.
_UPDATES = 3
_TOL = 1e-2
_LEAST_GAIN = 3e-4


@dataclass(frozen=True)
class RoundedSolution(Solution):
    """A solution together with the relaxed point that it was rounded from."""

    relaxed: Relaxed


def solve_relaxed(
    data: Engine,
    problem: Problem,
    starts: Sequence[Memberships],
    *,
    solver: Solver,
    rounding: Rounding,
    refine: bool,
    max_iter: int,
    tol: float,
    report: Report | None = None,
) -> RoundedSolution:
    """Minimise a one-way problem over the rows of `data` from the average of feasible memberships.

    Each of `starts` adds as many columns to Y as there are clusters. `max_iter` and `tol` are those
    of the relaxation; refinement has the problem's own.
    """
    assert problem.rows is not None
    check_size(problem.rows, len(starts) * problem.rows.n_clusters, "rows")
    relaxation = of_points(data, problem.rows)
    start = average([point_of(U) for U in starts])
    relaxed = relax(relaxation, start, solver=solver, max_iter=max_iter, tol=tol, report=report)
    members = _ROUNDINGS[rounding](relaxed, relaxation)
    if refine:
        found = local_search(data, problem, solve(data, problem, (members, None)))
    else:
        found = solve(data, replace(problem, max_iter=0), (members, None))
    return RoundedSolution(**vars(found), relaxed=relaxed)


def sdp_start(data: Engine, problem: Problem, rng: np.random.Generator) -> Pair:
    """Start both sides from alternate relaxed problems; `data` is centred for the problem."""
    assert problem.rows is not None and problem.columns is not None
    row_point = _random_point(problem.rows, "rows", rng)
    column_point = _random_point(problem.columns, "columns", rng)
    previous = np.inf
    for _ in range(_ROUNDS):
        columns = _relax(of_columns(data, problem, row_point), column_point)
        column_point = columns.point
        side = of_rows(data, problem, column_point)
        rows = _relax(side, row_point)
        row_point = rows.point
        if rows.objective >= (1.0 - _LEAST_GAIN) * previous:
            break
        previous = rows.objective
    U = round_clusters(rows, side)
    V = round_clusters(columns, of_columns(data, problem, point_of(U)))
    starts = [(U, V), (round_counts(rows, problem.rows), round_counts(columns, problem.columns))]
    found = min((solve(data, problem, each) for each in starts), key=lambda run: run.objective)
    return found.pair


def _relax(side: Relaxation, start: Point) -> Relaxed:
    return relax(side, start, max_iter=_UPDATES, tol=_TOL)


def _random_point(counts: Counts, items: str, rng: np.random.Generator) -> Point:
    check_size(counts, _STARTS * counts.n_clusters, items)
    return average([point_of(random_start(counts, rng)) for _ in range(_STARTS)])
