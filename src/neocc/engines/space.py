"""How much memory a fit may use, and where its large tables go.

Tables with a row per row of X (distances to clusters, sums over column clusters) can outgrow memory
before the data does. Above a limit they are mapped from unnamed files, which vanish with the
process.
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
from neocc.engines.passes import DEFAULTS
from neocc.engines.stored import CACHED_BYTES, COPIED_BYTES, RowSource, block_bytes, is_full
from neocc.kernels.pieces import table_of_pieces

__all__ = ["EVERYTHING", "MemoryLimitError", "NoRoomError", "TableSpace", "plan_space"]

# The interpreter, the libraries and the compiled kernels, compiled now rather than loaded.
_PROGRAM = 250_000_000
# Tables of distances or sums that may be alive at the same time.
_TABLES = 3


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
        """Return an uninitialised table."""
        n_bytes = 8 * n_rows * n_columns
        if n_bytes <= self.largest:
            return np.empty((n_rows, n_columns))
        try:
            with tempfile.TemporaryFile(prefix="neocc-") as file:
                # If the disk were full later on, filling the table would end the process.
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
    """Divide the memory of a fit on `n_jobs` threads, or say which limit would do.

    A search holds `n_held` solutions at the same time. Starts that are `projected` put all rows and
    columns into a space of few dimensions.
    """
    if limit is None:
        return EVERYTHING
    k, width = (0 if side is None else side.n_clusters for side in (problem.rows, problem.columns))
    observed = problem.objective.needs_counts
    least = _PROGRAM + _block_bytes(source, k, width, n_jobs, observed=observed)
    least += _row_bytes(problem)
    if problem.overlap_model.needs_sums and problem.columns is None:
        # What each cell follows: before and after a step, of the best solution, and at the end.
        least += (3 * table_of_pieces(0, 0, k).itemsize + 4) * source.shape[0] * source.shape[1]
    least += 8 * source.shape[1] * _lines_per_column(problem, k, width, n_jobs, n_held)
    if projected:
        # Six tables, with a few dimensions more than clusters; they are not put on disk.
        least += 6 * 8 * sum(source.shape) * (max(k, width) + 8)
    given = as_bytes(limit, "memory_limit")
    if given < least:
        raise MemoryLimitError(
            f"memory_limit={limit!r} is too small: with {n_jobs} threads, blocks of "
            f"{in_words(block_bytes(source))} and {k} clusters of {source.shape[0]} rows a fit "
            f"needs {in_words(least)}. Allow as much, use fewer threads (n_jobs), or write the "
            "store with a smaller block_size.",
            needed=least,
        )
    sums = (1 + observed) * problem.overlap_model.needs_sums
    return TableSpace((given - least) / (_TABLES + observed + sums))


def _block_bytes(source: RowSource, k: int, width: int, n_jobs: int, *, observed: bool) -> int:
    """Return the bytes of cached blocks, of copied rows, and of what a thread makes of a block."""
    n, m = source.shape
    # A sample of the rows, and rows that changed.
    copies, working, rows = 4 * COPIED_BYTES, 0, 1 << 13
    if observed:
        # Blocks become float64, minus effects that are spread over their cells.
        working += 3 * 8 * int(source.entries.max())
    elif is_full(source):
        # Blocks become float64, at least a row at a time; so do the rows that effects come from.
        working, rows = 3 * 8 * max(DEFAULTS.row_block, m), max(1, DEFAULTS.row_block // m)
        copies += 4 * 8 * m * len(range(n)[sampled_rows(n)])
    working += 8 * min(n, rows) * (3 * k + 3 * width + 8)
    cached = max(CACHED_BYTES, (n_jobs + 2) * block_bytes(source))
    return cached + copies + (n_jobs + 1) * working


def _lines_per_column(problem: Problem, k: int, width: int, n_jobs: int, n_held: int) -> int:
    """Return how many numbers per column all tables hold: sums of solutions, and of threads."""
    # A row that follows clusters is summed for each cluster of columns.
    lines = k + k * width * problem.overlap_model.needs_sums
    sums = lines + (width if problem.needs_products else 0) + 1
    sums += lines * problem.objective.needs_counts
    # One for each thread and two to spare; the sums before, what they gain, and those held.
    numbers = (n_jobs + 4 + n_held) * sums
    if problem.objective.needs_products:
        # Sums of row clusters, weighted, and twice as many products with them.
        numbers += 3 * k
    # Distances and copies of them, sets, and the memberships of every solution held.
    sets = -(-_set_bytes(problem, width) // 8)
    return numbers + (8 + n_held + n_held // 8) * width + sets


def _set_bytes(problem: Problem, n_clusters: int) -> int:
    """Return the bytes per item of the best sets of each size, where a model looks for these."""
    model = problem.overlap_model
    if not model.prices_first:
        return 0
    largest = n_clusters if model.most is None else min(n_clusters, model.most)
    # The sets; their costs, and the prices of steps with copies of them.
    return 4 * largest * largest + 5 * 8 * largest


def _row_bytes(problem: Problem) -> int:
    """Return the bytes of everything with a row per row of X except tables of numbers."""
    counts = problem.rows
    if counts is None:
        return 0
    n, k = counts.n_items, counts.n_clusters
    # Vectors of an assignment step for rows and for further memberships, with the memberships
    # before and of the best solution so far; three boolean membership matrices.
    n_bytes = 120 * (n + counts.n_extra) + 3 * n * k
    if counts.needs_distances:
        n_bytes += n * _set_bytes(problem, k)
    if problem.columns is None:
        # Distances to candidates for the next seed; co-clusters are seeded on a sample.
        n_bytes += n * 4 * 8 * (2 + int(log(k)))
    if counts.n_extra > 0.4 * n * k:
        # So many of the smallest distances are found in a copy of all of them.
        n_bytes += 2 * 8 * n * k
    return n_bytes
