"""Feasible starts for U and V.

* `random_start`: memberships drawn at random with the exact counts.
* `seeded_start`: a one-way problem from its greedy k-means++ seeds.
* `one_way_start`: the paper's way, one-way NEO-K-Means on the rows and on the columns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from neocc._typing import BoolArray, FloatArray, IntArray, LabelArray
from neocc.core.assign import fill_empty
from neocc.core.engine import Engine
from neocc.core.objectives import Features, Side, Terms
from neocc.core.objectives.kmeans import centre_terms
from neocc.core.problem import Counts, Problem
from neocc.core.sizes import fill_small
from neocc.core.solve import solve
from neocc.core.steps import Pair, assigned, join, make_terms
from neocc.kernels import Memberships, numpy_

__all__ = [
    "NO_WARM_START",
    "WarmStart",
    "one_way_start",
    "pressurised",
    "random_pair",
    "random_start",
    "seeded_start",
]

# A start need not have converged: the alternation takes over from wherever it stands.
_ONE_WAY_ITERATIONS = 10
_SAME_SUM = 1e-9
# Shares of the allowed outliers that are let go one after the other.
_PRESSURE = (0.0, 0.5, 0.75)
_PRESSURE_ITERATIONS = 3


def random_start(counts: Counts, rng: np.random.Generator) -> Memberships:
    """Draw memberships with the exact counts, without empty clusters where the counts allow."""
    n, k = counts.n_items, counts.n_clusters
    order = rng.permutation(n)
    labels = np.concatenate([rng.permutation(k)[:n], rng.integers(k, size=max(0, n - k))])
    first = np.full(n, -1, dtype=np.int32)
    kept = order[: counts.n_covered]
    first[kept] = labels[: counts.n_covered]
    extra = _draw_pairs(first, counts, rng)
    members = Memberships(first, extra // k, (extra % k).astype(np.int32), k)
    if counts.min_size > 1:
        return fill_small(members, rng.random((n, k)), counts)
    return fill_empty(members, np.zeros(members.n_total))


def random_pair(problem: Problem, rng: np.random.Generator) -> Pair:
    """Draw memberships of the sides that are clustered."""
    rows = None if problem.rows is None else random_start(problem.rows, rng)
    return rows, None if problem.columns is None else random_start(problem.columns, rng)


def _draw_pairs(first: LabelArray, counts: Counts, rng: np.random.Generator) -> IntArray:
    """Draw `n_extra` distinct (item, cluster) pairs not in `first`, as sorted flat indices."""
    n, k = counts.n_items, counts.n_clusters
    used = np.flatnonzero(first >= 0)
    taken = np.sort(used * k + first[used])
    n_free = n * k - len(taken)
    # The j-th free flat index is j plus the number of taken ones before it.
    picks = np.sort(rng.choice(n_free, size=counts.n_extra, replace=False, shuffle=False))
    gaps = taken - np.arange(len(taken))
    return np.asarray(picks + np.searchsorted(gaps, picks, side="right"), dtype=np.intp)


@dataclass(frozen=True)
class WarmStart:
    """k-means clusters of the rows and of the columns, where the caller has them already."""

    rows: Memberships | None = None
    columns: Memberships | None = None


NO_WARM_START = WarmStart()


def one_way_start(
    engine: Engine,
    problem: Problem,
    rng: np.random.Generator,
    warm: WarmStart = NO_WARM_START,
) -> Pair:
    """Start both sides from one-way NEO-K-Means, itself started from warm clusters or seeds."""

    def one_side(side: Side, clusters: Memberships | None) -> Pair:
        one_way = problem.one_way(side, _ONE_WAY_ITERATIONS)
        data = engine.centred(one_way.centring)
        if clusters is None:
            start = seeded_start(data, one_way, rng)
        else:
            start = assigned(data, one_way, side, _alone(side, clusters))
        return solve(data, one_way, start).pair

    U, _ = one_side("rows", warm.rows)
    return U, one_side("columns", warm.columns)[1]


def _alone(side: Side, members: Memberships) -> Pair:
    return (members, None) if side == "rows" else (None, members)


def pressurised(data: Engine, problem: Problem, pair: Pair) -> Pair:
    """Let outliers go a few at a time, instead of freezing those that a poor start makes.

    The alternation runs for a little while with every number of outliers from none to the largest
    allowed, each time closing half of the gap (Bregman bubble clustering, Gupta and Ghosh 2006).
    """
    for share in (*_PRESSURE, 1.0):
        sides = (side and side.with_outliers(share) for side in (problem.rows, problem.columns))
        rows, columns = sides
        phase = replace(problem, rows=rows, columns=columns, max_iter=_PRESSURE_ITERATIONS)
        pair = solve(data, phase, pair).pair
    return pair


def seeded_start(engine: Engine, problem: Problem, rng: np.random.Generator) -> Pair:
    """Start a one-way problem from its k-means++ seeds."""
    (side,) = problem.sides
    counts = problem.counts(side)

    def around(seeds: IntArray) -> tuple[Terms, Features | None]:
        """Return the terms of clusters of one item each, and the features of columns."""
        if side == "rows":
            return centre_terms(engine.take_rows(seeds)), None
        labels = np.full(counts.n_items, -1, dtype=np.int32)
        labels[seeds] = np.arange(len(seeds))
        V = Memberships.from_labels(labels, len(seeds))
        features = engine.column_features(None, V)
        return make_terms(problem, side, features, (None, V)), features

    def distances_to(seeds: IntArray) -> FloatArray:
        terms, features = around(seeds)
        return (
            engine.row_distances(terms, None)
            if features is None
            else numpy_.distances(features, terms)
        )

    terms, features = around(plus_plus(counts, distances_to, rng))
    step = join(engine, problem, side, terms, None, None, features)
    return _alone(side, step.members)


def plus_plus(
    counts: Counts, distances_to: Callable[[IntArray], FloatArray], rng: np.random.Generator
) -> IntArray:
    """Choose distinct items as seeds by greedy k-means++ (Arthur and Vassilvitskii, 2007).

    A few candidates for each seed are drawn with probability proportional to their squared distance
    from the nearest seed so far; the one that leaves the least sum of such distances is taken. As
    many of the farthest items as may become outliers are passed over and not summed, or they would
    be the likeliest seeds of all. `distances_to` gives a column of distances per candidate.
    """
    n = counts.n_items
    n_candidates = 2 + int(np.log(counts.n_clusters))
    seeds = [int(rng.integers(n))]
    free: BoolArray = np.ones(n, dtype=bool)
    free[seeds] = False
    closest = np.maximum(distances_to(np.array(seeds))[:, 0], 0.0)
    while len(seeds) < counts.n_clusters:
        candidates = _draw_far(np.where(free, closest, 0.0), free, counts, n_candidates, rng)
        left = np.minimum(closest[:, None], np.maximum(distances_to(candidates), 0.0))
        kept = left
        if counts.max_outliers > 0:
            kept = np.partition(left, counts.n_covered - 1, axis=0)[: counts.n_covered]
        sums = kept.sum(axis=0)
        # Of sums that differ by rounding alone the first is taken, for dense and sparse data alike.
        best = int(np.argmax(sums <= sums.min() + _SAME_SUM * sums.max()))
        seeds.append(int(candidates[best]))
        free[candidates[best]] = False
        closest = left[:, best]
    return np.array(seeds)


def _draw_far(
    weights: FloatArray,
    free: BoolArray,
    counts: Counts,
    n_candidates: int,
    rng: np.random.Generator,
) -> IntArray:
    """Draw distinct items in proportion to their weights, but for as many as may be outliers."""
    if counts.max_outliers > 0:
        weights[np.argpartition(weights, counts.n_covered - 1)[counts.n_covered :]] = 0.0
    cumulative = np.cumsum(weights)
    if cumulative[-1] <= 0:
        return rng.choice(np.flatnonzero(free), size=1)
    draws = rng.random(n_candidates) * cumulative[-1]
    draws = np.minimum(draws, np.nextafter(cumulative[-1], 0.0))
    return np.unique(np.searchsorted(cumulative, draws, side="right"))
