"""Matrices that are on the card already: CuPy's arrays and sparse matrices."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np
from scipy import sparse

from neocc._typing import FloatArray, IntArray
from neocc.engines.matrix import DenseMatrix, SparseMatrix
from neocc.engines.observed import ObservedMatrix, read_observed
from neocc.engines.reading import check_values
from neocc.kernels import SparseBlock

__all__ = ["DenseCard", "ObservedCard", "SparseCard", "fetched", "is_on_card", "read_card"]


def is_on_card(X: Any) -> bool:
    """Whether X is an array or a sparse matrix of CuPy."""
    return type(X).__module__.split(".")[0] in ("cupy", "cupyx")


def read_card(X: Any, names: Any = None, cell_weight: Any = None, *, observed: bool = False) -> Any:
    """Wrap X without copying, but for one conversion of sparse formats other than CSR.

    `observed` are the stored cells alone, or those of an array that are not NaN.
    """
    if X.ndim != 2:
        raise ValueError(f"Expected a matrix; got an array of {X.ndim} dimensions on the GPU.")
    if X.dtype.kind not in "fiub":
        raise ValueError(f"Input X on the GPU holds {X.dtype}; real numbers are wanted.")
    _check_card(X.data if hasattr(X, "nnz") else X)
    if not hasattr(X, "nnz"):
        if observed:
            here = read_observed(X.get(), names, fetched(cell_weight))
            return ObservedCard.of(here)
        _check(X, X, names)
        return DenseCard(X)
    if X.format != "csr" or not X.has_canonical_format:
        given, X = X, X.tocsr()
        X = X.copy() if X is given else X
        X.sum_duplicates()
    if X.dtype.name not in ("float32", "float64"):
        X = X.astype("float64")
    if observed and (cell_weight is not None or bool((X.data != X.data).any())):
        return ObservedCard.of(
            read_observed(sparse.csr_array(X.get()), names, fetched(cell_weight))
        )
    _check(X.data, X, names)
    return ObservedCard.from_cupy(X) if observed else SparseCard.from_cupy(X)


def fetched(weights: Any) -> Any:
    """Return weights in this process, where they may be on a card."""
    return weights.get() if is_on_card(weights) else weights


def _check_card(values: Any) -> None:
    """Refuse values on another card than the current one, where kernels cannot read them."""
    import cupy

    there, current = values.device.id, cupy.cuda.Device().id
    if there != current:
        raise ValueError(
            f"X is on GPU {there}, and the current one is {current}. Fit within `with "
            f"cupy.cuda.Device({there}):`."
        )


def _check(values: Any, X: Any, names: Any) -> None:
    """Refuse what is not finite or too large; only then look where it is."""
    if values.size and values.dtype.kind == "f":
        ends = np.array([float(values.min()), float(values.max())])
        if not np.isfinite(ends).all() or np.abs(ends).max() > 1e100:
            here = X.get()
            at = here if sparse.issparse(here) else None
            check_values(here if at is None else at.data, X.shape, names, at)


@dataclass(frozen=True, eq=False)
class SparseCard(SparseMatrix):
    """A canonical CSR matrix of CuPy; what is asked for here is copied from the card."""

    @classmethod
    def from_cupy(cls, X: Any) -> SparseCard:
        """Wrap a matrix; where its rows begin is known here too."""
        return cls(X, X.indptr.get())

    def on_card(self) -> SparseBlock:
        """Return all rows, where they are."""
        X = self.values
        return SparseBlock(X.indptr, X.indices, X.data, self.shape[1])

    def block(self, start: int, stop: int) -> SparseBlock:
        """Return a copy of rows `start` to `stop`."""
        ptr = self.indptr[start : stop + 1]
        at = slice(int(ptr[0]), int(ptr[-1]))
        X = self.values
        return SparseBlock(ptr - ptr[0], X.indices[at].get(), X.data[at].get(), self.shape[1])

    def take(self, rows: IntArray) -> SparseCard:
        """Return a copy of some rows, on the card."""
        found, ptr, _ = _taken(self, rows)
        return SparseCard(found, ptr)

    def here(self) -> SparseMatrix:
        """Return a copy in this process."""
        return SparseMatrix.from_scipy(sparse.csr_array(self.values.get()))

    def take_columns(self, columns: IntArray) -> SparseMatrix:
        """Return a copy of some columns."""
        return self.here().take_columns(columns)

    def weighed(self, rows: FloatArray | None, columns: FloatArray | None) -> SparseCard:
        """Return the matrix times weights of its rows and columns."""
        X = self.values
        return type(self)(_with_data(X, X.data * _weights(X, rows, columns)), self.indptr)


@dataclass(frozen=True, eq=False)
class ObservedCard(ObservedMatrix):
    """A CSR matrix of CuPy of which the stored cells are observed; weights are there too."""

    @classmethod
    def from_cupy(cls, X: Any, weights: Any = None) -> ObservedCard:
        """Wrap a matrix whose values are weighed already."""
        return cls(X, X.indptr.get(), weights=weights)

    @classmethod
    def of(cls, here: ObservedMatrix) -> ObservedCard:
        """Put observed cells on the card: where some are left out, or weigh more than others."""
        import cupy

        X, csr_matrix = here.values, import_module("cupyx.scipy.sparse").csr_matrix
        arrays = [cupy.asarray(each) for each in (X.data, X.indices, X.indptr)]
        if arrays[0].dtype.name not in ("float32", "float64"):
            arrays[0] = arrays[0].astype("float64")
        weights = None if here.weights is None else cupy.asarray(here.weights)
        return cls(csr_matrix(tuple(arrays), shape=X.shape), X.indptr, weights=weights)

    def on_card(self) -> SparseBlock:
        """Return all rows, where they are."""
        X = self.values
        return SparseBlock(X.indptr, X.indices, X.data, self.shape[1], self.weights)

    def block(self, start: int, stop: int) -> SparseBlock:
        """Return a copy of rows `start` to `stop`."""
        ptr = self.indptr[start : stop + 1]
        at = slice(int(ptr[0]), int(ptr[-1]))
        X, weights = self.values, self.weights
        some = None if weights is None else weights[at].get()  # type: ignore[attr-defined]
        arrays = (X.indices[at].get(), X.data[at].get())
        return SparseBlock(ptr - ptr[0], *arrays, self.shape[1], some)

    def here(self) -> ObservedMatrix:
        """Return a copy in this process."""
        X, weights = sparse.csr_array(self.values.get()), self.weights
        there = None if weights is None else weights.get()  # type: ignore[attr-defined]
        return ObservedMatrix(X, X.indptr, weights=there)

    def take(self, rows: IntArray) -> ObservedCard:
        """Return a copy of some rows, on the card."""
        found, ptr, weights = _taken(self, rows, self.weights)
        return ObservedCard(found, ptr, weights=weights)

    def take_columns(self, columns: IntArray) -> ObservedMatrix:
        """Return a copy of some columns."""
        return self.here().take_columns(columns)

    def without(self, rows: FloatArray, columns: FloatArray) -> ObservedCard:
        """Return the matrix minus effects of rows and columns, in every observed cell."""
        import cupy

        X = self.values
        expected = cupy.asarray(rows)[_rows_of(X)] + cupy.asarray(columns)[X.indices]
        if self.weights is not None:
            expected = expected * cupy.sqrt(self.weights)
        return replace(self, values=_with_data(X, X.data.astype(np.float64) - expected))

    def weighed(self, rows: FloatArray | None, columns: FloatArray | None) -> ObservedCard:
        """Return the same cells with those of rows and columns as further weights."""
        import cupy

        X, more = self.values, _weights(self.values, rows, columns)
        weights = more if self.weights is None else more * self.weights
        return replace(self, values=_with_data(X, X.data * cupy.sqrt(more)), weights=weights)


def _taken(matrix: SparseCard | ObservedCard, rows: IntArray, weights: Any = None) -> Any:
    """Return a copy of some rows, where they begin, and the weights of their entries."""
    import cupy

    X, starts = matrix.values, matrix.indptr[rows]
    ptr = np.concatenate([[0], np.cumsum(matrix.indptr[rows + 1] - starts)])
    there = cupy.asarray(ptr.astype(np.int64))
    entries = cupy.arange(int(ptr[-1]))
    # What lies between the entries of a row here and there.
    offsets = cupy.asarray(starts - ptr[:-1])
    at = entries + offsets[cupy.searchsorted(there, entries, side="right") - 1]
    parts = (X.data[at], X.indices[at], there.astype(X.indptr.dtype))
    found = type(X)(parts, shape=(len(rows), matrix.shape[1]))
    return found, ptr, None if weights is None else weights[at]


def _rows_of(X: Any) -> Any:
    """Return the row of each entry."""
    import cupy

    ends = X.indptr.astype(np.int64)
    return cupy.searchsorted(ends, cupy.arange(len(X.data)), side="right") - 1


def _weights(X: Any, rows: FloatArray | None, columns: FloatArray | None) -> Any:
    """Return the weight of each entry, given those of rows and of columns."""
    import cupy

    found = cupy.ones(len(X.data))
    if rows is not None:
        found = found * cupy.asarray(rows)[_rows_of(X)]
    return found if columns is None else found * cupy.asarray(columns)[X.indices]


def _with_data(X: Any, data: Any) -> Any:
    """Return a CSR matrix of the same cells with other values."""
    return type(X)((data, X.indices, X.indptr), shape=X.shape)


@dataclass(frozen=True, eq=False)
class DenseCard(DenseMatrix):
    """An array of CuPy; what is asked for here is copied from the card."""

    def on_card(self) -> Any:
        """Return all rows, centred, where they are."""
        import cupy

        block = self.values.astype(np.float64, copy=False)
        if self.column_effects is not None:
            block = block - cupy.asarray(self.column_effects)
        if self.row_effects is not None:
            block = block - cupy.asarray(self.row_effects)[:, None]
        return block

    def take(self, rows: IntArray) -> DenseCard:
        """Return a copy of some rows, on the card, with the effects they had."""
        import cupy

        effects = None if self.row_effects is None else self.row_effects[rows]
        return DenseCard(self.values[cupy.asarray(rows)], effects, self.column_effects)

    def here(self) -> DenseMatrix:
        """Return a copy in this process."""
        return DenseMatrix(self.values.get(), self.row_effects, self.column_effects)

    def take_columns(self, columns: IntArray) -> DenseMatrix:
        """Return a copy of some columns, with the effects they had."""
        import cupy

        effects = None if self.column_effects is None else self.column_effects[columns]
        some = self.values[:, cupy.asarray(columns)].get()
        return DenseMatrix(some, self.row_effects, effects)

    def _raw(self, at: slice) -> FloatArray:
        return np.ascontiguousarray(self.values[at].get(), dtype=np.float64)

    def weighed(self, rows: FloatArray | None, columns: FloatArray | None) -> DenseCard:
        """Return the matrix times weights of its rows and columns."""
        import cupy

        X = self.values.astype(np.float64)
        X = X if columns is None else X * cupy.asarray(columns)
        return DenseCard(X if rows is None else X * cupy.asarray(rows)[:, None])
