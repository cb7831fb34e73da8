"""Matrices that are on the card already: CuPy's arrays and sparse matrices."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse

from neocc._typing import FloatArray, IntArray
from neocc.engines.changed import minus_effects
from neocc.engines.matrix import DenseMatrix, SparseMatrix
from neocc.engines.observed import ObservedMatrix, read_observed
from neocc.engines.reading import check_values
from neocc.kernels import SparseBlock

__all__ = ["DenseCard", "ObservedCard", "SparseCard", "fetched", "is_on_card", "put_on_card"]
__all__ += ["read_card"]


def is_on_card(X: Any) -> bool:
    """Whether X is an array or a sparse matrix of CuPy."""
    return type(X).__module__.split(".")[0] in ("cupy", "cupyx")


def read_card(X: Any, cell_weight: Any, *, observed: bool) -> Any:
    """Wrap X without copying, but for one conversion of sparse formats other than CSR.

    `observed` are the stored cells alone, or those of an array that are not NaN.
    """
    if X.ndim != 2:
        raise ValueError(f"Expected a matrix; got an array of {X.ndim} dimensions on the GPU.")
    if X.dtype.kind not in "fiub":
        raise ValueError(f"Input X on the GPU holds {X.dtype}; real numbers are required.")
    _check_card(X.data if hasattr(X, "nnz") else X)
    if not hasattr(X, "nnz"):
        if observed:
            return ObservedCard.of(read_observed(X.get(), weights=fetched(cell_weight)))
        _check(X, X)
        return DenseCard(X)
    if X.format != "csr" or not X.has_canonical_format:
        given, X = X, X.tocsr()
        X = X.copy() if X is given else X
        X.sum_duplicates()
    if X.dtype.name not in ("float32", "float64"):
        X = X.astype("float64")
    if observed and (cell_weight is not None or bool((X.data != X.data).any())):
        here = read_observed(sparse.csr_array(X.get()), weights=fetched(cell_weight))
        return ObservedCard.of(here)
    _check(X.data, X)
    return ObservedCard.from_cupy(X) if observed else SparseCard.from_cupy(X)


def fetched(weights: Any) -> Any:
    """Return weights in this process, where they may be on a card."""
    return weights.get() if is_on_card(weights) else weights


def put_on_card(values: Any) -> Any:
    """Return a copy of an array on the card; None stays None."""
    import cupy

    return None if values is None else cupy.asarray(values)


def _check_card(values: Any) -> None:
    """Refuse values on another card than the current one, where kernels cannot read them."""
    import cupy

    there, current = values.device.id, cupy.cuda.Device().id
    if there != current:
        raise ValueError(
            f"X is on GPU {there}, and the current one is {current}. Fit within `with "
            f"cupy.cuda.Device({there}):`."
        )


def _check(values: Any, X: Any) -> None:
    """Refuse what is not finite or too large; only then look where it is."""
    if values.size and values.dtype.kind == "f":
        ends = np.array([float(values.min()), float(values.max())])
        if not np.isfinite(ends).all() or np.abs(ends).max() > 1e100:
            here = X.get()
            at = here if sparse.issparse(here) else None
            check_values(here if at is None else at.data, X.shape, None, at)


@dataclass(frozen=True, eq=False)
class SparseCard(SparseMatrix):
    """A canonical CSR matrix of CuPy; what is asked for here is copied from the card."""

    # What a copy in this process is.
    kind: ClassVar[type[SparseMatrix]] = SparseMatrix

    @classmethod
    def from_cupy(cls, X: Any) -> Self:
        """Wrap a matrix; where its rows begin is known here too."""
        return cls(X, X.indptr.get())

    def on_card(self, start: int, stop: int) -> SparseBlock:
        """Return rows `start` to `stop`, where they are."""
        X = self.values
        return SparseBlock(
            X.indptr[start : stop + 1], X.indices, self.data, self.shape[1], self.weights
        )

    def block(self, start: int, stop: int) -> SparseBlock:
        """Return a copy of rows `start` to `stop`."""
        ptr = self.indptr[start : stop + 1]
        at = slice(int(ptr[0]), int(ptr[-1]))
        X, weights = self.values, None if self.weights is None else self.weights[at].get()
        data = X.data[at].get() if weights is None else X.data[at].get() * np.sqrt(weights)
        return SparseBlock(ptr - ptr[0], X.indices[at].get(), data, self.shape[1], weights)

    def take(self, rows: IntArray) -> Self:
        """Return a copy of some rows, on the card."""
        import cupy

        X, starts = self.values, self.indptr[rows]
        ptr = np.concatenate([[0], np.cumsum(self.indptr[rows + 1] - starts)])
        there = cupy.asarray(ptr.astype(np.int64))
        entries = cupy.arange(int(ptr[-1]))
        # What lies between the entries of a row here and there.
        offsets = cupy.asarray(starts - ptr[:-1])
        at = entries + offsets[cupy.searchsorted(there, entries, side="right") - 1]
        parts = (X.data[at], X.indices[at], there.astype(X.indptr.dtype))
        found = type(X)(parts, shape=(len(rows), self.shape[1]))
        weights = None if self.weights is None else self.weights[at]
        return replace(self, values=found, indptr=ptr, weights=weights)

    def here(self) -> SparseMatrix:
        """Return a copy in this process."""
        X = sparse.csr_array(self.values.get())
        weights = None if self.weights is None else self.weights.get()
        return self.kind(X, X.indptr, weights)

    def take_columns(self, columns: IntArray) -> Any:
        """Return a copy of some columns."""
        return self.here().take_columns(columns)


@dataclass(frozen=True, eq=False)
class ObservedCard(SparseCard, ObservedMatrix):
    """A CSR matrix of CuPy of which the stored cells are observed; weights are there too."""

    kind: ClassVar[type[SparseMatrix]] = ObservedMatrix

    @classmethod
    def of(cls, here: ObservedMatrix) -> ObservedCard:
        """Put observed cells on the card: where some are left out, or weigh more than others."""
        X, csr_matrix = here.values, import_module("cupyx.scipy.sparse").csr_matrix
        arrays = [put_on_card(each) for each in (X.data, X.indices, X.indptr)]
        if arrays[0].dtype.name not in ("float32", "float64"):
            arrays[0] = arrays[0].astype("float64")
        return cls(csr_matrix(tuple(arrays), shape=X.shape), X.indptr, put_on_card(here.weights))

    def without(self, rows: FloatArray, columns: FloatArray) -> ObservedCard:
        """Return the matrix minus effects of rows and columns, in every observed cell."""
        effects = (put_on_card(rows), put_on_card(columns))
        return replace(self, values=minus_effects(self.values, *effects))


@dataclass(frozen=True, eq=False)
class DenseCard(DenseMatrix):
    """An array of CuPy; what is asked for here is copied from the card."""

    @property
    def is_ready(self) -> bool:
        """Whether kernels read the array as it is."""
        plain = self.row_effects is None and self.column_effects is None
        X = self.values
        return plain and X.dtype == np.float64 and bool(X.flags.c_contiguous)

    def on_card(self, start: int, stop: int) -> Any:
        """Return rows `start` to `stop`, centred, where they are."""
        plain = self.row_effects is None and self.column_effects is None
        block = self.values[start:stop].astype(np.float64, order="C", copy=not plain)
        if self.column_effects is not None:
            block -= put_on_card(self.column_effects)
        if self.row_effects is not None:
            block -= put_on_card(self.row_effects[start:stop])[:, None]
        return block

    def take(self, rows: IntArray) -> DenseCard:
        """Return a copy of some rows, on the card, with the effects they had."""
        effects = None if self.row_effects is None else self.row_effects[rows]
        return DenseCard(self.values[put_on_card(rows)], effects, self.column_effects)

    def here(self) -> DenseMatrix:
        """Return a copy in this process."""
        return DenseMatrix(self.values.get(), self.row_effects, self.column_effects)

    def take_columns(self, columns: IntArray) -> DenseMatrix:
        """Return a copy of some columns, with the effects they had."""
        effects = None if self.column_effects is None else self.column_effects[columns]
        some = self.values[:, put_on_card(columns)].get()
        return DenseMatrix(some, self.row_effects, effects)

    def _raw(self, at: slice) -> FloatArray:
        return np.ascontiguousarray(self.values[at].get(), dtype=np.float64)
