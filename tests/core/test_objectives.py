"""Objectives and distances against the literal formulas of the paper."""

from __future__ import annotations

import numpy as np
import oracle
import pytest
from instances import KINDS, OBJECTIVES, any_membership, make_data, make_engine, members
from scipy import sparse

from neocc import objective_value
from neocc.core.objectives import distances
from neocc.core.problem import Counts, Problem
from neocc.core.solve import centring
from neocc.core.tables import column_tables, row_tables
from neocc.datasets import load_case_study


def draw(kind, seed):
    rng = np.random.default_rng(seed)
    X = make_data(kind, rng, *rng.integers(2, 9, size=2))
    U = any_membership(rng, X.shape[0], int(rng.integers(1, 5)))
    V = any_membership(rng, X.shape[1], int(rng.integers(1, 5)))
    return X, U, V


def make_problem(objective, U, V):
    def counts(members):
        return None if members is None else Counts(*members.shape, int(members.sum()), 0)

    return Problem(objective, counts(U), counts(V))


def solver_row_distances(engine, problem, U, V):
    """The distances of a row step, as the solver computes them.

    Empty clusters are infinitely far.
    """
    U, V = members(U), None if V is None else members(V)
    sums = engine.column_sums(U, V if problem.objective == "residue" else None)
    tables = row_tables(problem, sums, U, V)
    d = engine.row_distances(tables, V)
    d[:, np.isinf(tables.magnitude)] = np.inf
    return d


def solver_column_distances(engine, problem, U, V):
    U, V = None if U is None else members(U), members(V)
    sums = engine.column_sums(U, None if problem.objective == "mean" else V)
    tables = column_tables(problem, sums, U, V)
    d = distances(sums, tables)
    d[:, np.isinf(tables.magnitude)] = np.inf
    return d


def assert_close(found, expected, scale):
    """Agreement to 1e-10 relative; where terms cancel to nothing, to 1e-12 of the terms."""
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12 * scale)


# ------------------------------------------------------------------------------- objectives


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_objective_value_equals_the_elementwise_formula(objective, kind, seed):
    X, U, V = draw(kind, seed)
    expected = oracle.objective(X, U, V, objective)
    assert_close(objective_value(X, U, V, objective), expected, oracle.energy(X, U, V))
    stored = sparse.csr_array(X)
    assert_close(objective_value(stored, U, V, objective), expected, oracle.energy(X, U, V))


@pytest.mark.parametrize("seed", range(20))
def test_residue_equals_the_corrected_matrix_form(seed):
    X, U, V = draw("gaussian", seed)
    expected = oracle.objective_residue_matrix_form(X, U, V)
    assert_close(objective_value(X, U, V, "residue"), expected, oracle.energy(X, U, V))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_transposing_exchanges_the_roles_of_rows_and_columns(objective, kind):
    X, U, V = draw(kind, 3)
    there = objective_value(X, U, V, objective)
    back = objective_value(X.T, V, U, objective)
    assert_close(back, there, oracle.energy(X, U, V))


def test_mean_objective_ignores_a_constant():
    X, U, V = draw("gaussian", 1)
    assert objective_value(X + 7.0, U, V) == pytest.approx(objective_value(X, U, V), rel=1e-10)


def test_residue_objective_ignores_row_and_column_effects():
    X, U, V = draw("gaussian", 1)
    rng = np.random.default_rng(0)
    shifted = X + 5 * rng.normal(size=(len(X), 1)) + 5 * rng.normal(size=X.shape[1])
    expected = objective_value(X, U, V, "residue")
    assert objective_value(shifted, U, V, "residue") == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("factor", [1e-60, -3.0, 1e60])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_scaling_the_data_scales_the_objective_by_the_square(objective, factor):
    X, U, V = draw("gaussian", 2)
    expected = factor**2 * objective_value(X, U, V, objective)
    assert objective_value(factor * X, U, V, objective) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_large_offset_leaves_the_objective_accurate(objective):
    X, U, V = draw("gaussian", 4)
    offset = X + 1e9  # what rounding leaves of X is what counts
    expected = oracle.objective(offset - 1e9, U, V, objective)
    assert objective_value(offset, U, V, objective) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("seed", range(6))
