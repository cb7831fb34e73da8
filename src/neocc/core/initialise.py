"""Feasible starts for U and V: at random, from k-means++ seeds, from one-way NEO-K-Means."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import nextafter

import numpy as np

from neocc._typing import FloatArray, IntArray, LabelArray
from neocc.core.assign import fill_empty
from neocc.core.engine import Engine
from neocc.core.objectives import Features, Side, Terms
from neocc.core.objectives.kmeans import centre_terms
from neocc.core.problem import Counts, Problem
from neocc.core.sizes import fill_small
from neocc.core.solve import solve
from neocc.core.steps import Pair, join, make_terms, with_side
from neocc.kernels import Kernels, Memberships, numpy_

__all__ = ["COLD", "one_way_start", "plus_plus", "pressurised", "random_pair", "random_start"]
__all__ += ["seeded_start", "seeds_of_table"]

# A start need not have converged: the alternation takes over from wherever it stands.
_ONE_WAY_ITERATIONS = 10
# Of the largest distance, the share by which a seed must be nearer than earlier ones.
_TIE = 2.0**-40
# Fractions of the allowed outliers that are admitted one after the other.
_PRESSURE = (0.0, 0.5, 0.75, 1.0)
_PRESSURE_ITERATIONS = 3

COLD: Pair = (None, None)
"""No clusters to begin with."""


def random_start(counts: Counts, rng: np.random.Generator, most: int | None = None) -> Memberships:
    """Draw memberships with the exact counts, without empty clusters where the counts allow.

    No item has more than `most`.
    """
    n, k = counts.n_items, counts.n_clusters
    order = rng.permutation(n)
    labels = np.concatenate([rng.permutation(k)[:n], rng.integers(k, size=max(0, n - k))])
    first = np.full(n, -1, dtype=np.int32)
    kept = order[: counts.n_covered]
    first[kept] = labels[: counts.n_covered]
    if most is None or most >= k:
        extra = _draw_pairs(first, counts, rng)
    else:
        extra = _draw_bounded_pairs(first, counts, rng, most)
    members = Memberships(first, extra // k, (extra % k).astype(np.int32), k)
    if counts.min_size > 1:
        return fill_small(members, rng.random((n, k)), counts)
    return fill_empty(members, np.zeros(members.n_total))


def random_pair(problem: Problem, rng: np.random.Generator) -> Pair:
    """Draw memberships of the sides that are clustered."""
    most = problem.overlap_model.most
    rows = None if problem.rows is None else random_start(problem.rows, rng, most)
    return rows, None if problem.columns is None else random_start(problem.columns, rng, most)


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


def _draw_bounded_pairs(
    first: LabelArray, counts: Counts, rng: np.random.Generator, most: int
) -> IntArray:
    """Draw them so that no item has more than `most`: places of items, then other clusters."""
    n, k = counts.n_items, counts.n_clusters
    places = np.repeat(np.arange(n), most - (first >= 0))
    chosen = rng.choice(len(places), size=counts.n_extra, replace=False, shuffle=False)
    numbers = np.bincount(places[chosen], minlength=n)
    some = np.flatnonzero(numbers)
    # Clusters of each item in a random order, its own last.
    keys = rng.random((len(some), k))
    inside = np.flatnonzero(first[some] >= 0)
    keys[inside, first[some[inside]]] = np.inf
    order = np.argsort(keys, axis=1, kind="stable")
    wanted = np.arange(k) < numbers[some, None]
    pairs = (some[:, None] * k + order)[wanted]
    return np.sort(pairs).astype(np.intp, copy=False)


def one_way_start(engine: Engine, problem: Problem, rng: np.random.Generator) -> Pair:
    """Start both sides from one-way NEO-K-Means, as in the paper, which starts from seeds."""

    def one_side(side: Side) -> Pair:
        one_way = problem.one_way(side, _ONE_WAY_ITERATIONS)
        data = engine.centred(one_way.centring)
        return solve(data, one_way, seeded_start(data, one_way, rng)).pair

    return one_side("rows")[0], one_side("columns")[1]


def pressurised(data: Engine, problem: Problem, pair: Pair) -> Pair:
    """Admit outliers gradually, so that those of a poor start are not frozen.

    The alternation runs for a few iterations with no outliers, then with more and more of those
    allowed, each time closing half of the gap (Bregman bubble clustering, Gupta and Ghosh 2006).
    """
    for share in _PRESSURE:
        phase = replace(problem, max_iter=_PRESSURE_ITERATIONS)
        for side in problem.sides:
            phase = phase.with_counts(side, problem.counts(side).with_outliers(share))
        pair = solve(data, phase, pair).pair
    return pair


def seeded_start(
    engine: Engine,
    problem: Problem,
    rng: np.random.Generator,
    table: FloatArray | None = None,
) -> Pair:
    """Start a one-way problem from k-means++ seeds, chosen from its data or from a `table`."""
    (side,) = problem.sides
    counts, weights = problem.counts(side), problem.weights(side)

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
        if features is None:
            d = engine.row_distances(terms, None).T
        else:
            d = numpy_.distances(features, terms).T
        return d if weights is None else d * weights

    if table is None:
        seeds, _ = plus_plus(counts, distances_to, rng, engine.kernels)
    else:
        seeds, _ = seeds_of_table(engine, table, counts, weights, rng)
    terms, features = around(seeds)
    step = join(engine, problem, side, terms, None, None, features)
    return with_side(COLD, side, step.members)


def seeds_of_table(
    engine: Engine,
    table: FloatArray,
    counts: Counts,
    weights: FloatArray | None,
    rng: np.random.Generator,
) -> tuple[IntArray, LabelArray]:
    """Choose rows of a table as seeds; return them, and the nearest seed of each row."""
    # Rows whose products are squared distances.
    norms, ones = np.einsum("pt,pt->p", table, table)[:, None], np.ones((len(table), 1))
    those = np.concatenate([table, ones, norms], axis=1).T
    engine.reads.work += counts.n_clusters

    def distances_to(seeds: IntArray) -> FloatArray:
        these = np.concatenate([-2.0 * table[seeds], norms[seeds], ones[: len(seeds)]], axis=1)
        d: FloatArray = these @ those
        return d if weights is None else d * weights

    return plus_plus(counts, distances_to, rng, engine.kernels)


def plus_plus(
    counts: Counts,
    distances_to: Callable[[IntArray], FloatArray],
    rng: np.random.Generator,
    kernels: Kernels = numpy_,
) -> tuple[IntArray, LabelArray]:
    """Choose distinct items as seeds by greedy k-means++ (Arthur and Vassilvitskii, 2007).

    A few candidates for each seed are drawn with probability proportional to their squared distance
    from the nearest seed so far; the one that leaves the least sum of such distances is taken. As
    many of the farthest items as may become outliers are passed over and not summed, or they would
    be the likeliest seeds of all. `distances_to` gives a row of distances per candidate. The
    number of the nearest seed of each item is returned too, of several as near the first.
    """
    seeds, labels = [int(rng.integers(counts.n_items))], np.zeros(counts.n_items, dtype=np.int32)
    closest = np.maximum(distances_to(np.array(seeds))[0], 0.0)
    tie = _TIE * float(closest.max())
    while len(seeds) < counts.n_clusters:
        closest[seeds[-1]] = 0.0
        candidates = _draw_far(closest, seeds, counts, rng)
        left = distances_to(candidates)
        best = kernels.take_seed(closest, left, labels, len(seeds), tie, counts.n_covered)
        seeds.append(int(candidates[best]))
    return np.array(seeds), labels


def _draw_far(
    closest: FloatArray, seeds: list[int], counts: Counts, rng: np.random.Generator
) -> IntArray:
    """Draw distinct items in proportion to their distances, but for as many as may be outliers."""
    weights = closest
    if counts.max_outliers > 0:
        weights = closest.copy()
        weights[np.argpartition(weights, counts.n_covered - 1)[counts.n_covered :]] = 0.0
    cumulative = weights.cumsum()
    total = float(cumulative[-1])
    if total <= 0:
        return rng.choice(np.delete(np.arange(counts.n_items), seeds), size=1)
    draws = np.minimum(rng.random(2 + int(np.log(counts.n_clusters))) * total, nextafter(total, 0))
    return np.array(sorted(set(cumulative.searchsorted(draws, side="right").tolist())))
