"""The matrix as given, in blocks of rows: sparse ones untouched, dense ones centred on the fly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, Union

import numpy as np
from scipy import sparse

from neocc._typing import AnyArray, FloatArray, IntArray
from neocc.core.objectives import Centring
from neocc.kernels import SparseBlock

if TYPE_CHECKING:
    from neocc.engines.stored import StoredMatrix

_CHUNK = 1 << 18
# A centred copy of so few entries is kept.
_SMALL = 1 << 20
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

    def raw_rows(self, rows: IntArray) -> Any:
        """Return a copy of some rows as given."""
        return self.scipy()[rows]

    def take_columns(self, columns: IntArray) -> SparseMatrix:
        """Return a copy of some columns."""
        return SparseMatrix.from_scipy(self.scipy()[:, columns])

    def dense_rows(self, rows: IntArray) -> FloatArray:
        """Return a few rows as a dense table."""
        table: FloatArray = self.take(rows).scipy().toarray().astype(np.float64)
        return table

    def scipy(self) -> sparse.csr_array:
        """Return the matrix as SciPy's, sharing its arrays."""
        return SparseBlock(self.indptr, self.indices, self.data, self.shape[1]).matrix()

    def partition(self, entries: int) -> list[tuple[int, int]]:
        """Cut the rows into ranges of about `entries` entries."""
        return cut_by_entries(self.indptr, entries)


@dataclass(frozen=True)
class DenseMatrix:
    """A matrix of any real type, read a block at a time as float64 minus row and column effects.

    `values` may be a CSR matrix too: it is then made dense one block at a time (new sparse rows
    that are compared with clusters of centred dense ones). Rows on disk are sliced like an array
    (`neocc.engines.stored`).
    """

    values: Any
    row_effects: FloatArray | None = None
    column_effects: FloatArray | None = None

    @cached_property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return int(self.values.shape[0]), int(self.values.shape[1])

    @cached_property
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
        if self.n_stored <= _SMALL:
            return self._small[start:stop]
        return self._centred(start, stop)

    @cached_property
    def _small(self) -> FloatArray:
        """All rows, centred: of a small matrix they are made once."""
        return self._centred(0, self.shape[0])

    def _centred(self, start: int, stop: int) -> FloatArray:
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

    def raw_rows(self, rows: IntArray) -> Any:
        """Return a copy of some rows as given."""
        return self.values[rows]

    def take_columns(self, columns: IntArray) -> DenseMatrix:
        """Return a copy of some columns, with the effects they had."""
        parts = [self.values[start:stop][:, columns] for start, stop in self.partition(_CHUNK)]
        effects = None if self.column_effects is None else self.column_effects[columns]
        return DenseMatrix(stacked(parts), self.row_effects, effects)

    def dense_rows(self, rows: IntArray) -> FloatArray:
        """Return a few rows, centred."""
        return self.take(rows).block(0, len(rows))

    def partition(self, entries: int) -> list[tuple[int, int]]:
        """Cut the rows into ranges of about `entries` entries."""
        n, m = self.shape
        n_parts = max(1, round(n * m / entries))
        edges = np.unique(np.linspace(0, n, n_parts + 1).astype(np.intp))
        return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))


def cut_by_entries(indptr: AnyArray, entries: int) -> list[tuple[int, int]]:
    """Cut the rows of a CSR matrix into ranges of about `entries` entries.

    A row counts as 64 more.
    """
    n = len(indptr) - 1
    if n == 0:
        return []
    work = indptr[1:] - indptr[0] + 64 * np.arange(1, n + 1)
    n_parts = max(1, round(int(work[-1]) / entries))
    inner = np.searchsorted(work, work[-1] * (np.arange(1, n_parts) / n_parts), side="right")
    edges = np.unique(np.concatenate([[0], inner, [n]]))
    return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))


def sampled_rows(n_rows: int) -> slice:
    """Return the few evenly spaced rows that effects are judged by."""
    return slice(None, None, max(1, n_rows // _SAMPLED_ROWS))


def find_effects(
    sampled: FloatArray,
    n_rows: int,
    centring: Centring,
    column_effects: FloatArray | None,
    row_medians: Callable[[FloatArray], FloatArray],
) -> tuple[FloatArray | None, FloatArray | None]:
    """Return the row and column effects that `DenseMatrix.centred` subtracts, None for none.

    `sampled` holds the `sampled_rows`; `row_medians` gives the medians of all rows minus column
    effects, wherever these rows are.
    """
    own_columns = column_effects is None and centring in ("global", "columns", "double")
    columns = np.zeros(sampled.shape[1]) if column_effects is None else column_effects
    if own_columns:
        columns = np.median(sampled, axis=0)
        if centring == "global":
            columns = np.full_like(columns, np.median(columns))
    rows = row_medians(columns) if centring in ("rows", "double") else np.zeros(n_rows)
    # Judged with both removed: large effects of one kind would hide those of the other.
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


Matrix: TypeAlias = Union[SparseMatrix, DenseMatrix, "StoredMatrix"]
