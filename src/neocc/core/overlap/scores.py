"""The scores of a block of items, from which overlap models choose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from neocc._typing import BoolArray, FloatArray, IntArray, LabelArray
from neocc.kernels import Memberships, Parts, SetCosts

__all__ = ["Scores", "Spread", "at_once", "nearest_among"]

Spread: TypeAlias = Callable[[Callable[[slice], None], int], None]
"""Call a function for consecutive ranges of a number of items, in any order."""


def at_once(function: Callable[[slice], None], n_items: int) -> None:
    """Call it once, for all items."""
    function(slice(0, n_items))


def nearest_among(members: BoolArray, d: FloatArray) -> IntArray:
    """Return the nearest of the clusters of each item, given distances; -1 for an item in none."""
    labels: IntArray = np.where(members.any(axis=1), members.argmax(axis=1), -1)
    several = np.flatnonzero(np.count_nonzero(members, axis=1) > 1)
    # Columns beyond the clusters are those of pairs of them.
    some = np.where(members[several], d[several, : members.shape[1]], np.inf)
    labels[several] = some.argmin(axis=1)
    return labels


class Scores(NamedTuple):
    """Comparable distances of a block of items, with the nearest clusters and their distances.

    `objective` is the sum of the distances at the memberships before, `members`. `d` is None where
    every item gets its nearest cluster and nothing else. `squares` are those of the items, `gram`
    the inner products of prototypes, `parts` those of distances, for models that need them, and
    `costs` the parts of the costs of sets, once a model has said what they are. Items that are
    `all_zero` have one membership at most.
    Distances are those of items that count as one; the objective has the weights of items.
    """

    d: FloatArray | None
    labels: LabelArray
    minima: FloatArray
    n_clusters: int
    objective: float = 0.0
    members: Memberships | None = None
    squares: FloatArray | None = None
    gram: FloatArray | None = None
    parts: Parts | None = None
    costs: SetCosts | None = None
    all_zero: BoolArray | None = None

    @property
    def item_weights(self) -> FloatArray | None:
        """How many items each of them counts as; None for one."""
        return None if self.members is None else self.members.item_weights

    def weighed(self, weights: FloatArray | None) -> Scores:
        """Return distances times the weights of items: what memberships cost, in place."""
        if weights is None:
            return self
        if self.d is not None:
            np.multiply(self.d, weights[:, None], out=self.d)
        return self._replace(minima=self.minima * weights)

    def unexplained(self) -> FloatArray:
        """Return what no cluster explains of each item, 0 where that is not known."""
        if self.parts is None or self.squares is None:
            return np.zeros(len(self.labels))
        return self.parts.unexplained(self.squares)

    def offered(self) -> FloatArray:
        """Return distances, infinite where they would give an all-zero item another membership."""
        assert self.d is not None
        if self.all_zero is None:
            return self.d
        d, at = self.d.copy(), self.all_zero.nonzero()[0]
        d[at] = np.inf
        d[at, self.labels[at]] = self.minima[at]
        return d

    @classmethod
    def joined(cls, parts: Sequence[Scores]) -> Scores:
        """Put the scores of consecutive blocks together."""
        if len(parts) == 1:
            return parts[0]
        tables = [each.d for each in parts if each.d is not None]
        squares = [each.squares for each in parts if each.squares is not None]
        split = [each.parts for each in parts if each.parts is not None]
        all_zero = [each.all_zero for each in parts if each.all_zero is not None]
        return cls(
            np.concatenate(tables) if tables else None,
            np.concatenate([each.labels for each in parts]),
            np.concatenate([each.minima for each in parts]),
            parts[0].n_clusters,
            sum(each.objective for each in parts),
            squares=np.concatenate(squares) if squares else None,
            gram=parts[0].gram,
            parts=Parts.joined(split) if split else None,
            all_zero=np.concatenate(all_zero) if all_zero else None,
        )
