"""Offsets, precision and scale leave the clustering alone."""

from __future__ import annotations

import numpy as np
import oracle
import pytest
from instances import planted
from models import NAMES, column_members, make_model, row_members
from scipy import sparse

from neocc import objective_value
from neocc.estimators._precision import PrecisionWarning


def exact_data(seed=0, n=48, m=30):
    """Blocks with unit noise in multiples of 2**-20: adding integers up to 2**32 is exact."""
    X = planted(np.random.default_rng(seed), n, m, 3, 3, noise=1.0)
    return np.round(X * 2**20) / 2**20


def fit(name, X, **options):
    """Fit from one start: of several, rounding may pick another that ends in the same partition."""
    return make_model(name, n_init=1, **options).fit(X)


def assert_same_clustering(found, expected, rel=1e-9):
    np.testing.assert_array_equal(row_members(found), row_members(expected))
    np.testing.assert_array_equal(column_members(found), column_members(expected))
    assert found.objective_ == pytest.approx(expected.objective_, rel=rel)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array, sparse.csc_array])
@pytest.mark.parametrize("offset", [1e9, -1e9])
@pytest.mark.parametrize("name", NAMES)
def test_a_large_offset_gives_the_clustering_of_the_centred_matrix(name, offset, make):
    X = exact_data()
    found = fit(name, make(X + offset))
    assert_same_clustering(found, fit(name, X))
    literal = (
        oracle.objective_neo_kmeans(X, row_members(found))
        if column_members(found) is None
        else oracle.objective(
            X, row_members(found), column_members(found), found.get_params()["objective"]
        )
    )
    assert found.objective_ == pytest.approx(literal, rel=1e-10)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["NEOCC residue", "NEOCC residue overlap", "MSSR residue"])
def test_residue_ignores_large_row_and_column_effects(name, seed):
    X = exact_data(seed)
    rng = np.random.default_rng(seed)
    effects = rng.integers(0, 10**9, size=(48, 1)) + rng.integers(0, 10**9, size=30)
    # One-way starts see the effects, random ones do not.
    expected = fit(name, X, init="random")
    assert_same_clustering(fit(name, X + effects, init="random"), expected)


@pytest.mark.parametrize("name", ["NEOKMeans", "NEOKMeans overlap"])
def test_neokmeans_ignores_large_column_effects(name):
    X = exact_data()
    columns = np.random.default_rng(1).integers(-(10**9), 10**9, size=30)
    expected = fit(name, X)
    found = fit(name, X + columns)
    assert_same_clustering(found, expected)
    np.testing.assert_allclose(
        found.cluster_centers_ - columns, expected.cluster_centers_, atol=1e-6
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_few_large_outlying_values_do_not_spoil_the_offset(name):
    X = exact_data()
    X[5, 7] = 2.0**20
    assert_same_clustering(fit(name, X + 1e9), fit(name, X), rel=1e-6)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.filterwarnings("ignore::neocc.RedundancyWarning")  # rows of zeros fit everywhere
def test_float32_is_near_float64(name, make):
    X = exact_data()
    X[np.abs(X) < 1] = 0.0
    single, double = fit(name, make(X.astype(np.float32))), fit(name, make(X))
    assert_same_clustering(single, double, rel=1e-5)
    assert single.history_.dtype == np.float64


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("factor", [2.0**-200, 2.0**200, -4.0])
def test_scale_does_not_matter(name, factor):
    X = exact_data()
    expected = fit(name, X)
    found = fit(name, factor * X)
    np.testing.assert_array_equal(row_members(found), row_members(expected))
    assert found.objective_ == pytest.approx(factor**2 * expected.objective_, rel=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_an_objective_is_never_negative(name):
    rng = np.random.default_rng(0)
    X = np.repeat(np.repeat(rng.random((3, 3)), 5, axis=0), 4, axis=1) / 3
    model = fit(name, X)
    assert model.objective_ >= 0
    # As computed, a perfect fit may lie below by rounding.
    assert (model.history_ >= -1e-13 * np.square(X).sum() * row_members(model).shape[1]).all()


def levelled(step):
    """Column clusters at levels `step` apart with unit noise, and the true memberships."""
    rng = np.random.default_rng(0)
    u, v = rng.integers(3, size=60), rng.integers(3, size=24)
    blocks = rng.permutation(9).reshape(3, 3) * 3.0
    X = blocks[np.ix_(u, v)] + rng.normal(size=(60, 24)) + np.array([0.0, step, 2 * step])[v]
    return X, np.eye(3, dtype=bool)[u], np.eye(3, dtype=bool)[v]


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("step", [0.0, 1e3, 1e5, 1e7])
def test_the_objective_survives_clusters_at_levels_far_apart(step, make):
    X, U, V = levelled(step)
    # What is left is the rounding of X itself, half a unit in the last place of 2e7.
    literal = oracle.objective(X, U, V, "mean")
    assert objective_value(make(X), U, V) == pytest.approx(literal, rel=1e-9)


def test_a_fit_that_rounding_spoils_says_so():
    X, _, _ = levelled(1e9)
    with pytest.warns(PrecisionWarning, match="Subtract column means"):
        model = make_model("NEOCC mean").fit(X)
    literal = oracle.objective(X, model.row_membership_, model.column_membership_, "mean")
    assert model.objective_ == pytest.approx(literal, rel=1e-6)
    # The history is what memberships were decided by, as far off as the warning says.
    assert model.history_[-1] == pytest.approx(literal, abs=1e-13 * np.square(X).sum())


def test_residues_that_rounding_spoils_are_computed_again_and_said_to_be():
    rng = np.random.default_rng(0)
    u, v = np.arange(60) % 3, np.arange(40) % 3
    X = 1e6 * rng.normal(size=(3, 3))[np.ix_(u, v)] + 1e-3 * rng.normal(size=(60, 40))
    with pytest.warns(PrecisionWarning, match="Subtract column means"):
        model = make_model("NEOCC residue").fit(X)
    U, V = model.row_membership_, model.column_membership_
    literal = oracle.objective(X, U, V, "residue")
    assert literal > 0
    assert model.objective_ == pytest.approx(literal, rel=1e-6)
    assert objective_value(X, U, V, "residue") == pytest.approx(literal, rel=1e-6)
    assert objective_value(sparse.csr_array(X), U, V, "residue") == pytest.approx(literal, rel=1e-6)


@pytest.mark.parametrize("name", ["NEOCC mean", "NEOCC residue"])
def test_a_perfect_fit_far_from_zero_is_no_cause_for_a_warning(name):
    X = np.repeat(np.repeat([[1e9, 2.0], [3.0, -4e9]], 5, axis=0), 4, axis=1)
    assert make_model(name, n_row_clusters=2, n_column_clusters=2).fit(X).objective_ < 1e-3
