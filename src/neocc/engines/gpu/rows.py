"""The rows of a matrix on a card: all of them, or a part at a time where they do not fit."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from neocc.core.problem import Problem
from neocc.engines.gpu.device import Device
from neocc.engines.gpu.matrix import DenseCard, SparseCard
from neocc.engines.matrix import DenseMatrix, Matrix
from neocc.engines.observed import ObservedMatrix
from neocc.engines.passes import DEFAULTS, PassOptions
from neocc.engines.stored import StoredRows
from neocc.kernels.gpu.lines import BAND

__all__ = ["HeldRows", "bytes_of_tables", "bytes_on_card"]

# Bytes that sorting an entry of a band by columns takes meanwhile.
_SORTING = 40
# Of the memory that is free, what is asked for at once; the driver needs some too.
_RESERVED = 0.9


class HeldRows:
    """Rows that are put on a card when they are first read.

    Those of a store, and all that do not fit, are cut into parts. The first of these stay on the
    card; the others pass through it in every pass. Data that are there already stay, but of parts
    that pass through columns are sorted in every pass.
    """

    # Of the memory that is free, what data may take at most; the rest is for tables.
    share: ClassVar[float] = 0.75

    def __init__(
        self, matrix: Matrix, device: Device, tables: int = 0, options: PassOptions = DEFAULTS
    ) -> None:
        self.matrix, self.device, self.tables, self.options = matrix, device, tables, options
        self.clear()

    def clear(self) -> None:
        """Forget what is on the card."""
        # Ranges of rows; those that stay, and those that pass through.
        self._kept: list[tuple[slice, Any]] | None = None
        self._passing: list[tuple[int, int]] = []

    def parts(self) -> Iterator[tuple[slice, Any]]:
        """Return ranges of rows, in order, and what is on the card of each."""
        yield from self._resident()
        yield from map(self._put, self._passing)

    def _resident(self) -> list[tuple[slice, Any]]:
        if self._kept is None:
            ranges, n_kept = self._planned()
            self._kept = list(map(self._put, ranges[:n_kept]))
            self._passing = ranges[n_kept:]
        return self._kept

    def _put(self, rows: tuple[int, int]) -> tuple[slice, Any]:
        matrix: Any = self.matrix
        read = getattr(matrix, "on_card", matrix.block)
        return slice(*rows), self.device.kernels.hold(read(*rows))

    def _planned(self) -> tuple[list[tuple[int, int]], int]:
        """Cut the rows into ranges; return these, and how many of them stay on the card."""
        matrix, free = self.matrix, self.device.free()
        n, stored = matrix.shape[0], isinstance(matrix.values, StoredRows)
        if free is None:
            ranges = matrix.partition(self.options.part_entries) if stored else [(0, n)]
            return ranges, len(ranges)
        room = min(int(self.share * free), free - self.tables)
        needed = bytes_on_card(matrix) + self._sorted_at_once()
        if not stored and needed <= room:
            self.device.reserve(min(needed + self.tables, int(_RESERVED * free)))
            return [(0, n)], 1
        room -= _bytes_of_lines(matrix)
        # Parts of rows that are on the card begin anywhere, and are copied to where vectors do.
        stays = _bytes_of_entry(matrix, copied=True)
        # Two are there at a time, and one is sorted by columns.
        passes = 2 * stays + (0 if isinstance(matrix, DenseMatrix) else _SORTING)
        if room <= 0:
            self._refuse(self._entries(0, min(1, n)) * passes)
        # Ranges have about as many entries as they should; some have more.
        entries = min(self.options.part_entries, int(room / max(1.0, 2 * passes)))
        ranges = matrix.partition(max(1, entries))
        ends = [0, *(stop for _, stop in ranges)]
        sizes = [self._entries(*rows) for rows in pairwise(ends)]
        largest = passes * max(sizes)
        if largest > room:
            self._refuse(largest)
        if stays * sum(sizes) + _SORTING * max(sizes) <= room:
            return ranges, len(ranges)
        left, n_kept = room - largest, 0
        while n_kept < len(sizes) and stays * sizes[n_kept] <= left:
            left -= stays * sizes[n_kept]
            n_kept += 1
        return ranges, n_kept

    def _refuse(self, largest: float) -> None:
        """Say what the longest part, of so many bytes, and tables take: too much."""
        (n, m), matrix = self.matrix.shape, self.matrix
        what = f"a matrix of {n} rows, {m} columns and {matrix.n_stored} entries"
        lines = int(largest) + _bytes_of_lines(matrix)
        needed = max(int(lines / self.share), lines + self.tables)
        self.device.require(needed + 1, f"the longest part of {what}, with its tables,")

    def _sorted_at_once(self) -> int:
        """Return what is taken while columns of a band of all rows are sorted."""
        if isinstance(self.matrix, DenseMatrix):
            return 0
        ends = np.append(self.matrix.indptr[:-1:BAND], self.matrix.indptr[-1])
        return _SORTING * int(np.diff(ends).max(initial=0))

    def _entries(self, start: int, stop: int) -> int:
        if isinstance(self.matrix, DenseMatrix):
            return (stop - start) * self.matrix.shape[1]
        return int(self.matrix.indptr[stop] - self.matrix.indptr[start])


def bytes_on_card(matrix: Matrix) -> int:
    """Return what a matrix takes there, beside what is there: rows, and columns of sparse data."""
    return _bytes_of_entry(matrix) * matrix.n_stored + _bytes_of_lines(matrix)


def _bytes_of_entry(matrix: Matrix, *, copied: bool = False) -> int:
    """Return what an entry takes; rows on the card take nothing, unless they are copied there."""
    if isinstance(matrix, DenseMatrix):
        ready = isinstance(matrix, DenseCard) and matrix.is_ready
        return 0 if ready else 8
    values = matrix.values
    dtype = (values.source if isinstance(values, StoredRows) else values).dtype
    # Indices of four bytes and of two; the columns are made a part at a time.
    size = int(dtype.itemsize)
    found = size + 2
    if copied or not isinstance(matrix, SparseCard):
        found += size + 4
    elif values.indices.dtype.itemsize > 4:
        found += 4
    if isinstance(matrix, ObservedMatrix):
        # Values times weights, weights, and columns of both; values of the card stay beside them.
        found += 2 * size + 2 if matrix.weights is None else 36
        found += 8 if matrix.weights is not None and isinstance(matrix, SparseCard) else 0
    return found


def _bytes_of_lines(matrix: Matrix) -> int:
    """Return what tells where rows and columns begin, in every band of the other side."""
    if isinstance(matrix, DenseMatrix):
        return 0
    n, m = matrix.shape
    cut = 8 * n * (m // BAND + 2) if m > BAND else 0
    return 16 * (n + m) + 8 * m * (n // BAND + 1) + cut


def bytes_of_tables(shape: tuple[int, int], problem: Problem) -> int:
    """Return about what sums, distances, sets of clusters and memberships of a fit take."""
    model, found = problem.overlap_model, 0
    sides = (problem.rows, problem.columns)
    n_clusters = [0 if counts is None else counts.n_clusters for counts in sides]
    for n, own, other in zip(shape, n_clusters, n_clusters[::-1], strict=True):
        numbers = own + other
        if model.blends:
            numbers += (own**2 + other**2) // 2
        if problem.needs_products or not other:
            numbers += own + other
        if problem.objective.needs_counts:
            numbers += other
        found += n * (8 * numbers + 64)
        if model.prices_first:
            largest = own if model.most is None else min(own, model.most)
            found += n * (16 * largest + 4 * largest**2)
    return found
