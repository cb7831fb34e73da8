"""How much of the memory a fit may take, and where its large tables go.

Tables with a line per row (distances to clusters, sums over column clusters) can outgrow memory
before the data does. Above a limit they are mapped from files without a name, which vanish with
the process.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from math import log

import numpy as np

from neocc._sizes import as_bytes, in_words
from neocc._typing import FloatArray
from neocc.core.problem import Problem
from neocc.engines.matrix import sampled_rows
from neocc.engines.source import RowSource
from neocc.engines.stored import CACHED_BYTES, COPIED_BYTES, block_bytes, is_full

__all__ = ["EVERYTHING", "MemoryLimitError", "NoRoomError", "TableSpace", "plan_space"]

# Bytes of a row in the vectors that an assignment step may hold at the same time, and of each
# membership beyond the first one; both with the memberships before and of the best solution so far.
_ROW_BYTES = 120
_EXTRA_BYTES = 120
# Boolean tables of memberships that may be alive at the same time, a byte for a row and a cluster.
_BOOLEANS = 3
# Of all distances, the share from which the smallest are no longer found without a copy of all.
_MANY_EXTRA = 0.4
# Tables of projected rows, with a few dimensions more than clusters; they are not put on disk.
_PROJECTIONS = 6
# Tables of distances or sums that may be alive at the same time.
_TABLES = 3
# Rows of a piece of a pass, or entries where the data are dense; see `neocc.engines.passes`.
_PIECE_ROWS, _PIECE_ENTRIES = 1 << 13, 1 << 19
# Copies of the dense rows by which effects are judged.
_SAMPLED_COPIES = 4

# The interpreter, the libraries and the compiled kernels, compiled now rather than loaded.
_PROGRAM = 250_000_000


class MemoryLimitError(ValueError):
    """The memory limit leaves no room for what a fit needs in any case: `needed` bytes."""

    def __init__(self, message: str, needed: int = 0) -> None:
        super().__init__(message)
        self.needed = needed


class NoRoomError(OSError):
    """There is no room on disk for a table that memory has no room for."""


@dataclass(frozen=True)
class TableSpace:
    """Where tables live: in memory up to a number of bytes each, else on disk."""

    largest: float = np.inf

    def empty(self, n_rows: int, n_columns: int) -> FloatArray:
        """Return a table of any content."""
        n_bytes = 8 * n_rows * n_columns
        if n_bytes <= self.largest:
            return np.empty((n_rows, n_columns))
        try:
            with tempfile.TemporaryFile(prefix="neocc-") as file:
                # A disk that is full later on, when the table is filled, would end the process.
                if hasattr(os, "posix_fallocate"):
                    os.posix_fallocate(file.fileno(), 0, n_bytes)
                table = np.memmap(file, np.float64, "w+", shape=(n_rows, n_columns))
                return table.view(np.ndarray)
        except OSError as error:
            raise NoRoomError(
                f"A table of {in_words(n_bytes)} that memory_limit leaves no room for could not be "
                f"put into {tempfile.gettempdir()} ({error.strerror or error}). Make room there, "
                "name another folder in the environment variable TMPDIR, or raise memory_limit."
            ) from error


EVERYTHING = TableSpace()


def plan_space(
    source: RowSource,
    problem: Problem,
    n_jobs: int,
    limit: int | str | None,
    *,
    n_held: int = 1,
    projected: bool = False,
) -> TableSpace:
    """Divide the memory of a fit, or say which limit would do.

    Parameters
    ----------
    source : RowSource
        Where the rows come from.
    problem : Problem
        What is asked for.
    n_jobs : int
        Number of threads.
    limit : int, str or None
        Bytes; None for no limit.
    n_held : int, default=1
        Number of solutions that a search holds at the same time.
    projected : bool, default=False
        Whether starts put all rows and columns into a space of few dimensions.
    """
    if limit is None:
        return EVERYTHING
    least = (
        _PROGRAM
        + _for_blocks(source, problem, n_jobs)
        + _for_columns(source, problem, n_jobs, n_held)
        + _for_rows(problem)
        + _for_copies(source)
    )
    if projected:
        least += _PROJECTIONS * 8 * sum(source.shape) * (max(_widths(problem)) + 8)
    given = as_bytes(limit, "memory_limit")
    if given < least:
        k = 0 if problem.rows is None else problem.rows.n_clusters
        raise MemoryLimitError(
            f"memory_limit={limit!r} is too small: with {n_jobs} threads, blocks of "
            f"{in_words(block_bytes(source))} and {k} clusters of {source.shape[0]} rows a fit "
            f"needs {in_words(least)}. Allow as much, take fewer threads (n_jobs), or write the "
            "store with a smaller block_size.",
            needed=least,
        )
    return TableSpace((given - least) / _TABLES)


def _widths(problem: Problem) -> tuple[int, int]:
    sides = (problem.rows, problem.columns)
    k, width = (0 if side is None else side.n_clusters for side in sides)
    return k, width


def _for_blocks(source: RowSource, problem: Problem, n_jobs: int) -> int:
    """Return the bytes for cached blocks, and for what a thread makes of a piece of one."""
    n, m = source.shape
    k, width = _widths(problem)
    rows, working = _PIECE_ROWS, 0
    if is_full(source):
        # Turned into float64 a piece at a time, which cannot be less than a row.
        working = 3 * 8 * max(_PIECE_ENTRIES, m)
        rows = max(1, _PIECE_ENTRIES // m)
    working += 8 * min(n, rows) * (3 * k + 3 * width + 8)
    return max(CACHED_BYTES, (n_jobs + 2) * block_bytes(source)) + (n_jobs + 1) * working


def _for_columns(source: RowSource, problem: Problem, n_jobs: int, n_held: int) -> int:
    """Return the bytes of tables with a line per column: sums of solutions, and of each thread."""
    m = source.shape[1]
    k, width = _widths(problem)
    products = width if problem.needs_products else 0
    sums = k + products + 1
    # Parts of threads and two to spare; the sums before, what they gain, and those held.
    tables = (n_jobs + 4 + n_held) * sums
    if problem.objective.needs_products:
        # Sums of row clusters, weighted, and twice as many products with them.
        tables += 3 * k
    # Distances and copies of them, and of every solution held the memberships as numbers.
    tables += (8 + n_held + n_held // 8) * width
    return 8 * m * tables


def _for_rows(problem: Problem) -> int:
    """Return the bytes of all that has a line per row, but for tables of numbers."""
    counts = problem.rows
    if counts is None:
        return 0
    n, k = counts.n_items, counts.n_clusters
    n_bytes = n * (_BOOLEANS * k + _ROW_BYTES) + _EXTRA_BYTES * counts.n_extra
    if problem.columns is None:
        # Distances to candidates for the next seed; co-clusters are seeded on a sample.
        n_bytes += n * 4 * 8 * (2 + int(log(k)))
    if counts.n_extra > _MANY_EXTRA * n * k:
        n_bytes += 2 * 8 * n * k
    return n_bytes


def _for_copies(source: RowSource) -> int:
    """Return the bytes of entries that are copied: a sample, and rows that changed."""
    n, m = source.shape
    n_bytes = 4 * COPIED_BYTES
    if is_full(source):
        n_bytes += _SAMPLED_COPIES * 8 * m * len(range(n)[sampled_rows(n)])
    return n_bytes
