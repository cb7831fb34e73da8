"""Choices where an item pays its distance in full for each of its memberships.

The best set of s clusters are the s nearest ones, so that every distance is a price of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from neocc._typing import FloatArray
from neocc.core.assign import Applied
from neocc.core.histograms import BlockCounts, Histogram, Query, Window
from neocc.core.overlap.scores import Scores
from neocc.core.sizes import Moves, Wanted, offer_moves
from neocc.core.thresholds import ANY, Thresholds, taken
from neocc.kernels import Memberships

__all__ = ["DistanceChoices"]


@dataclass(frozen=True)
class DistanceChoices:
    """The distances of a block of items, times their weights."""

    scores: Scores

    def count(self, query: Query) -> BlockCounts:
        """Count distances by bin."""
        return BlockCounts.of(self._offered, self.scores.minima, query, self._histogram)

    def _histogram(self, values: FloatArray, window: Window, query: Query) -> Histogram:
        return Histogram.of(values, window, query)

    @cached_property
    def _offered(self) -> FloatArray:
        return self.scores.offered()

    def apply(self, thresholds: Thresholds) -> Applied:
        """Return the memberships that thresholds allow.

        An item joins its nearest cluster if it is within the threshold of first memberships, and
        every other one within that of extra memberships.
        """
        labels, minima, k = self.scores.labels, self.scores.minima, self.scores.n_clusters
        if thresholds is ANY or thresholds == ANY:
            members = Memberships.partition(labels, k)
            before = self.scores.members
            if before is not None and before.item_weights is not None:
                members = members.weighing(before.item_weights)
            return Applied(members, self.scores.objective)
        kept = taken(minima, thresholds.nearest, thresholds.n_nearest_ties)
        first = np.where(kept, labels, np.int32(-1))
        extra = np.empty(0, dtype=np.intp)
        if thresholds.extra > -np.inf:
            flat = self._offered.reshape(-1)
            near = (flat <= thresholds.extra).nonzero()[0]
            items = near // k
            near = near[(near - items * k != labels[items]) | ~kept[items]]
            extra = near[taken(flat[near], thresholds.extra, thresholds.n_extra_ties)]
        items = extra // k
        members = Memberships(first, items, (extra - items * k).astype(np.int32), k)
        return Applied(members.weighing(self.scores.item_weights), self.scores.objective)

    def costs(self, applied: Applied) -> FloatArray:
        """Return the distance of each membership, item by item."""
        if self.scores.d is None:
            return self.scores.minima
        costs: FloatArray = self.scores.d[applied.members.dense]
        return costs

    def moves(self, members: Memberships, wanted: Wanted) -> Moves:
        """Offer the cheapest moves of memberships to clusters that are too small."""
        d, before = self.scores.d, self.scores.members
        assert d is not None
        # Distances are weighed already.
        found = offer_moves(d, replace(members, item_weights=None), wanted)
        if before is None:
            return found
        return found._replace(
            before=float(d[before.dense].sum()), now=float(d[members.dense].sum())
        )
