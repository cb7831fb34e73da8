"""The engine's sums do not depend on threads, and on block sizes only by rounding."""

from __future__ import annotations

import numpy as np
import pytest
from instances import make_counts, make_engine, make_membership, members
from scipy import sparse

from neocc.core.problem import Problem
from neocc.core.solve import centring, solve
from neocc.core.tables import row_tables
from neocc.engines import Workers, passes

OBJECTIVES = ("mean", "residue")


@pytest.fixture
def small_blocks(monkeypatch):
    """Cut the test matrices into many blocks."""
    set_block_size(monkeypatch, 150)


def set_block_size(monkeypatch, entries):
    monkeypatch.setattr(passes, "_ROW_PASS_ENTRIES", entries)
    monkeypatch.setattr(passes, "_CACHED_ENTRIES", entries)
    monkeypatch.setattr(passes, "_ENTRIES_PER_CELL", 0)


@pytest.fixture(params=["dense", "sparse"])
def X(request):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 20)) * (rng.random((90, 20)) < 0.5)
    return X if request.param == "dense" else sparse.csr_array(X)


def sides(X):
    rng = np.random.default_rng(1)
    rows, columns = make_counts(rng, X.shape[0], 4), make_counts(rng, X.shape[1], 3)
    U, V = make_membership(rng, rows), make_membership(rng, columns)
    return rows, columns, members(U), members(V)


def all_results(engine, objective):
    """Everything the engine computes for one problem."""
    rows, columns, U, V = sides(engine.matrix)
    problem = Problem(objective, rows, columns)
    sums = engine.column_sums(U, V)
    tables = row_tables(problem, sums, U, V)
    step = engine.reassign_rows(tables, U, V, rows)
    assignment = step.assignment
    return {
        "by_cluster": sums.by_cluster,
        "squares": sums.squares,
        "products": sums.products,
        "energy": sums.energy,
        "distances": engine.row_distances(tables, V),
        "objective": step.objective,
        "members": assignment.members.dense,
        "limits": (assignment.nearest_limit, assignment.extra_limit),
        "history": solve(engine, problem, U, V).history,
    }


@pytest.mark.parametrize("kernel", ["numpy", "numba"])
@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("n_jobs", [2, 3])
@pytest.mark.usefixtures("small_blocks")
def test_same_bits_for_any_number_of_threads(X, objective, kernel, n_jobs):
    assert len(make_engine(X).matrix.partition(150)) > 4
    with Workers(1) as workers:
        expected = all_results(make_engine(X, kernel, workers), objective)
    with Workers(n_jobs) as workers:
        found = all_results(make_engine(X, kernel, workers), objective)
    for name, value in expected.items():
        np.testing.assert_array_equal(found[name], value, err_msg=name)


@pytest.mark.parametrize("kernel", ["numpy", "numba"])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_block_size_changes_nothing_but_the_last_digits(X, objective, kernel, monkeypatch):
    expected = all_results(make_engine(X, kernel), objective)
    for entries in (1, 70, 600):
        set_block_size(monkeypatch, entries)
        found = all_results(make_engine(X, kernel), objective)
        for name, value in expected.items():
            np.testing.assert_allclose(
                found[name], value, rtol=1e-12, atol=1e-12 * 90, err_msg=name
            )


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_sums_are_those_of_the_definitions(X, objective):
    values = X.toarray() if sparse.issparse(X) else X
    _, _, U, V = sides(X)
    sums = make_engine(X).column_sums(U, V)
    A = values @ V.indicator / np.maximum(V.sizes, 1)
    f = U.weights
    np.testing.assert_allclose(sums.by_cluster, values.T @ U.indicator, atol=1e-12)
    np.testing.assert_allclose(sums.squares, (values**2).T @ f, atol=1e-12)
    np.testing.assert_allclose(sums.products, values.T @ (-2 * f[:, None] * A), atol=1e-11)
    np.testing.assert_allclose(sums.energy, f @ A**2, atol=1e-12)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_centring_leaves_the_result_unchanged(objective):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 20)) + 50.0  # far enough off to be centred, near enough to do without
    rows, columns, U, V = sides(X)
    problem = Problem(objective, rows, columns)
    plain = solve(make_engine(X), problem, U, V)
    engine = make_engine(X).centred(centring(problem))
    assert engine.matrix.column_effects is not None
    centred = solve(engine, problem, U, V)
    np.testing.assert_array_equal(centred.U.dense, plain.U.dense)
    np.testing.assert_array_equal(centred.V.dense, plain.V.dense)
    np.testing.assert_allclose(centred.history, plain.history, rtol=1e-9)


@pytest.mark.parametrize("kind", ["none", "global", "rows", "columns", "double"])
def test_means_of_centred_data_are_restored(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 20)) + 100 * rng.random((30, 1)) + 100 * rng.random(20) + 1e3
    rows, columns = make_counts(rng, 30, 3), make_counts(rng, 20, 4)
    U, V = make_membership(rng, rows), make_membership(rng, columns)
    U[:, 1], V[:, 2] = True, True  # no empty clusters: an empty mean is nothing to restore
    U[0], V[0] = True, True
    engine = make_engine(X).centred(kind)
    block = engine.matrix.block(0, 30)
    means = np.array([[block[np.ix_(u, v)].mean() for v in V.T] for u in U.T])
    expected = np.array([[X[np.ix_(u, v)].mean() for v in V.T] for u in U.T])
    found = engine.effects.restore_means(means, members(U), members(V))
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    vectors = np.array([block[u].mean(axis=0) for u in U.T])
    expected = np.array([X[u].mean(axis=0) for u in U.T])
    np.testing.assert_allclose(
        engine.effects.restore_vectors(vectors, members(U)), expected, rtol=1e-12
    )


def test_engine_over_some_rows(X):
    rows = np.array([3, 8, 44])
    engine = make_engine(X).sample_rows(rows)
    values = X.toarray() if sparse.issparse(X) else X
    assert engine.shape == (3, 20)
    np.testing.assert_array_equal(engine.take_rows(np.array([2, 0])), values[[44, 3]])
