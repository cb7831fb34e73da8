"""`"repeat"`, the paper's model: an item pays its distance in full for each of its memberships.

C(A) = sum_{i in A} d_i
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from neocc.core.assign import Choices
from neocc.core.overlap.distances import DistanceChoices
from neocc.core.overlap.model import OverlapModel
from neocc.core.overlap.scores import Scores, Spread, at_once
from neocc.kernels import Kernels, Memberships

__all__ = ["REPEAT", "Repeat"]


@dataclass(frozen=True)
class Repeat(OverlapModel):
    """The sum of the distances to an item's clusters."""

    name: ClassVar[str] = "repeat"
    repeats: ClassVar[bool] = True

    def __post_init__(self) -> None:
        # Without a bound each membership has a price of its own.
        object.__setattr__(self, "prices_first", self.most is not None)

    def weighted(self, members: Memberships) -> Memberships:
        """Return memberships as they are."""
        return members

    def choices(self, scores: Scores, kernels: Kernels, spread: Spread = at_once) -> Choices:
        """Return the distances themselves, unless memberships are bounded."""
        if self.most is None:
            before = scores.members
            weights = None if before is None else before.item_weights
            return DistanceChoices(scores if weights is None else scores.weighed(weights))
        return super().choices(scores, kernels, spread)


REPEAT = Repeat()
