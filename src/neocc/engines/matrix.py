"""The matrix as given, in blocks of rows: sparse ones untouched, dense ones centred on the fly."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from neocc._typing import AnyArray, FloatArray, IntArray
from neocc.core.engine import Centring
from neocc.kernels import SparseBlock

_CHUNK = 1 << 18
_SAMPLED_ROWS = 128
_SAMPLED_COLUMNS = 32


@dataclass(frozen=True)
class SparseMatrix:
    """A CSR matrix in canonical form. It is never centred: its zeros are not stored."""

    indptr: AnyArray
    indices: AnyArray
    data: AnyArray
    shape: tuple[int, int]

    row_effects: None = None
    column_effects: None = None

    @classmethod
    def from_scipy(cls, X: sparse.csr_array) -> SparseMatrix:
        """Wrap the arrays of a CSR matrix without copying."""
        return cls(X.indptr, X.indices, X.data, (int(X.shape[0]), int(X.shape[1])))

    @property
    def n_stored(self) -> int:
        """Number of stored entries."""
        return len(self.data)

    def centred(self, *_: object) -> SparseMatrix:
        """Return the matrix itself; subtracting anything would fill it."""
        return self

    def block(self, start: int, stop: int) -> SparseBlock:
        """Return rows `start` to `stop` as views."""
        return SparseBlock(self.indptr[start : stop + 1], self.indices, self.data, self.shape[1])

    def take(self, rows: IntArray) -> SparseMatrix:
        """Return a copy of some rows."""
        return SparseMatrix.from_scipy(self.scipy()[rows])

    def dense_rows(self, rows: IntArray) -> FloatArray:
        """Return a few rows as a dense table."""
        table: FloatArray = self.take(rows).scipy().toarray().astype(np.float64)
        return table

    def scipy(self) -> sparse.csr_array:
        """Return the matrix as SciPy's, sharing its arrays."""
        return SparseBlock(self.indptr, self.indices, self.data, self.shape[1]).matrix()

    def partition(self, entries: int) -> list[tuple[int, int]]:
        """Cut the rows into ranges of about `entries` entries; a row counts as a few more."""
        work = self.indptr[1:] - self.indptr[0] + 16 * np.arange(1, self.shape[0] + 1)
        n_parts = max(1, round(int(work[-1]) / entries))
        inner = np.searchsorted(work, work[-1] * (np.arange(1, n_parts) / n_parts), side="right")
        edges = np.unique(np.concatenate([[0], inner, [self.shape[0]]]))
        return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))


@dataclass(frozen=True)
class DenseMatrix:
    """A matrix of any real type, read a block at a time as float64 minus row and column effects.

    `values` may be a CSR matrix too: it is then made dense one block at a time (new sparse rows
    that are compared with clusters of centred dense ones).
    """

    values: Any
    row_effects: FloatArray | None = None
    column_effects: FloatArray | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return int(self.values.shape[0]), int(self.values.shape[1])

    @property
    def n_stored(self) -> int:
        """Number of entries."""
        return self.shape[0] * self.shape[1]

    def centred(self, centring: Centring, column_effects: FloatArray | None = None) -> DenseMatrix:
        """Return the same data minus typical values of its rows, its columns, both, or all of it.

        Which values are subtracted changes no result, only its accuracy. Medians of a few evenly
        spaced rows and columns serve: outliers do not move them. Effects that are small against
        the spread are left alone, for then nothing cancels and blocks need no copy. Given column
        effects replace the matrix's own.
        """
        columns = column_effects
        if columns is None and centring in ("global", "columns", "double"):
            some_rows = self._raw(0, self.shape[0], _step(self.shape[0], _SAMPLED_ROWS))
            columns = np.median(some_rows, axis=0)
            if centring == "global":
                columns = np.full_like(columns, np.median(columns))
            columns = _unless_small(columns, some_rows - columns)
        rows = None
        if centring in ("rows", "double"):
            step = _step(self.shape[1], _SAMPLED_COLUMNS)
            some_columns = self._some_columns(step)
            if columns is not None:
                some_columns -= columns[::step]
            rows = np.median(some_columns, axis=1)
            rows = _unless_small(rows, some_columns - rows[:, None])
        return replace(self, row_effects=rows, column_effects=columns)

    def block(self, start: int, stop: int) -> FloatArray:
        """Return rows `start` to `stop`, centred: read-only, it may be a view of the data."""
        block = self._raw(start, stop)
        if self.column_effects is not None:
            block = block - self.column_effects
        if self.row_effects is not None:
            block = block - self.row_effects[start:stop, None]
        return block

    def _raw(self, start: int, stop: int, step: int = 1) -> FloatArray:
        rows = self.values[start:stop:step]
        rows = rows.toarray() if sparse.issparse(rows) else rows
        block: FloatArray = np.ascontiguousarray(rows, dtype=np.float64)
        return block

    def _some_columns(self, step: int) -> FloatArray:
        parts = [self._raw(start, stop)[:, ::step] for start, stop in self.partition(_CHUNK)]
        return np.concatenate(parts)

    def take(self, rows: IntArray) -> DenseMatrix:
        """Return a copy of some rows, with the effects they had."""
        effects = None if self.row_effects is None else self.row_effects[rows]
        return DenseMatrix(self.values[rows], effects, self.column_effects)

    def dense_rows(self, rows: IntArray) -> FloatArray:
        """Return a few rows, centred."""
        return self.take(rows).block(0, len(rows))

    def partition(self, entries: int) -> list[tuple[int, int]]:
        """Cut the rows into ranges of about `entries` entries."""
        n, m = self.shape
        n_parts = max(1, round(n * m / entries))
        edges = np.unique(np.linspace(0, n, n_parts + 1).astype(np.intp))
        return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))


def _step(size: int, wanted: int) -> int:
    return max(1, size // wanted)


def _unless_small(effects: FloatArray, deviations: FloatArray) -> FloatArray | None:
    """Return the effects, or None if they are no larger than a few typical deviations."""
    spread = float(np.median(np.abs(deviations)))
    return None if np.mean(effects * effects) <= 16.0 * spread * spread else effects


Matrix: TypeAlias = SparseMatrix | DenseMatrix
