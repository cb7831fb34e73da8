"""Thresholds: the prices of memberships that meet exact counts.

Prices are found by counting. Blocks of items are asked how many of their costs fall into which bin,
and the bins are narrowed around a threshold until they hold single numbers. Then every block is
told the thresholds, and how many of the costs that equal one it may take: blocks are in the order
of their items, so the lowest come first. Data in memory are one block.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from neocc._counts import Counts
from neocc._typing import BoolArray, FloatArray
from neocc.core.changes import Changes, best_changes
from neocc.core.histograms import (
    EVERYTHING,
    BlockCounts,
    Histogram,
    Keys,
    Query,
    Window,
    value_of,
)

__all__ = ["ANY", "Ask", "Guess", "Thresholds", "find_thresholds", "taken"]

# Bits of a key that the first bins leave open: of a float64, sign, exponent and 8 bits of the
# fraction number the bin.
_FIRST_SHIFT = 44
_NARROWING = 20
# So few distances are told apart at once.
FEW = 1 << 15
# Of so few all are: sorting them takes less time than another query.
_SORTED = 1 << 10
# A guess that fails, bins of 2**44 keys, and of 2**20 times fewer until they are single keys.
_MOST_QUERIES = 8
# Of a threshold, the shares by which it may move from one step to the next.
_FIRST_SHARE, _LEAST_SHARE = 2.0**-5, 2.0**-10
# Prices that are tried: each gives memberships that meet the counts, later ones hardly better ones.
_MOST_PRICES = 12
_CONTRADICTION = "Blocks of items contradict themselves: their counts lead to no threshold."
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

    @property
    def pair(self) -> tuple[float, float]:
        """Both thresholds."""
        return self.nearest, self.extra


ANY = Thresholds()
"""Every item takes its nearest cluster, and nothing else."""


def taken(values: FloatArray, threshold: float, n_ties: int) -> BoolArray:
    """Tell which values are below a threshold, or among the first few that equal it."""
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


def find_thresholds(
    ask: Ask,
    counts: Counts,
    n_blocks: int,
    guess: Guess | None = None,
    *,
    prices_first: bool = False,
    few: int = FEW,
) -> list[Thresholds]:
    """Return what every block may take; `few` costs are told apart at once."""
    if counts.is_partition:
        return [ANY] * n_blocks
    if prices_first:
        return _PriceSearch(ask, counts, n_blocks, few).changed()
    search = _Search(counts, few)
    query = first_query(counts, guess, few)
    for _ in range(_MOST_QUERIES):
        answers = ask("count", [query] * n_blocks)
        narrower = search.narrowed(query, answers)
        if narrower is None:
            return search.shared(answers, n_blocks)
        query = narrower
    raise RuntimeError(_CONTRADICTION)


def first_query(counts: Counts, guess: Guess | None = None, few: int = FEW) -> Query:
    """Return the query to begin with."""
    asked = (counts.n_covered < counts.n_items, counts.n_extra > 0)
    if guess is not None and guess.thresholds is not None:
        pairs = list(zip(guess.thresholds, asked, strict=True))
        if all(np.isfinite(value) for value, yes in pairs if yes):
            near = [Window.around(value, guess.share) if yes else None for value, yes in pairs]
            return Query(near[0], near[1], 0, few)
    nearest, extra = (EVERYTHING if yes else None for yes in asked)
    return Query(nearest, extra, _first_shift(counts))


def _first_shift(counts: Counts) -> int:
    return 0 if counts.n_items * counts.n_clusters <= _SORTED else _FIRST_SHIFT


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
        return Query(nearest, extra, 0 if size <= self.few else max(0, asked.shift - _NARROWING))

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
        if n_blocks == 1:
            ties = EVERY if first is None else self.nearest_within
            return [Thresholds(nearest, extra, ties, self.extra_within)]
        nearest_ties, extra_ties = np.full(n_blocks, EVERY), np.zeros(n_blocks, dtype=np.int64)
        if first is not None:
            available = np.array([each.nearest.at(np.array([first]))[0] for each in answers])
            nearest_ties = _share_out(available, self.nearest_within)
        if further is not None:
            at = np.full(n_blocks, further)
            every = np.array([each.extra_all.at(at[:1])[0] for each in answers])
            smallest = np.array([each.extra_nearest.at(at[:1])[0] for each in answers])
            left = every - self._used(at, smallest, nearest_ties)
            extra_ties = _share_out(left, self.extra_within)
        pairs = zip(nearest_ties.tolist(), extra_ties.tolist(), strict=True)
        return [Thresholds(nearest, extra, *ties) for ties in pairs]


class _PriceSearch:
    """The price of extra memberships, where first ones are worth more with others beside them.

    At a price every item has a value, its least cost with extra memberships paid for. The items of
    the smallest values are covered, and the extra memberships of these have the wanted number at
    some price: if that is the price assumed, both are found. Their number rises with the price, so
    that each price tried bounds the right one from one side.
    """

    def __init__(self, ask: Ask, counts: Counts, n_blocks: int, few: int) -> None:
        self.ask, self.counts, self.n_blocks, self.few = ask, counts, n_blocks, few

    def changed(self) -> list[Thresholds]:
        """Return what every block may take, with the changes that lower the cost further."""
        thresholds, n = self.found(), self.counts.n_items
        n_out, gains = zip(*self.ask("possible_gain", thresholds), strict=True)
        if not any(gains):
            return thresholds
        offers: list[Changes] = self.ask("changes", thresholds, n, sum(gains))
        found = best_changes(offers, n, self.counts.max_outliers - sum(n_out))
        return [
            replace(each, changes=tuple(new.items()))
            for each, new in zip(thresholds, found, strict=True)
        ]

    def found(self) -> list[Thresholds]:
        """Return what every block may take at a price."""
        counts, everyone = self.counts, [ANY] * self.n_blocks
        if counts.n_extra <= 0:
            return self._covered(-np.inf)
        price, n_more = -np.inf, counts.n_memberships - counts.n_items
        if n_more > 0:
            price, ties, _ = self._rank("extra", everyone, n_more)
        if counts.max_outliers == 0:
            return _with_extra(everyone, price, ties)
        low, high = -np.inf, np.inf
        # Infinite where clusters are empty.
        price = price if price < np.inf else -np.inf
        for _ in range(_MOST_PRICES):
            covered = self._covered(price)
            new, ties, answers = self._rank("extra", covered, counts.n_extra)
            below = sum(each.n_below for each in answers)
            equal = np.array([each.n_equal for each in answers])
            if below <= counts.n_extra <= below + equal.sum():
                return _with_extra(covered, price, _share_out(equal, counts.n_extra - below))
            low, high = (price, high) if new > price else (low, price)
            price = new if low < new < high else _middle(low, high)
            if price in (low, high, np.inf):
                break
        # A price at which numbers jump: memberships meet the counts all the same, at two prices.
        return _with_extra(covered, new, ties)

    def _covered(self, price: float) -> list[Thresholds]:
        """Return the thresholds of first memberships at a price of extra ones."""
        at_price = [Thresholds(price=price)] * self.n_blocks
        value, ties, _ = self._rank("nearest", at_price, self.counts.n_covered)
        return [Thresholds(value, n_nearest_ties=n, price=price) for n in ties.tolist()]

    def _rank(
        self, name: str, given: list[Thresholds], rank: int
    ) -> tuple[float, Keys, list[BlockCounts]]:
        """Return the value of a rank among first or extra memberships.

        Then how many that equal it each block may take, and what blocks answered.
        """
        window, shift = EVERYTHING, _first_shift(self.counts)
        alone = rank if self.n_blocks == 1 else 0
        if alone:
            shift = 0
        for _ in range(_MOST_QUERIES):
            queries = [_query(name, window, shift, each, alone) for each in given]
            answers = self.ask("count", queries)
            parts = [each.nearest if name == "nearest" else each.extra_all for each in answers]
            found = Histogram.merged(parts).rank(rank)
            if found is None:
                break
            at, within, size = found
            if shift == 0:
                equal = np.array([int(part.at(np.array([at]))[0]) for part in parts])
                return value_of(at), _share_out(equal, within), answers
            window = Window.of_bin(at, shift)
            shift = 0 if size <= self.few else max(0, shift - _NARROWING)
        raise RuntimeError(_CONTRADICTION)


def _query(name: str, window: Window, shift: int, given: Thresholds, rank: int) -> Query:
    if name == "nearest":
        return Query(window, None, shift, price=given.price, rank=rank)
    return Query(None, window, shift, covered=given, rank=rank)


def _with_extra(covered: list[Thresholds], extra: float, ties: Keys) -> list[Thresholds]:
    return [
        replace(each, extra=extra, n_extra_ties=n)
        for each, n in zip(covered, ties.tolist(), strict=True)
    ]


def _middle(low: float, high: float) -> float:
    """Return a number between two."""
    if np.isfinite([low, high]).all():
        return low + (high - low) / 2.0
    return low + max(1.0, abs(low)) if high == np.inf else high - max(1.0, abs(high))


def _share_out(available: Keys, wanted: int) -> Keys:
    """Take what is wanted from the first blocks that have any."""
    shares: Keys = np.diff(np.minimum(np.cumsum(available), wanted), prepend=0)
    return shares
