"""The engine for clusters: rows and distances stay on the workers, small tables travel.

One task per unit of a few blocks and half-step. Column sums are added up a fixed tree in block
order, so that a fit depends on how the rows are cut into blocks (in its last bits) and not on the
number of workers, their speed or their deaths. The global selection of the two-stage assignment is
made by counting (`neocc.core.counting`): distances never leave the worker that measured them. What
the coordinating process holds grows with the rows only through their memberships.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from neocc._typing import FloatArray, IntArray
from neocc.core.assign import Assignment, reseeded
from neocc.core.counting import Answer, Question, find_cuts
from neocc.core.engine import Centring, RowStep
from neocc.core.objectives import Sums, Tables
from neocc.core.problem import Counts
from neocc.engines.cluster import rows as on_worker
from neocc.engines.cluster.held import Common, GivenRows, Settled
from neocc.engines.cluster.tasks import Tasks
from neocc.engines.matrix import DenseMatrix, Matrix, SparseMatrix, find_effects, sampled_rows
from neocc.engines.memory import MemoryEngine, Reads
from neocc.engines.stored import source_of
from neocc.engines.workers import Workers
from neocc.kernels import Memberships, get_kernels

# A matrix in memory is cut into blocks of so many entries.
GIVEN_ENTRIES = 1 << 19
# Memberships that workers hold were made from distances, these from earlier memberships, and so on:
# all of it is made again when a worker is lost. After so many steps memberships are sent instead.
_MOST_LINKS = 8


@dataclass(frozen=True)
class _Layout:
    """How the rows are cut, and what they are."""

    edges: IntArray
    shape: tuple[int, int]
    n_stored: int
    is_dense: bool
    kernel: str

    @property
    def ranges(self) -> list[tuple[int, int]]:
        """First and last row (not included) of every block."""
        return list(pairwise(self.edges.tolist()))


@dataclass
class DaskEngine:
    """Blocks of rows on the workers of a Dask cluster. Make one with `of_matrix`."""

    tasks: Tasks
    units: list[Any]
    layout: _Layout
    workers: Workers
    row_effects: FloatArray | None = None
    given_column_effects: FloatArray | None = None
    reads: Reads = field(default_factory=Reads)
    # The memberships that workers hold, and the futures of those.
    _settled: tuple[Memberships, list[Any]] | None = None
    _n_links: int = 0
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
        if kernel == "auto":
            compiled = get_kernels("auto", matrix.n_stored) is not get_kernels("numpy", 0)
            kernel = "numba" if compiled else "numpy"
        source = source_of(matrix)
        if source is not None:
            edges = np.asarray(source.edges)
        else:
            cut = matrix.partition(block_entries or GIVEN_ENTRIES)
            edges = np.array([0, *(stop for _, stop in cut)])
        layout = _Layout(
            edges, matrix.shape, matrix.n_stored, isinstance(matrix, DenseMatrix), kernel
        )
        tasks = Tasks(client, len(edges) - 1)
        if source is not None:
            sources: list[Any] = [tasks.share(source, "store")] * len(tasks.units)
            indices = [list(unit) for unit in tasks.units]
        else:
            given = [GivenRows(_between(matrix, *rows)) for rows in layout.ranges]
            sources = [given[unit.start : unit.stop] for unit in tasks.units]
            indices = [[0] * len(unit) for unit in tasks.units]
        units = tasks.each(
            "load", on_worker.hold, sources, indices, kernel=kernel, is_dense=layout.is_dense
        )
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
        """What is subtracted from every row."""
        effects = self.given_column_effects
        return np.zeros(self.shape[1]) if effects is None else effects

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
            shared = self.tasks.share(columns)
            medians[:] = self.tasks.each(
                "medians", on_worker.row_medians, self.units, columns=shared
            )
            self.reads.passes += 1.0
            return np.concatenate([each for part in self.tasks.gather(medians) for each in part])

        rows, columns = find_effects(
            np.ascontiguousarray(sample, dtype=np.float64), n, centring, column_effects, row_medians
        )
        units = self.tasks.each(
            "centre",
            on_worker.centre,
            self.units,
            [None] * len(self.units) if rows is None else medians,
            column_effects=None if columns is None else self.tasks.share(columns),
        )
        found = DaskEngine(self.tasks, units, self.layout, self.workers, rows, columns, self.reads)
        if column_effects is None:
            self._centred[centring] = found
        return found

    def sample_rows(self, rows: IntArray) -> MemoryEngine:
        """Return an engine over a copy of some of the rows, in this process."""
        values = self._take(on_worker.take, rows)
        if not self.layout.is_dense:
            return self._here(SparseMatrix.from_scipy(values))
        effects = None if self.row_effects is None else self.row_effects[rows]
        return self._here(DenseMatrix(values, effects, self.given_column_effects))

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
        parts = self._by_unit([table[slice(*rows)].copy() for rows in self.layout.ranges])
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
        sums = self.tasks.each(
            "column-step",
            on_worker.sum_columns,
            self.units,
            self._members(U),
            common=self._columns(V),
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
            (rows[low:high] - start, before.slice(low, high), after.slice(low, high))
            for (low, high), start in zip(pairwise(cuts), edges, strict=False)
        ]
        gains = self.tasks.each(
            "column-change",
            on_worker.sum_changes,
            self.units,
            self._by_unit(changes),
            common=self._columns(V),
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
        common = self.tasks.share(Common(tables, V))
        found = self.tasks.gather(
            self.tasks.each("nearest", on_worker.nearest, self.units, common=common)
        )
        self.reads.passes += 1.0
        d, labels, minima = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return d, labels, minima

    def reassign_rows(
        self, tables: Tables, U: Memberships | None, V: Memberships | None, counts: Counts
    ) -> RowStep:
        """Return the objective of U and the two-stage assignment of all rows."""
        common = self.tasks.share(Common(tables, V))
        scores = self.tasks.each(
            "row-step", on_worker.score, self.units, self._members(U), common=common
        )
        self.reads.passes += 1.0

        def ask(question: Question) -> list[Answer]:
            answers = self.tasks.each("count", on_worker.answer, scores, question=question)
            return [each for unit in self.tasks.gather(answers) for each in unit]

        cuts, nearest_limit, extra_limit = find_cuts(ask, counts, len(self.layout.edges) - 1)
        settled = self.tasks.each("settle", on_worker.settle, scores, self._by_unit(cuts))
        found: list[Settled] = self.tasks.gather(settled)
        members = Memberships.joined([part for unit in found for part in unit.members])

        def costs() -> FloatArray:
            parts = self.tasks.each("costs", on_worker.costs, scores, settled)
            return np.concatenate(self.tasks.gather(parts))

        kept = reseeded(members, costs)
        self._n_links += 1
        self._settled = (members, settled) if kept is members else None
        if self._n_links == _MOST_LINKS:
            self._settled, self._n_links = None, 0
        objective = float(sum(each for unit in found for each in unit.objectives))
        return RowStep(objective, Assignment(kept, nearest_limit, extra_limit))

    def residual_squares(self, means: FloatArray, U: Memberships, V: Memberships) -> float:
        """Return the sum of squared differences from block means, term by term: slow and exact."""
        parts = self.tasks.each(
            "residuals",
            on_worker.residual_squares,
            self.units,
            self._members(U),
            common=self.tasks.share(Common(means, V)),
        )
        self.reads.passes += 1.0
        return float(sum(each for unit in self.tasks.gather(parts) for each in unit))

    def restore_vectors(self, vectors: FloatArray, U: Memberships) -> FloatArray:
        """Turn mean rows of centred data into mean rows of the data as given."""
        return self._effects().restore_vectors(vectors, U)

    def restore_means(self, means: FloatArray, U: Memberships, V: Memberships) -> FloatArray:
        """Turn block means of centred data into block means of the data as given."""
        return self._effects().restore_means(means, U, V)

    def _members(self, U: Memberships | None) -> list[Any]:
        """Return the memberships of the blocks of each unit, as it is to be told of them.

        Those that the workers have just assigned are there already.
        """
        if self._settled is not None and self._settled[0] is U:
            return self._settled[1]
        return self._by_unit([U and U.slice(*rows) for rows in self.layout.ranges])

    def _columns(self, V: Memberships | None) -> Any:
        """Tell the workers of column memberships; without any there is nothing to be sent."""
        return Common() if V is None else self.tasks.share(Common(V=V), "columns")

    def _by_unit(self, blocks: Sequence[Any]) -> list[list[Any]]:
        """Sort what belongs to blocks by the units they are in."""
        return [list(blocks[unit.start : unit.stop]) for unit in self.tasks.units]

    def _stacked(self, word: str, function: Any, common: Any = None) -> FloatArray:
        """Return the results of all units, one below the other."""
        shared = {} if common is None else {"common": common}
        parts = self.tasks.gather(self.tasks.each(word, function, self.units, **shared))
        self.reads.passes += 1.0
        return np.concatenate(parts)

    def _take(self, function: Any, rows: IntArray) -> Any:
        """Fetch some rows in the order asked for."""
        order = np.argsort(rows, kind="stable")
        ordered, edges = rows[order], self.layout.edges
        cuts = np.searchsorted(ordered, edges)
        local = self._by_unit(
            [ordered[low:high] - at for (low, high), at in zip(pairwise(cuts), edges, strict=False)]
        )
        some = [i for i, unit in enumerate(local) if any(len(block) for block in unit)]
        held, wanted = [self.units[i] for i in some], [local[i] for i in some]
        pieces = self.tasks.gather(self.tasks.each("take", function, held, wanted, units=some))
        self.reads.passes += len(rows) / self.shape[0]
        back = np.empty(len(rows), dtype=np.intp)
        back[order] = np.arange(len(rows))
        return on_worker.stacked(pieces)[back]

    def _effects(self) -> MemoryEngine:
        """Return an engine that knows what is subtracted and nothing else."""
        nothing = np.empty((0, self.shape[1]))
        return self._here(DenseMatrix(nothing, self.row_effects, self.given_column_effects))

    def _here(self, matrix: Matrix) -> MemoryEngine:
        return MemoryEngine(matrix, get_kernels(self.layout.kernel, 0), self.workers)


def _between(matrix: Matrix, start: int, stop: int) -> Any:
    """Return some rows of a matrix in memory, without copying."""
    if isinstance(matrix, DenseMatrix):
        return matrix.values[start:stop]
    block = matrix.block(start, stop)
    return block.matrix()
