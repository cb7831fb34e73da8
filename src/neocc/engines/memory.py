"""The engine for one machine: blocks of rows on threads, reduced in block order.

The rows lie in memory, or come from disk a block at a time: the matrix knows. `passes` says how a
pass goes over the rows, `row_pass` what the row step needs of them, `ahead` how one pass serves
both half-steps.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from neocc._typing import FloatArray, IntArray
from neocc.core.assign import assign
from neocc.core.counting import Scores
from neocc.core.effects import Effects
from neocc.core.engine import NO_HINTS, Centring, Hints, RowStep
from neocc.core.objectives import Sums, Tables, cross_terms, distances, find_nearest, inverse
from neocc.core.problem import Counts
from neocc.engines.ahead import SumsAhead
from neocc.engines.matrix import DenseMatrix, Matrix
from neocc.engines.passes import Passes, Reads, Rows
from neocc.engines.row_bounds import KeptDistances
from neocc.engines.row_pass import RowPass
from neocc.engines.row_sums import KeptRowSums
from neocc.engines.scratch import Scratch
from neocc.engines.space import EVERYTHING, TableSpace
from neocc.engines.totals import ColumnTotals
from neocc.engines.workers import Workers
from neocc.kernels import Block, Kernels, Memberships, SparseBlock

# Entries of rows that are copied at a time to be summed by themselves, or compared term by term.
_COPIED_ENTRIES = 1 << 19
_COPIED_SHARE = 1 / 32


@dataclass
class MemoryEngine:
    """A matrix in memory or, a block at a time, on disk."""

    matrix: Matrix
    kernels: Kernels
    workers: Workers
    space: TableSpace = EVERYTHING
    reads: Reads = field(default_factory=Reads)
    scratch: Scratch = field(default_factory=Scratch)
    _norms: FloatArray | None = None
    # Made once and written over in every row step.
    _distances: FloatArray | None = None
    _row_sums: KeptRowSums = field(default_factory=KeptRowSums)
    _kept_distances: KeptDistances = field(default_factory=KeptDistances)
    _centred: dict[Centring, Matrix] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._passes = Passes(self.matrix, self.workers, self.reads, self.scratch)

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
    def effects(self) -> Effects:
        """What is subtracted from the rows and the columns."""
        return Effects(self.matrix.row_effects, self.matrix.column_effects)

    @property
    def column_effects(self) -> FloatArray:
        """What is subtracted from the columns: a number each, zero for nothing."""
        return self.effects.of_columns(self.shape[1])

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
        return MemoryEngine(
            matrix, self.kernels, self.workers, self.space, self.reads, self.scratch
        )

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

        def one_block(rows: Rows) -> float:
            block, out = self.matrix.block(*rows), products[slice(*rows)]
            self.kernels.gather(block, None, table, sums=None, squares=None, products=out)
            return 0.0

        self._passes.over_rows(one_block)
        return products

    def multiply_transposed(self, table: FloatArray) -> FloatArray:
        """Return X' times a thin table."""

        def add(rows: Rows, totals: ColumnTotals) -> None:
            block, part = self.matrix.block(*rows), np.ascontiguousarray(table[slice(*rows)])
            self.kernels.scatter(
                block, None, part, sums=None, squares=None, products=totals.products
            )

        return self._passes.down_columns(0, table.shape[1], add).products

    def row_squares(self) -> FloatArray:
        """Return the squared norm of every row, computed once: one-way steps use it every time."""
        if self._norms is None:
            norms = np.empty(self.shape[0])

            def one_block(rows: Rows) -> float:
                block, out = self.matrix.block(*rows), norms[slice(*rows)]
                self.kernels.gather(block, None, None, sums=None, squares=out, products=None)
                return 0.0

            self._passes.over_rows(one_block)
            self._norms = norms
        return self._norms

    def column_sums(
        self, U: Memberships | None, V: Memberships | None, *, squares: bool = True
    ) -> Sums:
        """Return the sums for the distances of all columns.

        Given row memberships U (see `Engine`).
        """
        k, width = (0 if side is None else side.n_clusters for side in (U, V))

        def add(rows: Rows, totals: ColumnTotals) -> None:
            block = self.matrix.block(*rows)
            members = U and U.slice(*rows)
            if V is None:
                self.add_block(block, members, None, None, totals, squares=squares)
                return
            with self.scratch.table(rows[1] - rows[0], V.n_clusters) as sums:
                self.kernels.gather(block, V, None, sums=sums, squares=None, products=None)
                self.add_block(block, members, V, sums, totals, squares=squares)

        totals = self._passes.down_columns(k, width, add)
        return totals.as_sums(with_clusters=U is not None, with_products=V is not None)

    def add_block(
        self,
        block: Block,
        members: Memberships | None,
        V: Memberships | None,
        sums: FloatArray | None,
        totals: ColumnTotals,
        *,
        squares: bool,
    ) -> None:
        """Add a block of rows to totals; with their sums over the clusters V, products too."""
        room = (0, 0) if sums is None else sums.shape
        with self.scratch.table(*room) as means, self.scratch.table(*room) as table:
            if sums is not None and V is not None:
                np.multiply(sums, inverse(V.sizes), out=means)
                weights = np.ones((1, 1)) if members is None else members.weights[:, None]
                np.multiply(means, weights, out=table)
                totals.energy += np.einsum("pj,pj->j", table, means)
                np.multiply(table, -2.0, out=table)
            self.kernels.scatter(
                block,
                members,
                None if sums is None else table,
                sums=None if members is None else totals.sums,
                squares=totals.squares if squares else None,
                products=None if sums is None else totals.products,
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
        # A copy of many rows would be felt beside the data.
        n_entries = max(_COPIED_ENTRIES, _COPIED_SHARE * self.n_stored)
        step = max(1, int(self.shape[0] * n_entries / max(1, self.n_stored)))
        edges = [*range(0, max(1, len(rows)), step), len(rows)]
        gains: Sums | None = None
        for low, high in pairwise(edges):
            few = self.sample_rows(rows[low:high])
            for members, add in ((after, np.add), (before, np.subtract)):
                part = few.column_sums(members.slice(low, high), V, squares=squares)
                gains = part if gains is None else gains.combined(add, part)
        assert gains is not None
        return gains

    def row_distances(self, tables: Tables, V: Memberships | None) -> FloatArray:
        """Return the distance of every row to every row cluster."""
        d = self.space.empty(self.shape[0], tables.n_clusters)
        reader = RowPass(self, tables, V, d)

        def one_block(rows: Rows) -> float:
            with reader.gathered(rows) as (_, sums):
                distances(sums, tables, out=d[slice(*rows)])
            return 0.0

        self._passes.over_rows(one_block, reading=reader.reading)
        reader.finish()
        return d

    def nearest_rows(
        self, tables: Tables, V: Memberships | None
    ) -> tuple[FloatArray, IntArray, FloatArray]:
        """Return comparable distances of all rows, and their nearest clusters with distances."""
        scores = self.scored_rows(tables, None, V)
        return scores.d, scores.labels, scores.minima

    def reassign_rows(
        self,
        tables: Tables,
        U: Memberships | None,
        V: Memberships | None,
        counts: Counts,
        hints: Hints = NO_HINTS,
    ) -> RowStep:
        """Return the objective of U and the two-stage assignment of all rows (see `Engine`)."""
        step = self._kept_distances.step(self, tables, U, V, counts, hints)
        if step is not None:
            return step
        ahead = SumsAhead.if_worth_it(self, tables, V, counts, hints)
        scores = self.scored_rows(tables, U, V, hints, ahead)
        assignment = assign(scores.d, scores.labels, scores.minima, counts)
        sums = None if ahead is None else ahead.corrected(assignment.members)
        return RowStep(scores.objective, assignment, sums)

    def scored_rows(
        self,
        tables: Tables,
        U: Memberships | None,
        V: Memberships | None,
        hints: Hints = NO_HINTS,
        ahead: SumsAhead | None = None,
        out: FloatArray | None = None,
    ) -> Scores:
        """Return what `nearest_rows` does, and the objective of U."""
        n, k = self.shape[0], tables.n_clusters
        if out is not None:
            self._distances = out
        if self._distances is None or self._distances.shape != (n, k):
            self._distances = None
            self._distances = self.space.empty(n, k)
        d = self._distances
        labels, minima = np.empty(n, dtype=np.intp), np.empty(n)
        reader = RowPass(self, tables, V, d)
        self._kept_distances.begin(self, tables, V, hints)

        def one_block(rows: Rows, totals: ColumnTotals | None = None) -> float:
            at = slice(*rows)
            with reader.gathered(rows) as (block, sums):
                self._kept_distances.note(rows, sums, tables)
                cross_terms(sums, tables, out=d[at])
                labels[at], minima[at], objective = find_nearest(
                    self.kernels, d[at], sums, tables, U and U.slice(*rows)
                )
                if ahead is not None and totals is not None and block is not None:
                    ahead.add(rows, block, Scores(d[at], labels[at], minima[at], 0.0), sums, totals)
            return objective

        if ahead is not None and reader.reading:
            objective = ahead.over_rows(self._passes, one_block)
        else:
            objective = sum(self._passes.over_rows(one_block, reading=reader.reading))
        reader.finish()
        scores = Scores(d, labels, minima, float(objective))
        self._kept_distances.end(scores)
        return scores

    @property
    def kept_row_sums(self) -> KeptRowSums:
        """The row sums that are kept from one row step to the next."""
        return self._row_sums

    def watch_columns(self, margins: FloatArray) -> None:
        """Set columns of small margin aside during the next pass of a row step."""
        self._row_sums.watch(margins)

    def forget(self) -> None:
        """Let the next row step be as if this engine had made none before."""
        self._row_sums.stop_watching()
        self._kept_distances.forget()

    def residual_squares(self, means: FloatArray, U: Memberships, V: Memberships) -> float:
        """Return the sum of squared differences from block means, term by term: slow and exact."""
        self.reads.passes += 1.0
        total = 0.0
        step = max(1, _COPIED_ENTRIES // max(1, self.shape[1]))
        for start in range(0, self.shape[0], step):
            stop = min(start + step, self.shape[0])
            block = self.matrix.block(start, stop)
            cells = block.matrix().toarray() if isinstance(block, SparseBlock) else block
            for row_cluster, row_means in zip(U.slice(start, stop).dense.T, means, strict=True):
                some = cells[row_cluster]
                for column_cluster, mean in zip(V.dense.T, row_means, strict=True):
                    total += float(np.square(some[:, column_cluster] - mean).sum())
        return total
