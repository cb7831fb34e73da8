"""Rows that come in pieces of any size, cut into blocks of the size asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from neocc.io.blocks._writer import StoreWriter

__all__ = ["ENTRY_BYTES", "Cutter"]

# A stored entry of a sparse block: its column and its value, as float64.
ENTRY_BYTES = 12
_POINTER_BYTES = 8


class Cutter:
    """Collects rows and writes a block whenever there are enough of them.

    Parameters
    ----------
    writer : StoreWriter
        Where blocks go.
    rows_per_block : int or None
        Number of rows of a block; None lets `block_bytes` decide.
    block_bytes : int
        Largest number of bytes of a block, unless one row has more.
    """

    def __init__(self, writer: StoreWriter, rows_per_block: int | None, block_bytes: int) -> None:
        self.writer = writer
        self.rows_per_block = rows_per_block
        self.block_bytes = block_bytes
        self._waiting: list[Any] = []
        self._n_waiting = 0
        self._bytes_waiting = 0

    def add(self, rows: Any) -> None:
        """Take rows in, and write as many blocks as they fill."""
        while rows.shape[0]:
            if self._waiting and rows.shape[1] != self._waiting[0].shape[1]:
                self._flush()
            taken = self._fitting(rows)
            if taken == 0:
                self._flush()
                continue
            piece, rows = rows[:taken], rows[taken:]
            self._waiting.append(piece)
            self._n_waiting += taken
            self._bytes_waiting += _size(piece)
            if self._n_waiting == self.rows_per_block or rows.shape[0]:
                self._flush()

    def end(self) -> None:
        """Write what is left."""
        self._flush()

    def _fitting(self, rows: Any) -> int:
        """Return how many of the rows the block under way has room for; one at least if empty."""
        n_rows = int(rows.shape[0])
        if self.rows_per_block is not None:
            return min(n_rows, self.rows_per_block - self._n_waiting)
        room = self.block_bytes - self._bytes_waiting
        if sparse.issparse(rows):
            ends = (rows.indptr[1:] - rows.indptr[0]).astype(np.int64) * ENTRY_BYTES
            ends += _POINTER_BYTES * np.arange(1, n_rows + 1)
            taken = int(np.searchsorted(ends, room, side="right"))
        else:
            taken = min(n_rows, room // max(1, rows.itemsize * rows.shape[1]))
        return max(taken, 0 if self._waiting else 1)

    def _flush(self) -> None:
        if not self._waiting:
            return
        pieces, self._waiting = self._waiting, []
        self._n_waiting = self._bytes_waiting = 0
        if len(pieces) > 1 and len({bool(sparse.issparse(one)) for one in pieces}) == 1:
            stack = sparse.vstack if sparse.issparse(pieces[0]) else np.concatenate
            pieces = [stack(pieces)]
        for piece in pieces:
            self.writer.add(piece)


def _size(rows: Any) -> int:
    if sparse.issparse(rows):
        return int(rows.nnz) * ENTRY_BYTES + _POINTER_BYTES * int(rows.shape[0])
    return int(rows.nbytes)
