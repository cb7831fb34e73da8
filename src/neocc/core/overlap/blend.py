"""`"average"` for objectives whose prototypes are not points: an item blends one cluster or two.

Over observed cells every item has seen others, and rates of counts are compared by their
logarithms: the cost of two clusters is not made of the costs of each. So every pair of clusters has
a distance of its own, behind those of single clusters, at the mean of their values. `"sum"` over
observed cells has them at the sum.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from neocc._typing import FloatArray, LabelArray
from neocc.core.objectives.blends import pairs_of, types_of
from neocc.core.overlap.average import Average
from neocc.core.overlap.model import OverlapModel
from neocc.core.overlap.repeat import Repeat
from neocc.core.overlap.scores import Scores
from neocc.core.overlap.sum import Sum
from neocc.kernels import Kernels, Memberships

__all__ = ["Blend", "BlendedSum"]


@dataclass(frozen=True)
class Blend(OverlapModel):
    """The cost at the mean of the values of an item's clusters, two at most."""

    name: ClassVar[str] = "average"
    key: ClassVar[str] = "blend"
    mixed: ClassVar[bool] = True
    divides: ClassVar[bool] = True
    pair_share: ClassVar[float] = 0.5

    @property
    def one_way(self) -> OverlapModel:
        """The model of a side alone: a mean of vectors."""
        return Average(self.most)

    def weighted(self, members: Memberships) -> Memberships:
        """Return memberships that count in the type of each item."""
        if not len(members.extra_items):
            return replace(members, scale=None, mixed=False, virtual=None)
        scale = 1.0 / np.maximum(members.numbers, 1) if self.divides else None
        return replace(members, scale=scale, mixed=True, virtual=types_of(members))

    def known(self, scores: Scores) -> OverlapModel:
        """Return the model, or one of single clusters where pairs have no distances."""
        alone = scores.d is not None and scores.d.shape[1] == scores.n_clusters
        return Repeat(1) if alone else self

    def standing(self, scores: Scores) -> tuple[float, FloatArray | None]:
        """Return what present types cost; distances are all that the objective has."""
        members = scores.members
        if members is None or scores.d is None:
            return 0.0, None
        return 0.0, self.present(scores, members)

    def present(self, scores: Scores, members: Memberships) -> FloatArray:
        """Return the cost of the type of each item, 0 for an item in no cluster."""
        assert scores.d is not None
        labels = types_of(members).first
        costs = scores.d[np.arange(len(labels)), labels]
        return np.where(labels < 0, 0.0, costs)

    def find_sets(
        self,
        scores: Scores,
        kernels: Kernels,  # noqa: ARG002
        at: slice,
        curves: FloatArray,
        sets: LabelArray,
    ) -> None:
        """Write the best cluster and the best pair of some items."""
        assert scores.d is not None
        k, d = scores.n_clusters, scores.d[at]
        lines = np.arange(len(d))
        best = d[:, :k].argmin(axis=1)
        curves[at, 0], sets[at, 0, 0] = d[lines, best], best
        if curves.shape[1] > 1:
            one, other = pairs_of(k)
            best = d[:, k:].argmin(axis=1)
            curves[at, 1] = d[lines, k + best]
            sets[at, 1, 0], sets[at, 1, 1] = one[best], other[best]


@dataclass(frozen=True)
class BlendedSum(Blend):
    """The cost at the sum of the values of an item's clusters, two at most."""

    name: ClassVar[str] = "sum"
    key: ClassVar[str] = "blended-sum"
    divides: ClassVar[bool] = False
    pair_share: ClassVar[float] = 1.0

    @property
    def one_way(self) -> OverlapModel:
        """The model of a side alone: a sum of vectors."""
        return Sum(self.most)
