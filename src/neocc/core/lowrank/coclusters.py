"""SDP-based NEO-CC: a start for which both sides are relaxed, and solved in turn.

For a fixed side, be it memberships or a relaxed point, the other side of both objectives is a
relaxed problem of `sides`. Random row clusters give the first one: they are a random projection of
the columns and favour no basin. Memberships are rounded only once neither side changes any more:
rounding in between would freeze what the other side still moves. Both ways of rounding compete.
"""

from __future__ import annotations

import numpy as np

from neocc.core.engine import Engine
from neocc.core.initialise import random_start
from neocc.core.lowrank.multipliers import Relaxed, relax
from neocc.core.lowrank.relaxation import Point, Relaxation, average, check_size, point_of
from neocc.core.lowrank.rounding import round_clusters, round_counts
from neocc.core.lowrank.sides import of_columns, of_rows
from neocc.core.problem import Counts, Problem
from neocc.core.solve import solve
from neocc.kernels import Memberships

# Memberships that a random point is the average of.
_STARTS = 1
_ROUNDS = 15
# What the next round and the rounding change anyway need not be known exactly.
_UPDATES = 3
_TOL = 1e-2
_LEAST_GAIN = 3e-4


def sdp_start(
    data: Engine, problem: Problem, rng: np.random.Generator
) -> tuple[Memberships, Memberships]:
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
    found = min((solve(data, problem, *each) for each in starts), key=lambda run: run.objective)
    assert found.U is not None and found.V is not None
    return found.U, found.V


def _relax(side: Relaxation, start: Point) -> Relaxed:
    return relax(side, start, max_iter=_UPDATES, tol=_TOL)


def _random_point(counts: Counts, items: str, rng: np.random.Generator) -> Point:
    check_size(counts, _STARTS * counts.n_clusters, items)
    return average([point_of(random_start(counts, rng)) for _ in range(_STARTS)])
