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
from neocc.core.objectives import Sums, Tables, comparable, distances
from neocc.core.problem import Counts
from neocc.engines.matrix import Matrix
from neocc.engines.workers import Workers
from neocc.kernels import Kernels, Memberships

# Enough entries that a block outweighs the cost of handing it to a thread, few enough for the cache.
_ROW_PASS_ENTRIES = 1 << 18
# A block of a column pass must outweigh the table it returns by this much.
_ENTRIES_PER_CELL = 8


@dataclass
class MemoryEngine:
    """A matrix in memory."""

    matrix: Matrix
    kernels: Kernels
    workers: Workers

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
        inverse_sizes = None if V is None else _safe_inverse(V.sizes)

        def one_block(rows: tuple[int, int]) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
            block = self.matrix.block(*rows)
            members = None if U is None else U.slice(*rows)
            sums, base = np.zeros((k, m)), np.zeros(m)
            products, energy = np.zeros((m, l)), np.zeros(l)
            table = None
            if V is not None and inverse_sizes is not None:
                table = np.empty((rows[1] - rows[0], l))
                self.kernels.gather(block, V, None, sums=table, squares=None, products=None)
                table *= inverse_sizes
                means = table.copy()
                if members is not None:
                    table *= members.weights[:, None]
                energy = np.einsum("pj,pj->j", table, means)
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

    def row_distances(
        self, tables: Tables, V: Memberships | None
    ) -> tuple[FloatArray, FloatArray]:
        """Return the distance of every row to every row cluster, and the weighted squares of the rows."""
        d = np.empty((self.shape[0], len(tables.offset)))
        squares = np.empty(self.shape[0])

        def one_block(rows: tuple[int, int]) -> float:
            sums = self._row_sums(rows, tables, V)
            d[slice(*rows)] = distances(sums, tables)
            squares[slice(*rows)] = sums.squares
            return 0.0

        self._over_row_blocks(one_block)
        return d, squares

    def reassign_rows(
        self, tables: Tables, U: Memberships | None, V: Memberships | None, counts: Counts
    ) -> RowStep:
        """Return the objective of U and the two-stage assignment of all rows."""
        n = self.shape[0]
        d = np.empty((n, counts.n_clusters))
        labels, minima = np.empty(n, dtype=np.intp), np.empty(n)

        def one_block(rows: tuple[int, int]) -> float:
            at = slice(*rows)
            sums = self._row_sums(rows, tables, V)
            exact = distances(sums, tables)
            objective = 0.0 if U is None else U.slice(*rows).total(exact)
            d[at] = comparable(exact, sums.squares, tables)
            d[at].argmin(axis=1, out=labels[at])
            minima[at] = np.take_along_axis(d[at], labels[at, None], axis=1)[:, 0]
            return objective

        objective = sum(self._over_row_blocks(one_block))
        return RowStep(float(objective), assign(d, counts, (labels, minima)))

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

    def _row_sums(self, rows: tuple[int, int], tables: Tables, V: Memberships | None) -> Sums:
        n_rows = rows[1] - rows[0]
        sums = None if V is None else np.empty((n_rows, V.n_clusters))
        squares = np.empty(n_rows)
        products = None if tables.product is None else np.empty((n_rows, len(tables.offset)))
        self.kernels.gather(
            self.matrix.block(*rows),
            V,
            tables.product,
            sums=sums,
            squares=squares,
            products=products,
        )
        return Sums(sums, squares, products)

    def _over_row_blocks(self, function: Callable[[tuple[int, int]], float]) -> list[float]:
        return list(self.workers.ordered(function, self.matrix.partition(_ROW_PASS_ENTRIES)))


def _cluster_means(values: FloatArray, members: Memberships) -> FloatArray:
    return (values @ members.indicator) * _safe_inverse(members.sizes)


def _safe_inverse(sizes: FloatArray) -> FloatArray:
    return np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > 0)
