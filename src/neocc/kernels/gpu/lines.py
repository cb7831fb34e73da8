"""Sparse rows, and the columns of the same matrix, as kernels on a card read them.

Sums over clusters look up the cluster of every entry. Clusters of 65536 items of the other side fit
into the fast memory of a block of threads, so entries are read in bands of so many. Rows are cut
where bands begin; columns are a copy, sorted by band and column, whose indices take two bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

__all__ = ["BAND", "Lines", "SparseOnCard"]

BAND = 1 << 16
# Entries of an item that a thread takes before another one helps it.
_PER_THREAD = 16
# What an item costs beside its entries, in entries.
_PER_ITEM = 64


@dataclass(eq=False)
class Lines:
    """Items with their entries, in bands of the other side: the arguments of `sums.cu`."""

    xp: Any
    n_items: int
    n_others: int
    width: int
    starts: Any
    stops: Any
    indices: Any
    values: Any
    local: bool
    edges: dict[int, Any] = field(default_factory=dict)

    @property
    def n_bands(self) -> int:
        """Number of bands."""
        return max(1, -(-self.n_others // self.width))

    @cached_property
    def group(self) -> int:
        """Number of threads that share an item: a power of two."""
        length = len(self.indices) // max(1, self.n_items * self.n_bands)
        return 1 << min(5, max(0, (length // _PER_THREAD).bit_length() - 1))

    def cut(self, n_parts: int) -> Any:
        """Return the edges of ranges of items that take about as long as each other."""
        if n_parts not in self.edges:
            xp = self.xp
            shape = (self.n_bands, self.n_items)
            lengths = self.stops[: shape[0] * shape[1]] - self.starts[: shape[0] * shape[1]]
            work = xp.cumsum(lengths.reshape(shape).sum(axis=0) + _PER_ITEM)
            wanted = work[-1] * xp.arange(1, n_parts, dtype=xp.float64) / n_parts
            inner = xp.searchsorted(work.astype(xp.float64), wanted)
            ends = xp.asarray([0]), xp.asarray([self.n_items])
            self.edges[n_parts] = xp.concatenate([ends[0], inner, ends[1]]).astype(xp.int64)
        return self.edges[n_parts]


@dataclass(eq=False)
class SparseOnCard:
    """A CSR matrix on the card, and its columns.

    Attributes
    ----------
    launch : callable
        Calls a kernel of `scores.cu` with a number of threads.
    weights : array or None
        Weights of observed cells, in the order of the entries.
    """

    xp: Any
    launch: Any
    indptr: Any
    indices: Any
    data: Any
    n_columns: int
    weights: Any = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.indptr) - 1

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return self.n_rows, self.n_columns

    @cached_property
    def rows(self) -> Lines:
        """The rows, in one band."""
        ptr, shape = self.indptr, (self.n_rows, self.n_columns)
        ends = (max(1, self.n_columns), ptr[:-1], ptr[1:])
        return Lines(self.xp, *shape, *ends, self.indices, self.data, local=False)

    @cached_property
    def cut_rows(self) -> Lines:
        """The rows, in bands of columns."""
        n, n_bands = self.n_rows, max(1, -(-self.n_columns // BAND))
        starts = self.xp.empty((n_bands + 1) * n, dtype=self.xp.int64)
        sizes = (np.int64(n), np.int32(n_bands), np.int64(BAND))
        self.launch("band_starts", len(starts), *sizes, self.indptr, self.indices, starts)
        ends = (BAND, starts, starts[n:])
        shape = (n, self.n_columns)
        return Lines(self.xp, *shape, *ends, self.indices, self.data, local=False)

    @cached_property
    def columns(self) -> Lines:
        """The columns, in bands of rows."""
        return self._transposed(self.data)

    @cached_property
    def observed(self) -> tuple[SparseOnCard, SparseOnCard]:
        """Observed cells times their weights, and the weights."""
        if self.weights is None:
            return self, self._with_data(self.xp.ones_like(self.data))
        weighted = self.data * self.xp.sqrt(self.weights)
        return self._with_data(weighted), self._with_data(self.weights)

    def _with_data(self, data: Any) -> SparseOnCard:
        return SparseOnCard(self.xp, self.launch, self.indptr, self.indices, data, self.n_columns)

    def _transposed(self, data: Any) -> Lines:
        """Sort entries by band of rows, column and row."""
        xp, n, m = self.xp, self.n_rows, self.n_columns
        begins = list(range(0, max(n, 1), BAND))
        values, local = xp.empty_like(data), xp.empty(len(data), dtype=xp.uint16)
        ptr = xp.zeros(len(begins) * m + 1, dtype=xp.int64)
        for i, begin in enumerate(begins):
            end = min(begin + BAND, n)
            low, high = int(self.indptr[begin]), int(self.indptr[end])
            ptr[i * m + 1 : (i + 1) * m + 1] = low
            if low == high:
                continue
            keys = xp.empty(high - low, dtype=xp.uint64)
            ends = (np.int64(high - low), np.int64(begin), np.int64(end))
            self.launch("entry_keys", high - low, *ends, self.indptr, self.indices, keys)
            order = xp.argsort(keys)
            values[low:high] = data[low:high][order]
            local[low:high] = (keys[order] & (BAND - 1)).astype(xp.uint16)
            counts = xp.bincount(self.indices[low:high], minlength=m)
            ptr[i * m + 1 : (i + 1) * m + 1] += xp.cumsum(counts)
        return Lines(xp, m, n, BAND, ptr[:-1], ptr[1:], local, values, local=True)
