"""Where items lie among cluster prototypes: coordinates in their hull, and what is left outside it.

A mean of prototypes lies in the affine hull of all of them, which has few dimensions. With d the
squared distances of an item to the prototypes z_i, and G the inner products of z_i - z for their
mean z, the item x has

    |x - z|^2 = mean(d) - mean(diag G),    <x - z, z_i - z> = (|x - z|^2 + G_ii - d_i) / 2,

so that distances tell its coordinates, for every objective and wherever the data are. The hull is
that of more clusters than were asked for: those of items in several clusters, or of a cluster that
would else be merged with another, are then in it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from neocc._typing import FloatArray, IntArray
from neocc.core.engine import Engine
from neocc.core.objectives import Objective, Side
from neocc.core.overlap import OVERLAP_MODELS
from neocc.core.problem import Counts, Problem
from neocc.core.search import run_starts
from neocc.core.steps import Pair, distances, make_features, make_terms, with_side
from neocc.kernels import Memberships
from neocc.selection._outlying import Outlying, farthest, outlying

__all__ = ["Asked", "Place", "find_places"]

SIDES: tuple[Side, Side] = ("rows", "columns")
# Left out while prototypes are found.
_TRIMMED = 0.15
_ROUNDS = 3
# Prototypes need not be the best there are: rounds follow.
_TOL = 1e-3
# Items left out are farther than others from prototypes found without them: at first only those
# that are so many widths away stay out.
_CLEARLY = 6.0
_SAME_PLACE = 1e-9
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
    length : int
        Number of values of an item.
    outlying : Outlying
        Which items are outliers, and why.
    """

    Y: FloatArray
    prototypes: FloatArray
    sizes: FloatArray
    outside: FloatArray
    left: FloatArray
    length: int
    outlying: Outlying

    def to(self, points: FloatArray) -> FloatArray:
        """Return the distance of every item to points of the hull."""
        within = np.square(self.Y[:, None] - points).sum(axis=2)
        return np.asarray(np.sqrt(self.outside[:, None] + within))

    @property
    def noise(self) -> float:
        """Variance of a value around the hull; 0 if there is no room outside it."""
        room = self.length - self.Y.shape[1]
        kept = self.outside[~self.outlying.items]
        return float(np.median(kept)) / room if room > 0 and len(kept) else 0.0


def find_places(
    engine: Engine,
    objective: Objective,
    asked: tuple[Asked, Asked],
    rng: np.random.Generator,
    n_init: int,
) -> dict[Side, Place]:
    """Co-cluster generously, then tell outliers from others; both sides help each other."""
    shape = engine.shape
    rows, columns = (_counts(side, n) for side, n in zip(asked, shape, strict=True))
    problem = Problem(objective, rows, columns, tol=_TOL)
    runs = run_starts(engine, problem, "neo-kmeans", rng.spawn(n_init))
    found = min(runs, key=lambda run: run.objective)
    data, pair = engine.centred(problem.centring), found.pair
    problem = replace(problem, overlap_model=OVERLAP_MODELS["average"](2))
    places: dict[Side, Place] = {}
    for least in (_CLEARLY, *[0.0] * _ROUNDS):
        before = dict(places)
        for side, wanted in zip(SIDES, asked, strict=True):
            places[side], members = _place(data, problem, side, pair, wanted, least)
            pair = with_side(pair, side, members)
        if before and all(_same_outliers(before[side], places[side]) for side in SIDES):
            break
    return places


def _same_outliers(one: Place, other: Place) -> bool:
    return np.array_equal(one.outlying.items, other.outlying.items)


def _counts(asked: Asked, n_items: int) -> Counts:
    n_out = asked.n_trimmed(n_items)
    return Counts(n_items, asked.n_generous(n_items), n_items - n_out, n_out)


def _place(
    data: Engine, problem: Problem, side: Side, pair: Pair, asked: Asked, least: float
) -> tuple[Place, Memberships]:
    """Return the places of the items of one side, and their clusters without the outliers."""
    own, other = pair if side == "rows" else pair[::-1]
    assert own is not None and other is not None
    features = make_features(data, problem, pair)
    terms = make_terms(problem, side, features, pair)
    d = np.maximum(distances(data, problem, side, pair, features), 0.0)
    assert terms.gram is not None
    Y, prototypes, outside = hull(d, terms.gram)
    length = int(np.count_nonzero(other.weights))
    room = length - Y.shape[1]
    noise = float(np.median(outside)) / max(room, 1)
    first, second = _nearest(Y, prototypes, noise)
    norms = np.square(Y).sum(axis=1)
    largest = np.square(prototypes).sum(axis=1).max()
    left = outside + np.square(np.maximum(np.sqrt(norms) - np.sqrt(largest), 0.0))
    strays = left >= _FOLLOWS * (outside + norms)
    if asked.outliers is None:
        found = outlying(left, room, strays, least)
        if not found.known:
            # Perhaps because clusters differ.
            left = _levelled(left, first, len(prototypes))
            found = outlying(left, room, strays, least)
    else:
        found = farthest(left, asked.outliers)
    labels = np.where(found.items, -1, first).astype(np.int32)
    both = np.flatnonzero((second >= 0) & ~found.items)
    members = Memberships(labels, both, second[both].astype(np.int32), own.n_clusters)
    sizes = members.sizes
    members = own if members.has_empty else problem.overlap_model.weighted(members)
    return Place(Y, prototypes, sizes, outside, left, length, found), members


def hull(d: FloatArray, gram: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return coordinates of items and of prototypes, and squared distances to the hull."""
    k = len(gram)
    centred = gram - gram.mean(axis=0)
    centred -= centred.mean(axis=1, keepdims=True)
    values, vectors = np.linalg.eigh(0.5 * (centred + centred.T))
    spanned = values > max(_SAME_PLACE * values[-1], np.finfo(float).tiny)
    roots, vectors = np.sqrt(values[spanned]), vectors[:, spanned]
    norms = np.diag(centred)
    squares = d.mean(axis=1) - norms.mean()
    inner = 0.5 * (squares[:, None] + norms - d)
    Y = inner @ vectors / roots if k > 1 else np.zeros((len(d), 0))
    outside = squares - np.einsum("pi,pi->p", Y, Y)
    rounding = _SAME_PLACE * np.abs(d).max(axis=1, initial=0.0)
    return Y, vectors * roots, np.where(outside > rounding, outside, 0.0)


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


def _nearest(Y: FloatArray, prototypes: FloatArray, noise: float) -> tuple[IntArray, IntArray]:
    """Return the nearest prototype of each item, or the two whose mean is nearer.

    A second one, -1 if there is none, must be nearer than noise makes the best of all pairs.
    """
    k = len(prototypes)
    d = np.square(Y[:, None] - prototypes).sum(axis=2)
    first, nearest = d.argmin(axis=1), d.min(axis=1)
    second = np.full(len(Y), -1)
    inside = nearest.copy()
    price = 2.0 * noise * np.log(max(len(Y) * k * (k - 1) / 2, 1.0))
    for i, j in combinations(range(k), 2):
        apart = np.square(prototypes[i] - prototypes[j]).sum()
        between = 0.5 * (d[:, i] + d[:, j]) - 0.25 * apart
        better = between < np.minimum(inside, nearest - price)
        inside[better], first[better], second[better] = between[better], i, j
    return first, second
