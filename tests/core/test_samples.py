"""Samples of rows or of columns: small, of distinct items, and a good place to start from."""

from __future__ import annotations

import numpy as np
import oracle
import pytest
from instances import OBJECTIVES as NAMES
from instances import make_counts, make_engine, planted
from scipy import sparse
from sides import assert_feasible as assert_feasible_and_full

from neocc.core.engine import Engine
from neocc.core.initialise import random_pair
from neocc.core.objectives import KMEANS, OBJECTIVES
from neocc.core.problem import Counts, Problem
from neocc.core.samples import Sampling, draw_sample, extend_to_all, sampled_start
from neocc.core.solve import solve

MAKERS = {"dense": np.asarray, "sparse": sparse.csr_array}
SIDES = ("rows", "columns")
each_side = pytest.mark.parametrize("side", SIDES)
each_maker = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
each_objective = pytest.mark.parametrize("objective", NAMES)


# Samples of 24 items do for three clusters.
SMALL = Sampling(entries=(100, 100), items_per_cluster=8)


def assert_feasible(members, counts):
    assert members.dense.shape == (counts.n_items, counts.n_clusters)
    assert members.dense.sum() == members.n_total == counts.n_memberships
    assert members.outliers.sum() <= counts.max_outliers


def turned(side, *pair):
    """What is meant for rows and columns, for a matrix that has many `side`."""
    return pair if side == "rows" else pair[::-1]


def long_problem(side, objective="mean", many=(300, 3, 300, 0), few=(12, 3, 12, 0)):
    """A problem of 300 items of one side and 12 of the other."""
    return Problem(OBJECTIVES[objective], *turned(side, Counts(*many), Counts(*few)))


def long_data(side, noise=0.1, objective="mean"):
    rng = np.random.default_rng(0)
    X = planted(rng, 300, 12, 3, 3, noise=noise)
    X += np.random.default_rng(1).normal(size=300)[:, None] if objective == "residue" else 0.0
    return X if side == "rows" else np.ascontiguousarray(X.T)


def start_on_a_sample(engine, data, problem, rng):
    sample = draw_sample(engine, data, problem, rng, SMALL)
    assert sample is not None
    return sampled_start(sample, data, problem, rng)


# ------------------------------------------------------------------------------------- drawing


@each_side
def test_a_sample_holds_distinct_items_and_is_much_smaller(side, monkeypatch):
    X = long_data(side)
    engine = make_engine(X)
    taken, take = [], Engine.sample
    monkeypatch.setattr(
        Engine, "sample", lambda self, *args: taken.append((self, *args)) or take(self, *args)
    )
    problem = long_problem(side)
    data = engine.centred(problem.centring)
    sample = draw_sample(engine, data, problem, np.random.default_rng(0), SMALL)
    assert sample.side == side
    items = sample.items
    assert len(items) == 24
    assert (np.diff(items) > 0).all()
    assert len(taken) == 2
    for (source, kind, some), expected in zip(taken, (engine, data), strict=True):
        assert source is expected
        assert kind == side
        assert some is items
    few = X[items] if side == "rows" else X[:, items]
    np.testing.assert_array_equal(sample.engine.take_rows(np.arange(len(few))), few)
    assert sample.data.shape == sample.engine.shape == few.shape
    assert sample.problem.counts(side) == Counts(24, 3, 24, 0)
    other = SIDES[1 - SIDES.index(side)]
    assert sample.problem.counts(other) == problem.counts(other)


@each_side
@each_maker
def test_a_large_matrix_is_sampled_and_by_columns_where_it_is_wide(side, make):
    rng = np.random.default_rng(0)
    X = rng.random(turned(side, 2000, 250))  # 500,000 entries, of which a fifth will do
    problem = Problem(
        OBJECTIVES["mean"], *turned(side, Counts(2000, 3, 2000, 0), Counts(250, 3, 250, 0))
    )
    engine = make_engine(make(X))
    sample = draw_sample(engine, engine, problem, rng)
    assert sample.side == side
    assert len(sample.items) == 400
    assert sample.engine.n_stored == 100_000


def test_of_two_long_sides_the_rows_are_sampled():
    X = np.random.default_rng(0).random((900, 900))
    counts = Counts(900, 3, 900, 0)
    engine = make_engine(X)
    sample = draw_sample(
        engine, engine, Problem(OBJECTIVES["mean"], counts, counts), np.random.default_rng(0)
    )
    assert sample.side == "rows"


def test_small_matrices_are_not_sampled():
    engine = make_engine(np.random.default_rng(0).normal(size=(60, 5)))
    problem = Problem(OBJECTIVES["mean"], Counts(60, 3, 60, 0), Counts(5, 2, 5, 0))
    assert draw_sample(engine, engine, problem, np.random.default_rng(0)) is None


@each_side
def test_a_sample_with_few_items_for_its_clusters_is_not_drawn(side):
    engine = make_engine(long_data(side))
    many = {n: long_problem(side, many=(300, n, 300, 0)) for n in (9, 10)}
    rng = np.random.default_rng(0)
    assert len(draw_sample(engine, engine, many[9], rng, SMALL).items) == 72
    assert draw_sample(engine, engine, many[10], rng, SMALL) is None  # more than a quarter of all


