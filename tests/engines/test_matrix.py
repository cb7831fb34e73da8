"""Blocks of rows: every row once, centring that changes nothing but accuracy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from neocc.engines import DenseMatrix, SparseMatrix


def uneven_csr():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(57, 40)) * (rng.random((57, 40)) < rng.random((57, 1)) ** 3)
    X[20:30] = 0.0
    X[33] = 1.0
    return sparse.csr_array(X)


@pytest.fixture(params=["dense", "sparse", "empty"])
def matrix(request):
    X = uneven_csr()
    if request.param == "dense":
        return DenseMatrix(X.toarray())
    return SparseMatrix.from_scipy(X if request.param == "sparse" else sparse.csr_array((57, 40)))


@pytest.mark.parametrize("entries", [1, 10, 100, 1000, 10**9])
def test_partition_covers_every_row_once(matrix, entries):
    parts = matrix.partition(entries)
    rows = [row for start, stop in parts for row in range(start, stop)]
    assert rows == list(range(57))
    assert all(stop > start for start, stop in parts)
    if entries == 10**9:
        assert len(parts) == 1


def test_partition_of_many_entries_is_about_even():
    X = uneven_csr()
    matrix = SparseMatrix.from_scipy(X)
    sizes = [X[start:stop].nnz for start, stop in matrix.partition(300)]
    assert len(sizes) > 2
    assert max(sizes) < 600
    dense = DenseMatrix(X.toarray())
    rows = [stop - start for start, stop in dense.partition(400)]
    assert max(rows) - min(rows) <= 1


def test_blocks_put_together_are_the_matrix(matrix):
    blocks = [matrix.block(*rows) for rows in matrix.partition(100)]
    blocks = [b.matrix().toarray() if hasattr(b, "indptr") else b for b in blocks]
    assert len(blocks) > 1
    whole = matrix.values if isinstance(matrix, DenseMatrix) else matrix.values.toarray()
    np.testing.assert_array_equal(np.concatenate(blocks), whole)


def test_some_rows(matrix):
    rows = np.array([40, 3, 3, 21])
    whole = matrix.values if isinstance(matrix, DenseMatrix) else matrix.values.toarray()
    taken = matrix.take(rows).block(0, 4)
    found = taken.matrix().toarray() if hasattr(taken, "indptr") else taken
    np.testing.assert_array_equal(found, whole[rows])
    assert matrix.take(rows).n_stored == (found.size if found is taken else np.count_nonzero(found))


def test_sparse_blocks_share_the_memory_of_the_matrix():
    X = uneven_csr()
    block = SparseMatrix.from_scipy(X).block(10, 20)
    assert np.shares_memory(block.data, X.data)
    assert np.shares_memory(block.indices, X.indices)
    assert np.shares_memory(block.indptr, X.indptr)


def test_sparse_data_are_never_centred():
    matrix = SparseMatrix.from_scipy(uneven_csr())
    for centring in ("none", "global", "rows", "columns", "double"):
        assert matrix.centred(centring) is matrix


# ---------------------------------------------------------------------------------- centring


def offsets(kind, rng, n, m):
    rows, columns = rng.integers(1, 2**30, size=(n, 1)), rng.integers(1, 2**30, size=m)
    return {"none": 0, "global": 10**9, "rows": rows, "columns": columns, "double": rows + columns}[
        kind
    ]


@pytest.mark.parametrize("centring", ["global", "rows", "columns", "double"])
@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (9, 1), (50, 40), (700, 90)])
def test_centring_removes_large_offsets_exactly(centring, shape):
    rng = np.random.default_rng(0)
    Z = rng.integers(-1024, 1024, size=shape) / 1024  # sums with integers below 2**40 are exact
    X = Z + offsets(centring, rng, *shape)
    centred = DenseMatrix(X).centred(centring)
    values = centred.block(0, len(X))
    # Small numbers are left, within a few times the spread of the data ...
    assert np.abs(values).max() < 10
    # ... and they differ from the data by nothing but row and column effects.
    effects = X - values
    of_rows = centred.row_effects if centred.row_effects is not None else np.zeros(len(X))
    of_columns = centred.column_effects if centred.column_effects is not None else 0.0
    np.testing.assert_array_equal(effects, of_rows[:, None] + of_columns + np.zeros(shape))


@pytest.mark.parametrize("centring", ["global", "rows", "columns", "double"])
def test_centring_subtracts_only_what_the_objective_may_lose(centring):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 50)) + 1e6
    X += 1e6 * rng.random((60, 1)) + 1e6 * rng.random(50)
    centred = DenseMatrix(X).centred(centring)
    if centring in ("global", "columns"):
        assert centred.row_effects is None
    if centring == "rows":
        assert centred.column_effects is None
    if centring == "global":
        assert len(np.unique(centred.column_effects)) == 1


def test_data_without_offset_are_not_copied():
    X = np.random.default_rng(0).normal(size=(60, 50))
    for centring in ("none", "global", "rows", "columns", "double"):
        centred = DenseMatrix(X).centred(centring)
        assert np.shares_memory(centred.block(0, 60), X)


def test_given_column_effects_replace_the_own():
    X = np.random.default_rng(0).normal(size=(6, 5)) + 1e6
    given = np.arange(5.0)
    centred = DenseMatrix(X).centred("columns", given)
    np.testing.assert_array_equal(centred.block(0, 6), X - given)


@pytest.mark.parametrize("dtype", ["float32", "int8", "uint8", "bool", "int64"])
def test_blocks_of_any_type_are_read_as_float64(dtype):
    X = (np.arange(12).reshape(4, 3) % 2).astype(dtype)
    block = DenseMatrix(X).block(1, 3)
    assert block.dtype == np.float64
    np.testing.assert_array_equal(block, X[1:3])
