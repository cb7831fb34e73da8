"""Rows of a store in memory: all of them, or a seeded sample of bounded size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from neocc._sizes import as_bytes
from neocc._typing import IntArray
from neocc.engines import RowSource
from neocc.engines.stored import StoredRows

__all__ = ["Sample", "draw", "entries_within", "rows_with"]

# What the program takes by itself, and what an entry takes with all that is computed from it.
_PROGRAM, _BYTES_PER_ENTRY = 300_000_000, 64


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows of a store."""

    data: Any
    at: IntArray  # their places in the store, in order
    n_rows: int  # of the store
    seed: int  # what they were drawn with

    @property
    def is_whole(self) -> bool:
        """Whether these are all rows."""
        return len(self.at) == self.n_rows

    def in_words(self, noun: str) -> str:
        """Say that this is a sample."""
        return f"a random sample of {len(self.at):,} of the {self.n_rows:,} {noun}"


def entries_within(limit: str | None, most: int) -> int:
    """Return how many entries to load: at most so many, and no more than fit into `limit` bytes."""
    if limit is None:
        return most
    room = as_bytes(limit, "memory_limit") - _PROGRAM
    return max(1, min(most, room // _BYTES_PER_ENTRY))


def rows_with(store: RowSource, n_entries: int) -> int:
    """Return how many rows have about so many entries, all where the store has no more."""
    n = store.shape[0]
    return n if store.n_stored <= n_entries else max(1, int(n * (n_entries / store.n_stored)))


def draw(store: RowSource, size: int, seed: int, besides: IntArray | None = None) -> Sample:
    """Draw so many rows, and some that must be among them besides."""
    n = store.shape[0]
    rows = StoredRows(store)
    if size == n:
        return Sample(rows[:], np.arange(n), n, seed)
    at = np.random.default_rng(seed).choice(n, size=size, replace=False)
    at = np.unique(at if besides is None else np.concatenate([at, besides]))
    return Sample(rows.take(at), at, n, seed)
