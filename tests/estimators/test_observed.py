"""Fits over observed cells: effects, predictions, planted clusters, degenerate input."""

from __future__ import annotations

from itertools import product

import numpy as np
import observed
import pytest
from models import save_unchecked
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import get_tags
from stores import MANY_BLOCKS

from neocc import NEOCC, CellPredictor, objective_value
from neocc.core.biases import effect_step, find_biases, side_biases
from neocc.engines.observed import read_observed
from neocc.estimators._checkpoints import _fingerprint
from neocc.io import ModelFileError, load_model, save_model, write_store
from neocc.metrics import omega_index

NAN = np.nan
OPTIONS = {"missing": "ignore", "random_state": 0, "n_init": 3}


def ratings(seed=0, n=60, m=40, share=0.4):
    """Blocks with effects of rows and columns; some cells were observed, some of them zeros."""
    rng = np.random.default_rng(seed)
    means = rng.normal(scale=2.0, size=(3, 3))
    rows, columns = rng.integers(3, size=n), rng.integers(3, size=m)
    X = 3.0 + rng.normal(size=(n, 1)) + rng.normal(size=m) + means[rows][:, columns]
    X = np.round(X + 0.1 * rng.normal(size=(n, m)))
    return np.where(rng.random((n, m)) < share, X, NAN)


def as_sparse(X):
    """Store the observed cells, zeros too."""
    at = np.nonzero(~np.isnan(X))
    return sparse.csr_array((X[at], at), shape=X.shape)


def same_fit(one, other):
    assert (one.row_membership_ == other.row_membership_).all()
    assert (one.column_membership_ == other.column_membership_).all()
    assert one.objective_ == other.objective_
    assert (one.block_means_ == other.block_means_).all()
    return True


@pytest.mark.parametrize("remove_effects", [False, True])
def test_nan_in_an_array_is_a_cell_that_sparse_data_do_not_store(remove_effects):
    X = ratings()
    assert (X == 0).any()  # an observed zero is none that is missing
    model = NEOCC(3, 3, remove_effects=remove_effects, **OPTIONS)
    dense = clone(model).fit(X)
    for container in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array):
        assert same_fit(clone(model).fit(container(as_sparse(X))), dense)


@pytest.mark.parametrize("kernel", ["numpy", "numba"])
@pytest.mark.parametrize("model", observed.MODELS)
def test_the_objective_of_a_fit_is_the_literal_one(model, kernel):
    X = ratings(share=0.3)
    options = {"row_overlap": 0.2, "row_outliers": 0.1, "column_overlap": 0.1}
    fit = NEOCC(
        3, 2, overlap_model=model, remove_effects=True, kernel=kernel, **options, **OPTIONS
    ).fit(X)
    expected = fit.overall_mean_ + fit.row_effects_[:, None] + fit.column_effects_
    E, W = np.nan_to_num(X - expected), (~np.isnan(X)).astype(float)
    members = fit.row_membership_, fit.column_membership_
    J = observed.literal_objective(E, W, *members, model, 10.0, True)
    assert fit.objective_ == pytest.approx(J, rel=1e-10)
    assert np.diff(fit.history_).max() <= 1e-9 * fit.objective_
    M = observed.literal_table(E, W, *members, model, 10.0)
    np.testing.assert_allclose(fit.block_means_, M, rtol=1e-10)
    assert fit.row_membership_.sum() == 72
    assert fit.row_outliers_.sum() <= 6


def test_effects_are_regularised_alternating_means():
    X = ratings()
    W = np.where(np.isnan(X), 0.0, np.random.default_rng(1).uniform(0.5, 2.0, X.shape))
    Y = np.nan_to_num(X)
    mean, rows, columns = find_biases(observed.make_engine(Y, W))
    assert mean == pytest.approx((W * Y).sum() / W.sum(), rel=1e-12)
    b, c = np.zeros(60), np.zeros(40)
    for _ in range(10):
        c = (W * (Y - mean - b[:, None])).sum(axis=0) / (10.0 + W.sum(axis=0))
        b = (W * (Y - mean - c)).sum(axis=1) / (15.0 + W.sum(axis=1))
    np.testing.assert_allclose(rows, b, atol=1e-5)
    np.testing.assert_allclose(columns, c, atol=1e-5)
    found = side_biases(observed.make_engine(Y, W), "columns", mean, rows, 0.0)
    c = (W * (Y - mean - rows[:, None])).sum(axis=0) / (10.0 + W.sum(axis=0))
    np.testing.assert_allclose(found, c, rtol=1e-10)


