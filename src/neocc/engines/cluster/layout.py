"""How the rows of a matrix are cut into blocks, and how they get to the workers."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from neocc._typing import IntArray
from neocc.engines.cluster import rows as on_worker
from neocc.engines.cluster.held import GivenRows
from neocc.engines.cluster.tasks import Tasks
from neocc.engines.matrix import DenseMatrix, Matrix
from neocc.engines.stored import source_of
from neocc.kernels import get_kernels

__all__ = ["Layout", "spread"]

# A matrix in memory is cut into blocks of so many entries.
GIVEN_ENTRIES = 1 << 19


@dataclass(frozen=True)
class Layout:
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


def spread(
    matrix: Matrix, client: Any, kernel: str, block_entries: int | None
) -> tuple[Tasks, list[Any], Layout]:
    """Let the workers of a client read the rows of a store, or send them those in memory.

    Returns what hands tasks to them, the futures of the units, and how the rows were cut.
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
    layout = Layout(edges, matrix.shape, matrix.n_stored, isinstance(matrix, DenseMatrix), kernel)
    tasks = Tasks(client, len(edges) - 1)
    if source is not None:
        sources: list[Any] = [tasks.share(source, "store")] * len(tasks.units)
        indices = [list(unit) for unit in tasks.units]
    else:
        given = [GivenRows(_between(matrix, *rows)) for rows in layout.ranges]
        sources = [given[unit.start : unit.stop] for unit in tasks.units]
        indices = [[0] * len(unit) for unit in tasks.units]
    units = tasks.submit(
        tasks.each(
            "load", on_worker.hold, sources, indices, kernel=kernel, is_dense=layout.is_dense
        )
    )
    return tasks, units, layout


def _between(matrix: Matrix, start: int, stop: int) -> Any:
    """Return some rows of a matrix in memory, without copying."""
    if isinstance(matrix, DenseMatrix):
        return matrix.values[start:stop]
    block = matrix.block(start, stop)
    return block.matrix()
