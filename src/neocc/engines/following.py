"""A shard that is expensive to read keeps sums, and follows changes of memberships.

All column features are linear in the memberships of the rows (methods 7.5): a row that enters a
cluster adds its entries to the sums of the cluster, one that leaves takes them away. Few rows
change in most iterations, so only these are read again. Features are made anew every so often, for
each update adds a little rounding. Sums of the rows over column clusters serve again while these
clusters stay. (docs/large-data.md has what each spares.)
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from neocc._typing import FloatArray, IntArray
from neocc.engines.passes import Rows
from neocc.engines.shard import Shard
from neocc.kernels import Features, Memberships, Terms

__all__ = ["FollowingShard"]

# Changed rows are copied `PassOptions.copied` entries at a time, or this share of all if larger.
_COPIED_SHARE = 1 / 32


class FollowingShard(Shard):
    """A shard that spares passes; results change by rounding at most."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        # Memberships of rows and of columns (for products), whether squares are wanted, features.
        self._last: tuple[Memberships, Memberships | None, bool, Features] | None = None
        self._n_updates = 0
        # Column clusters, with the sums and squares of all rows; which blocks have been filled.
        self._kept: tuple[Memberships, FloatArray, FloatArray] | None = None
        self._filled: set[int] = set()

    def refresh(self) -> bool:
        """Forget features; whether there were any, which may have rounded differently."""
        known, self._last, self._n_updates = self._last is not None, None, 0
        return known

    def column_features(
        self, U: Memberships | None, V: Memberships | None, squares: bool = True
    ) -> Features:
        """Return the features of all columns, from those of the last memberships if few changed."""
        last, self._last = self._last, None
        changed = None
        if last is not None and U is not None and self._n_updates < self.options.max_updates:
            changed = self._changed(last, U, V, squares=squares)
        if changed is None or last is None or U is None:
            found, self._n_updates = super().column_features(U, V, squares), 0
        else:
            found = last[3]
            if len(changed):
                before, after = last[0].take(changed), U.take(changed)
                found = found + self._gains(changed, before, after, V, squares)
                self._n_updates += 1
        if U is not None:
            # Without what has been computed from the memberships, which takes room.
            self._last = (replace(U), V, squares, found)
        return found

    def _changed(
        self,
        last: tuple[Memberships, Memberships | None, bool, Features],
        U: Memberships,
        V: Memberships | None,
        *,
        squares: bool,
    ) -> IntArray | None:
        """Return the rows whose clusters changed; None if features had better be made anew."""
        before, products, had_squares, _ = last
        if had_squares != squares or (products is None) != (V is None):
            return None
        if before.n_clusters != U.n_clusters or (
            products is not None and V is not None and not _same(products, V)
        ):
            return None
        if np.count_nonzero(before.first != U.first) > self.options.max_changed * U.n_items:
            return None
        changed = before.changed_items(U)
        return changed if len(changed) <= self.options.max_changed * U.n_items else None

    def _gains(
        self,
        rows: IntArray,
        before: Memberships,
        after: Memberships,
        V: Memberships | None,
        squares: bool,
    ) -> Features:
        """Return what the features gain when some rows, in ascending order, change clusters."""
        # A copy of many rows is significant next to X.
        n_stored = max(1, self.matrix.n_stored)
        n_entries = max(self.options.copied, _COPIED_SHARE * n_stored)
        step = max(1, int(self.shape[0] * n_entries / n_stored))
        gains: Features | None = None
        for low, high in pairwise([*range(0, len(rows), step), len(rows)]):
            few = Shard(
                self.matrix.take(rows[low:high]), self.kernels, self.workers, options=self.options
            )
            self.reads.passes += few.matrix.n_stored / n_stored
            for members, add in ((after, np.add), (before, np.subtract)):
                part = few.column_features(members.slice(low, high), V, squares)
                gains = part if gains is None else gains.combined(part, add)
        assert gains is not None
        return gains

    def _features(self, rows: Rows, terms: Terms, V: Memberships | None) -> Features:
        """Return the features of a block of rows, without reading it if its sums are kept."""
        if V is None or terms.table is not None:
            return super()._features(rows, terms, V)
        kept, at = self._sums_over(V), slice(*rows)
        if kept is None:
            return super()._features(rows, terms, V)
        _, sums, squares = kept
        if rows[0] not in self._filled:
            found = super()._features(rows, terms, V)
            sums[at], squares[at] = found.sums, found.squares
            self.scratch.give_back(found.sums)
            self._filled.add(rows[0])
        else:
            with self._lock:
                self.reads.passes -= (rows[1] - rows[0]) / self.shape[0]
        # Copies: whoever asked gives the memory back.
        copy = self.scratch.take(rows[1] - rows[0], V.n_clusters)
        copy[...] = sums[at]
        return Features(copy, squares[at])

    def _sums_over(self, V: Memberships) -> tuple[Memberships, FloatArray, FloatArray] | None:
        """Return tables for the sums over V, filled as far as `_filled` says; None if too large."""
        n, width = self.shape[0], V.n_clusters
        with self._lock:
            if self.options.entries_per_sum * n * width > self.matrix.n_stored:
                return None
            kept = self._kept
            if kept is None or not _same(kept[0], V):
                tables = kept[1:] if kept is not None and kept[1].shape == (n, width) else None
                self._filled = set()
                sums, squares = tables or (self.space.empty(n, width), np.empty(n))
                self._kept = kept = (V, sums, squares)
            return kept


def _same(one: Memberships, other: Memberships) -> bool:
    """Whether two sides have the same clusters."""
    return one is other or (
        one.n_clusters == other.n_clusters and not len(one.changed_items(other))
    )
