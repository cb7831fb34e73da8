"""The two-stage assignment where no machine sees all distances: what one block of rows does.

Every block keeps its own distances. It is asked how many of them fall into which bin
(`neocc.core.cuts` asks), and told in the end which it may take. Distances are compared through
integers in the same order, whose leading bits number the bins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from neocc._typing import BoolArray, FloatArray, IntArray, LabelArray
from neocc.kernels import Memberships

__all__ = ["EVERYTHING", "Answer", "Cut", "Keys", "Question", "Scores", "Tally", "Window"]

Keys: TypeAlias = NDArray[np.int64]

_ALL_BUT_SIGN = np.int64(np.iinfo(np.int64).max)


def ordered_keys(values: FloatArray) -> Keys:
    """Return integers that compare as the values do; both zeros have the same."""
    bits = np.ascontiguousarray(values).view(np.int64)
    if bits.min(initial=0) >= 0:
        # Distances are hardly ever negative, and the bits of other numbers are in order.
        return bits
    bits = (values + 0.0).view(np.int64)
    keys: Keys = bits ^ ((bits >> 63) & _ALL_BUT_SIGN)
    return keys


def value_of(key: int) -> float:
    """Return the value that has a key."""
    bits = np.int64(key)
    return float((bits ^ ((bits >> np.int64(63)) & _ALL_BUT_SIGN)).view(np.float64))


@dataclass(frozen=True)
class Window:
    """The keys from `low` to `high`, both included."""

    low: int
    high: int


EVERYTHING = Window(int(np.iinfo(np.int64).min), int(np.iinfo(np.int64).max))


@dataclass(frozen=True)
class Question:
    """How many keys are in which bin, in the window of each stage; None for a stage not asked for.

    A bin holds the keys that agree in all but their last `shift` bits. A block with more than
    `most` keys in a window need not tell them apart.
    """

    nearest: Window | None
    extra: Window | None
    shift: int
    most: int = EVERYTHING.high


@dataclass(frozen=True)
class Tally:
    """The bins of a window that hold any keys, in order, and how many they hold.

    `below` is the number of keys below the window. If too many keys were in it, they are not
    `counted`.
    """

    bins: Keys
    counts: Keys
    below: int = 0
    counted: bool = True

    @classmethod
    def of(cls, keys: Keys, window: Window, question: Question) -> Tally:
        """Count keys by bin."""
        below = 0
        if window != EVERYTHING:
            below = int(np.count_nonzero(keys < window.low))
            keys = keys[(keys >= window.low) & (keys <= window.high)]
        if keys.size == 0 or keys.size > question.most:
            return cls(_NO_KEYS, _NO_KEYS, below, counted=keys.size == 0)
        bins = keys >> question.shift
        low, high = int(bins.min()), int(bins.max())
        if high - low > max(1 << 16, keys.size):
            some, counts = np.unique(bins, return_counts=True)
            return cls(some, counts, below)
        counts = np.bincount((bins - low).reshape(-1))
        some = np.flatnonzero(counts)
        return cls(some + low, counts[some], below)

    @classmethod
    def merged(cls, tallies: list[Tally]) -> Tally:
        """Add up the counts of several blocks."""
        bins, where = np.unique(np.concatenate([t.bins for t in tallies]), return_inverse=True)
        counts = np.zeros(len(bins), dtype=np.int64)
        np.add.at(counts, where, np.concatenate([t.counts for t in tallies]))
        return cls(bins, counts, sum(t.below for t in tallies), all(t.counted for t in tallies))

    def at(self, bins: Keys) -> Keys:
        """Return the counts of given bins."""
        if len(self.bins) == 0:
            return np.zeros(len(bins), dtype=np.int64)
        place = np.minimum(np.searchsorted(self.bins, bins), len(self.bins) - 1)
        return np.where(self.bins[place] == bins, self.counts[place], 0)


_NO_KEYS: Keys = np.empty(0, dtype=np.int64)
_NOTHING = Tally(_NO_KEYS, _NO_KEYS)


@dataclass(frozen=True)
class Answer:
    """Of one block: smallest distances of rows by bin of the first stage's window.

    Then, in the second stage's window, these again, and all distances.
    """

    nearest: Tally
    extra_nearest: Tally
    extra_all: Tally

    @classmethod
    def together(cls, answers: list[Answer], question: Question) -> list[Answer]:
        """Make one answer of those of several blocks, unless it must be known who gave it.

        That is so for bins that are single numbers: a limit may be among them.
        """
        if question.shift == 0:
            return answers
        tallies = zip(*((a.nearest, a.extra_nearest, a.extra_all) for a in answers), strict=True)
        return [cls(*(Tally.merged(list(each)) for each in tallies))]


@dataclass(frozen=True)
class Cut:
    """What one block may take: all below each limit, and the first few that equal it."""

    nearest_limit: float
    n_nearest_ties: int
    extra_limit: float
    n_extra_ties: int


@dataclass(frozen=True)
class Scores:
    """Comparable distances of a block of rows with the nearest clusters, and the objective."""

    d: FloatArray
    labels: IntArray
    minima: FloatArray
    objective: float

    def __sizeof__(self) -> int:
        return self.d.nbytes + self.labels.nbytes + self.minima.nbytes

    def answer(self, question: Question) -> Answer:
        """Count this block's distances."""
        minima = ordered_keys(self.minima)
        nearest = extra_nearest = extra_all = _NOTHING
        if question.nearest is not None:
            nearest = Tally.of(minima, question.nearest, question)
        if question.extra is not None:
            extra_nearest = nearest
            if question.extra != question.nearest:
                extra_nearest = Tally.of(minima, question.extra, question)
            extra_all = Tally.of(ordered_keys(self.d), question.extra, question)
        return Answer(nearest, extra_nearest, extra_all)

    def settled(self, cut: Cut) -> Memberships:
        """Return the memberships of the rows of this block."""
        k = self.d.shape[1]
        kept = _taken(self.minima, cut.nearest_limit, cut.n_nearest_ties)
        first: LabelArray = np.where(kept, self.labels, -1).astype(np.int32)
        extra = np.empty(0, dtype=np.intp)
        if cut.extra_limit > -np.inf:
            flat = self.d.reshape(-1)
            near = np.flatnonzero(flat <= cut.extra_limit)
            # Stage 1 has taken the nearest clusters of the rows that it kept.
            rows = near // k
            near = near[(near - rows * k != self.labels[rows]) | ~kept[rows]]
            extra = near[_taken(flat[near], cut.extra_limit, cut.n_extra_ties)]
        return Memberships(first, extra // k, (extra % k).astype(np.int32), k)

    def costs(self, members: Memberships) -> FloatArray:
        """Return the distances at memberships, row by row."""
        return self.d[members.dense]


def _taken(values: FloatArray, limit: float, n_ties: int) -> BoolArray:
    """Tell which values are below a limit, or among the first few that equal it."""
    taken: BoolArray = values < limit
    taken[np.flatnonzero(values == limit)[:n_ties]] = True
    return taken
