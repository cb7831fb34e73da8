"""`"kmeans"`, NEO-K-Means: one side alone, V = I for rows and U = I for columns.

    J = sum_q sum_{p in q} |x_p - C_q|^2,   d_pq = |x_p|^2 - 2 x_p'C_q + |C_q|^2

with C_q the mean of cluster q: scale_q = -2 / n_q and offset_q = |C_q|^2.
"""

from __future__ import annotations

import numpy as np

from neocc._typing import FloatArray
from neocc.core.objectives.base import Centring, Features, Objective, Side, Terms, bound
from neocc.kernels import Memberships

__all__ = ["KMEANS", "KMeans", "centre_terms", "column_energy", "mean_rows", "row_energy"]


def mean_rows(features: Features, U: Memberships) -> FloatArray:
    """Return C, of shape (row clusters, n_columns); 0 for an empty cluster."""
    assert features.sums is not None
    return features.sums.T * U.inverse_sizes[:, None]


def row_energy(
    features: Features, U: Memberships, weights: FloatArray | None
) -> tuple[FloatArray, FloatArray]:
    """Return the table D(w) X' U, and the energy sum_t w_t C_qt^2 of the row clusters."""
    assert features.sums is not None
    R = features.sums
    table = R if weights is None else R * weights[:, None]
    return table, np.einsum("tq,tq->q", table, R) * U.inverse_sizes**2


def column_energy(features: Features, V: Memberships) -> FloatArray:
    """Return the energy sum_p f_p A_pj^2 of the column clusters."""
    assert features.products is not None
    sums = np.einsum("tj,tj->j", features.products, V.indicator)
    return np.asarray(sums * V.inverse_sizes**2)


def centre_terms(C: FloatArray) -> Terms:
    """Return the terms of distances to given centres, one to a line."""
    energy, table = np.einsum("qt,qt->q", C, C), np.ascontiguousarray(C.T)
    return Terms(energy, None, np.full(len(C), -2.0), None, energy, table)


def _terms(energy: FloatArray, own: Memberships, table: FloatArray | None) -> Terms:
    return Terms(energy, None, -2.0 * own.inverse_sizes, None, bound(energy, own), table)


class KMeans(Objective):
    """Squared distances from the mean of a cluster, on one side."""

    name = "kmeans"
    needs_products = True

    def centring(self, side: Side | None) -> Centring:
        """Return the other side: a vector added to all items changes nothing."""
        return "columns" if side == "rows" else "rows"

    def row_terms(self, features: Features, U: Memberships, V: Memberships | None) -> Terms:
        """Return the terms of the row step."""
        table, energy = row_energy(features, U, None)
        return _terms(energy, U, table)

    def column_terms(self, features: Features, U: Memberships | None, V: Memberships) -> Terms:
        """Return the terms of the column step."""
        return _terms(column_energy(features, V), V, None)

    def value(self, features: Features, U: Memberships | None, V: Memberships | None) -> float:
        """Return J, of the rows if U is given, else of the columns."""
        if U is not None:
            explained = row_energy(features, U, None)[1] @ U.sizes
            return float(features.squares.sum() - explained)
        assert V is not None
        return float(V.weights @ features.squares - column_energy(features, V) @ V.sizes)


KMEANS = KMeans()
