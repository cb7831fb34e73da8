"""Objectives against the literal formulas of the paper, and against the sums of distances."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import oracle
import pytest
from instances import KINDS, any_membership, make_data, make_engine, members
from instances import OBJECTIVES as NAMES
from scipy import sparse

from neocc import objective_value
from neocc.core.objectives import (
    COCLUSTERING,
    KMEANS,
    OBJECTIVES,
    BlockSums,
    block_means,
    mean_rows,
)
from neocc.core.objectives.mean import residual_squares
from neocc.core.problem import Counts, Problem
from neocc.core.steps import distances
from neocc.datasets import load_case_study
from neocc.kernels import Memberships

MAKERS = {"dense": np.asarray, "sparse": sparse.csr_array}


def draw(kind, seed):
    rng = np.random.default_rng(seed)
    X = make_data(kind, rng, *rng.integers(2, 9, size=2))
    U = any_membership(rng, X.shape[0], int(rng.integers(1, 5)))
    V = any_membership(rng, X.shape[1], int(rng.integers(1, 5)))
    return X, U, V


def assert_close(found, expected, scale):
    """Agreement to 1e-10 relative; where terms cancel to nothing, to 1e-12 of the terms."""
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12 * scale)


# ------------------------------------------------------------------------------- objectives


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("objective", NAMES)
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
@pytest.mark.parametrize("objective", NAMES)
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
@pytest.mark.parametrize("objective", NAMES)
def test_scaling_the_data_scales_the_objective_by_the_square(objective, factor):
    X, U, V = draw("gaussian", 2)
    expected = factor**2 * objective_value(X, U, V, objective)
    assert objective_value(factor * X, U, V, objective) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("objective", NAMES)
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
    for objective in NAMES:
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


# ------------------------------------------------------------------------- values from features


def value_of(engine, name, U, V):
    """An objective from the features that the loop keeps."""
    objective = OBJECTIVES[name]
    features = engine.column_features(U, V if objective.needs_products else None)
    return objective.value(features, U, V)


def distances_at(engine, name, side, U, V):
    """The sum of the distances of one side at its memberships, each as often as it counts."""
    rows, columns = (each and Counts(each.n_items, each.n_clusters, 0, 0) for each in (U, V))
    d = distances(engine, Problem(OBJECTIVES[name], rows, columns), side, (U, V))
    own = U if side == "rows" else V
    return float((d * own.indicator)[own.dense].sum())


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize("kernel", ["numpy", "numba"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", COCLUSTERING)
def test_a_value_is_the_literal_one_and_the_sum_of_distances(name, kind, kernel, make):
    for seed in range(6):
        X, U, V = draw(kind, seed)
        engine, rows, columns = make_engine(make(X), kernel), members(U), members(V)
        literal, scale = oracle.objective(X, U, V, name), oracle.energy(X, U, V)
        assert_close(value_of(engine, name, rows, columns), literal, scale)
        centred = engine.centred(OBJECTIVES[name].centring(None))
        assert_close(value_of(centred, name, rows, columns), literal, max(scale, (X**2).sum()))
        for side in ("rows", "columns"):
            assert_close(distances_at(engine, name, side, rows, columns), literal, scale)


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_one_way_value_is_the_literal_one_and_the_sum_of_distances(kind, make):
    for seed in range(6):
        X, U, V = draw(kind, seed)
        engine, name = make_engine(make(X)), KMEANS.name
        for side, pair in (("rows", (members(U), None)), ("columns", (None, members(V)))):
            Y, own = (X, U) if side == "rows" else (X.T, V)
            literal = oracle.objective_neo_kmeans(Y, own)
            scale = float(own.sum(axis=1) @ (Y**2).sum(axis=1))
            assert_close(value_of(engine, name, *pair), literal, scale)
            assert_close(distances_at(engine, name, side, *pair), literal, scale)


def weighted(U, rng):
    return replace(members(U), scale=rng.choice([0.25, 0.5, 1.0], size=len(U)) + rng.random(len(U)))


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize("kernel", ["numpy", "numba"])
@pytest.mark.parametrize("name", COCLUSTERING)
def test_a_value_of_weighted_memberships_is_the_literal_one(name, kernel, make):
    for seed in range(20):
        X, U, V = draw(KINDS[seed % len(KINDS)], seed)
        rng = np.random.default_rng(seed)
        for pair in (
            (weighted(U, rng), weighted(V, rng)),
            (weighted(U, rng), members(V)),
            (members(U), weighted(V, rng)),
        ):
            tables = [each.indicator for each in pair]
            literal = oracle.objective_weighted(X, *tables, name)
            scale = float(tables[0].sum(axis=1) @ (X * X) @ tables[1].sum(axis=1))
            assert_close(value_of(make_engine(make(X), kernel), name, *pair), literal, scale)


@pytest.mark.parametrize("name", COCLUSTERING)
def test_weights_of_one_change_nothing(name):
    for seed in range(10):
        X, U, V = draw("gaussian", seed)
        assert oracle.objective_weighted(X, U, V, name) == pytest.approx(
            oracle.objective(X, U, V, name), rel=1e-10, abs=1e-12 * (X**2).sum()
        )
        ones = [replace(members(each), scale=np.ones(len(each))) for each in (U, V)]
        plain = value_of(make_engine(X), name, members(U), members(V))
        assert value_of(make_engine(X), name, *ones) == pytest.approx(
            plain, rel=1e-10, abs=1e-12 * (X**2).sum()
        )


@pytest.mark.parametrize("kind", KINDS)
def test_means_are_those_of_the_entries(kind):
    X, U, V = draw(kind, 5)
    features = make_engine(X).column_features(members(U), None)
    for i, u in enumerate(U.T):
        expected = X[u].mean(axis=0) if u.any() else np.zeros(X.shape[1])
        assert_close(mean_rows(features, members(U))[i], expected, np.abs(X).max())
        for j, v in enumerate(V.T):
            block = X[np.ix_(u, v)]
            expected = block.mean() if block.size else 0.0
            found = block_means(features, members(U), members(V))[i, j]
            assert_close(found, expected, np.abs(X).max())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", COCLUSTERING)
def test_values_of_blocks_follow_from_their_sums(name, kind):
    X, U, V = draw(kind, 4)
    for u in U.T:
        for v in V.T:
            block = X[np.ix_(u, v)]
            if not block.size:
                continue
            n, m = block.shape
            sums = (
                (block**2).sum(),
                block.sum(),
                (block.sum(axis=1) ** 2).sum() / m,
                (block.sum(axis=0) ** 2).sum() / n,
                float(n * m),
            )
            over = BlockSums(*(np.array([[value]]) for value in sums))
            found = OBJECTIVES[name].block_values(over)
            one = np.ones((n, 1)), np.ones((m, 1))
            assert_close(found, [[oracle.objective(block, *one, name)]], (block**2).sum())


def test_numbers_of_free_parameters():
    # Block means; means of rows and columns, of which those of blocks are combinations.
    shape, n_clusters = (10, 7), (3, 2)
    found = {name: OBJECTIVES[name].n_parameters(shape, n_clusters) for name in COCLUSTERING}
    assert found == {"mean": 3 * 2, "residue": 2 * 10 + 3 * 7 - 3 * 2}
    assert {name: OBJECTIVES[name].per_item for name in COCLUSTERING} == {
        "mean": False,
        "residue": True,
    }


# --------------------------------------------------------------------------- term by term


def check_residual_squares(kind, **options):
    for seed in range(8):
        X, U, V = draw(kind, seed)
        rng = np.random.default_rng(seed)
        means = rng.normal(size=(U.shape[1], V.shape[1])) * np.abs(X).max()
        expected = oracle.residual_squares(X, means, U, V)
        for stored in (X, sparse.csr_array(X), sparse.csr_array(X.astype(np.float32))):
            engine = make_engine(stored, **options)
            found = engine.sum_blocks(residual_squares, members(U), means, members(V))
            single = sparse.issparse(stored) and stored.dtype == np.float32
            assert found == pytest.approx(expected, rel=1e-5 if single else 1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_residual_squares_of_dense_and_sparse_data_are_the_literal_ones(kind):
    check_residual_squares(kind)


@pytest.mark.parametrize("kind", KINDS)
def test_residual_squares_of_a_few_rows_at_a_time_are_the_literal_ones(kind):
    check_residual_squares(kind, copied=20)


def test_explicit_zeros_and_absent_ones_count_alike():
    X = np.array([[0.0, 2.0, 0.0], [1.0, 0.0, 0.0]])
    stored = sparse.csr_array(
        (np.array([0.0, 2.0, 1.0, 0.0]), np.array([0, 1, 0, 2]), np.array([0, 2, 4])), shape=(2, 3)
    )
    U, V, means = np.ones((2, 1)), np.ones((3, 1)), np.array([[0.5]])
    expected = oracle.residual_squares(X, means, U, V)
    found = make_engine(stored).sum_blocks(residual_squares, members(U), means, members(V))
    assert found == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_an_exact_value_is_the_literal_one(make):
    for seed in range(10):
        X, U, V = draw("gaussian", seed)
        engine, rows, columns = make_engine(make(X)), members(U), members(V)
        features = engine.column_features(rows, columns)
        for name in ("mean", "residue"):
            exact = OBJECTIVES[name].exact_value(engine, features, rows, columns)
            wanted = oracle.objective(X, U, V, name)
            assert exact == pytest.approx(wanted, rel=1e-12, abs=1e-12)
        assert OBJECTIVES["kmeans"].exact_value(engine, features, rows, columns) is None


def test_nobody_at_all_has_no_value_to_lose():
    nobody = Memberships.from_labels(np.full(3, -1, dtype=np.int32), 2)
    everybody = members(np.ones((2, 1)))
    X = np.arange(6.0).reshape(3, 2)
    for name in COCLUSTERING:
        assert value_of(make_engine(X), name, nobody, everybody) == 0.0
