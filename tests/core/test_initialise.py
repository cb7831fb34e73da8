"""Starts are feasible, use every cluster and draw distinct seeds, sampled or not."""

from __future__ import annotations

import numpy as np
import oracle
import pytest
from instances import KINDS, OBJECTIVES, make_counts, make_data, make_engine, planted
from scipy import sparse

from neocc.core import initialise
from neocc.core.initialise import (
    Known,
    draw_sample,
    one_way_start,
    plus_plus,
    promote,
    random_start,
    sampled_start,
    seeded_start,
)
from neocc.core.problem import Counts, Problem
from neocc.core.solve import centring, solve
from neocc.kernels import Memberships


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


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_one_way_start_is_feasible_and_uses_every_cluster(make, kind, seed):
    X, rows, columns, rng = draw(kind, seed)
    U, V = one_way_start(make_engine(make(X)), Problem("mean", rows, columns), rng)
    for start, counts in ((U, rows), (V, columns)):
        assert_feasible(start, counts)
        assert_no_empty_cluster(start, counts)


@pytest.mark.parametrize("kind", KINDS)
def test_seeded_start_of_either_side_is_feasible_and_uses_every_cluster(kind):
    X, rows, columns, rng = draw(kind, 9)
    engine = make_engine(X)
    for problem in (Problem("vectors", rows, None), Problem("vectors", None, columns)):
        counts = problem.rows or problem.columns
        start = seeded_start(engine, problem, rng)
        assert_feasible(start, counts)
        assert_no_empty_cluster(start, counts)


@pytest.fixture
def small_samples(monkeypatch):
    """Let samples of 24 rows do for three clusters."""
    monkeypatch.setattr(initialise, "_SAMPLE_ENTRIES", (100, 100))
    monkeypatch.setattr(initialise, "_SAMPLE_ROWS_PER_CLUSTER", 8)


def start_on_a_sample(engine, data, problem, rng):
    sample = draw_sample(engine, data, problem, rng)
    assert sample is not None
    return sampled_start(sample, data, problem, rng)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("offset", [0.0, 1000.0])
@pytest.mark.usefixtures("small_samples")
def test_start_on_a_sample_is_feasible_and_near_the_best(make, objective, offset):
    X = planted(np.random.default_rng(0), 300, 12, 3, 3, noise=0.1)
    X += np.random.default_rng(1).normal(size=300)[:, None] if objective == "residue" else 0.0
    engine = make_engine(make(X + offset))
    rows, columns = Counts(300, 3, 300, 0), Counts(12, 3, 12, 0)
    problem = Problem(objective, rows, columns)
    data = engine.centred(centring(problem))
    energy = oracle.objective(X, np.ones((300, 1)), np.ones((12, 1)), objective)
    n_good = 0
    for seed in range(8):
        U, V = start_on_a_sample(engine, data, problem, np.random.default_rng(seed))
        assert_feasible(U, rows)
        assert_feasible(V, columns)
        n_good += oracle.objective(X, U.dense, V.dense, objective) < 0.2 * energy
    assert n_good >= 4


@pytest.mark.usefixtures("small_samples")
def test_start_on_a_sample_meets_counts_with_overlap_and_outliers():
    X = np.random.default_rng(0).normal(size=(300, 12))
    for seed in range(30):
        rng = np.random.default_rng(seed)
        rows, columns = make_counts(rng, 300, 3), make_counts(rng, 12, 3)
        problem = Problem("mean", rows, columns)
        U, V = start_on_a_sample(make_engine(X), make_engine(X), problem, rng)
        assert_feasible(U, rows)
        assert_feasible(V, columns)


@pytest.mark.usefixtures("small_samples")
def test_start_on_a_sample_reads_the_sample_and_the_data_alike():
    # Every tenth row, from which the engine judges the offset of the data, lies around zero.
    X = 100.0 + planted(np.random.default_rng(0), 1280, 12, 3, 3, noise=0.1)
    X[::10] -= 100.0
    engine = make_engine(X)
    problem = Problem("mean", Counts(1280, 3, 1280, 0), Counts(12, 3, 12, 0))
    plain = engine.centred("none", np.zeros(12))
    for seed in range(3):
        pairs = [
            start_on_a_sample(engine, data, problem, np.random.default_rng(seed))
            for data in (engine.centred(centring(problem)), plain)
        ]
        np.testing.assert_array_equal(pairs[0][0].dense, pairs[1][0].dense)


