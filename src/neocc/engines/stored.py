"""Matrices whose rows stay where a source has them; a few blocks at a time are cached.

They are cut where a matrix in memory would be cut, not where the source has its blocks, so that a
fit adds the same numbers in the same order wherever the rows live.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from neocc._typing import FloatArray, IntArray
from neocc.engines.block_cache import BlockCache
from neocc.engines.matrix import DenseMatrix, SparseMatrix, cut_by_entries, stacked
from neocc.engines.source import RowSource
from neocc.kernels import SparseBlock

__all__ = [
    "CACHED_BYTES",
    "COPIED_BYTES",
    "ChosenRows",
    "StoredMatrix",
    "StoredRows",
    "block_bytes",
    "open_source",
    "source_of",
]


_CHUNK = 1 << 20

CACHED_BYTES = 32_000_000
"""Blocks are cached up to this many bytes in all; large ones as many as threads need."""
COPIED_BYTES = 32_000_000
"""A selection of rows is copied up to this size; a larger one is read whenever it is used."""


def block_bytes(source: RowSource) -> int:
    """Return the bytes of the largest block."""
    entries, rows = int(source.entries.max()), int(np.diff(source.edges).max())
    places = 4 * entries + 8 * rows if source.is_sparse else 0
    return max(1, source.dtype.itemsize * entries + places)


@dataclass(frozen=True, eq=False)
class StoredRows:
    """The rows of a source, sliced like those of an array.

    The blocks used last are kept: as many as threads work at the same time and one more, and more
    of small ones.
    """

    source: RowSource
    n_kept: int = 2
    copied_bytes: int = COPIED_BYTES

    @cached_property
    def _blocks(self) -> BlockCache:
        return BlockCache(self.source, self.n_kept)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return self.source.shape

    def __getitem__(self, at: slice | IntArray) -> Any:
        """Return rows as an array or a CSR matrix; many rows in any order as `ChosenRows`."""
        if isinstance(at, slice):
            start, stop, step = at.indices(self.shape[0])
            if step == 1:
                return self.between(start, stop)
            return self.take(np.arange(start, stop, step))
        return self.some(at, len(at) * self.shape[1])

    def between(self, start: int, stop: int) -> Any:
        """Return rows `start` to `stop`; views of a block unless they lie in several."""
        pieces = [self.block(index)[low:high] for index, low, high in self.pieces_of(start, stop)]
        return pieces[0] if len(pieces) == 1 else stacked(pieces)

    def take(self, rows: IntArray) -> Any:
        """Return a copy of some rows."""
        order = np.argsort(rows, kind="stable")
        ordered = rows[order]
        cuts = np.searchsorted(ordered, self.source.edges)
        pieces = [
            self._part(index)[ordered[low:high] - self.source.edges[index]]
            for index, (low, high) in enumerate(pairwise(cuts))
            if low < high
        ]
        if not pieces:
            return self.block(0)[:0]
        joined = stacked(pieces)
        if (ordered == rows).all():
            return joined
        back = np.empty(len(rows), dtype=np.intp)
        back[order] = np.arange(len(rows))
        return joined[back]

    def some(self, rows: IntArray, n_entries: int) -> Any:
        """Return a copy of rows that hold so many entries, `ChosenRows` if it would be large."""
        entry = self.source.dtype.itemsize + (4 if self.source.is_sparse else 0)
        return self.take(rows) if entry * n_entries <= self.copied_bytes else ChosenRows(self, rows)

    def csr_block(self, start: int, stop: int) -> SparseBlock:
        """Return rows of a sparse source, as views where they lie in one of its blocks."""
        pieces = list(self.pieces_of(start, stop))
        if len(pieces) > 1:
            return _csr_block(self.between(start, stop))
        index, low, high = pieces[0]
        X = self.block(index)
        return SparseBlock(X.indptr[low : high + 1], X.indices, X.data, self.shape[1])

    def block(self, index: int) -> Any:
        """Return a block of the source, from among those used last where it is there."""
        return self._blocks.get(index)

    def _part(self, index: int) -> Any:
        """Return a block of which a few rows are wanted, without reading the rest if possible."""
        kept = self._blocks.find(index)
        if kept is not None:
            return kept
        return _part(self.source, index) if hasattr(self.source, "load_part") else self.block(index)

    def pieces_of(self, start: int, stop: int) -> Iterator[tuple[int, int, int]]:
        """Yield the blocks that hold some rows, and where in them these lie."""
        edges = self.source.edges
        index = max(0, int(np.searchsorted(edges, start, side="right")) - 1)
        index = min(index, len(edges) - 2)
        while True:
            low, high = int(edges[index]), int(edges[index + 1])
            yield index, max(start, low) - low, max(start, min(stop, high)) - low
            if stop <= high or index == len(edges) - 2:
                return
            index += 1


@dataclass(frozen=True, eq=False)
class ChosenRows:
    """Some of the rows of a source, in any order, read whenever they are used.

    The rows that change clusters, and those of a sample, may be more than memory holds.
    """

    rows: StoredRows
    chosen: IntArray

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return len(self.chosen), self.rows.shape[1]

    def __getitem__(self, at: slice | IntArray) -> Any:
        """Return some of the rows, as `StoredRows` does."""
        chosen = self.chosen[at]
        return self.rows.take(chosen) if isinstance(at, slice) else self.rows[chosen]

    def take(self, at: IntArray) -> Any:
        """Return a copy of some of the rows."""
        return self.rows.take(self.chosen[at])

    def some(self, at: IntArray, n_entries: int) -> Any:
        """Return some of the rows, as `StoredRows` does."""
        return self.rows.some(self.chosen[at], n_entries)

    def csr_block(self, start: int, stop: int) -> SparseBlock:
        """Return a copy of some rows of a sparse source."""
        return _csr_block(self[start:stop])


@dataclass(frozen=True, eq=False)
class StoredMatrix:
    """A sparse matrix in a source; like `SparseMatrix`, it is never centred."""

    rows: StoredRows | ChosenRows
    indptr: IntArray

    row_effects: None = None
    column_effects: None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return self.rows.shape

    @property
    def n_stored(self) -> int:
        """Number of stored entries."""
        return int(self.indptr[-1])

    def centred(self, *_: object) -> StoredMatrix:
        """Return the matrix itself; subtracting anything would fill it."""
        return self

    def block(self, start: int, stop: int) -> SparseBlock:
        """Return rows `start` to `stop`, as views where they lie in one block of the source."""
        return self.rows.csr_block(start, stop)

    def take(self, rows: IntArray) -> SparseMatrix | StoredMatrix:
        """Return some rows: a copy in memory, unless there are many."""
        sizes = self.indptr[rows + 1] - self.indptr[rows]
        some = self.rows.some(rows, int(sizes.sum()))
        if isinstance(some, ChosenRows):
            return StoredMatrix(some, np.concatenate([[0], np.cumsum(sizes)]))
        return SparseMatrix.from_scipy(some)

    def raw_rows(self, rows: IntArray) -> Any:
        """Return a copy of some rows as given."""
        return self.rows.take(rows)

    def take_columns(self, columns: IntArray) -> SparseMatrix:
        """Return a copy of some columns, in memory."""
        blocks = (self.block(*rows) for rows in self.partition(_CHUNK))
        return SparseMatrix.from_scipy(stacked([block.matrix()[:, columns] for block in blocks]))

    def dense_rows(self, rows: IntArray) -> FloatArray:
        """Return a few rows as a dense table."""
        return SparseMatrix.from_scipy(self.rows.take(rows)).dense_rows(np.arange(len(rows)))

    def partition(self, entries: int) -> list[tuple[int, int]]:
        """Cut the rows into ranges of about `entries` entries, as in memory."""
        return cut_by_entries(self.indptr, entries)


def open_source(
    source: RowSource,
    n_kept: int = 2,
    *,
    cached_bytes: int = CACHED_BYTES,
    copied_bytes: int = COPIED_BYTES,
) -> StoredMatrix | DenseMatrix:
    """Return the matrix of a source; one with an entry in every cell is dense, as in memory."""
    n_kept = max(n_kept, cached_bytes // block_bytes(source))
    rows = StoredRows(source, n_kept, copied_bytes)
    n, m = source.shape
    if not source.is_sparse or source.n_stored == n * m:
        return DenseMatrix(rows)
    indptr = np.zeros(n + 1, dtype=np.int64)
    for index, (start, stop) in enumerate(pairwise(source.edges)):
        pointers = _part(source, index).indptr
        indptr[start + 1 : stop + 1] = pointers[1:] + indptr[start]
    return StoredMatrix(rows, indptr)


def source_of(matrix: Any) -> RowSource | None:
    """Return the source that a matrix reads from, None for one in memory."""
    rows = matrix.values if isinstance(matrix, DenseMatrix) else getattr(matrix, "rows", None)
    return rows.source if isinstance(rows, StoredRows) else None


def _part(source: RowSource, index: int) -> Any:
    """Return a block of a source; what is not touched is not read, if the source can do that."""
    load = getattr(source, "load_part", source.load)
    return load(index)


def _csr_block(X: Any) -> SparseBlock:
    return SparseBlock(X.indptr, X.indices, X.data, int(X.shape[1]))
