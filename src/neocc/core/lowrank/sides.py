"""Which relaxed problem the data make: the rows alone, or one side of NEO-CC, the other being fixed.

For fixed column memberships V with sizes m_j, weights w = V 1 and S = X V, the rows are

* `"mean"` (NEO-CC-M): points y_p = (S_pj / sqrt(m_j))_j plus a constant c_p each, which is
  sum_t w_t x_pt^2 - |y_p|^2. So K = P P' with the y_p as rows of P, and d_p = |y_p|^2 + c_p;
* `"residue"` (NEO-CC-RCM): kernel NEO-K-Means with K = X D(w) X' - P P' and d_p = c_p.

Columns follow the same formulas with the roles of U and V exchanged.
"""

from __future__ import annotations

import numpy as np

from neocc._typing import FloatArray
from neocc.core.engine import Engine
from neocc.core.lowrank.relaxation import Product, Relaxation
from neocc.core.objectives import distances, inverse
from neocc.core.problem import Counts, Problem
from neocc.core.refine import unexplained
from neocc.kernels import Memberships


def of_points(engine: Engine, counts: Counts) -> Relaxation:
    """Return the relaxed problem of NEO-K-Means on the rows: K = X X'."""

    def product(Y: FloatArray) -> FloatArray:
        return engine.multiply(engine.multiply_transposed(Y))

    return Relaxation.of(engine.row_squares(), product, counts)


def of_rows(engine: Engine, problem: Problem, V: Memberships) -> Relaxation:
    """Return the relaxed problem of the rows for given column clusters."""
    assert problem.rows is not None
    P = engine.multiply(V.indicator) * np.sqrt(inverse(V.sizes))
    constant = engine.row_distances(unexplained(V.sizes), V)[:, 0]

    def inside(Y: FloatArray) -> FloatArray:
        """X D(w) X' Y."""
        return engine.multiply(engine.multiply_transposed(Y) * V.weights[:, None])

    return _of_side(problem, problem.rows, P, constant, inside)


def of_columns(engine: Engine, problem: Problem, U: Memberships) -> Relaxation:
    """Return the relaxed problem of the columns for given row clusters."""
    assert problem.columns is not None
    sums = engine.column_sums(U, None)
    assert sums.by_cluster is not None
    P = sums.by_cluster * np.sqrt(inverse(U.sizes))
    constant = distances(sums, unexplained(U.sizes))[:, 0]

    def inside(Y: FloatArray) -> FloatArray:
        """X' D(f) X Y."""
        return engine.multiply_transposed(engine.multiply(Y) * U.weights[:, None])

    return _of_side(problem, problem.columns, P, constant, inside)


def _of_side(
    problem: Problem, counts: Counts, P: FloatArray, constant: FloatArray, inside: Product
) -> Relaxation:
    def explained(Y: FloatArray) -> FloatArray:
        return P @ (P.T @ Y)

    def residual(Y: FloatArray) -> FloatArray:
        return inside(Y) - explained(Y)

    constant = np.maximum(constant, 0.0)
    if problem.objective == "residue":
        return Relaxation.of(constant, residual, counts)
    return Relaxation.of(constant + np.einsum("pj,pj->p", P, P), explained, counts)