def test_rows_seen_again_have_the_effects_of_the_fit_to_the_last_bit():
    X = ratings() + 0.1
    W = np.where(np.isnan(X), 0.0, np.random.default_rng(1).uniform(0.5, 2.0, X.shape))
    engine = observed.make_engine(np.nan_to_num(X), W)
    mean, rows, columns = find_biases(engine)
    step = effect_step(engine.value_range(), X.shape)
    assert 0.0 < step < 1e-10
    np.testing.assert_array_equal(side_biases(engine, "rows", mean, columns, step), rows)


def test_fits_of_earlier_versions_predict_without_a_range_of_values():
    X = ratings()
    model = NEOCC(2, 2, missing="ignore", remove_effects=True, random_state=0, n_init=1).fit(X)
    expected = model.predict_membership(X)
    del model.value_range_
    np.testing.assert_array_equal(model.predict_membership(X), expected)


def test_columns_of_one_mean_have_the_effects_that_rows_leave_them():
    X = np.array([[1.0, 3.0], [5.0, NAN], [3.0, 3.0], [NAN, 3.0]])
    W = (~np.isnan(X)).astype(float)
    mean, rows, columns = find_biases(observed.make_engine(np.nan_to_num(X), W))
    left = np.where(W > 0, X - mean - rows[:, None], 0.0)
    np.testing.assert_allclose(columns, left.sum(axis=0) / 13.0, rtol=1e-4)
    assert columns[1] > 0.009


def test_effects_that_were_planted_are_found():
    rng = np.random.default_rng(0)
    b, c = rng.normal(size=(300, 1)), rng.normal(size=200)
    X = np.where(rng.random((300, 200)) < 0.5, 3.5 + b - b.mean() + c - c.mean(), NAN)
    fit = NEOCC(2, 2, remove_effects=True, **OPTIONS).fit(X)
    assert fit.overall_mean_ == pytest.approx(3.5, abs=0.05)
    assert np.corrcoef(fit.row_effects_, b[:, 0])[0, 1] > 0.99
    assert np.corrcoef(fit.column_effects_, c)[0, 1] > 0.99


def test_planted_clusters_are_found_though_half_of_the_cells_are_missing():
    X, rows, columns = planted_half()
    fit = NEOCC(3, 3, shrinkage=1.0, **OPTIONS).fit(X)
    assert omega_index(rows, fit.row_membership_) >= 0.95
    assert omega_index(columns, fit.column_membership_) >= 0.95


def planted_half():
    rng = np.random.default_rng(3)
    means = 2.0 * rng.normal(size=(3, 3))
    rows = np.eye(3, dtype=bool)[rng.integers(3, size=200)]
    columns = np.eye(3, dtype=bool)[rng.integers(3, size=100)]
    X = rows @ means @ columns.T + rng.normal(size=(200, 100))
    return np.where(rng.random(X.shape) < 0.5, X, NAN), rows, columns


def test_predicted_cells_are_effects_and_the_mean_of_blocks():
    X = ratings()
    options = {"row_overlap": -0.1, "column_overlap": 0.5, "row_outliers": 0.1}
    fit = NEOCC(3, 3, overlap_model="share", remove_effects=True, **options, **OPTIONS).fit(X)
    found = fit.predict_cells(np.arange(60)[:, None], np.arange(40))
    assert fit.row_outliers_.any()
    for p, t in np.ndindex(X.shape):
        value = fit.overall_mean_ + fit.row_effects_[p] + fit.column_effects_[t]
        blocks = fit.block_means_[np.ix_(fit.row_membership_[p], fit.column_membership_[t])]
        value += blocks.mean() if blocks.size else 0.0
        assert found[p, t] == pytest.approx(value, rel=1e-12)
    assert (fit.predict_cells([3, 5], [7, 0]) == found[[3, 5], [7, 0]]).all()


@pytest.mark.parametrize("given", [([0, 60], [0, 0]), ([0], [-1]), ([0.5], [1])])
def test_cells_that_are_none_are_refused(given):
    fit = NEOCC(3, 3, **OPTIONS).fit(ratings())
    with pytest.raises(ValueError, match=r"rows|columns"):
        fit.predict_cells(*given)