def test_large_row_and_column_effects_leave_the_residue_accurate(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(-(2**20), 2**20, size=(48, 30)) / 2**20  # exact after adding the effects
    effects = rng.integers(0, 10**9, size=(48, 1)) + rng.integers(0, 10**9, size=30)
    U, V = np.eye(3)[np.arange(48) % 3], np.eye(3)[np.arange(30) % 3]
    expected = oracle.objective_residue(X, U, V)
    assert objective_value(X + effects, U, V, "residue") == pytest.approx(expected, rel=1e-10)


def test_memberships_without_any_member_cost_nothing():
    X = np.arange(6.0).reshape(3, 2)
    for objective in OBJECTIVES:
        assert objective_value(X, np.zeros((3, 2)), np.ones((2, 1)), objective) == 0.0
        assert objective_value(X, np.ones((3, 2)), np.zeros((2, 1)), objective) == 0.0


@pytest.mark.parametrize(
    ("index", "mean", "residue"),
    [(0, 0.0720, 0.046511), (1, 0.0677, 0.041067), (2, 0.0137, 0.003200), (3, 0.0102, 0.001600)],
)
def test_case_study_of_the_paper(index, mean, residue):
    case = load_case_study()
    configuration = case.configurations[index]
    U, V = configuration.row_membership, configuration.column_membership
    assert round(objective_value(case.data, U, V), 4) == mean
    assert round(objective_value(case.data, U, V, "residue"), 6) == residue


# -------------------------------------------------------------------------------- distances


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("objective", OBJECTIVES)
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
        dense.centred(centring(problem)),
        make_engine(sparse.csr_array(X), kernel),
    ):
        assert_close(solver_row_distances(engine, problem, U, V), by_row, scale)
        assert_close(solver_column_distances(engine, problem, U, V), by_column, scale)


@pytest.mark.parametrize("kind", KINDS)
def test_one_way_distances_are_squared_euclidean_distances_to_the_means(kind):
    X, U, V = draw(kind, 5)
    for engine in (make_engine(X), make_engine(sparse.csr_array(X))):
        rows = solver_row_distances(engine, make_problem("vectors", U, None), U, None)
        assert_close(rows, oracle.distances_neo_kmeans(X, U), (X**2).sum())
        columns = solver_column_distances(engine, make_problem("vectors", None, V), None, V)
        assert_close(columns, oracle.distances_neo_kmeans(X.T, V), (X**2).sum())


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_distances_of_the_memberships_add_up_to_the_objective(objective):
    X, U, V = draw("gaussian", 6)
    engine, problem = make_engine(X), make_problem(objective, U, V)
    expected = oracle.objective(X, U, V, objective)
    rows = solver_row_distances(engine, problem, U, V)[U].sum()
    columns = solver_column_distances(engine, problem, U, V)[V].sum()
    assert rows == pytest.approx(expected, rel=1e-10)
    assert columns == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_row_distances_are_the_column_distances_of_the_transpose(objective):
    X, U, V = draw("gaussian", 7)
    rows = solver_row_distances(make_engine(X), make_problem(objective, U, V), U, V)
    turned = make_problem(objective, V, U)
    columns = solver_column_distances(make_engine(X.T), turned, V, U)
    assert_close(rows, columns, (X**2).sum())


def test_mean_distances_with_single_columns_as_clusters_are_euclidean():
    X, U, _ = draw("gaussian", 8)
    single = np.eye(X.shape[1], dtype=bool)
    d = solver_row_distances(make_engine(X), make_problem("mean", U, single), U, single)
    assert_close(d, oracle.distances_neo_kmeans(X, U), (X**2).sum())
