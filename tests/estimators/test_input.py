"""Every container and type gives the fit of the dense float64 matrix.

And none is changed or copied.
"""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from models import NAMES, column_members, make_model, row_members
from scipy import sparse

from neocc import NEOCC, objective_value
from neocc.engines.validation import read_matrix
from neocc.io import Matrix, open_store, write_store
from neocc.io import read_matrix as read_file
from neocc.preprocessing import scale_norms

# Overlap of small counts does make the same cluster twice.
pytestmark = pytest.mark.filterwarnings("ignore::neocc.RedundancyWarning")

FORMATS = ("csr", "csc", "coo", "lil", "dia", "dok", "bsr")
TYPES = ("float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool")


def make_counts(seed=0, n=36, m=28, dtype="float64"):
    """Draw small counts in 3 x 3 blocks of different density, much of it zero."""
    rng = np.random.default_rng(seed)
    rates = np.array([[0.9, 0.1, 0.2], [0.1, 0.8, 0.05], [0.3, 0.05, 0.9]])
    present = rng.random((n, m)) < rates[np.arange(n) % 3][:, np.arange(m) % 3]
    return np.where(present, rng.integers(1, 100, size=(n, m)), 0).astype(dtype)


def assert_same_fit(found, expected):
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-9)
    np.testing.assert_array_equal(row_members(found), row_members(expected))
    np.testing.assert_array_equal(column_members(found), column_members(expected))


# ------------------------------------------------------------------------ formats and types


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", NAMES)
def test_sparse_formats_give_the_dense_fit(name, dtype):
    X = make_counts(dtype=dtype)
    expected = make_model(name, n_init=1).fit(X.astype(np.float64))
    assert_same_fit(make_model(name, n_init=1).fit(X), expected)
    at = TYPES.index(dtype) + NAMES.index(name)  # every format with every type and every model
    for kind in FORMATS[at % 2 :: 2]:
        given = (sparse.csr_array, sparse.csr_matrix)[at // 2 % 2](X).asformat(kind)
        assert given.dtype == dtype
        assert_same_fit(make_model(name, n_init=1).fit(given), expected)


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("objective", ["mean", "residue"])
def test_objective_value_of_sparse_formats(kind, objective):
    X = make_counts()
    rng = np.random.default_rng(0)
    U, V = rng.random((36, 3)) < 0.5, rng.random((28, 2)) < 0.5
    expected = objective_value(X, U, V, objective)
    found = objective_value(sparse.csr_array(X).asformat(kind), U, V, objective)
    assert found == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("kernel", ["numpy", "numba"])
@pytest.mark.parametrize("index_type", ["int32", "int64"])
@pytest.mark.parametrize("name", NAMES)
def test_kernels_and_index_types_give_the_dense_fit(name, index_type, kernel):
    X = make_counts()
    given = sparse.csr_array(X)
    given.indices, given.indptr = given.indices.astype(index_type), given.indptr.astype(index_type)
    expected = make_model(name).fit(X)
    assert_same_fit(make_model(name, kernel=kernel).fit(given), expected)
    assert_same_fit(make_model(name, kernel=kernel).fit(X), expected)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "lay_out",
    [
        np.asfortranarray,
        lambda X: np.repeat(X, 2, axis=0)[::2],
        lambda X: X[::-1, ::-1][::-1, ::-1],
        lambda X: X.astype(">f8"),
        lambda X: X.tolist(),
        lambda X: X.astype(object),
    ],
    ids=["Fortran", "strided", "reversed", "big-endian", "list", "object"],
)
def test_memory_layouts_give_the_same_fit(name, lay_out):
    X = make_counts()
    assert_same_fit(make_model(name).fit(lay_out(X)), make_model(name).fit(X))


def messy_csr(X, rng):
    """The same matrix with every entry split in two, in shuffled order, and some stored zeros."""
    coo = sparse.coo_array(X)
    half = np.floor(coo.data / 2)
    zero_rows, zero_columns = np.nonzero(X == 0)
    order = rng.permutation(2 * coo.nnz + 20)
    rows = np.concatenate([coo.row, coo.row, zero_rows[:20]])[order]
    columns = np.concatenate([coo.col, coo.col, zero_columns[:20]])[order]
    values = np.concatenate([half, coo.data - half, np.zeros(20)])[order]
    by_row = np.argsort(rows, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(X)))])
    return sparse.csr_array((values[by_row], columns[by_row], indptr), shape=X.shape)


@pytest.mark.parametrize("name", NAMES)
def test_duplicate_and_unsorted_entries_are_summed_without_touching_the_input(name):
    X = make_counts()
    given = messy_csr(X, np.random.default_rng(0))
    assert given.nnz > np.count_nonzero(X)
    before = given.data.copy(), given.indices.copy(), given.indptr.copy()
    model = make_model(name).fit(given)
    assert_same_fit(model, make_model(name).fit(X))
    model.predict(given)
    for array, copy in zip((given.data, given.indices, given.indptr), before, strict=True):
        np.testing.assert_array_equal(array, copy)


# ----------------------------------------------------------------- neither changed nor copied


@pytest.mark.parametrize("name", NAMES)
def test_input_is_not_changed(name):
    dense = make_counts().astype(np.float32) + 1000
    dense.flags.writeable = False
    make_model(name).fit(dense).transform(dense)
    given = sparse.csr_array(make_counts())
    for array in (given.data, given.indices, given.indptr):
        array.flags.writeable = False
    make_model(name).fit(given).transform(given)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_csr_and_dense_floats_are_used_where_they_lie(dtype):
    X = make_counts(dtype=dtype)
    given = sparse.csr_array(X)
    matrix = read_matrix(None, given, reset=True)
    assert np.shares_memory(matrix.values.data, given.data)
    assert np.shares_memory(matrix.values.indices, given.indices)
    assert np.shares_memory(matrix.values.indptr, given.indptr)
    assert np.shares_memory(read_matrix(None, X, reset=True).values, X)


