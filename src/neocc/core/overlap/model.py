"""The interface of overlap models.

The cost of the set A of s clusters for an item is made of its distances to them,

    C(A) = own_s sum_{i in A} d_i + fixed_s squares + joint_s sum_{i < i' in A} Q_ii'

with Q from the inner products of prototypes. A model says what own, fixed, joint and Q are; one
whose costs have other parts overrides what is made of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from neocc._typing import FloatArray, IntArray, LabelArray
from neocc.core.assign import Choices
from neocc.core.overlap.distances import DistanceChoices
from neocc.core.overlap.scores import Scores, Spread, at_once
from neocc.core.overlap.sets import SetChoices
from neocc.core.sizes import Cut, Moves, Wanted, finite, offer_moves
from neocc.core.thresholds import Ask
from neocc.kernels import Kernels, Memberships, SetCosts, numpy_sets

__all__ = ["OverlapModel"]


@dataclass(frozen=True)
class OverlapModel:
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
    pair_share : float
        How much of the values of each cluster is in those of a pair, where pairs have distances of
        their own; 0 where they have none.
    key : str
        How files call it, where that is not its name.
    needs_sums : bool
        Whether it depends on the parts of distances, by clusters of the other side.
    prices_first : bool
        Whether it depends on the price of extra memberships who is left out.
    repeats : bool
        Whether an item pays for each of its memberships in full.
    """

    most: int | None = None

    name: ClassVar[str]
    mixed: ClassVar[bool] = False
    divides: ClassVar[bool] = False
    needs_pairs: ClassVar[bool] = False
    needs_squares: ClassVar[bool] = False
    needs_sums: ClassVar[bool] = False
    pair_share: ClassVar[float] = 0.0
    key: ClassVar[str] = ""
    prices_first: ClassVar[bool] = True
    repeats: ClassVar[bool] = False

    @property
    def blends(self) -> bool:
        """Whether pairs of clusters have distances of their own."""
        return self.pair_share > 0.0

    @property
    def combines(self) -> bool:
        """Whether the clusters of an item explain it together, not each by itself."""
        return self.mixed or self.needs_sums

    @property
    def averages(self) -> bool:
        """Whether an item is compared with a mean of prototypes."""
        return self.mixed and self.divides

    @property
    def adds(self) -> bool:
        """Whether prototypes are added up, so that a constant added to the data matters."""
        return self.mixed and not self.divides

    @property
    def both_sides(self) -> bool:
        """Whether columns may have several clusters; only parts of distances of rows are known."""
        return not self.needs_sums

    def costs(self, sizes: FloatArray, gram: FloatArray | None) -> SetCosts:  # noqa: ARG002
        """Return the parts of the cost of sets, by size: by default distances, or their mean."""
        nothing = np.zeros_like(sizes)
        return SetCosts(1.0 / sizes if self.divides else nothing + 1.0, nothing, nothing, None)

    def weighted(self, members: Memberships) -> Memberships:
        """Return memberships, each a part of its item if the model divides an item among them."""
        if not len(members.extra_items):
            return replace(members, scale=members.item_weights, mixed=False, virtual=None)
        scale = self.scale(members.item_weights, members.numbers)
        return replace(members, scale=scale, mixed=self.mixed, virtual=None)

    def scale(self, weights: FloatArray | None, numbers: IntArray) -> FloatArray | None:
        """Return what each membership of items counts as, given weights and how many they have."""
        if not self.divides:
            return weights
        found: FloatArray = (1.0 if weights is None else weights) / np.maximum(numbers, 1)
        return found

    def counted(
        self,
        members: Memberships,
        ask: Ask,  # noqa: ARG002
        cut: Cut,  # noqa: ARG002
        fresh: Sequence[int] = (),  # noqa: ARG002
    ) -> Memberships:
        """Return weighted memberships that were kept, re-seeded or moved instead of priced.

        `ask` and `cut` reach the blocks of items; clusters that are `fresh` were just re-seeded.
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

    def moved(
        self,
        members: Memberships,
        before: Memberships,  # noqa: ARG002
        other: Memberships,  # noqa: ARG002
    ) -> Memberships:
        """Return memberships as they count once those of the other side have changed."""
        return members

    @property
    def one_way(self) -> OverlapModel:
        """The model of a side alone, from which both start."""
        return self

    def known(self, scores: Scores) -> OverlapModel:  # noqa: ARG002
        """Return the model, or one of single clusters if scores do not tell what more cost."""
        return self

    def choices(self, scores: Scores, kernels: Kernels, spread: Spread = at_once) -> Choices:
        """Return what items can choose from, given their distances to single clusters.

        Memberships that they apply are weighted.
        """
        if (model := self.known(scores)) is not self:
            return model.choices(scores, kernels, spread)
        k = scores.n_clusters
        largest = k if self.most is None else min(k, self.most)
        scores = scores._replace(costs=self._costs(scores))
        beside, present = self.standing(scores)
        scores = scores._replace(objective=scores.objective + beside)
        if scores.d is None:
            return DistanceChoices(scores.weighed(scores.item_weights))
        return SetChoices.of(scores, self, largest, present, kernels, spread)

    def standing(self, scores: Scores) -> tuple[float, FloatArray | None]:
        """Return what the objective has beside the distances of present memberships.

        With distances also the cost of the present set of each item, 0 for an item in no cluster.
        """
        members = scores.members
        if members is None:
            return 0.0, None
        costs = self._costs(scores)
        joint = _joint_part(members, costs)
        beside = _beyond_distances(scores, costs, joint)
        return beside, None if scores.d is None else _present_costs(scores, costs, members, joint)

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
        return _present_costs(scores, costs, members, _joint_part(members, costs))

    def offers(self, scores: Scores, members: Memberships, wanted: Wanted) -> Moves:
        """Offer the cheapest moves of memberships to clusters that are too small."""
        d, squares = scores.d, scores.squares
        assert d is not None

        def changes(items: IntArray, source: int, target: int) -> FloatArray:
            lines = None if squares is None else squares[items]
            some = scores._replace(d=finite(d[items]), squares=lines)
            before = members.take(items)
            inside = before.dense.copy()
            inside[:, source], inside[:, target] = False, True
            after = Memberships.from_dense(inside)
            return self.present(some, after) - self.present(some, before)

        return offer_moves(d, members, wanted, changes)

    def _costs(self, scores: Scores) -> SetCosts:
        known = scores.costs
        return known or self.costs(np.arange(1.0, scores.n_clusters + 1), scores.gram)


def _joint_part(members: Memberships, costs: SetCosts) -> FloatArray:
    """Return the part of the cost of each item's clusters that is of pairs."""
    joint = np.zeros(members.n_items)
    if costs.pairs is not None and len(members.extra_items):
        some, of_these = members.overlapping
        A = (of_these.indicator > 0.0).astype(np.float64)
        of_pairs = np.einsum("pi,pi->p", A @ costs.pairs, A) / 2.0
        joint[some] = costs.joint[members.numbers[some] - 1] * of_pairs
    return joint


