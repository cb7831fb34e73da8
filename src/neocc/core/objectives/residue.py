"""`"residue"`, NEO-CC-RCM: blocks in which rows and columns follow a common pattern.

    J = sum_ij sum_{p in i, t in j} (x_pt - C_it - A_pj + M_ij)^2

with C_it the mean of column t over row cluster i, A_pj the mean of row p over column cluster j and
M the block means; d_pq (eq. dpq2): slope = 2 M, scale_q = -2 / n_q, shrink_j = 1 / m_j and
offset_q = sum_t w_t C_qt^2 - sum_j m_j M_qj^2.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse

from neocc._typing import FloatArray
from neocc.core.objectives.base import (
    BlockSums,
    Centring,
    Features,
    Objective,
    Pair,
    Side,
    Terms,
    block_means,
    both,
    bound,
)
from neocc.core.objectives.kmeans import Prototypes, column_prototypes, mean_rows, row_prototypes
from neocc.kernels import Memberships, inverse

__all__ = ["RESIDUE", "Residue", "residue_squares"]


def residue_squares(X: Any, U: Memberships, C: FloatArray, M: FloatArray, V: Memberships) -> float:
    """Return the squared residues of some rows, term by term."""
    X = X.toarray() if sparse.issparse(X) else X
    if U.mixed or V.mixed:
        return float(U.weights @ np.square(RESIDUE.residuals(X, U, V, M, C)) @ V.weights)
    A, total = V.fitted(V.indicator.T @ X.T).T, 0.0
    for i, weights in enumerate(U.indicator.T):
        some = np.flatnonzero(weights)
        rows, means = X[some] - C[i], A[some] - M[i]
        for j, inside in enumerate(V.indicator.T):
            total += float(weights[some] @ np.square(rows - means[:, [j]]) @ inside)
    return total


class Residue(Objective):
    """Squared residues of rows and columns within blocks."""

    name = "residue"
    needs_products = True

    def against_background(self) -> Self:
        """Refuse: what an item costs without clusters is not known either."""
        raise ValueError(
            f"outlier_cost='background' makes no sense for objective={self.name!r}: without "
            "clusters there are no offsets either, which a row or column is compared up to. Use "
            "'zero', or objective='mean'."
        )

    def centring(self, side: Side | None) -> Centring:
        """Return "double": row and column effects change nothing."""
        return "double"

    def terms(self, side: Side, features: Features, pair: Pair, *, pairs: float = 0.0) -> Terms:
        """Return the terms of a half-step; with `pairs` also inner products of prototypes."""
        U, V = both(pair)
        M = block_means(features, U, V)
        if side == "columns":
            return _terms(M.T, V, U, column_prototypes(features, V, pairs=pairs))
        weights = None if V.is_partition else V.weights
        return _terms(M, U, V, row_prototypes(features, U, weights, pairs=pairs))

    def refusal(self, overlap_model: Any) -> str | None:
        """Refuse those that combine row and column effects, which residues leave out; means do."""
        if not overlap_model.combines or overlap_model.averages:
            return None
        return (
            f"for objective={self.name!r}, whose clusters are patterns up to row and column offsets"
        )

    def value(self, features: Features, U: Memberships | None, V: Memberships | None) -> float:
        """Return J."""
        assert U is not None and V is not None
        assert features.sums is not None and features.products is not None
        M, B = block_means(features, U, V), features.blocks(V)
        rows = np.vdot(mean_rows(features, U) * V.weights, features.sums.T)
        columns = np.trace(V.fitted(V.indicator.T @ features.products))
        return float(V.weights @ features.squares - rows - columns + np.vdot(M, B))

    def residuals(
        self, X: FloatArray, U: Memberships, V: Memberships, M: FloatArray, lines: FloatArray
    ) -> FloatArray:
        """Return the residues of some rows whose items are combinations of clusters."""
        by_columns, means = V.shares.T, V.fitted(V.indicator.T @ X.T).T
        return np.asarray(X - U.shares @ (lines - M @ by_columns) - means @ by_columns)

    def exact_value(self, engine: Any, features: Features, U: Memberships, V: Memberships) -> float:
        """Return J as the sum of squared residues."""
        C, M = mean_rows(features, U), block_means(features, U, V)
        return float(engine.sum_blocks(residue_squares, U, C, M, V))

    def n_parameters(self, shape: tuple[int, int], n_clusters: tuple[int, int]) -> int:
        """Return the number of means of rows and of columns, less those of blocks."""
        (n, m), (k, l) = shape, n_clusters  # noqa: E741
        return l * n + k * m - k * l

    def block_values(self, over: BlockSums) -> FloatArray:
        """Return the squared residues in each block."""
        between = over.sums * over.sums * inverse(over.sizes)
        return over.squares - over.rows - over.columns + between


def _terms(M: FloatArray, own: Memberships, other: Memberships, found: Prototypes) -> Terms:
    # What row effects explain goes: prototypes lie outside the span of the other clusters.
    gram = None if found.gram is None else found.gram - other.inner(M, M)
    return Terms(
        found.energy - other.norms(M),
        np.multiply(M.T, 2.0, order="C"),
        -2.0 * found.scale,
        other.fitted(np.eye(other.n_clusters)) if other.mixed else other.inverse_sizes,
        bound(found.energy, own),
        found.table,
        gram,
    )


RESIDUE = Residue()
