"""Feasible starts for U and V.

* `random_start`: memberships drawn at random with the exact counts.
* `one_way_start`: the paper's way, one-way NEO-K-Means on the rows and on the columns, each from
  k-means++ seeds. On large matrices both are found on a sample of the rows; the row memberships then come from one
  assignment of all rows to the clusters found.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from neocc._typing import BoolArray, FloatArray, IntArray
from neocc.core.assign import assign
from neocc.core.engine import Engine
from neocc.core.objectives import (
    Sums,
    Tables,
    cross_terms,
    distances,
    find_nearest,
    make_tables,
)
from neocc.core.problem import Counts, Problem
from neocc.core.solve import centring, column_tables, row_tables, solve
from neocc.kernels import Memberships, numpy_

# A start need not have converged: the alternation takes over from wherever it stands.
_ONE_WAY_ITERATIONS = 10
# A start reads about this many entries per pass, and at least this many rows per cluster.
_SAMPLE_ENTRIES = 250_000
_SAMPLE_ROWS_PER_CLUSTER = 50


def random_start(counts: Counts, rng: np.random.Generator) -> Memberships:
    """Draw feasible memberships: no empty cluster (where the counts allow), exact counts, coverage."""
    n, k = counts.n_items, counts.n_clusters
    order = rng.permutation(n)
    labels = np.concatenate([rng.permutation(k)[:n], rng.integers(k, size=max(0, n - k))])
    first = np.full(n, -1, dtype=np.int32)
    kept = order[: counts.n_covered]
    first[kept] = labels[: counts.n_covered]
    extra = _draw_pairs(first, counts, rng)
    return Memberships(first, extra // k, (extra % k).astype(np.int32), k)


def _draw_pairs(first: np.ndarray, counts: Counts, rng: np.random.Generator) -> IntArray:
    """Draw `n_extra` distinct (item, cluster) pairs that `first` does not hold, as sorted flat indices."""
    n, k = counts.n_items, counts.n_clusters
    used = np.flatnonzero(first >= 0)
    taken = np.sort(used * k + first[used])
    n_free = n * k - len(taken)
    # The j-th free flat index is j plus the number of taken ones before it.
    picks = np.sort(rng.choice(n_free, size=counts.n_extra, replace=False, shuffle=False))
    gaps = taken - np.arange(len(taken))
    return np.asarray(picks + np.searchsorted(gaps, picks, side="right"), dtype=np.intp)


def one_way_start(
    engine: Engine, problem: Problem, rng: np.random.Generator
) -> tuple[Memberships | None, Memberships | None]:
    """Start each clustered side from one-way NEO-K-Means."""
    sample = _sample(engine, problem, rng)
    U = V = None
    if problem.rows is not None:
        U = _row_start(engine, sample, problem, rng)
    if problem.columns is not None:
        columns = problem.one_way("columns", _ONE_WAY_ITERATIONS)
        V = _solve_columns(sample.centred(centring(columns)), columns, rng)
    return U, V


def seeded_start(engine: Engine, problem: Problem, rng: np.random.Generator) -> Memberships:
    """Start a one-way problem from its k-means++ seeds."""
    if problem.rows is not None:
        return _seed_rows(engine, problem.rows, rng)
    assert problem.columns is not None
    return _seed_columns(engine, problem.columns, rng)


def _sample(engine: Engine, problem: Problem, rng: np.random.Generator) -> Engine:
    n = engine.shape[0]
    n_clusters = max(side.n_clusters for side in (problem.rows, problem.columns) if side)
    by_entries = int(np.ceil(_SAMPLE_ENTRIES * n / max(1, engine.n_stored)))
    size = max(by_entries, _SAMPLE_ROWS_PER_CLUSTER * n_clusters)
    if 4 * size > n:
        return engine
    return engine.sample_rows(np.sort(rng.choice(n, size=size, replace=False)))


def _row_start(
    engine: Engine, sample: Engine, problem: Problem, rng: np.random.Generator
) -> Memberships:
    assert problem.rows is not None
    one_way = problem.one_way("rows", _ONE_WAY_ITERATIONS)
    data = sample.centred(centring(one_way))
    counts = problem.rows
    if sample is not engine:
        counts = counts.resized(sample.shape[0])
    one_way = replace(one_way, rows=counts)
    U = solve(data, one_way, _seed_rows(data, counts, rng), None).U
    assert U is not None
    if sample is engine:
        return U
    tables = row_tables(one_way, data.column_sums(U, None, squares=False), U, None)
    everything = engine.centred(centring(one_way), data.column_effects)
    return everything.reassign_rows(tables, None, None, problem.rows).assignment.members


def _solve_columns(data: Engine, one_way: Problem, rng: np.random.Generator) -> Memberships:
    assert one_way.columns is not None
    V = solve(data, one_way, None, _seed_columns(data, one_way.columns, rng)).V
    assert V is not None
    return V


def _seed_rows(engine: Engine, counts: Counts, rng: np.random.Generator) -> Memberships:
    def tables_to(rows: IntArray) -> Tables:
        C = engine.take_rows(rows)
        energy = np.einsum("qt,qt->q", C, C)
        sizes = np.ones(len(rows))
        return make_tables("vectors", sizes, None, None, np.ascontiguousarray(-2.0 * C.T), energy)

    def distances_to(row: int) -> FloatArray:
        return engine.row_distances(tables_to(np.array([row])), None)[:, 0]

    seeds = plus_plus(counts, distances_to, rng)
    return engine.reassign_rows(tables_to(seeds), None, None, counts).assignment.members


def _seed_columns(engine: Engine, counts: Counts, rng: np.random.Generator) -> Memberships:
    problem = Problem("vectors", None, counts)

    def sums_of(columns: IntArray) -> tuple[Sums, Tables]:
        labels = np.full(counts.n_items, -1, dtype=np.int32)
        labels[columns] = np.arange(len(columns))
        V = Memberships.from_labels(labels, len(columns))
        sums = engine.column_sums(None, V)
        tables = column_tables(problem, sums, None, V)
        return sums, tables

    def distances_to(column: int) -> FloatArray:
        return distances(*sums_of(np.array([column])))[:, 0]

    sums, tables = sums_of(plus_plus(counts, distances_to, rng))
    d = cross_terms(sums, tables)
    labels, minima, _ = find_nearest(numpy_, d, sums, tables, None)
    return assign(d, labels, minima, counts).members


def plus_plus(
    counts: Counts, distances_to: Callable[[int], FloatArray], rng: np.random.Generator
) -> IntArray:
    """Choose distinct items as seeds by k-means++: each with probability proportional to its squared
    distance from the nearest seed so far (Arthur and Vassilvitskii, 2007).
    """
    n = counts.n_items
    seeds = [int(rng.integers(n))]
    free: BoolArray = np.ones(n, dtype=bool)
    free[seeds] = False
    closest = np.full(n, np.inf)
    while len(seeds) < counts.n_clusters:
        np.minimum(closest, distances_to(seeds[-1]), out=closest)
        cumulative = np.cumsum(np.where(free, np.maximum(closest, 0.0), 0.0))
        if cumulative[-1] > 0:
            draw = min(rng.random() * cumulative[-1], np.nextafter(cumulative[-1], 0.0))
            seed = int(np.searchsorted(cumulative, draw, side="right"))
        else:
            seed = int(rng.choice(np.flatnonzero(free)))
        seeds.append(seed)
        free[seed] = False
    return np.array(seeds)
