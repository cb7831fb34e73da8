"""Items among prototypes: what is known of a side, where its items are, which are outliers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from neocc._typing import FloatArray, IntArray
from neocc.core.objectives import Side
from neocc.core.problem import Counts
from neocc.selection._mixture import Mixture, Sets
from neocc.selection._outlying import Outlying, farthest, outlying

__all__ = ["SIDES", "Asked", "Place", "judged"]

SIDES: tuple[Side, Side] = ("rows", "columns")
# Left out while prototypes are found.
_TRIMMED = 0.15
# Clusters of so many items tell at what level these are, up to a factor.
_ENOUGH, _LOW, _LEVELS = 10, 0.25, 4.0
# An item of which more is explained than left follows a cluster: it is no outlier.
_FOLLOWS = 0.5


@dataclass(frozen=True)
class Asked:
    """What is known of a side: its number of clusters, and fractions that are given."""

    n_clusters: int
    overlap: float | None = None
    outliers: float | None = None

    @property
    def open(self) -> list[str]:
        """The fractions that are not given."""
        return [name for name in ("overlap", "outliers") if getattr(self, name) is None]

    @property
    def is_open(self) -> bool:
        """Whether a fraction is not given."""
        return bool(self.open)

    def n_generous(self, n_items: int) -> int:
        """Return a number of clusters that leaves room for some that are means of others."""
        if self.n_clusters == 1:
            return 1
        return min(n_items, self.n_clusters + max(2, self.n_clusters // 2))

    def n_trimmed(self, n_items: int) -> int:
        """Return how many items prototypes are found without."""
        share = _TRIMMED if self.outliers is None else self.outliers
        return max(0, min(int(share * n_items), n_items - self.n_generous(n_items)))

    def counts(self, n_items: int) -> Counts:
        """Return those by which prototypes are found: disjoint clusters, some items left out."""
        n_out = self.n_trimmed(n_items)
        return Counts(n_items, self.n_generous(n_items), n_items - n_out, n_out)


@dataclass(frozen=True)
class Place:
    """The items of a side, seen from prototypes.

    Attributes
    ----------
    Y : array of shape (n_items, n_dimensions)
        Coordinates in the hull of the prototypes.
    prototypes : array of shape (n_prototypes, n_dimensions)
        Those of the prototypes.
    sizes : array of shape (n_prototypes,)
        Numbers of items of each.
    outside : array of shape (n_items,)
        Squared distance to the hull.
    left : array of shape (n_items,)
        What no cluster explains: the squared distance to the hull, and to the ball that holds the
        prototypes. It may be divided by how much more items of the same cluster usually leave.
    room : float or array of shape (n_items,)
        Number of values of an item, less what tells where it is in the hull.
    outlying : Outlying
        Which items are outliers, and why.
    level : array of shape (n_dimensions,) or None
        Where an item would be all whose values are the mean of all; None if there is no such place.
    """

    Y: FloatArray
    prototypes: FloatArray
    sizes: FloatArray
    outside: FloatArray
    left: FloatArray
    room: float | FloatArray
    outlying: Outlying
    level: FloatArray | None

    def items(self, which: Any = slice(None)) -> Any:
        """Return some of the items, for mixtures."""
        return self.Y[which]

    def squares(self, items: Any, points: FloatArray) -> FloatArray:
        """Return the squared distance of items to points, both in the hull."""
        return np.asarray(np.square(items[:, None] - points).sum(axis=2))

    def mixture(self, sets: Sets, prototypes: FloatArray, width: float) -> Mixture:
        """Return a mixture to begin with, of so wide clusters."""
        return Mixture.start(sets, prototypes, width * np.eye(prototypes.shape[1]))

    def to(self, points: FloatArray) -> FloatArray:
        """Return the distance of every item to points of the hull."""
        return np.asarray(np.sqrt(self.outside[:, None] + self.squares(self.items(), points)))

    @property
    def noise(self) -> float:
        """Variance of a value around the hull; 0 if there is no room outside it."""
        usable = ~self.outlying.items & (np.asarray(self.room) > 0)
        each = (self.outside / np.maximum(self.room, 1.0))[usable]
        return float(np.median(each)) if len(each) else 0.0


def judged(
    place: Place, norms: FloatArray, clusters: IntArray, asked: Asked, least: float
) -> Place:
    """Return a place with its outliers, given squared distances from the middle, and clusters."""
    if asked.outliers is not None:
        return replace(place, outlying=farthest(place.left, asked.outliers))
    strays = place.left >= _FOLLOWS * (place.outside + norms)
    left, freedom = _of_equal_lengths(place.left, place.room)
    found = outlying(left, freedom, strays, least)
    if not found.known:
        # Perhaps because clusters differ.
        left = _levelled(left, clusters, len(place.prototypes))
        found = outlying(left, freedom, strays, least)
    return replace(place, left=left, outlying=found)


def _of_equal_lengths(left: FloatArray, room: float | FloatArray) -> tuple[FloatArray, int]:
    """Return distances as they would be if all items had as many values as usual, and that number.

    Their cube roots are nearly normal (see `_outlying`); an item without values is a usual one.
    """
    if not isinstance(room, np.ndarray):
        return left, int(room)
    some = room > 0
    if not some.any():
        return left, 0
    usual = float(np.median(room[some]))
    each = np.where(some, room, usual)
    level = float(np.median((left / each)[some]))
    if level <= 0:
        return left, int(usual)
    width, usual_width = np.sqrt(2.0 / 9.0 / each), np.sqrt(2.0 / 9.0 / usual)
    scores = (np.cbrt(left / each / level) - 1.0 + width**2) / width
    roots = 1.0 - usual_width**2 + usual_width * np.where(some, scores, 0.0)
    return level * usual * np.maximum(roots, 0.0) ** 3, int(usual)


def _levelled(left: FloatArray, clusters: IntArray, n_clusters: int) -> FloatArray:
    """Divide distances by the level of their cluster: a low one, which outliers do not raise."""
    usual = float(np.quantile(left, _LOW))
    levelled = left.copy()
    for cluster in range(n_clusters):
        own = clusters == cluster
        if np.count_nonzero(own) >= _ENOUGH and usual > 0:
            level = float(np.quantile(left[own], _LOW)) / usual
            levelled[own] /= np.clip(level, 1.0 / _LEVELS, _LEVELS)
    return levelled
