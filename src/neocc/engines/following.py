"""A shard that is expensive to read keeps sums and updates them from the rows that changed.

Column features are linear in the memberships of the rows (methods 7.5): a row that enters a cluster
adds its entries to the sums of the cluster, and one that leaves subtracts them. Few rows change in
most iterations, so only these are read. Every update adds some rounding, so features are computed
from all rows now and then. Sums of rows over column clusters are reused until these clusters
change. (docs/disk-study.md says how much each of these saves.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from neocc._typing import BoolArray, IntArray
from neocc.core.assign import Applied
from neocc.engines.passes import Rows
from neocc.engines.shard import Shard
from neocc.kernels import Base, Features, Memberships, Terms

__all__ = ["FollowingShard", "changed_items", "few_changed"]

Result = TypeVar("Result")


class _Last(NamedTuple):
    """The column features computed last, and what they were computed for."""

    U: Memberships
    V: Memberships | None
    base: Base | None
    counts: bool
    features: Features


class FollowingShard(Shard):
    """A shard that saves passes; results change by rounding at most."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._last: _Last | None = None
        self._n_updates = 0
        # Column memberships and a base, with the features of all rows.
        self._kept: tuple[Memberships, Base, Features] | None = None

    def refresh(self) -> bool:
        """Forget features; return whether there were any, which may have rounded differently."""
        known, self._last, self._n_updates = self._last is not None, None, 0
        return known

    def column_features(
        self,
        U: Memberships | Applied | None,
        V: Memberships | None,
        base: Base | None = "weighted",
        counts: bool = False,
    ) -> Features:
        """Return the features of all columns, updated from the last ones if few rows changed."""
        last, self._last = self._last, None
        U = U.members if isinstance(U, Applied) else U
        if U is None:
            return super().column_features(U, V, base, counts)
        changed = None
        if last is not None and last.counts == counts:
            changed = self._changed(last, U, V, base)
        if last is None or changed is None:
            found, self._n_updates = super().column_features(U, V, base, counts), 0
        elif len(changed):
            some = self.over(self.matrix.take(changed))
            self.reads.passes += some.matrix.n_stored / max(1, self.matrix.n_stored)
            gains = some.column_features(U.take(changed), V, base, counts)
            losses = some.column_features(last.U.take(changed), V, base, counts)
            found = last.features + gains.combined(losses, np.subtract)
            self._n_updates += 1
        else:
            found = last.features
        # A copy of U does without what has been cached on it.
        self._last = _Last(replace(U), V, base, counts, found)
        return found

    def _changed(
        self, last: _Last, U: Memberships, V: Memberships | None, base: Base | None
    ) -> IntArray | None:
        """Return the rows whose memberships changed; None if all rows should be summed."""
        too_often = self._n_updates >= self.options.max_updates
        if too_often or last.base != base or not _same(last.V, V):
            return None
        changed = few_changed(last.U, U, self.options.max_changed)
        return None if changed is None else np.flatnonzero(changed)

    def _over_features(
        self, terms: Terms, V: Memberships | None, function: Callable[[Rows, Features], Result]
    ) -> list[Result]:
        """Call a function of each block of rows and its features, from kept sums if possible."""
        if V is not None and V.virtual is not None:
            V = V.virtual
        # Counts take as much as sums.
        n_sums = self.shape[0] * (0 if V is None else V.n_clusters)
        n_sums *= 1 if terms.curve is None else 2
        too_large = self.options.entries_per_sum * n_sums > self.matrix.n_stored
        if V is None or terms.table is not None or too_large:
            return super()._over_features(terms, V, function)
        kept = self._row_features(terms, V)

        def one_block(rows: Rows) -> Result:
            return function(rows, _lines(kept, rows))

        return list(self.workers.ordered(one_block, self._passes.row_blocks))

    def _row_features(self, terms: Terms, V: Memberships) -> Features:
        """Return the sums of all rows over V and their squares, read if V has changed."""
        n, counted = self.shape[0], terms.curve is not None
        if self._kept is not None:
            columns, base, found = self._kept
            counts_too = (found.counts is not None) == counted
            if base == terms.base and counts_too and _same(columns, V):
                return found
            del found
        self._kept = None  # frees the tables before the next ones are made
        counts = self.space.empty(n, V.n_clusters) if counted else None
        found = Features(self.space.empty(n, V.n_clusters), np.empty(n), None, counts)

        def keep(rows: Rows, features: Features) -> None:
            for table, part in zip(_lines(found, rows).tables(), features.tables(), strict=True):
                table[...] = part

        super()._over_features(terms, V, keep)
        self._kept = (V, terms.base, found)
        return found


def _lines(features: Features, rows: Rows) -> Features:
    """Return the features of some rows, as views."""
    at, sums, counts = slice(*rows), features.sums, features.counts
    assert sums is not None
    return Features(sums[at], features.squares[at], None, None if counts is None else counts[at])


def _same(one: Memberships | None, other: Memberships | None) -> bool:
    """Whether two sides have the same clusters and weights."""
    if one is None or other is None or one is other:
        return one is other
    same_width = one.summed.n_clusters == other.summed.n_clusters
    return same_width and not changed_items(one, other).any()


def few_changed(one: Memberships, other: Memberships, share: float) -> BoolArray | None:
    """Return which items differ; None if they are more than a share of all, or clusters do."""
    most = share * other.n_items
    if one.summed.n_clusters != other.summed.n_clusters:
        return None
    if np.count_nonzero(one.first != other.first) > most:
        return None
    changed = changed_items(one, other)
    return changed if np.count_nonzero(changed) <= most else None


def changed_items(one: Memberships, other: Memberships) -> BoolArray:
    """Return which items have other clusters, or other weights in sums."""
    one, other = one.summed, other.summed
    differ: BoolArray = one.first != other.first
    if one.pieces is not None or other.pieces is not None:
        here, there = (-1 if each.pieces is None else each.pieces for each in (one, other))
        return differ | np.not_equal(here, there).any(axis=1)
    if not (one.is_scaled or other.is_scaled or len(one.extra_items) or len(other.extra_items)):
        return differ
    # A membership counts the same in either list, so those of items in several are all compared.
    some = np.flatnonzero(differ | one.has_extra | other.has_extra)
    differ[some] = (one.take(some).dense != other.take(some).dense).any(axis=1)
    if one.scale is other.scale:
        return differ
    old, new = (1.0 if each.scale is None else each.scale for each in (one, other))
    return np.asarray(differ | ((old != new) & ~one.outliers))
