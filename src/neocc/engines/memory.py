"""The engine for one machine: blocks of rows on threads, reduced in block order.

The partition into blocks depends on the matrix and the number of clusters alone, never on the number of threads, so a
fit gives the same bits for any `n_jobs`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from neocc._typing import FloatArray, IntArray
from neocc.core.assign import assign
from neocc.core.engine import Centring, RowStep
from neocc.core.objectives import Sums, Tables, cross_terms, distances, find_nearest, inverse
from neocc.core.problem import Counts
from neocc.engines.matrix import Matrix
from neocc.engines.workers import Workers
from neocc.kernels import Kernels, Memberships

# Enough entries that a block outweighs the cost of handing it to a thread, few enough for the cache.
_ROW_PASS_ENTRIES = 1 << 19
# A block of a column pass must outweigh the table it returns by this much.
_ENTRIES_PER_CELL = 8


@dataclass
class MemoryEngine:
    """A matrix in memory."""

    matrix: Matrix
    kernels: Kernels
    workers: Workers
    # S = X V of the last row pass that also asked for products: the column pass of the same V needs it again.
    _kept_sums: tuple[Memberships, FloatArray] | None = None
    _norms: FloatArray | None = None
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
    def column_effects(self) -> FloatArray | None:
        """What is subtracted from every row; None where nothing is."""
        return self.matrix.column_effects

    def centred(
        self, centring: Centring, column_effects: FloatArray | None = None
    ) -> MemoryEngine:
        """Return an engine over X with effects subtracted on the fly; sparse data stays as it is."""
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
        """Return the sums for the distances of all columns, given row memberships U (see `Engine`)."""
        m = self.shape[1]
        k = 0 if U is None else U.n_clusters
        l = 0 if V is None else V.n_clusters
        inverse_sizes = None if V is None else inverse(V.sizes)

        def one_block(rows: tuple[int, int]) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
            block = self.matrix.block(*rows)
            members = None if U is None else U.slice(*rows)
            sums, base = np.zeros((k, m)), np.zeros(m)
            products, energy = np.zeros((m, l)), np.zeros(l)
            table = None
            if V is not None and inverse_sizes is not None:
                means = self._sums_over(V, rows) * inverse_sizes
                weighted = means if members is None else means * members.weights[:, None]
                energy = np.einsum("pj,pj->j", weighted, means)
                table = -2.0 * weighted
            self.kernels.scatter(
                block,
                members,
                table,
                sums=None if U is None else sums,
                squares=base if squares else None,
                products=None if V is None else products,
            )
            return sums, base, products, energy

        entries = max(_ROW_PASS_ENTRIES, _ENTRIES_PER_CELL * m * (k + l + 1))
        totals = None
        for parts in self.workers.ordered(one_block, self.matrix.partition(entries)):
            if totals is None:
                totals = parts
            else:
                for total, part in zip(totals, parts, strict=True):
                    total += part
        assert totals is not None
        sums, base, products, energy = totals
        return Sums(
            None if U is None else sums.T,
            base,
            None if V is None else products,
            None if V is None else energy,
        )

    def row_distances(self, tables: Tables, V: Memberships | None) -> FloatArray:
        """Return the distance of every row to every row cluster."""
        d = np.empty((self.shape[0], tables.n_clusters))

        def one_block(rows: tuple[int, int]) -> float:
            out = d[slice(*rows)]
            distances(self._row_sums(rows, tables, V, out), tables, out=out)
            return 0.0

        self._row_pass(one_block, tables, V)
        return d

    def nearest_rows(
        self, tables: Tables, V: Memberships | None
    ) -> tuple[FloatArray, IntArray, FloatArray]:
        """Return comparable distances of every row, its nearest row cluster and the distance to that."""
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

        return d, labels, minima, float(sum(self._row_pass(one_block, tables, V)))

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

    def _sums_over(self, V: Memberships, rows: tuple[int, int]) -> FloatArray:
        """Return S = X V for a block of rows, from the last row pass where that had the same V."""
        if self._kept_sums is not None and self._kept_sums[0] is V:
            return self._kept_sums[1][slice(*rows)]
        sums = np.empty((rows[1] - rows[0], V.n_clusters))
        self.kernels.gather(
            self.matrix.block(*rows), V, None, sums=sums, squares=None, products=None
        )
        return sums

    def _row_sums(
        self, rows: tuple[int, int], tables: Tables, V: Memberships | None, out: FloatArray
    ) -> Sums:
        """Return the sums for the distances of a block of rows; products, if any, are written to `out`."""
        at = slice(*rows)
        n_rows = rows[1] - rows[0]
        sums = None
        if V is not None:
            kept = self._kept_sums
            sums = kept[1][at] if kept else np.empty((n_rows, V.n_clusters))
        known = V is None and self._norms is not None
        squares = self._norms[at] if known else np.empty(n_rows)
        products = None if tables.product is None else out
        self.kernels.gather(
            self.matrix.block(*rows),
            V,
            tables.product,
            sums=sums,
            squares=None if known else squares,
            products=products,
        )
        return Sums(sums, squares, products)

    def _row_pass(
        self,
        function: Callable[[tuple[int, int]], float],
        tables: Tables,
        V: Memberships | None,
    ) -> list[float]:
        """Run `function` over blocks of rows, with the tables it reuses in place."""
        self._kept_sums = None
        if V is None:
            self._prepare_norms()
        elif tables.product is not None:
            self._kept_sums = V, np.empty((self.shape[0], V.n_clusters))
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
        return list(self.workers.ordered(function, self.matrix.partition(_ROW_PASS_ENTRIES)))


def _cluster_means(values: FloatArray, members: Memberships) -> FloatArray:
    return (values @ members.indicator) * inverse(members.sizes)