def test_rows_of_the_fit_are_predicted_where_they_are():
    X = ratings()
    fit = NEOCC(3, 3, remove_effects=True, **OPTIONS).fit(X)
    assert (fit.predict_membership(X) == fit.row_membership_).all()
    assert (fit.predict(as_sparse(X)) == fit.row_membership_.argmax(axis=1)).all()
    # Rows are decided one by one, from what was observed of them.
    assert (fit.predict_membership(X[7:9]) == fit.row_membership_[7:9]).all()
    assert fit.predict_membership(np.full((1, 40), NAN)).sum() == 1
    d = fit.transform(X)
    assert (d.argmin(axis=1) == fit.row_membership_.argmax(axis=1)).all()
    # Their effects are those of the fit.
    E = X - fit.overall_mean_ - fit.row_effects_[:, None] - fit.column_effects_
    E, W = np.nan_to_num(E), (~np.isnan(X)).astype(float)
    V, M = fit.column_membership_, fit.block_means_
    for p, q in np.ndindex(d.shape):
        expected = observed.literal_distance(p, q, E, W, V, M, "repeat", True)
        assert d[p, q] == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_weights_that_are_all_alike_change_nothing_without_shrinkage():
    X = ratings()
    plain = NEOCC(3, 3, shrinkage=0.0, **OPTIONS).fit(X)
    threes = NEOCC(3, 3, shrinkage=0.0, **OPTIONS).fit(X, cell_weight=np.full(X.shape, 3.0))
    assert (plain.row_membership_ == threes.row_membership_).all()
    assert threes.objective_ == pytest.approx(3.0 * plain.objective_, rel=1e-9)


def test_a_cell_of_weight_zero_does_not_count():
    X = ratings()
    rng = np.random.default_rng(0)
    out = ~np.isnan(X) & (rng.random(X.shape) < 0.2)
    spoilt = np.where(out, 1e3, X)
    options = {**OPTIONS, "remove_effects": True, "init": "random", "refine": False}
    clean = NEOCC(3, 3, **options).fit(np.where(out, NAN, X))
    weighted = NEOCC(3, 3, **options).fit(spoilt, cell_weight=(~out).astype(float))
    assert (clean.row_membership_ == weighted.row_membership_).all()
    assert weighted.objective_ == pytest.approx(clean.objective_, rel=1e-9)
    stored = as_sparse(spoilt)
    W = stored.copy()
    W.data = (W.data != 1e3).astype(float)
    again = NEOCC(3, 3, **options).fit(stored, cell_weight=W)
    assert same_fit(again, weighted)


@pytest.mark.parametrize("of_missing", ["a weight", "NaN", "none"])
def test_weights_of_cells_that_store_nan_make_no_difference(of_missing):
    X = ratings()
    rows, columns = np.nonzero(~np.isnan(X) | (np.arange(X.size).reshape(X.shape) % 3 == 0))
    stored = sparse.csr_array((X[rows, columns], (rows, columns)), shape=X.shape)
    gone = np.isnan(stored.data)
    assert gone.any()
    W = stored.copy()
    W.data = np.random.default_rng(0).uniform(0.5, 2.0, W.nnz)
    dense = np.where(np.isnan(X), 1.0, W.toarray())
    if of_missing == "NaN":
        W.data[gone] = np.nan
    elif of_missing == "none":
        W = sparse.csr_array((W.data[~gone], (rows[~gone], columns[~gone])), shape=X.shape)
    model = NEOCC(3, 3, **OPTIONS).fit(X, cell_weight=dense)
    before = W.copy(), stored.copy()
    assert same_fit(NEOCC(3, 3, **OPTIONS).fit(stored, cell_weight=W), model)
    assert np.array_equal(W.data, before[0].data, equal_nan=True)
    assert np.array_equal(stored.data, before[1].data, equal_nan=True)