def _beyond_distances(scores: Scores, costs: SetCosts, joint: FloatArray) -> float:
    """Return what the objective has beside the distances of present memberships."""
    members = scores.members
    if members is None or not len(members.extra_items):
        return 0.0
    some, of_these = members.overlapping
    weights = of_these.item_weights
    total = float(joint[some].sum() if weights is None else weights @ joint[some])
    if scores.squares is not None:
        squares = scores.squares[some] if weights is None else weights * scores.squares[some]
        total += float(costs.fixed[members.numbers[some] - 1] @ squares)
    return total


def _present_costs(
    scores: Scores, costs: SetCosts, members: Memberships, joint: FloatArray
) -> FloatArray:
    """Return the cost of the set of each item, given its joint part; 0 for an item in no cluster.

    It is rounded as the costs of best sets are: a set that is one of these costs the same.
    """
    d, sizes, extra = scores.d, members.numbers, members.extra_items
    assert d is not None
    at = np.maximum(sizes - 1, 0)
    # A line of `d` begins every so often; -1 is no cluster.
    flat, begin = d.reshape(-1), np.arange(0, d.size, d.shape[1])
    own = flat.take(begin + members.first, mode="clip")
    own[members.first < 0] = 0.0
    own += np.bincount(extra, flat.take(begin[extra] + members.extra_clusters), minlength=len(d))
    fixed = np.zeros(len(own)) if scores.squares is None else costs.fixed[at] * scores.squares
    found = numpy_sets.rounded(costs.own[at] * own, fixed, joint)
    found[sizes == 0] = 0.0
    return found
