"""Matrices in blocks of rows: sparse ones as given, dense ones centred when they are read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Self, TypeAlias

import numpy as np
from scipy import sparse

from neocc._typing import AnyArray, FloatArray, IntArray
from neocc.core.objectives import Centring
from neocc.kernels import SparseBlock

_CHUNK = 1 << 18
_SAMPLED_ROWS = 128
_SAMPLED_COLUMNS = 32


@dataclass(frozen=True, eq=False)
class SparseMatrix:
    """A CSR matrix in canonical form, in memory or in a store.

    It is never centred, which would fill it. `values` is a SciPy matrix, or the rows of a store
    (`neocc.engines.stored`), sliced in the same way; `indptr` is always in memory. Where only the
    stored cells were observed (`neocc.engines.observed`), those in memory may have `weights`.
    """

    values: Any
    indptr: AnyArray
    weights: Any = None

    row_effects: None = None
    column_effects: None = None

    @classmethod
    def from_scipy(cls, X: sparse.csr_array) -> Self:
        """Wrap a CSR matrix without copying."""
        return cls(X, X.indptr)

    @classmethod
    def of_rows(cls, X: Any, *_: object) -> Self:
        """Wrap rows that are in memory; no effects are subtracted from them."""
        return cls.from_scipy(X)

    @cached_property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return int(self.values.shape[0]), int(self.values.shape[1])

    @cached_property
    def sendable(self) -> Any:
        """The values and their weights, in the imaginary part, as one matrix."""
        return packed(self.values, self.weights)

    @cached_property
    def data(self) -> Any:
        """What kernels read of entries in memory: values, times the square roots of weights."""
        values = self.values.data
        return values if self.weights is None else values * np.sqrt(self.weights)

    @property
    def n_stored(self) -> int:
        """Number of stored entries."""
        return int(self.indptr[-1])

    def centred(self, *_: object) -> Self:
        """Return the matrix itself."""
        return self

    def block(self, start: int, stop: int) -> SparseBlock:
        """Return rows `start` to `stop`: views, unless they come from several blocks of a store."""
        X = self.values
        if not sparse.issparse(X):
            return self.of_rows(X[start:stop]).block(0, stop - start)
        ptr = X.indptr[start : stop + 1]
        return SparseBlock(ptr, X.indices, self.data, X.shape[1], self.weights)

    def take(self, rows: IntArray) -> Self:
        """Return some rows: a copy, unless they come from a store and are many."""
        values = self.values[rows]
        if sparse.issparse(values) and not sparse.issparse(self.values):
            return self.of_rows(values)
        sizes = self.indptr[rows + 1] - self.indptr[rows]
        indptr = np.concatenate([[0], np.cumsum(sizes)])
        return replace(self, values=values, indptr=indptr, weights=self._weights_at(rows))

    def take_columns(self, columns: IntArray) -> Self:
        """Return a copy of some columns."""
        if sparse.issparse(self.values):
            at = (slice(None), columns)
            X = self.values[at]
            return replace(self, values=X, indptr=X.indptr, weights=self._weights_at(at))
        rows = (self.of_rows(self.values[start:stop]) for start, stop in self.partition(_CHUNK))
        return self.of_rows(stacked([some.take_columns(columns).sendable for some in rows]))

    def _weights_at(self, at: Any) -> Any:
        return None if self.weights is None else with_data(self.values, self.weights)[at].data

    def transposed(self) -> SparseMatrix:
        """Return a copy with rows as columns, in memory."""
        values = self.values if sparse.issparse(self.values) else self.values[:]
        return self.of_rows(sparse.csr_array(packed(values, self.weights).T))

    def partition(self, entries: int, *, even: bool = False) -> list[tuple[int, int]]:
        """Cut the rows into ranges of about `entries` entries; a row counts as 64 more.

        With `even` their number is even, if there are several: two threads have the same to do.
        """
        n = len(self.indptr) - 1
        if n == 0:
            return []
        work = self.indptr[1:] - self.indptr[0] + 64 * np.arange(1, n + 1)
        n_parts = min(n, _n_parts(int(work[-1]), entries, even=even))
        inner = np.searchsorted(work, work[-1] * (np.arange(1, n_parts) / n_parts), side="right")
        return list(pairwise(np.unique([0, *inner, n]).tolist()))


@dataclass(frozen=True)
class DenseMatrix:
    """A matrix of any real type, read a block at a time as float64 minus row and column effects.

    `values` is an array, the rows of a store, or a CSR matrix that is made dense block by block
    (new sparse rows that are compared with clusters of centred dense ones).
    """

    values: Any
    row_effects: FloatArray | None = None
    column_effects: FloatArray | None = None

    @classmethod
    def of_rows(cls, X: Any, rows: FloatArray | None, columns: FloatArray | None) -> DenseMatrix:
        """Wrap rows that are in memory, with the effects to subtract from them."""
        values = X.data.reshape(X.shape) if sparse.issparse(X) else X
        return cls(values, rows, columns)

    @cached_property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return int(self.values.shape[0]), int(self.values.shape[1])

    @property
    def sendable(self) -> Any:
        """The values and what belongs to them, as one matrix."""
        return self.values

    @cached_property
    def n_stored(self) -> int:
        """Number of entries."""
        return self.shape[0] * self.shape[1]

    def centred(self, centring: Centring, column_effects: FloatArray | None = None) -> DenseMatrix:
        """Return the same data minus typical values of its rows, its columns, both, or all of it.

        Which values are subtracted affects accuracy only. They are medians over a few evenly spaced
        rows and columns, which outliers do not move. Effects that are small against the spread are
        not subtracted: nothing would cancel, and blocks need no copy. Given column effects replace
        the matrix's own.
        """
        some = sampled_rows(self.shape[0])
        rows, columns = find_effects(
            self._raw(some), self.shape[0], centring, column_effects, self.row_medians
        )
        return replace(self, row_effects=rows, column_effects=columns)

    def row_medians(self, columns: FloatArray) -> FloatArray:
        """Return the median of each row minus the column effects, over evenly spaced columns."""
        medians = np.empty(self.shape[0])
        some = slice(None, None, max(1, self.shape[1] // _SAMPLED_COLUMNS))
        for start, stop in self.partition(_CHUNK):
            block = self._raw(slice(start, stop))
            medians[start:stop] = np.median(block[:, some] - columns[some], axis=1)
        return medians

    def block(self, start: int, stop: int) -> FloatArray:
        """Return rows `start` to `stop`, centred: read-only, it may be a view of the data."""
        block = self._raw(slice(start, stop))
        if self.column_effects is not None:
            block = block - self.column_effects
        if self.row_effects is not None:
            block = block - self.row_effects[start:stop, None]
        return block

    def _raw(self, at: slice) -> FloatArray:
        rows = self.values[at]
        rows = rows.toarray() if sparse.issparse(rows) else rows
        block: FloatArray = np.ascontiguousarray(rows, dtype=np.float64)
        return block

    def take(self, rows: IntArray) -> DenseMatrix:
        """Return a copy of some rows, with the effects they had."""
        effects = None if self.row_effects is None else self.row_effects[rows]
        return DenseMatrix(self.values[rows], effects, self.column_effects)

    def take_columns(self, columns: IntArray) -> DenseMatrix:
        """Return a copy of some columns, with the effects they had."""
        parts = [self.values[start:stop][:, columns] for start, stop in self.partition(_CHUNK)]
        effects = None if self.column_effects is None else self.column_effects[columns]
        return DenseMatrix(stacked(parts), self.row_effects, effects)

    def transposed(self) -> DenseMatrix:
        """Return a copy with rows as columns, in memory, with the effects they had."""
        values = np.ascontiguousarray(self.values[:].T)
        return DenseMatrix(values, self.column_effects, self.row_effects)

    def partition(self, entries: int, *, even: bool = False) -> list[tuple[int, int]]:
        """Cut the rows into ranges of about `entries` entries, an even number of them if asked."""
        n, m = self.shape
        n_parts = _n_parts(n * m, entries, even=even)
        if n_parts == 1 and n > 0:
            return [(0, n)]
        edges = np.unique(np.linspace(0, n, n_parts + 1).astype(np.intp))
        return list(pairwise(edges.tolist()))


def _n_parts(work: int, entries: int, *, even: bool) -> int:
    """Return the number of parts of about so many entries, at least one."""
    n_parts = max(1, round(work / entries))
    return n_parts - n_parts % 2 if even and n_parts > 1 else n_parts


def with_data(X: Any, data: AnyArray) -> Any:
    """Return a CSR matrix of the same cells with other values, here or on a card."""
    kind = sparse.csr_array if sparse.issparse(X) else type(X)
    return kind((data, X.indices, X.indptr), shape=X.shape)


def packed(X: Any, weights: Any) -> Any:
    """Return cells with their weights as one matrix."""
    return X if weights is None else with_data(X, X.data + 1j * weights)


def sampled_rows(n_rows: int) -> slice:
    """Return the few evenly spaced rows that effects are estimated from."""
    return slice(None, None, max(1, n_rows // _SAMPLED_ROWS))


def find_effects(
    sampled: FloatArray,
    n_rows: int,
    centring: Centring,
    column_effects: FloatArray | None,
    row_medians: Callable[[FloatArray], FloatArray],
) -> tuple[FloatArray | None, FloatArray | None]:
    """Return the row and column effects that `DenseMatrix.centred` subtracts, None for none.

    `sampled` holds the `sampled_rows`; `row_medians` returns the medians of all rows minus column
    effects.
    """
    own_columns = column_effects is None and centring in ("global", "columns", "double")
    columns = np.zeros(sampled.shape[1]) if column_effects is None else column_effects
    if own_columns:
        columns = np.median(sampled, axis=0)
        if centring == "global":
            columns = np.full_like(columns, np.median(columns))
    rows = row_medians(columns) if centring in ("rows", "double") else np.zeros(n_rows)
    # The spread is that without both: large effects of one kind would hide those of the other.
    spread = np.median(np.abs(sampled - columns - rows[sampled_rows(n_rows), None]))
    return _unless_small(rows, spread), _unless_small(columns, spread if own_columns else 0.0)


def _unless_small(effects: FloatArray, spread: float) -> FloatArray | None:
    """Return the effects, or None if they are no larger than a few times the spread."""
    return None if np.mean(effects * effects) <= 16.0 * spread * spread else effects


def stacked(pieces: list[Any]) -> Any:
    """Put rows below each other, in arrays or in CSR matrices."""
    if len(pieces) == 1:
        return pieces[0]
    if sparse.issparse(pieces[0]):
        return sparse.vstack(pieces, format="csr")
    return np.concatenate(pieces)


def slice_rows(X: Any, start: int, stop: int) -> Any:
    """Return rows of an array or a CSR matrix, as far as it has them, without copying."""
    start, stop = max(0, int(start)), max(0, int(start), min(int(stop), X.shape[0]))
    if not sparse.issparse(X):
        return X[start:stop]
    return SparseBlock(X.indptr[start : stop + 1], X.indices, X.data, X.shape[1]).matrix()


def split_rows(rows: IntArray, edges: IntArray) -> tuple[list[IntArray], IntArray | None]:
    """Distribute row numbers over the blocks between edges, relative to the start of each block.

    Also returns the permutation that restores the given order of the stacked rows, None if they are
    in that order already.
    """
    order = np.argsort(rows, kind="stable")
    ordered = rows[order]
    cuts = np.searchsorted(ordered, edges)
    parts = [ordered[slice(*at)] - edge for at, edge in zip(pairwise(cuts), edges, strict=False)]
    return parts, None if (ordered == rows).all() else np.argsort(order)


Matrix: TypeAlias = SparseMatrix | DenseMatrix
