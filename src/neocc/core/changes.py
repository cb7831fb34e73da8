"""Single changes after a price: where it alone cannot meet the counts at the least cost.

A price hands out memberships corner by corner of convex hulls. Where the last corner is wider than
what is left, one item ends off its hull, and a few changes of other items, which together leave the
counts as they are, may cost less. Blocks offer the cheapest changes of each kind; which of them to
make is a small knapsack problem, solved exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from neocc._typing import FloatArray, IntArray

__all__ = ["Changes", "best_changes", "offered"]

# How many changes of each kind (from one size to another) are offered; of so few items all.
_PER_KIND = 3
_FEW_ITEMS = 24
# The largest deviation from the counts on the way through the items.
_REACH = 8


class Changes(NamedTuple):
    """Items, their sizes before and after, and what that adds to the costs."""

    items: IntArray
    before: IntArray
    after: IntArray
    costs: FloatArray

    def cheapest(self) -> Changes:
        """Keep the cheapest of each kind; of equal ones the first."""
        order = np.lexsort((self.items, self.costs, self.after, self.before))
        kinds = np.stack([self.before, self.after])[:, order]
        new = np.ones(len(order), dtype=bool)
        new[1:] = (kinds[:, 1:] != kinds[:, :-1]).any(axis=0)
        starts = np.flatnonzero(new)
        rank = np.arange(len(order)) - np.repeat(starts, np.diff([*starts, len(order)]))
        kept = np.sort(order[rank < _PER_KIND])
        return Changes(self.items[kept], self.before[kept], self.after[kept], self.costs[kept])


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
    items, after = np.nonzero(wanted)
    found = Changes(items, sizes[items], after, rises[items, after])
    return found if n_items <= _FEW_ITEMS else found.cheapest()


def _joined(parts: Sequence[Changes]) -> Changes:
    items, before, after, costs = (np.concatenate(each) for each in zip(*parts, strict=True))
    return Changes(items, before, after, costs)


def best_changes(offers: Sequence[Changes], n_items: int, n_spare: int) -> list[dict[int, int]]:
    """Return the new sizes of some items of each block: those that lower the total cost most.

    The number of memberships stays, that of outliers rises by `n_spare` at most. Which blocks items
    lie in makes no difference.
    """
    blocks = np.repeat(np.arange(len(offers)), [len(offer.items) for offer in offers])
    every = _joined(offers)
    # Numbers of items that rise from block to block.
    every = every._replace(items=blocks * n_items + every.items)
    every = every if n_items <= _FEW_ITEMS else every.cheapest()
    least = np.full((2 * _REACH + 1, 2 * _REACH + 1), np.inf)
    least[_REACH, _REACH] = 0.0
    trail = []
    for item in np.unique(every.items):
        options, moves = [least], [(0, 0, 0)]
        for i in np.flatnonzero(every.items == item):
            before, after = int(every.before[i]), int(every.after[i])
            moves.append((after - before, (after == 0) - (before == 0), after))
            options.append(every.costs[i] + _shifted(least, *moves[-1][:2]))
        table = np.stack(options)
        pick = table.argmin(axis=0)
        least = table.min(axis=0)
        trail.append((item, pick, moves))
    row, column = _REACH, int(least[_REACH, : _REACH + min(n_spare, _REACH) + 1].argmin())
    found: list[dict[int, int]] = [{} for _ in offers]
    for item, pick, moves in reversed(trail):
        memberships, outliers, size = moves[pick[row, column]]
        if memberships or outliers:
            found[item // n_items][int(item % n_items)] = size
        row, column = row - memberships, column - outliers
    return found


def _shifted(table: FloatArray, rows: int, columns: int) -> FloatArray:
    """Return a table moved by so many places, infinite where nothing comes from."""
    moved = np.full_like(table, np.inf)
    n = len(table)
    if abs(rows) < n and abs(columns) < n:
        to = [slice(max(0, by), n + min(0, by)) for by in (rows, columns)]
        source = [slice(max(0, -by), n + min(0, -by)) for by in (rows, columns)]
        moved[to[0], to[1]] = table[source[0], source[1]]
    return moved
