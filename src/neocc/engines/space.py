"""How much of the memory a fit may take, and where its large tables go.

Tables with a line per row (distances to clusters, sums over column clusters) can outgrow memory
before the data does. Above a limit they are mapped from files without a name, which vanish with
the process.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass

import numpy as np

from neocc._sizes import as_bytes, in_words
from neocc._typing import FloatArray
from neocc.engines.source import RowSource
from neocc.engines.stored import SMALL_BYTES, block_bytes

__all__ = ["EVERYTHING", "MemoryLimitError", "TableSpace", "plan_space"]

# Copies of a vector with a number per row that an assignment step may hold at the same time.
_VECTORS = 12
# Tables of distances or sums that may be alive at the same time.
_TABLES = 3
MOST_WATCHED = 1 << 24
"""Most entries that a row step sets aside; each takes up to twenty bytes, more while sorting."""

# The interpreter, the libraries and the compiled kernels.
_PROGRAM = 300_000_000


class MemoryLimitError(ValueError):
    """The memory limit leaves no room for what a fit needs in any case."""


@dataclass(frozen=True)
class TableSpace:
    """Where tables live: in memory up to a number of bytes each, else on disk."""

    largest: float = np.inf

    def empty(self, n_rows: int, n_columns: int) -> FloatArray:
        """Return a table of any content."""
        if 8 * n_rows * n_columns <= self.largest:
            return np.empty((n_rows, n_columns))
        with tempfile.TemporaryFile(prefix="neocc-") as file:
            return np.memmap(file, np.float64, "w+", shape=(n_rows, n_columns)).view(np.ndarray)


EVERYTHING = TableSpace()


def plan_space(
    source: RowSource, k: int, width: int, n_jobs: int, limit: int | str | None
) -> TableSpace:
    """Divide the memory of a fit, or say which limit would do.

    Parameters
    ----------
    source : RowSource
        Where the rows come from.
    k, width : int
        Numbers of row clusters and of column clusters (0 for a side that is not clustered).
    n_jobs : int
        Number of threads.
    limit : int, str or None
        Bytes; None for no limit.
    """
    if limit is None:
        return EVERYTHING
    n, m = source.shape
    stored = block_bytes(source)
    # A dense block is turned into float64 a piece at a time, which cannot be less than a row.
    working = 8 * max(1 << 19, m) * (0 if source.is_sparse else 3)
    blocks = max(SMALL_BYTES, (n_jobs + 1) * stored) + (n_jobs + 1) * working
    totals = (n_jobs + 2) * 8 * m * (k + width + 2)
    # Memberships as they are returned, and who is near enough for a further one.
    rows = n * (2 * k + 8 * _VECTORS)
    watched = 48 * min(MOST_WATCHED, source.n_stored)
    least = _PROGRAM + blocks + totals + rows + watched
    given = as_bytes(limit, "memory_limit")
    if given < least:
        raise MemoryLimitError(
            f"memory_limit={limit!r} is too small: with {n_jobs} threads, blocks of "
            f"{in_words(stored)} and {k} clusters of {n} rows a fit needs {in_words(least)}. Allow "
            "as much, take fewer threads (n_jobs), or write the store with a smaller block_size."
        )
    return TableSpace((given - least) / _TABLES)
