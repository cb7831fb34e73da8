"""What an overlap model says: how memberships weigh, and what sets of clusters cost an item."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from neocc._typing import FloatArray, LabelArray
from neocc.core.assign import Choices
from neocc.kernels import Memberships

__all__ = ["OverlapModel", "Scores"]


class Scores(NamedTuple):
    """Comparable distances of a block of items, with the nearest clusters and their distances.

    `objective` is that of the memberships before. `d` is None where every item gets its nearest
    cluster and nothing else.
    """

    d: FloatArray | None
    labels: LabelArray
    minima: FloatArray
    n_clusters: int
    objective: float = 0.0

    @classmethod
    def joined(cls, parts: Sequence[Scores]) -> Scores:
        """Put the scores of consecutive blocks together."""
        if len(parts) == 1:
            return parts[0]
        tables = [each.d for each in parts if each.d is not None]
        return cls(
            np.concatenate(tables) if tables else None,
            np.concatenate([each.labels for each in parts]),
            np.concatenate([each.minima for each in parts]),
            parts[0].n_clusters,
            sum(each.objective for each in parts),
        )


class OverlapModel(Protocol):
    """What a membership costs."""

    @property
    def name(self) -> str:
        """How users call it."""

    def weighted(self, members: Memberships) -> Memberships:
        """Return memberships with the weights by which they count in sums over clusters."""

    def choices(self, scores: Scores) -> Choices:
        """Return what items can choose from, given their distances to single clusters.

        Memberships that it applies are weighted.
        """
