"""Curves of items, and what a price makes of them.

The curve of an item holds the cost of its best set of each size (`neocc.core.overlap.model`). At a
price for each extra membership an item takes the size that minimises cost less price: a corner of
the lower convex hull of its curve, whose slopes are the prices of single steps. An item whose value
at that price is among the largest may be left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from neocc._typing import BoolArray, FloatArray, IntArray, LabelArray
from neocc.core.assign import Applied
from neocc.core.changes import Changes, offered
from neocc.core.histograms import BlockCounts, Histogram, Query, Window, at_rank
from neocc.core.overlap.scores import Scores, Spread, at_once
from neocc.core.sizes import Moves, Wanted
from neocc.core.thresholds import ANY, Thresholds, taken
from neocc.kernels import Kernels, Memberships

if TYPE_CHECKING:
    from neocc.core.overlap.model import OverlapModel

__all__ = ["SetChoices"]

_ROUNDING = 1e-12


def _table(members: Memberships, width: int) -> LabelArray:
    """Return a row of clusters for each item, which has no more than `width`."""
    first, items = members.first, members.extra_items
    table = np.empty((len(first), width), dtype=np.int32)
    table[:, 0] = first
    place = np.arange(len(items)) - members.extra_ptr[items] + (first >= 0)[items]
    table.reshape(-1)[items * width + place] = members.extra_clusters
    return table


@dataclass
class SetChoices:
    """The curves of a block of items: arrays of NumPy, or of a module that answers in its place.

    Attributes
    ----------
    curves : array of shape (n_items, largest size)
        Cost of the best set of each size.
    sets : array of shape (n_items, largest size, largest size)
        Its clusters; what is behind the last says nothing.
    steps : array of shape (n_items, largest size - 1)
        Price of each step to one more membership: the slopes of the lower convex hull. They rise
        with the size; equal ones belong together.
    present : array of shape (n_items,) or None
        Cost of the present set of each item.
    """

    scores: Scores
    model: OverlapModel
    curves: FloatArray
    sets: LabelArray
    steps: FloatArray
    present: FloatArray | None
    # The values at the last price, what the last thresholds made of them, and the sizes at those
    # before changes.
    _valued: tuple[float, FloatArray] | None = None
    _last: tuple[tuple[float, int, float], BoolArray, FloatArray] | None = None
    _sized: tuple[Thresholds, IntArray] | None = None

    @classmethod
    def of(
        cls,
        scores: Scores,
        model: OverlapModel,
        largest: int,
        present: FloatArray | None,
        kernels: Kernels,
        spread: Spread = at_once,
    ) -> SetChoices:
        """Find the best sets of all items."""
        d, members = scores.d, scores.members
        assert d is not None
        curves, steps = np.empty((len(d), largest)), np.empty((len(d), largest - 1))
        sets = np.empty((len(d), largest, largest), dtype=np.int32)
        spread(lambda at: model.find_sets(scores, kernels, at, curves, sets), len(d))
        if members is not None and present is not None:
            # Larger sets than pairs are found greedily: present ones compete with them.
            sizes = members.numbers
            large = np.flatnonzero((sizes > 2) & (sizes <= largest))
            found = curves[large, sizes[large] - 1]
            better = large[present[large] < found - _ROUNDING * np.abs(found)]
            if len(better):
                at = sizes[better] - 1
                curves[better, at] = present[better]
                sets[better, at] = _table(members.take(better), largest)
        if (weights := scores.item_weights) is not None:
            curves *= weights[:, None]
            present = None if present is None else present * weights
        if scores.all_zero is not None:
            curves[scores.all_zero, 1:] = np.inf
        spread(lambda at: kernels.hull_steps(curves[at], steps[at]), len(d))
        return cls(scores, model, curves, sets, steps, present)

    def values(self, price: float) -> FloatArray:
        """Return the cost of each item, extra memberships being paid for."""
        if self._valued is None or self._valued[0] != price:
            paid = self.curves[:, 0].copy()
            for extra in range(1, 1 if price == -np.inf else self.curves.shape[1]):
                np.minimum(paid, self.curves[:, extra] - price * extra, out=paid)
            self._valued = price, paid
        return self._valued[1]

    def _taken(self, thresholds: Thresholds) -> tuple[BoolArray, FloatArray]:
        """Tell which items are covered, and what further memberships of all items cost.

        An item that is not covered may come in for its value, with all memberships worth that.
        """
        if thresholds.nearest == np.inf:
            return np.ones_like(self.curves[:, 0], dtype=bool), self.steps
        key = (thresholds.nearest, thresholds.n_nearest_ties, thresholds.price)
        if self._last is None or self._last[0] != key:
            values = self.values(thresholds.price)
            inside = taken(values, thresholds.nearest, thresholds.n_nearest_ties)
            outside = np.flatnonzero(~inside)
            steps = np.empty(self.curves.shape, like=self.curves)
            steps[:, 0], steps[:, 1:] = np.inf, self.steps
            steps[outside, 0] = values[outside]
            steps[outside, 1:] = np.maximum(self.steps[outside], values[outside][:, None])
            self._last = key, inside, steps
        return self._last[1:]

    def histogram(self, values: FloatArray, window: Window, query: Query) -> Histogram:
        """Count values by bin."""
        return Histogram.of(values, window, query)

    def at_rank(self, values: FloatArray, rank: int) -> tuple[float, int]:
        """Return the value of a rank, and the rank among those that equal it."""
        return at_rank(values.reshape(-1), rank)

    def count(self, query: Query) -> BlockCounts:
        """Count values, or the costs of extra memberships, by bin; or find the one of a rank."""
        if query.nearest is not None:
            values, window = self.values(query.price), query.nearest
        else:
            assert query.extra is not None
            values, window = self._taken(query.covered)[1], query.extra
        below = equal = 0
        if query.covered is not None and query.covered != ANY:
            price = query.covered.price
            below = int(np.count_nonzero(values < price))
            equal = int(np.count_nonzero(values == price))
        if 0 < query.rank <= values.size:
            # Nothing else is asked for; where the price has the rank, not even that.
            met = below <= query.rank <= below + equal
            found = None if met else self.at_rank(values, query.rank)
            return BlockCounts(n_below=below, n_equal=equal, found=found)
        counted = self.histogram(values, window, query)
        if query.nearest is not None:
            return BlockCounts(counted)
        return BlockCounts(extra_all=counted, n_below=below, n_equal=equal)

    def apply(self, thresholds: Thresholds) -> Applied:
        """Return the memberships that thresholds allow, and what they gain."""
        sizes = self._sizes(thresholds)
        gain = 0.0
        if self.present is not None:
            gain = float(self.present.sum() - self._chosen(sizes)[sizes > 0].sum())
        return Applied(self._members(sizes), self.scores.objective, gain)

    def _sizes(self, thresholds: Thresholds) -> IntArray:
        """Return the number of memberships of each item."""
        unchanged = replace(thresholds, changes=())
        if self._sized is None or self._sized[0] != unchanged:
            inside, steps = self._taken(thresholds)
            sizes = inside.astype(np.intp)
            for further in taken(steps, thresholds.extra, thresholds.n_extra_ties).T:
                sizes += further
            self._sized = unchanged, sizes
        sizes = self._sized[1].copy()
        for item, size in thresholds.changes:
            sizes[item] = size
        return sizes

    def _chosen(self, sizes: IntArray) -> FloatArray:
        """Return the cost of each item at its size, 0 for none."""
        begins = np.arange(0, self.curves.size, self.curves.shape[1], like=self.curves)
        costs: FloatArray = self.curves.take(begins + np.maximum(sizes, 1) - 1)
        costs[sizes == 0] = 0.0
        return costs

    def possible_gain(self, thresholds: Thresholds) -> tuple[int, float]:
        """Return how many items are left out, and what changes of single items may gain at most."""
        sizes = self._sizes(thresholds)
        n_left_out = int(np.count_nonzero(sizes == 0))
        if np.isinf(thresholds.extra):
            return n_left_out, 0.0
        prices = self._prices(thresholds)
        chosen = self._chosen(sizes) - np.asarray(prices, like=self.curves)[sizes]
        least = np.full_like(self.curves[:, 0], -prices[0])
        for costs, worth in zip(self.curves.T, prices[1:].tolist(), strict=True):
            np.minimum(least, costs - worth, out=least)
        gains = chosen - least
        return n_left_out, float(gains[gains > _ROUNDING * np.abs(chosen)].sum())

    def changes(self, thresholds: Thresholds, n_items: int, gain: float) -> Changes:
        """Offer changes of single items, of all `n_items`, that cost no more than a gain."""
        sizes, prices = self._sizes(thresholds), self._prices(thresholds)
        return offered(self._with_nothing(), sizes, n_items, prices, gain)

    def _with_nothing(self) -> FloatArray:
        """Return the cost of each item at each size from 0."""
        return np.column_stack([np.zeros(len(self.curves)), self.curves])

    def _prices(self, thresholds: Thresholds) -> FloatArray:
        """Return what the memberships of each size are worth; none are worth being left out."""
        worth: FloatArray = thresholds.extra * np.arange(self.curves.shape[1] + 1.0)
        worth[0] = min(0.0, thresholds.extra - thresholds.nearest)
        return worth

    def _members(self, sizes: IntArray) -> Memberships:
        flat, width = self.sets.reshape(-1), self.sets.shape[1]
        begins = (np.arange(len(sizes)) * width + np.maximum(sizes, 1) - 1) * width
        first = np.where(sizes > 0, flat[begins], np.int32(-1))
        n_extra = np.maximum(sizes - 1, 0)
        items = np.repeat(np.arange(len(sizes)), n_extra)
        # Clusters behind the first of each set.
        last = np.cumsum(n_extra)
        clusters = flat[np.arange(1, len(items) + 1) + (begins - last + n_extra)[items]]
        members = Memberships(first, items, clusters, self.scores.n_clusters)
        members = members.weighing(self.scores.item_weights)
        members.__dict__["numbers"] = sizes
        counted = self.counted(members)
        counted.__dict__.update(numbers=sizes, has_extra=sizes > 1)
        return counted

    def counted(self, members: Memberships, fresh: Sequence[int] = ()) -> Memberships:
        """Return memberships as they count."""
        return self.model.chosen(members, self.scores, fresh)

    def costs(self, applied: Applied) -> FloatArray:
        """Return the cost of the item of each membership, item by item."""
        sizes = applied.members.numbers
        return np.repeat(self._chosen(sizes), sizes)

    def moves(self, members: Memberships, wanted: Wanted) -> Moves:
        """Offer the cheapest moves of memberships to clusters that are too small."""
        found = self.model.offers(self.scores, members, wanted)
        if self.present is None:
            return found
        now = self.model.present(self.scores, members)
        if (weights := self.scores.item_weights) is not None:
            now = now * weights
        return found._replace(before=float(self.present.sum()), now=float(now.sum()))
