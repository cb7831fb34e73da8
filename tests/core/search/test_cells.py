"""A start from cells: rows and columns that are alike stand together in a small table."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from instances import make_engine, planted
from scipy import sparse
from sides import make_problem

from neocc.core.checkpoints import Journal
from neocc.core.objectives import OBJECTIVES
from neocc.core.problem import Counts, Problem
from neocc.core.samples import SAMPLING
from neocc.core.search import cells, may_divide, search
from neocc.core.search.cells import Table, divide, grouped, start_from_cells, work_on_cells
from neocc.core.solve import solve
from neocc.estimators._base import _SEARCH
from neocc.kernels import get_kernels

DIVIDED = replace(SAMPLING, divided=(100, 0))
QUICK = replace(DIVIDED, embedded=(100, 1 << 21))
OBJECTIVE_NAMES = ["mean", "residue"]


def noise(seed=0, shape=(60, 40)):
    return np.random.default_rng(seed).normal(size=shape)


def problem_of(shape, objective="mean", k=4, width=3):
    return make_problem(
        objective, Counts(shape[0], k, shape[0], 0), Counts(shape[1], width, shape[1], 0)
    )


def started(X, problem):
    """Return where a start from cells leads, and the memberships that it begins with."""
    data = make_engine(X).centred(problem.centring)
    pair = start_from_cells(data, problem)
    return None if pair is None else solve(data, problem, pair), pair


# ------------------------------------------------------------------------------------- cells


def test_few_items_are_cells_of_their_own():
    np.testing.assert_array_equal(divide(noise(), 60), np.arange(60))


@pytest.mark.parametrize("n", [61, 500, 9000])
def test_every_item_is_in_one_of_so_many_cells(n):
    labels = divide(noise(0, (n, 3)), 60)
    assert labels.shape == (n,)
    np.testing.assert_array_equal(np.unique(labels), np.arange(labels.max() + 1))
    assert 50 <= labels.max() + 1 <= 60


def test_items_that_are_alike_are_in_one_cell():
    """Distinct places are found as far as there are cells, and no place is divided."""
    places = noise(1, (30, 4))
    which = np.random.default_rng(0).integers(30, size=400)
    labels = divide(places[which] + 1e-13 * noise(2, (400, 4)), 60)
    assert len(np.unique(labels)) == 30
    for place in range(30):
        assert len(set(labels[which == place])) == 1


def test_cells_explain_most_of_the_spread():
    X = noise(3, (2000, 2))
    labels = divide(X, 100)
    means = grouped(X, labels) / np.bincount(labels)[:, None]
    assert np.square(X - means[labels]).sum() < 0.03 * np.square(X).sum()


def test_sums_by_label():
    X, labels = noise(), np.random.default_rng(1).permutation(np.arange(60) % 7)
    expected = [X[labels == q].sum(axis=0) for q in range(7)]
    np.testing.assert_allclose(grouped(X, labels), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("shape", [(60, 40), (40, 60), (20, 90)])
def test_blocks_of_cells_are_summed_from_either_side(shape):
    rng, X = np.random.default_rng(0), noise(0, shape)
    rows, columns = (rng.permutation(np.arange(size) % 7) for size in shape)
    expected = [[X[rows == p][:, columns == q].sum() for q in range(7)] for p in range(7)]
    for given in (X, sparse.csr_array(X)):
        sums = cells._block_sums(make_engine(given), rows, columns)
        np.testing.assert_allclose(sums, expected, rtol=1e-12, atol=1e-12)
        assert sums.flags.c_contiguous


def test_wide_tables_are_summed_a_few_columns_at_a_time():
    X, labels = noise(0, (60, 100)), np.arange(60) % 7
    expected = [X[labels == q].sum(axis=0) for q in range(7)]
    np.testing.assert_allclose(grouped(X, labels), expected, rtol=1e-12, atol=1e-12)


def test_a_large_table_is_summed_without_a_copy_of_it():
    X, labels = noise(0, (5000, 200)), np.arange(5000) % 7
    tracemalloc.start()
    grouped(X, labels)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.5 * X.nbytes


@pytest.mark.parametrize(("density", "by_columns"), [(0.02, False), (0.9, True)])
def test_a_table_of_all_columns_is_not_made_of_few_entries(monkeypatch, density, by_columns):
    """It would be many times as large as the data."""
    X = sparse.random_array((300, 400), density=density, rng=0, format="csr")
    rows, columns, asked = np.arange(300) % 100, np.arange(400) % 100, []
    usual = type(make_engine(X)).column_features

    def spied(self, *args, **options):
        asked.append(args)
        return usual(self, *args, **options)

    monkeypatch.setattr(type(make_engine(X)), "column_features", spied)
    sums = cells._block_sums(make_engine(X), rows, columns)
    assert bool(asked) == by_columns
    expected = grouped(grouped(X.toarray(), rows).T, columns).T
    np.testing.assert_allclose(sums, expected, rtol=1e-12, atol=1e-12)


# --------------------------------------------------------------------------- search of a table


def table_of(X, kernel="numba", residual=False):
    own = [np.arange(size) for size in X.shape]
    return Table(X, own, get_kernels(kernel, 0), residual=residual)


def test_seeds_are_those_that_lower_the_sum_of_distances_most():
    X = noise(5, (12, 6))
    labels, k = table_of(X).seeded(0, 3), 3
    seeds: list[int] = []
    d = np.square(X[:, None] - X).sum(axis=2)
    for _ in range(k):
        sums = [d[[*seeds, s]].min(axis=0).sum() for s in range(12)]
        seeds.append(int(np.argmin(sums)))
    np.testing.assert_array_equal(labels, d[seeds].argmin(axis=0))


@pytest.mark.parametrize("weights", [None, (30, 20)], ids=["equal", "weighted"])
def test_seeds_of_many_clusters_are_those_of_the_literal_sums(weights):
    """They are brought up to date by what has changed. Of two that are far from all others, either
    lowers the sum as much: the first is taken."""
    X, rng = noise(7, (120, 20)), np.random.default_rng(1)
    own = [np.sort(rng.permutation(size * 3) % size) for size in X.shape] if weights else None
    table = table_of(X) if own is None else Table(X, own, get_kernels("numba", 0), residual=False)
    points, w = table.points[0], table.weights[0]
    d, seeds = np.square(points[:, None] - points).sum(axis=2), list[int]()
    for _ in range(60):
        sums = [np.inf if s in seeds else d[[*seeds, s]].min(axis=0) @ w for s in range(120)]
        seeds.append(int(np.argmax(sums <= np.min(sums) + 1e-9 * (np.square(points).sum(1) @ w))))
    expected = d[seeds].argmin(axis=0)
    np.testing.assert_array_equal(table.seeded(0, 60), expected)


def test_equal_cells_still_fill_all_clusters():
    labels = table_of(np.ones((8, 5))).seeded(0, 4)
    assert np.bincount(labels, minlength=4).min() > 0


@pytest.mark.parametrize("k", [1, 2, 4])
def test_a_cluster_is_dissolved_and_begun_with_a_part_of_another(k):
    table = table_of(noise(6, (40, 20)))
    for seed in range(10):
        labels = [table.seeded(0, k), table.seeded(1, 2)]
        before = labels[0].copy()
        table.begin_anew(labels, (k, 2), 0, np.random.default_rng(seed))
        assert labels[0].min() >= 0
        assert labels[0].max() < k
        np.testing.assert_array_equal(labels[1], table.seeded(1, 2))
        if k == 1:
            np.testing.assert_array_equal(labels[0], before)
            continue
        # The new cluster has none of its old members, but some of just one other.
        (target,) = [q for q in range(k) if not (before[labels[0] == q] == q).any()]
        sources = set(before[labels[0] == target])
        assert len(sources) == 1
        assert (before[labels[0] == sources.pop()] != target).any() or k > 2


def test_a_cluster_of_one_is_not_divided():
    table, others = table_of(noise(6, (3, 5))), np.zeros(5, dtype=np.int32)
    for seed in range(5):
        labels = [np.arange(3, dtype=np.int32), others]
        table.begin_anew(labels, (3, 1), 0, np.random.default_rng(seed))
        assert len(set(labels[0])) == 2


@pytest.mark.parametrize("residual", [False, True])
def test_rounds_explain_more_and_keep_all_clusters(residual):
    rises = 0
    for seed in range(5):
        table, rng = table_of(noise(seed, (40, 30)), residual=residual), np.random.default_rng(0)
        ends = [table.search((5, 4), n_rounds, rng) for n_rounds in (0, 20)]
        values = [table.settle([each.copy() for each in labels], (5, 4)) for labels in ends]
        assert values[1] >= values[0]
        rises += values[1] > values[0]
        for labels in ends:
            assert [len(set(each)) for each in labels] == [5, 4]
    assert rises >= 3


# --------------------------------------------------------------------------------- the start


@pytest.mark.parametrize("shape", [(300, 40), (40, 300)])
def test_planted_clusters_are_found_from_either_side(shape):
    tall = planted(np.random.default_rng(0), 300, 40, 4, 3, noise=0.1)
    X = tall if shape[0] == 300 else tall.T.copy()
    problem = problem_of(shape, "mean", *((4, 3) if shape[0] == 300 else (3, 4)))
    found, pair = started(X, problem)
    assert [m.n_total for m in pair] == list(shape)
    assert all(m.is_partition and (m.sizes > 0).all() for m in pair)
    assert found.n_iter <= 2


@pytest.mark.parametrize("objective", OBJECTIVE_NAMES)
def test_containers_and_kernels_agree(objective):
    X = (np.random.default_rng(0).random((200, 60)) < 0.2).astype(float)
    problem = problem_of(X.shape, objective)
    ends = [started(each, problem)[1] for each in (X, sparse.csr_array(X))]
    data = make_engine(X, kernel="numpy").centred(problem.centring)
    ends.append(start_from_cells(data, problem))
    for end in ends[1:]:
        for one, other in zip(ends[0], end, strict=True):
            np.testing.assert_array_equal(one.first, other.first)


def test_it_mostly_ends_below_what_single_starts_reach():
    lower = []
    for seed in range(6):
        X, problem = noise(seed, (200, 80)), problem_of((200, 80), k=5, width=4)
        rng = np.random.default_rng(0)
        starts = [
            each.objective
            for each in search(make_engine(X), problem, "neo-kmeans", 8, rng, plain=True)
        ]
        lower.append(np.mean(started(X, problem)[0].objective < np.array(starts)))
    assert np.mean(lower) > 0.75


def test_there_is_none_where_there_are_fewer_distinct_items_than_clusters():
    X = np.repeat(noise(0, (3, 40)), 100, axis=0)
    assert started(X, problem_of((300, 40)))[1] is None


# -------------------------------------------------------------------------------- in a search


def test_which_problems_have_one():
    problem = problem_of((60, 40))

    def has_one(problem, n_stored=2400, init="neo-kmeans", n_init=4, sampling=DIVIDED):
        return may_divide(n_stored, problem, init, n_init, sampling)

    assert has_one(problem)
    assert has_one(problem_of((60, 40), "residue"))
    assert not has_one(problem, n_stored=99)
    assert not has_one(problem, sampling=replace(DIVIDED, divided=(100, 4 * 2401), per_start=0))
    assert has_one(problem, sampling=replace(DIVIDED, divided=(100, 4 * 2401), per_start=1))
    assert not has_one(problem, init="random")
    assert not has_one(problem, n_init=1)
    assert not has_one(make_problem("mean", Counts(60, 4, 66, 0), Counts(40, 3, 40, 0)))
    assert not has_one(make_problem("mean", Counts(60, 4, 57, 3), Counts(40, 3, 40, 0)))
    assert not has_one(make_problem("rows", Counts(60, 4, 60, 0), Counts(40, 3, 40, 0)))
    assert not has_one(problem.weighing("rows", np.ones(60)))
    assert not has_one(Problem(OBJECTIVES["poisson"], problem.rows, problem.columns))
    sampled = replace(DIVIDED, entries=(100, 100), items_per_cluster=2, embedded=(100, 100))
    assert not has_one(problem, sampling=sampled)


def searched(X, problem, seed=0, sampling=DIVIDED, **options):
    rng = np.random.default_rng(seed)
    return list(
        search(make_engine(X), problem, "neo-kmeans", 10, rng, sampling=sampling, **options)
    )


@pytest.mark.parametrize("objective", OBJECTIVE_NAMES)
@pytest.mark.parametrize("effort", [{}, {"thorough": True}], ids=["default", "thorough"])
def test_no_search_ends_above_it(objective, effort):
    """It follows the plain starts, and random numbers of the search are not drawn for it."""
    for seed in range(3):
        X, problem = noise(seed, (200, 80)), problem_of((200, 80), objective)
        plain = [each.objective for each in searched(X, problem, seed, plain=True)]
        found = [each.objective for each in searched(X, problem, seed, **effort)]
        np.testing.assert_array_equal(found[:10], np.minimum.accumulate(plain))
        end = started(X, problem)[0].objective
        assert found[10] == min(end, *plain)
        assert found[-1] <= min(found)


@pytest.mark.parametrize("n_init", [2, 3, 6, 9, 10, 30])
def test_compiled_code_is_loaded_wherever_one_may_be_made(n_init):
    """Without it a table takes longer to search than the plain starts took."""
    problem = problem_of((60, 40))
    for n_stored in range(1000, 120_000, 500):
        if may_divide(n_stored, problem, "neo-kmeans", n_init):
            assert get_kernels("auto", n_stored, n_init * _SEARCH) is get_kernels("numba", 0)


@pytest.mark.parametrize("objective", OBJECTIVE_NAMES)
@pytest.mark.parametrize("density", [0.01, 0.2, 0.7])
def test_a_search_of_dense_data_is_one_of_sparse_data(objective, density):
    """What cells take is counted alike, and zeros that are stored do not make a table of cells."""
    rng = np.random.default_rng(1)
    X = (rng.random((200, 80)) < density) * rng.integers(1, 5, size=(200, 80)).astype(float)
    problem, sampling = problem_of(X.shape, objective), replace(DIVIDED, divided=(1000, 0))
    dense, other = (searched(each, problem, 0, sampling) for each in (X, sparse.csr_array(X)))
    assert len(dense) == len(other)
    for one, two in zip(dense, other, strict=True):
        assert one.objective == pytest.approx(two.objective, rel=1e-9)


def test_seeds_agree_where_it_ends_lowest():
    X, problem = noise(1, (200, 80)), problem_of((200, 80), k=5, width=4)
    end = started(X, problem)[0].objective
    for seed in range(3):
        assert searched(X, problem, seed, QUICK)[10].objective <= end


def test_none_is_made_after_starts_that_agree():
    X = planted(np.random.default_rng(0), 60, 40, 4, 3, noise=0.1)
    problem, begun = problem_of((60, 40)), []
    n_steps = len(searched(X, problem, begin=lambda: begun.append(None)))
    assert n_steps == len(searched(X, problem, sampling=SAMPLING)) < 10


@pytest.mark.parametrize("n_steps", [4, 10, 11, 12])
@pytest.mark.parametrize("sampling", [DIVIDED, QUICK], ids=["divided", "embedded"])
def test_a_resumed_search_ends_where_it_would_have_ended(n_steps, sampling):
    """The work of the embedding is not counted again."""
    X, problem, states = noise(0, (200, 80)), problem_of((200, 80)), []

    def note(state):
        if state.get("run") is None:  # a step has ended
            states.append(state["search"])

    def run(**options):
        journal = Journal(note, {"search": states[-1]} if states else {})
        return searched(X, problem, sampling=sampling, journal=journal, **options)

    whole = run()
    spent = states[-1]["spent"]
    states.clear()
    run(stopped=lambda: len(states) == n_steps)
    assert run()[-1].objective == whole[-1].objective
    assert states[-1]["spent"] == spent


@pytest.mark.parametrize("objective", OBJECTIVE_NAMES)
@pytest.mark.parametrize("n_init", [2, 10])
@pytest.mark.parametrize("shape", [(60, 40), (200, 80), (80, 200)])
def test_its_work_is_that_of_rounds(objective, n_init, shape):
    """Rounds have what it leaves of what they may take; where it would take more there is none."""
    X, problem, work = noise(2, shape), problem_of(shape, objective), []
    for plain in (True, False):
        engine, rng = make_engine(X), np.random.default_rng(0)
        list(search(engine, problem, "neo-kmeans", n_init, rng, sampling=DIVIDED, plain=plain))
        work.append(engine.reads.work)
    assert work[1] <= 3.0 * work[0] + 2 * (2 * problem.max_iter + 10) * 0.2


def test_work_on_cells_is_bounded_whatever_the_size():
    """In passes it falls as data grow, since the table does not."""
    work = []
    for n in (200, 400, 800):
        X, problem = noise(0, (n, 100)), problem_of((n, 100))
        work.append(work_on_cells(make_engine(X), problem, X.size))
    assert work[0] > work[1] > work[2]
    assert work[2] < 100
