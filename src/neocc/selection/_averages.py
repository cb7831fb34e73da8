"""Overlap and outliers of separated clusters: which average of centres explains each item best.

The published rules (`_rules`) take an item for a member of two clusters if it is near both centres.
Where clusters are separated it is near neither: it lies between them. Here an item belongs to the
set of clusters whose average centre is closest to it, as in overlapping k-means (G. Cleuziou, "An
extended version of the k-means method for overlapping clustering", 2008). With D_ij the distance
of item i to centre j, and G the squared distances between the centres,

    | x_i - average of S |^2 = mean_{j in S} D_ij^2 - mean_{j, j' in S} G_jj' / 2,

so that no further pass over the data is needed. A further cluster must gain more than the best of
that many sets gains by chance: 2 sigma^2 log(number of items and sets). An item is an outlier if
its remaining distance exceeds the median by `delta` times the (normal-consistent) median absolute
deviation, which outliers do not inflate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from neocc._typing import BoolArray, FloatArray, IntArray
from neocc.kernels import Memberships

TRIMMED = 0.1
_PASSES = 4
_MOST_SETS = 1000
_TABLE_ENTRIES = 1 << 22
_NORMAL = 1.4826
_ROUNDING = 1e-11


@dataclass(frozen=True)
class Explained:
    """Clusters of each item, what is left of its distance to their average, and the outliers."""

    members: BoolArray
    left: FloatArray
    threshold: float

    @property
    def outliers(self) -> BoolArray:
        """Items farther from all averages than the others."""
        return np.asarray(self.left > self.threshold)


def settled(
    distances_to: Callable[[Memberships], FloatArray],
    members: Memberships,
    length: int,
    delta: float,
) -> tuple[FloatArray, Explained]:
    """Explain items by the averages of cluster centres, and centres by the items of one cluster.

    `members` are clusters to begin with. Items between clusters, and outliers, bias the centres;
    they are found more reliably once left out. Also returns the last distances.
    """
    for _ in range(_PASSES):
        D = distances_to(members)
        found = explain(D, between(D, members), length, delta)
        pure = (found.members.sum(axis=1) == 1) & ~found.outliers
        labels = np.where(pure, found.members.argmax(axis=1), -1).astype(np.int32)
        core = Memberships.from_labels(labels, members.n_clusters)
        if (core.sizes == 0).any() or np.array_equal(labels, members.first):
            break
        members = core
    return D, found


def between(D: FloatArray, members: Memberships) -> FloatArray:
    """Return the squared distances between the means of disjoint clusters from those of items."""
    moved = members.indicator.T @ (D * D)
    G = (moved - np.diagonal(moved)[:, None]) / np.maximum(members.sizes, 1.0)[:, None]
    return np.maximum(0.5 * (G + G.T), 0.0)


def explain(D: FloatArray, G: FloatArray, length: int, delta: float) -> Explained:
    """Find the best set of clusters for each item; `length` is the number of its values."""
    n = len(D)
    sets = _sets(D.shape[1])
    sizes = sets.sum(axis=0)
    weights = sets / sizes
    spread = 0.5 * np.einsum("iq,ij,jq->q", weights, G, weights)
    step = max(1, _TABLE_ENTRIES // len(sizes))
    chunks = [slice(start, start + step) for start in range(0, n, step)]

    def tables(at: slice) -> FloatArray:
        squared = D[at] ** 2
        left: FloatArray = squared @ weights - spread
        left[left <= _ROUNDING * squared.max(axis=1, keepdims=True)] = 0.0
        return left

    noise = float(np.median(np.concatenate([tables(at).min(axis=1) for at in chunks]))) / length
    cost = 2.0 * noise * np.log(n * len(sizes)) * (sizes - 1)
    chosen: IntArray = np.empty(n, dtype=np.intp)
    left = np.empty(n)
    for at in chunks:
        table = tables(at)
        chosen[at] = (table + cost).argmin(axis=1)
        left[at] = np.sqrt(np.take_along_axis(table, chosen[at, None], axis=1)[:, 0])
    middle = float(np.median(left))
    deviation = _NORMAL * float(np.median(np.abs(left - middle)))
    threshold = middle + delta * deviation + _ROUNDING * middle
    members: BoolArray = sets[:, chosen].T > 0
    members[left > threshold] = False
    return Explained(members, left, threshold)


def _sets(n_clusters: int) -> FloatArray:
    """Return sets of clusters as columns: single ones first, then pairs, while they are few."""
    columns: list[tuple[int, ...]] = [(i,) for i in range(n_clusters)]
    for size in range(2, n_clusters + 1):
        more = list(combinations(range(n_clusters), size))
        if size > 2 and len(columns) + len(more) > _MOST_SETS:
            break
        columns += more
    table = np.zeros((n_clusters, len(columns)))
    for q, members in enumerate(columns):
        table[list(members), q] = 1.0
    return table
