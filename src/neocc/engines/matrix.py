"""The matrix as it was given, cut into blocks of rows: sparse rows untouched, dense rows centred on the fly."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from neocc._typing import AnyArray, FloatArray, IntArray
from neocc.core.engine import Centring
from neocc.kernels import SparseBlock

_CHUNK = 1 << 18


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

    def centred(
        self, centring: Centring, column_effects: FloatArray | None = None
    ) -> SparseMatrix:
        """Return the matrix itself; subtracting anything would fill it."""
        return self

    def block(self, start: int, stop: int) -> SparseBlock:
        """Return rows `start` to `stop` as views."""
        return SparseBlock(
            self.indptr[start : stop + 1], self.indices, self.data, self.shape[1]
        )

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
        """Cut the rows into ranges of about `entries` stored entries; a row counts as a few more."""
        work = self.indptr[1:] - self.indptr[0] + 16 * np.arange(1, self.shape[0] + 1)
        n_parts = max(1, round(int(work[-1]) / entries))
        inner = np.searchsorted(work, work[-1] * (np.arange(1, n_parts) / n_parts), side="right")
        edges = np.unique(np.concatenate([[0], inner, [self.shape[0]]]))
        return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))


@dataclass(frozen=True)
class DenseMatrix:
    """A matrix of any real type, read as dense float64 minus row and column effects, a block at a time.

    `values` may be a CSR matrix too: it is then made dense one block at a time (new sparse rows that are
    compared with clusters of centred dense ones).
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

    @cached_property
    def means(self) -> tuple[FloatArray, FloatArray]:
        """Means of the rows and of the columns, as given."""
        n, m = self.shape
        row_means = np.empty(n)
        column_totals = np.zeros(m)
        for start, stop in self.partition(_CHUNK):
            block = self._raw(start, stop)
            row_means[start:stop] = block.mean(axis=1)
            column_totals += block.sum(axis=0)
        return row_means, column_totals / n

    def centred(
        self, centring: Centring, column_effects: FloatArray | None = None
    ) -> DenseMatrix:
        """Return the same data minus row means, column means, both, or the overall mean.

        Given column effects take the place of this matrix's own column or overall means.
        """
        rows = None
        columns = column_effects
        if columns is None and centring in ("columns", "double", "global"):
            columns = self.means[1]
            if centring == "global":
                columns = np.full_like(columns, columns.mean())
        if centring in ("rows", "double"):
            rows = self.means[0] - (0.0 if columns is None else columns.mean())
        return replace(self, row_effects=rows, column_effects=columns)

    def block(self, start: int, stop: int) -> FloatArray:
        """Return rows `start` to `stop`, centred, as a new float64 array."""
        block = self._raw(start, stop)
        if self.column_effects is not None:
            block -= self.column_effects
        if self.row_effects is not None:
            block -= self.row_effects[start:stop, None]
        return block

    def _raw(self, start: int, stop: int) -> FloatArray:
        rows = self.values[start:stop]
        rows = rows.toarray() if sparse.issparse(rows) else rows
        block: FloatArray = rows.astype(np.float64, order="C")
        return block

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


Matrix: TypeAlias = SparseMatrix | DenseMatrix
