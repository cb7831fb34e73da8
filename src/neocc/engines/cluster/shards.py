"""Shards on the workers of a Dask cluster: rows and distances stay there, small tables travel.

There is one task per unit of a few shards. Column features are added along a fixed tree in shard
order, so the last bits of a fit depend on how the rows are cut into shards, but not on the number
of workers, their speed or their failures. The coordinating process holds nothing that grows with
the rows except their memberships.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from neocc._typing import FloatArray, IntArray
from neocc.core.engine import Engine
from neocc.core.objectives import Centring, Side
from neocc.core.shards import NO_EFFECTS, Effects, Shards
from neocc.engines.cluster import remote
from neocc.engines.cluster.tasks import Remote, Tasks, find_client
from neocc.engines.local import LocalShards
from neocc.engines.matrix import (
    DenseMatrix,
    Matrix,
    find_effects,
    sampled_rows,
    slice_rows,
    split_rows,
    stacked,
)
from neocc.engines.passes import DEFAULTS
from neocc.engines.shard import Shard
from neocc.engines.stored import source_of
from neocc.engines.workers import Workers
from neocc.kernels import GPU, get_kernels

__all__ = ["DaskShards", "on_cluster"]

# Entries of a shard of a matrix in memory.
GIVEN_ENTRIES = 1 << 19


def on_cluster(
    matrix: Matrix, where: Any, kernel: str, workers: Workers, shard_entries: int | None = None
) -> Engine:
    """Spread a matrix over the workers of a Dask client, or of the current one for "dask".

    Rows in a store are read by the workers, in the store's blocks. A matrix in memory is cut into
    shards of about `shard_entries` entries and sent. With kernel="gpu" shards are on the cards of
    the workers. `workers` are the threads of this process, for
    samples that stay in it.
    """
    if kernel == "auto":
        compiled = get_kernels("auto", matrix.n_stored) is not get_kernels("numpy", 0)
        kernel = "numba" if compiled else "numpy"
    if shard_entries is None:
        shard_entries = DEFAULTS.part_entries if kernel == GPU else GIVEN_ENTRIES
    source = source_of(matrix)
    if source is not None:
        edges = np.asarray(source.edges)
        rows: list[Any] = list(range(len(edges) - 1))
    else:
        edges = np.array([0, *(stop for _, stop in matrix.partition(shard_entries))])
        rows = [slice_rows(matrix.sendable, *ends) for ends in pairwise(edges.tolist())]
    tasks = Tasks(find_client(where), len(rows))
    common = (source, kernel, type(matrix))
    each = tasks.each("load", remote.hold, tasks.by_unit(rows), common=common)
    nothing = DenseMatrix(np.empty((0, matrix.shape[1])))
    of_columns = get_kernels("auto" if kernel == GPU else kernel, matrix.n_stored)
    here = LocalShards(Shard(nothing, of_columns, workers))
    engine = Engine(DaskShards(tasks, each, edges, matrix, here))
    engine.reads.passes += 1.0
    tasks.submit()
    return engine


class DaskShards(Shards):
    """Shards on workers; see `neocc.core.shards.Shards`."""

    def __init__(
        self, tasks: Tasks, each: Remote, edges: IntArray, matrix: Matrix, here: LocalShards
    ) -> None:
        self.tasks, self.each, self.edges, self.here = tasks, each, edges, here
        self.kind, self.is_dense = type(matrix), isinstance(matrix, DenseMatrix)
        self.n_columns, self.n_stored = matrix.shape[1], matrix.n_stored
        self.kernels, self.effects, self.reads = here.kernels, NO_EFFECTS, here.reads

    def call(self, method: str, objects: Any, *each: Any, common: Sequence[Any] = ()) -> Remote:
        """Call a method of every shard; calls are sent when results are gathered."""
        return self._call(list, method, (objects, *each), common)

    def total(self, method: str, objects: Any, *each: Any, common: Sequence[Any] = ()) -> Any:
        """Call a method of every shard, add the results along a fixed tree, and fetch their sum."""
        parts = self._call(remote.add, method, (objects, *each), common)
        return self.tasks.gather(self.tasks.total(parts))[0]

    def _call(
        self, collect: Callable[..., Any], method: str, each: Sequence[Any], common: Sequence[Any]
    ) -> Remote:
        self.reads.passes += float(each[0] is self.each and method != "raw_rows")
        by_unit = [part if isinstance(part, Remote) else self.tasks.by_unit(part) for part in each]
        function = partial(remote.call, collect, method, len(each))
        return self.tasks.each(method, function, *by_unit, common=common)

    def gather(self, results: Remote) -> list[Any]:
        """Wait for results and fetch them, in the order of the shards."""
        return [each for unit in self.tasks.gather(results) for each in unit]

    def centred(self, centring: Centring, column_effects: FloatArray | None) -> DaskShards:
        """Return shards of the same rows, with effects subtracted when they are read."""
        if not self.is_dense:
            return self
        n = int(self.edges[-1])
        sample = self._raw_rows(np.arange(n)[sampled_rows(n)])

        def row_medians(columns: FloatArray) -> FloatArray:
            return np.concatenate(
                self.gather(self.call("row_medians", self.each, common=(columns,)))
            )

        rows, columns = find_effects(
            np.ascontiguousarray(sample, dtype=np.float64), n, centring, column_effects, row_medians
        )
        cut = [None if rows is None else rows[slice(*at)].copy() for at in pairwise(self.edges)]
        given = (self.each, self.tasks.by_unit(cut))
        found = copy(self)
        found.each = self.tasks.each("subtract", remote.subtract, *given, common=(columns,))
        found.effects = Effects(rows, columns)
        self.reads.passes += 1.0
        self.tasks.submit()
        return found

    def sample(self, side: Side, items: IntArray) -> LocalShards:
        """Return a copy of some rows or columns, with the effects they have, in this process."""
        rows, columns = self.effects.rows, self.effects.columns
        if side == "rows":
            values = self._raw_rows(items)
            rows = None if rows is None else rows[items]
        else:
            values = stacked(self.gather(self.call("raw_columns", self.each, common=(items,))))
            columns = None if columns is None else columns[items]
        return self.here.over(self.kind.of_rows(values, rows, columns))

    def over_table(self, table: FloatArray) -> LocalShards:
        """Return a dense table as one shard in this process."""
        return self.here.over_table(table)

    def _raw_rows(self, rows: IntArray) -> Any:
        """Fetch some rows as given, in the order asked for."""
        self.reads.passes += len(rows) / max(1, self.edges[-1])
        local, back = split_rows(rows, self.edges)
        parts = self.gather(self.call("raw_rows", self.each, local))
        found = stacked([part for part in parts if part.shape[0]] or parts[:1])
        return found if back is None else found[back]