@pytest.mark.usefixtures("small_samples")
def test_a_sample_holds_distinct_rows_and_is_much_smaller(monkeypatch):
    engine = make_engine(np.random.default_rng(0).normal(size=(300, 12)))
    taken = []
    take = type(engine).sample_rows
    monkeypatch.setattr(
        type(engine), "sample_rows", lambda self, rows: taken.append(rows) or take(self, rows)
    )
    problem = Problem("mean", Counts(300, 3, 300, 0), Counts(12, 3, 12, 0))
    sample = draw_sample(engine, engine, problem, np.random.default_rng(0))
    assert len(taken) == 1
    assert len(np.unique(taken[0])) == len(taken[0]) == 24
    assert sample.engine.shape == sample.data.shape == (24, 12)
    assert sample.problem.rows == Counts(24, 3, 24, 0)
    assert sample.problem.columns == problem.columns


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.usefixtures("small_samples")
def test_all_rows_join_the_clusters_of_a_sample(objective):
    X = planted(np.random.default_rng(0), 300, 12, 3, 3, noise=0.01)
    rows, columns = Counts(300, 3, 330, 15), Counts(12, 3, 13, 1)
    problem = Problem(objective, rows, columns)
    engine, rng = make_engine(X), np.random.default_rng(0)
    data = engine.centred(centring(problem))
    sample = draw_sample(engine, data, problem, rng)
    starts = random_start(sample.problem.rows, rng), random_start(sample.problem.columns, rng)
    found = solve(sample.data, sample.problem, *starts)
    U, V = promote(sample, found, data, problem)
    assert V is found.V
    assert_feasible(U, rows)


def test_small_matrices_are_not_sampled():
    engine = make_engine(np.random.default_rng(0).normal(size=(60, 5)))
    problem = Problem("mean", Counts(60, 3, 60, 0), Counts(5, 2, 5, 0))
    assert draw_sample(engine, engine, problem, np.random.default_rng(0)) is None


@pytest.mark.usefixtures("small_samples")
def test_one_way_problems_are_not_sampled():
    engine, rng = make_engine(np.random.default_rng(0).normal(size=(300, 12))), None
    assert (
        draw_sample(engine, engine, Problem("vectors", Counts(300, 3, 300, 0), None), rng) is None
    )
    assert draw_sample(engine, engine, Problem("vectors", None, Counts(12, 3, 12, 0)), rng) is None


# ---------------------------------------------------------------------------------- k-means++


def euclidean(X):
    return lambda items: ((X[:, None] - X[items]) ** 2).sum(axis=2)


@pytest.mark.parametrize("kind", [k for k in KINDS if k != "one_row"])
@pytest.mark.parametrize("seed", range(5))
def test_seeds_are_distinct_items(kind, seed):
    rng = np.random.default_rng(seed)
    X = make_data(kind, rng, 9, 4)
    for k in (1, 4, 9):
        seeds = plus_plus(Counts(9, k, 9, 0), euclidean(X), rng)
        assert len(set(seeds.tolist())) == k
        assert set(seeds.tolist()) <= set(range(9))


@pytest.mark.parametrize("seed", range(20))
def test_a_copy_of_a_seed_is_chosen_only_when_nothing_else_is_left(seed):
    X = np.repeat([[0.0], [1.0], [5.0]], 6, axis=0)
    seeds = plus_plus(Counts(18, 3, 18, 0), euclidean(X), np.random.default_rng(seed))
    assert len(np.unique(X[seeds])) == 3


def test_seeds_follow_the_squared_distance_and_the_best_of_two_is_taken():
    X = np.array([[0.0], [1.0], [3.0]])
    rng = np.random.default_rng(0)
    pairs = [plus_plus(Counts(3, 2, 3, 0), euclidean(X), rng) for _ in range(6000)]
    after_zero = [second for first, second in pairs if first == 0]
    # After 0 the item 3 leaves a sum of 1, the item 1 one of 4: 1 needs both draws at 1/10 each.
    assert np.mean(np.array(after_zero) == 1) == pytest.approx(1 / 100, abs=0.006)
    firsts = np.bincount([first for first, _ in pairs], minlength=3) / len(pairs)
    np.testing.assert_allclose(firsts, 1 / 3, atol=0.03)


def partition(counts):
    labels = np.arange(counts.n_items, dtype=np.int32) % counts.n_clusters
    return Memberships.from_labels(labels, counts.n_clusters)


@pytest.mark.parametrize("seed", range(10))
def test_one_way_start_can_begin_with_known_clusters(seed):
    X, rows, columns, _ = draw("gaussian", seed)
    problem = Problem("mean", rows, columns)
    known = Known(*(partition(counts) for counts in (rows, columns)))
    rngs = [np.random.default_rng(i) for i in (0, 1)]
    pairs = [one_way_start(make_engine(X), problem, rng, known) for rng in rngs]
    for U, V in pairs:
        assert_feasible(U, rows)
        assert_feasible(V, columns)
    # Nothing is left to chance.
    np.testing.assert_array_equal(pairs[0][0].dense, pairs[1][0].dense)
    np.testing.assert_array_equal(pairs[0][1].dense, pairs[1][1].dense)


def test_the_farthest_items_are_no_seeds_where_they_may_become_outliers():
    X = np.append(np.random.default_rng(0).normal(size=20), [1e6, -1e6])[:, None]
    n_hit = 0
    for seed in range(50):
        rng = np.random.default_rng(seed)
        seeds = plus_plus(Counts(22, 3, 20, 2), euclidean(X), rng)
        n_hit += bool({20, 21} & set(seeds[1:].tolist()))
    assert n_hit <= 10  # only where the first seed, drawn evenly, is one itself
