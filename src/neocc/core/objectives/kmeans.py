"""`"kmeans"`, NEO-K-Means: one side alone, V = I for rows and U = I for columns.

    J = sum_q sum_{p in q} |x_p - C_q|^2,   d_pq = |x_p|^2 - 2 x_p'C_q + |C_q|^2

with C_q the mean of cluster q: scale_q = -2 / n_q and offset_q = |C_q|^2.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from neocc._typing import FloatArray
from neocc.core.objectives.base import (
    Centring,
    Features,
    Objective,
    Pair,
    Side,
    Terms,
    bound,
)
from neocc.core.objectives.block_costs import portions
from neocc.core.objectives.virtual import followed_means, lines_of
from neocc.kernels import Memberships

__all__ = [
    "KMEANS",
    "KMeans",
    "Prototypes",
    "centre_terms",
    "column_prototypes",
    "mean_rows",
    "row_prototypes",
]


def mean_rows(features: Features, U: Memberships) -> FloatArray:
    """Return C, of shape (row clusters, n_columns); 0 for an empty cluster."""
    assert features.sums is not None
    if U.virtual is not None:
        return followed_means(features.sums.T, U, None)
    return U.fitted(features.sums.T)


class Prototypes(NamedTuple):
    """How items compare with the prototypes of clusters.

    Products with clusters (of rows with `table`) times `scale` are inner products with prototypes,
    of which `energy` has the squared norms, and `gram` all inner products if they were asked for.
    """

    table: FloatArray | None
    scale: FloatArray
    energy: FloatArray
    gram: FloatArray | None = None


def row_prototypes(
    features: Features, U: Memberships, weights: FloatArray | None, *, pairs: float = 0.0
) -> Prototypes:
    """Return the prototypes C of row clusters, in a space where column t weighs w_t."""
    if weights is None and not (U.mixed or pairs):
        energy = features.energies("sums") * U.inverse_sizes**2
        return Prototypes(features.kept("sums"), U.inverse_sizes, energy)
    assert features.sums is not None
    R, scale = features.sums, U.inverse_sizes
    if U.mixed:
        R, scale = np.ascontiguousarray(mean_rows(features, U).T), np.ones(U.n_clusters)
    table = R if weights is None else R * weights[:, None]
    gram = (table.T @ R) * np.outer(scale, scale) if pairs else None
    return Prototypes(table, scale, np.einsum("tq,tq->q", table, R) * scale**2, gram)


def column_prototypes(features: Features, V: Memberships, *, pairs: float = 0.0) -> Prototypes:
    """Return the prototypes A of column clusters, where row p weighs f_p."""
    if V.mixed or pairs:
        gram = V.fitted(V.fitted(features.blocks(V, "products").T).T)
        scale = V.fitted(np.eye(V.n_clusters)) if V.mixed else V.inverse_sizes
        return Prototypes(None, scale, np.diag(gram).copy(), gram)
    sums = features.diagonal(V, "products")
    return Prototypes(None, V.inverse_sizes, sums * V.inverse_sizes**2)


def centre_terms(C: FloatArray) -> Terms:
    """Return the terms of distances to given centres, one to a row."""
    energy, table = np.einsum("qt,qt->q", C, C), np.ascontiguousarray(C.T)
    return Terms(energy, None, np.full(len(C), -2.0), None, energy, table)


class KMeans(Objective):
    """Squared distances from the mean of a cluster, on one side."""

    name = "kmeans"
    needs_products = True
    freed_by = ("either",)

    def centring(self, side: Side | None) -> Centring:
        """Return the other side: a vector added to all items changes nothing."""
        return "columns" if side == "rows" else "rows"

    def terms(self, side: Side, features: Features, pair: Pair, *, pairs: float = 0.0) -> Terms:
        """Return the terms of a half-step; with `pairs` also inner products of prototypes."""
        own = pair[0] if side == "rows" else pair[1]
        assert own is not None
        if side == "rows":
            found = row_prototypes(features, own, None, pairs=pairs)
        else:
            found = column_prototypes(features, own, pairs=pairs)
        scale, magnitude = -2.0 * found.scale, bound(found.energy, own)
        terms = Terms(found.energy, None, scale, None, magnitude, found.table, found.gram)
        return self.relative(terms) if self.background else terms

    def value(self, features: Features, U: Memberships | None, V: Memberships | None) -> float:
        """Return J, of the rows if U is given, else of the columns."""
        if U is not None:
            assert features.sums is not None
            explained = np.vdot(mean_rows(features, U), features.sums.T)
            return self.total_squares(features, None) - float(explained)
        assert V is not None and features.products is not None
        means = V.fitted(V.indicator.T @ features.products)
        return self.total_squares(features, V) - float(np.trace(means))

    def block_costs(self, engine: Any, features: Features, U: Any, V: Any) -> FloatArray:
        """Return the part of each row cluster in J."""
        return np.asarray(engine.sum_blocks(_costs_of_centres, U, mean_rows(features, U)))


def _costs_of_centres(X: Any, U: Memberships, C: FloatArray) -> FloatArray:
    """Return what some rows cost, by cluster; those of combined clusters are divided among them."""
    X = X.toarray() if sparse.issparse(X) else X
    if U.mixed:
        return np.asarray(portions(U).T @ np.square(X - lines_of(C, U)).sum(axis=1))
    costs = np.zeros(U.n_clusters)
    for q, weights in enumerate(U.indicator.T):
        some = np.flatnonzero(weights)
        costs[q] = weights[some] @ np.square(X[some] - C[q]).sum(axis=1)
    return costs


KMEANS = KMeans()
