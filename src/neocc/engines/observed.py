"""Observed cells: the stored entries of a matrix, and nothing else.

A stored zero is an observed zero. Cells may have weights; the data that kernels read are then
values times the square roots of these. The effects of rows and columns can be subtracted from
observed cells without filling the matrix: at once in memory, and when a block of a store is read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from neocc._typing import AnyArray, FloatArray, IntArray
from neocc.engines.matrix import SparseMatrix, stacked
from neocc.engines.reading import canonical, check_values
from neocc.engines.stored import RowSource, StoredRows, open_rows
from neocc.kernels import SparseBlock

__all__ = [
    "ObservedMatrix",
    "observed_cells",
    "open_observed",
    "read_observed",
    "weighed_cells",
    "weights_of",
    "weights_of_items",
]

_CHUNK = 1 << 18


@dataclass(frozen=True, eq=False)
class ObservedMatrix(SparseMatrix):
    """A CSR matrix of observed cells, in memory or in a store.

    Attributes
    ----------
    weights : array parallel to the stored entries, or None
        Weights of cells in memory, None for ones.
    row_biases, column_biases : arrays or None
        What is subtracted from the cells of a store when they are read.
    """

    weights: FloatArray | None = None
    row_biases: FloatArray | None = None
    column_biases: FloatArray | None = None

    @classmethod
    def from_scipy(cls, X: Any, weights: FloatArray | None = None) -> ObservedMatrix:
        """Wrap a CSR matrix of values without copying, unless its cells have weights."""
        if weights is not None:
            X = _with_data(X, X.data * np.sqrt(weights))
        return cls(X, X.indptr, weights=weights)

    @classmethod
    def of_rows(
        cls, X: Any, rows: FloatArray | None = None, columns: FloatArray | None = None
    ) -> ObservedMatrix:
        """Wrap rows that are in memory, minus effects if there are any."""
        X, weights = observed_cells(X), None
        if X.dtype.kind == "c":
            weights, X = X.data.imag.copy(), _with_data(X, X.data.real.copy())
        found = cls(X, X.indptr, weights=weights)
        return found if rows is None or columns is None else found.without(rows, columns)

    @property
    def _in_memory(self) -> bool:
        return bool(sparse.issparse(self.values))

    @cached_property
    def sendable(self) -> Any:
        """Cells as one matrix that is cut and stacked, weights in the imaginary part."""
        X, weights = self.values, self.weights
        return X if weights is None else _with_data(X, X.data + 1j * weights)

    def without(self, rows: FloatArray, columns: FloatArray) -> ObservedMatrix:
        """Return the matrix minus effects of rows and columns, in every observed cell."""
        if not self._in_memory:
            return replace(self, row_biases=rows, column_biases=columns)
        X = self.values
        block = SparseBlock(X.indptr, X.indices, X.data, X.shape[1], self.weights)
        return replace(self, values=_with_data(X, _subtracted(block, rows, columns)))

    def block(self, start: int, stop: int) -> SparseBlock:
        """Return rows `start` to `stop`: views in memory."""
        X = self.values
        if self._in_memory:
            ptr = X.indptr[start : stop + 1]
            return SparseBlock(ptr, X.indices, X.data, X.shape[1], self.weights)
        read = ObservedMatrix.of_rows(X[start:stop])
        X = read.values
        block = SparseBlock(X.indptr, X.indices, X.data, X.shape[1], read.weights)
        if self.row_biases is None or self.column_biases is None:
            return block
        return block._replace(
            data=_subtracted(block, self.row_biases[start:stop], self.column_biases)
        )

    def take(self, rows: IntArray) -> ObservedMatrix:
        """Return some rows: a copy, unless they come from a store and are many."""
        sizes = self.indptr[rows + 1] - self.indptr[rows]
        values, indptr = self.values[rows], np.concatenate([[0], np.cumsum(sizes)])
        if self._in_memory:
            return replace(self, values=values, indptr=indptr, weights=self._weights_at(rows))
        biases = None if self.row_biases is None else self.row_biases[rows]
        if isinstance(values, StoredRows):
            return replace(self, values=values, indptr=indptr, row_biases=biases)
        return ObservedMatrix.of_rows(values, biases, self.column_biases)

    def take_columns(self, columns: IntArray) -> ObservedMatrix:
        """Return a copy of some columns."""
        if self._in_memory:
            at = (slice(None), columns)
            X = self.values[at]
            return ObservedMatrix(X, X.indptr, weights=self._weights_at(at))
        parts = [
            observed_cells(self.values[start:stop])[:, columns]
            for start, stop in self.partition(_CHUNK)
        ]
        biases = None if self.column_biases is None else self.column_biases[columns]
        return ObservedMatrix.of_rows(stacked(parts), self.row_biases, biases)

    def transposed(self) -> ObservedMatrix:
        """Return a copy with rows as columns, of cells in memory."""
        return ObservedMatrix.of_rows(sparse.csr_array(self.sendable.T))

    def _weights_at(self, at: Any) -> FloatArray | None:
        if self.weights is None:
            return None
        found: FloatArray = _with_data(self.values, self.weights)[at].data
        return found


def weights_of_items(X: Any, rows: FloatArray | None, columns: FloatArray | None) -> FloatArray:
    """Return the weight of each stored cell, given those of rows and of columns."""
    found = np.ones(len(X.data))
    if rows is not None:
        found *= np.repeat(rows, np.diff(X.indptr))
    return found if columns is None else found * columns[X.indices]


def weighed_cells(
    matrix: ObservedMatrix, rows: FloatArray | None, columns: FloatArray | None
) -> ObservedMatrix:
    """Return observed cells in memory, with those of rows and columns as further weights."""
    X, more = matrix.values, weights_of_items(matrix.values, rows, columns)
    weights = more if matrix.weights is None else more * matrix.weights
    return replace(matrix, values=_with_data(X, X.data * np.sqrt(more)), weights=weights)


def _subtracted(block: SparseBlock, rows: FloatArray, columns: FloatArray) -> FloatArray:
    """Return the data of a block minus effects of its rows and columns."""
    at = block.stored()
    expected = np.repeat(rows, np.diff(block.indptr)) + columns[block.indices[at]]
    if block.weights is not None:
        expected *= np.sqrt(block.weights[at])
    return np.asarray(block.data[at].astype(np.float64) - expected)


def _with_data(X: Any, data: AnyArray) -> Any:
    """Return a CSR matrix of the same cells with other values."""
    return sparse.csr_array((data, X.indices, X.indptr), shape=X.shape)


def observed_cells(X: Any) -> Any:
    """Return the observed cells as a CSR matrix: the stored ones, but for NaN."""
    if sparse.issparse(X):
        return _without_nan(X)
    X = X.astype(np.float64) if X.dtype.kind == "O" else X
    rows, columns = np.nonzero(~np.isnan(X)) if X.dtype.kind == "f" else _everywhere(X.shape)
    indptr = np.zeros(len(X) + 1, dtype=np.int64)
    np.cumsum(np.bincount(rows, minlength=len(X)), out=indptr[1:])
    small = max(X.shape[1], int(indptr[-1])) < np.iinfo(np.int32).max
    kind = np.int32 if small else np.int64
    cells = (X[rows, columns], columns.astype(kind), indptr.astype(kind))
    return sparse.csr_array(cells, shape=X.shape)


def _without_nan(X: Any) -> Any:
    """Return a sparse matrix without the cells that store NaN; zeros stay."""
    X = X.tocsr()
    if X.dtype.kind != "f" or not np.isnan(X.data).any():
        return X
    kept = ~np.isnan(X.data)
    indptr = np.concatenate([[0], np.cumsum(kept)])[X.indptr].astype(X.indptr.dtype)
    return sparse.csr_array((X.data[kept], X.indices[kept], indptr), shape=X.shape)


def _everywhere(shape: tuple[int, int]) -> tuple[IntArray, IntArray]:
    rows, columns = np.indices(shape)
    return rows.ravel(), columns.ravel()


def read_observed(X: Any, names: Any = None, weights: Any = None) -> ObservedMatrix:
    """Wrap the observed cells of checked input; `weights` have the same cells, or more."""
    X = canonical(observed_cells(X))
    check_values(X.data, X.shape, names, X)
    found = None if weights is None else weights_of(weights, X)
    if found is not None and len(found) and not found.any():
        raise ValueError("cell_weight is 0 in every observed cell: nothing is left to fit.")
    return ObservedMatrix.from_scipy(X, found)


def weights_of(weights: Any, X: Any) -> FloatArray:
    """Check the weights of cells; return those of the observed ones in their order."""
    shape = weights.shape if sparse.issparse(weights) else np.shape(weights)
    if shape != X.shape:
        raise ValueError(f"cell_weight must have the shape of X, {X.shape}; got {shape}.")
    if sparse.issparse(weights):
        W = canonical(weights)
        same = np.array_equal(W.indptr, X.indptr) and np.array_equal(W.indices, X.indices)
        if not same:
            raise ValueError(
                "cell_weight must store the same cells as X: a weight for each observed cell. Give "
                "explicit zeros to cells that shall not count."
            )
        found: FloatArray = W.data.astype(np.float64)
    else:
        rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        found = np.asarray(weights, dtype=np.float64)[rows, X.indices]
    if not (np.isfinite(found).all() and (found >= 0.0).all()):
        raise ValueError("cell_weight must be finite and at least 0 in every observed cell.")
    return found


def open_observed(source: RowSource, n_kept: int) -> ObservedMatrix:
    """Return the matrix of the cells that a source stores."""
    rows = open_rows(source, n_kept)
    if source.is_sparse:
        indptr = rows.indptr()
    else:
        indptr = np.arange(source.shape[0] + 1, dtype=np.int64) * source.shape[1]
    return ObservedMatrix(rows, indptr)
