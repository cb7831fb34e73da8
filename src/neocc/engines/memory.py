"""The engine for one machine: blocks of rows on threads, reduced in block order.

The partition into blocks depends on the matrix and the number of clusters alone, never on the
number of threads, so a fit gives the same bits for any `n_jobs`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from neocc._typing import FloatArray, IntArray
from neocc.core.assign import assign
from neocc.core.engine import Centring, RowStep
from neocc.core.objectives import Sums, Tables, cross_terms, distances, find_nearest, inverse
from neocc.core.problem import Counts
from neocc.engines.matrix import Matrix
from neocc.engines.workers import Workers
from neocc.kernels import Kernels, Memberships

# Enough entries that a block outweighs the cost of handing it to a thread, few enough for the
# cache.
_ROW_PASS_ENTRIES = 1 << 19
# A block of a column pass is read more than once and should stay in a core's own cache.
_CACHED_ENTRIES = 1 << 17
# A group of blocks of a column pass must outweigh the table it returns by this much.
_ENTRIES_PER_CELL = 4


@dataclass
class ColumnTotals:
    """Sums down the columns over some rows: U' X, weighted squares, X' P and the energy of P."""

    sums: FloatArray
    squares: FloatArray
    products: FloatArray
    energy: FloatArray

    @classmethod
    def zeros(cls, n_row_clusters: int, n_columns: int, n_column_clusters: int) -> ColumnTotals:
        """Return totals over no rows."""
        return cls(
            np.zeros((n_row_clusters, n_columns)),
            np.zeros(n_columns),
            np.zeros((n_columns, n_column_clusters)),
            np.zeros(n_column_clusters),
        )

    def tables(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return all four tables."""
        return self.sums, self.squares, self.products, self.energy

    def move_from(self, other: ColumnTotals) -> None:
        """Add the totals over further rows, and leave the other ones at zero for the next user."""
        for total, part in zip(self.tables(), other.tables(), strict=True):
            np.add(total, part, out=total)
            part.fill(0.0)


