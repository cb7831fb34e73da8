"""The engine for one machine: blocks of rows on threads, reduced in block order.

The rows lie in memory, or come from disk a block at a time: the matrix knows. The partition into
blocks depends on the matrix and the number of clusters alone, never on the number of threads, so a
fit gives the same bits for any `n_jobs`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from neocc._typing import FloatArray, IntArray
from neocc.core.assign import assign
from neocc.core.engine import Centring, RowStep
from neocc.core.objectives import Sums, Tables, cross_terms, distances, find_nearest, inverse
from neocc.core.problem import Counts
from neocc.engines.matrix import DenseMatrix, Matrix
from neocc.engines.row_sums import KeptRowSums, RowSums
from neocc.engines.space import EVERYTHING, TableSpace
from neocc.engines.totals import ColumnTotals, grouped
from neocc.engines.workers import Workers
from neocc.kernels import Kernels, Memberships, SparseBlock

# Enough entries that a block outweighs the cost of handing it to a thread, few enough for the
# cache.
_ROW_PASS_ENTRIES = 1 << 19
# Matrices of less than a few such blocks are cut finer, to occupy several threads all the same.
_FEW_BLOCKS = 8
_LEAST_ENTRIES = 1 << 18
# A block of a column pass is read more than once and should stay in a core's own cache.
_CACHED_ENTRIES = 1 << 17
# A group of blocks of a column pass must outweigh the table it returns by this much.
_ENTRIES_PER_CELL = 4


@dataclass
class Reads:
    """How often the data were read, parts of them counted as parts."""

    passes: float = 0.0


@dataclass
class MemoryEngine:
    """A matrix in memory or, a block at a time, on disk."""

    matrix: Matrix
    kernels: Kernels
    workers: Workers
    space: TableSpace = EVERYTHING
    reads: Reads = field(default_factory=Reads)
    _norms: FloatArray | None = None
    _partitions: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    # Made once and written over in every row step.
    _distances: FloatArray | None = None
    _row_sums: KeptRowSums = field(default_factory=KeptRowSums)
    _centred: dict[Centring, Matrix] = field(default_factory=dict)

    @property
    def n_passes(self) -> float:
        """How often the data were read so far, parts of them counted as parts."""
        return self.reads.passes

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return self.matrix.shape

    @property
    def n_stored(self) -> int:
        """Number of stored entries."""
        return self.matrix.n_stored

    @property
    def column_effects(self) -> FloatArray:
        """What is subtracted from every row."""
        effects = self.matrix.column_effects
        return np.zeros(self.shape[1]) if effects is None else effects

    def centred(self, centring: Centring, column_effects: FloatArray | None = None) -> MemoryEngine:
        """Return an engine over X with effects subtracted on the fly.

        Sparse data stays as it is.
        """
        matrix = self._centred.get(centring) if column_effects is None else None
        if matrix is None:
            matrix = self.matrix.centred(centring, column_effects)
            if isinstance(matrix, DenseMatrix) and centring in ("rows", "double"):
                self.reads.passes += 1.0
            if column_effects is None:
                self._centred[centring] = matrix
        return MemoryEngine(matrix, self.kernels, self.workers, self.space, self.reads)

    def sample_rows(self, rows: IntArray) -> MemoryEngine:
        """Return an engine over a copy of some of the rows."""
        some = self.matrix.take(rows)
        self.reads.passes += some.n_stored / max(1, self.n_stored)
        return MemoryEngine(some, self.kernels, self.workers)

    def take_rows(self, rows: IntArray) -> FloatArray:
        """Return a few rows, centred, as a dense table."""
        self.reads.passes += len(rows) / self.shape[0]
        return self.matrix.dense_rows(rows)

    def over_table(self, table: FloatArray) -> MemoryEngine:
        """Return an engine over a dense table, with the same kernels and threads."""
        return MemoryEngine(DenseMatrix(table), self.kernels, self.workers)

    def multiply(self, table: FloatArray) -> FloatArray:
        """Return X times a thin table."""
        products = np.empty((self.shape[0], table.shape[1]))

        def one_block(rows: tuple[int, int]) -> float:
            block, out = self.matrix.block(*rows), products[slice(*rows)]
            self.kernels.gather(block, None, table, sums=None, squares=None, products=out)
            return 0.0

        self._over_row_blocks(one_block)
        return products

    def multiply_transposed(self, table: FloatArray) -> FloatArray:
        """Return X' times a thin table."""

        def add(rows: tuple[int, int], totals: ColumnTotals) -> None:
            block, part = self.matrix.block(*rows), np.ascontiguousarray(table[slice(*rows)])
            self.kernels.scatter(
                block, None, part, sums=None, squares=None, products=totals.products
            )

        return self._column_pass(0, table.shape[1], add).products

    def column_sums(
        self, U: Memberships | None, V: Memberships | None, *, squares: bool = True
    ) -> Sums:
        """Return the sums for the distances of all columns.

        Given row memberships U (see `Engine`).
        """
        k, width = (0 if side is None else side.n_clusters for side in (U, V))

        def add(rows: tuple[int, int], totals: ColumnTotals) -> None:
            self._add_block(rows, U, V, totals, squares=squares)

        totals = self._column_pass(k, width, add)
        return Sums(
            None if U is None else totals.sums.T,
            totals.squares,
            None if V is None else totals.products,
            None if V is None else totals.energy,
        )

    def changed_sums(
        self,
        rows: IntArray,
        before: Memberships,
        after: Memberships,
        V: Memberships | None,
        *,
        squares: bool = True,
    ) -> Sums:
        """Return what the column sums gain when some rows change clusters (see `Engine`)."""
        few = self.sample_rows(rows)
        new = few.column_sums(after, V, squares=squares)
        old = few.column_sums(before, V, squares=squares)
        # In place: tables of k by m are felt beside the data.
        for name in ("by_cluster", "squares", "products", "energy"):
            table = getattr(new, name)
            if table is not None:
                np.subtract(table, getattr(old, name), out=table)
        return new

    def _column_pass(
        self, k: int, width: int, add: Callable[[tuple[int, int], ColumnTotals], None]
    ) -> ColumnTotals:
        """Add up totals of k clusters and products of a given width over all blocks of rows."""
        m = self.shape[1]
        self.reads.passes += 1.0

        def one_group(blocks: list[tuple[int, int]]) -> ColumnTotals:
            part = spare.pop()
            for rows in blocks:
                add(rows, part)
            return part

        cells = _ENTRIES_PER_CELL * m * (k + width + 1)
        n_groups = max(
            self.n_stored // max(_ROW_PASS_ENTRIES, cells),
            min(_FEW_BLOCKS, self.n_stored // max(_LEAST_ENTRIES, cells)),
        )
        groups = grouped(self._blocks(_CACHED_ENTRIES), max(1, n_groups))
        # Made here rather than by the threads, whose allocators would each keep what they free.
        n_alive = min(len(groups), self.workers.n_jobs)
        spare = [ColumnTotals.zeros(k, m, width) for _ in range(min(len(groups), n_alive + 1))]
        parts = self.workers.ordered(one_group, groups)
        totals = next(parts)
        for part in parts:
            totals.move_from(part)
            spare.append(part)
        return totals

    def _add_block(
        self,
        rows: tuple[int, int],
        U: Memberships | None,
        V: Memberships | None,
        totals: ColumnTotals,
        *,
        squares: bool,
    ) -> None:
        block = self.matrix.block(*rows)
        members = None if U is None else U.slice(*rows)
        table = None
        if V is not None:
            means = np.empty((rows[1] - rows[0], V.n_clusters))
            self.kernels.gather(block, V, None, sums=means, squares=None, products=None)
            means *= inverse(V.sizes)
            weighted = means if members is None else means * members.weights[:, None]
            totals.energy += np.einsum("pj,pj->j", weighted, means)
            table = -2.0 * weighted
        self.kernels.scatter(
            block,
            members,
            table,
            sums=None if U is None else totals.sums,
            squares=totals.squares if squares else None,
            products=None if V is None else totals.products,
        )

    def row_distances(self, tables: Tables, V: Memberships | None) -> FloatArray:
        """Return the distance of every row to every row cluster."""
        d = self.space.empty(self.shape[0], tables.n_clusters)

        def one_block(rows: tuple[int, int], sums: Sums) -> float:
            distances(sums, tables, out=d[slice(*rows)])
            return 0.0

        self._row_pass(one_block, tables, V, d)
        return d

    def nearest_rows(
        self, tables: Tables, V: Memberships | None
    ) -> tuple[FloatArray, IntArray, FloatArray]:
        """Return comparable distances of all rows, and their nearest clusters with distances."""
        d, labels, minima, _ = self.scored_rows(tables, None, V)
        return d, labels, minima

    def reassign_rows(
        self, tables: Tables, U: Memberships | None, V: Memberships | None, counts: Counts
    ) -> RowStep:
        """Return the objective of U and the two-stage assignment of all rows."""
        d, labels, minima, objective = self.scored_rows(tables, U, V)
        return RowStep(objective, assign(d, labels, minima, counts))

    def scored_rows(
        self, tables: Tables, U: Memberships | None, V: Memberships | None
    ) -> tuple[FloatArray, IntArray, FloatArray, float]:
        """Return what `nearest_rows` does, and the objective of U."""
        n, k = self.shape[0], tables.n_clusters
        if self._distances is None or self._distances.shape != (n, k):
            self._distances = None
            self._distances = self.space.empty(n, k)
        d = self._distances
        labels, minima = np.empty(n, dtype=np.intp), np.empty(n)

        def one_block(rows: tuple[int, int], sums: Sums) -> float:
            at = slice(*rows)
            cross_terms(sums, tables, out=d[at])
            members = None if U is None else U.slice(*rows)
            labels[at], minima[at], objective = find_nearest(
                self.kernels, d[at], sums, tables, members
            )
            return objective

        return d, labels, minima, float(sum(self._row_pass(one_block, tables, V, d)))

    def watch_columns(self, margins: FloatArray) -> None:
        """Set columns of small margin aside during the next pass of a row step."""
        self._row_sums.watch(margins)

    def stop_watching(self) -> None:
        """Let the next row step be as if this engine had made none before."""
        self._row_sums.stop_watching()

    def residual_squares(self, means: FloatArray, U: Memberships, V: Memberships) -> float:
        """Return the sum of squared differences from block means, term by term: slow and exact."""
        self.reads.passes += 1.0
        total = 0.0
        step = max(1, _LEAST_ENTRIES // max(1, self.shape[1]))
        for start in range(0, self.shape[0], step):
            stop = min(start + step, self.shape[0])
            block = self.matrix.block(start, stop)
            cells = block.matrix().toarray() if isinstance(block, SparseBlock) else block
            for row_cluster, row_means in zip(U.slice(start, stop).dense.T, means, strict=True):
                some = cells[row_cluster]
                for column_cluster, mean in zip(V.dense.T, row_means, strict=True):
                    total += float(np.square(some[:, column_cluster] - mean).sum())
        return total

    def restore_vectors(self, vectors: FloatArray, U: Memberships) -> FloatArray:
        """Turn mean rows of centred data into mean rows of the data as given."""
        if self.matrix.column_effects is not None:
            vectors = vectors + self.matrix.column_effects
        if self.matrix.row_effects is not None:
            vectors = vectors + _cluster_means(self.matrix.row_effects, U)[:, None]
        return vectors

    def restore_means(self, means: FloatArray, U: Memberships, V: Memberships) -> FloatArray:
        """Turn block means of centred data into block means of the data as given."""
        if self.matrix.column_effects is not None:
            means = means + _cluster_means(self.matrix.column_effects, V)
        if self.matrix.row_effects is not None:
            means = means + _cluster_means(self.matrix.row_effects, U)[:, None]
        return means

    def _row_pass(
        self,
        function: Callable[[tuple[int, int], Sums], float],
        tables: Tables,
        V: Memberships | None,
        out: FloatArray,
    ) -> list[float]:
        """Call a function with the sums for the distances of each block of rows.

        Products are written to `out`. Sums over the same V as last time are not made again, and
        the data not read, where distances need nothing else.
        """
        if V is None:
            self.row_squares()
        keeping: RowSums | None = None
        if V is not None and tables.product is None:
            kept = self._row_sums.reached(V)
            if kept is not None:
                return self._over_row_blocks(
                    lambda rows: function(rows, kept.between(*rows)), reading=False
                )
            keeping = self._row_sums.renewed(V, self.shape, self.n_stored, self.space)

        def one_block(rows: tuple[int, int]) -> float:
            return function(rows, self._gather(rows, tables, V, out[slice(*rows)], keeping))

        found = self._over_row_blocks(one_block)
        if keeping is not None:
            keeping.finish()
        return found

    def _gather(
        self,
        rows: tuple[int, int],
        tables: Tables,
        V: Memberships | None,
        out: FloatArray,
        keeping: RowSums | None,
    ) -> Sums:
        """Return the sums for the distances of a block of rows, products written to `out`."""
        at = slice(*rows)
        n_rows = rows[1] - rows[0]
        sums = squares = None
        if keeping is not None:
            sums, squares = keeping.sums[at], keeping.squares[at]
        elif V is not None:
            sums, squares = np.empty((n_rows, V.n_clusters)), np.empty(n_rows)
        products = None if tables.product is None else out
        block = self.matrix.block(*rows)
        if keeping is not None and keeping.watch is not None:
            keeping.watch.collect(rows[0], block)
        self.kernels.gather(
            block,
            V,
            tables.product,
            sums=sums,
            squares=squares,
            products=products,
        )
        if squares is None:
            squares = self.row_squares()[at]
        return Sums(sums, squares, products)

    def row_squares(self) -> FloatArray:
        """Return the squared norm of every row, computed once: one-way steps use it every time."""
        if self._norms is None:
            norms = np.empty(self.shape[0])

            def one_block(rows: tuple[int, int]) -> float:
                block, out = self.matrix.block(*rows), norms[slice(*rows)]
                self.kernels.gather(block, None, None, sums=None, squares=out, products=None)
                return 0.0

            self._over_row_blocks(one_block)
            self._norms = norms
        return self._norms

    def _over_row_blocks(
        self, function: Callable[[tuple[int, int]], float], *, reading: bool = True
    ) -> list[float]:
        self.reads.passes += float(reading)
        finer = max(_LEAST_ENTRIES, self.n_stored // _FEW_BLOCKS)
        blocks = self._blocks(min(_ROW_PASS_ENTRIES, finer))
        return list(self.workers.ordered(function, blocks))

    def _blocks(self, entries: int) -> list[tuple[int, int]]:
        if entries not in self._partitions:
            self._partitions[entries] = self.matrix.partition(entries)
        return self._partitions[entries]


def _cluster_means(values: FloatArray, members: Memberships) -> FloatArray:
    return (values @ members.indicator) * inverse(members.sizes)
