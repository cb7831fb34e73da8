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
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from neocc._typing import BoolArray, FloatArray, IntArray, LabelArray
from neocc.core.assign import Applied, Choices
from neocc.core.changes import Changes, offered
from neocc.core.histograms import BlockCounts, Histogram, Query
from neocc.core.overlap.distances import DistanceChoices
from neocc.core.overlap.scores import Scores
from neocc.core.thresholds import Thresholds, taken
from neocc.kernels import Kernels, Memberships, SetCosts, numpy_

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
    keeps_shifts : bool
        Whether a constant added to the data changes nothing.
    """

    most: int | None = None

    name: ClassVar[str]
    mixed: ClassVar[bool] = False
    divides: ClassVar[bool] = False
    needs_pairs: ClassVar[bool] = False
    needs_squares: ClassVar[bool] = False
    keeps_shifts: ClassVar[bool] = True

    @property
    def prices_first(self) -> bool:
        """Whether an item may be left out or not depending on the price of extra memberships."""
        return True

    @abstractmethod
    def costs(self, sizes: FloatArray, gram: FloatArray | None) -> SetCosts:
        """Return the parts of the cost of sets, by size."""

    def weighted(self, members: Memberships) -> Memberships:
        """Return memberships, each a part of its item if the model divides an item among them."""
        if not len(members.extra_items):
            return replace(members, scale=None, mixed=False)
        scale = 1.0 / np.maximum(members.numbers, 1) if self.divides else None
        return replace(members, scale=scale, mixed=self.mixed)

    def choices(self, scores: Scores, kernels: Kernels) -> Choices:
        """Return the curves of items."""
        k = scores.n_clusters
        largest = k if self.most is None else min(k, self.most)
        costs = self.costs(np.arange(1.0, k + 1), scores.gram)
        scores = scores._replace(objective=scores.objective + _beyond_distances(scores, costs))
        if scores.d is None:
            return DistanceChoices(scores)
        return SetChoices.of(scores, self, costs, largest, kernels)


def _beyond_distances(scores: Scores, costs: SetCosts) -> float:
    """Return what the objective has beside the distances of present memberships."""
    members = scores.members
    if members is None or not len(members.extra_items):
        return 0.0
    some = np.unique(members.extra_items)
    at = members.numbers[some] - 1
    total = 0.0
    if scores.squares is not None:
        total += float(costs.fixed[at] @ scores.squares[some])
    if costs.pairs is not None:
        A = members.take(some).dense.astype(np.float64)
        total += float(costs.joint[at] @ np.einsum("pi,pi->p", A @ costs.pairs, A)) / 2.0
    return total


@dataclass
class SetChoices:
    """The curves of a block of items.

    Attributes
    ----------
    curves : array of shape (n_items, largest size)
        Cost of the best set of each size.
    sets : array of shape (n_items, largest size, largest size)
        Its clusters, -1 behind the last.
    present : array of shape (n_items,) or None
        Cost of the present set of each item.
    """

    scores: Scores
    model: OverlapModel
    curves: FloatArray
    sets: LabelArray
    present: FloatArray | None

    @classmethod
    def of(
        cls, scores: Scores, model: OverlapModel, costs: SetCosts, largest: int, kernels: Kernels
    ) -> SetChoices:
        """Find the best sets of all items."""
        d, members = scores.d, scores.members
        assert d is not None
        curves = np.empty((len(d), largest))
        sets = np.full((len(d), largest, largest), -1, dtype=np.int32)
        kernels.best_sets(d, scores.squares, costs, curves, sets)
        present = None if members is None else _present(scores, costs, members)
        found = cls(scores, model, curves, sets, present)
        if members is not None and present is not None:
            found._keep_present(members, present)
        return found

    def _keep_present(self, members: Memberships, present: FloatArray) -> None:
        """Let present sets compete where best ones are found greedily: beyond pairs."""
        sizes = members.numbers
        large = np.flatnonzero((sizes > 2) & (sizes <= self.curves.shape[1]))
        better = large[present[large] < self.curves[large, sizes[large] - 1]]
        for item in better:
            at = sizes[item] - 1
            self.curves[item, at] = present[item]
            self.sets[item, at, : at + 1] = np.flatnonzero(members.take(np.array([item])).dense[0])

    @cached_property
    def steps(self) -> FloatArray:
        """Price of each step to one more membership: the slopes of the lower convex hull.

        They rise with the size; equal ones belong together.
        """
        curves, (n, largest) = self.curves, self.curves.shape
        steps = np.full((n, largest - 1), -np.inf)
        for before in range(largest - 1):
            further = np.arange(before + 1, largest)
            with np.errstate(invalid="ignore"):
                rises = (curves[:, further] - curves[:, [before]]) / (further - before)
            rises[np.isinf(curves[:, before])] = -np.inf
            # The least slope to each size or beyond it.
            least = np.minimum.accumulate(rises[:, ::-1], axis=1)[:, ::-1]
            np.maximum(steps[:, before:], least, out=steps[:, before:])
        return steps

    def values(self, price: float) -> FloatArray:
        """Return the cost of each item, extra memberships being paid for."""
        if price == -np.inf or self.curves.shape[1] == 1:
            return np.ascontiguousarray(self.curves[:, 0])
        paid: FloatArray = self.curves - price * np.arange(self.curves.shape[1])
        return np.asarray(paid.min(axis=1))

    def _taken(self, thresholds: Thresholds) -> tuple[BoolArray, FloatArray]:
        """Tell which items are covered, and what further memberships of all items cost.

        An item that is not covered may come in for its value, with all memberships worth that.
        """
        values = self.values(thresholds.price)
        inside = taken(values, thresholds.nearest, thresholds.n_nearest_ties)
        entry = np.where(inside, -np.inf, values)[:, None]
        first = np.where(inside, np.inf, values)[:, None]
        return inside, np.hstack([first, np.maximum(self.steps, entry)])

    def count(self, query: Query) -> BlockCounts:
        """Count values, or the costs of extra memberships, by bin."""
        if query.nearest is not None:
            values = Histogram.of(self.values(query.price), query.nearest, query)
            return BlockCounts(values, Histogram(), Histogram())
        assert query.extra is not None
        _, steps = self._taken(query.covered)
        below, equal = (steps < query.covered.price), (steps == query.covered.price)
        extra = Histogram.of(steps, query.extra, query)
        compared = int(np.count_nonzero(below)), int(np.count_nonzero(equal))
        return BlockCounts(Histogram(), Histogram(), extra, *compared)

    def apply(self, thresholds: Thresholds) -> Applied:
        """Return the memberships that thresholds allow, and what they gain."""
        sizes = self._sizes(thresholds)
        gain = 0.0
        if self.present is not None:
            items = np.flatnonzero(sizes)
            gain = float(self.present.sum() - self.curves[items, sizes[items] - 1].sum())
        return Applied(self._members(sizes), self.scores.objective, gain)

    def _sizes(self, thresholds: Thresholds) -> IntArray:
        """Return the number of memberships of each item."""
        inside, steps = self._taken(thresholds)
        further = taken(steps, thresholds.extra, thresholds.n_extra_ties)
        sizes: IntArray = inside + np.count_nonzero(further, axis=1)
        for item, size in thresholds.changes:
            sizes[item] = size
        return sizes

    def n_left_out(self, thresholds: Thresholds) -> tuple[int, bool]:
        """Return how many items are left out, and whether one is off its hull or a price jumps."""
        sizes, price = self._sizes(thresholds), thresholds.extra
        items = np.flatnonzero(sizes)
        if np.isinf(price):
            return len(sizes) - len(items), False
        paid = self.curves[items, sizes[items] - 1] - price * (sizes[items] - 1)
        off = paid > self.values(price)[items] + _ROUNDING * np.abs(paid)
        jumps = thresholds.nearest < np.inf and thresholds.price != price
        return len(sizes) - len(items), bool(jumps or off.any())

    def changes(self, thresholds: Thresholds, n_items: int) -> Changes:
        """Offer changes of single items, of all `n_items`."""
        costs = np.column_stack([np.zeros(len(self.curves)), self.curves])
        return offered(costs, self._sizes(thresholds), n_items)

    def _members(self, sizes: IntArray) -> Memberships:
        k = self.scores.n_clusters
        items = np.flatnonzero(sizes)
        first = np.full(len(sizes), -1, dtype=np.int32)
        chosen = np.full((len(items), self.sets.shape[2]), k, dtype=np.int32)
        found = self.sets[items, sizes[items] - 1]
        np.copyto(chosen, found, where=found >= 0)
        chosen.sort(axis=1)
        first[items] = chosen[:, 0]
        at, place = np.nonzero(chosen[:, 1:] < k)
        members = Memberships(first, items[at], chosen[:, 1:][at, place], k)
        return self.model.weighted(members)

    def costs(self, applied: Applied) -> FloatArray:
        """Return the cost of the item of each membership, item by item."""
        sizes = applied.members.numbers
        items = np.flatnonzero(sizes)
        return np.repeat(self.curves[items, sizes[items] - 1], sizes[items])


def _present(scores: Scores, costs: SetCosts, members: Memberships) -> FloatArray:
    """Return the cost of the present set of each item, 0 for an item in no cluster.

    It is rounded as the costs of best sets are: a set that is one of these costs the same.
    """
    assert scores.d is not None
    table, sizes = members.dense, members.numbers
    at = np.maximum(sizes - 1, 0)
    own = costs.own[at] * np.where(table, scores.d, 0.0).sum(axis=1)
    fixed, joint = np.zeros(len(own)), np.zeros(len(own))
    if scores.squares is not None:
        fixed = costs.fixed[at] * scores.squares
    if costs.pairs is not None:
        some = np.flatnonzero(sizes > 1)
        A = table[some].astype(np.float64)
        joint[some] = costs.joint[at[some]] * (np.einsum("pi,pi->p", A @ costs.pairs, A) / 2.0)
    return np.where(sizes > 0, numpy_.rounded(own, fixed, joint), 0.0)
