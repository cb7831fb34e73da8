"""The limits of the two-stage assignment, found by counting.

To find the largest distance that each stage accepts, blocks of rows are asked how many of theirs
fall into which bin, and the bins are narrowed around the limit until they hold single numbers. If
the limits are known to be near those of the last step, one question settles both. Then every block
is told the limits, and how many of the distances that equal a limit it may take: blocks stand in
the order of their rows, so the lowest rows come first. The memberships are those that
`neocc.core.assign` finds, bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from neocc.core.counting import (
    EVERYTHING,
    Answer,
    Cut,
    Keys,
    Question,
    Tally,
    Window,
    ordered_keys,
    value_of,
)
from neocc.core.problem import Counts

__all__ = ["Drift", "Near", "find_cuts"]

# Bits of a key that the first bins leave open: of a float64, sign, exponent and 8 bits of the
# fraction number the bin.
_FIRST_SHIFT = 44
_NARROWING = 20
# So few distances are told apart at once.
_FEW = 1 << 15
# Of a limit, the shares by which it may move.
_FIRST_SHARE, _LEAST_SHARE = 2.0**-5, 2.0**-10
_EVERY = int(np.iinfo(np.int64).max)


@dataclass(frozen=True)
class Near:
    """Where the limits of both stages are thought to be, and by which share they may be off."""

    nearest_limit: float
    extra_limit: float
    share: float


@dataclass
class Drift:
    """How far the limits move from one step to the next, judged by the last one."""

    share: float = _FIRST_SHARE

    def near(self, limits: tuple[float, float] | None) -> Near | None:
        """Return where limits will be that were at `limits`."""
        return None if limits is None else Near(*limits, self.share)

    def learn(self, before: tuple[float, float] | None, after: tuple[float, float]) -> None:
        """Compare limits with those of the step before."""
        if before is None:
            return
        moved = [
            abs(new - old) / max(abs(old), np.finfo(float).tiny)
            for old, new in zip(before, after, strict=True)
            if np.isfinite([old, new]).all()
        ]
        self.share = float(np.clip(2.0 * max(moved, default=0.0), _LEAST_SHARE, _FIRST_SHARE))


def find_cuts(
    ask: Callable[[Question], list[Answer]],
    counts: Counts,
    n_blocks: int,
    near: Near | None = None,
) -> tuple[list[Cut], float, float]:
    """Return what every block may take, and the limits of both stages as in `Assignment`.

    `ask` puts a question to all blocks and returns their answers in the order of their rows, those
    of neighbours `together` if it likes.
    """
    search = _Search(counts)
    question = first_question(counts, near)
    answers: list[Answer] = []
    while question is not None:
        answers = ask(question)
        question = search.narrowed(question, answers)
    nearest_ties, extra_ties = search.shares(answers, n_blocks)
    cuts = [
        Cut(search.nearest_limit, int(nearest), search.extra_limit, int(extra))
        for nearest, extra in zip(nearest_ties, extra_ties, strict=True)
    ]
    return cuts, search.nearest_limit, search.extra_limit


def first_question(counts: Counts, near: Near | None = None) -> Question | None:
    """Return the question to begin with, None if there is nothing to ask."""
    asked = (counts.n_covered < counts.n_items, counts.n_extra > 0)
    if not any(asked):
        return None
    if near is not None:
        limits = (near.nearest_limit, near.extra_limit)
        wanted = [limit for limit, yes in zip(limits, asked, strict=True) if yes]
        if np.isfinite(wanted).all():
            nearest, extra = (
                _around(limit, near.share) if yes else None
                for limit, yes in zip(limits, asked, strict=True)
            )
            return Question(nearest, extra, 0, _FEW)
    nearest, extra = (EVERYTHING if yes else None for yes in asked)
    return Question(nearest, extra, _FIRST_SHIFT)


def _around(limit: float, share: float) -> Window:
    ends = ordered_keys(np.array([limit - share * abs(limit), limit + share * abs(limit)]))
    return Window(*ends.tolist())


class _Search:
    """The bins that the limits of both stages were found in.

    `nearest_within` and `extra_within` are the ranks of the limits among the keys of their bins.
    Stage 2 chooses among all distances but those that stage 1 took.
    """

    def __init__(self, counts: Counts) -> None:
        self.counts = counts
        self.nearest_bin: int | None = None
        self.extra_bin: int | None = None
        self.nearest_within = self.extra_within = 0

    def narrowed(self, asked: Question, answers: list[Answer]) -> Question | None:
        """Find the bins of the limits; return the next question, None when they are numbers."""
        nearest = extra = None
        size = 0
        if asked.nearest is not None:
            tally = Tally.merged([answer.nearest for answer in answers])
            found = _rank(tally, self.counts.n_covered)
            if found is None:
                return first_question(self.counts)
            self.nearest_bin, self.nearest_within, size = found
            nearest = _window(self.nearest_bin, asked.shift)
        if asked.extra is not None:
            every = Tally.merged([answer.extra_all for answer in answers])
            smallest = Tally.merged([answer.extra_nearest for answer in answers])
            used = self._used(every.bins, smallest.at(every.bins), self.nearest_within)
            used_below = smallest.below
            if nearest is not None and nearest.high < asked.extra.low:
                used_below = self.counts.n_covered
            counted = every.counted and smallest.counted
            left = Tally(every.bins, every.counts - used, every.below - used_below, counted)
            found = _rank(left, self.counts.n_extra)
            if found is None:
                return first_question(self.counts)
            self.extra_bin, self.extra_within, extra_size = found
            extra, size = _window(self.extra_bin, asked.shift), max(size, extra_size)
        if asked.shift == 0:
            return None
        return Question(nearest, extra, 0 if size <= _FEW else max(0, asked.shift - _NARROWING))

    def _used(self, bins: Keys, smallest: Keys, within: int | Keys) -> Keys:
        """Return how many of the smallest distances in each bin stage 1 has taken."""
        if self.nearest_bin is None:
            return smallest
        used: Keys = np.where(bins < self.nearest_bin, smallest, 0)
        return np.where(bins == self.nearest_bin, within, used)

    def shares(self, answers: list[Answer], n_blocks: int) -> tuple[Keys, Keys]:
        """Return how many of the distances that equal a limit each block may take."""
        nearest_ties = np.full(n_blocks, _EVERY)
        extra_ties = np.zeros(n_blocks, dtype=np.int64)
        if self.nearest_bin is not None:
            limit = np.array([self.nearest_bin])
            available = [answer.nearest.at(limit)[0] for answer in answers]
            nearest_ties = _share_out(available, self.nearest_within)
        if self.extra_bin is not None:
            limit = np.full(n_blocks, self.extra_bin)
            every = np.array([answer.extra_all.at(limit[:1])[0] for answer in answers])
            smallest = np.array([answer.extra_nearest.at(limit[:1])[0] for answer in answers])
            left = every - self._used(limit, smallest, nearest_ties)
            extra_ties = _share_out(left, self.extra_within)
        return nearest_ties, extra_ties

    @property
    def nearest_limit(self) -> float:
        """Largest distance that stage 1 accepts, infinite if it accepts all."""
        return np.inf if self.nearest_bin is None else value_of(self.nearest_bin)

    @property
    def extra_limit(self) -> float:
        """Largest distance that stage 2 accepts, -inf if it has nothing to hand out."""
        return -np.inf if self.extra_bin is None else value_of(self.extra_bin)


def _window(number: int, shift: int) -> Window:
    """Return the keys of a bin."""
    return Window(number << shift, ((number + 1) << shift) - 1)


def _rank(tally: Tally, rank: int) -> tuple[int, int, int] | None:
    """Return the bin of the key of a given rank, its rank within the bin, and the bin's size.

    None if that key lies outside the window, or was not counted.
    """
    within, total = rank - tally.below, np.cumsum(tally.counts)
    if not tally.counted or len(total) == 0 or not 1 <= within <= total[-1]:
        return None
    place = int(np.searchsorted(total, within))
    size = int(tally.counts[place])
    return int(tally.bins[place]), within - (int(total[place]) - size), size


def _share_out(available: list[int] | Keys, wanted: int) -> Keys:
    """Take what is wanted from the first blocks that have any."""
    total = np.cumsum(available)
    shares: Keys = np.diff(np.minimum(total, wanted), prepend=0)
    return shares
