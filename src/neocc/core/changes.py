"""Single changes after a price: where it alone cannot meet the counts at the least cost.

A price hands out memberships corner by corner of convex hulls. Where the last corner is wider than
what is left, one item ends off its hull, and a few changes of other items, which together leave the
counts as they are, may cost less. Blocks offer the cheapest changes of each kind; which of them to
make is a small knapsack problem, solved exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from neocc._typing import FloatArray, IntArray

__all__ = ["Changes", "best_changes", "offered"]

# How many changes of each kind (from one size to another) are offered; of so few items all.
_PER_KIND = 2
_FEW_ITEMS = 24
# The largest deviation from the counts on the way through the items.
_REACH = 8


_Way: TypeAlias = tuple[float, float, tuple[tuple[int, int], ...]]


class Changes(NamedTuple):
    """Items, their sizes before and after, and what that adds to the costs.

    `paid` is the same with memberships paid for at their price: negative for items off their hulls
    alone.
    """

    items: IntArray
    before: IntArray
    after: IntArray
    costs: FloatArray
    paid: FloatArray

    def cheapest(self) -> Changes:
        """Keep the cheapest of each kind; of equal ones the first. Items are in order."""
        kinds = self.before * (1 + self.after.max(initial=0)) + self.after
        costs, kept = self.costs.copy(), np.zeros(len(kinds), dtype=bool)
        for _ in range(_PER_KIND):
            least = np.full(kinds.max(initial=0) + 1, np.inf)
            np.minimum.at(least, kinds, costs)
            at = np.flatnonzero((costs == least[kinds]) & (costs < np.inf))
            first = at[np.unique(kinds[at], return_index=True)[1]]
            kept[first], costs[first] = True, np.inf
        return Changes(*(part[kept] for part in self))  # type: ignore[arg-type]


def offered(
    costs: FloatArray, sizes: IntArray, n_items: int, prices: FloatArray, gain: float
) -> Changes:
    """Return the cheapest changes of each kind of a block, from `sizes`.

    `costs` has a line per item with its cost at each size from 0; `n_items` counts those of all
    blocks. With the memberships of each size paid for by `prices`, no change costs less than
    nothing but those of items off their hulls: dearer ones than the `gain` of these cannot pay.
    """
    lines = np.arange(len(costs))
    rises = costs - costs[lines, sizes][:, None]
    paid = rises - prices + prices[sizes][:, None]
    wanted = np.isfinite(paid) & (paid <= gain)
    wanted[lines, sizes] = False
    at = np.flatnonzero(wanted)
    items = at // wanted.shape[1]
    after = at - items * wanted.shape[1]
    found = Changes(items, sizes[items], after, rises[items, after], paid[items, after])
    return found if n_items <= _FEW_ITEMS else found.cheapest()


def _joined(parts: Sequence[Changes]) -> Changes:
    return Changes(*(np.concatenate(each) for each in zip(*parts, strict=True)))


def best_changes(offers: Sequence[Changes], n_items: int, n_spare: int) -> list[dict[int, int]]:
    """Return the new sizes of some items of each block: those that lower the total cost most.

    The number of memberships stays, that of outliers rises by `n_spare` at most. Which blocks items
    lie in makes no difference.
    """
    blocks = np.repeat(np.arange(len(offers)), [len(offer.items) for offer in offers])
    every = _joined(offers)
    # Numbers of items that rise from block to block.
    every = every._replace(items=blocks * n_items + every.items)
    if len(offers) > 1 and n_items > _FEW_ITEMS:
        every = every.cheapest()
    # Of each item: the size after a change, what it adds to memberships, outliers and costs.
    by_item: dict[int, list[tuple[int, int, int, float, float]]] = {}
    for item, before, after, cost, paid in zip(*(part.tolist() for part in every), strict=True):
        left_out = (after == 0) - (before == 0)
        by_item.setdefault(item, []).append((after, after - before, left_out, cost, paid))
    # Items off their hulls come first: what others cost can never make a sum negative again.
    order = sorted(by_item, key=lambda item: (min(each[4] for each in by_item[item]), item))
    # By deviation of memberships and of outliers: cost, cost at the price, and what was changed.
    least: dict[tuple[int, int], _Way] = {(0, 0): (0.0, 0.0, ())}
    for item in order:
        for (memberships, outliers), (cost, paid, ways) in list(least.items()):
            for after, more, left_out, rise, rise_paid in by_item[item]:
                # Most changes end here: they cannot pay.
                if paid + rise_paid >= 0.0:
                    continue
                at = (memberships + more, outliers + left_out)
                if (
                    -_REACH <= at[0] <= _REACH
                    and -_REACH <= at[1] <= _REACH
                    and (at not in least or cost + rise < least[at][0])
                ):
                    least[at] = (cost + rise, paid + rise_paid, (*ways, (item, after)))
    ends = [way for at, way in least.items() if at[0] == 0 and at[1] <= n_spare]
    found: list[dict[int, int]] = [{} for _ in offers]
    for item, size in min(ends, key=lambda way: way[0])[2]:
        found[item // n_items][item % n_items] = size
    return found
