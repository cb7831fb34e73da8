"""Items among prototypes: what is known of a side, where its items are, which are outliers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage

from neocc._typing import FloatArray, IntArray
from neocc.core.objectives import Side
from neocc.core.problem import Counts
from neocc.selection._mixture import Mixture, Sets
from neocc.selection._outlying import (
    Outlying,
    farthest,
    levels_of,
    of_equal_lengths,
    outlying,
)

__all__ = ["SIDES", "Asked", "Place", "Values", "judged", "starts_of"]

SIDES: tuple[Side, Side] = ("rows", "columns")
# Left out while prototypes are found.
_TRIMMED = 0.15
# An outlier follows no cluster: of its distance from the middle, or from the mean of all values,
# clusters explain no more than so many times what chance does, or a little; never more than they
# leave.
_TIMES, _LITTLE, _FOLLOWS = 3.0, 0.2, 0.5
# Items of which so much is explained tell at what level those of their cluster are.
_TELLS = 0.25
# With more outliers than that, it is not known how far items usually are.
_MOST_OUTLIERS = 0.2
_TINY = 1e-300
_RANDOM_STARTS = 4
_SOME_ITEMS = 500


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


class Values(NamedTuple):
    """How many values each item has, their sums, and the sums of their squares."""

    numbers: FloatArray
    sums: FloatArray
    squares: FloatArray

    def of(self, items: Any) -> Values:
        """Return those of some items."""
        return Values(*(each[items] for each in self))

    @property
    def away(self) -> FloatArray:
        """Squared distance of every item from the mean of all values."""
        n, sums, squares = self
        mean = sums.sum() / max(float(n.sum()), 1.0)
        return np.asarray(np.maximum(squares - 2.0 * mean * sums + n * mean**2, 0.0))

    def laws(self, parts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of all values of groups, given the parts of items in these."""
        numbers, sums, squares = (each @ parts for each in self)
        means = sums / np.maximum(numbers, 1.0)
        return means, np.maximum(squares / np.maximum(numbers, 1.0) - np.square(means), 0.0)

    def densities(self, means: FloatArray, variances: FloatArray) -> FloatArray:
        """Return the log-density of items whose values are normal and independent."""
        n, sums, squares = (each[:, None] for each in self)
        left = np.maximum(squares - 2.0 * means * sums + n * means * means, 0.0)
        return np.asarray(-0.5 * (left / variances + n * np.log(2.0 * np.pi * variances)))


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
    values : Values or None
        All values of each item; None if items are the same up to offsets.
    """

    Y: FloatArray
    prototypes: FloatArray
    sizes: FloatArray
    outside: FloatArray
    left: FloatArray
    room: float | FloatArray
    outlying: Outlying
    values: Values | None

    def items(self, which: Any = slice(None)) -> Any:
        """Return some of the items, for mixtures."""
        return self.Y[which]

    def along(self, basis: FloatArray) -> Place:
        """Return the items as seen along the columns of an orthonormal basis."""
        Y = self.Y @ basis
        outside = self.outside + np.square(self.Y).sum(axis=1) - np.square(Y).sum(axis=1)
        room = self.room + self.Y.shape[1] - Y.shape[1]
        return replace(self, Y=Y, prototypes=self.prototypes @ basis, outside=outside, room=room)

    def squares(self, items: Any, points: FloatArray) -> FloatArray:
        """Return the squared distance of items to points, both in the hull."""
        return np.asarray(np.square(items[:, None] - points).sum(axis=2))

    def points(self, items: Any) -> FloatArray:
        """Return where items are, as points of the hull."""
        return np.asarray(items)

    def mixture(self, sets: Sets, prototypes: FloatArray, width: float) -> Mixture:
        """Return a mixture to begin with, of so wide clusters."""
        return Mixture.start(sets, prototypes, width * np.eye(prototypes.shape[1]))

    def to(self, points: FloatArray) -> FloatArray:
        """Return the distance of every item to points of the hull."""
        return np.asarray(np.sqrt(self.outside[:, None] + self.squares(self.items(), points)))

    def densities(self, which: IntArray, mixture: Mixture) -> FloatArray:
        """Return the log-density of where items are in the hull, for each set of clusters."""
        shares = np.log(mixture.shares[mixture.sets.numbers - 1] + 1e-300)
        return np.asarray(mixture.densities(self.items(which)) + shares)

    def around(self, which: IntArray, noises: FloatArray) -> FloatArray:
        """Return the log-density of what items have outside the hull, for each noise there."""
        room = np.broadcast_to(self.room, len(self.Y))[which]
        scaled = self.outside[which, None] / noises + np.outer(room, np.log(2.0 * np.pi * noises))
        return np.asarray(-0.5 * scaled)

    def noises(self, which: IntArray, clusters: IntArray, n_clusters: int) -> FloatArray:
        """Return the noise of each cluster, given those of some items: the usual one or more."""
        left, freedom = of_equal_lengths(self.outside, self.room)
        levels = levels_of(left[which], freedom, clusters, n_clusters)
        return np.asarray(self.noise * np.maximum(levels, 1.0))

    def widths(self, items: Any) -> list[float]:
        """Return variances to start from: that of items around the nearest prototype, and noise."""
        r, noise = self.Y.shape[1], self.noise
        d = self.squares(items, self.prototypes).min(axis=1)
        largest = float(self.squares(items, np.zeros((1, r))).mean()) / r
        wide = max(float(np.median(d)) / r, noise, 1e-6 * largest)
        return [wide, max(noise, 1e-6 * largest)]

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
    n_dimensions = place.Y.shape[1]
    by_chance = n_dimensions / (n_dimensions + np.maximum(place.room, 1.0))
    whole = place.outside + norms
    if place.values is not None:
        # The middle of few prototypes varies, too: not so the mean of all values.
        whole = np.minimum(whole, place.values.away)
    explained = 1.0 - place.left / np.maximum(whole, _TINY)
    strays = explained <= np.clip(_TIMES * by_chance, _LITTLE, _FOLLOWS)
    left, freedom = of_equal_lengths(place.left, place.room)
    found = outlying(left, freedom, strays, least)
    pure = found.known and bool(found.items.mean() <= _MOST_OUTLIERS)
    # Items of a cluster with more noise than others are no outliers. Where noise is pure, outliers
    # may fill a cluster, whose level is not theirs.
    telling = np.where(explained > _TELLS, clusters, -1) if pure else clusters
    left = left / levels_of(left, freedom, telling, len(place.prototypes))[clusters]
    found = outlying(left, freedom, strays, least, pure=pure)
    return replace(place, left=left, outlying=found)


def starts_of(
    place: Place, k: int, rng: np.random.Generator, n_random: int = _RANDOM_STARTS
) -> list[FloatArray]:
    """Choose k prototypes among more: merged ones, the corners of their hull, and any."""
    P, sizes = place.prototypes, place.sizes
    if len(P) <= k:
        return [P]
    merged = fcluster(linkage(P, "ward"), k, "maxclust") if P.shape[1] else np.arange(len(P)) + 1
    groups = [np.flatnonzero(merged == i) for i in range(1, k + 1)]
    found = []
    if all(len(group) for group in groups):
        weights = sizes + 1.0
        found = [np.array([np.average(P[g], axis=0, weights=weights[g]) for g in groups])]
    found.append(P[_corners(P, sizes, k)])
    return found + [_seeded(place, k, rng) for _ in range(n_random)]


def _seeded(place: Place, k: int, rng: np.random.Generator) -> FloatArray:
    """Choose items as prototypes, one after the other: the best of a few far from those before."""
    kept = rng.permutation(np.flatnonzero(~place.outlying.items))[:_SOME_ITEMS]
    items = place.items(kept)
    Y = place.points(items)
    n_tries = 2 + int(np.log(k))
    tries = rng.integers(len(Y), size=n_tries)
    chosen: list[int] = []
    nearest = np.full(len(Y), np.inf)
    for _ in range(k):
        if chosen:
            total = nearest.sum()
            tries = rng.choice(len(Y), n_tries, p=nearest / total if total > 0 else None)
        each = np.minimum(nearest[:, None], place.squares(items, Y[tries]))
        best = int(each.sum(axis=0).argmin())
        chosen.append(int(tries[best]))
        nearest = each[:, best]
    return Y[chosen]


def _corners(P: FloatArray, sizes: FloatArray, k: int) -> list[int]:
    """Choose points one after the other, each farthest from the hull of those before."""
    away = P - np.average(P, axis=0, weights=sizes + 1.0)
    chosen = [int(np.square(away).sum(axis=1).argmax())]
    left = P - P[chosen[0]]
    while len(chosen) < k:
        squares = np.square(left).sum(axis=1)
        squares[chosen] = -1.0
        chosen.append(int(squares.argmax()))
        direction = left[chosen[-1]]
        norm = float(direction @ direction)
        if norm > 0:
            left = left - np.outer(left @ direction / norm, direction)
    return chosen
