"""Names that a page keeps: all of them where they fit, else some from everywhere."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from neocc._typing import IntArray
from neocc.report._html import LONGEST_KEPT, LONGEST_NAME, script_json, shorten

__all__ = ["keep_names", "share_out"]

# The longest name, all of its letters escaped, and what else an item takes.
_MOST_BYTES = 6 * LONGEST_KEPT + 100
# Names are cut to fewer letters before any are left out.
_LENGTHS = (LONGEST_KEPT, 240, 120, LONGEST_NAME)


def share_out(counts: tuple[int, int], budget: int) -> tuple[int, int]:
    """Give half to each side, and what one side cannot need to the other."""
    rows, columns = (min(count * _MOST_BYTES, budget // 2) for count in counts)
    return budget - columns, budget - rows


def keep_names(
    order: IntArray,
    name: Callable[[int], str],
    first: Sequence[int],
    costs: IntArray,
    budget: int,
) -> dict[int, str]:
    """Return names of items: of the first ones, and of as many others as the budget allows.

    Names are kept whole where all fit, else cut in their middle. If even then not all fit, the
    others are spread evenly over the order, so that there are names near every place.

    Parameters
    ----------
    order : ndarray of int
        All items, in order.
    name : callable
        The name of an item.
    first : sequence of int
        The items whose names are needed most.
    costs : ndarray of int
        Number of bytes that each item takes on the page besides its name.
    budget : int
        Number of bytes that there are.

    Examples
    --------
    >>> import numpy as np
    >>> from neocc.report._names import keep_names
    >>> keep_names(np.arange(6), str, [4], np.full(6, 1), 16)
    {4: '4', 0: '0', 2: '2'}
    """
    least = int(costs.sum())
    if least <= budget:
        whole = {item: name(item) for item in dict.fromkeys([*first, *order.tolist()])}
        for longest in _LENGTHS:
            kept = {item: shorten(text, longest) for item, text in whole.items()}
            if _cost(kept, costs) <= budget:
                return kept
    step = max(1, math.ceil(least / max(budget, 1)))
    while True:
        chosen = dict.fromkeys([*first, *order[::step].tolist()])
        kept = {item: shorten(name(item)) for item in chosen}
        cost = _cost(kept, costs)
        if cost <= budget or step >= len(order):
            return kept
        step = math.ceil(step * max(cost / budget, 1.01))


def _cost(kept: dict[int, str], costs: IntArray) -> int:
    """Return the bytes that items with names take on the page."""
    return sum(int(costs[item]) + len(script_json(text).encode()) for item, text in kept.items())
