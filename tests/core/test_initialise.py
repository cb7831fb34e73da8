"""Starts are feasible, use every cluster and draw distinct seeds."""

from __future__ import annotations

import numpy as np
import pytest
from instances import KINDS, make_counts, make_data, make_engine
from instances import OBJECTIVES as NAMES
from scipy import sparse

from neocc.core.initialise import (
    one_way_start,
    plus_plus,
    pressurised,
    random_pair,
    random_start,
    seeded_start,
)
from neocc.core.objectives import KMEANS, OBJECTIVES
from neocc.core.overlap.share import Share
from neocc.core.problem import Counts, Problem


def assert_feasible(members, counts):
    U = members.dense
    assert U.shape == (counts.n_items, counts.n_clusters)
    assert U.sum() == members.n_total == counts.n_memberships
    assert (~U.any(axis=1)).sum() <= counts.max_outliers


def assert_no_empty_cluster(members, counts):
    expected = min(counts.n_clusters, counts.n_memberships)
    assert members.dense.any(axis=0).sum() == expected


def draw(kind, seed):
    rng = np.random.default_rng(seed)
    X = make_data(kind, rng, *rng.integers(2, 12, size=2))
    n, m = X.shape
    sizes = [int(rng.integers(1, min(size, 4) + 1)) for size in (n, m)]
    if kind == "one_cluster_per_item":
        sizes = [n, m]
    return X, make_counts(rng, n, sizes[0]), make_counts(rng, m, sizes[1]), rng


def random_starts():
    for seed in range(200):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 12))
        counts = make_counts(rng, n, int(rng.integers(1, n + 1)))
        yield random_start(counts, rng), counts


def test_random_start_is_feasible():
    for start, counts in random_starts():
        assert_feasible(start, counts)


def test_random_start_uses_every_cluster_where_the_counts_allow():
    for start, counts in random_starts():
        assert_no_empty_cluster(start, counts)


def test_random_start_reaches_every_feasible_pair():
    counts = Counts(4, 3, 5, 1)
    rng = np.random.default_rng(0)
    mean = np.mean([random_start(counts, rng).dense for _ in range(600)], axis=0)
    np.testing.assert_allclose(mean, 5 / 12, atol=0.1)


@pytest.mark.parametrize("most", [1, 2, 3])
def test_random_start_respects_a_bound_of_memberships(most):
    for seed in range(200):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 12))
        counts = make_counts(rng, n, int(rng.integers(1, n + 1)), most)
        start = random_start(counts, rng, most)
        assert_feasible(start, counts)
        assert_no_empty_cluster(start, counts)
        assert start.dense.sum(axis=1).max() <= most


def test_bounded_random_starts_reach_every_feasible_pair():
    counts = Counts(4, 3, 5, 1)
    rng = np.random.default_rng(0)
    mean = np.mean([random_start(counts, rng, 2).dense for _ in range(600)], axis=0)
    np.testing.assert_allclose(mean, 5 / 12, atol=0.1)


def test_random_memberships_of_both_sides_respect_the_bound_of_the_overlap_model():
    rows, columns = Counts(6, 4, 12, 2), Counts(5, 3, 10, 1)
    problem = Problem(OBJECTIVES["mean"], rows, columns, overlap_model=Share(2))
    for seed in range(20):
        for start in random_pair(problem, np.random.default_rng(seed)):
            assert start.dense.sum(axis=1).max() == 2


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_one_way_start_is_feasible_and_uses_every_cluster(make, kind, seed):
    X, rows, columns, rng = draw(kind, seed)
    U, V = one_way_start(make_engine(make(X)), Problem(OBJECTIVES["mean"], rows, columns), rng)
    for start, counts in ((U, rows), (V, columns)):
        assert_feasible(start, counts)
        assert_no_empty_cluster(start, counts)


@pytest.mark.parametrize("kind", KINDS)
def test_seeded_start_of_either_side_is_feasible_and_uses_every_cluster(kind):
    X, rows, columns, rng = draw(kind, 9)
    engine = make_engine(X)
    for problem in (Problem(KMEANS, rows, None), Problem(KMEANS, None, columns)):
        (side,) = problem.sides
        U, V = seeded_start(engine, problem, rng)
        start, other = (U, V) if side == "rows" else (V, U)
        assert other is None
        assert_feasible(start, problem.counts(side))
        assert_no_empty_cluster(start, problem.counts(side))


