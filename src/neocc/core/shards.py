"""Shards: where rows live, and the scheduler that calls methods of all of them.

A shard holds rows, in memory, on disk or on another machine, and computes a few things about
them: score these rows, count at these thresholds, apply these thresholds, sum columns
(`neocc.engines.shard`). `Shards` are all of them with a scheduler; `neocc.engines` has one for this
process and one for clusters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np

from neocc._typing import FloatArray, IntArray
from neocc.core.objectives import Centring, Side
from neocc.kernels import Kernels, Memberships

__all__ = ["NO_EFFECTS", "Effects", "Reads", "Result", "Shards", "Task"]

Task = TypeVar("Task")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Effects:
    """Numbers subtracted from all entries of each row, and of each column; None for none."""

    rows: FloatArray | None = None
    columns: FloatArray | None = None

    def of_columns(self, n_columns: int) -> FloatArray:
        """Return a number for each column, zero for nothing."""
        return np.zeros(n_columns) if self.columns is None else self.columns

    def restore(self, means: FloatArray, U: Memberships, V: Memberships | None) -> FloatArray:
        """Turn means of centred data into means of the data as given.

        They are means of blocks, of shape (row clusters, column clusters), or without V of the rows
        of each cluster.
        """
        if self.columns is not None:
            means = means + (self.columns if V is None else _means(self.columns, V))
        if self.rows is not None:
            means = means + _means(self.rows, U)[:, None]
        return means


NO_EFFECTS = Effects()


def _means(values: FloatArray, members: Memberships) -> FloatArray:
    """Return weighted means of a number per item over clusters, or what fits mixed ones best."""
    weighted = values if members.scale is None else values * members.scale
    return members.fitted(members.sums_of(weighted))


@dataclass
class Reads:
    """How often the data were read, parts of them counted as parts.

    `work` counts the passes that solvers and searches need at most: a measure that is the same
    wherever the data are.
    """

    passes: float = 0.0
    work: float = 0.0


class Shards(Protocol):
    """Shards of rows with their scheduler; the last three methods suit most of them.

    Attributes
    ----------
    each : list
        The shards (see `neocc.engines.shard.Shard`), as an argument of `call`.
    edges : array of int
        Shard i holds rows `edges[i]` to `edges[i + 1]`.
    n_columns, n_stored : int
        Number of columns, and of stored entries.
    kernels : Kernels
        Those by which this process scores columns.
    effects : Effects
        What is subtracted from the rows and the columns.
    reads : Reads
        How often the rows were read so far.
    """

    each: Any
    edges: IntArray
    n_columns: int
    n_stored: int
    kernels: Kernels
    effects: Effects
    reads: Reads

    def call(self, method: str, objects: Any, *each: Any, common: Sequence[Any] = ()) -> Any:
        """Call a method of every shard, or of what an earlier call returned for it.

        Arguments have a part for each shard; those that all have in common come last. Returns a
        handle to the results.
        """

    def total(self, method: str, objects: Any, *each: Any, common: Sequence[Any] = ()) -> Any:
        """Do the same; return the sum of the results.

        They are added in an order that depends on the shards alone.
        """

    def gather(self, results: Any) -> list[Any]:
        """Return the results of a call, in the order of the shards."""

    def centred(self, centring: Centring, column_effects: FloatArray | None) -> Shards:
        """Return shards of the same rows with effects subtracted on the fly.

        Sparse data stays as it is. `column_effects` replaces those of the data.
        """

    def sample(self, side: Side, items: IntArray) -> Shards:
        """Return a copy of some rows or columns, with the effects they have, in this process."""

    def over_table(self, table: FloatArray) -> Shards:
        """Return a dense table as one shard in this process."""

    def dense_rows(self, rows: IntArray) -> FloatArray:
        """Return a few rows, centred, as a dense table."""
        return self.sample("rows", rows).dense_rows(np.arange(len(rows)))

    def refresh(self) -> bool:
        """Drop what is kept to spare passes; whether features may have rounded differently."""
        return False

    def run_each(
        self, function: Callable[[Shards, Task], Result], tasks: Sequence[Task]
    ) -> Iterator[Result]:
        """Yield a function of shards of these rows and each task, in the order of the tasks.

        Several may be under way at a time. What they read counts when a result is taken.
        """
        return map(partial(function, self), tasks)
