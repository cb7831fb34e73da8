"""Matrices whose rows stay in their source, of which a few blocks at a time are cached.

`neocc.io` has a source on disk; engines know it by the protocol `RowSource` alone. Passes cut such
a matrix where they would cut it in memory, not at the edges of the source's blocks, so that a fit
adds the same numbers in the same order wherever the rows live.
"""

from __future__ import annotations

from collections import OrderedDict
from concurrent.futures import Future, ThreadPoolExecutor
from copy import copy
from itertools import pairwise
from threading import Lock
from typing import Any, Protocol, runtime_checkable

import numpy as np

from neocc._typing import IntArray
from neocc.engines.matrix import DenseMatrix, Matrix, SparseMatrix, slice_rows, split_rows, stacked

__all__ = [
    "CACHED_BYTES",
    "COPIED_BYTES",
    "BlockCache",
    "RowSource",
    "StoredRows",
    "block_bytes",
    "is_full",
    "open_source",
    "source_of",
]


CACHED_BYTES = 32_000_000
"""Blocks are cached up to this total size, and as many large ones as the threads need."""
COPIED_BYTES = 32_000_000
"""A selection of rows is copied up to this size; a larger one is read whenever it is used."""


@runtime_checkable
class RowSource(Protocol):
    """Blocks of rows, one after the other.

    A source is cheap to pickle: it tells a worker how to read the rows and does not hold them.
    All values are finite, and sparse blocks are in canonical form.
    """

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""

    @property
    def n_stored(self) -> int:
        """Number of stored entries."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the numbers."""

    @property
    def is_sparse(self) -> bool:
        """Whether blocks are row-compressed."""

    @property
    def edges(self) -> IntArray:
        """Block i holds rows `edges[i]` to `edges[i + 1]`."""

    @property
    def entries(self) -> IntArray:
        """Number of stored entries of each block."""

    def load(self, index: int) -> Any:
        """Return one block, a `csr_array` or an array; an error if it is damaged."""


def is_full(source: RowSource) -> bool:
    """Whether there is an entry in every cell."""
    return not source.is_sparse or source.n_stored == source.shape[0] * source.shape[1]


def block_bytes(source: RowSource) -> int:
    """Return the bytes of the largest block."""
    entries, rows = int(source.entries.max()), int(np.diff(source.edges).max())
    places = 4 * entries + 8 * rows if source.is_sparse else 0
    return max(1, source.dtype.itemsize * entries + places)


class BlockCache:
    """Blocks of a source by number: those used last, and the next one, read in the background.

    A pass asks for blocks in their order, from several threads.
    """

    def __init__(self, source: RowSource, n_kept: int) -> None:
        self._source, self._n_kept = source, max(1, n_kept)
        self._blocks: OrderedDict[int, Future[Any]] = OrderedDict()
        self._lock = Lock()
        self._reader: ThreadPoolExecutor | None = None

    def find(self, index: int) -> Any:
        """Return a block if it has been read, else None."""
        block = self._blocks.get(index)
        if block is None or not block.done() or block.exception() is not None:
            return None
        return block.result()

    def get(self, index: int) -> Any:
        """Return a block, and have the next one read."""
        with self._lock:
            block = self._request(index)
            self._read_ahead(index + 1)
            self._blocks.move_to_end(index)
            while len(self._blocks) > self._n_kept + 1:
                self._blocks.popitem(last=False)
        try:
            return block.result()
        except BaseException:
            with self._lock:
                self._blocks.pop(index, None)
            raise

    def _read_ahead(self, index: int) -> None:
        if index < len(self._source.entries):
            self._request(index)

    def _request(self, index: int) -> Future[Any]:
        """Have a block read, unless it is there or under way."""
        if index not in self._blocks:
            if self._reader is None:
                self._reader = ThreadPoolExecutor(1, thread_name_prefix="neocc-reader")
            # A source may have a cheaper way to read what a pass soon leaves behind.
            read = getattr(self._source, "read", self._source.load)
            self._blocks[index] = self._reader.submit(read, index)
        return self._blocks[index]


