"""Prices: thresholds where an item's memberships are worth more together than one by one.

At a price for each extra membership an item takes a corner of the hull of its curve. The price
that meets the counts is found by counting, as in `neocc.core.thresholds`, and a few single changes
follow (`neocc.core.changes`).

Here one threshold must be known before the other is looked for. Where each membership has a price
of its own both are narrowed by the same queries, from a guess: on a cluster a row step then sends
1.3 to 1.5 of these to every worker, and would send 2.5 to 2.7 if it looked for one threshold after
the other. That is why there are two searches.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from neocc._counts import Counts
from neocc.core.changes import Changes, best_changes
from neocc.core.histograms import EVERYTHING, BlockCounts, Histogram, Keys, Query, Window, value_of
from neocc.core.thresholds import (
    ANY,
    CONTRADICTION,
    FEW,
    FIRST_SHIFT,
    MOST_QUERIES,
    NARROWING,
    Ask,
    Guess,
    Thresholds,
    share_out,
    two_stage_thresholds,
)

__all__ = ["find_thresholds"]

# Prices that are tried: each gives memberships that meet the counts, later ones hardly better ones.
_MOST_PRICES = 12


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
    return two_stage_thresholds(ask, counts, n_blocks, guess, few)


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
            price, ties = self._rank("extra", everyone, n_more)
        if counts.max_outliers == 0:
            return _with_extra(everyone, price, ties)
        low, high = -np.inf, np.inf
        # Infinite where clusters are empty.
        price = price if price < np.inf else -np.inf
        for _ in range(_MOST_PRICES):
            covered = self._covered(price)
            new, ties = self._rank("extra", covered, counts.n_extra)
            if new == price:
                break
            low, high = (price, high) if new > price else (low, price)
            price = new if low < new < high else _middle(low, high)
            if price in (low, high, np.inf):
                break
        # At a price at which numbers jump memberships meet the counts all the same, at two prices.
        return _with_extra(covered, new, ties)

    def _covered(self, price: float) -> list[Thresholds]:
        """Return the thresholds of first memberships at a price of extra ones."""
        at_price = [Thresholds(price=price)] * self.n_blocks
        value, ties = self._rank("nearest", at_price, self.counts.n_covered)
        return [Thresholds(value, n_nearest_ties=n, price=price) for n in ties.tolist()]

    def _rank(self, name: str, given: list[Thresholds], rank: int) -> tuple[float, Keys]:
        """Return the value of a rank among first or extra memberships.

        Then how many that equal it each block may take. Where items are covered at a price that
        gives the rank, it is that price.
        """
        window, shift = EVERYTHING, FIRST_SHIFT
        alone = rank if self.n_blocks == 1 else 0
        for _ in range(MOST_QUERIES):
            queries = [_query(name, window, shift, each, alone) for each in given]
            answers: list[BlockCounts] = self.ask("count", queries)
            below, equal = sum(each.n_below for each in answers), [each.n_equal for each in answers]
            if below <= rank <= below + sum(equal) > 0:
                return given[0].price, share_out(np.array(equal), rank - below)
            if answers[0].found is not None:
                value, within = answers[0].found
                return value, np.array([within])
            parts = [each.nearest if name == "nearest" else each.extra_all for each in answers]
            found = Histogram.merged(parts).rank(rank)
            if found is None:
                break
            at, within, size = found
            if shift == 0:
                available = np.array([part.at(np.array([at]))[0] for part in parts])
                return value_of(at), share_out(available, within)
            window = Window.of_bin(at, shift)
            shift = 0 if size <= self.few else max(0, shift - NARROWING)
        raise RuntimeError(CONTRADICTION)


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
