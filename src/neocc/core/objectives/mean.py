"""`"mean"`, NEO-CC-M: blocks of constant value.

    J = sum_ij sum_{p in i, t in j} (x_pt - M_ij)^2 = f' (X o X) w - sum_ij n_i m_j M_ij^2

with M the block means; d_pq (eq. dpq): slope = -2 M, offset_q = sum_j m_j M_qj^2. Against a
background of zero blocks explain a part of all squares: J = sum x^2 - sum_ij n_i m_j M_ij^2.
"""

from __future__ import annotations

from typing import Any

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
    bound,
)
from neocc.core.objectives.virtual import by_sums
from neocc.kernels import Memberships, inverse

__all__ = ["MEAN", "Mean", "block_means", "residual_squares"]


def residual_squares(X: Any, U: Memberships, M: FloatArray, V: Memberships) -> float:
    """Return the squared differences of some rows from block means, term by term."""
    total = 0.0
    if U.mixed or V.mixed:
        rows, columns = np.flatnonzero(U.weights), np.flatnonzero(V.weights)
        lines = U.take(rows).summed.shares @ by_sums(M, U)
        fitted = lines @ V.take(columns).shares.T
        X = X[rows][:, columns]
        squares = np.square((X.toarray() if sparse.issparse(X) else X) - fitted)
        return float(U.weights[rows] @ squares @ V.weights[columns])
    for row_cluster, row_means in zip(U.indicator.T, M, strict=True):
        at = np.flatnonzero(row_cluster)
        rows, weights = X[at], row_cluster[at]
        for inside, mean in zip(V.indicator.T, row_means, strict=True):
            if sparse.issparse(rows):
                stored = np.repeat(weights, np.diff(rows.indptr)) * inside[rows.indices]
                zeros = weights.sum() * inside.sum() - stored.sum()
                squares = np.square(rows.data.astype(np.float64) - mean)
                total += float(stored @ squares + zeros * mean * mean)
            else:
                total += float(weights @ (np.square(rows - mean) @ inside))
    return total


class Mean(Objective):
    """Squared differences from block means."""

    name = "mean"
    needs_products = False

    def centring(self, side: Side | None) -> Centring:
        """Return "global": a constant added to X changes nothing."""
        return "global"

    def terms(self, side: Side, features: Features, pair: Pair, *, pairs: float = 0.0) -> Terms:
        """Return the terms of a half-step; with `pairs` also inner products of prototypes."""
        U, V = pair
        assert U is not None and V is not None
        M = block_means(features, U, V)
        if side == "rows":
            terms = _terms(M, U, V, pairs=pairs)
        else:
            if U.virtual is not None:
                M, U = by_sums(M, U), U.virtual
            terms = _terms(M.T, V, U, pairs=pairs)
        return self.relative(terms) if self.background else terms

    def value(self, features: Features, U: Memberships | None, V: Memberships | None) -> float:
        """Return J."""
        assert U is not None and V is not None
        explained = np.vdot(by_sums(block_means(features, U, V), U), features.blocks(V))
        return float(self.total_squares(features, V) - explained)

    def exact_value(
        self, engine: Any, features: Features, U: Memberships, V: Memberships
    ) -> float | None:
        """Return J as the sum of squared differences from block means."""
        if self.background:
            return None
        return float(engine.sum_blocks(residual_squares, U, block_means(features, U, V), V))

    def block_values(self, over: BlockSums) -> FloatArray:
        """Return the squared differences from the mean in each block."""
        return over.squares - over.sums * over.sums * inverse(over.sizes)

    def unexplained(self, other: Memberships) -> Terms | None:
        """Return terms whose distance is base_p - sum_j S_pj^2 / m_j, less a projection.

        None where other items are not the same combination for every cluster.
        """
        if other.virtual is not None:
            return None
        zero, l = np.zeros(1), other.n_clusters  # noqa: E741
        shrink = other.fitted(np.eye(l)) if other.mixed else other.inverse_sizes
        terms = Terms(zero, np.zeros((l, 1)), None, shrink, zero)
        return self.relative(terms) if self.background else terms


def _terms(M: FloatArray, own: Memberships, other: Memberships, *, pairs: float) -> Terms:
    # Of tables this small `dot` takes half the time of `@`.
    explained = other.norms(M) if other.mixed else (M * M).dot(other.sizes)
    slope = M.T.copy()
    slope *= -2.0
    # Asked here already: most iterations have no empty cluster.
    magnitude = bound(explained, own) if own.has_empty else explained
    gram = other.inner(M, M) if pairs else None
    return Terms(explained, slope, None, None, magnitude, gram=gram)


MEAN = Mean()
