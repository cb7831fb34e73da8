"""Kernels on a card, through CuPy; the same functions and meaning as `neocc.kernels.numpy_`.

Sums are those of `sums.cu`; distances those of `scores.cu`, thresholds those of `select.cu`. All
are taken in an order that the data alone decide.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from neocc.kernels.gpu.card import FLOAT, INT, LONG
from neocc.kernels.gpu.lines import SparseOnCard
from neocc.kernels.gpu.lists import Lists
from neocc.kernels.gpu.sets import ADDED, SCORED, CardSets, pointers
from neocc.kernels.inputs import Features, Terms
from neocc.kernels.numpy_ import by_cluster

__all__ = ["CudaKernels"]

# A histogram of so few bins is counted within blocks; one of more than the latter is sorted.
_CLOSE_BINS, _MOST_COUNTED = 1 << 13, 1 << 21
# Bins by which values are selected (as in `select.cu`), and rounds until they are single keys.
_SELECTED_BINS, _SELECTING = 1 << 13, 5


class CudaKernels(CardSets):
    """Kernels of the current card; see `neocc.kernels.gpu`."""

    def score(
        self,
        features: Features,
        terms: Terms,
        members: Lists | None,
        d: Any,
        labels: Any,
        minima: Any,
    ) -> float:
        """Find the nearest cluster of each item; return the sum of the distances at `members`."""
        n, k, xp = len(features.squares), terms.n_clusters, self.xp
        if n == 0:
            return 0.0
        sums = features.sums
        products, scale, shrink = by_cluster(features, terms, put=self.put)
        l = 0 if sums is None else sums.shape[1]  # noqa: E741
        slope = None if sums is None else terms.slope
        shrink = None if sums is None else shrink
        small = (slope, terms.offset, scale, shrink, terms.rate, terms.magnitude)
        slope, offset, scale, shrink, rate, magnitude = self.put_together(*small)
        n_blocks = -(-n // SCORED)
        partial = xp.empty(n_blocks + 1)
        shared = 8 * (SCORED * (l | 1) + (l + 2) * k)
        tiled = sums is not None and shared <= self.shared - 8 * SCORED
        self.call(
            self.function("scores.cu", "score", *(["-DTILED"] if tiled else [])),
            (n_blocks,),
            SCORED,
            (
                LONG(n),
                INT(k),
                INT(l),
                sums,
                features.squares,
                products,
                slope,
                offset,
                scale,
                shrink,
                rate,
                magnitude,
                *pointers(members),
                None if members is None else members.scale,
                d,
                labels,
                minima,
                partial,
            ),
            shared if tiled else 0,
        )
        return 0.0 if members is None else self.added(partial, n_blocks)

    def least(self, block: Any) -> float:
        """Return the smallest entry, 0 if there are none."""
        values = block.data if isinstance(block, SparseOnCard) else block
        return float(values.min()) if values.size else 0.0

    def histogram(
        self, values: Any, low: int, high: int, shift: int, most: int
    ) -> tuple[Any, Any, int] | int:
        """Count the keys of values from `low` to `high` by their leading bits.

        Returns the bins that hold any, their counts, and the number of keys below `low`; that
        number alone if more than `most` would be counted.
        """
        xp, n = self.xp, values.size
        edge = np.iinfo(np.int64)
        found = self.put(np.array([0, 0, edge.max, edge.min]))
        window = (LONG(n), values, LONG(low), LONG(high))
        self.walk("key_range", n, *window, found)
        below, within, least, largest = self.fetch(found).tolist()
        if n > most < within:
            return int(below)
        if not within:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), below
        first = least >> shift
        n_bins = (largest >> shift) - first + 1
        if n_bins <= _MOST_COUNTED:
            close = n_bins <= _CLOSE_BINS
            counts = xp.zeros(n_bins, dtype=xp.int64)
            bins = (INT(shift), LONG(first), INT(n_bins), INT(close), counts)
            shared = 4 * n_bins if close else 0
            self.walk("histogram", n, *window, *bins, shared=shared)
            some = xp.flatnonzero(counts)
            return self.fetch(some) + first, self.fetch(counts[some]), below
        number, keys = xp.zeros(1, dtype=xp.int64), xp.empty(within, dtype=xp.int64)
        self.walk("keys_within", n, *window, number, keys)
        bins, counts = xp.unique(keys >> shift, return_counts=True)
        return self.fetch(bins), self.fetch(counts), below

    def select(self, values: Any, rank: int, first: Any) -> tuple[float, int, int]:
        """Return the value of a rank, how many are smaller, and how many equal it.

        In a table of distances those of `first` memberships are left out, if these are given. Bins
        of equal width are counted and the one that holds the rank is narrowed, without asking the
        process what was found; values of the first bin chosen are copied, if they are few.
        """
        xp, n = self.xp, values.size
        k = 1 if first is None else values.shape[1]
        edge = np.iinfo(np.int64)
        state = self.put(np.array([0, 0, edge.max, edge.min, 0, 0]))
        counts = xp.zeros(_SELECTED_BINS + 1, dtype=xp.int64)
        room = n // 16 + 1
        given, few = (LONG(n), INT(k), values.reshape(-1), first), xp.empty(room)
        self.walk("selected_range", n, *given, state)
        pick, shared = self.function("select.cu", "pick_bin"), 4 * (_SELECTED_BINS + 1)
        for i in range(_SELECTING):
            self.walk("count_bins", n, *given, few, state, counts, shared=shared)
            self.call(pick, (1,), ADDED, (LONG(rank), state, counts))
            if i == 0:
                self.walk("copy_bin", n, *given, LONG(room), few, state)
        below, _, key, _, equal, _ = self.fetch(state).tolist()
        if not equal:
            raise RuntimeError(f"No value has rank {rank} among {n}.")
        bits = np.int64(key if key >= 0 else key ^ edge.max)
        return float(bits.view(np.float64)), below, equal

    def near(self, d: Any, first: Any, threshold: float) -> tuple[Any, Any, Any]:
        """Return items and clusters within a threshold, but for first memberships, in order.

        Third, where those of each item begin, and where the last end.
        """
        (n, k), xp = d.shape, self.xp
        numbers = xp.zeros(n + 1, dtype=xp.int64)
        given = (LONG(n), INT(k), d, first, FLOAT(threshold))
        self.walk("count_near", n, *given, numbers)
        ends = xp.cumsum(numbers)
        n_near = int(ends[-1])
        items, clusters = xp.empty(n_near, dtype=xp.int64), xp.empty(n_near, dtype=xp.int32)
        if n_near:
            self.walk("list_near", n, *given, ends, items, clusters)
        return items, clusters, ends
