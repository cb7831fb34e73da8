"""Choices where an item pays its distance in full for each of its memberships.

The best set of s clusters are the s nearest ones, so that every distance is a price of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from neocc._counts import Counts
from neocc._typing import FloatArray, LabelArray
from neocc.core.assign import Applied
from neocc.core.histograms import BlockCounts, Histogram, Query, Window, at_rank
from neocc.core.overlap.scores import Scores
from neocc.core.sizes import Moves, Wanted, offer_moves
from neocc.core.thresholds import ANY, Thresholds, taken
from neocc.kernels import Memberships

__all__ = ["DistanceChoices"]


@dataclass(frozen=True)
class DistanceChoices:
    """The distances of a block of items, times their weights."""

    scores: Scores
    # Thresholds of so many distances are selected among all of them, which takes masks of these.
    most_selected: float = 1 << 20

    def count(self, query: Query) -> BlockCounts:
        """Count distances by bin."""
        return BlockCounts.of(self._offered, self.scores.minima, query, self._histogram)

    def _histogram(self, values: FloatArray, window: Window, query: Query) -> Histogram:
        return Histogram.of(values, window, query)

    def selected(self, counts: Counts) -> Thresholds | None:
        """Return the thresholds where these are all items; None if there are many."""
        if self._offered.size > self.most_selected:
            return None
        found = ANY
        if counts.n_covered < counts.n_items:
            value, ties = self._at_rank(self.scores.minima, counts.n_covered, None)
            found = Thresholds(nearest=value, n_nearest_ties=ties)
        if counts.n_extra > 0:
            # First memberships are taken already.
            value, ties = self._at_rank(self._offered, counts.n_extra, self._first(found))
            found = Thresholds(found.nearest, value, found.n_nearest_ties, ties)
        return found

    def _at_rank(
        self, values: FloatArray, rank: int, first: LabelArray | None
    ) -> tuple[float, int]:
        """Return the value of a rank, and how many that equal it are taken.

        In a table of distances those of `first` memberships are left out, if these are given.
        """
        if first is None:
            return at_rank(values, rank)
        flat, items = values.reshape(-1), (first >= 0).nonzero()[0]
        places = items * values.shape[1] + first[items]
        given = flat[places]
        flat[places] = np.inf
        found = at_rank(flat, rank)
        flat[places] = given
        return found

    def _first(self, thresholds: Thresholds) -> LabelArray:
        """Return the first membership of each item, -1 for none."""
        kept = taken(self.scores.minima, thresholds.nearest, thresholds.n_nearest_ties)
        return np.where(kept, self.scores.labels, np.int32(-1))

    @cached_property
    def _offered(self) -> FloatArray:
        return self.scores.offered()

    def apply(self, thresholds: Thresholds) -> Applied:
        """Return the memberships that thresholds allow.

        An item joins its nearest cluster if it is within the threshold of first memberships, and
        every other one within that of extra memberships.
        """
        labels, k = self.scores.labels, self.scores.n_clusters
        if thresholds is ANY or thresholds == ANY:
            members = Memberships.partition(labels, k)
            before = self.scores.members
            if before is not None and before.item_weights is not None:
                members = members.weighing(before.item_weights)
            return Applied(members, self.scores.objective)
        first = self._first(thresholds)
        extra = np.empty(0, dtype=np.intp)
        if thresholds.extra > -np.inf:
            flat = self._offered.reshape(-1)
            near = (flat <= thresholds.extra).nonzero()[0]
            items = near // k
            near = near[near - items * k != first[items]]
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