@dataclass
class MemoryEngine:
    """A matrix in memory."""

    matrix: Matrix
    kernels: Kernels
    workers: Workers
    _norms: FloatArray | None = None
    _partitions: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    # Made once and written over in every row step.
    _distances: FloatArray | None = None

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
        matrix = self.matrix.centred(centring, column_effects)
        return MemoryEngine(matrix, self.kernels, self.workers)

    def sample_rows(self, rows: IntArray) -> MemoryEngine:
        """Return an engine over a copy of some of the rows."""
        return MemoryEngine(self.matrix.take(rows), self.kernels, self.workers)

    def take_rows(self, rows: IntArray) -> FloatArray:
        """Return a few rows, centred, as a dense table."""
        return self.matrix.dense_rows(rows)

    def column_sums(
        self, U: Memberships | None, V: Memberships | None, *, squares: bool = True
    ) -> Sums:
        """Return the sums for the distances of all columns.

        Given row memberships U (see `Engine`).
        """
        m = self.shape[1]
        k, width = (0 if side is None else side.n_clusters for side in (U, V))

        def one_group(blocks: list[tuple[int, int]]) -> ColumnTotals:
            part = spare.pop()
            for rows in blocks:
                self._add_block(rows, U, V, part, squares=squares)
            return part

        n_groups = self.n_stored // max(_ROW_PASS_ENTRIES, _ENTRIES_PER_CELL * m * (k + width + 1))
        groups = _grouped(self._blocks(_CACHED_ENTRIES), max(1, n_groups))
        # Made here rather than by the threads, whose allocators would each keep what they free.
        n_alive = min(len(groups), self.workers.n_jobs)
        spare = [ColumnTotals.zeros(k, m, width) for _ in range(n_alive + 1)]
        parts = self.workers.ordered(one_group, groups)
        totals = next(parts)
        for part in parts:
            totals.move_from(part)
            spare.append(part)
        return Sums(
            None if U is None else totals.sums.T,
            totals.squares,
            None if V is None else totals.products,
            None if V is None else totals.energy,
        )

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
        d = np.empty((self.shape[0], tables.n_clusters))

        def one_block(rows: tuple[int, int]) -> float:
            out = d[slice(*rows)]
            distances(self._row_sums(rows, tables, V, out), tables, out=out)
            return 0.0

        self._row_pass(one_block, V)
        return d

    def nearest_rows(
        self, tables: Tables, V: Memberships | None
    ) -> tuple[FloatArray, IntArray, FloatArray]:
        """Return comparable distances of all rows, and their nearest clusters with distances."""
        d, labels, minima, _ = self._nearest(tables, None, V)
        return d, labels, minima

    def reassign_rows(
        self, tables: Tables, U: Memberships | None, V: Memberships | None, counts: Counts
    ) -> RowStep:
        """Return the objective of U and the two-stage assignment of all rows."""
        d, labels, minima, objective = self._nearest(tables, U, V)
        return RowStep(objective, assign(d, labels, minima, counts))

    def _nearest(
        self, tables: Tables, U: Memberships | None, V: Memberships | None
    ) -> tuple[FloatArray, IntArray, FloatArray, float]:
        n, k = self.shape[0], tables.n_clusters
        if self._distances is None or self._distances.shape != (n, k):
            self._distances = np.empty((n, k))
        d = self._distances
        labels, minima = np.empty(n, dtype=np.intp), np.empty(n)

        def one_block(rows: tuple[int, int]) -> float:
            at = slice(*rows)
            sums = self._row_sums(rows, tables, V, d[at])
            cross_terms(sums, tables, out=d[at])
            members = None if U is None else U.slice(*rows)
            labels[at], minima[at], objective = find_nearest(
                self.kernels, d[at], sums, tables, members
            )
            return objective

        return d, labels, minima, float(sum(self._row_pass(one_block, V)))

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

    def _row_sums(
        self, rows: tuple[int, int], tables: Tables, V: Memberships | None, out: FloatArray
    ) -> Sums:
        """Return the sums for the distances of a block of rows, products written to `out`."""
        at = slice(*rows)
        n_rows = rows[1] - rows[0]
        sums = None if V is None else np.empty((n_rows, V.n_clusters))
        squares = None if V is None and self._norms is not None else np.empty(n_rows)
        products = None if tables.product is None else out
        self.kernels.gather(
            self.matrix.block(*rows),
            V,
            tables.product,
            sums=sums,
            squares=squares,
            products=products,
        )
        if squares is None:
            assert self._norms is not None
            squares = self._norms[at]
        return Sums(sums, squares, products)

    def _row_pass(
        self, function: Callable[[tuple[int, int]], float], V: Memberships | None
    ) -> list[float]:
        """Run `function` over blocks of rows.

        With the norms that one-way distances need in place.
        """
        if V is None:
            self._prepare_norms()
        return self._over_row_blocks(function)

    def _prepare_norms(self) -> None:
        """Compute the squared norms of all rows once: one-way steps use them in every iteration."""
        if self._norms is None:
            norms = np.empty(self.shape[0])

            def one_block(rows: tuple[int, int]) -> float:
                block, out = self.matrix.block(*rows), norms[slice(*rows)]
                self.kernels.gather(block, None, None, sums=None, squares=out, products=None)
                return 0.0

            self._over_row_blocks(one_block)
            self._norms = norms

    def _over_row_blocks(self, function: Callable[[tuple[int, int]], float]) -> list[float]:
        return list(self.workers.ordered(function, self._blocks(_ROW_PASS_ENTRIES)))

    def _blocks(self, entries: int) -> list[tuple[int, int]]:
        if entries not in self._partitions:
            self._partitions[entries] = self.matrix.partition(entries)
        return self._partitions[entries]


def _grouped(blocks: list[tuple[int, int]], n_groups: int) -> list[list[tuple[int, int]]]:
    if n_groups == 1:
        return [blocks]
    edges = np.linspace(0, len(blocks), min(n_groups, len(blocks)) + 1).astype(int).tolist()
    return [blocks[start:stop] for start, stop in pairwise(edges)]


def _cluster_means(values: FloatArray, members: Memberships) -> FloatArray:
    return (values @ members.indicator) * inverse(members.sizes)