def test_random_memberships_of_both_sides_are_of_those_that_are_clustered():
    rows, columns = Counts(6, 2, 7, 1), Counts(5, 3, 5, 0)
    for problem in (
        Problem(OBJECTIVES["mean"], rows, columns),
        Problem(KMEANS, rows, None),
        Problem(KMEANS, None, columns),
    ):
        pair = random_pair(problem, np.random.default_rng(0))
        for start, counts in zip(pair, (problem.rows, problem.columns), strict=True):
            assert (start is None) == (counts is None)
            if counts is not None:
                assert_feasible(start, counts)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", KINDS)
def test_letting_outliers_go_a_few_at_a_time_ends_with_the_counts_asked_for(kind, name):
    rng = np.random.default_rng(0)
    X = make_data(kind, rng, 24, 16)
    n, m = X.shape
    # As few memberships as outliers leave: with fewer outliers there would be more of them.
    rows, columns = (
        Counts(n, min(3, n), n - n // 3, n // 3),
        Counts(m, min(2, m), m - m // 2, m // 2),
    )
    problem = Problem(OBJECTIVES[name], rows, columns)
    data = make_engine(X).centred(problem.centring)
    U, V = pressurised(data, problem, random_pair(problem, rng))
    for start, counts in ((U, rows), (V, columns)):
        assert_feasible(start, counts)
        assert_no_empty_cluster(start, counts)


# ---------------------------------------------------------------------------------- k-means++


def euclidean(X):
    return lambda items: ((X[items, None] - X) ** 2).sum(axis=2)


@pytest.mark.parametrize("kind", [k for k in KINDS if k != "one_row"])
@pytest.mark.parametrize("seed", range(5))
def test_seeds_are_distinct_items(kind, seed):
    rng = np.random.default_rng(seed)
    X = make_data(kind, rng, 9, 4)
    for k in (1, 4, 9):
        seeds, labels = plus_plus(Counts(9, k, 9, 0), euclidean(X), rng)
        assert len(set(seeds.tolist())) == k
        assert set(seeds.tolist()) <= set(range(9))
        d = euclidean(X)(seeds)
        np.testing.assert_allclose(d[labels, range(9)], d.min(axis=0), atol=1e-9 * d.max())


@pytest.mark.parametrize("seed", range(20))
def test_a_copy_of_a_seed_is_chosen_only_when_nothing_else_is_left(seed):
    X = np.repeat([[0.0], [1.0], [5.0]], 6, axis=0)
    seeds, _ = plus_plus(Counts(18, 3, 18, 0), euclidean(X), np.random.default_rng(seed))
    assert len(np.unique(X[seeds])) == 3


def test_seeds_follow_the_squared_distance_and_the_best_of_two_is_taken():
    X = np.array([[0.0], [1.0], [3.0]])
    rng = np.random.default_rng(0)
    pairs = [plus_plus(Counts(3, 2, 3, 0), euclidean(X), rng)[0] for _ in range(6000)]
    after_zero = [second for first, second in pairs if first == 0]
    # After 0 the item 3 leaves a sum of 1, the item 1 one of 4: 1 needs both draws at 1/10 each.
    assert np.mean(np.array(after_zero) == 1) == pytest.approx(1 / 100, abs=0.006)
    firsts = np.bincount([first for first, _ in pairs], minlength=3) / len(pairs)
    np.testing.assert_allclose(firsts, 1 / 3, atol=0.03)


def test_seeds_are_distinct_even_if_items_differ_from_themselves_by_rounding():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        found, _ = plus_plus(Counts(6, 6, 6, 0), lambda some: np.full((len(some), 6), 1e-12), rng)
        assert sorted(found) == list(range(6))


def test_the_farthest_items_are_no_seeds_where_they_may_become_outliers():
    X = np.append(np.random.default_rng(0).normal(size=20), [1e6, -1e6])[:, None]
    n_hit = 0
    for seed in range(50):
        rng = np.random.default_rng(seed)
        seeds, _ = plus_plus(Counts(22, 3, 20, 2), euclidean(X), rng)
        n_hit += bool({20, 21} & set(seeds[1:].tolist()))
    assert n_hit <= 10  # only where the first seed, drawn evenly, is one itself


@pytest.mark.parametrize("outliers", [0, 4])
@pytest.mark.parametrize("seed", range(4))
def test_seeds_of_a_table_at_hand_are_those_of_its_engine(seed, outliers):
    rng = np.random.default_rng(seed)
    table, weights = rng.normal(size=(50, 6)) * 3.0 + 1.0, rng.uniform(0.5, 2.0, size=50)
    problem = Problem(KMEANS, Counts(50, 5, 50, outliers), None, row_weights=weights)
    engine = make_engine(table)
    starts = [
        seeded_start(engine, problem, np.random.default_rng(seed), at_hand)[0]
        for at_hand in (None, table)
    ]
    np.testing.assert_array_equal(*(each.dense for each in starts))