def test_an_observed_cell_without_a_weight_is_refused_beside_nan():
    X = sparse.csr_array([[1.0, np.nan, 2.0], [3.0, 4.0, 5.0]])
    W = sparse.csr_array([[1.0, 1.0, 0.0], [1.0, 1.0, 1.0]])
    with pytest.raises(ValueError, match="the same cells as X"):
        NEOCC(1, 1, **OPTIONS).fit(X, cell_weight=W)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones((3, 3)), "the shape of X"),
        (-np.ones((60, 40)), "must be 0, or from 1e-100 to 1e.100.*found -1"),
        (np.full((60, 40), NAN), "found nan"),
        # Of such weights squares would be infinite, or 0.
        (np.full((60, 40), 1e300), r"found 1e\+300"),
        (np.full((60, 40), 1e-300), "found 1e-300"),
        (np.zeros((60, 40)), "nothing is left"),
        (sparse.eye_array(60, 40), "the same cells as X"),
        (np.full((60, 40), 1j), "cell_weight must hold real numbers; got complex128"),
        (np.full((60, 40), "a"), r"cell_weight must hold numbers; got array\(\[\['a', 'a'"),
        (sparse.csr_array(np.full((60, 40), 1j)), "cell_weight must hold real numbers"),
    ],
)
def test_weights_that_make_no_sense_are_refused(weights, message, tmp_path):
    X = ratings()
    with pytest.raises(ValueError, match=message):
        NEOCC(3, 3, **OPTIONS).fit(X, cell_weight=weights)
    stored = sparse.csr_array((X[~np.isnan(X)], np.nonzero(~np.isnan(X))), shape=X.shape)
    with pytest.raises(ValueError, match=message):
        NEOCC(3, 3, **OPTIONS).fit(write_store(tmp_path / "X", stored), cell_weight=weights)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"overlap_model": "either", "column_overlap": 0.1}, "columns of one cluster each"),
        ({"overlap_model": "average", "max_memberships": 3}, "max_memberships=3 is too many"),
        ({"objective": "residue"}, "is known for objective='mean' only"),
        ({"missing": "zero", "remove_effects": True}, "remove_effects=True is for observed"),
        ({"shrinkage": -1.0}, "shrinkage"),
        ({"missing": "drop"}, "missing"),
    ],
)
def test_what_makes_no_sense_together_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        NEOCC(3, 3, **{**OPTIONS, **options}).fit(np.nan_to_num(ratings()))


def test_weights_are_for_observed_cells():
    with pytest.raises(ValueError, match=r'cell_weight is for observed cells: give missing="ign'):
        NEOCC(2, 2).fit(np.eye(4), cell_weight=np.ones((4, 4)))


def test_nan_is_refused_unless_it_is_ignored():
    with pytest.raises(ValueError, match=r'contains NaN.*missing="ignore"'):
        NEOCC(3, 3).fit(ratings())
    X = ratings()
    X[3, 4] = np.inf
    with pytest.raises(ValueError, match="contains infinity"):
        NEOCC(3, 3, **OPTIONS).fit(X)


def test_a_checkpoint_is_of_the_same_weights():
    X = ratings()
    fingerprints = []
    for weights in (None, np.ones(X.shape), np.full(X.shape, 2.0)):
        matrix = read_observed(X, weights=weights)
        fingerprints.append(_fingerprint(NEOCC(3, 3, **OPTIONS), matrix))
    assert len({str(each) for each in fingerprints}) == 3


def test_arrays_with_nan_are_allowed_where_they_are_ignored():
    assert get_tags(NEOCC(missing="ignore")).input_tags.allow_nan
    assert not get_tags(NEOCC()).input_tags.allow_nan


# ------------------------------------------------------------------------------- degenerate input


@pytest.mark.parametrize("X", [np.full((4, 3), NAN), sparse.csr_array((4, 3))])
def test_nothing_observed_is_an_error(X):
    with pytest.raises(ValueError, match="has no observed cell"):
        NEOCC(2, 2, **OPTIONS).fit(X)


@pytest.mark.parametrize("remove_effects", [False, True])
@pytest.mark.parametrize("model", observed.MODELS)
def test_one_observed_cell(model, remove_effects):
    X = np.full((4, 3), NAN)
    X[1, 2] = 5.0
    fit = NEOCC(
        2, 2, overlap_model=model, row_overlap=0.5, remove_effects=remove_effects, **OPTIONS
    ).fit(X)
    assert np.isfinite(fit.objective_)
    assert np.isfinite(fit.predict_cells(1, 2))
    assert fit.row_membership_.sum() == 6


@pytest.mark.parametrize("model", observed.MODELS)
def test_rows_of_which_nothing_was_observed_are_left_out_first(model):
    X = ratings()
    X[[4, 17]] = NAN
    X[:, 8] = NAN
    options = {"overlap_model": model, "remove_effects": True, **OPTIONS}
    # They cost nothing in any cluster, others less than that.
    fit = NEOCC(3, 3, row_outliers=2 / 60, row_overlap=-2 / 60, column_outliers=1 / 40, **options)
    fit.set_params(column_overlap=-1 / 40).fit(X)
    assert np.flatnonzero(fit.row_outliers_).tolist() == [4, 17]
    assert np.flatnonzero(fit.column_outliers_).tolist() == [8]
    assert fit.predict_cells(4, 8) == pytest.approx(fit.overall_mean_)
    inside = NEOCC(3, 3, **options).fit(X)
    assert inside.row_membership_[[4, 17]].sum() == 2


