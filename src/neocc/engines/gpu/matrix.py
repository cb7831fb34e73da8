"""Matrices that are on the card already: CuPy's arrays and sparse matrices, taken as they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from neocc._typing import FloatArray, IntArray
from neocc.engines.matrix import DenseMatrix, SparseMatrix
from neocc.engines.reading import check_values
from neocc.kernels import SparseBlock

__all__ = ["DenseCard", "SparseCard", "is_on_card", "read_card"]


def is_on_card(X: Any) -> bool:
    """Whether X is an array or a sparse matrix of CuPy."""
    return type(X).__module__.split(".")[0] in ("cupy", "cupyx")


def read_card(X: Any, names: Any = None) -> SparseCard | DenseCard:
    """Wrap X without copying, but for one conversion of sparse formats other than CSR."""
    if X.ndim != 2:
        raise ValueError(f"Expected a matrix; got an array of {X.ndim} dimensions on the GPU.")
    if X.dtype.kind not in "fiub":
        raise ValueError(f"Input X on the GPU holds {X.dtype}; real numbers are wanted.")
    if not hasattr(X, "nnz"):
        _check(X, X, names)
        return DenseCard(X)
    if X.format != "csr" or not X.has_canonical_format:
        given, X = X, X.tocsr()
        X = X.copy() if X is given else X
        X.sum_duplicates()
    if X.dtype.name not in ("float32", "float64"):
        X = X.astype("float64")
    _check(X.data, X, names)
    return SparseCard.from_cupy(X)


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

    def take(self, rows: IntArray) -> SparseMatrix:
        """Return a copy of some rows."""
        import cupy

        X, starts = self.values, self.indptr[rows]
        lengths = self.indptr[rows + 1] - starts
        ptr = np.concatenate([[0], np.cumsum(lengths)])
        at = np.arange(ptr[-1]) + np.repeat(starts - ptr[:-1], lengths)
        there = cupy.asarray(at)
        parts = (X.data[there].get(), X.indices[there].get(), ptr)
        return SparseMatrix.from_scipy(sparse.csr_array(parts, shape=(len(rows), self.shape[1])))

    def take_columns(self, columns: IntArray) -> SparseMatrix:
        """Return a copy of some columns."""
        return SparseMatrix.from_scipy(sparse.csr_array(self.values.get())).take_columns(columns)


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

    def take(self, rows: IntArray) -> DenseMatrix:
        """Return a copy of some rows, with the effects they had."""
        import cupy

        effects = None if self.row_effects is None else self.row_effects[rows]
        some = self.values[cupy.asarray(rows)].get()
        return DenseMatrix(some, effects, self.column_effects)

    def take_columns(self, columns: IntArray) -> DenseMatrix:
        """Return a copy of some columns, with the effects they had."""
        import cupy

        effects = None if self.column_effects is None else self.column_effects[columns]
        some = self.values[:, cupy.asarray(columns)].get()
        return DenseMatrix(some, self.row_effects, effects)

    def _raw(self, at: slice) -> FloatArray:
        return np.ascontiguousarray(self.values[at].get(), dtype=np.float64)
