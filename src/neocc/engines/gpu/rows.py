"""The rows of a matrix on a card: all of them, or a part at a time where they do not fit."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, ClassVar

from neocc.engines.gpu.device import Device
from neocc.engines.gpu.matrix import DenseCard, SparseCard
from neocc.engines.matrix import DenseMatrix, Matrix
from neocc.engines.observed import ObservedMatrix
from neocc.engines.stored import source_of

__all__ = ["HeldRows", "bytes_on_card"]

# Parts that pass through take as much as so many that stay.
_AT_ONCE = 6


class HeldRows:
    """Rows that are put on a card when they are first read.

    Those of a store, and all that do not fit, are cut into parts. The first of these stay on the
    card; the others pass through it in every pass, each while the one before is worked on.
    """

    # Entries of a part: few enough that several are there at once.
    part_entries: ClassVar[int] = 1 << 26
    # Of the memory that is free, what data may take; the rest is for tables.
    share: ClassVar[float] = 0.75

    def __init__(self, matrix: Matrix, device: Device) -> None:
        self.matrix, self.device = matrix, device
        # Ranges of rows; those that stay, and those that pass through.
        self._kept: list[tuple[slice, Any]] | None = None
        self._passing: list[tuple[int, int]] = []

    def parts(self) -> Iterator[tuple[slice, Any]]:
        """Return ranges of rows, in order, and what is on the card of each."""
        yield from self._resident()
        if not self._passing:
            return
        blocks = (self.matrix.block(*rows) for rows in self._passing)
        fed = self.device.kernels.feed(blocks)
        for rows, held in zip(self._passing, fed, strict=True):
            yield slice(*rows), held

    @property
    def whole(self) -> Any:
        """All rows, where they stay in one piece."""
        ((_, held),) = self._resident()
        return held

    def _resident(self) -> list[tuple[slice, Any]]:
        if self._kept is None:
            self._kept = []
            n_kept = self._planned()
            for rows in self._ranges[:n_kept]:
                self._kept.append((slice(*rows), self.device.kernels.hold(self._block(*rows))))
            self._passing = self._ranges[n_kept:]
        return self._kept

    def _block(self, start: int, stop: int) -> Any:
        matrix = self.matrix
        if isinstance(matrix, SparseCard | DenseCard):
            return matrix.on_card()
        return matrix.block(start, stop)

    def _planned(self) -> int:
        """Cut the rows into ranges; return how many of them stay on the card."""
        matrix, device = self.matrix, self.device
        (n, m), needed = matrix.shape, bytes_on_card(matrix)
        what = f"a matrix of {n} rows, {m} columns and {matrix.n_stored} entries"
        free = device.free()
        on_card = isinstance(matrix, SparseCard | DenseCard)
        self._ranges = [(0, n)]
        if free is None or needed <= free:
            if on_card or source_of(matrix) is None:
                return 1
        elif on_card:
            device.require(needed, what)
        per_entry = needed / max(1, matrix.n_stored)
        room = matrix.n_stored if free is None else int(self.share * free / per_entry)
        # Two are there at a time, and one is sorted by columns.
        entries = max(1, min(self.part_entries, room // _AT_ONCE))
        self._ranges = matrix.partition(entries)
        ends = [0, *(stop for _, stop in self._ranges)]
        sizes = [self._entries(*rows) for rows in pairwise(ends)]
        if sum(sizes) <= room:
            return len(sizes)
        left = room - _AT_ONCE * max(sizes)
        if left < 0:
            least = int(_AT_ONCE * per_entry * max(sizes) / self.share)
            device.require(least, f"the longest part of {what}")
        n_kept = 0
        while sizes[n_kept] <= left:
            left -= sizes[n_kept]
            n_kept += 1
        return n_kept

    def _entries(self, start: int, stop: int) -> int:
        if isinstance(self.matrix, DenseMatrix):
            return (stop - start) * self.matrix.shape[1]
        return int(self.matrix.indptr[stop] - self.matrix.indptr[start])


def bytes_on_card(matrix: Matrix) -> int:
    """Return what a matrix takes there: rows, and columns for sparse data."""
    if isinstance(matrix, DenseMatrix):
        return 8 * matrix.n_stored
    source = source_of(matrix)
    # Indices of four bytes and of two; the columns are made a part at a time.
    size = int((matrix.values if source is None else source).dtype.itemsize)
    per_entry = 2 * size + 6
    if isinstance(matrix, ObservedMatrix):
        # Values times weights, weights, and columns of both.
        per_entry += 2 * size + 2 if matrix.weights is None else 36
    return per_entry * matrix.n_stored + 16 * sum(matrix.shape)
