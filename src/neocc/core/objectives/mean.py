"""`"mean"`, NEO-CC-M: blocks of constant value.

    J = sum_ij sum_{p in i, t in j} (x_pt - M_ij)^2 = f' (X o X) w - sum_ij n_i m_j M_ij^2

with M the block means; d_pq (eq. dpq): slope = -2 M, offset_q = sum_j m_j M_qj^2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from neocc._typing import FloatArray
from neocc.core.objectives.base import Centring, Features, Objective, Side, Terms, bound
from neocc.kernels import Memberships, inverse

__all__ = ["MEAN", "Mean", "block_means", "residual_squares"]


def block_means(features: Features, U: Memberships, V: Memberships) -> FloatArray:
    """Return M, of shape (row clusters, column clusters); 0 for a block without entries."""
    assert features.sums is not None
    blocks: FloatArray = features.sums.T.dot(V.indicator)
    blocks *= U.inverse_sizes[:, None]
    blocks *= V.inverse_sizes
    return blocks


def residual_squares(X: Any, U: Memberships, M: FloatArray, V: Memberships) -> float:
    """Return the squared differences of some rows from block means, term by term."""
    total = 0.0
    for row_cluster, means in zip(U.dense.T, M, strict=True):
        rows = X[np.flatnonzero(row_cluster)]
        for inside, mean in zip(V.dense.T, means, strict=True):
            if sparse.issparse(rows):
                stored = rows.data[inside[rows.indices]].astype(np.float64)
                n_zeros = rows.shape[0] * int(np.count_nonzero(inside)) - len(stored)
                total += float(np.square(stored - mean).sum() + n_zeros * mean * mean)
            else:
                total += float(np.square(rows[:, inside] - mean).sum())
    return total


class Mean(Objective):
    """Squared differences from block means."""

    name = "mean"
    needs_products = False
    per_item = False

    def centring(self, side: Side | None) -> Centring:
        """Return "global": a constant added to X changes nothing."""
        return "global"

    def row_terms(self, features: Features, U: Memberships, V: Memberships | None) -> Terms:
        """Return the terms of the row step."""
        assert V is not None
        return _terms(block_means(features, U, V), U, V)

    def column_terms(self, features: Features, U: Memberships | None, V: Memberships) -> Terms:
        """Return the terms of the column step: the same, with the roles exchanged."""
        assert U is not None
        return _terms(block_means(features, U, V).T, V, U)

    def value(self, features: Features, U: Memberships | None, V: Memberships | None) -> float:
        """Return J."""
        assert U is not None and V is not None
        M = block_means(features, U, V)
        return float(V.weights @ features.squares - U.sizes @ (M * M) @ V.sizes)

    def exact_value(self, engine: Any, features: Features, U: Memberships, V: Memberships) -> float:
        """Return J as the sum of squared differences from block means."""
        return float(engine.sum_blocks(residual_squares, U, block_means(features, U, V), V))

    def n_parameters(self, shape: tuple[int, int], n_clusters: tuple[int, int]) -> int:
        """Return the number of block means."""
        return n_clusters[0] * n_clusters[1]

    def block_values(
        self,
        squares: FloatArray,
        sums: FloatArray,
        rows: FloatArray,
        columns: FloatArray,
        sizes: FloatArray,
    ) -> FloatArray:
        """Return the squared differences from the mean in each block."""
        return squares - sums * sums * inverse(sizes)

    def unexplained(self, other_sizes: FloatArray) -> Terms:
        """Return terms whose distance is base_p - sum_j S_pj^2 / m_j."""
        zero = np.zeros(1)
        return Terms(zero, np.zeros((len(other_sizes), 1)), None, inverse(other_sizes), zero)


def _terms(M: FloatArray, own: Memberships, other: Memberships) -> Terms:
    # Of tables this small `dot` takes half the time of `@`.
    explained = (M * M).dot(other.sizes)
    slope = M.T.copy()
    slope *= -2.0
    # Asked here already: most iterations have no empty cluster.
    magnitude = bound(explained, own) if own.has_empty else explained
    return Terms(explained, slope, None, None, magnitude)


MEAN = Mean()
