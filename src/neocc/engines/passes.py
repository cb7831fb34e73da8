"""Passes over the rows: cut into blocks, run on threads, reduced in block order.

The partition depends only on the matrix and the numbers of clusters, never on the number of
threads, so a pass gives the same bits for any `n_jobs`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias, TypeVar

import numpy as np

from neocc.core.shards import Reads
from neocc.engines.matrix import Matrix
from neocc.engines.workers import Workers
from neocc.kernels import Features

__all__ = ["DEFAULTS", "PassOptions", "Passes", "Rows"]

Rows: TypeAlias = tuple[int, int]
"""First row of a range, and the row after its last."""

Result = TypeVar("Result")

# Matrices of fewer blocks than this are cut finer, so that several threads have work.
_FEW_BLOCKS = 8


@dataclass(frozen=True)
class PassOptions:
    """How passes are cut into blocks, and what is kept to save passes.

    Sizes are numbers of stored entries.
    """

    # Large enough to outweigh the cost of handing a block to a thread, small enough for the cache.
    row_block: int = 1 << 19
    # Blocks of a column pass are read more than once and should stay in a core's own cache.
    column_block: int = 1 << 18
    # Matrices of only a few blocks are cut finer, but into blocks no smaller than this.
    smallest_block: int = 1 << 18
    # A group of blocks of a column pass has this many entries per cell of the table it returns.
    entries_per_cell: int = 4
    # Blocks of a matrix up to this size are kept, converted and centred.
    cached: int = 1 << 20
    # Blocks of rows that are copied have this many entries.
    copied: int = 1 << 19
    # Stores from this size on update sums from what changed: reading fewer entries costs no more
    # than finding it. The same, for sparse data in memory: sums without rounding, and numbers of
    # observed cells.
    least_followed: int = 1 << 19
    least_updated: int = 1 << 16
    # Updates before sums are computed from all rows again, which stops rounding from adding up.
    max_updates: int = 20
    # Above this share of changed rows or columns, all are summed: changed ones are read twice. In
    # memory that costs little, and of stores most blocks are read for a few rows of each.
    max_changed: float = 0.1
    max_moved: float = 0.25
    # Threads make a run each, of sparse matrices of so many entries: runs of smaller ones wait for
    # the interpreter, and larger ones are cut into blocks that threads share.
    own_runs: tuple[int, int] = (1 << 15, 1 << 19)
    # Row sums are kept if there are this many times fewer of them than stored entries, and these
    # are few enough to be copied by column.
    entries_per_sum: float = 10
    by_column: int = 1 << 22
    # On a GPU: samples and tables with fewer entries stay in this process, where an iteration takes
    # no longer than kernels take to start there. Parts of rows have so many that several fit.
    least_held: int = 1 << 18
    part_entries: int = 1 << 26


DEFAULTS = PassOptions()


@dataclass
class Passes:
    """Passes over the rows of a matrix."""

    matrix: Matrix
    workers: Workers
    reads: Reads
    options: PassOptions = DEFAULTS
    _grouped: dict[tuple[int, int, int], list[list[Rows]]] = field(default_factory=dict)

    @cached_property
    def row_blocks(self) -> list[Rows]:
        """The blocks of a pass over rows."""
        finer = max(self.options.smallest_block, self.matrix.n_stored // _FEW_BLOCKS)
        return self.matrix.partition(min(self.options.row_block, finer), even=True)

    @cached_property
    def _column_blocks(self) -> list[Rows]:
        """The blocks of a pass down columns."""
        return self.matrix.partition(self.options.column_block, even=True)

    def over_rows(self, function: Callable[[Rows], Result]) -> list[Result]:
        """Call a function for every block of rows; return the results in block order."""
        self.reads.passes += 1.0
        blocks = self.row_blocks
        if len(blocks) == 1:
            return [function(blocks[0])]
        return list(self.workers.ordered(function, blocks))

    def spread(self, function: Callable[[slice], None], n_rows: int) -> None:  # noqa: ARG002
        """Call a function of every block of rows, none of which is read."""
        for _ in self.workers.ordered(lambda rows: function(slice(*rows)), self.row_blocks):
            pass

    def down_columns(
        self, widths: tuple[int, int, int], add: Callable[[Rows, Features], None]
    ) -> Features:
        """Sum features of the columns over all blocks of rows, each of which `add` adds.

        `widths` are those of the tables of sums, of products and of counts, 0 for none.
        """
        self.reads.passes += 1.0
        groups = self._grouped.get(widths) or self._groups(widths)
        if len(groups) == 1:
            totals = self._zeros(widths)
            for rows in groups[0]:
                add(rows, totals)
            return totals
        # Made by this thread, and used again: memory that others free stays theirs.
        n_parts = min(len(groups), self.workers.n_jobs + 2)
        free = [self._zeros(widths) for _ in range(n_parts)]

        def one_group(blocks: list[Rows]) -> Features:
            part = free.pop()
            for rows in blocks:
                add(rows, part)
            return part

        parts = self.workers.ordered(one_group, groups)
        totals = next(parts)
        for part in parts:
            totals.combined(part)
            if n_parts < len(groups):
                for table in part.tables():
                    table[...] = 0.0
                free.append(part)
        return totals

    def _zeros(self, widths: tuple[int, int, int]) -> Features:
        m, (k, width, counted) = self.matrix.shape[1], widths
        products = np.zeros((m, width)) if width else None
        counts = np.zeros((m, counted)) if counted else None
        return Features(np.zeros((m, k)) if k else None, np.zeros(m), products, counts)

    def _groups(self, widths: tuple[int, int, int]) -> list[list[Rows]]:
        """Group blocks so that each group outweighs the tables it is summed into."""
        options, n_stored = self.options, self.matrix.n_stored
        # Counts beside sums change no group: where only they are updated, sums keep their bits.
        least = options.entries_per_cell * self.matrix.shape[1] * (sum(widths[:2]) + 1)
        many = n_stored // max(options.row_block, least)
        few = min(_FEW_BLOCKS, n_stored // max(options.smallest_block, least))
        blocks = self._column_blocks
        n_groups = max(many, few)
        n_groups += n_groups % 2 if n_groups > 1 else 0
        n_groups = max(1, min(n_groups, len(blocks)))
        groups = [blocks]
        if n_groups > 1:
            edges = np.linspace(0, len(blocks), n_groups + 1).astype(int).tolist()
            groups = [blocks[slice(*ends)] for ends in pairwise(edges)]
        self._grouped[widths] = groups
        return groups