def test_more_clusters_than_observed_rows():
    X = np.full((5, 5), NAN)
    X[0, 0], X[1, 1] = 1.0, 2.0
    fit = NEOCC(5, 5, **OPTIONS).fit(X)
    assert fit.row_membership_.sum() == 5
    assert np.isfinite(fit.objective_)


# ------------------------------------------------------------------------------------ model files


@pytest.fixture
def saved(tmp_path):
    X = ratings()
    fit = NEOCC(3, 3, remove_effects=True, overlap_model="share", row_overlap=0.2, **OPTIONS)
    save_model(fit.fit(X), tmp_path / "model.neocc")
    return X, fit, load_model(tmp_path / "model.neocc")


def test_a_model_file_predicts_to_the_bit(saved):
    X, fit, again = saved
    assert (again.predict_membership(X) == fit.predict_membership(X)).all()
    assert (again.transform(X) == fit.transform(X)).all()
    cells = np.arange(60)[:, None], np.arange(40)
    assert (again.predict_cells(*cells) == fit.predict_cells(*cells)).all()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("row_effects_", None),
        ("column_effects_", np.zeros(3)),
        ("overall_mean_", "much"),
        ("missing", "zero"),
    ],
)
def test_a_model_file_that_lacks_effects_is_refused(tmp_path, saved, name, value):
    fit = saved[1]
    if value is None:
        del fit.row_effects_
    else:
        setattr(fit, name, value)
    save_unchecked(fit, tmp_path / "spoilt.neocc")
    with pytest.raises(ModelFileError, match="damaged"):
        load_model(tmp_path / "spoilt.neocc")


def test_none_in_lists_and_nan_in_sparse_data_were_not_observed():
    X = [[5, 5, 1, None], [5, None, 1, 1], [1, 1, 5, 5], [None, 1, 5, 5]]
    array = np.array([[NAN if cell is None else cell for cell in row] for row in X], dtype=float)
    stored = sparse.csr_array(np.nan_to_num(array, nan=7.0))
    stored.data[stored.data == 7.0] = NAN
    fits = [NEOCC(2, 2, missing="ignore", random_state=0).fit(each) for each in (array, X, stored)]
    for fit in fits[1:]:
        np.testing.assert_array_equal(fit.row_membership_, fits[0].row_membership_)
        assert fit.objective_ == fits[0].objective_
    assert np.isnan(stored.data).sum() == 3


@pytest.mark.parametrize("model", ["repeat", "share"])
def test_with_all_cells_observed_a_fit_with_overlap_is_the_plain_one(model):
    X = np.nan_to_num(ratings())
    options = {"overlap_model": model, "row_overlap": 0.3, "column_overlap": 0.2, "n_init": 2}
    options |= {"init": "random", "refine": False, "random_state": 0}
    plain = NEOCC(3, 3, **options).fit(X)
    found = NEOCC(3, 3, missing="ignore", shrinkage=0.0, **options).fit(X)
    np.testing.assert_array_equal(found.row_membership_, plain.row_membership_)
    np.testing.assert_array_equal(found.column_membership_, plain.column_membership_)
    np.testing.assert_allclose(found.block_means_, plain.block_means_, rtol=1e-9)
    assert found.objective_ == pytest.approx(plain.objective_, rel=1e-9)


# ------------------------------------------------------------------------------- range of values


def five_stars(seed=0):
    """Ratings of five stars at most, from rows and columns of strong effects."""
    rng = np.random.default_rng(seed)
    level = 3 + 1.5 * rng.normal(size=(30, 1)) + 1.5 * rng.normal(size=20)
    X = np.clip(np.round(level), 1, 5)
    return np.where(rng.random(X.shape) < 0.5, X, NAN)


