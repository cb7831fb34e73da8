"""How a pass goes over the rows: cut into blocks, on threads, reduced in block order.

The partition into blocks depends on the matrix and the number of clusters alone, never on the
number of threads, so a pass gives the same bits for any `n_jobs`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from math import prod
from threading import Lock
from typing import TypeAlias, TypeVar

import numpy as np

from neocc._typing import FloatArray
from neocc.core.shards import Reads
from neocc.engines.matrix import Matrix
from neocc.engines.workers import Workers
from neocc.kernels import Features

__all__ = ["Passes", "Rows", "Scratch"]

Rows: TypeAlias = tuple[int, int]
"""First row of a range, and the one after its last."""

Result = TypeVar("Result")

# Enough entries that a block outweighs the cost of handing it to a thread, few enough for the
# cache.
_ROW_PASS_ENTRIES = 1 << 19
# Matrices of less than a few such blocks are cut finer, to occupy several threads all the same.
_FEW_BLOCKS = 8
_LEAST_ENTRIES = 1 << 18
# A block of a column pass is read more than once and should stay in a core's own cache.
_CACHED_ENTRIES = 1 << 18
# A group of blocks of a column pass must outweigh the table it returns by this much.
_ENTRIES_PER_CELL = 4
# An array of scratch memory is not used for so much less.
_TOO_LARGE = 4
# Smaller ones come from the heap, which is quicker than to look for one.
_LEAST_KEPT = 1 << 13


class Scratch:
    """Arrays that nobody needs any more, for the next who needs one for a moment.

    An allocator that gives memory back to the system at once (as on Dask's workers, by their
    default settings) makes every large temporary array cost more than the work on it.
    """

    def __init__(self) -> None:
        self._free: list[FloatArray] = []
        self._lock = Lock()

    def take(self, *shape: int) -> FloatArray:
        """Return an array of any content."""
        size = prod(shape)
        if size < _LEAST_KEPT:
            return np.empty(shape)
        with self._lock:
            for place, array in enumerate(self._free):
                if size <= array.size <= _TOO_LARGE * size:
                    del self._free[place]
                    break
            else:
                array = np.empty(size)
        return array[:size].reshape(shape)

    def give_back(self, *arrays: FloatArray | None) -> None:
        """Say that arrays, or what they are views of, are needed no more."""
        for array in arrays:
            if array is not None and array.size >= _LEAST_KEPT:
                whole = array if array.base is None else array.base
                if whole.ndim == 1:
                    with self._lock:
                        self._free.append(whole)


@dataclass
class Passes:
    """Passes over the rows of a matrix."""

    matrix: Matrix
    workers: Workers
    scratch: Scratch
    reads: Reads
    _grouped: dict[tuple[int, int], list[list[Rows]]] = field(default_factory=dict)

    @cached_property
    def row_blocks(self) -> list[Rows]:
        """The blocks of a pass over rows."""
        finer = max(_LEAST_ENTRIES, self.matrix.n_stored // _FEW_BLOCKS)
        return self.matrix.partition(min(_ROW_PASS_ENTRIES, finer))

    def over_rows(self, function: Callable[[Rows], Result]) -> list[Result]:
        """Call a function for all blocks of rows; return what it returned, in their order."""
        self.reads.passes += 1.0
        blocks = self.row_blocks
        if len(blocks) == 1:
            return [function(blocks[0])]
        return list(self.workers.ordered(function, blocks))

    def down_columns(
        self,
        widths: tuple[int, int],
        add: Callable[[Rows, Features], None],
    ) -> Features:
        """Add up features of the columns over all blocks of rows.

        `widths` are those of the tables of sums and of products, 0 for none. `add` adds a block; it
        is called for the blocks of a group one after the other.
        """
        self.reads.passes += 1.0
        groups = self._grouped.get(widths) or self._groups(widths)
        if len(groups) == 1:
            m, (k, width) = self.matrix.shape[1], widths
            products = np.zeros((m, width)) if width else None
            totals = Features(np.zeros((m, k)) if k else None, np.zeros(m), products)
            for rows in groups[0]:
                add(rows, totals)
            return totals

        def one_group(blocks: list[Rows]) -> Features:
            part = spare.pop()
            for rows in blocks:
                add(rows, part)
            return part

        # Made here rather than by the threads, whose allocators would each keep what they free.
        n_alive = min(len(groups), self.workers.n_jobs + 1)
        spare = [self._zeros(widths) for _ in range(min(len(groups), n_alive + 1))]
        parts = self.workers.ordered(one_group, groups)
        totals = next(parts)
        for part in parts:
            totals.combined(part)
            for table in part.tables():
                table.fill(0.0)
            spare.append(part)
        for part in spare:
            self.scratch.give_back(*part.tables())
        return totals

    def _zeros(self, widths: tuple[int, int]) -> Features:
        m = self.matrix.shape[1]
        shapes = ((m, widths[0]), (m,), (m, widths[1]))
        tables = [self.scratch.take(*shape) for shape in shapes]
        for table in tables:
            table.fill(0.0)
        sums, squares, products = tables
        return Features(sums if widths[0] else None, squares, products if widths[1] else None)

    def _groups(self, widths: tuple[int, int]) -> list[list[Rows]]:
        """Cut blocks into groups that outweigh tables of such widths."""
        n_stored, m = self.matrix.n_stored, self.matrix.shape[1]
        cells = _ENTRIES_PER_CELL * m * (sum(widths) + 1)
        many = n_stored // max(_ROW_PASS_ENTRIES, cells)
        n_groups = max(1, many, min(_FEW_BLOCKS, n_stored // max(_LEAST_ENTRIES, cells)))
        self._grouped[widths] = _cut_evenly(self.matrix.partition(_CACHED_ENTRIES), n_groups)
        return self._grouped[widths]


def _cut_evenly(blocks: list[Rows], n_groups: int) -> list[list[Rows]]:
    """Split a list of row ranges into consecutive groups of about equal length."""
    if n_groups == 1:
        return [blocks]
    edges = np.linspace(0, len(blocks), min(n_groups, len(blocks)) + 1).astype(int).tolist()
    return [blocks[start:stop] for start, stop in pairwise(edges)]
