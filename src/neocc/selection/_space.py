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

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from neocc._typing import BoolArray, FloatArray, IntArray
from neocc.core.engine import Engine
from neocc.core.objectives import KMEANS, Objective, Side
from neocc.core.overlap import OVERLAP_MODELS
from neocc.core.problem import Counts, Problem
from neocc.core.search import run_starts
from neocc.core.solve import solve
from neocc.core.steps import Pair, counted, distances, make_features, make_terms, with_side
from neocc.kernels import Memberships, Terms
from neocc.selection._outlying import farthest
from neocc.selection._places import SIDES, Asked, Place, Values, judged
from neocc.selection._stored import stored_place

__all__ = ["GROUP", "find_places", "seen_through", "with_groups"]

GROUP = 3
"""So many items make a group."""

_ROUNDS = 3
# Prototypes need not be the best there are: rounds follow.
_TOL = 1e-3
# Items left out are farther than others from prototypes found without them: at first only those
# that are so many widths away stay out.
_CLEARLY = 6.0
_SAME_PLACE = 1e-9


def find_places(
    engine: Engine,
    objective: Objective,
    asked: tuple[Asked, Asked],
    rng: np.random.Generator,
    n_init: int,
    start: tuple[Memberships, Memberships] | None = None,
    *,
    many: int = 5000,
) -> dict[Side, Place]:
    """Co-cluster generously, then tell outliers from others; both sides help each other.

    Co-clusters are found from a `start`, if it is given, or in a sample of `many` of more items.
    """
    if start is None:
        problem, pair = _coclustered(engine, objective, asked, rng, n_init, many)
    else:
        rows, columns = (
            replace(each.counts(n), n_clusters=own.n_clusters)
            for each, n, own in zip(asked, engine.shape, start, strict=True)
        )
        problem = Problem(objective, rows, columns, tol=_TOL)
        pair = solve(engine.centred(problem.centring), problem, start).pair
    data = engine.centred(problem.centring)
    place, problem = _placing(problem)
    places: dict[Side, Place] = {}
    for least in (_CLEARLY, *[0.0] * _ROUNDS):
        before = dict(places)
        for side, wanted in zip(SIDES, asked, strict=True):
            places[side], members = place(data, problem, side, pair, wanted, least)
            pair = with_side(pair, side, members)
        if before and all(_same_outliers(before[side], places[side]) for side in SIDES):
            break
    return places


def seen_through(
    engine: Engine, objective: Objective, side: Side, place: Place, others: BoolArray
) -> Place:
    """Return where items are, by what they are in clusters that were found on the other side.

    These are no more than were asked for. Generous ones follow the noise of few items, which then
    seem to be far from the means of others. Outliers are known.
    """
    nearest = place.to(place.prototypes).argmin(axis=1)
    labels = np.where(place.outlying.items, -1, nearest).astype(np.int32)
    own = Memberships.from_labels(labels, len(place.prototypes))
    other = Memberships.from_dense(others)
    if own.has_empty or other.has_empty or (objective.needs_counts and len(other.extra_items)):
        return place
    pair = (own, other) if side == "rows" else (other, own)
    counts = [Counts(each.n_items, each.n_clusters, each.n_items, 0) for each in pair]
    problem = Problem(objective, counts[0], counts[1])
    data = engine.centred(problem.centring)
    find, problem = _placing(problem)
    asked = Asked(own.n_clusters, outliers=0.0)
    found: Place = find(data, problem, side, counted(data, problem, pair), asked, 0.0)[0]
    return replace(found, left=place.left, outlying=place.outlying)


def _placing(problem: Problem) -> tuple[Any, Problem]:
    """Return what finds places, and the problem as it needs it."""
    if problem.objective.needs_counts:
        return stored_place, problem
    return _place, replace(problem, overlap_model=OVERLAP_MODELS["average"]())


