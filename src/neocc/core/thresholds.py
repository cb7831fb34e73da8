"""Thresholds: the prices of memberships that meet exact counts.

Prices are found by counting. Blocks of items are asked how many of their costs fall into which bin,
and the bins are narrowed around a threshold until they hold single numbers. Then every block is
told the thresholds, and how many of the costs that equal one it may take: blocks are in the order
of their items, so the lowest come first. Data in memory are one block, which may select the
thresholds among its costs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from neocc._counts import Counts
from neocc._typing import BoolArray, FloatArray
from neocc.core.histograms import (
    EVERYTHING,
    BlockCounts,
    Histogram,
    Keys,
    Query,
    Window,
    value_of,
)

__all__ = ["ANY", "Ask", "Guess", "Thresholds", "taken", "two_stage_thresholds"]

# Bits of a key that the first bins leave open: of a float64, sign, exponent and 8 bits of the
# fraction number the bin.
FIRST_SHIFT = 44
NARROWING = 20
# So few distances are told apart at once.
FEW = 1 << 15
# A guess that fails, bins of 2**44 keys, and of 2**20 times fewer until they are single keys.
MOST_QUERIES = 8
# Of a threshold, the shares by which it may move from one step to the next.
_FIRST_SHARE, _LEAST_SHARE = 2.0**-5, 2.0**-10
CONTRADICTION = "Blocks of items contradict themselves: their counts lead to no threshold."
EVERY = int(np.iinfo(np.int64).max)


Ask: TypeAlias = Callable[..., list[Any]]
"""Call a method of the choices of each block (`neocc.core.assign.Choices`): its name, an argument
for each block, further ones for all."""


@dataclass(frozen=True)
class Thresholds:
    """What a block may take: all below each threshold, and the first few that equal it.

    `nearest` is infinite where no item may be left out, `extra` is -inf where there are no extra
    memberships. `price` is that of extra memberships at which first ones were compared with
    `nearest`, where they depend on it. `changes` are the numbers of memberships of single items
    that are others all the same.
    """

    nearest: float = np.inf
    extra: float = -np.inf
    n_nearest_ties: int = EVERY
    n_extra_ties: int = EVERY
    price: float = -np.inf
    changes: tuple[tuple[int, int], ...] = ()

    @cached_property
    def pair(self) -> tuple[float, float]:
        """Both thresholds."""
        return self.nearest, self.extra


ANY = Thresholds()
"""Every item takes its nearest cluster, and nothing else."""


def taken(values: FloatArray, threshold: float, n_ties: int) -> BoolArray:
    """Tell which values are below a threshold, or among the first few that equal it."""
    if n_ties == EVERY:
        return np.less_equal(values, threshold)
    below: BoolArray = values < threshold
    equal = (values == threshold).reshape(-1).nonzero()[0]
    below.reshape(-1)[equal[:n_ties]] = True
    return below


@dataclass
class Guess:
    """Where thresholds are thought to be: near those of the step before, if there was one."""

    thresholds: tuple[float, float] | None = None
    share: float = _FIRST_SHARE

    def learn(self, found: tuple[float, float]) -> None:
        """Remember thresholds, and judge by how far they moved how far the next ones may."""
        if self.thresholds is not None:
            moved = [
                abs(new - old) / max(abs(old), np.finfo(float).tiny)
                for old, new in zip(self.thresholds, found, strict=True)
                if np.isfinite([old, new]).all()
            ]
            self.share = float(np.clip(2.0 * max(moved, default=0.0), _LEAST_SHARE, _FIRST_SHARE))
        self.thresholds = found


def two_stage_thresholds(
    ask: Ask, counts: Counts, n_blocks: int, guess: Guess | None, few: int
) -> list[Thresholds]:
    """Return what every block may take where each membership has a price of its own."""
    if n_blocks == 1 and (found := ask("selected", [counts])[0]) is not None:
        return [found]
    search, query = _Search(counts, few), first_query(counts, guess, few)
    for _ in range(MOST_QUERIES):
        answers = ask("count", [query] * n_blocks)
        narrower = search.narrowed(query, answers)
        if narrower is None:
            return search.shared(answers, n_blocks)
        query = narrower
    raise RuntimeError(CONTRADICTION)


def first_query(counts: Counts, guess: Guess | None = None, few: int = FEW) -> Query:
    """Return the query to begin with."""
    asked = (counts.n_covered < counts.n_items, counts.n_extra > 0)
    if guess is not None and guess.thresholds is not None:
        pairs = list(zip(guess.thresholds, asked, strict=True))
        if all(np.isfinite(value) for value, yes in pairs if yes):
            near = [Window.around(value, guess.share) if yes else None for value, yes in pairs]
            return Query(near[0], near[1], 0, few)
    nearest, extra = (EVERYTHING if yes else None for yes in asked)
    return Query(nearest, extra, FIRST_SHIFT)


class _Search:
    """The bins that both thresholds were found in, and their ranks among the keys of the bins.

    Extra memberships are chosen among all distances but those that first memberships took.
    """

    def __init__(self, counts: Counts, few: int) -> None:
        self.counts, self.few = counts, few
        self.nearest_bin: int | None = None
        self.extra_bin: int | None = None
        self.nearest_within = self.extra_within = 0

    def narrowed(self, asked: Query, answers: list[BlockCounts]) -> Query | None:
        """Find the bins of the thresholds; return the next query, None when they are numbers."""
        nearest = extra = None
        size = 0
        if asked.nearest is not None:
            found = Histogram.merged([each.nearest for each in answers]).rank(self.counts.n_covered)
            if found is None:
                return first_query(self.counts)
            self.nearest_bin, self.nearest_within, size = found
            nearest = Window.of_bin(self.nearest_bin, asked.shift)
        if asked.extra is not None:
            every = Histogram.merged([each.extra_all for each in answers])
            smallest = Histogram.merged([each.extra_nearest for each in answers])
            used = self._used(every.bins, smallest.at(every.bins), self.nearest_within)
            used_below = smallest.below
            if nearest is not None and nearest.high < asked.extra.low:
                used_below = self.counts.n_covered
            counted = every.counted and smallest.counted
            left = Histogram(every.bins, every.counts - used, every.below - used_below, counted)
            found = left.rank(self.counts.n_extra)
            if found is None:
                return first_query(self.counts)
            self.extra_bin, self.extra_within, extra_size = found
            extra, size = Window.of_bin(self.extra_bin, asked.shift), max(size, extra_size)
        if asked.shift == 0:
            return None
        return Query(nearest, extra, 0 if size <= self.few else max(0, asked.shift - NARROWING))

    def _used(self, bins: Keys, smallest: Keys, within: int | Keys) -> Keys:
        """Return how many of the smallest distances in each bin first memberships have taken."""
        if self.nearest_bin is None:
            return smallest
        used: Keys = np.where(bins < self.nearest_bin, smallest, 0)
        return np.where(bins == self.nearest_bin, within, used)

    def shared(self, answers: list[BlockCounts], n_blocks: int) -> list[Thresholds]:
        """Share out the distances that equal a threshold among the blocks."""
        first, further = self.nearest_bin, self.extra_bin
        nearest = np.inf if first is None else value_of(first)
        extra = -np.inf if further is None else value_of(further)
        nearest_ties, extra_ties = np.full(n_blocks, EVERY), np.zeros(n_blocks, dtype=np.int64)
        if first is not None:
            available = np.array([each.nearest.at(np.array([first]))[0] for each in answers])
            nearest_ties = share_out(available, self.nearest_within)
        if further is not None:
            at = np.full(n_blocks, further)
            every = np.array([each.extra_all.at(at[:1])[0] for each in answers])
            smallest = np.array([each.extra_nearest.at(at[:1])[0] for each in answers])
            left = every - self._used(at, smallest, nearest_ties)
            extra_ties = share_out(left, self.extra_within)
        pairs = zip(nearest_ties.tolist(), extra_ties.tolist(), strict=True)
        return [Thresholds(nearest, extra, *ties) for ties in pairs]


def share_out(available: Keys, wanted: int) -> Keys:
    """Take what is wanted from the first blocks that have any."""
    shares: Keys = np.minimum(np.cumsum(available), wanted)
    shares[1:] -= shares[:-1].copy()
    return shares
