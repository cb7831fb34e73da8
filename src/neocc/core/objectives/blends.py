"""Items that blend two clusters, where the cost of both is not made of the costs of each.

Every cluster, and every pair of clusters, is then a *type* of its own. Data are summed over the
types of items; with P the table of clusters in types, one row a type (1 for a cluster, 1/2 and 1/2
for a pair that is a mean, 1 and 1 for one that is a sum), blocks of types have the values P M Q' of
a table M of values of clusters.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from neocc._typing import FloatArray, IntArray
from neocc.kernels import Memberships

__all__ = [
    "clusters_in_types",
    "curvature",
    "in_types",
    "is_blended",
    "mixing",
    "pairs_of",
    "type_of",
    "types_of",
]


@lru_cache(maxsize=64)
def pairs_of(k: int) -> tuple[IntArray, IntArray]:
    """Return the pairs of clusters, in the order of their types."""
    one, other = np.triu_indices(k, 1)
    return one, other


@lru_cache(maxsize=64)
def clusters_in_types(k: int, share: float = 0.5) -> FloatArray:
    """Return P, of shape (k + k (k - 1) / 2, k): clusters, then pairs, with a share of each."""
    one, other = pairs_of(k)
    single = np.eye(k)
    return np.concatenate([single, share * (single[one] + single[other])])


def type_of(one: IntArray, other: IntArray, k: int) -> IntArray:
    """Return the types of pairs of clusters."""
    low, high = np.minimum(one, other), np.maximum(one, other)
    found: IntArray = k + low * (2 * k - low - 1) // 2 + high - low - 1
    return found


def types_of(members: Memberships) -> Memberships:
    """Return each item's membership in its type: that of the lowest two of its clusters."""
    k, labels = members.n_clusters, members.first.astype(np.int32)
    some = np.unique(members.extra_items)
    inside = members.take(some).dense.copy()
    one = inside.argmax(axis=1)
    inside[np.arange(len(some)), one] = False
    pairs = type_of(one, inside.argmax(axis=1), k)
    labels[some] = np.where(inside.any(axis=1), pairs, one)
    return Memberships.from_labels(labels, k + k * (k - 1) // 2)


def in_types(members: Memberships | None, n_types: int) -> Memberships | None:
    """Return memberships in types, with which distances to all of these are compared."""
    if members is None or members.virtual is not None:
        return members if members is None else members.virtual
    return replace(members, n_clusters=n_types)


def is_blended(members: Memberships) -> bool:
    """Tell whether data are summed over types: pairs stand for no cluster alone."""
    types = members.virtual
    return types is not None and types.stands_for is None and types.n_clusters > members.n_clusters


def mixing(members: Memberships) -> FloatArray:
    """Return P for the clusters that data are summed over; items that are not divided add up."""
    k, share = members.n_clusters, 0.5 if members.is_scaled else 1.0
    return clusters_in_types(k, share) if is_blended(members) else np.eye(k)


def curvature(weights: FloatArray, P: FloatArray, Q: FloatArray) -> FloatArray:
    """Return sum_ab w_ab (p_a x q_b)(p_a x q_b)', the matrix of a quadratic form in M."""
    k, l = P.shape[1], Q.shape[1]  # noqa: E741
    by_rows = (P[:, :, None] * P[:, None, :]).reshape(len(P), k * k)
    by_columns = (Q[:, :, None] * Q[:, None, :]).reshape(len(Q), l * l)
    found = by_rows.T @ (weights @ by_columns)
    return found.reshape(k, k, l, l).transpose(0, 2, 1, 3).reshape(k * l, k * l)
