"""Distances of the rows kept from one row step to the next, while no column changes clusters.

For fixed column clusters a distance is the squared length of y_p - z_q, where z_q is the mean of
the y of the cluster's members. When a few rows change clusters the z move a little, and by the
triangle inequality no distance moves further. Rows whose place in the assignment is certain all
the same are not read again: any number within its bounds stands for such a distance. (Bounds of
this kind are Elkan's, 2003, for k-means; here the two limits of the assignment must be certain
too.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from neocc._typing import FloatArray, IntArray
from neocc.core.assign import chosen
from neocc.core.counting import Scores
from neocc.core.cuts import Drift, Near
from neocc.core.engine import Hints, RowStep
from neocc.core.incremental import same_members
from neocc.core.objectives import Sums, Tables, inverse, item_terms
from neocc.core.problem import Counts
from neocc.engines.passes import Rows
from neocc.kernels import Memberships

if TYPE_CHECKING:
    from neocc.engines.memory import MemoryEngine

__all__ = ["ENTRIES_PER_MEAN", "MOST_STEPS", "ROWS_AT_A_TIME", "KeptDistances"]

MOST_STEPS = 4
"""Steps before all rows are read again: each keeps a table of means."""
ENTRIES_PER_MEAN = 32
"""Tables of means are kept where they are this much smaller than the data."""
# Of the rows, the share that may be read again; a pass over all of them is better beyond.
_MOST_DOUBTFUL = 0.5
# At first the limits are thought to move by this share of themselves. They are sought in wider and
# wider ranges: those of bounds move further than their own.
_FIRST_SHARE = 2.0**-8
_WIDENING = np.array([1.0, 8.0, 32.0, 128.0])
ROWS_AT_A_TIME = 1 << 14
"""Rows that are looked at, and read, at a time."""
# Of a distance, and of the terms it is made of, the shares that rounding may take or add.
_ROUNDING, _NOISE = 2.0**-38, 2.0**-44


@dataclass
class _Kept:
    """Distances as they were when each row was read, and the means of the clusters at that time."""

    V: Memberships | None
    item_terms: FloatArray
    squares: FloatArray
    means: list[FloatArray]
    scores: Scores
    read_at: NDArray[np.uint8]


class KeptDistances:
    """The distances that an engine keeps; it writes over them whenever it reads all rows."""

    def __init__(self) -> None:
        self._kept: _Kept | None = None
        self._next: _Kept | None = None
        self._drift = Drift(_FIRST_SHARE)

    def forget(self) -> None:
        """Let the next steps be as if there had been none before."""
        self._kept = self._next = None
        self._drift = Drift(_FIRST_SHARE)

    def begin(
        self, engine: MemoryEngine, tables: Tables, V: Memberships | None, hints: Hints
    ) -> None:
        """Say that a pass over all rows begins, to keep what it finds if that is worth it."""
        self._kept = self._next = None
        means, n = hints.means, engine.shape[0]
        if means is None or np.isinf(tables.magnitude).any():
            return
        if ENTRIES_PER_MEAN * means.size <= engine.n_stored:
            nothing = Scores(np.empty((0, 0)), np.empty(0, np.intp), np.empty(0), 0.0)
            ages = np.zeros(n, dtype=np.uint8)
            self._next = _Kept(V, np.empty(n), np.empty(n), [means], nothing, ages)

    def note(self, rows: Rows, sums: Sums, tables: Tables) -> None:
        """Keep what does not depend on the clusters of the rows."""
        if self._next is not None:
            at = slice(*rows)
            self._next.squares[at] = sums.squares
            self._next.item_terms[at] = item_terms(sums, tables)

    def end(self, scores: Scores) -> None:
        """Say that the pass is over."""
        self._kept, self._next = self._next, None
        if self._kept is not None:
            self._kept.scores = scores

    def step(
        self,
        engine: MemoryEngine,
        tables: Tables,
        U: Memberships | None,
        V: Memberships | None,
        counts: Counts,
        hints: Hints,
    ) -> RowStep | None:
        """Return a row step that reads only some rows; None if all have to be read."""
        kept, self._kept = self._kept, None  # an interrupt may come in between
        near = self._drift.near(hints.limits)
        if kept is None or near is None or U is None or hints.means is None or hints.wants_sums:
            return None
        if len(kept.means) > MOST_STEPS or np.isinf(tables.magnitude).any():
            return None
        if not same_members(kept.V, V):
            return None
        moved = [_lengths(hints.means - old, V) for old in kept.means]
        doubtful = None
        for share in near.share * _WIDENING:
            doubtful = _find_doubtful(
                kept, np.array(moved), tables, counts, replace(near, share=share)
            )
            if doubtful is not None:
                break
        if doubtful is None or len(doubtful) > _MOST_DOUBTFUL * counts.n_items:
            return None
        kept.means.append(hints.means)
        scores = kept.scores
        for start in range(0, len(doubtful), ROWS_AT_A_TIME):
            rows = doubtful[start : start + ROWS_AT_A_TIME]
            again = engine.sample_rows(rows).scored_rows(tables, None, V)
            scores.d[rows], scores.labels[rows] = again.d, again.labels
            scores.minima[rows] = again.minima
            kept.read_at[rows] = len(kept.means) - 1
        assignment = chosen(scores.d, scores.labels, scores.minima, counts)
        if (assignment.members.sizes == 0).any():
            return None
        limits = (assignment.nearest_limit, assignment.extra_limit)
        self._drift.learn(hints.limits, limits)
        self._kept = kept
        # The means of y over clusters are z: what they explain is n_q |z_q|^2.
        objective = float(U.weights @ kept.item_terms - U.sizes @ tables.offset)
        return RowStep(objective, assignment)


def _lengths(moved: FloatArray, V: Memberships | None) -> FloatArray:
    """Return bounds of how far the z of each cluster have moved, from how far its means have."""
    weighted = moved if V is None else moved * V.weights
    squares: FloatArray = np.einsum("qt,qt->q", weighted, moved)
    rounding = 1e-14 * squares
    if V is not None:
        sums = moved @ V.indicator
        squares = squares - (sums * sums) @ inverse(V.sizes)
    return np.sqrt(np.maximum(squares, 0.0) + rounding)


def _find_doubtful(
    kept: _Kept, moved: FloatArray, tables: Tables, counts: Counts, near: Near
) -> IntArray | None:
    """Return the rows whose place in the assignment is not certain.

    None if the limits may have moved further than they were thought to.
    """
    leaves_out, has_extra = counts.n_covered < counts.n_items, counts.n_extra > 0
    first_low, first_high = _ends(near.nearest_limit, near.share)
    extra_low, extra_high = _ends(near.extra_limit, near.share)
    found = []
    # How many distances may be below the lower ends, and how many must be below the upper ones.
    may_first = must_first = may_extra = must_extra = 0
    for start in range(0, counts.n_items, ROWS_AT_A_TIME):
        at = slice(start, start + ROWS_AT_A_TIME)
        low, high = _bounds(kept, moved, tables, at)
        low_min, high_min = low.min(axis=1), high.min(axis=1)
        doubtful = (low <= high_min[:, None]).sum(axis=1) > 1
        sure = np.ones(len(low), dtype=bool)
        possible = sure
        if leaves_out:
            may_first += int(np.count_nonzero(low_min <= first_low))
            must_first += int(np.count_nonzero(high_min <= first_high))
            doubtful |= (low_min <= first_high) & (high_min >= first_low)
            sure, possible = high_min < first_low, low_min <= first_high
        if has_extra:
            # Stage 1 takes the smallest distance of a row that it covers.
            may = (low <= extra_low).sum(axis=1)
            must = (high <= extra_high).sum(axis=1)
            may_extra += int(np.maximum(may - sure, 0).sum())
            must_extra += int(np.maximum(must - possible, 0).sum())
            doubtful |= ((low <= extra_high) & (high >= extra_low)).any(axis=1)
        found.append(start + np.flatnonzero(doubtful))
    if leaves_out and not may_first < counts.n_covered <= must_first:
        return None
    if has_extra and not may_extra < counts.n_extra <= must_extra:
        return None
    return np.concatenate(found)


def _bounds(
    kept: _Kept, moved: FloatArray, tables: Tables, at: slice
) -> tuple[FloatArray, FloatArray]:
    """Return the least and the largest that the distances of some rows can be now."""
    d = kept.scores.d[at]
    length, reach = np.sqrt(np.maximum(d, 0.0)), moved[kept.read_at[at]]
    slack = _NOISE * np.add.outer(kept.squares[at], tables.magnitude) + _ROUNDING * np.abs(d)
    low = np.maximum(length - reach, 0.0) ** 2 - slack
    high = (length + reach) ** 2 + slack
    return np.minimum(low, d), np.maximum(high, d)


def _ends(limit: float, share: float) -> tuple[float, float]:
    slack = share * abs(limit) if np.isfinite(limit) else 0.0
    return limit - slack, limit + slack
