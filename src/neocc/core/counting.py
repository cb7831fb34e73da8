"""The two-stage assignment of `neocc.core.assign` where no machine sees all distances.

Every block of rows keeps its own distances. To find the largest distance that each stage accepts,
blocks are asked how many of theirs fall into which bin, and the bins are narrowed around the limit
until they hold single numbers. Then every block is told the limits, and how many of the distances
that equal a limit it may take: blocks stand in the order of their rows, so the lowest rows come
first. The memberships are those that `assign` finds, bit for bit.

Distances are compared through integers in the same order, whose leading bits number the bins.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from neocc._typing import BoolArray, FloatArray, IntArray, LabelArray
from neocc.core.problem import Counts
from neocc.kernels import Memberships

Keys: TypeAlias = NDArray[np.int64]

_ALL_BUT_SIGN = np.int64(np.iinfo(np.int64).max)
# Bits of a key that the first bins leave open: of a float64, sign, exponent and 8 bits of the
# fraction number the bin.
_FIRST_SHIFT = 44
_NARROWING = 20
# So few distances are told apart at once.
_FEW = 1 << 15


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
    """The keys with given leading bits: all but the last `shift` of them."""

    prefix: int
    shift: int


@dataclass(frozen=True)
class Question:
    """How many keys are in which bin, in the window of each stage; None for a stage not asked for.

    A bin holds the keys that agree in all but their last `shift` bits. The first question is about
    all keys: its windows are `EVERYTHING`.
    """

    nearest: Window | None
    extra: Window | None
    shift: int


EVERYTHING = Window(0, 64)


@dataclass(frozen=True)
class Tally:
    """The bins that hold any keys, in order, and how many they hold."""

    bins: Keys
    counts: Keys

    @classmethod
    def of(cls, keys: Keys, shift: int) -> Tally:
        """Count keys by bin."""
        if keys.size == 0:
            return NOTHING
        bins = keys >> shift
        low, high = int(bins.min()), int(bins.max())
        if high - low > max(1 << 16, keys.size):
            return cls(*np.unique(bins, return_counts=True))
        counts = np.bincount((bins - low).reshape(-1))
        some = np.flatnonzero(counts)
        return cls(some + low, counts[some])

    @classmethod
    def merged(cls, tallies: list[Tally]) -> Tally:
        """Add up the counts of several blocks."""
        bins, where = np.unique(np.concatenate([t.bins for t in tallies]), return_inverse=True)
        counts = np.zeros(len(bins), dtype=np.int64)
        np.add.at(counts, where, np.concatenate([t.counts for t in tallies]))
        return cls(bins, counts)

    def at(self, bins: Keys) -> Keys:
        """Return the counts of given bins."""
        if len(self.bins) == 0:
            return np.zeros(len(bins), dtype=np.int64)
        place = np.minimum(np.searchsorted(self.bins, bins), len(self.bins) - 1)
        return np.where(self.bins[place] == bins, self.counts[place], 0)


NOTHING = Tally(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))


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

        That is so for the last question alone, whose bins are single numbers.
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
        nearest = extra_nearest = extra_all = NOTHING
        if question.nearest is not None:
            nearest = _counted(minima, question.nearest, question.shift)
        if question.extra is not None:
            extra_nearest = nearest
            if question.extra != question.nearest:
                extra_nearest = _counted(minima, question.extra, question.shift)
            extra_all = _counted(ordered_keys(self.d), question.extra, question.shift)
        return Answer(nearest, extra_nearest, extra_all)

    def settled(self, cut: Cut) -> Memberships:
        """Return the memberships of the rows of this block."""
        n, k = self.d.shape
        kept = _taken(self.minima, cut.nearest_limit, cut.n_nearest_ties)
        first: LabelArray = np.where(kept, self.labels, -1).astype(np.int32)
        extra = np.empty(0, dtype=np.intp)
        if cut.extra_limit > -np.inf:
            flat = self.d.reshape(-1)
            free = np.ones(n * k, dtype=bool)
            free[(np.arange(0, n * k, k) + self.labels)[kept]] = False
            extra = np.flatnonzero(_taken(flat, cut.extra_limit, cut.n_extra_ties, free))
        return Memberships(first, extra // k, (extra % k).astype(np.int32), k)

    def costs(self, members: Memberships) -> FloatArray:
        """Return the distances at memberships, row by row."""
        return self.d[members.dense]


def _taken(
    values: FloatArray, limit: float, n_ties: int, free: BoolArray | None = None
) -> BoolArray:
    """Tell which values are below a limit, or among the first few that equal it."""
    taken: BoolArray = values < limit
    ties: BoolArray = values == limit
    if free is not None:
        taken &= free
        ties &= free
    taken[np.flatnonzero(ties)[:n_ties]] = True
    return taken


def _counted(keys: Keys, window: Window, shift: int) -> Tally:
    if window.shift < EVERYTHING.shift:
        keys = keys[(keys >> window.shift) == window.prefix]
    return Tally.of(keys, shift)


def find_cuts(
    ask: Callable[[Question], list[Answer]], counts: Counts, n_blocks: int
) -> tuple[list[Cut], float, float]:
    """Return what every block may take, and the limits of both stages as in `Assignment`.

    `ask` puts a question to all blocks and returns their answers in the order of their rows, those
    of neighbours `together` if it likes.
    """
    search = _Search(counts)
    answers: list[Answer] = []
    while search.question is not None:
        answers = ask(search.question)
        search.narrow(answers)
    nearest_ties, extra_ties = search.shares(answers, n_blocks)
    cuts = [
        Cut(search.nearest_limit, int(nearest), search.extra_limit, int(extra))
        for nearest, extra in zip(nearest_ties, extra_ties, strict=True)
    ]
    return cuts, search.nearest_limit, search.extra_limit


class _Search:
    """Where the limits of both stages can still lie.

    `n_nearest` and `n_extra` count what is wanted from within the bins found so far: the ranks of
    the limits there. Stage 2 chooses among all distances but those that stage 1 took.
    """

    def __init__(self, counts: Counts) -> None:
        nearest = EVERYTHING if counts.n_covered < counts.n_items else None
        extra = EVERYTHING if counts.n_extra > 0 else None
        self.n_nearest, self.n_extra = counts.n_covered, counts.n_extra
        self.nearest_bin = self.extra_bin = 0
        self.question: Question | None = None
        if nearest is not None or extra is not None:
            self.question = Question(nearest, extra, _FIRST_SHIFT)
        self._last = self.question

    def narrow(self, answers: list[Answer]) -> None:
        """Find the bins of the limits, and ask about these next."""
        assert self.question is not None
        asked, size = self.question, 0
        nearest = extra = None
        if asked.nearest is not None:
            tally = Tally.merged([answer.nearest for answer in answers])
            self.nearest_bin, self.n_nearest, size = _rank(tally, self.n_nearest)
            nearest = Window(self.nearest_bin, asked.shift)
        if asked.extra is not None:
            tally = Tally.merged([answer.extra_all for answer in answers])
            smallest = Tally.merged([answer.extra_nearest for answer in answers]).at(tally.bins)
            left = tally.counts - self._used(tally.bins, smallest, self.n_nearest)
            self.extra_bin, self.n_extra, extra_size = _rank(Tally(tally.bins, left), self.n_extra)
            extra, size = Window(self.extra_bin, asked.shift), max(size, extra_size)
        self._last = asked
        shift = 0 if size <= _FEW else max(0, asked.shift - _NARROWING)
        self.question = None if asked.shift == 0 else Question(nearest, extra, shift)

    def _used(self, bins: Keys, smallest: Keys, within: int | Keys) -> Keys:
        """Return how many of the smallest distances in each bin stage 1 has taken."""
        if self._last is None or self._last.nearest is None:
            return smallest
        used: Keys = np.where(bins < self.nearest_bin, smallest, 0)
        return np.where(bins == self.nearest_bin, within, used)

    def shares(self, answers: list[Answer], n_blocks: int) -> tuple[Keys, Keys]:
        """Return how many of the distances that equal a limit each block may take."""
        nearest_ties = np.full(n_blocks, _ALL_BUT_SIGN)
        extra_ties = np.zeros(n_blocks, dtype=np.int64)
        if self._last is not None and self._last.nearest is not None:
            limit = np.array([self.nearest_bin])
            nearest_ties = _share_out([a.nearest.at(limit)[0] for a in answers], self.n_nearest)
        if self._last is not None and self._last.extra is not None:
            limit = np.full(n_blocks, self.extra_bin)
            every = np.array([a.extra_all.at(limit[:1])[0] for a in answers])
            smallest = np.array([a.extra_nearest.at(limit[:1])[0] for a in answers])
            left = every - self._used(limit, smallest, nearest_ties)
            extra_ties = _share_out(left, self.n_extra)
        return nearest_ties, extra_ties

    @property
    def nearest_limit(self) -> float:
        """Largest distance that stage 1 accepts, infinite if it accepts all."""
        asked = self._last is not None and self._last.nearest is not None
        return value_of(self.nearest_bin) if asked else np.inf

    @property
    def extra_limit(self) -> float:
        """Largest distance that stage 2 accepts, -inf if it has nothing to hand out."""
        asked = self._last is not None and self._last.extra is not None
        return value_of(self.extra_bin) if asked else -np.inf


def _rank(tally: Tally, rank: int) -> tuple[int, int, int]:
    """Return the bin of the key of a given rank, its rank within the bin, and the bin's size."""
    total = np.cumsum(tally.counts)
    place = int(np.searchsorted(total, rank))
    size = int(tally.counts[place])
    return int(tally.bins[place]), rank - (int(total[place]) - size), size


def _share_out(available: list[int] | Keys, wanted: int) -> Keys:
    """Take what is wanted from the first blocks that have any."""
    total = np.cumsum(available)
    shares: Keys = np.diff(np.minimum(total, wanted), prepend=0)
    return shares
