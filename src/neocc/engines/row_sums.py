"""Sums of the rows over column clusters, kept while few columns change clusters.

A column t that enters cluster j adds x_pt to the sum of each row p over j (methods 7.5). Rows are
stored together, columns are not; so the entries of columns that may soon change, those nearly as
close to another cluster, are set aside while a pass reads them anyway. If no other column changes,
the next row step needs no pass.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock

import numpy as np

from neocc._typing import AnyArray, BoolArray, FloatArray, IntArray
from neocc.core.objectives import Sums
from neocc.engines.space import MOST_WATCHED, TableSpace
from neocc.kernels import Block, Memberships, SparseBlock

__all__ = ["KeptRowSums", "RowSums", "Watch"]

# Updates before the sums are made anew: each adds a little rounding.
_MOST_UPDATES = 8
# Shares of the columns and of the entries that are set aside at most, and a number of entries.
_WATCHED_COLUMNS = 1 / 16
_WATCHED_ENTRIES = 1 / 8
# Sums are kept where they are this much fewer than the stored entries.
_ENTRIES_PER_SUM = 10


@dataclass
class Watch:
    """Entries of some columns, collected block by block during a pass."""

    columns: IntArray
    flags: BoolArray
    most_entries: float
    _parts: dict[int, tuple[AnyArray, ...]] = field(default_factory=dict)
    _n_entries: int = 0
    _lock: Lock = field(default_factory=Lock)
    # Rows, columns and values in the order of columns; or, of dense data, a table.
    _sorted: tuple[AnyArray, ...] = ()

    @classmethod
    def of(cls, margins: FloatArray, n_stored: int) -> Watch | None:
        """Watch the columns with the smallest margins, as many as there is room for."""
        m = len(margins)
        n_columns = int(m * min(_WATCHED_COLUMNS, MOST_WATCHED / max(1, n_stored)))
        if n_columns < 1:
            return None
        columns = np.sort(np.argsort(margins, kind="stable")[:n_columns])
        flags = np.zeros(m, dtype=bool)
        flags[columns] = True
        return cls(columns, flags, min(MOST_WATCHED, _WATCHED_ENTRIES * n_stored))

    def collect(self, start: int, block: Block) -> None:
        """Set aside the entries of a block whose first row is `start`."""
        if self._n_entries > self.most_entries:
            return
        if isinstance(block, SparseBlock):
            at = block.stored()
            indices = block.indices[at]
            places = np.flatnonzero(self.flags[indices])
            part: tuple[AnyArray, ...]
            rows = np.searchsorted(block.indptr - block.indptr[0], places, side="right") - 1
            narrow = np.int32 if start + block.n_rows < 2**31 else np.int64
            part = ((rows + start).astype(narrow), indices[places], block.data[at][places])
        else:
            part = (block[:, self.columns],)
        with self._lock:
            self._parts[start] = part
            self._n_entries += part[-1].size

    def sort(self) -> bool:
        """Bring the entries into the order of columns; False if there are too many."""
        parts = [self._parts[start] for start in sorted(self._parts)]
        self._parts = {}
        if self._n_entries > self.most_entries or not parts:
            return False
        self._sorted = tuple(np.concatenate(each) for each in zip(*parts, strict=True))
        parts.clear()
        if len(self._sorted) > 1:
            order = np.argsort(self._sorted[1], kind="stable")
            self._sorted = tuple(each[order] for each in self._sorted)
        return True

    def entries_of(self, column: int) -> tuple[IntArray | slice, AnyArray]:
        """Return the rows that have an entry in a watched column, and the entries."""
        if len(self._sorted) == 1:
            place = int(np.searchsorted(self.columns, column))
            return slice(None), self._sorted[0][:, place]
        rows, columns, values = self._sorted
        at = slice(*np.searchsorted(columns, (column, column + 1)))
        return rows[at], values[at]


@dataclass
class RowSums:
    """Sums of the rows over the column clusters V, and weighted squares."""

    V: Memberships
    sums: FloatArray
    squares: FloatArray
    watch: Watch | None = None
    complete: bool = False
    n_updates: int = 0

    def between(self, start: int, stop: int) -> Sums:
        """Return the sums of some rows."""
        return Sums(self.sums[start:stop], self.squares[start:stop], None)

    def finish(self) -> None:
        """Say that a pass has filled the tables."""
        self.complete = True
        if self.watch is not None and not self.watch.sort():
            self.watch = None

    def reach(self, V: Memberships) -> bool:
        """Turn these into the sums over V, if no columns but watched ones have changed."""
        if not self.complete or self.V.n_clusters != V.n_clusters:
            return False
        changed = self.V.changed_items(V)
        if not len(changed):
            return True
        watch = self.watch
        if watch is None or self.n_updates >= _MOST_UPDATES or not watch.flags[changed].all():
            return False
        self.complete = False  # an interrupt may come in between
        for column, before, after in zip(
            changed.tolist(), self.V.take(changed).dense, V.take(changed).dense, strict=True
        ):
            rows, values = watch.entries_of(column)
            for cluster in np.flatnonzero(after & ~before):
                self.sums[rows, cluster] += values
            for cluster in np.flatnonzero(before & ~after):
                self.sums[rows, cluster] -= values
            exact = values.astype(np.float64, copy=False)
            self.squares[rows] += float(after.sum() - before.sum()) * exact * exact
        self.V, self.complete = V, True
        self.n_updates += 1
        return True


@dataclass
class KeptRowSums:
    """The row sums that an engine keeps from one row step to the next."""

    _current: RowSums | None = None
    _margins: FloatArray | None = None

    def reached(self, V: Memberships) -> RowSums | None:
        """Return the sums over V if no pass is needed for them."""
        return self._current if self._current is not None and self._current.reach(V) else None

    def renewed(
        self, V: Memberships, shape: tuple[int, int], n_stored: int, space: TableSpace
    ) -> RowSums | None:
        """Return tables for the sums over V, to be filled by a pass; None if they are too large."""
        n, width = shape[0], V.n_clusters
        old, self._current = self._current, None
        if _ENTRIES_PER_SUM * n * width > n_stored:
            return None
        watch = None if self._margins is None else Watch.of(self._margins, n_stored)
        self._margins = None
        if old is not None and old.sums.shape == (n, width):
            self._current = RowSums(V, old.sums, old.squares, watch)
        else:
            old = None  # before the tables that take its place are made
            self._current = RowSums(V, space.empty(n, width), np.empty(n), watch)
        return self._current

    def watch(self, margins: FloatArray) -> None:
        """Set columns of small margin aside during the next pass."""
        self._margins = margins

    def stop_watching(self) -> None:
        """Forget whatever would let a row step give other bits than a pass does."""
        self._margins = None
        if self._current is not None:
            self._current.watch = None
            if self._current.n_updates:
                self._current.complete = False
