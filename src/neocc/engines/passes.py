"""How a pass goes over the rows: cut into blocks, on threads, reduced in block order.

The partition into blocks depends on the matrix and the number of clusters alone, never on the
number of threads, so a pass gives the same bits for any `n_jobs`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from neocc.engines.matrix import Matrix
from neocc.engines.scratch import Scratch
from neocc.engines.totals import ColumnTotals, grouped
from neocc.engines.workers import Workers

__all__ = ["Passes", "Reads", "Rows"]

Rows = tuple[int, int]
"""First row of a range, and the one after its last."""

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


@dataclass
class Reads:
    """How often the data were read, parts of them counted as parts."""

    passes: float = 0.0


@dataclass
class Passes:
    """Passes over the rows of a matrix, and how many there were."""

    matrix: Matrix
    workers: Workers
    reads: Reads
    scratch: Scratch
    _partitions: dict[int, list[Rows]] = field(default_factory=dict)

    def over_rows(self, function: Callable[[Rows], float], *, reading: bool = True) -> list[float]:
        """Call a function for all blocks of rows; return what it returned, in their order."""
        self.reads.passes += float(reading)
        finer = max(_LEAST_ENTRIES, self.matrix.n_stored // _FEW_BLOCKS)
        blocks = self._blocks(min(_ROW_PASS_ENTRIES, finer))
        return list(self.workers.ordered(function, blocks))

    def down_columns(
        self, k: int, width: int, add: Callable[[Rows, ColumnTotals], None]
    ) -> ColumnTotals:
        """Add up totals of k clusters and products of a given width over all blocks of rows.

        `add` adds a block; it is called for the blocks of a group one after the other.
        """
        m = self.matrix.shape[1]
        self.reads.passes += 1.0

        def one_group(blocks: list[Rows]) -> ColumnTotals:
            part = spare.pop()
            for rows in blocks:
                add(rows, part)
            return part

        groups = grouped(self._blocks(_CACHED_ENTRIES), self._n_groups(m * (k + width + 1)))
        # Made here rather than by the threads, whose allocators would each keep what they free.
        n_alive = min(len(groups), self.workers.n_jobs + 1)
        spare = [
            ColumnTotals.zeros(k, m, width, self.scratch)
            for _ in range(min(len(groups), n_alive + 1))
        ]
        parts = self.workers.ordered(one_group, groups)
        totals = next(parts)
        for part in parts:
            totals.move_from(part)
            spare.append(part)
        for part in spare:
            self.scratch.give_back(*part.tables())
        return totals

    def _n_groups(self, n_cells: int) -> int:
        """Return how many groups of blocks outweigh tables of so many cells."""
        n_stored, cells = self.matrix.n_stored, _ENTRIES_PER_CELL * n_cells
        many = n_stored // max(_ROW_PASS_ENTRIES, cells)
        return max(1, many, min(_FEW_BLOCKS, n_stored // max(_LEAST_ENTRIES, cells)))

    def _blocks(self, entries: int) -> list[Rows]:
        if entries not in self._partitions:
            self._partitions[entries] = self.matrix.partition(entries)
        return self._partitions[entries]
