"""The relaxed problems that data make: of the rows alone, and of either side of NEO-CC.

For a fixed point (Yc, w) of the columns the rows of NEO-CC are, with P = X Yc and
base_p = sum_t w_t x_pt^2,

* `"mean"` (NEO-CC-M): K = P P' and d = base;
* `"residue"` (NEO-CC-RCM): K = X D(w) X' - P P' and d_p = base_p - |P_p|^2.

Where the point is that of memberships V, with columns v_j / sqrt(m_j) and w = V 1, these are the
objectives of `neocc.core.objectives` as U varies. Columns follow with the roles exchanged.
"""

from __future__ import annotations

import numpy as np

from neocc._typing import FloatArray
from neocc.core.engine import Engine
from neocc.core.problem import Counts, Problem
from neocc.rivals.lowrank.relaxation import Point, Product, Relaxation


def of_points(engine: Engine, counts: Counts) -> Relaxation:
    """Return the relaxed problem of NEO-K-Means on the rows: K = X X'."""

    def product(Y: FloatArray) -> FloatArray:
        return engine.multiply(engine.multiply_transposed(Y))

    return Relaxation.of(engine.row_squares(), product, counts)


def of_rows(engine: Engine, problem: Problem, columns: Point) -> Relaxation:
    """Return the relaxed problem of the rows for a fixed point of the columns."""
    assert problem.rows is not None
    Y, w = columns

    def weighted(table: FloatArray) -> FloatArray:
        """X D(w) X' times a table."""
        return engine.multiply(engine.multiply_transposed(table) * w[:, None])

    return _of_side(problem, problem.rows, engine.multiply(Y), engine.row_squares(w), weighted)


def of_columns(engine: Engine, problem: Problem, rows: Point) -> Relaxation:
    """Return the relaxed problem of the columns for a fixed point of the rows."""
    assert problem.columns is not None
    Y, f = rows

    def weighted(table: FloatArray) -> FloatArray:
        """X' D(f) X times a table."""
        return engine.multiply_transposed(engine.multiply(table) * f[:, None])

    P = engine.multiply_transposed(Y)
    return _of_side(problem, problem.columns, P, engine.column_squares(f), weighted)


def _of_side(
    problem: Problem, counts: Counts, P: FloatArray, base: FloatArray, weighted: Product
) -> Relaxation:
    def explained(table: FloatArray) -> FloatArray:
        return P @ (P.T @ table)

    def residual(table: FloatArray) -> FloatArray:
        return weighted(table) - explained(table)

    if not problem.objective.needs_products:
        return Relaxation.of(base, explained, counts)
    return Relaxation.of(base - np.einsum("pj,pj->p", P, P), residual, counts)