def test_one_way_problems_are_not_sampled():
    engine, rng = make_engine(np.random.default_rng(0).normal(size=(300, 12))), None
    rows, columns = Counts(300, 3, 300, 0), Counts(12, 3, 12, 0)
    assert draw_sample(engine, engine, Problem(KMEANS, rows, None), rng, SMALL) is None
    assert draw_sample(engine, engine, Problem(KMEANS, None, columns), rng, SMALL) is None


# ------------------------------------------------------------------------------------ extending


def solved_sample(engine, data, problem, rng):
    sample = draw_sample(engine, data, problem, rng, SMALL)
    return sample, solve(sample.data, sample.problem, random_pair(sample.problem, rng))


@each_side
@each_objective
@each_maker
def test_all_items_join_the_clusters_of_a_sample(side, objective, make):
    X = long_data(side, 0.01, objective)
    problem = long_problem(side, objective, (300, 3, 330, 15), (12, 3, 13, 1))
    engine, rng = make_engine(make(X)), np.random.default_rng(0)
    data = engine.centred(problem.centring)
    sample, found = solved_sample(engine, data, problem, rng)
    pair = extend_to_all(sample, found.pair, data, problem)
    mine, other = turned(side, *pair)
    assert other is turned(side, *found.pair)[1]
    assert_feasible_and_full(mine, problem.counts(side))


@each_side
@each_objective
@each_maker
@pytest.mark.parametrize("offset", [0.0, 500.0])
def test_items_join_by_their_literal_distances_to_the_clusters_of_the_sample(
    side, objective, make, offset
):
    # Memberships of all items in which those outside the sample belong to nobody.
    X = long_data(side, 1.0, objective)
    problem = long_problem(side, objective, (300, 3, 300, 0), (12, 3, 13, 1))
    engine, rng = make_engine(make(X + offset)), np.random.default_rng(1)
    data = engine.centred(problem.centring)
    sample, found = solved_sample(engine, data, problem, rng)
    own = turned(side, *found.pair)[0]
    labels = np.zeros((300, 3), dtype=bool)
    labels[sample.items] = own.dense
    given = turned(side, labels, turned(side, *found.pair)[1].dense)
    literal = {"rows": oracle.distances_rows, "columns": oracle.distances_columns}[side]
    d = literal(X, *given, objective)
    mine = turned(side, *extend_to_all(sample, found.pair, data, problem))[0]
    gaps = np.diff(np.sort(d, axis=1)[:, :2], axis=1)[:, 0]
    clear = gaps > 1e-6 * (X**2).sum() / 300
    assert clear.mean() > 0.9
    np.testing.assert_array_equal(mine.first[clear], d.argmin(axis=1)[clear])


@each_side
@each_objective
def test_extending_a_solution_to_items_like_those_of_the_sample_finds_the_planted_ones(
    side, objective
):
    X = long_data(side, 0.01, objective)
    problem = long_problem(side, objective)
    engine = make_engine(X)
    data = engine.centred(problem.centring)
    n_good = 0
    for seed in range(40):
        sample, found = solved_sample(engine, data, problem, np.random.default_rng(seed))
        if found.objective > 2 * 0.01**2 * 24 * 12:
            continue  # a poor start on the sample
        n_good += 1
        U, V = extend_to_all(sample, found.pair, data, problem)
        assert oracle.objective(X, U.dense, V.dense, objective) < 2 * 0.01**2 * X.size
    assert n_good > 1


# -------------------------------------------------------------------------------------- starts


@each_side
@each_maker
@each_objective
@pytest.mark.parametrize("offset", [0.0, 1000.0])
def test_a_start_on_a_sample_is_feasible_and_near_the_best(side, make, objective, offset):
    X = long_data(side, 0.1, objective)
    engine = make_engine(make(X + offset))
    problem = long_problem(side, objective)
    data = engine.centred(problem.centring)
    n, m = X.shape
    energy = oracle.objective(X, np.ones((n, 1)), np.ones((m, 1)), objective)
    n_good = 0
    for seed in range(8):
        U, V = start_on_a_sample(engine, data, problem, np.random.default_rng(seed))
        assert_feasible(U, problem.rows)
        assert_feasible(V, problem.columns)
        n_good += oracle.objective(X, U.dense, V.dense, objective) < 0.2 * energy
    assert n_good >= 4


@each_side
@each_objective
def test_a_start_on_a_sample_meets_counts_with_overlap_and_outliers(side, objective):
    X = np.random.default_rng(0).normal(size=turned(side, 300, 12))
    engine = make_engine(X)
    for seed in range(15):
        rng = np.random.default_rng(seed)
        counts = turned(side, make_counts(rng, 300, 3), make_counts(rng, 12, 3))
        problem = Problem(OBJECTIVES[objective], *counts)
        U, V = start_on_a_sample(engine, engine, problem, rng)
        assert_feasible(U, problem.rows)
        assert_feasible(V, problem.columns)


def test_a_start_on_a_sample_reads_the_sample_and_the_data_alike():
    # Every tenth row, from which the engine judges the offset of the data, lies around zero.
    X = 100.0 + planted(np.random.default_rng(0), 1280, 12, 3, 3, noise=0.1)
    X[::10] -= 100.0
    engine = make_engine(X)
    problem = long_problem("rows", many=(1280, 3, 1280, 0))
    plain = engine.centred("none", np.zeros(12))
    for seed in range(3):
        pairs = [
            start_on_a_sample(engine, data, problem, np.random.default_rng(seed))
            for data in (engine.centred(problem.centring), plain)
        ]
        np.testing.assert_array_equal(pairs[0][0].dense, pairs[1][0].dense)
