"""One clustered side of a matrix, as the report sees it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from neocc._typing import BoolArray, FloatArray, IntArray
from neocc.estimators._redundancy import member_jaccard
from neocc.io._labels import Labels
from neocc.metrics import Enrichment, enrichment
from neocc.plot._measure import MEAN, Measure
from neocc.plot.arrange import Arrangement
from neocc.report._cells import Associations, BlockCells

__all__ = ["Side"]

_ROUNDING = 1e-13


@dataclass(frozen=True, eq=False)
class Side:
    """One clustered side of a matrix.

    Attributes
    ----------
    noun : str
        What the items are called, many of them: "rows", "genes".
    members : ndarray of shape (n_items, n_clusters), bool
        Who belongs where.
    arrangement : Arrangement
        The items in the order to show them.
    name : callable
        The name of an item.
    distances : ndarray of shape (n_items, n_clusters) or None
        What each membership adds, or would add, to the objective; None where that is not known.
    means : ndarray of shape (n_clusters, n_others) or None
        Means over the clusters of the other side, or over its items where it is not clustered; of
        counts, lifts.
    max_outliers : int or None
        How many items the fit was allowed to leave out; None where that is not known.
    repeats : bool
        Whether an item pays its distance to each of its clusters. Otherwise distances to single
        clusters do not tell how well one in several fits.
    measure : Measure
        What `means` are.
    gains : bool
        Whether distances are relative to what an item in no cluster costs: minus what it gains.
    associations : Associations or None
        Of counts: how often members have each item of the other side.
    cells : BlockCells or None
        Over observed cells: how many there are in each block.
    identify : callable or None
        The id of an item, where names stand for ids.
    labels : Labels or None
        What is known of the items besides the matrix.
    """

    noun: str
    members: BoolArray
    arrangement: Arrangement
    name: Callable[[int], str]
    distances: FloatArray | None = None
    means: FloatArray | None = None
    max_outliers: int | None = None
    repeats: bool = True
    measure: Measure = MEAN
    gains: bool = False
    associations: Associations | None = None
    cells: BlockCells | None = None
    identify: Callable[[int], str] | None = None
    labels: Labels | None = None

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.members)

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(self.members.shape[1])

    @cached_property
    def sizes(self) -> IntArray:
        """Number of members of each cluster."""
        return np.asarray(self.members.sum(axis=0))

    @cached_property
    def weights(self) -> IntArray:
        """Number of clusters of each item."""
        return np.asarray(self.members.sum(axis=1))

    @cached_property
    def n_in(self) -> tuple[int, int, int]:
        """Number of items in exactly one cluster, in several, and in none."""
        counts = np.bincount(np.minimum(self.weights, 2), minlength=3)
        return int(counts[1]), int(counts[2]), int(counts[0])

    @cached_property
    def shared(self) -> IntArray:
        """Number of items that each pair of different clusters shares; zeros on the diagonal."""
        several = self.members[self.weights > 1].astype(np.float64)
        shared: IntArray = np.rint(several.T @ several).astype(np.intp)
        np.fill_diagonal(shared, 0)
        return shared

    @cached_property
    def jaccard(self) -> FloatArray:
        """Jaccard index of the members of each pair of clusters."""
        return member_jaccard(self.members)

    @cached_property
    def enrichment(self) -> Enrichment | None:
        """Labels of the members of clusters against chance; None without labels."""
        return None if self.labels is None else enrichment(self.labels.members, self.members)

    @cached_property
    def overall(self) -> FloatArray:
        """What clusters are compared with: what is expected, or else the mean of all clusters.

        In that mean each counts as often as it has members, or as it has observed cells.
        """
        assert self.means is not None
        if self.measure.expected is not None:
            return np.full(self.means.shape[1], self.measure.expected)
        if self.cells is not None:
            n_cells = self.cells.observed
            means = (n_cells * self.means).sum(axis=0) / np.maximum(n_cells.sum(axis=0), 1)
        else:
            means = self.sizes @ self.means / max(int(self.sizes.sum()), 1)
        # Centred data have means of zero, but for rounding.
        is_zero = np.abs(means) < _ROUNDING * np.abs(self.means).max(axis=0, initial=0.0)
        return np.where(is_zero, 0.0, means)

    @cached_property
    def limit(self) -> float:
        """The largest distance, of the items in clusters, to the nearest cluster.

        Those in several are left aside where they do not pay the distance to each.
        """
        assert self.distances is not None
        nearest = self.distances.min(axis=1, initial=np.inf)
        inside = self.weights > 0 if self.repeats else self.weights == 1
        return float(nearest[inside].max()) if inside.any() else 0.0
