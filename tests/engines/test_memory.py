"""The engine's sums do not depend on threads, and on block sizes only by rounding."""

from __future__ import annotations

import numpy as np
import pytest
from instances import make_counts, make_engine, make_membership, members
from scipy import sparse

from neocc.core.objectives import OBJECTIVES
from neocc.core.objectives.mean import residual_squares
from neocc.core.problem import Counts, Problem
from neocc.core.solve import solve
from neocc.core.steps import make_terms
from neocc.engines import Workers

NAMES = ("mean", "residue")


def blocks_of(entries):
    """Return options that cut the test matrices into small blocks, none of them kept centred."""
    return {"row_block": entries, "column_block": entries, "entries_per_cell": 0, "cached": 0}


SMALL_BLOCKS = blocks_of(150)


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
    rows, columns, U, V = sides(engine)
    n, m = engine.shape
    problem = Problem(OBJECTIVES[objective], rows, columns)
    features = engine.column_features(U, V)
    terms = make_terms(problem, "rows", features, (U, V))
    step = engine.assign_rows(problem, terms, U, V)
    scores = engine.row_scores(terms, V)
    rng = np.random.default_rng(2)
    solution = solve(engine, problem, (U, V))
    return {
        "sums": features.sums,
        "squares": features.squares,
        "products": features.products,
        "distances": engine.row_distances(terms, V),
        "comparable distances": scores.d,
        "labels": scores.labels,
        "minima": scores.minima,
        "objective": step.objective,
        "members": step.members.dense,
        "thresholds": step.thresholds,
        "row squares": engine.row_squares(rng.random(m)),
        "column squares": engine.column_squares(rng.random(n)),
        "multiply": engine.multiply(rng.normal(size=(m, 3))),
        "multiply transposed": engine.multiply_transposed(rng.normal(size=(n, 3))),
        "residuals": engine.sum_blocks(residual_squares, U, rng.normal(size=(4, 3)), V),
        "history": solution.history,
        "U": solution.U.dense,
        "V": solution.V.dense,
    }


def n_parts(engine):
    """Numbers of blocks of rows, and of groups of them that columns are summed over."""
    cut = engine.shards.each[0]._passes
    return len(cut.row_blocks), len(cut._groups((4, 0)))


@pytest.mark.parametrize("kernel", ["numpy", "numba"])
@pytest.mark.parametrize("objective", NAMES)
@pytest.mark.parametrize("n_jobs", [2, 3])
def test_same_bits_for_any_number_of_threads(X, objective, kernel, n_jobs):
    with Workers(1) as workers:
        expected = all_results(make_engine(X, kernel, workers, **SMALL_BLOCKS), objective)
    with Workers(n_jobs) as workers:
        engine = make_engine(X, kernel, workers, **SMALL_BLOCKS)
        assert min(n_parts(engine)) > 4
        found = all_results(engine, objective)
    for name, value in expected.items():
        np.testing.assert_array_equal(found[name], value, err_msg=name)


@pytest.mark.parametrize("kernel", ["numpy", "numba"])
@pytest.mark.parametrize("objective", NAMES)
def test_block_size_changes_nothing_but_the_last_digits(X, objective, kernel):
    expected = all_results(make_engine(X, kernel), objective)
    for entries in (1, 70, 600):
        found = all_results(make_engine(X, kernel, **blocks_of(entries)), objective)
        for name, value in expected.items():
            np.testing.assert_allclose(
                found[name], value, rtol=1e-12, atol=1e-12 * 90, err_msg=name
            )


def test_features_are_those_of_the_definitions(X):
    values = X.toarray() if sparse.issparse(X) else X
    _, _, U, V = sides(X)
    f = U.weights
    for products in (None, V):
        features = make_engine(X, **SMALL_BLOCKS).column_features(U, products)
        np.testing.assert_allclose(features.sums, values.T @ U.indicator, atol=1e-12)
        np.testing.assert_allclose(features.squares, (values**2).T @ f, atol=1e-12)
        if products is None:
            assert features.products is None
            continue
        wanted = values.T @ (f[:, None] * (values @ V.indicator))
        np.testing.assert_allclose(features.products, wanted, atol=1e-11)


@pytest.mark.parametrize("objective", NAMES)
def test_centring_leaves_the_result_unchanged(objective):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 20)) + 50.0  # far enough off to be centred, near enough to do without
    rows, columns, U, V = sides(X)
    problem = Problem(OBJECTIVES[objective], rows, columns)
    plain = solve(make_engine(X), problem, (U, V))
    engine = make_engine(X).centred(problem.centring)
    assert engine.effects.columns is not None
    centred = solve(engine, problem, (U, V))
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
    block = engine.take_rows(np.arange(30))
    means = np.array([[block[np.ix_(u, v)].mean() for v in V.T] for u in U.T])
    expected = np.array([[X[np.ix_(u, v)].mean() for v in V.T] for u in U.T])
    found = engine.effects.restore(means, members(U), members(V))
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    vectors = np.array([block[u].mean(axis=0) for u in U.T])
    expected = np.array([X[u].mean(axis=0) for u in U.T])
    found = engine.effects.restore(vectors, members(U), None)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_engine_over_some_rows_or_columns(X):
    values = X.toarray() if sparse.issparse(X) else X
    rows, columns = np.array([3, 8, 44]), np.array([7, 2])
    engine = make_engine(X).sample("rows", rows)
    assert engine.shape == (3, 20)
    np.testing.assert_array_equal(engine.take_rows(np.array([2, 0])), values[[44, 3]])
    engine = make_engine(X).sample("columns", columns)
    assert engine.shape == (90, 2)
    np.testing.assert_array_equal(engine.take_rows(rows), values[rows][:, columns])


@pytest.mark.parametrize("side", ["rows", "columns"])
def test_samples_of_centred_data_are_centred_alike(side):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 20)) + 1e3 * rng.random((90, 1)) + 1e3 * rng.random(20)
    engine = make_engine(X).centred("double")
    assert engine.effects.rows is not None
    items, whole = np.array([17, 3, 3]), engine.take_rows(np.arange(90))
    found = engine.sample(side, items)
    wanted = whole[items] if side == "rows" else whole[:, items]
    np.testing.assert_array_equal(found.take_rows(np.arange(len(wanted))), wanted)
    restored = found.effects.rows[:, None] + found.effects.columns + wanted
    given = X[items] if side == "rows" else X[:, items]
    np.testing.assert_allclose(restored, given, rtol=1e-12)


def test_a_partition_needs_no_table_of_distances(X):
    """Memberships, objective and limits are the same whether distances are kept or not."""
    labels = np.arange(90) % 4
    U, V = members(labels[:, None] == np.arange(4)), sides(X)[3]
    rows = Counts(90, 4, 90, 0)
    problem = Problem(OBJECTIVES["mean"], rows, sides(X)[1])
    engine = make_engine(X)
    terms = make_terms(problem, "rows", engine.column_features(U, None), (U, V))
    step = engine.assign_rows(problem, terms, U, V)
    d = engine.row_scores(terms, V).d
    np.testing.assert_array_equal(step.members.dense.argmax(axis=1), d.argmin(axis=1))
    assert step.thresholds == (np.inf, -np.inf)
    literal = engine.row_distances(terms, V)[np.arange(90), labels].sum()
    assert step.objective == pytest.approx(literal, rel=1e-12)
