"""The order in which a co-clustering is shown: pure functions of membership matrices.

Everything that shows clusters in order - pictures, the terminal, the report - asks here. Only
NumPy and SciPy are needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from neocc._typing import BoolArray, FloatArray, IntArray
from neocc.plot._seriate import seriate

__all__ = ["Arrangement", "Segment", "arrange", "arrange_both"]


@dataclass(frozen=True, eq=False)
class Segment:
    """Items that belong to exactly the same clusters.

    Attributes
    ----------
    clusters : tuple of int
        The clusters, in increasing order; empty for the outliers.
    items : ndarray of int
        The rows (or columns) of the data, in increasing order.
    """

    clusters: tuple[int, ...]
    items: IntArray

    @property
    def is_outlier(self) -> bool:
        """Whether the items belong to no cluster."""
        return not self.clusters

    @property
    def is_overlap(self) -> bool:
        """Whether the items belong to several clusters."""
        return len(self.clusters) > 1


@dataclass(frozen=True, eq=False)
class Arrangement:
    """Items and clusters of one side in the order to show them.

    Attributes
    ----------
    segments : tuple of Segment
        Every item once, no empty segment. Outliers stand last.
    clusters : tuple of int
        The clusters by the middle of their members; those without members stand last.
    """

    segments: tuple[Segment, ...]
    clusters: tuple[int, ...]

    @cached_property
    def order(self) -> IntArray:
        """All items in the order to show them."""
        parts = [segment.items for segment in self.segments]
        return np.concatenate(parts) if parts else np.empty(0, dtype=np.intp)

    @property
    def n_items(self) -> int:
        """Number of items."""
        return sum(len(segment.items) for segment in self.segments)

    @property
    def n_outliers(self) -> int:
        """Number of items in no cluster."""
        return sum(len(segment.items) for segment in self.segments if segment.is_outlier)

    def placed(self) -> Iterator[tuple[Segment, int, int]]:
        """Yield each segment with the positions at which it starts and ends."""
        start = 0
        for segment in self.segments:
            stop = start + len(segment.items)
            yield segment, start, stop
            start = stop

    def pieces(self, cluster: int) -> list[tuple[int, int]]:
        """Return the positions at which the pieces of a cluster start and end.

        One piece if its members stand together.
        """
        found: list[tuple[int, int]] = []
        for segment, start, stop in self.placed():
            if cluster in segment.clusters:
                joins = bool(found) and found[-1][1] == start
                found.append((found.pop()[0] if joins else start, stop))
        return found

    def renumbered(self) -> Arrangement:
        """Return the same arrangement with clusters numbered in the order in which they stand."""
        number = {cluster: place for place, cluster in enumerate(self.clusters)}
        segments = tuple(
            replace(part, clusters=tuple(sorted(number[c] for c in part.clusters)))
            for part in self.segments
        )
        return Arrangement(segments, tuple(range(len(self.clusters))))


def arrange(
    membership: BoolArray, profiles: FloatArray | None = None, leanings: FloatArray | None = None
) -> Arrangement:
    """Order the items of one side, and its clusters.

    Items that belong to the same clusters stand together. Each cluster is in one piece wherever one
    order of the items allows that for all clusters: items of two clusters then stand between those
    of either. Otherwise there are as few pieces as a search finds. What this leaves open is decided
    by the similarity of clusters, then by the order of the data. The numbers of the clusters play
    no part.

    Parameters
    ----------
    membership : ndarray of shape (n_items, n_clusters), bool
        Which item belongs to which cluster.
    profiles : ndarray of shape (n_clusters, n_features), default=None
        What clusters are compared by: their block means, or their centres.
    leanings : ndarray of shape (n_clusters,), default=None
        Numbers from 0 to 1 that clusters which differ in all else are sorted by.

    Returns
    -------
    arrangement : Arrangement
        The items and the clusters in order.

    Examples
    --------
    >>> import numpy as np
    >>> from neocc.plot.arrange import arrange
    >>> membership = np.array([[1, 0], [0, 0], [1, 1], [1, 0], [0, 1]], dtype=bool)
    >>> for segment in arrange(membership).segments:
    ...     print(segment.clusters, segment.items)
    (0,) [0 3]
    (0, 1) [2]
    (1,) [4]
    () [1]
    """
    patterns, groups = _patterns(membership)
    inside = patterns.any(axis=1)
    chosen = np.flatnonzero(inside)
    shares = patterns[chosen] / patterns[chosen].sum(axis=1, keepdims=True)
    mixed = None if profiles is None else shares @ np.nan_to_num(profiles)
    leaning = None if leanings is None else shares @ leanings
    counts = np.array([len(groups[pattern]) for pattern in chosen], dtype=np.intp)
    found = seriate(patterns[chosen], counts, mixed, leaning)
    order = [int(pattern) for pattern in chosen[found]]
    if _runs_backwards([groups[pattern] for pattern in order]):
        order.reverse()
    order += np.flatnonzero(~inside).tolist()
    segments = tuple(
        Segment(tuple(np.flatnonzero(patterns[pattern]).tolist()), groups[pattern])
        for pattern in order
    )
    return Arrangement(segments, _cluster_order(segments, membership.shape[1]))


def arrange_both(
    row_membership: BoolArray,
    column_membership: BoolArray,
    block_means: FloatArray | None = None,
) -> tuple[Arrangement, Arrangement]:
    """Order rows and columns so that high blocks run down the diagonal.

    Parameters
    ----------
    row_membership : ndarray of shape (n_rows, n_row_clusters), bool
        Which row belongs to which row cluster.
    column_membership : ndarray of shape (n_columns, n_column_clusters), bool
        Which column belongs to which column cluster.
    block_means : ndarray of shape (n_row_clusters, n_column_clusters), default=None
        Mean of every block: what clusters are compared by.

    Returns
    -------
    rows, columns : Arrangement
        Rows and columns in order.

    Examples
    --------
    >>> import numpy as np
    >>> from neocc.plot.arrange import arrange_both
    >>> U = np.array([[0, 1], [0, 1], [1, 0]], dtype=bool)
    >>> V = np.eye(3, dtype=bool)
    >>> rows, columns = arrange_both(U, V, np.array([[0.9, 0.0, 0.5], [0.1, 0.8, 0.5]]))
    >>> rows.clusters, columns.clusters
    ((1, 0), (1, 2, 0))
    """
    if block_means is None or not block_means.size:
        return arrange(row_membership), arrange(column_membership)
    means = np.nan_to_num(block_means)
    rows = arrange(row_membership, means)
    columns = arrange(column_membership, means.T, _leanings(rows, means))
    score = _places(rows) @ (means - means.mean()) @ _places(columns)
    if score < -1e-12 * max(float(np.abs(means).max(initial=0.0)), np.finfo(float).tiny):
        columns = _reversed(columns)
    return rows, columns


def _patterns(membership: BoolArray) -> tuple[BoolArray, list[IntArray]]:
    """Return the different rows of a membership matrix, by first item, and the items of each.

    Rows become numbers, 32 clusters at a time, because sorting numbers is quick.
    """
    n_items, n_clusters = membership.shape
    codes = np.zeros(n_items, dtype=np.int64)
    for start in range(0, n_clusters, 32):
        part = membership[:, start : start + 32]
        digits = part @ (1 << np.arange(part.shape[1], dtype=np.int64))
        codes = np.unique((codes << 32) + digits, return_inverse=True)[1].reshape(-1)
    items = np.argsort(codes, kind="stable")
    cuts = np.flatnonzero(np.diff(codes[items])) + 1
    groups = np.split(items, cuts) if n_items else []
    groups.sort(key=lambda group: int(group[0]))
    first = np.array([group[0] for group in groups], dtype=np.intp)
    return membership[first], groups


def _runs_backwards(groups: list[IntArray]) -> bool:
    """Whether the reverse of an order is nearer to that of the data."""
    sizes = np.array([len(group) for group in groups], dtype=np.float64)
    middles = np.cumsum(sizes) - 0.5 * sizes
    centred = middles - (sizes @ middles) / max(sizes.sum(), 1.0)
    totals = np.array([group.sum(dtype=np.float64) for group in groups])
    return bool(totals @ centred < 0.0)


def _cluster_order(segments: tuple[Segment, ...], n_clusters: int) -> tuple[int, ...]:
    """Order clusters by the mean position of their members, then by the first."""
    total, count = np.zeros(n_clusters), np.zeros(n_clusters)
    first = np.full(n_clusters, np.inf)
    start = 0
    for segment in segments:
        size = len(segment.items)
        for cluster in segment.clusters:
            total[cluster] += size * (start + 0.5 * size)
            count[cluster] += size
            first[cluster] = min(first[cluster], start)
        start += size
    middle = np.divide(total, count, out=np.full(n_clusters, np.inf), where=count > 0)
    return tuple(np.lexsort((first, middle)).tolist())


def _reversed(arrangement: Arrangement) -> Arrangement:
    """Turn the items in clusters round; outliers stay last."""
    inside = [part for part in arrangement.segments if not part.is_outlier]
    outside = [part for part in arrangement.segments if part.is_outlier]
    segments = (*reversed(inside), *outside)
    return Arrangement(segments, _cluster_order(segments, len(arrangement.clusters)))


def _leanings(rows: Arrangement, means: FloatArray) -> FloatArray:
    """Return where, from the first (0) to the last row cluster (1), each column cluster is high."""
    weights = means - means.min(axis=0)
    total = weights.sum(axis=0)
    moments = (0.5 + 0.5 * _places(rows)) @ weights
    leanings: FloatArray = np.full(total.shape, 0.5)
    np.divide(moments, total, out=leanings, where=total > 0)
    return leanings


def _places(arrangement: Arrangement) -> FloatArray:
    """Return a number from -1 to 1 for each cluster, by its place in the order."""
    n_clusters = len(arrangement.clusters)
    places = np.empty(n_clusters)
    places[list(arrangement.clusters)] = np.linspace(-1.0, 1.0, n_clusters)
    return places
