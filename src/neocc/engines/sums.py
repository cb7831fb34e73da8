"""The rows of a matrix on one machine, and plain sums over them: what shards are made of.

The matrix knows whether its rows are in memory or on disk; `passes` says how they are traversed.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import cache
from typing import Any, Self, TypeAlias

import numpy as np
from scipy import sparse

from neocc._typing import FloatArray, IntArray
from neocc.core.objectives import Side
from neocc.core.shards import Reads
from neocc.engines.matrix import DenseMatrix, Matrix, SparseMatrix
from neocc.engines.passes import DEFAULTS, Passes, PassOptions, Rows
from neocc.engines.space import EVERYTHING, TableSpace
from neocc.engines.workers import Workers
from neocc.kernels import Base, Block, Features, Kernels, Memberships, SparseBlock

__all__ = ["Call", "RowSums", "add_squares"]

Call: TypeAlias = Callable[..., None]
"""Calls a kernel of a set with a block of rows, what it is combined with, and where results go."""


def write_squares(kernels: Any, block: Any, weights: Any, out: Any) -> None:
    """Write the squares of rows, with a weight for each column."""
    kernels.gather(block, None, weights, None, out)


def add_squares(kernels: Any, block: Any, weights: Any, out: Any) -> None:
    """Add the squares of columns, with a weight for each row."""
    kernels.scatter(block, None, weights, None, out)


class RowLines:
    """Rows of a matrix, made dense and centred when they are asked for: a copy of a few."""

    def __init__(self, matrix: Matrix) -> None:
        self.matrix, self.shape = matrix, matrix.shape

    def __getitem__(self, rows: slice | IntArray) -> FloatArray:
        if isinstance(rows, slice):
            block = self.matrix.block(*rows.indices(self.shape[0])[:2])
        elif isinstance(self.matrix, SparseMatrix) and sparse.issparse(self.matrix.values):
            return self.matrix.block(0, self.shape[0]).lines(rows)
        else:
            block = self.matrix.take(rows).block(0, len(rows))
        table = block.matrix().toarray() if isinstance(block, SparseBlock) else block
        return np.ascontiguousarray(table, dtype=np.float64)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> FloatArray:
        """Return all of them, as `numpy.concatenate` asks for."""
        return self[: self.shape[0]]


class RowSums:
    """Rows of a matrix with the kernels and threads that read them."""

    def __init__(
        self,
        matrix: Matrix,
        kernels: Kernels,
        workers: Workers,
        space: TableSpace = EVERYTHING,
        reads: Reads | None = None,
        *,
        options: PassOptions = DEFAULTS,
    ) -> None:
        self.matrix, self.kernels, self.workers, self.space = matrix, kernels, workers, space
        self.reads, self.shape = reads or Reads(), matrix.shape
        self.options = options
        # Returns rows `start` to `stop`, centred; blocks that are views or small are cached.
        are_views = isinstance(matrix, SparseMatrix) and sparse.issparse(matrix.values)
        is_light = are_views or matrix.n_stored <= options.cached
        block: Callable[[int, int], Block] = matrix.block
        self._block = cache(block) if is_light else block
        self._passes = Passes(matrix, workers, self.reads, options)
        # Runs that threads make at a time, where they would not share the rows.
        least, most = options.own_runs
        is_alone = are_views and least <= matrix.n_stored <= most
        self.n_runs = workers.n_jobs if is_alone else 1
        self._bases: dict[tuple[Side, Base], FloatArray] = {}
        # Squares of columns where rows overlap, by the widths of the tables summed beside them.
        self._squares_once: dict[tuple[int, int, int], FloatArray] = {}

    def twin(self) -> Self:
        """Return the same rows for a run of another thread, with counts of its own."""
        twin, workers, reads = copy(self), Workers(1), Reads()
        passes = Passes(self.matrix, workers, reads, self.options)
        vars(twin).update(workers=workers, reads=reads, n_runs=1, _passes=passes)
        return twin

    def row_squares(self, weights: FloatArray | None = None) -> FloatArray:
        """Return the squared norm of every row, with a weight for each column."""
        if weights is None:
            return self.base_of("rows", "plain")
        return self._by_rows(write_squares, weights, ())

    def column_squares(self, weights: FloatArray | None = None) -> FloatArray:
        """Return the squared norm of every column over these rows, with a weight for each row."""
        if weights is None:
            return self.base_of("columns", "plain")
        return self._down_columns(add_squares, weights, 0)

    def base_of(self, side: Side, base: Base) -> FloatArray:
        """Return the squares, or the margins, of all rows or columns, computed once."""
        if (side, base) not in self._bases:
            if base == "margins":
                times = self.multiply if side == "rows" else self.multiply_transposed
                found = times(np.ones((self.shape[side == "rows"], 1)))[:, 0]
            elif side == "rows":
                found = self._by_rows(write_squares, None, ())
            else:
                found = self._down_columns(add_squares, None, 0)
            self._bases[side, base] = found
        return self._bases[side, base]

    def multiply(self, table: FloatArray) -> FloatArray:
        """Return X times a thin table."""
        return self._by_rows(
            lambda kernels, *given: kernels.multiply(*given), table, table.shape[1:]
        )

    def multiply_transposed(self, table: FloatArray) -> FloatArray:
        """Return X' times a thin table."""
        return self._down_columns(
            lambda kernels, *given: kernels.multiply_transposed(*given), table, table.shape[1]
        )

    def _by_rows(self, call: Call, table: FloatArray | None, shape: tuple[int, ...]) -> FloatArray:
        """Return what a kernel writes for each row, given what all rows are combined with."""
        found = np.empty((self.shape[0], *shape))

        def one_block(rows: Rows) -> None:
            call(self.kernels, self._block(*rows), table, found[slice(*rows)])

        self._passes.over_rows(one_block)
        return found

    def _down_columns(self, call: Call, table: FloatArray | None, width: int) -> FloatArray:
        """Return what a kernel adds up for each column, given a row of a table for each row."""

        def add(rows: Rows, totals: Features) -> None:
            some = None if table is None else table[slice(*rows)]
            out = totals.products if width else totals.squares
            call(self.kernels, self._block(*rows), some, out)

        found = self._passes.down_columns((0, width, 0), add)
        return found.squares if found.products is None else found.products

    def first_negative(self) -> tuple[int, int, float] | None:
        """Return row, column and value of the first negative entry; None if there is none."""
        found = self._passes.over_rows(lambda rows: first_negative(self._block(*rows), rows[0]))
        return next(filter(None, found), None)

    def n_nonzero(self) -> int:
        """Return how many entries are not zero, in a container of any kind."""
        return sum(self._passes.over_rows(lambda rows: n_nonzero(self._block(*rows))))

    def value_range(self) -> tuple[float, float]:
        """Return the least and the largest value of observed cells that weigh something."""
        matrix: Any = self.matrix
        found = self._passes.over_rows(lambda rows: matrix.value_range(*rows))
        return min(low for low, _ in found), max(high for _, high in found)

    def sum_blocks(self, members: Memberships, function: Callable[..., Any], *common: Any) -> Any:
        """Return the sum of a function of blocks of rows and their memberships.

        Blocks are arrays or CSR matrices, small enough to be copied.
        """
        self.reads.passes += 1.0
        total: Any = 0.0
        step = max(1, self.options.copied // max(1, self.shape[1]))
        for start in range(0, self.shape[0], step):
            stop = min(start + step, self.shape[0])
            block = self.matrix.block(start, stop)
            X = block.matrix() if isinstance(block, SparseBlock) else block
            total = total + function(X, members.slice(start, stop), *common)
        return total

    def raw_rows(self, rows: IntArray) -> Any:
        """Return some rows as given: an array or a CSR matrix."""
        return self.matrix.sendable[rows]

    def raw_columns(self, columns: IntArray) -> Any:
        """Return some columns as given."""
        return self.matrix.take_columns(columns).sendable

    def row_medians(self, columns: FloatArray) -> FloatArray:
        """Return the medians of all rows minus column effects."""
        assert isinstance(self.matrix, DenseMatrix)
        return self.matrix.row_medians(columns)


def first_negative(block: Block, start: int = 0) -> tuple[int, int, float] | None:
    """Return row, column and value of the first negative entry of rows from `start` on, if any."""
    if isinstance(block, SparseBlock):
        values = block.data[block.stored()]
        if not len(values) or values.min() >= 0:
            return None
        at = int(np.argmax(values < 0)) + int(block.indptr[0])
        row = int(np.searchsorted(block.indptr, at, side="right")) - 1
        return start + row, int(block.indices[at]), float(block.data[at])
    if not block.size or block.min() >= 0:
        return None
    row, column = divmod(int(np.argmax(block < 0)), block.shape[1])
    return start + row, column, float(block[row, column])


def n_nonzero(block: Block) -> int:
    """Return how many entries of some rows are not zero."""
    values = block.data[block.stored()] if isinstance(block, SparseBlock) else block
    return int(np.count_nonzero(values))
