"""Histograms of distances: how blocks of items that no machine sees together are compared.

A block is asked how many of its distances fall into which bin, in windows that narrow around a
threshold (`neocc.core.thresholds`). Distances are compared through integers in the same order,
whose leading bits number the bins.
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from neocc._typing import FloatArray

__all__ = [
    "EVERYTHING",
    "BlockCounts",
    "Histogram",
    "Keys",
    "Query",
    "Window",
    "at_rank",
    "key_of",
    "value_of",
]

Keys: TypeAlias = NDArray[np.int64]

_ALL_BUT_SIGN = np.int64(np.iinfo(np.int64).max)
_INTEGER, _FLOAT = Struct("=q"), Struct("=d")
_NO_KEYS: Keys = np.empty(0, dtype=np.int64)
# Values that are counted at a time.
_PART = 1 << 20
# Among so few values one is selected directly.
_FEW = 1 << 10
# Every so many values are a sample: a prime, for values may come from tables.
_STRIDE = 23


def ordered_keys(values: FloatArray) -> Keys:
    """Return integers that compare as the values do; both zeros have the same."""
    bits = np.ascontiguousarray(values).view(np.int64)
    if bits.min(initial=0) >= 0:
        # Distances are hardly ever negative, and the bits of other numbers are in order.
        return bits
    bits = (values + 0.0).view(np.int64)
    keys: Keys = bits ^ ((bits >> 63) & _ALL_BUT_SIGN)
    return keys


def key_of(value: float) -> int:
    """Return the key of a value."""
    return int(ordered_keys(np.array([value]))[0])


def value_of(key: int) -> float:
    """Return the value that has a key."""
    (value,) = _FLOAT.unpack(_INTEGER.pack(key if key >= 0 else key ^ int(_ALL_BUT_SIGN)))
    return float(value)


class Window(NamedTuple):
    """The keys from `low` to `high`, both included."""

    low: int
    high: int

    @classmethod
    def of_bin(cls, number: int, shift: int) -> Window:
        """Return the keys of a bin."""
        return cls(number << shift, ((number + 1) << shift) - 1)

    @classmethod
    def around(cls, value: float, share: float) -> Window:
        """Return the keys of values that differ by at most a share of it."""
        slack = share * abs(value)
        return cls(key_of(value - slack), key_of(value + slack))


EVERYTHING = Window(int(np.iinfo(np.int64).min), int(np.iinfo(np.int64).max))


@dataclass(frozen=True)
class Query:
    """Windows of the first memberships and of the extra ones; None for what is not asked for.

    A bin holds the keys that agree in all but their last `shift` bits. A block with more than
    `most` keys in a window need not tell them apart. Where first and extra memberships depend on
    each other, `price` is the price of extra ones at which first ones are valued, and `covered` the
    thresholds that decide who may have extra ones. A block that is the only one is also told the
    `rank` wanted, and answers with its value.
    """

    nearest: Window | None
    extra: Window | None
    shift: int
    most: int = EVERYTHING.high
    price: float = -np.inf
    covered: Any = None
    rank: int = 0


class Histogram(NamedTuple):
    """The bins of a window that hold any keys, in order, and how many they hold.

    `below` is the number of keys below the window. If too many keys were in it, they are not
    `counted`.
    """

    bins: Keys = _NO_KEYS
    counts: Keys = _NO_KEYS
    below: int = 0
    counted: bool = True

    @classmethod
    def of(cls, values: FloatArray, window: Window, query: Query) -> Histogram:
        """Count values by bin, a part at a time: copies of all are significant next to X."""
        flat = values.reshape(-1)
        size = max(1, flat.size)
        parts = [
            cls._of_part(ordered_keys(flat[start : start + _PART]), window, query.shift)
            for start in range(0, size, _PART)
        ]
        found = cls.merged(parts)
        if flat.size > query.most < sum(int(part.counts.sum()) for part in parts):
            return cls(below=found.below, counted=False)
        return found

    @classmethod
    def _of_part(cls, keys: Keys, window: Window, shift: int) -> Histogram:
        below = 0
        if window != EVERYTHING:
            below = int(np.count_nonzero(keys < window.low))
            keys = keys[(keys >= window.low) & (keys <= window.high)]
        if keys.size == 0:
            return cls(below=below)
        bins = keys >> shift
        low, high = int(bins.min()), int(bins.max())
        if high - low <= max(1 << 16, keys.size):
            counts = np.bincount(bins - low)
            some = counts.nonzero()[0]
            return cls(some + low, counts[some], below)
        if low < 0 <= high:
            # Between values of both signs lie the bins of all tiny numbers.
            negative = keys < 0
            first = cls._of_part(keys[negative], EVERYTHING, shift)
            second = cls._of_part(keys[~negative], EVERYTHING, shift)
            bins = np.concatenate([first.bins, second.bins])
            return cls(bins, np.concatenate([first.counts, second.counts]), below)
        bins, counts = np.unique(bins, return_counts=True)
        return cls(bins, counts, below)

    @classmethod
    def merged(cls, parts: list[Histogram]) -> Histogram:
        """Add up the counts of several blocks."""
        if len(parts) == 1:
            return parts[0]
        bins, where = np.unique(np.concatenate([h.bins for h in parts]), return_inverse=True)
        counts = np.zeros(len(bins), dtype=np.int64)
        np.add.at(counts, where, np.concatenate([h.counts for h in parts]))
        return cls(bins, counts, sum(h.below for h in parts), all(h.counted for h in parts))

    def at(self, bins: Keys) -> Keys:
        """Return the counts of given bins."""
        if len(self.bins) == 0:
            return np.zeros(len(bins), dtype=np.int64)
        place = np.minimum(self.bins.searchsorted(bins), len(self.bins) - 1)
        return np.where(self.bins[place] == bins, self.counts[place], 0)

    def rank(self, rank: int) -> tuple[int, int, int] | None:
        """Return the bin of the key of a given rank, its rank within the bin, and the bin's size.

        None if that key lies outside the window, or was not counted.
        """
        within, total = rank - self.below, self.counts.cumsum()
        if not self.counted or len(total) == 0 or not 1 <= within <= total[-1]:
            return None
        place = int(total.searchsorted(within))
        size = int(self.counts[place])
        return int(self.bins[place]), within - (int(total[place]) - size), size


def at_rank(values: FloatArray, rank: int) -> tuple[float, int]:
    """Return the value of a rank, and the rank among those that equal it."""
    value = _smallest(values, rank) + 0.0  # both zeros are the same
    return value, rank - int(np.count_nonzero(values < value))


def _smallest(values: FloatArray, rank: int) -> float:
    """Return the value of a rank.

    Of many values only those are compared that lie near the one of that rank in a sample: to select
    among all takes several times as long.
    """
    sample = values[::_STRIDE]
    n, slack = len(sample), 2.0 * np.sqrt(len(sample))
    low, high = int((rank - 1) / _STRIDE - slack), int(rank / _STRIDE + slack) + 1
    if n < _FEW / _STRIDE:
        return float(np.partition(values, rank - 1)[rank - 1])
    ordered = np.partition(sample, (max(low, 0), min(high, n - 1)))
    least, most = ordered[low] if low >= 0 else -np.inf, ordered[high] if high < n else np.inf
    inside = values[(values >= least) & (values <= most)]
    within = rank - int(np.count_nonzero(values < least))
    if not 1 <= within <= len(inside):
        inside, within = values, rank
    return float(np.partition(inside, within - 1)[within - 1])


class BlockCounts(NamedTuple):
    """Of one block: its smallest distances in the first window; these and all in the second.

    Where the query says which items are covered, at a price, `n_below` and `n_equal` are the
    numbers of extra memberships below the price and at it. `found` is the value of a rank, with the
    rank among those that equal it, where the only block tells it.
    """

    nearest: Histogram = Histogram()
    extra_nearest: Histogram = Histogram()
    extra_all: Histogram = Histogram()
    n_below: int = 0
    n_equal: int = 0
    found: Any = None

    @classmethod
    def of(
        cls, d: FloatArray, minima: FloatArray, query: Query, histogram: Any = Histogram.of
    ) -> BlockCounts:
        """Count the distances `d` of a block, and the smallest of each item."""
        nearest = extra_nearest = extra_all = Histogram()
        if query.nearest is not None:
            nearest = histogram(minima, query.nearest, query)
        if query.extra is not None:
            extra_nearest = nearest
            if query.extra != query.nearest:
                extra_nearest = histogram(minima, query.extra, query)
            extra_all = histogram(d, query.extra, query)
        return cls(nearest, extra_nearest, extra_all)
