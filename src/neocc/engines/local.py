"""The scheduler of a single process: data in memory or on disk form one shard."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from typing import Any

import numpy as np

from neocc._typing import FloatArray, IntArray
from neocc.core.engine import Engine
from neocc.core.objectives import Centring, Side
from neocc.core.shards import Effects, Result, Shards, Task
from neocc.engines.exact import ExactShard, is_updated
from neocc.engines.following import FollowingShard
from neocc.engines.matrix import DenseMatrix, Matrix
from neocc.engines.passes import DEFAULTS, PassOptions
from neocc.engines.shard import Shard
from neocc.engines.space import EVERYTHING, TableSpace
from neocc.engines.stored import source_of
from neocc.engines.sums import RowLines
from neocc.engines.workers import Workers
from neocc.kernels import Kernels

__all__ = ["LocalShards", "open_engine"]

_FIRST = itemgetter(0)


def open_engine(
    matrix: Matrix,
    kernels: Kernels,
    workers: Workers,
    space: TableSpace = EVERYTHING,
    options: PassOptions = DEFAULTS,
) -> Engine:
    """Put a matrix, in memory or on disk, into an engine of this process."""
    kind = Shard
    if source_of(matrix) is not None:
        kind = FollowingShard if matrix.n_stored >= options.least_followed else kind
    elif matrix.n_stored >= options.least_updated and is_updated(matrix):
        kind = ExactShard
    return Engine(LocalShards(kind(matrix, kernels, workers, space, options=options)))


class LocalShards:
    """One shard, whose threads share the rows; see `neocc.core.shards.Shards`."""

    def __init__(self, shard: Shard) -> None:
        self.shard, self.each, self.kernels, self.reads = shard, [shard], shard.kernels, shard.reads
        matrix = shard.matrix
        self.edges = np.array([0, matrix.shape[0]])
        self.n_columns, self.n_stored = matrix.shape[1], matrix.n_stored
        self.effects = Effects(matrix.row_effects, matrix.column_effects)

    def call(self, method: str, objects: Any, *each: Any, common: Sequence[Any] = ()) -> list[Any]:
        """Call a method of the shard, or of a result of an earlier call."""
        return [getattr(objects[0], method)(*map(_FIRST, each), *common)]

    def total(self, method: str, objects: Any, *each: Any, common: Sequence[Any] = ()) -> Any:
        """Return the only result."""
        return getattr(objects[0], method)(*map(_FIRST, each), *common)

    def gather(self, results: Any) -> list[Any]:
        """Return results as they are."""
        found: list[Any] = results
        return found

    def centred(self, centring: Centring, column_effects: FloatArray | None) -> LocalShards:
        """Return the same rows, with effects subtracted when they are read."""
        matrix = self.shard.matrix.centred(centring, column_effects)
        if matrix is self.shard.matrix:
            return self
        self.reads.passes += float(matrix.row_effects is not None)
        return LocalShards(self.shard.alike(matrix))

    def sample(self, side: Side, items: IntArray) -> LocalShards:
        """Return a copy of some rows or columns, with the effects they have."""
        matrix = self.shard.matrix
        some = matrix.take(items) if side == "rows" else matrix.take_columns(items)
        self.reads.passes += some.n_stored / max(1, self.n_stored) if side == "rows" else 1.0
        return self.over(some)

    def over_table(self, table: FloatArray) -> LocalShards:
        """Return a dense table."""
        return self.over(DenseMatrix(table))

    def dense_rows(self, rows: IntArray) -> FloatArray:
        """Return a few rows, centred, as a dense table."""
        self.reads.passes += len(rows) / max(1, self.edges[-1])
        return RowLines(self.shard.matrix)[rows]

    def over(self, matrix: Matrix) -> LocalShards:
        """Return other rows, in memory, with the same kernels and threads."""
        return LocalShards(self.shard.over(matrix))

    def run_each(
        self, function: Callable[[Shards, Task], Result], tasks: Sequence[Task]
    ) -> Iterator[Result]:
        """Call a function of these rows and each task, in several threads where rows are few.

        The first task is done here: what it keeps, all share.
        """
        for task in tasks[:1]:
            yield function(self, task)
        others, n_runs = tasks[1:], min(self.shard.n_runs, len(tasks) - 1)
        if n_runs <= 1:
            yield from (function(self, task) for task in others)
            return
        free = [LocalShards(self.shard.twin()) for _ in range(n_runs)]

        def run(task: Task) -> tuple[Result, float, float]:
            own = free.pop()
            passes, work = own.reads.passes, own.reads.work
            found = function(own, task)
            free.append(own)
            return found, own.reads.passes - passes, own.reads.work - work

        for found, passes, work in self.shard.workers.ordered(run, others):
            self.reads.passes += passes
            self.reads.work += work
            yield found

    def refresh(self) -> bool:
        """Drop updated sums; return whether there were any."""
        return self.shard.refresh()
