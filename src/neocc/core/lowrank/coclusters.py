"""SDP-based NEO-CC: a start whose sides are relaxed, solved and rounded in turn.

For fixed clusters on one side, the other side of both objectives is a relaxed problem of `sides`.
Random row clusters give the first one: they are a random projection of the columns, and favour no
basin. From then on each side is solved for the clusters just found on the other, until that no
longer lowers the objective.
"""

from __future__ import annotations

import numpy as np

from neocc.core.engine import Engine
from neocc.core.initialise import random_start
from neocc.core.lowrank.multipliers import Relaxed, relax
from neocc.core.lowrank.relaxation import Relaxation, check_size
from neocc.core.lowrank.rounding import round_counts
from neocc.core.lowrank.sides import of_columns, of_rows
from neocc.core.problem import Problem
from neocc.kernels import Memberships

_ROUNDS = 10
# What rounding changes anyway need not be known exactly.
_TOL = 1e-2
_LEAST_GAIN = 1e-4


def sdp_start(
    data: Engine, problem: Problem, rng: np.random.Generator
) -> tuple[Memberships, Memberships]:
    """Start both sides from alternate relaxed problems; `data` is centred for the problem."""
    rows, columns = problem.rows, problem.columns
    assert rows is not None and columns is not None
    check_size(rows.n_items, rows.n_clusters, "rows")
    check_size(columns.n_items, columns.n_clusters, "columns")
    U, V = random_start(rows, rng), random_start(columns, rng)
    best, lowest = (U, V), np.inf
    row_point: Relaxed | None = None
    column_point: Relaxed | None = None
    for _ in range(_ROUNDS):
        column_point = _solve_side(of_columns(data, problem, U), V, column_point)
        V = round_counts(column_point, columns)
        side = of_rows(data, problem, V)
        row_point = _solve_side(side, U, row_point)
        U = round_counts(row_point, rows)
        objective = side.objective(*side.point(U))
        gain = lowest - objective
        if gain > 0:
            best, lowest = (U, V), objective
        if gain <= _LEAST_GAIN * objective:
            break
    return best


def _solve_side(side: Relaxation, members: Memberships, before: Relaxed | None) -> Relaxed:
    """Solve one side from where it was solved before, or from memberships."""
    start = side.point(members) if before is None else (before.Y, before.f)
    return relax(side, *start, tol=_TOL)