def test_predictions_are_clipped_to_the_values_observed():
    X = five_stars()
    fit = NEOCC(2, 2, remove_effects=True, **OPTIONS).fit(X)
    cells = np.arange(30)[:, None], np.arange(20)
    found, plain = fit.predict_cells(*cells), fit.predict_cells(*cells, clip=False)
    assert fit.value_range_.tolist() == [1.0, 5.0]
    assert plain.max() > 5.0
    assert plain.min() < 1.0
    np.testing.assert_array_equal(found, np.clip(plain, 1.0, 5.0))
    rows, columns = np.nonzero(~np.isnan(X))
    pairs = np.column_stack([rows, columns])
    estimator = clone(fit).set_params(random_state=0)
    mean = CellPredictor(estimator, n_models=1, random_state=0).fit(pairs, X[rows, columns])
    assert mean.value_range_ == (1.0, 5.0)
    every = np.argwhere(np.ones(X.shape))
    assert mean.predict(every).min() == found.min() == 1.0
    assert mean.predict(every).max() == found.max() == 5.0


def test_the_range_is_that_of_the_data_wherever_they_are(set_pass_options, tmp_path):
    set_pass_options(**MANY_BLOCKS)
    X = five_stars()
    X[3, 4], X[5, 6] = 40.0, -7.0
    W = np.random.default_rng(0).uniform(0.5, 2.0, X.shape)
    store = write_store(tmp_path / "store", as_sparse(X), rows_per_block=7)
    for data in (X, as_sparse(X).astype(np.float32), store):
        fit = NEOCC(2, 2, **OPTIONS).fit(data)
        assert fit.value_range_.tolist() == [-7.0, 40.0]
    # Values are kept as given, whatever they weigh.
    X[3, 4], X[5, 6] = 40.1, -7.3
    store = write_store(tmp_path / "other", as_sparse(X), rows_per_block=7)
    for seed, data in product(range(5), (X, store)):
        W = np.random.default_rng(seed).uniform(0.5, 2.0, X.shape)
        weights = {"row_weight": W[:, 0], "column_weight": W[0]}
        for given in ({"cell_weight": W}, weights, {"cell_weight": W} | weights):
            fit = NEOCC(2, 2, max_iter=1, **OPTIONS).fit(data, **given)
            assert fit.value_range_.tolist() == [-7.3, 40.1]
    W[3, 4] = 0.0  # what weighs nothing is not there
    assert NEOCC(2, 2, **OPTIONS).fit(X, cell_weight=W).value_range_[1] == 5.0


def test_a_model_file_without_a_range_clips_nothing(tmp_path):
    fit = NEOCC(2, 2, remove_effects=True, **OPTIONS).fit(five_stars())
    save_model(fit, tmp_path / "new.neocc")
    again = load_model(tmp_path / "new.neocc")
    cells = np.arange(30)[:, None], np.arange(20)
    assert (again.predict_cells(*cells) == fit.predict_cells(*cells)).all()
    plain = fit.predict_cells(*cells, clip=False)
    del fit.value_range_
    save_model(fit, tmp_path / "old.neocc")
    assert (load_model(tmp_path / "old.neocc").predict_cells(*cells) == plain).all()
    fit.value_range_ = np.zeros(3)
    save_unchecked(fit, tmp_path / "spoilt.neocc")
    with pytest.raises(ModelFileError, match="damaged"):
        load_model(tmp_path / "spoilt.neocc")


# ------------------------------------------------------------------------------ cost of outliers


@pytest.mark.parametrize(
    ("more", "cost"),
    [
        # Outliers are asked for, so they have a cost, even if nobody is left out in the end.
        ({"row_overlap": 0.2, "row_outliers": 0.001}, "background"),
        ({"row_overlap": 0.2}, "zero"),
        ({"row_overlap": 0.2, "overlap_model": "share"}, "background"),
        ({"row_outliers": 0.1, "outlier_cost": "zero"}, "zero"),
        ({"missing": "zero", "row_outliers": 0.1}, "zero"),
    ],
)
def test_a_fit_tells_what_being_left_out_costs(tmp_path, more, cost):
    X = five_stars()
    X = np.nan_to_num(X) if "missing" in more else X
    fit = NEOCC(2, 2, **{**OPTIONS, **more}).fit(X)
    assert fit.outlier_cost_ == cost
    save_model(fit, tmp_path / "model.neocc")
    assert load_model(tmp_path / "model.neocc").outlier_cost_ == cost
    names = ("overlap_model", "missing", "shrinkage")
    given = {name: fit.get_params()[name] for name in names}
    members = fit.row_membership_, fit.column_membership_
    found = objective_value(X, *members, outlier_cost=fit.outlier_cost_, **given)
    assert found == pytest.approx(fit.objective_, rel=1e-9)
    if more.get("row_outliers") == 0.001:
        assert not fit.row_outliers_.any()
        assert objective_value(X, *members, **given) != pytest.approx(fit.objective_, rel=1e-3)
