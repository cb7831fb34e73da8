"""Every transformation against its literal formula, dense and sparse."""

from __future__ import annotations

import numpy as np
import pytest
from instances import KINDS, make_data
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from neocc.preprocessing import (
    Binormalizer,
    Centerer,
    Log1p,
    Log2,
    NormScaler,
    Standardizer,
    Tfidf,
    ZeroDropper,
    binarize,
    binormalize,
    center,
    log1p,
    scale_norms,
    standardize,
    tfidf,
)

FORMATS = (np.asarray, sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.coo_array)
each_format = pytest.mark.parametrize("form", FORMATS)
each_axis = pytest.mark.parametrize("axis", ["rows", "columns"])


def example(seed=0, shape=(12, 9), density=0.6):
    """Draw integers with zeros, one row and one column of zeros."""
    rng = np.random.default_rng(seed)
    X = rng.integers(1, 9, size=shape) * (rng.random(shape) < density)
    X[3] = 0
    X[:, 4] = 0
    return X.astype(float)


def as_dense(X):
    return X.toarray() if sparse.issparse(X) else X


def assert_same(found, literal, form=np.asarray):
    assert sparse.issparse(found) == (form is not np.asarray)
    np.testing.assert_allclose(as_dense(found), literal, rtol=1e-9, atol=1e-12)


# ------------------------------------------------------------------------------------ centring


@pytest.mark.parametrize("kind", KINDS)
def test_centring(kind):
    X = make_data(kind, np.random.default_rng(0), 8, 6) + 5.0
    rows, columns = X.mean(axis=1, keepdims=True), X.mean(axis=0)
    atol = 1e-12 * np.abs(X).max()
    np.testing.assert_allclose(center(X, "rows"), X - rows, atol=atol)
    np.testing.assert_allclose(center(X), X - columns, atol=atol)
    np.testing.assert_allclose(center(X, "both"), X - rows - columns + X.mean(), atol=atol)


def test_new_rows_are_centred_with_the_columns_of_the_fit():
    X, new = example(0), example(1, (5, 9))
    fitted = {axis: Centerer(axis).fit(X) for axis in ("rows", "columns", "both")}
    own = new.mean(axis=1, keepdims=True)
    columns = X.mean(axis=0)
    np.testing.assert_allclose(fitted["columns"].transform(new), new - columns)
    np.testing.assert_allclose(fitted["rows"].transform(new), new - own)
    np.testing.assert_allclose(fitted["both"].transform(new), new - own - columns + X.mean())
    np.testing.assert_allclose(fitted["columns"].column_means_, columns)
    assert fitted["rows"].column_means_ is None


@pytest.mark.parametrize("axis", ["rows", "columns", "both"])
def test_centring_refuses_sparse_data_with_its_size(axis):
    with pytest.raises(ValueError, match=r"12 x 9 values, 0\.0 MB.*NormScaler.*toarray"):
        center(sparse.csr_array(example()), axis)
    fitted = Centerer(axis).fit(example())
    with pytest.raises(ValueError, match="zeros of a sparse matrix"):
        fitted.transform(sparse.csr_array(example()))


# -------------------------------------------------------------------------------- standardising


