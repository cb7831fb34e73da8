"""Recombination: solutions cut the items into pieces, and whole pieces are moved."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import oracle
import pytest
from instances import make_engine
from scipy import sparse
from sides import make_problem

from neocc.core.initialise import random_pair
from neocc.core.objectives import OBJECTIVES
from neocc.core.problem import Counts, Problem
from neocc.core.search import pieces
from neocc.core.search.pieces import can_recombine, n_pieces, recombined
from neocc.core.solve import solve
from neocc.kernels import Memberships

ROWS, COLUMNS = Counts(40, 3, 40, 0), Counts(30, 3, 30, 0)
PROBLEM = make_problem("mean", ROWS, COLUMNS)


def few_entries(seed=0):
    rng = np.random.default_rng(seed)
    return rng.poisson(0.4, size=(40, 30)) * rng.integers(1, 4, size=(40, 30)).astype(float)


def weighted(seed=0):
    rng = np.random.default_rng(seed)
    rows, columns = (rng.uniform(0.5, 2.0, size=n) for n in (40, 30))
    return PROBLEM.weighing("rows", rows).weighing("columns", columns)


def solutions(engine, problem, n=4):
    """Return short runs from random starts, the best first."""
    rngs = np.random.default_rng(1).spawn(n)
    short = replace(problem, max_iter=2)
    found = [solve(engine, short, random_pair(problem, rng)) for rng in rngs]
    return sorted(found, key=lambda each: each.objective)


def recombine(engine, problem, found, n_entries=10**6, seed=0):
    return recombined(engine, problem, found, n_entries, np.random.default_rng(seed))


def test_items_of_a_piece_are_together_in_all_solutions():
    rng = np.random.default_rng(0)
    labels = [rng.integers(3, size=200).astype(np.int32) for _ in range(3)]
    cut = pieces._cut(labels, 3, 10**6)
    alike = np.all([each[:, None] == each for each in labels], axis=0)
    np.testing.assert_array_equal(cut[:, None] == cut, alike)
    assert set(cut) == set(range(cut.max() + 1))


@pytest.mark.parametrize("most", [3, 4, 9, 15])
def test_too_many_pieces_are_joined_within_clusters_of_the_best(most):
    rng = np.random.default_rng(0)
    labels = [rng.integers(3, size=200).astype(np.int32) for _ in range(4)]
    cut = pieces._cut(labels, 3, most)
    assert cut.max() < most
    for piece in range(cut.max() + 1):
        assert len(set(labels[0][cut == piece])) == 1


@pytest.mark.parametrize("problem", [PROBLEM, weighted()], ids=["plain", "weighted"])
def test_differences_between_solutions_are_those_of_the_data(problem, monkeypatch):
    """The literal objective of any clusters of pieces differs by a constant."""
    X, tables = few_entries(), []

    def counted(where, small, begun, limit):
        tables.append((where, small))
        return begun

    monkeypatch.setattr(pieces, "swapped", counted)
    monkeypatch.setattr(pieces.Pool, "make_rounds", lambda self, *_: setattr(self, "is_over", True))
    engine = make_engine(X)
    found = solutions(engine, problem)
    assert recombine(engine, problem, found) is found[0]
    where, small = tables[0]
    cuts = [
        pieces._cut([pieces._labels(each.pair, side) for each in found], 3, 48)
        for side in ("rows", "columns")
    ]
    weights = problem.row_weights, problem.column_weights
    rng, differences = np.random.default_rng(2), []
    for _ in range(5):
        labels = [rng.integers(3, size=int(cut.max()) + 1) for cut in cuts]
        pair = [Memberships.from_labels(each.astype(np.int32), 3) for each in labels]
        inside = solve(where, replace(small, max_iter=0), tuple(pair)).objective
        U, V = (np.eye(3)[each[cut]] for each, cut in zip(labels, cuts, strict=True))
        f, w = (1.0 if each is None else each[:, None] for each in weights)
        outside = oracle.objective_weighted(X, U * f, V * w, "mean")
        differences.append(outside - inside)
    np.testing.assert_allclose(differences, differences[0], rtol=1e-9)


@pytest.mark.parametrize("problem", [PROBLEM, weighted()], ids=["plain", "weighted"])
@pytest.mark.parametrize("n_entries", [36, 400, 10**6])
def test_the_result_is_feasible_and_no_higher(problem, n_entries):
    for seed in range(3):
        engine = make_engine(few_entries(seed))
        found = solutions(engine, problem)
        best = recombine(engine, problem, found, n_entries)
        assert best.objective <= found[0].objective
        for members, counts in zip(best.pair, (ROWS, COLUMNS), strict=True):
            assert members.n_total == counts.n_memberships
            assert (members.numbers == 1).all()
        again = solve(engine, replace(problem, max_iter=0), best.pair)
        np.testing.assert_allclose(best.objective, again.objective, rtol=1e-12)
        assert (np.diff(best.history) <= 1e-9 * best.history[0]).all()


def test_pieces_that_others_have_right_are_taken_over():
    """Each solution splits one true cluster and joins two others, and no single row can help."""
    truth = np.repeat(np.arange(4), 30)
    X = 20.0 * np.eye(4)[truth] @ np.repeat(np.eye(4), 10, axis=1)
    X += np.random.default_rng(0).normal(size=X.shape)
    problem = make_problem("mean", Counts(120, 4, 120, 0), Counts(40, 4, 40, 0))
    half = np.tile(np.arange(2), 60)
    wrong = [
        np.select([truth == 0, truth == 1], [half, 2 + 0 * half], truth),
        np.select([truth == 2, truth == 3], [2 + half, 1 + 0 * half], truth),
    ]
    V, engine = Memberships.from_labels(np.repeat(np.arange(4), 10), 4), make_engine(X)
    found = [solve(engine, problem, (Memberships.from_labels(each, 4), V)) for each in wrong]
    found.sort(key=lambda each: each.objective)
    best = recombine(engine, problem, found)
    true = solve(engine, problem, (Memberships.from_labels(truth, 4), V)).objective
    assert found[0].objective > 1.5 * true
    np.testing.assert_allclose(best.objective, true, rtol=1e-9)


def test_dense_and_sparse_data_agree_and_cost_the_same():
    X, ends, asked = few_entries(), [], []
    for each in (X, sparse.csr_array(X)):
        engine = make_engine(each)
        found = solutions(engine, PROBLEM)
        engine.reads.asked = 0.0
        ends.append(recombine(engine, PROBLEM, found))
        asked.append(engine.reads.asked)
    for one, other in zip(*(each.pair for each in ends), strict=True):
        np.testing.assert_array_equal(one.dense, other.dense)
    assert asked[0] == asked[1]


@pytest.mark.parametrize("k", [3, 20, 200])
@pytest.mark.parametrize("n_entries", [1 << 16, 10**6])
def test_the_table_of_pieces_is_a_fraction_of_the_data(k, n_entries):
    problem = make_problem("mean", Counts(9000, k, 9000, 0), Counts(500, 5, 500, 0))
    a, b = n_pieces(problem, n_entries)
    assert k <= a <= 16 * k
    assert 5 <= b <= 80
    assert a * b <= max(n_entries / 4, 5 * k)


def test_only_disjoint_clusters_told_by_their_means_are_recombined():
    assert can_recombine(PROBLEM)
    assert not can_recombine(make_problem("mean", Counts(40, 3, 44, 0), COLUMNS))
    assert not can_recombine(make_problem("mean", ROWS, Counts(30, 3, 30, 2)))
    assert not can_recombine(make_problem("mean", replace(ROWS, min_size=2), COLUMNS))
    assert not can_recombine(make_problem("residue", ROWS, COLUMNS))
    assert not can_recombine(Problem(OBJECTIVES["poisson"], ROWS, COLUMNS))