@pytest.mark.parametrize(
    ("name", "draw", "most"),
    [
        ("NEOCC mean overlap", "standard_normal", 0.6),
        ("NEOCC residue overlap", "standard_normal", 0.6),
        ("NEOKMeans overlap", "standard_normal", 0.6),
        # Uniform ones are multiples of 2^-24: their exact sums are updated from one copy.
        ("NEOCC mean overlap", "random", 1.5),
    ],
)
def test_a_sparse_fit_needs_little_memory_beyond_the_input(name, draw, most):
    rng = np.random.default_rng(0)
    n, m, per_row = 20_000, 2_000, 100
    indices = np.sort(
        rng.integers(0, m // per_row, size=(n, per_row)) + np.arange(0, m, m // per_row)
    )
    X = sparse.csr_array(
        (
            getattr(rng, draw)(n * per_row, dtype=np.float32),
            indices.ravel().astype(np.int32),
            np.arange(0, n * per_row + 1, per_row, dtype=np.int32),
        ),
        shape=(n, m),
    )
    size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    model = make_model(name, kernel="numba", n_init=1, max_iter=2, n_jobs=2)
    model.fit(X)  # compile, import
    tracemalloc.start()
    try:
        model.fit(X)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < most * size


@pytest.mark.parametrize("name", ["NEOCC mean", "NEOCC residue", "NEOKMeans"])
def test_a_dense_float32_fit_makes_no_float64_copy(name):
    X = np.random.default_rng(0).random((200_000, 50), dtype=np.float32) + np.float32(100)
    model = make_model(name, n_init=1, max_iter=2, n_jobs=1).fit(X[:200])
    tracemalloc.start()
    try:
        model.fit(X)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1.5 * X.nbytes  # a float64 copy alone is twice as large


# ------------------------------------------------------------------------------------ frames


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("name", NAMES)
def test_frames_keep_their_names(library, name):
    frames = pytest.importorskip(library)
    X = make_counts()
    names = [f"event {t}" for t in range(X.shape[1])]
    frame = frames.DataFrame(dict(zip(names, X.T, strict=True)))
    model = make_model(name).fit(frame)
    assert list(model.feature_names_in_) == names
    assert_same_fit(model, make_model(name).fit(X))
    np.testing.assert_array_equal(model.predict(frame), model.predict(frame))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[names[::-1]])


def test_arrays_leave_no_names():
    assert not hasattr(make_model("NEOCC mean").fit(make_counts()), "feature_names_in_")


@pytest.mark.parametrize("name", NAMES)
def test_distances_have_names(name):
    model = make_model(name).fit(make_counts())
    prefix = type(model).__name__.lower()
    assert list(model.get_feature_names_out()) == [f"{prefix}{q}" for q in range(3)]
    pytest.importorskip("pandas")
    frame = model.set_output(transform="pandas").transform(make_counts())
    assert list(frame.columns) == [f"{prefix}{q}" for q in range(3)]


def _twice(form, dtype):
    """Two cells of 300 entries, the second negative if it can be, and three cells of one."""
    n, sign = 300, 1 if np.dtype(dtype).kind == "u" else -1
    size = 1 if np.dtype(dtype).itemsize == 1 else 250
    rows = np.r_[np.zeros(2 * n, int), 1, 2, 3]
    columns = np.r_[np.zeros(n, int), np.ones(n, int), 1, 2, 3]
    values = np.r_[np.full(n, size), np.full(n, sign * size), 1, 1, 1].astype(dtype)
    X = np.zeros((4, 4))
    np.add.at(X, (rows, columns), values.astype(float))
    if form == "coo":
        return sparse.coo_matrix((values, (rows, columns)), shape=X.shape), X
    made = sparse.csr_array if form == "csr" else sparse.csc_array
    lines, others = (rows, columns) if form == "csr" else (columns, rows)
    order = np.argsort(lines, kind="stable")
    indptr = np.r_[0, np.cumsum(np.bincount(lines, minlength=4))]
    return made((values[order], others[order], indptr), shape=X.shape), X


@pytest.mark.parametrize("form", ["coo", "csr", "csc"])
@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16"])
def test_small_integers_of_one_cell_do_not_wrap_around(form, dtype, tmp_path):
    twice, X = _twice(form, dtype)
    given = twice.copy()
    assert X.max() > np.iinfo(dtype).max
    options = {"random_state": 0, "n_init": 1, "refine": False}
    for more in ({}, {"missing": "ignore"}):
        found, wanted = (
            NEOCC(2, 2, **options, **more).fit(each) for each in (twice, sparse.csr_array(X))
        )
        assert np.array_equal(found.block_means_, wanted.block_means_)
        assert found.objective_ == pytest.approx(wanted.objective_)
    assert np.array_equal(scale_norms(twice, norm="max").toarray(), scale_norms(X, norm="max"))
    assert np.array_equal(Matrix(twice).data.toarray(), X)
    write_store(tmp_path / "store", twice)
    assert np.array_equal(open_store(tmp_path / "store").load(0).toarray(), X)
    sparse.save_npz(tmp_path / "m.npz", twice)
    assert np.array_equal(read_file(tmp_path / "m.npz").data.toarray(), X)
    assert twice.dtype == given.dtype
    assert np.array_equal(twice.data, given.data)