def literal_standardized(X, with_mean=True):
    """Standardise columns; constant ones have no scale."""
    spread = X.std(axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    return (X - X.mean(axis=0) * with_mean) / scale


@each_axis
@pytest.mark.parametrize("with_mean", [True, False])
def test_standardising(axis, with_mean):
    X = example()
    X[:, 2], X[5] = 7.0, 7.0
    literal = (
        literal_standardized(X, with_mean)
        if axis == "columns"
        else literal_standardized(X.T, with_mean).T
    )
    found = standardize(X, axis, with_mean=with_mean)
    np.testing.assert_allclose(found, literal, atol=1e-12)
    assert found.flags.c_contiguous


@each_axis
@each_format
def test_sparse_data_are_standardised_without_means_only(axis, form):
    X = example()
    literal = (
        literal_standardized(X, False) if axis == "columns" else literal_standardized(X.T, False).T
    )
    assert_same(standardize(form(X), axis, with_mean=False), literal, form)
    if form is not np.asarray:
        with pytest.raises(ValueError, match="Pass with_mean=False to scale only"):
            standardize(form(X), axis)


def test_new_rows_are_standardised_with_the_columns_of_the_fit():
    X, new = example(0), example(1, (5, 9))
    model = Standardizer().fit(X)
    scale = np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    np.testing.assert_allclose(model.transform(new), (new - X.mean(axis=0)) / scale)
    np.testing.assert_allclose(model.column_scales_, scale)
    by_rows = Standardizer("rows").fit(X).transform(new)
    np.testing.assert_allclose(by_rows, literal_standardized(new.T).T, atol=1e-12)


# ---------------------------------------------------------------------------------------- norms


@each_axis
@each_format
@pytest.mark.parametrize("norm", ["l1", "l2", "max"])
def test_norm_scaling(axis, norm, form):
    X = example() * np.random.default_rng(5).choice([-1, 1], size=(12, 9))
    order = {"l1": 1, "l2": 2, "max": np.inf}[norm]
    along = 1 if axis == "rows" else 0
    norms = np.linalg.norm(X, ord=order, axis=along, keepdims=True)
    literal = X / np.where(norms > 0, norms, 1.0)
    assert_same(scale_norms(form(X), axis, norm), literal, form)
    model = NormScaler(axis, norm).fit(form(X))
    if axis == "columns":
        np.testing.assert_allclose(model.column_norms_, np.where(norms > 0, norms, 1.0).ravel())
    else:
        assert model.column_norms_ is None


def test_new_rows_are_scaled_with_the_columns_of_the_fit():
    X, new = example(0), example(1, (5, 9))
    norms = np.linalg.norm(X, axis=0)
    expected = new / np.where(norms > 0, norms, 1.0)
    np.testing.assert_allclose(NormScaler("columns").fit(X).transform(new), expected)


@pytest.mark.parametrize("scale", [1e-200, 1e130])
def test_norms_of_extreme_values_are_exact(scale):
    X = example() * scale
    for form in (np.asarray, sparse.csr_array):
        found = as_dense(NormScaler("columns").fit_transform(form(X)))
        np.testing.assert_allclose(found, scale_norms(example(), "columns"), rtol=1e-12)


# ------------------------------------------------------------------------------- binormalisation


def mean_squares(X, axis):
    """Mean squares of rows or columns over those that hold anything."""
    filled = X.any(axis=1 - axis)
    return np.square(X).sum(axis=axis)[X.any(axis=axis)] / np.count_nonzero(filled)


@each_format
def test_rows_and_columns_have_equal_norms(form):
    X = example(density=0.8)
    found = binormalize(form(X))
    assert sparse.issparse(found) == (form is not np.asarray)
    found = as_dense(found)
    np.testing.assert_allclose(mean_squares(found, 1), 1.0, rtol=1e-9)
    np.testing.assert_allclose(mean_squares(found, 0), 1.0, rtol=1e-6)
    np.testing.assert_array_equal(found == 0, X == 0)
    assert not found[3].any()
    assert not found[:, 4].any()
    # Only rows and columns were scaled: all two by two minors of ratios stay as they were.
    filled = np.ix_(np.delete(np.arange(12), 3), np.delete(np.arange(9), 4))
    with np.errstate(invalid="ignore", divide="ignore"):
        factors = np.log(found[filled] / X[filled])
    known = np.isfinite(factors)
    rows, columns = np.nonzero(known)
    design = np.hstack([np.eye(11)[rows], np.eye(8)[columns]])
    fit = design @ np.linalg.lstsq(design, factors[known], rcond=None)[0]
    np.testing.assert_allclose(fit, factors[known], atol=1e-9)


@pytest.mark.parametrize("kind", ["gaussian", "duplicated", "constant", "one_row", "one_column"])
def test_dense_data_can_always_be_binormalised(kind):
    for seed in range(5):
        X = make_data(kind, np.random.default_rng(seed), 7, 5)
        found = binormalize(X)
        if X.any():
            np.testing.assert_allclose(mean_squares(found, 1), 1.0, rtol=1e-9)
            np.testing.assert_allclose(mean_squares(found, 0), 1.0, rtol=1e-5)


def test_signs_and_extreme_scales_do_not_matter():
    X = example(density=0.8)
    plain = binormalize(X)
    np.testing.assert_allclose(binormalize(-1e130 * X), -plain, rtol=1e-9)
    np.testing.assert_allclose(binormalize(1e-130 * X), plain, rtol=1e-9)
    weights = 10.0 ** np.random.default_rng(0).integers(-3, 4, size=12)
    np.testing.assert_allclose(binormalize(X * weights[:, None], tol=1e-10), plain, rtol=1e-4)


def test_balanced_data_need_no_turns():
    X = np.ones((4, 6))
    model = Binormalizer().fit(X)
    assert model.n_iter_ == 1
    np.testing.assert_allclose(model.transform(X), X)


def test_what_cannot_be_binormalised_gives_a_warning_and_the_best_so_far():
    # Two rows have their only entry in the same column: its norm cannot be that of the others.
    X = np.array([[1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [1.0, 2.0, 3.0]])
    for form in (np.asarray, sparse.csr_array):
        with pytest.warns(ConvergenceWarning, match=r"differ by up to .* after 300 turns"):
            found = as_dense(binormalize(form(X), max_iter=300))
        assert np.isfinite(found).all()
        np.testing.assert_allclose(mean_squares(found, 1), 1.0, rtol=1e-6)


def test_new_rows_get_the_columns_of_the_fit():
    X, new = example(density=0.8), example(1, (5, 9))
    model = Binormalizer().fit(X)
    scaled = new * model.column_scales_
    sums = np.square(scaled).sum(axis=1, keepdims=True)
    expected = scaled * np.sqrt(8 / np.where(sums > 0, sums, np.inf))
    np.testing.assert_allclose(model.transform(new), expected)
    np.testing.assert_allclose(model.transform(X), binormalize(X))


# --------------------------------------------------------------------------------------- values


@each_format
def test_logarithms(form):
    X = example()
    assert_same(log1p(form(X)), np.log(1.0 + X), form)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_logarithms_of_negative_values_are_refused_with_the_place(form):
    X = example()
    X[7, 2] = -2.0
    with pytest.raises(ValueError, match=r"Negative values in data: -2 at row 7, column 2"):
        log1p(form(X))
    with pytest.raises(ValueError, match="at row 7, column 2"):
        Log1p().fit(form(example())).transform(form(X))


@each_format
def test_tf_idf(form):
    X = example()
    weights = np.log((1 + 12) / (1 + (X > 0).sum(axis=0))) + 1
    literal = X * weights
    assert_same(tfidf(form(X), norm=None), literal, form)
    norms = np.linalg.norm(literal, axis=1, keepdims=True)
    assert_same(tfidf(form(X)), literal / np.where(norms > 0, norms, 1.0), form)
    np.testing.assert_allclose(Tfidf().fit(form(X)).idf_, weights)


@each_format
def test_binarising(form):
    X = example()
    assert_same(binarize(form(X)), X > 0, form)
    assert_same(binarize(form(X), threshold=4), X > 4, form)


# ---------------------------------------------------------------------------------------- input

ALL = (
    Centerer("both"),
    Standardizer("rows"),
    Standardizer(),
    NormScaler(),
    NormScaler("columns"),
    Binormalizer(),
    Log1p(),
    Tfidf(),
)
STAY_SPARSE = (
    Standardizer("rows", with_mean=False),
    Standardizer(with_mean=False),
    NormScaler(),
    NormScaler("columns"),
    NormScaler("columns", "max"),
    Binormalizer(),
    Log1p(),
    Tfidf(),
)


@pytest.mark.parametrize("model", STAY_SPARSE, ids=repr)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_input_is_not_changed_and_float32_is_kept(model, dtype):
    X = example(density=0.8).astype(dtype)
    for form in (np.asarray, sparse.csr_array):
        given = form(X.copy())
        found = model.fit_transform(given)
        np.testing.assert_array_equal(as_dense(given), X)
        assert found.dtype == (np.float32 if dtype == np.float32 else np.float64)


@pytest.mark.parametrize("model", STAY_SPARSE, ids=repr)
def test_sparse_data_are_never_made_dense(model, monkeypatch):
    X = sparse.csr_array(example(density=0.8))

    def refuse(*_, **__):
        raise AssertionError("made dense")

    monkeypatch.setattr(sparse.csr_array, "toarray", refuse)
    monkeypatch.setattr(sparse.csc_array, "toarray", refuse)
    monkeypatch.setattr(sparse.csr_array, "todense", refuse)
    assert model.fit_transform(X).format == "csr"


@pytest.mark.parametrize("model", STAY_SPARSE[:-1], ids=repr)
def test_duplicate_entries_are_added_up_first(model):
    X = example(density=0.8)
    stored = sparse.csr_array(X)
    twice = sparse.csr_array(
        (
            np.repeat(stored.data / 2, 2),
            np.repeat(stored.indices, 2),
            2 * stored.indptr,
        ),
        shape=X.shape,
    )
    assert not twice.has_canonical_format
    np.testing.assert_allclose(
        as_dense(model.fit_transform(twice)), as_dense(model.fit_transform(stored)), rtol=1e-12
    )
    assert twice.nnz == 2 * stored.nnz


@pytest.mark.parametrize("model", ALL[:-1], ids=repr)
def test_cells_that_are_not_finite_are_named(model):
    X = example()
    X[6, 1] = np.inf
    with pytest.raises(ValueError, match=r"infinity.*row 6, column 1"):
        model.fit(X)
    X[6, 1] = np.nan
    if not model.keeps_missing:
        with pytest.raises(ValueError, match=r"NaN.*row 6, column 1"):
            model.fit(X)


@pytest.mark.parametrize("axis", ["rows", "columns", "both"])
def test_missing_cells_stay_and_do_not_count(axis):
    X = np.array([[1.0, np.nan, 3.0], [4.0, 5.0, np.nan], [np.nan, 2.0, 8.0]])
    means = [np.nanmean(X, axis=1, keepdims=True)] if axis != "columns" else []
    literal = X - means[0] if means else X.copy()
    if axis != "rows":
        literal = literal - np.nanmean(literal, axis=0)
    np.testing.assert_allclose(Centerer(axis=axis).fit_transform(X), literal)
    if axis != "both":
        at = 1 if axis == "rows" else 0
        spread = np.nanstd(X, axis=at, keepdims=True)
        literal = (X - np.nanmean(X, axis=at, keepdims=True)) / spread
        np.testing.assert_allclose(Standardizer(axis=axis).fit_transform(X), literal)
    np.testing.assert_allclose(Log1p().fit_transform(X), np.log1p(X))
    np.testing.assert_allclose(Log2().fit_transform(X), np.log2(X))
    with pytest.raises(ValueError, match="Negative values in data: -1 at row 0"):
        Log2().fit(np.array([[-1.0, np.nan]]))


def test_rows_and_columns_without_a_value_have_nothing_to_subtract(recwarn):
    X = np.array([[1.0, np.nan, 3.0], [5.0, np.nan, 4.0], [np.nan, np.nan, np.nan]])
    new = np.array([[1.0, 2.0, 3.0], [np.nan, np.nan, np.nan]])
    for axis in ("rows", "columns", "both"):
        model = Centerer(axis).fit(X)
        found = model.transform(new)
        assert np.array_equal(np.isnan(found), np.isnan(new))
        assert np.array_equal(np.isnan(model.transform(X)), np.isnan(X))
    assert model.column_means_[1] == 0
    for axis in ("rows", "columns"):
        model = Standardizer(axis).fit(X)
        found = model.transform(new)
        assert np.array_equal(np.isnan(found), np.isnan(new))
        assert np.array_equal(np.isnan(model.transform(X)), np.isnan(X))
    model = Standardizer().fit(X)
    assert (model.column_means_[1], model.column_scales_[1]) == (0, 1)
    assert model.transform(new)[0, 1] == 2
    assert not recwarn.list


@pytest.mark.parametrize("model", ALL, ids=repr)
def test_data_frames_keep_their_names(model):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(example(density=0.8), columns=[f"c{i}" for i in range(9)])
    found = model.set_output(transform="pandas").fit_transform(frame)
    assert list(found.columns) == list(frame.columns)
    assert list(model.get_feature_names_out()) == list(frame.columns)
    model.set_output(transform="default")
    np.testing.assert_allclose(found.to_numpy(), model.fit_transform(frame))


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (Centerer("double"), "axis"),
        (Standardizer("both"), "axis"),
        (NormScaler(norm="l3"), "norm"),
        (Binormalizer(max_iter=0), "max_iter"),
        (Binormalizer(tol=-1.0), "tol"),
    ],
)
def test_bad_parameters_are_refused_by_name(model, name):
    with pytest.raises(ValueError, match=f"'{name}' parameter of {type(model).__name__}"):
        model.fit(example())


