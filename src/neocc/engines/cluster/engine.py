"""The engine for clusters: rows and distances stay on the workers, small tables travel.

One task per unit of a few blocks and half-step. Column sums are added up a fixed tree in block
order, so that a fit depends on how the rows are cut into blocks (in its last bits) and not on the
number of workers, their speed or their deaths. The global selection of the two-stage assignment is
made by counting (`assigning`). What the coordinating process holds grows with the rows only through
their memberships.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from neocc._typing import FloatArray, IntArray
from neocc.core.effects import NO_EFFECTS, Effects
from neocc.core.engine import NO_HINTS, Centring, Hints, RowStep
from neocc.core.objectives import Sums, Tables
from neocc.core.problem import Counts
from neocc.engines.cluster import rows as on_worker
from neocc.engines.cluster.assigning import Assigning
from neocc.engines.cluster.held import Common
from neocc.engines.cluster.layout import Layout, spread
from neocc.engines.cluster.tasks import Tasks
from neocc.engines.matrix import DenseMatrix, Matrix, SparseMatrix, find_effects, sampled_rows
from neocc.engines.memory import MemoryEngine
from neocc.engines.passes import Reads
from neocc.engines.workers import Workers
from neocc.kernels import Memberships, get_kernels


@dataclass
class DaskEngine:
    """Blocks of rows on the workers of a Dask cluster. Make one with `of_matrix`."""

    tasks: Tasks
    units: list[Any]
    layout: Layout
    workers: Workers
    effects: Effects = NO_EFFECTS
    reads: Reads = field(default_factory=Reads)
    _assigning: Assigning = field(default_factory=Assigning)
    _centred: dict[Centring, DaskEngine] = field(default_factory=dict)

    @classmethod
    def of_matrix(
        cls,
        matrix: Matrix,
        client: Any,
        kernel: str,
        workers: Workers,
        block_entries: int | None = None,
    ) -> DaskEngine:
        """Spread a matrix over the workers of `client`.

        Rows in a store are read by the workers, in the store's blocks. A matrix in memory is cut
        into blocks of about `block_entries` entries and sent. `workers` are the threads of this
        process, for samples that stay in it.
        """
        tasks, units, layout = spread(matrix, client, kernel, block_entries)
        return cls(tasks, units, layout, workers, reads=Reads(1.0))

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return self.layout.shape

    @property
    def n_stored(self) -> int:
        """Number of stored entries."""
        return self.layout.n_stored

    @property
    def n_passes(self) -> float:
        """How often the data were read so far, parts of them counted as parts."""
        return self.reads.passes

    @property
    def column_effects(self) -> FloatArray:
        """What is subtracted from the columns: a number each, zero for nothing."""
        return self.effects.of_columns(self.shape[1])

    def centred(self, centring: Centring, column_effects: FloatArray | None = None) -> DaskEngine:
        """Return an engine over X with effects subtracted on the fly.

        Sparse data stays as it is. The engine of each kind is made once.
        """
        if not self.layout.is_dense:
            return self
        if column_effects is None and centring in self._centred:
            return self._centred[centring]
        n = self.shape[0]
        sample = self._take(on_worker.take, np.arange(n)[sampled_rows(n)])
        medians: list[Any] = [None] * len(self.units)

        def row_medians(columns: FloatArray) -> FloatArray:
            shared = self.for_each(self.tasks.share(columns))
            medians[:] = self.tasks.submit(
                self.tasks.each("medians", on_worker.row_medians, self.units, shared)
            )
            self.reads.passes += 1.0
            return np.concatenate([each for part in self.tasks.gather(medians) for each in part])

        rows, columns = find_effects(
            np.ascontiguousarray(sample, dtype=np.float64), n, centring, column_effects, row_medians
        )
        units = self.tasks.submit(
            self.tasks.each(
                "centre",
                on_worker.centre,
                self.units,
                self.for_each(None) if rows is None else medians,
                self.for_each(None if columns is None else self.tasks.share(columns)),
            )
        )
        found = DaskEngine(
            self.tasks, units, self.layout, self.workers, Effects(rows, columns), self.reads
        )
        if column_effects is None:
            self._centred[centring] = found
        return found

    def sample_rows(self, rows: IntArray) -> MemoryEngine:
        """Return an engine over a copy of some of the rows, in this process."""
        values = self._take(on_worker.take, rows)
        if not self.layout.is_dense:
            return self._here(SparseMatrix.from_scipy(values))
        effects = None if self.effects.rows is None else self.effects.rows[rows]
        return self._here(DenseMatrix(values, effects, self.effects.columns))

    def take_rows(self, rows: IntArray) -> FloatArray:
        """Return a few rows, centred, as a dense table."""
        table: FloatArray = self._take(on_worker.take_dense, rows)
        return table

    def over_table(self, table: FloatArray) -> MemoryEngine:
        """Return an engine over a dense table, in this process: its rows are as short as tables."""
        return self._here(DenseMatrix(table))

    def row_squares(self) -> FloatArray:
        """Return the squared norm of every row."""
        return self._stacked("squares", on_worker.squares)

    def multiply(self, table: FloatArray) -> FloatArray:
        """Return X times a thin table."""
        return self._stacked("multiply", on_worker.multiply, self.tasks.share(Common(table)))

    def multiply_transposed(self, table: FloatArray) -> FloatArray:
        """Return X' times a thin table."""
        parts = self.by_unit([table[slice(*rows)].copy() for rows in self.layout.ranges])
        products = self.tasks.each(
            "multiply-transposed", on_worker.multiply_transposed, self.units, parts
        )
        self.reads.passes += 1.0
        found: FloatArray = self.tasks.gather(self.tasks.total(on_worker.add, products))
        return found

    def column_sums(
        self, U: Memberships | None, V: Memberships | None, *, squares: bool = True
    ) -> Sums:
        """Return the sums for the distances of all columns, given row memberships U."""
        common = self.columns(V)
        sums = self.tasks.each(
            "column-step",
            on_worker.sum_columns,
            self.units,
            self.members(U),
            self.for_each(common),
            squares=squares,
        )
        self.reads.passes += 1.0
        found: Sums = self.tasks.gather(self.tasks.total(on_worker.add_sums, sums))
        return found

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
        edges = self.layout.edges
        cuts = np.searchsorted(rows, edges).tolist()
        changes = [
            on_worker.Change(
                rows[low:high] - start, before.slice(low, high), after.slice(low, high)
            )
            for (low, high), start in zip(pairwise(cuts), edges, strict=False)
        ]
        gains = self.tasks.each(
            "column-change",
            on_worker.sum_changes,
            self.units,
            self.by_unit(changes),
            self.for_each(self.columns(V)),
            squares=squares,
        )
        self.reads.passes += len(rows) / self.shape[0]
        found: Sums = self.tasks.gather(self.tasks.total(on_worker.add_sums, gains))
        return found

    def row_distances(self, tables: Tables, V: Memberships | None) -> FloatArray:
        """Return the distance of every row to every row cluster: all of them, in this process."""
        return self._stacked("distances", on_worker.measure, self.tasks.share(Common(tables, V)))

    def nearest_rows(
        self, tables: Tables, V: Memberships | None
    ) -> tuple[FloatArray, IntArray, FloatArray]:
        """Return comparable distances of all rows, and their nearest clusters with distances."""
        common = self.for_each(self.tasks.share(Common(tables, V)))
        found = self.tasks.gather(self.tasks.each("nearest", on_worker.nearest, self.units, common))
        self.reads.passes += 1.0
        d, labels, minima = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return d, labels, minima

    def reassign_rows(
        self,
        tables: Tables,
        U: Memberships | None,
        V: Memberships | None,
        counts: Counts,
        hints: Hints = NO_HINTS,
    ) -> RowStep:
        """Return the objective of U and the two-stage assignment of all rows (see `Engine`)."""
        self.reads.passes += 1.0 + float(hints.wants_sums)
        return self._assigning.step(self, tables, U, V, counts, hints)

    def residual_squares(self, means: FloatArray, U: Memberships, V: Memberships) -> float:
        """Return the sum of squared differences from block means, term by term: slow and exact."""
        parts = self.tasks.each(
            "residuals",
            on_worker.residual_squares,
            self.units,
            self.members(U),
            self.for_each(self.tasks.share(Common(means, V))),
        )
        self.reads.passes += 1.0
        return float(sum(each for unit in self.tasks.gather(parts) for each in unit))

    def members(self, U: Memberships | None) -> list[Any]:
        """Return the memberships of the blocks of each unit, as it is to be told of them.

        Those that the workers have just assigned are there already.
        """
        return self._assigning.held(U) or self.by_unit(
            [U and U.slice(*rows) for rows in self.layout.ranges]
        )

    def columns(self, V: Memberships | None) -> Any:
        """Tell the workers of column memberships; without any there is nothing to be sent."""
        return Common() if V is None else self.tasks.share(Common(V=V), "columns")

    def for_each(self, value: Any) -> list[Any]:
        """Give all units the same."""
        return [value] * len(self.units)

    def by_unit(self, blocks: Sequence[Any]) -> list[list[Any]]:
        """Sort what belongs to blocks by the units they are in."""
        return [list(blocks[unit.start : unit.stop]) for unit in self.tasks.units]

    def _stacked(self, word: str, function: Any, common: Any = None) -> FloatArray:
        """Return the results of all units, one below the other."""
        shared = [] if common is None else [self.for_each(common)]
        parts = self.tasks.gather(self.tasks.each(word, function, self.units, *shared))
        self.reads.passes += 1.0
        return np.concatenate(parts)

    def _take(self, function: Any, rows: IntArray) -> Any:
        """Fetch some rows in the order asked for."""
        order = np.argsort(rows, kind="stable")
        ordered, edges = rows[order], self.layout.edges
        cuts = np.searchsorted(ordered, edges)
        local = self.by_unit(
            [ordered[low:high] - at for (low, high), at in zip(pairwise(cuts), edges, strict=False)]
        )
        some = [i for i, unit in enumerate(local) if any(len(block) for block in unit)]
        held, wanted = [self.units[i] for i in some], [local[i] for i in some]
        pieces = self.tasks.gather(self.tasks.each("take", function, held, wanted, units=some))
        self.reads.passes += len(rows) / self.shape[0]
        back = np.empty(len(rows), dtype=np.intp)
        back[order] = np.arange(len(rows))
        return on_worker.stacked(pieces)[back]

    def _here(self, matrix: Matrix) -> MemoryEngine:
        return MemoryEngine(matrix, get_kernels(self.layout.kernel, 0), self.workers)
