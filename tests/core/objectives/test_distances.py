"""Distances against the literal formulas of the paper."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import oracle
import pytest
from instances import KINDS, any_membership, make_data, make_engine, members
from instances import OBJECTIVES as NAMES
from scipy import sparse

from neocc.core.objectives import KMEANS, OBJECTIVES
from neocc.core.problem import Counts, Problem
from neocc.core.steps import distances, make_features, make_terms
from neocc.kernels import numpy_


def draw(kind, seed):
    rng = np.random.default_rng(seed)
    X = make_data(kind, rng, *rng.integers(2, 9, size=2))
    U = any_membership(rng, X.shape[0], int(rng.integers(1, 5)))
    V = any_membership(rng, X.shape[1], int(rng.integers(1, 5)))
    return X, U, V


def make_problem(objective, U, V):
    def counts(members):
        return None if members is None else Counts(*members.shape, int(members.sum()), 0)

    return Problem(OBJECTIVES[objective], counts(U), counts(V))


def solver_distances(engine, problem, side, U, V):
    """The distances of a half-step, as the solver computes them.

    Empty clusters are infinitely far.
    """
    pair = tuple(None if each is None else members(each) for each in (U, V))
    d = distances(engine, problem, side, pair)
    terms = make_terms(problem, side, make_features(engine, problem, pair), pair)
    d[:, np.isinf(terms.magnitude)] = np.inf
    return d


def assert_close(found, expected, scale):
    """Agreement to 1e-10 relative; where terms cancel to nothing, to 1e-12 of the terms."""
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12 * scale)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("objective", NAMES)
@pytest.mark.parametrize("kernel", ["numpy", "numba"])
def test_distances_of_both_sides_equal_the_papers_equations(kernel, objective, kind, seed):
    X, U, V = draw(kind, seed)
    problem = make_problem(objective, U, V)
    by_row = oracle.distances_rows(X, U, V, objective)
    by_column = oracle.distances_columns(X, U, V, objective)
    scale = (X**2).sum() * max(U.shape[1], V.shape[1])
    dense = make_engine(X, kernel)
    for engine in (
        dense,
        dense.centred(problem.centring),
        make_engine(sparse.csr_array(X), kernel),
    ):
        assert_close(solver_distances(engine, problem, "rows", U, V), by_row, scale)
        assert_close(solver_distances(engine, problem, "columns", U, V), by_column, scale)


@pytest.mark.parametrize("kind", KINDS)
def test_one_way_distances_are_squared_euclidean_distances_to_the_means(kind):
    X, U, V = draw(kind, 5)
    for engine in (make_engine(X), make_engine(sparse.csr_array(X))):
        rows = solver_distances(engine, make_problem(KMEANS.name, U, None), "rows", U, None)
        assert_close(rows, oracle.distances_neo_kmeans(X, U), (X**2).sum())
        columns = solver_distances(engine, make_problem(KMEANS.name, None, V), "columns", None, V)
        assert_close(columns, oracle.distances_neo_kmeans(X.T, V), (X**2).sum())


@pytest.mark.parametrize("objective", NAMES)
def test_distances_of_the_memberships_add_up_to_the_objective(objective):
    X, U, V = draw("gaussian", 6)
    engine, problem = make_engine(X), make_problem(objective, U, V)
    expected = oracle.objective(X, U, V, objective)
    rows = solver_distances(engine, problem, "rows", U, V)[U].sum()
    columns = solver_distances(engine, problem, "columns", U, V)[V].sum()
    assert rows == pytest.approx(expected, rel=1e-10)
    assert columns == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("objective", NAMES)
def test_row_distances_are_the_column_distances_of_the_transpose(objective):
    X, U, V = draw("gaussian", 7)
    rows = solver_distances(make_engine(X), make_problem(objective, U, V), "rows", U, V)
    turned = make_problem(objective, V, U)
    columns = solver_distances(make_engine(X.T), turned, "columns", V, U)
    assert_close(rows, columns, (X**2).sum())


def test_mean_distances_with_single_columns_as_clusters_are_euclidean():
    X, U, _ = draw("gaussian", 8)
    single = np.eye(X.shape[1], dtype=bool)
    d = solver_distances(make_engine(X), make_problem("mean", U, single), "rows", U, single)
    assert_close(d, oracle.distances_neo_kmeans(X, U), (X**2).sum())


# ------------------------------------------------------------------- what no cluster can explain


@pytest.mark.parametrize("side", ["rows", "columns"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_unexplained_part_is_what_a_cluster_of_one_leaves(kind, side):
    X, U, V = draw(kind, 11)
    Y, other = (X, V) if side == "rows" else (X.T, U)
    features = make_engine(X).column_features(members(U), None)
    if side == "rows":
        features = make_engine(X.T).column_features(members(V), None)
    terms = OBJECTIVES["mean"].unexplained(members(other))
    found = numpy_.distances(features, terms)[:, 0]
    alone = [
        oracle.objective_mean(Y, np.arange(len(Y))[:, None] == p, other) for p in range(len(Y))
    ]
    assert_close(found, alone, (X**2).sum() * other.shape[1])


@pytest.mark.parametrize("name", ["residue", "kmeans"])
def test_a_cluster_of_one_explains_all_of_an_item_where_it_follows_a_pattern(name):
    assert OBJECTIVES[name].unexplained(members(np.eye(3))) is None


# ------------------------------------------------------------------------------- real weights


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("objective", NAMES)
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_weighted_distances_of_the_memberships_add_up_to_the_objective(make, objective, seed):
    X, U, V = draw("gaussian", seed)
    rng = np.random.default_rng(seed)
    pair = tuple(replace(members(each), scale=rng.random(len(each)) + 0.1) for each in (U, V))
    problem, engine = make_problem(objective, U, V), make_engine(make(X))
    expected = oracle.objective_weighted(X, *(each.indicator for each in pair), objective)
    for side, own in zip(("rows", "columns"), pair, strict=True):
        d = distances(engine, problem, side, pair)
        total = (d * own.indicator).sum()
        assert total == pytest.approx(expected, rel=1e-9, abs=1e-11 * (X**2).sum())