@pytest.mark.parametrize("transform", [Tfidf, Log1p, NormScaler, Binormalizer])
def test_sparse_arrays_stay_arrays_and_matrices_matrices(transform):
    for form in (sparse.csr_array, sparse.csr_matrix):
        assert type(transform().fit_transform(form(example()))) is form


# -------------------------------------------------------------------------------- cell by cell


def test_logarithms_of_intensities_have_a_floor():
    X = example() * 3.0
    smallest = min(x for x in X.ravel() if x > 0)
    literal = [[np.log2(x if x > smallest else smallest) for x in row] for row in X]
    fitted = Log2().fit(X)
    np.testing.assert_allclose(fitted.transform(X), literal)
    assert fitted.floor_ == smallest
    np.testing.assert_allclose(fitted.transform(X / 1e6), np.log2(smallest))
    with pytest.raises(ValueError, match=r"-2 at row 1, column 0"):
        fitted.transform(np.vstack([X[0], -2 * np.ones(9)]))
    with pytest.raises(ValueError, match="Log1p"):
        fitted.transform(sparse.csr_array(X))


@each_format
def test_zeros_are_dropped(form):
    X = example()
    stored = form(X)
    if sparse.issparse(stored) and stored.format == "csr":
        stored.data[0] = 0.0
        X = stored.toarray()
    found = ZeroDropper().fit_transform(stored)
    assert found.nnz == np.count_nonzero(X)
    assert np.array_equal(found.toarray(), X)
    if sparse.issparse(stored) and stored.format == "csr":
        assert stored.nnz > found.nnz  # what was passed is not changed
