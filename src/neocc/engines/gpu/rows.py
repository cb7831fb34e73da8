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
from neocc.engines.stored import source_of
from neocc.kernels.gpu.lines import BAND

__all__ = ["HeldRows", "bytes_of_tables", "bytes_on_card"]

# Bytes that sorting an entry of a band by columns takes meanwhile.
_SORTING = 40


class HeldRows:
    """Rows that are put on a card when they are first read.

    Those of a store, and all that do not fit, are cut into parts. The first of these stay on the
    card; the others pass through it in every pass, each while the one before is worked on. Data
    that are there already stay, but of parts that pass through columns are sorted in every pass.
    """

    # Entries of a part: few enough that several are there at once.
    part_entries: ClassVar[int] = 1 << 26
    # Of the memory that is free, what data may take at most; the rest is for tables.
    share: ClassVar[float] = 0.75

    def __init__(self, matrix: Matrix, device: Device, tables: int = 0) -> None:
        self.matrix, self.device, self.tables = matrix, device, tables
        self.on_card = isinstance(matrix, SparseCard | DenseCard)
        self.clear()

    def clear(self) -> None:
        """Forget what is on the card."""
        # Ranges of rows; those that stay, and those that pass through.
        self._kept: list[tuple[slice, Any]] | None = None
        self._passing: list[tuple[int, int]] = []

    def parts(self) -> Iterator[tuple[slice, Any]]:
        """Return ranges of rows, in order, and what is on the card of each."""
        yield from self._resident()
        if not self._passing:
            return
        blocks = (self._block(*rows) for rows in self._passing)
        kernels = self.device.kernels
        fed = map(kernels.hold, blocks) if self.on_card else kernels.feed(blocks)
        for rows, held in zip(self._passing, fed, strict=True):
            yield slice(*rows), held

    @property
    def whole(self) -> Any:
        """All rows, where they stay in one piece."""
        ((_, held),) = self._resident()
        return held

    def _resident(self) -> list[tuple[slice, Any]]:
        if self._kept is None:
            ranges, n_kept = self._planned()
            self._kept = [
                (slice(*rows), self.device.kernels.hold(self._block(*rows)))
                for rows in ranges[:n_kept]
            ]
            self._passing = ranges[n_kept:]
        return self._kept

    def _block(self, start: int, stop: int) -> Any:
        matrix = self.matrix
        if isinstance(matrix, SparseCard | DenseCard):
            return matrix.on_card(start, stop)
        return matrix.block(start, stop)

    def _planned(self) -> tuple[list[tuple[int, int]], int]:
        """Cut the rows into ranges; return these, and how many of them stay on the card."""
        matrix, free = self.matrix, self.device.free()
        (n, m), stored = matrix.shape, source_of(matrix) is not None
        taken = bytes_on_card(matrix)
        if free is None:
            ranges = matrix.partition(self.part_entries) if stored else [(0, n)]
            return ranges, len(ranges)
        room = min(int(self.share * free), free - self.tables)
        if not stored and taken + self._sorted_at_once() <= room:
            self.device.reserve(taken + self._sorted_at_once() + self.tables)
            return [(0, n)], 1
        stays = taken / max(1, matrix.n_stored)
        # Two are there at a time, and one is sorted by columns.
        passes = 2 * stays + (0 if isinstance(matrix, DenseMatrix) else _SORTING)
        # Ranges have about as many entries as they should; some have more.
        entries = min(self.part_entries, int(room / max(1.0, 2 * passes)))
        ranges = matrix.partition(max(1, entries))
        ends = [0, *(stop for _, stop in ranges)]
        sizes = [self._entries(*rows) for rows in pairwise(ends)]
        largest = passes * max(sizes)
        if largest > room:
            what = f"a matrix of {n} rows, {m} columns and {matrix.n_stored} entries"
            needed = max(int(largest / self.share), int(largest) + self.tables)
            self.device.require(needed + 1, f"the longest part of {what}, with its tables,")
        if stays * sum(sizes) + _SORTING * max(sizes) <= room:
            return ranges, len(ranges)
        left, n_kept = room - largest, 0
        while n_kept < len(sizes) and stays * sizes[n_kept] <= left:
            left -= stays * sizes[n_kept]
            n_kept += 1
        return ranges, n_kept

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
    if isinstance(matrix, DenseMatrix):
        ready = isinstance(matrix, DenseCard) and matrix.is_ready
        return 0 if ready else 8 * matrix.n_stored
    source = source_of(matrix)
    # Indices of four bytes and of two; the columns are made a part at a time.
    size = int((matrix.values if source is None else source).dtype.itemsize)
    per_entry = size + 2
    if not isinstance(matrix, SparseCard):
        per_entry += size + 4
    elif matrix.values.indices.dtype.itemsize > 4:
        per_entry += 4
    if isinstance(matrix, ObservedMatrix):
        # Values times weights, weights, and columns of both.
        per_entry += 2 * size + 2 if matrix.weights is None else 36
    return per_entry * matrix.n_stored + 16 * sum(matrix.shape)


def bytes_of_tables(shape: tuple[int, int], problem: Problem) -> int:
    """Return about what sums, distances, sets of clusters and memberships of a fit take."""
    model, n_clusters, found = problem.overlap_model, [], 0
    for counts, size in zip((problem.rows, problem.columns), shape, strict=True):
        # A side that is not clustered is clusters of one.
        n_clusters.append(size if counts is None else counts.n_clusters)
    for n, own, other in zip(shape, n_clusters, n_clusters[::-1], strict=True):
        numbers = own + other
        if model.blends:
            numbers += (own**2 + other**2) // 2
        if problem.needs_products:
            numbers += own + other
        if problem.objective.needs_counts:
            numbers += other
        found += n * (8 * numbers + 64)
        if model.prices_first:
            largest = own if model.most is None else min(own, model.most)
            found += n * (16 * largest + 4 * largest**2)
    return found
