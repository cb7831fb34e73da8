"""Models in which a set of clusters has a cost: curves, and what a price makes of them.

The cost of the set A of s clusters for an item is made of its distances to them,

    C(A) = own_s sum_{i in A} d_i + fixed_s squares + joint_s sum_{i < i' in A} Q_ii'

with Q from the inner products of prototypes. A model says what own, fixed, joint and Q are. The
curve of an item holds the cost of its best set of each size. At a price for each extra membership
an item takes the size that minimises cost less price: a corner of the lower convex hull of its
curve, whose slopes are the prices of single steps. An item whose value at that price is among the
largest may be left out.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from neocc._typing import BoolArray, FloatArray, IntArray, LabelArray
from neocc.core.assign import Applied, Choices
from neocc.core.changes import Changes, offered
from neocc.core.histograms import BlockCounts, Histogram, Query
from neocc.core.overlap.distances import DistanceChoices
from neocc.core.overlap.present import beyond_distances, joint_part, present_costs
from neocc.core.overlap.scores import Scores, Spread, at_once
from neocc.core.sizes import Cut, Moves, Wanted, offer_moves
from neocc.core.thresholds import ANY, Ask, Thresholds, taken
from neocc.kernels import Kernels, Memberships, SetCosts

__all__ = ["OverlapModel"]

_ROUNDING = 1e-12


@dataclass(frozen=True)
class OverlapModel(ABC):
    """What a set of clusters costs an item, and how memberships count in sums over clusters.

    Attributes
    ----------
    most : int or None
        Largest number of memberships of an item.
    name : str
        How users call it.
    mixed : bool
        Whether an item is a combination of the prototypes of its clusters.
    divides : bool
        Whether an item counts as one, divided over its memberships.
    needs_pairs, needs_squares : bool
        Whether the cost of several clusters depends on the inner products of their prototypes, and
        on the squares of the item.
    needs_sums : bool
        Whether it depends on the parts of distances, by clusters of the other side.
    both_sides : bool
        Whether items of both sides may have several clusters; if not, those of rows alone.
    keeps_shifts : bool
        Whether a constant added to the data changes nothing.
    prices_first : bool
        Whether it depends on the price of extra memberships who is left out.
    """

    most: int | None = None

    name: ClassVar[str]
    mixed: ClassVar[bool] = False
    divides: ClassVar[bool] = False
    needs_pairs: ClassVar[bool] = False
    needs_squares: ClassVar[bool] = False
    needs_sums: ClassVar[bool] = False
    both_sides: ClassVar[bool] = True
    keeps_shifts: ClassVar[bool] = True
    prices_first: ClassVar[bool] = True

    @abstractmethod
    def costs(self, sizes: FloatArray, gram: FloatArray | None) -> SetCosts:
        """Return the parts of the cost of sets, by size."""

    def weighted(self, members: Memberships) -> Memberships:
        """Return memberships, each a part of its item if the model divides an item among them."""
        if not len(members.extra_items):
            return replace(members, scale=None, mixed=False, virtual=None)
        scale = 1.0 / np.maximum(members.numbers, 1) if self.divides else None
        return replace(members, scale=scale, mixed=self.mixed, virtual=None)

    def counted(
        self,
        members: Memberships,
        ask: Ask,  # noqa: ARG002
        cut: Cut,  # noqa: ARG002
        fresh: Sequence[int] = (),  # noqa: ARG002
    ) -> Memberships:
        """Return weighted memberships that were not chosen at prices, as they count.

        Blocks of items can be asked; clusters that are `fresh` have just been re-seeded.
        """
        return members

    def chosen(
        self,
        members: Memberships,
        scores: Scores,  # noqa: ARG002
        fresh: Sequence[int] = (),  # noqa: ARG002
    ) -> Memberships:
        """Return memberships of a block of items as they count, given their scores."""
        return self.weighted(members)

    @property
    def one_way(self) -> OverlapModel:
        """The model of a side alone, from which both start."""
        return self

    def choices(self, scores: Scores, kernels: Kernels, spread: Spread = at_once) -> Choices:
        """Return what items can choose from, given their distances to single clusters.

        Memberships that they apply are weighted.
        """
        k = scores.n_clusters
        largest = k if self.most is None else min(k, self.most)
        beside, present = self.standing(scores)
        scores = scores._replace(objective=scores.objective + beside)
        if scores.d is None:
            return DistanceChoices(scores)
        return SetChoices.of(scores, self, largest, present, kernels, spread)

    def standing(self, scores: Scores) -> tuple[float, FloatArray | None]:
        """Return what the objective has beside the distances of present memberships.

        With distances also the cost of the present set of each item, 0 for an item in no cluster.
        """
        members = scores.members
        if members is None:
            return 0.0, None
        costs = self._costs(scores)
        joint = joint_part(members, costs)
        beside = beyond_distances(scores, costs, joint)
        return beside, None if scores.d is None else present_costs(scores, costs, members, joint)

    def find_sets(
        self,
        scores: Scores,
        kernels: Kernels,
        at: slice,
        curves: FloatArray,
        sets: LabelArray,
    ) -> None:
        """Write the best sets of some items, and their costs."""
        assert scores.d is not None
        some = None if scores.squares is None else scores.squares[at]
        kernels.best_sets(scores.d[at], some, self._costs(scores), curves[at], sets[at])

    def present(self, scores: Scores, members: Memberships) -> FloatArray:
        """Return the cost of sets that items are to have."""
        costs = self._costs(scores)
        return present_costs(scores, costs, members, joint_part(members, costs))

    def offers(self, scores: Scores, members: Memberships, wanted: Wanted) -> Moves:
        """Offer the cheapest moves of memberships to clusters that are too small."""
        assert scores.d is not None
        return offer_moves(scores.d, members, wanted, self._costs(scores))

    def _costs(self, scores: Scores) -> SetCosts:
        return self.costs(np.arange(1.0, scores.n_clusters + 1), scores.gram)


@dataclass
class SetChoices:
    """The curves of a block of items.

    Attributes
    ----------
    curves : array of shape (n_items, largest size)
        Cost of the best set of each size.
    sets : array of shape (n_items, largest size, largest size)
        Its clusters, -1 behind the last.
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
    # What the last thresholds made of them, and the sizes at those before changes.
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
        sets = np.full((len(d), largest, largest), -1, dtype=np.int32)

        spread(lambda at: model.find_sets(scores, kernels, at, curves, sets), len(d))
        if members is not None and present is not None:
            # Larger sets than pairs are found greedily: present ones compete with them.
            for size in range(3, largest + 1):
                alike = np.flatnonzero(members.numbers == size)
                found = curves[alike, size - 1]
                better = alike[present[alike] < found - _ROUNDING * np.abs(found)]
                if not len(better):
                    continue
                curves[better, size - 1] = present[better]
                clusters = np.nonzero(members.take(better).dense)[1]
                sets[better, size - 1, :size] = clusters.reshape(-1, size)
        spread(lambda at: kernels.hull_steps(curves[at], steps[at]), len(d))
        return cls(scores, model, curves, sets, steps, present)

    def values(self, price: float) -> FloatArray:
        """Return the cost of each item, extra memberships being paid for."""
        if price == -np.inf or self.curves.shape[1] == 1:
            return np.ascontiguousarray(self.curves[:, 0])
        paid = self.curves[:, 0]
        for extra in range(1, self.curves.shape[1]):
            paid = np.minimum(paid, self.curves[:, extra] - price * extra)
        return paid

    def _taken(self, thresholds: Thresholds) -> tuple[BoolArray, FloatArray]:
        """Tell which items are covered, and what further memberships of all items cost.

        An item that is not covered may come in for its value, with all memberships worth that.
        """
        if thresholds.nearest == np.inf:
            return np.ones(len(self.curves), dtype=bool), self.steps
        key = (thresholds.nearest, thresholds.n_nearest_ties, thresholds.price)
        if self._last is None or self._last[0] != key:
            values = self.values(thresholds.price)
            inside = taken(values, thresholds.nearest, thresholds.n_nearest_ties)
            outside = np.flatnonzero(~inside)
            steps = np.empty(self.curves.shape)
            steps[:, 0], steps[:, 1:] = np.inf, self.steps
            steps[outside, 0] = values[outside]
            steps[outside, 1:] = np.maximum(self.steps[outside], values[outside, None])
            self._last = key, inside, steps
        return self._last[1:]

    def count(self, query: Query) -> BlockCounts:
        """Count values, or the costs of extra memberships, by bin."""
        if query.nearest is not None:
            values = Histogram.of(self.values(query.price), query.nearest, query)
            return BlockCounts(values, Histogram(), Histogram())
        assert query.extra is not None
        price = query.covered.price
        _, steps = self._taken(query.covered)
        extra = Histogram.of(steps, query.extra, query)
        if query.covered == ANY:
            return BlockCounts(Histogram(), Histogram(), extra)
        compared = int(np.count_nonzero(steps < price)), int(np.count_nonzero(steps == price))
        return BlockCounts(Histogram(), Histogram(), extra, *compared)

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
        at = np.arange(0, self.curves.size, self.curves.shape[1]) + sizes - 1
        costs: FloatArray = self.curves.take(at, mode="clip")
        costs[sizes == 0] = 0.0
        return costs

    def possible_gain(self, thresholds: Thresholds) -> tuple[int, float]:
        """Return how many items are left out, and what changes of single items may gain at most."""
        sizes = self._sizes(thresholds)
        n_left_out = int(np.count_nonzero(sizes == 0))
        if np.isinf(thresholds.extra):
            return n_left_out, 0.0
        prices = self._prices(thresholds)
        chosen, least = self._chosen(sizes) - prices[sizes], np.full(len(sizes), -prices[0])
        for costs, worth in zip(self.curves.T, prices[1:], strict=True):
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
        several = np.flatnonzero(sizes > 1)
        chosen = self.sets[several, sizes[several] - 1]
        first = np.where(sizes > 0, self.sets[:, 0, 0], np.int32(-1))
        first[several] = chosen[:, 0]
        at, place = np.nonzero(chosen[:, 1:] >= 0)
        clusters = chosen[at, place + 1]
        members = Memberships(first, several[at], clusters, self.scores.n_clusters)
        members.__dict__["numbers"] = sizes
        counted = self.counted(members)
        counted.__dict__["numbers"] = sizes
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
        return found._replace(before=float(self.present.sum()), now=float(now.sum()))
