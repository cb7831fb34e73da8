"""The few changes of sizes that remain once prices are known: the cheapest that fit together."""

from __future__ import annotations

import numpy as np

from neocc.core.changes import Changes, best_changes

PRICE = 4.5


def changes(*each):
    """Changes of items, from one size to another, by what they cost."""
    items, before, after, costs = (np.array(part) for part in zip(*each, strict=True))
    return Changes(items, before, after, costs, costs - PRICE * (after - before))


OFF_HULL = (2, 3, 1, -10.0)
TWICE_ONE_MORE = [(0, 1, 2, 4.8), (1, 1, 2, 4.8)]


def test_two_changes_of_one_kind_may_be_needed():
    """Of each kind two are offered by every block, and kept of all."""
    blocks = [changes(*TWICE_ONE_MORE), changes(OFF_HULL)]
    assert best_changes(blocks, 30, 0) == [{0: 2, 1: 2}, {2: 1}]


def test_a_later_change_may_end_lower_than_what_was_found():
    """It costs more than each before it, but less than two of them."""
    blocks = [changes(*TWICE_ONE_MORE, (3, 1, 3, 9.4)), changes(OFF_HULL)]
    assert best_changes(blocks, 30, 0) == [{3: 3}, {2: 1}]
