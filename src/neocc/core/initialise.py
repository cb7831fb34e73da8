"""Feasible starts for U and V.

* `random_start`: memberships drawn at random with the exact counts.
* `seeded_start`: a one-way problem from its greedy k-means++ seeds.
* `one_way_start`: the paper's way, one-way NEO-K-Means on the rows and on the columns.
* `sampled_start`: for large matrices, the alternation itself on a sample of the rows; all rows
  then join the clusters found.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from neocc._typing import BoolArray, FloatArray, IntArray, LabelArray
from neocc.core.assign import assign, fill_empty
from neocc.core.engine import Engine
from neocc.core.incremental import sums_of
from neocc.core.objectives import (
    Sums,
    Tables,
    cross_terms,
    distances,
    find_nearest,
    make_tables,
)
from neocc.core.problem import Counts, Problem
from neocc.core.solve import Solution, centring, solve
from neocc.core.tables import column_tables, row_tables
from neocc.kernels import Memberships, numpy_

# A start need not have converged: the alternation takes over from wherever it stands.
_ONE_WAY_ITERATIONS = 10
_SAMPLE_ITERATIONS = 30
_SAMPLE_TOL = 1e-4
# A sample holds a tenth of the entries within these bounds (or half of that for the many runs of a
# search), and at least so many rows per cluster.
_SAMPLE_ENTRIES = (100_000, 1_000_000)
# A search of a matrix with more entries runs on such a sample.
_LARGEST_SEARCHED = 1 << 19
# Rows of sparser data share too few columns for one-way clusters to mean anything.
_ONE_WAY_DENSITY = 0.1
_SAMPLE_ROWS_PER_CLUSTER = 50
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
    return fill_empty(members, np.broadcast_to(0.0, (n, k)))


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
class Known:
    """k-means clusters of the rows and of the columns, where the caller has them already."""

    rows: Memberships | None = None
    columns: Memberships | None = None


NOTHING_KNOWN = Known()


def one_way_start(
    engine: Engine,
    problem: Problem,
    rng: np.random.Generator,
    known: Known = NOTHING_KNOWN,
) -> tuple[Memberships, Memberships]:
    """Start both sides from one-way NEO-K-Means, itself started from known clusters or seeds."""
    rows = problem.one_way("rows", _ONE_WAY_ITERATIONS)
    data = engine.centred(centring(rows))
    start = seeded_start(data, rows, rng) if known.rows is None else _fitted(data, rows, known.rows)
    U = solve(data, rows, start, None).U
    columns = problem.one_way("columns", _ONE_WAY_ITERATIONS)
    data = engine.centred(centring(columns))
    if known.columns is None:
        start = seeded_start(data, columns, rng)
    else:
        start = _fitted(data, columns, known.columns)
    V = solve(data, columns, None, start).V
    assert U is not None and V is not None
    return U, V


def _fitted(data: Engine, problem: Problem, members: Memberships) -> Memberships:
    """Let the items of a one-way problem join given clusters, in the numbers that it asks for."""
    if problem.rows is not None:
        tables = row_tables(problem, sums_of(data, problem, members, None), members, None)
        return data.reassign_rows(tables, None, None, problem.rows).assignment.members
    sums = sums_of(data, problem, None, members)
    assert problem.columns is not None
    return joined(sums, column_tables(problem, sums, None, members), problem.columns)


def joined(sums: Sums, tables: Tables, counts: Counts) -> Memberships:
    """Let all columns join the clusters that the tables tell of."""
    d = cross_terms(sums, tables)
    labels, minima, _ = find_nearest(numpy_, d, sums, tables, None)
    return assign(d, labels, minima, counts).members


@dataclass(frozen=True)
class Sample:
    """A problem on some of the rows, with their data as given and centred."""

    engine: Engine
    data: Engine
    problem: Problem


def draw_sample(
    engine: Engine,
    data: Engine,
    problem: Problem,
    rng: np.random.Generator,
) -> Sample | None:
    """Draw rows to start on, or None if the matrix is not large; `data` is `engine` centred."""
    if problem.rows is None or problem.columns is None:
        return None
    n = engine.shape[0]
    n_clusters = max(problem.rows.n_clusters, problem.columns.n_clusters)
    entries = float(np.clip(engine.n_stored / 10, *_SAMPLE_ENTRIES))
    size = max(
        int(np.ceil(entries * n / max(1, engine.n_stored))),
        _SAMPLE_ROWS_PER_CLUSTER * n_clusters,
    )
    if 4 * size > n:
        return None
    some = engine.sample_rows(np.sort(rng.choice(n, size=size, replace=False)))
    few = some.centred(centring(problem), data.column_effects)
    rows = problem.rows.resized(size)
    return Sample(some, few, replace(problem, rows=rows, tol=max(problem.tol, _SAMPLE_TOL)))


def searched_sample(
    engine: Engine, data: Engine, problem: Problem, rng: np.random.Generator
) -> Sample | None:
    """Draw the rows that a search runs on, or None if it runs on all of them."""
    if engine.n_stored <= _LARGEST_SEARCHED:
        return None
    return draw_sample(engine, data, problem, rng)


def promote(
    sample: Sample, solution: Solution, data: Engine, problem: Problem
) -> tuple[Memberships, Memberships]:
    """Let all rows join the clusters found on a sample."""
    assert solution.U is not None and solution.V is not None and problem.rows is not None
    tables = row_tables(sample.problem, solution.sums, solution.U, solution.V)
    step = data.reassign_rows(tables, None, solution.V, problem.rows)
    return step.assignment.members, solution.V


def sampled_start(
    sample: Sample, data: Engine, problem: Problem, rng: np.random.Generator
) -> tuple[Memberships, Memberships]:
    """Start from a short run on a sample of the rows, itself started at random.

    If the data are dense, a run from one-way clusters competes with it. On sparse data these would
    be worse than random ones, since single rows share few columns.
    """
    short = replace(sample.problem, max_iter=_SAMPLE_ITERATIONS)
    assert short.rows is not None and short.columns is not None
    starts = [(random_start(short.rows, rng), random_start(short.columns, rng))]
    n, m = sample.engine.shape
    if sample.engine.n_stored > _ONE_WAY_DENSITY * n * m:
        starts.append(one_way_start(sample.engine, short, rng))
    found = [solve(sample.data, short, U, V) for U, V in starts]
    return promote(sample, min(found, key=lambda each: each.objective), data, problem)


def pressurised(
    data: Engine, problem: Problem, U: Memberships | None, V: Memberships | None
) -> tuple[Memberships | None, Memberships | None]:
    """Let outliers go a few at a time, instead of freezing those that a poor start makes.

    The alternation runs for a little while with every number of outliers from none to the largest
    allowed, each time closing half of the gap (Bregman bubble clustering, Gupta and Ghosh 2006).
    """
    for share in (*_PRESSURE, 1.0):
        sides = (side and side.with_outliers(share) for side in (problem.rows, problem.columns))
        rows, columns = sides
        phase = replace(problem, rows=rows, columns=columns, max_iter=_PRESSURE_ITERATIONS)
        found = solve(data, phase, U, V)
        U, V = found.U, found.V
    return U, V


def seeded_start(engine: Engine, problem: Problem, rng: np.random.Generator) -> Memberships:
    """Start a one-way problem from its k-means++ seeds."""
    if problem.rows is not None:
        return _seed_rows(engine, problem.rows, rng)
    assert problem.columns is not None
    return _seed_columns(engine, problem.columns, rng)


def _seed_rows(engine: Engine, counts: Counts, rng: np.random.Generator) -> Memberships:
    def tables_to(rows: IntArray) -> Tables:
        C = engine.take_rows(rows)
        energy = np.einsum("qt,qt->q", C, C)
        sizes = np.ones(len(rows))
        return make_tables("vectors", sizes, None, None, np.ascontiguousarray(-2.0 * C.T), energy)

    def distances_to(rows: IntArray) -> FloatArray:
        return engine.row_distances(tables_to(rows), None)

    seeds = plus_plus(counts, distances_to, rng)
    return engine.reassign_rows(tables_to(seeds), None, None, counts).assignment.members


def _seed_columns(engine: Engine, counts: Counts, rng: np.random.Generator) -> Memberships:
    problem = Problem("vectors", None, counts)

    def lone(columns: IntArray) -> tuple[Sums, Tables]:
        labels = np.full(counts.n_items, -1, dtype=np.int32)
        labels[columns] = np.arange(len(columns))
        V = Memberships.from_labels(labels, len(columns))
        sums = engine.column_sums(None, V)
        tables = column_tables(problem, sums, None, V)
        return sums, tables

    def distances_to(columns: IntArray) -> FloatArray:
        return distances(*lone(columns))

    return joined(*lone(plus_plus(counts, distances_to, rng)), counts)


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
