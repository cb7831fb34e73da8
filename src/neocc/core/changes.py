"""Single changes after a price: where it alone cannot meet the counts at the least cost.

A price hands out memberships corner by corner of convex hulls. Where the last corner is wider than
what is left, one item ends off its hull, and a few changes of other items, which together leave the
counts as they are, may cost less. Blocks offer the cheapest changes of each kind; which of them to
make is a small knapsack problem, solved exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import NamedTuple, TypeAlias

import numpy as np

from neocc._typing import FloatArray, IntArray

__all__ = ["Changes", "best_changes", "offered"]

# How many changes of each kind (from one size to another) are offered; of so few items all.
_PER_KIND = 2
_FEW_ITEMS = 24
# The largest deviation from the counts on the way through the items.
_REACH = 8
# Of a cost, the share that sums in another order may differ by.
_NEAR = 1e-9


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

    `costs` has a row per item with its cost at each size from 0; `n_items` counts those of all
    blocks. With the memberships of each size paid for by `prices`, no change costs less than
    nothing but those of items off their hulls: dearer ones than the `gain` of these cannot pay.
    """
    begins = np.arange(0, costs.size, costs.shape[1])
    flat, values = costs.reshape(-1), (costs - prices).reshape(-1)
    now = begins + sizes
    value = values[now]
    near = values.reshape(costs.shape) <= (value + (gain + _NEAR * np.abs(value)))[:, None]
    near.reshape(-1)[now] = False
    # Few are left: those that may be worth it.
    at = np.flatnonzero(near)
    items = at // costs.shape[1]
    before, after = sizes[items], at - begins[items]
    rises = flat[at] - flat[now[items]]
    paid = rises - prices[after] + prices[before]
    some = np.flatnonzero(np.isfinite(paid) & (paid <= gain))
    found = Changes(items[some], before[some], after[some], rises[some], paid[some])
    return found if n_items <= _FEW_ITEMS else found.cheapest()


def _joined(parts: Sequence[Changes]) -> Changes:
    return Changes(*(np.concatenate(each) for each in zip(*parts, strict=True)))


class _Change(NamedTuple):
    """A new size of an item, and what that adds to memberships, outliers and costs."""

    size: int
    more: int
    left_out: int
    cost: float
    paid: float


def _by_item(changes: Changes) -> dict[int, list[_Change]]:
    """Return the changes of each item, the cheapest at the price first.

    Items off their hulls come first: what others cost can never make a sum negative again.
    """
    found: dict[int, list[_Change]] = {}
    for item, before, after, cost, paid in zip(*(part.tolist() for part in changes), strict=True):
        left_out = (after == 0) - (before == 0)
        found.setdefault(item, []).append(_Change(after, after - before, left_out, cost, paid))
    for each in found.values():
        each.sort(key=attrgetter("paid"))
    return dict(sorted(found.items(), key=lambda pair: (pair[1][0].paid, pair[0])))


def _cheapest_end(ways: dict[tuple[int, int], _Way], n_spare: int) -> _Way:
    """Return the cheapest way that leaves the counts as they are."""
    ends = (way for at, way in ways.items() if at[0] == 0 and at[1] <= n_spare)
    return min(ends, key=lambda way: way[0])


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
    # By deviation of memberships and of outliers: cost, cost at the price, and what was changed.
    least: dict[tuple[int, int], _Way] = {(0, 0): (0.0, 0.0, ())}
    for item, changes in _by_item(every).items():
        limit, cheapest = 0.0, changes[0].paid
        if cheapest >= 0.0:
            # From here on sums at the price only rise: unless outliers are spared, those that are
            # above a way to the end stay above it.
            if n_spare == 0:
                limit = _cheapest_end(least, n_spare)[0] * (1.0 - _NEAR)
            if min(way[1] for way in least.values()) + cheapest >= limit:
                break
        _extend(least, item, changes, limit)
    found: list[dict[int, int]] = [{} for _ in offers]
    for item, size in _cheapest_end(least, n_spare)[2]:
        found[item // n_items][item % n_items] = size
    return found


def _extend(
    least: dict[tuple[int, int], _Way], item: int, changes: list[_Change], limit: float
) -> None:
    """Put the changes of an item, or none, behind all ways."""
    for (memberships, outliers), (cost, paid, ways) in list(least.items()):
        for after, more, left_out, rise, rise_paid in changes:
            # Most changes end here: they cannot pay, nor can dearer ones.
            if paid + rise_paid >= limit:
                break
            at = (memberships + more, outliers + left_out)
            if (
                -_REACH <= at[0] <= _REACH
                and -_REACH <= at[1] <= _REACH
                and (at not in least or cost + rise < least[at][0])
            ):
                least[at] = (cost + rise, paid + rise_paid, (*ways, (item, after)))
