"""The order in which a co-clustering is shown: pure functions of membership matrices."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from neocc._typing import BoolArray, FloatArray

__all__ = ["Segment", "cluster_order", "segments"]


@dataclass(frozen=True)
class Segment:
    """Items that belong to exactly the same clusters.

    Attributes
    ----------
    clusters : tuple of int
        The clusters, in increasing order; empty for the outliers.
    items : tuple of int
        The rows (or columns) of the data, in increasing order.
    """

    clusters: tuple[int, ...]
    items: tuple[int, ...]

    @property
    def is_outlier(self) -> bool:
        """Whether the items belong to no cluster."""
        return not self.clusters

    @property
    def is_overlap(self) -> bool:
        """Whether the items belong to several clusters."""
        return len(self.clusters) > 1


def segments(membership: BoolArray) -> list[Segment]:
    """Split items into runs that share their clusters, in the order to show them.

    An overlap stands between the clusters that share it, outliers stand last. Inside a segment the
    items keep their order.

    Parameters
    ----------
    membership : ndarray of shape (n_items, n_clusters), bool
        Which item belongs to which cluster.

    Returns
    -------
    segments : list of Segment
        Every item once; no empty segment.

    Examples
    --------
    >>> import numpy as np
    >>> from neocc.cli._arrange import segments
    >>> membership = np.array([[0, 1], [0, 0], [1, 1], [1, 0], [0, 1]], dtype=bool)
    >>> for segment in segments(membership):
    ...     print(segment.clusters, segment.items)
    (0,) (3,)
    (0, 1) (2,)
    (1,) (0, 4)
    () (1,)
    """
    groups: defaultdict[tuple[int, ...], list[int]] = defaultdict(list)
    for item, row in enumerate(membership):
        groups[tuple(np.flatnonzero(row).tolist())].append(item)

    def place(clusters: tuple[int, ...]) -> tuple[bool, float, int, tuple[int, ...]]:
        centre = sum(clusters) / max(len(clusters), 1)
        return not clusters, centre, len(clusters), clusters

    return [Segment(clusters, tuple(groups[clusters])) for clusters in sorted(groups, key=place)]


def cluster_order(
    row_membership: BoolArray, block_means: FloatArray
) -> tuple[list[int], list[int]]:
    """Order the clusters so that heavy blocks run down the diagonal.

    Cluster numbers carry no meaning. Row clusters are sorted by their first row, column clusters
    by the row clusters in which they are heaviest.

    Parameters
    ----------
    row_membership : ndarray of shape (n_rows, n_row_clusters), bool
        Which row belongs to which row cluster.
    block_means : ndarray of shape (n_row_clusters, n_column_clusters), non-negative
        Mean of every block.

    Returns
    -------
    row_order, column_order : list of int
        The clusters in the order to show them.

    Examples
    --------
    >>> import numpy as np
    >>> from neocc.cli._arrange import cluster_order
    >>> U = np.array([[0, 1], [0, 1], [1, 0]], dtype=bool)
    >>> cluster_order(U, np.array([[0.9, 0.0, 0.5], [0.1, 0.8, 0.5]]))
    ([1, 0], [1, 2, 0])
    """
    n_rows, n_row_clusters = row_membership.shape
    first = np.where(row_membership.any(axis=0), row_membership.argmax(axis=0), n_rows)
    row_order = np.argsort(first, kind="stable")
    weight = block_means[row_order]
    total = weight.sum(axis=0)
    position = np.arange(n_row_clusters) @ weight
    centre = np.divide(position, total, out=np.full(total.shape, np.inf), where=total > 0)
    return row_order.tolist(), np.argsort(centre, kind="stable").tolist()
