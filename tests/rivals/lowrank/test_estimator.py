"""LowRankNEOKMeans and NEOCC(init="sdp"): attributes, reproducibility, odd input, yeast."""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import oracle
import pytest
from instances import planted
from models import fit_noticing
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from neocc import NEOCC, LowRankNEOKMeans, NEOKMeans

OVERLAP = {"overlap": 0.3, "outliers": 0.1}


@pytest.fixture
def X():
    return planted(np.random.default_rng(0), 40, 6, 3, 3, noise=1.0)


def make_model(**options):
    """Return a model that is quick rather than good."""
    quick = {"n_clusters": 3, "columns_per_cluster": 2, "max_iter": 5, "random_state": 0}
    return LowRankNEOKMeans(**{**quick, **options})


def assert_same_bits(one, other):
    for name in vars(one):
        if name.endswith("_") and not name.startswith("_"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


# -------------------------------------------------------------------------------- attributes


def test_parameters_have_the_planned_names():
    planned = """n_clusters overlap outliers solver init n_init rounding refine max_iter tol engine
        kernel n_jobs random_state verbose"""
    assert set(planned.split()) <= set(inspect.signature(LowRankNEOKMeans).parameters)


@pytest.mark.parametrize("refine", [False, True])
@pytest.mark.parametrize("rounding", ["clusters", "counts"])
@pytest.mark.parametrize("solver", ["admm", "alm"])
def test_attributes(X, solver, rounding, refine):
    model = make_model(solver=solver, rounding=rounding, refine=refine, **OVERLAP).fit(X)
    U = model.membership_
    assert (U.shape, U.dtype) == ((40, 3), bool)
    assert U.sum() == 52
    assert model.outliers_.sum() <= 4
    np.testing.assert_array_equal(model.outliers_, ~U.any(axis=1))
    centers = [X[u].mean(axis=0) for u in U.T]
    np.testing.assert_allclose(model.cluster_centers_, centers, rtol=1e-10, atol=1e-12)
    assert model.objective_ == pytest.approx(oracle.objective_neo_kmeans(X, U), rel=1e-10)
    assert model.n_features_in_ == 6
    assert model.history_.dtype.names == ("objective", "infeasibility")
    assert len(model.history_) == model.n_iter_ <= 5
    assert model.relaxed_objective_ == model.history_["objective"][-1]
    assert model.infeasibility_ == model.history_["infeasibility"][-1]
    assert model.transform(X).shape == (40, 3)


def test_a_solved_relaxation_is_feasible_and_below_the_memberships(X):
    model = LowRankNEOKMeans(3, random_state=0, **OVERLAP).fit(X)
    assert model.infeasibility_ < 1e-4
    assert model.n_iter_ < 50
    assert model.relaxed_objective_ <= model.objective_ * (1 + 1e-3)
    assert model.objective_ <= NEOKMeans(3, random_state=0, **OVERLAP).fit(X).objective_ * 1.01


def test_refined_fits_predict_their_own_rows(X):
    model = make_model(**OVERLAP).fit(X)
    np.testing.assert_array_equal(model.predict_membership(X), model.membership_)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    labels = make_model().fit(X)
    np.testing.assert_array_equal(labels.predict(X), labels.membership_.argmax(axis=1))


def test_refinement_lowers_what_was_rounded(X):
    rounded, refined = (make_model(refine=refine, **OVERLAP).fit(X) for refine in (False, True))
    assert refined.objective_ <= rounded.objective_
    np.testing.assert_array_equal(refined.history_, rounded.history_)


# ------------------------------------------------------------------------------------- starts


def test_given_memberships_are_the_start(X):
    start = NEOKMeans(3, n_init=1, random_state=3, **OVERLAP).fit(X)
    options = {"columns_per_cluster": 1, "init": start.membership_, "max_iter": 50}
    model = make_model(**options, **OVERLAP).fit(X)
    assert model.relaxed_objective_ < start.objective_
    # With nothing left to chance, the seed means nothing.
    assert_same_bits(model, make_model(**{**options, "random_state": 7}, **OVERLAP).fit(X))


def test_given_memberships_must_meet_the_counts(X):
    with pytest.raises(ValueError, match="init has 40 memberships"):
        make_model(init=np.eye(3)[np.arange(40) % 3], **OVERLAP).fit(X)


@pytest.mark.parametrize("init", ["random", "neo-kmeans"])
def test_more_starts_never_end_higher(X, init):
    found = [make_model(init=init, n_init=n, **OVERLAP).fit(X).objective_ for n in (1, 3)]
    assert found[1] <= found[0]


# --------------------------------------------------------------------------- reproducibility


@pytest.mark.parametrize("solver", ["admm", "alm"])
def test_same_bits_for_any_number_of_threads(X, solver, set_pass_options):
    set_pass_options(row_block=50, column_block=50, entries_per_cell=0)
    one, three = (make_model(solver=solver, n_jobs=n, **OVERLAP).fit(X) for n in (1, 3))
    assert_same_bits(one, three)


def test_same_seed_same_bits(X):
    model = make_model(**OVERLAP).fit(X)
    assert_same_bits(model, make_model(**OVERLAP).fit(X))
    assert_same_bits(model, pickle.loads(pickle.dumps(model)))
    other = make_model(random_state=1, **OVERLAP).fit(X)
    assert model.history_[0] != other.history_[0]


def test_sparse_input_gives_what_dense_input_does(X):
    X = np.where(np.abs(X) > 1, X, 0.0)
    dense, stored = (
        LowRankNEOKMeans(3, random_state=0, **OVERLAP).fit(form)
        for form in (X, sparse.csr_array(X))
    )
    assert stored.relaxed_objective_ == pytest.approx(dense.relaxed_objective_, rel=1e-3)
    assert stored.objective_ == pytest.approx(dense.objective_, rel=1e-2)


# ------------------------------------------------------------------------------ odd data


@pytest.mark.parametrize(
    "data",
    [
        np.zeros((10, 4)),
        np.full((10, 4), 0.1),
        np.repeat(np.random.default_rng(0).normal(size=(2, 4)), 5, axis=0),
        np.random.default_rng(0).normal(size=(10, 1)),
        np.sign(np.random.default_rng(0).normal(size=(10, 4))) * 1e140,
        np.random.default_rng(0).normal(size=(10, 8)) * 10.0 ** np.arange(-8, 8, 2),
    ],
    ids=["zero", "constant", "duplicates", "one column", "largest", "huge spread"],
)
@pytest.mark.parametrize("k", [1, 3, 10])
def test_degenerate_data_has_exact_counts(data, k):
    model = make_model(n_clusters=k, outliers=0.1, overlap=0.0 if k == 1 else 0.2)
    U = fit_noticing(model, data).membership_
    assert U.sum() == (10 if k == 1 else 12)
    assert (~U.any(axis=1)).sum() <= 1
    assert U.any(axis=0).all()
    assert np.isfinite(model.relaxed_objective_)


def test_fewer_memberships_than_clusters():
    X = np.random.default_rng(0).normal(size=(10, 3))
    model = make_model(n_clusters=8, overlap=-0.5, outliers=0.5).fit(X)
    assert model.membership_.sum() == 5
    assert model.membership_.any(axis=0).sum() == 5


def test_data_too_large_for_the_relaxation_are_refused():
    X = np.random.default_rng(0).normal(size=(850_000, 2))
    words = r"850,000 rows in 3 clusters has 5,100,000 variables.*NEOKMeans"
    with pytest.raises(ValueError, match=words):
        make_model(init="random").fit(X)
    with pytest.raises(ValueError, match="variables"):
        NEOCC(7, 2, init="sdp", refine=False).fit(X)


# ------------------------------------------------------------------------------------ progress


def test_updates_are_logged(X, caplog):
    with caplog.at_level("INFO", logger="neocc"):
        model = make_model(verbose=2).fit(X)
    lines = [line for line in caplog.messages if "iteration" in line]
    assert sum("start 1/1, iteration" in line for line in lines) == model.n_iter_


# ---------------------------------------------------------------------------------- NEOCC(sdp)


@pytest.mark.parametrize("objective", ["mean", "residue"])
def test_neocc_starts_from_relaxed_sides(objective):
    X = planted(np.random.default_rng(0), 30, 20, 3, 2, noise=0.3)
    options = {"objective": objective, "row_overlap": 0.1, "init": "sdp", "random_state": 0}
    plain = NEOCC(3, 2, n_init=1, refine=False, **options).fit(X)
    assert plain.row_membership_.sum() == 33
    literal = oracle.objective(X, plain.row_membership_, plain.column_membership_, objective)
    assert plain.objective_ == pytest.approx(literal, rel=1e-9)
    again = NEOCC(3, 2, n_init=1, refine=False, n_jobs=2, **options).fit(X)
    assert_same_bits(plain, again)
    refined = NEOCC(3, 2, n_init=1, **options).fit(X)
    assert refined.objective_ <= plain.objective_ * (1 + 1e-12)


# -------------------------------------------------------------------------------- scikit-learn


@pytest.mark.slow  # those of the other solver and of other starts are in test_sklearn_checks.py
@parametrize_with_checks(
    [
        LowRankNEOKMeans(columns_per_cluster=1, max_iter=2, solver="alm"),
        NEOCC(None, None, init="sdp", n_init=1, refine=False),
    ]
)
def test_sklearn_check(estimator, check):
    check(estimator)


# --------------------------------------------------------------------------------------- yeast


@pytest.fixture
def yeast(data_folder):
    from neocc.datasets import fetch_yeast

    return fetch_yeast(data_home=data_folder, download_if_missing=False)


def f1(yeast, members):
    from neocc.metrics import best_match_f1

    return 100 * best_match_f1(yeast.row_membership, members)


@pytest.mark.filterwarnings("ignore::neocc.RedundancyWarning")
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_yeast_below_the_best_of_twenty_iterative_starts(yeast, seed):
    iterative = NEOKMeans(14, overlap=3.55, n_init=20, random_state=seed).fit(yeast.data)
    model = LowRankNEOKMeans(14, overlap=3.55, random_state=seed).fit(yeast.data)
    assert model.infeasibility_ < 1e-4
    assert model.objective_ <= iterative.objective_
    assert model.relaxed_objective_ < model.objective_
    assert f1(yeast, model.membership_) >= 38.5


@pytest.mark.filterwarnings("ignore::neocc.RedundancyWarning")
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_yeast_one_semidefinite_start_reaches_the_good_basin(yeast, seed):
    setting = {"row_overlap": 3.237, "column_overlap": 0.2, "init": "sdp", "random_state": seed}
    model = NEOCC(14, 3, n_init=1, refine=False, **setting).fit(yeast.data)
    assert model.objective_ <= 10_110


@pytest.mark.filterwarnings("ignore::neocc.RedundancyWarning")
@pytest.mark.slow
def test_yeast_thorough_search_from_semidefinite_starts(yeast):
    setting = {"row_overlap": 3.237, "column_overlap": 0.2, "init": "sdp", "random_state": 0}
    model = NEOCC(14, 3, refine="thorough", **setting)
    assert model.fit(yeast.data).objective_ <= 10_075.2


@pytest.mark.parametrize("engine", ["foo", None, 5, "dask"])
def test_engines_it_does_not_know_are_refused(engine):
    with pytest.raises(ValueError, match="engine"):
        LowRankNEOKMeans(2, engine=engine).fit(np.eye(6))
