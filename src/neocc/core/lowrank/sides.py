"""The relaxed problems that data make: of the rows alone, and of either side of NEO-CC.

For a fixed point (Yc, w) of the columns the rows of NEO-CC are, with P = X Yc and
base_p = sum_t w_t x_pt^2,

* `"mean"` (NEO-CC-M): K = P P' and d = base;
* `"residue"` (NEO-CC-RCM): K = X D(w) X' - P P' and d_p = base_p - |P_p|^2.

Where the point is that of memberships V, with columns v_j / sqrt(m_j) and w = V 1, these are the
objectives of `neocc.core.objectives` as U varies. Columns follow with the roles exchanged.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from neocc._typing import FloatArray
from neocc.core.engine import Engine
from neocc.core.lowrank.relaxation import Point, Product, Relaxation
from neocc.core.objectives import Tables
from neocc.core.problem import Counts, Problem
from neocc.kernels import Memberships

# Binary digits of a weight after the point.
_DIGITS = 12


def of_points(engine: Engine, counts: Counts) -> Relaxation:
    """Return the relaxed problem of NEO-K-Means on the rows: K = X X'."""

    def product(Y: FloatArray) -> FloatArray:
        return engine.multiply(engine.multiply_transposed(Y))

    return Relaxation.of(engine.row_squares(), product, counts)


def of_rows(engine: Engine, problem: Problem, columns: Point) -> Relaxation:
    """Return the relaxed problem of the rows for a fixed point of the columns."""
    assert problem.rows is not None
    Y, w = columns
    zero = np.zeros(1)
    only_squares = Tables(zero, np.zeros((1, 1)), None, None, zero)

    def squares(some: Memberships) -> FloatArray:
        return engine.row_distances(only_squares, some)[:, 0]

    def weighted(table: FloatArray) -> FloatArray:
        """X D(w) X' times a table."""
        return engine.multiply(engine.multiply_transposed(table) * w[:, None])

    return _of_side(problem, problem.rows, engine.multiply(Y), _weigh(squares, w), weighted)


def of_columns(engine: Engine, problem: Problem, rows: Point) -> Relaxation:
    """Return the relaxed problem of the columns for a fixed point of the rows."""
    assert problem.columns is not None
    Y, f = rows

    def squares(some: Memberships) -> FloatArray:
        return engine.column_sums(some, None).squares

    def weighted(table: FloatArray) -> FloatArray:
        """X' D(f) X times a table."""
        return engine.multiply_transposed(engine.multiply(table) * f[:, None])

    P = engine.multiply_transposed(Y)
    return _of_side(problem, problem.columns, P, _weigh(squares, f), weighted)


def _of_side(
    problem: Problem, counts: Counts, P: FloatArray, base: FloatArray, weighted: Product
) -> Relaxation:
    def explained(table: FloatArray) -> FloatArray:
        return P @ (P.T @ table)

    def residual(table: FloatArray) -> FloatArray:
        return weighted(table) - explained(table)

    if problem.objective == "mean":
        return Relaxation.of(base, explained, counts)
    return Relaxation.of(base - np.einsum("pj,pj->p", P, P), residual, counts)


def _weigh(squares: Callable[[Memberships], FloatArray], weights: FloatArray) -> FloatArray:
    """Return the sums of squares with real weights, one binary digit of the weights at a time.

    Engines sum squares over the members of clusters only.
    """
    whole = np.rint(np.ldexp(weights, _DIGITS)).astype(np.int64)
    total = 0.0 * squares(Memberships.from_labels(np.full(len(whole), -1, dtype=np.int32), 1))
    for digit in range(int(whole.max()).bit_length()):
        chosen = (whole >> digit) & 1
        if chosen.any():
            members = Memberships.from_labels((chosen - 1).astype(np.int32), 1)
            total += np.ldexp(squares(members), digit - _DIGITS)
    return total