class StoredRows:
    """The rows of a source, or `chosen` ones of them, sliced like those of an array.

    The last `n_kept` blocks are cached, or as many as are small. A selection of rows is copied up
    to `copied_bytes`; a larger one is read whenever it is used, for it may not fit into memory.
    """

    chosen: IntArray | None = None

    def __init__(
        self,
        source: RowSource,
        n_kept: int = 2,
        *,
        cached_bytes: int = CACHED_BYTES,
        copied_bytes: int = COPIED_BYTES,
    ) -> None:
        self.source, self.n_kept = source, n_kept
        self.cached_bytes, self.copied_bytes = cached_bytes, copied_bytes
        self._blocks = BlockCache(source, max(n_kept, cached_bytes // block_bytes(source)))

    def over(self, source: RowSource) -> StoredRows:
        """Return the same rows of another source."""
        limits = {"cached_bytes": self.cached_bytes, "copied_bytes": self.copied_bytes}
        found = StoredRows(source, self.n_kept, **limits)
        found.chosen = self.chosen
        return found

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        n, m = self.source.shape
        return n if self.chosen is None else len(self.chosen), m

    def __getitem__(self, at: slice | IntArray) -> Any:
        """Return rows as an array or a CSR matrix; many rows in any order as `StoredRows`."""
        if isinstance(at, slice):
            start, stop, step = at.indices(self.shape[0])
            if step == 1 and self.chosen is None:
                return self._between(start, stop)
            at = np.arange(start, stop, step)
            return self.take(at if self.chosen is None else self.chosen[at])
        rows = at if self.chosen is None else self.chosen[at]
        # Rows of sparse data are taken to be of average length.
        source, n_rows = self.source, max(1, self.source.shape[0])
        entry = source.dtype.itemsize + (4 if source.is_sparse else 0)
        if entry * source.n_stored * len(rows) / n_rows <= self.copied_bytes:
            return self.take(rows)
        some = copy(self)
        some.chosen = rows
        return some

    def _between(self, start: int, stop: int) -> Any:
        """Return rows `start` to `stop`; views, unless they lie in several blocks."""
        edges = self.source.edges
        first = np.searchsorted(edges[1:-1], start, side="right")
        last = np.searchsorted(edges[1:-1], max(start, stop - 1), side="right")
        return stacked(
            [
                slice_rows(self._blocks.get(index), start - edges[index], stop - edges[index])
                for index in range(first, last + 1)
            ]
        )

    def take(self, rows: IntArray) -> Any:
        """Return a copy of some rows of the source."""
        parts, back = split_rows(rows, self.source.edges)
        pieces = [self._part(index)[at] for index, at in enumerate(parts) if len(at)]
        found = stacked(pieces or [self._blocks.get(0)[:0]])
        return found if back is None else found[back]

    def indptr(self) -> IntArray:
        """Return where the rows of a sparse source begin among its entries."""
        source = self.source
        load = getattr(source, "load_part", source.load)
        indptr = np.zeros(source.shape[0] + 1, dtype=np.int64)
        for index, (start, stop) in enumerate(pairwise(source.edges)):
            indptr[start + 1 : stop + 1] = load(index).indptr[1:] + indptr[start]
        return indptr

    def _part(self, index: int) -> Any:
        """Return a block of which a few rows are wanted, without reading the rest if possible."""
        cached = self._blocks.find(index)
        load = getattr(self.source, "load_part", self._blocks.get)
        return load(index) if cached is None else cached


def open_source(source: RowSource, n_kept: int = 2, **limits: int) -> Matrix:
    """Return the matrix of a source; one with an entry in every cell is dense, as in memory."""
    rows = StoredRows(source, n_kept, **limits)
    return DenseMatrix(rows) if is_full(source) else SparseMatrix(rows, rows.indptr())


def source_of(matrix: Matrix) -> RowSource | None:
    """Return the source that a matrix reads all rows of, None for one in memory."""
    rows = matrix.values
    return rows.source if isinstance(rows, StoredRows) and rows.chosen is None else None