def _coclustered(
    engine: Engine,
    objective: Objective,
    asked: tuple[Asked, Asked],
    rng: np.random.Generator,
    n_init: int,
    many: int,
) -> tuple[Problem, Pair]:
    """Return the problem of generous clusters, and those of a sample of many items."""
    some, items = engine, list[IntArray]()
    for side, n in zip(SIDES, engine.shape, strict=True):
        items.append(np.arange(n))
        if n > many:
            items[-1] = np.sort(rng.choice(n, many, replace=False))
            some = some.sample(side, items[-1])
    rows, columns = (each.counts(n) for each, n in zip(asked, some.shape, strict=True))
    problem = Problem(objective, rows, columns, tol=_TOL)
    runs = run_starts(some, problem, "neo-kmeans", rng.spawn(n_init))
    found = min(runs, key=lambda run: run.objective)
    U, V = (
        _of_all(own, each, n) for own, each, n in zip(found.pair, items, engine.shape, strict=True)
    )
    return problem, (U, V)


def _of_all(members: Memberships | None, items: IntArray, n_items: int) -> Memberships:
    """Return the memberships of some items as those of all: others have none."""
    assert members is not None
    if len(items) == n_items:
        return members
    labels = np.full(n_items, -1, dtype=np.int32)
    labels[items] = members.first
    return Memberships.from_labels(labels, members.n_clusters)


def with_groups(
    engine: Engine, side: Side, place: Place, most: int, rng: np.random.Generator
) -> Memberships:
    """Return the clusters of all items: outliers are in up to `most` clusters of their own."""
    labels = place.to(place.prototypes).argmin(axis=1).astype(np.int32)
    out = np.flatnonzero(place.outlying.items)
    k, n_more = len(place.prototypes), min(most, len(out) // GROUP)
    if n_more:
        some, counts = engine.sample(side, out), Counts(len(out), n_more, len(out), 0)
        both = (counts, None) if side == "rows" else (None, counts)
        problem = replace(Problem(KMEANS, *both), tol=_TOL)
        run = next(run_starts(some, problem, "neo-kmeans", rng.spawn(1)))
        own = run.U if side == "rows" else run.V
        assert own is not None
        labels[out] = k + own.first
    return Memberships.from_labels(labels, k + n_more)


def _same_outliers(one: Place, other: Place) -> bool:
    return np.array_equal(one.outlying.items, other.outlying.items)


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
    room = max(int(np.count_nonzero(other.weights)) - Y.shape[1], 0)
    noise = float(np.median(outside)) / max(room, 1)
    first, second = _nearest(Y, prototypes, noise)
    norms = np.square(Y).sum(axis=1)
    largest = np.square(prototypes).sum(axis=1).max()
    left = outside + np.square(np.maximum(np.sqrt(norms) - np.sqrt(largest), 0.0))
    values = None if problem.needs_products else _values(data, side, other)
    place = Place(Y, prototypes, own.sizes, outside, left, room, farthest(left, 0.0), values)
    place = judged(place, norms, first, asked, least)
    out = place.outlying.items
    labels = np.where(out, -1, first).astype(np.int32)
    both = np.flatnonzero((second >= 0) & ~out)
    members = Memberships(labels, both, second[both].astype(np.int32), own.n_clusters)
    place = replace(place, sizes=members.sizes)
    return place, own if members.has_empty else problem.overlap_model.weighted(members)


def _values(data: Engine, side: Side, other: Memberships) -> Values:
    """Return what all values of items are, in those of the other side that are no outliers."""
    everyone = Memberships.from_labels(np.minimum(other.first, 0).astype(np.int32), 1)
    if side == "rows":
        zero = np.zeros(1)
        terms = Terms(zero, np.ones((1, 1)), None, None, zero, rate=zero, base="plain")
        sums, squares = data.row_distances(terms, everyone), data.row_squares(everyone.weights)
    else:
        features = data.column_features(everyone, None)
        assert features.sums is not None
        sums, squares = features.sums, features.squares
    return Values(np.full(len(sums), float(everyone.sizes[0])), sums[:, 0], squares)


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
