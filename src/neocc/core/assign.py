"""Assignment: exact counts, at the smallest total cost.

Every item has a curve, the costs of its best set of one cluster, of two, and so on (the overlap
model's, `neocc.core.overlap`). Two prices turn curves into counts: a threshold of first
memberships, above which an item is left out, and one of extra memberships. For NEO-CC this is the
paper's two-stage rule. Stage 1 gives the N1 = n - b items with the smallest row minima to their
nearest cluster; stage 2 hands out the a + b memberships still missing to the smallest distances not
used yet, whoever they belong to. Together they minimise the sum of the chosen distances over all
feasible memberships.

Prices are found by counting (`neocc.core.thresholds`). Ties go to the smallest distance, then the
lowest item, then the lowest cluster. Clusters that end too small are filled (`fill_empty`, and
`neocc.core.sizes` where one member is not enough).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from neocc._counts import Counts
from neocc._typing import AnyArray, FloatArray, IntArray
from neocc.core.histograms import BlockCounts, Query
from neocc.core.prices import find_thresholds
from neocc.core.sizes import Cut, Moves, Wanted, enlarged
from neocc.core.thresholds import Ask, Thresholds
from neocc.kernels import Memberships

if TYPE_CHECKING:
    from neocc.core.overlap import OverlapModel

__all__ = ["Applied", "Choices", "Step", "assign", "fill_empty", "is_feasible", "settled"]

# Of the cost of memberships, the share by which others must cost less to be clearly cheaper.
_ROUNDING = 1e-12


class Applied(NamedTuple):
    """New memberships of a block of items, the objective of those before, and what they gain.

    The gain is negative where memberships that meet the counts are dearer than those before; it is
    0 for models whose assignment is the best there is.
    """

    members: Memberships
    objective: float
    gain: float = 0.0


class Choices(Protocol):
    """What a block of items can choose from: their curves.

    Those of models with `prices_first` also have `possible_gain` and `changes`, and `counted` where
    that of the model asks for it (`neocc.core.overlap.sets`); others have `selected`
    (`neocc.core.overlap.distances`).
    """

    def count(self, query: Query) -> BlockCounts:
        """Count costs by bin."""

    def apply(self, thresholds: Thresholds) -> Applied:
        """Return the memberships that thresholds allow."""

    def costs(self, applied: Applied) -> FloatArray:
        """Return the cost of each membership, item by item."""

    def moves(self, members: Memberships, wanted: Wanted) -> Moves:
        """Offer the cheapest moves of memberships to clusters that are too small."""


class Step(NamedTuple):
    """The objective of the memberships before a half-step, and the memberships after it.

    `thresholds` are the largest costs accepted; predicting new items reuses them.
    """

    objective: float
    members: Memberships
    thresholds: tuple[float, float]


def assign(
    choices: Choices,
    counts: Counts,
    model: OverlapModel,
    before: Memberships | None = None,
) -> Step:
    """Assign the items of one block; they keep the memberships `before` if these cost less."""

    def ask(method: str, given: Any, *common: Any) -> list[Any]:
        return [getattr(choices, method)(given[0], *common)]

    (thresholds,) = find_thresholds(ask, counts, 1, prices_first=model.prices_first)
    applied = choices.apply(thresholds)
    members = settled(applied, [applied], counts, model, before, ask, lambda every: [every])
    return Step(applied.objective, members, thresholds.pair)


def settled(
    whole: Applied,
    applied: Any,
    counts: Counts,
    model: OverlapModel,
    before: Memberships | None,
    ask: Ask,
    cut: Cut,
) -> Memberships:
    """Return what all blocks together applied, clusters that are too small filled.

    Memberships `before` are kept if they are feasible and cost less. `applied` stands for the parts
    of the blocks.
    """
    members = whole.members

    def can_stay() -> bool:
        return before is not None and is_feasible(before, counts, model.most)

    if before is not None and whole.gain < 0.0 and can_stay():
        return model.counted(before, ask, cut)
    if counts.moves_in:
        larger = enlarged(members, counts, ask, cut)
        if larger is None:
            return members
        if before is not None and larger.gain <= _ROUNDING * abs(larger.before) and can_stay():
            return model.counted(before, ask, cut)
        return model.counted(model.weighted(larger.members), ask, cut)
    if members.has_empty and counts.reseeds:
        costs = np.concatenate(ask("costs", applied))
        empty = np.flatnonzero(members.sizes == 0).tolist()
        filled = model.weighted(fill_empty(members, costs))
        return model.counted(filled, ask, cut, empty)
    return members


def is_feasible(members: Memberships, counts: Counts, most: int | None) -> bool:
    """Tell whether memberships meet the counts, none of an item more than `most`."""
    numbers = members.numbers
    return (
        int(numbers.sum()) == counts.n_memberships
        and int(np.count_nonzero(numbers == 0)) <= counts.max_outliers
        and (most is None or int(numbers.max(initial=0)) <= most)
        and (not members.has_empty or not (counts.reseeds or counts.moves_in))
        and (counts.min_size == 1 or members.sums_of(None).min() >= counts.min_size)
    )


def fill_empty(members: Memberships, costs: FloatArray) -> Memberships:
    """Re-seed each empty cluster with the dearest membership that can be spared.

    The moved item becomes the only member of the empty cluster, which costs it at most its old
    distance: the objective does not rise, and all counts stay as they were. With fewer memberships
    than clusters some stay empty. `costs` are those of all memberships, item by item.
    """
    sizes = members.sums_of(None)
    empty = np.flatnonzero(sizes == 0)
    # Those with extra ones are written anew in any case, the lowest cluster of an item first: a
    # random start has any of them there, and sums would be added in another order.
    if not len(empty) and not len(members.extra_items):
        return members
    matrix = members.dense.copy()
    items, clusters = np.nonzero(matrix)
    for source, target in _refilled(costs, items, clusters, sizes, empty):
        matrix[items[source], clusters[source]] = False
        matrix[items[source], target] = True
    return Memberships.from_dense(matrix).weighing(members.item_weights)


def _refilled(
    costs: FloatArray, items: IntArray, clusters: AnyArray, sizes: FloatArray, empty: IntArray
) -> Iterator[tuple[int, int]]:
    """Yield which membership goes to which empty cluster; `sizes` are updated."""
    if not len(empty):
        return
    # Of each cluster at most the last membership is passed over: so many are dear enough.
    n_needed = min(len(costs), len(empty) + len(sizes))
    least = np.partition(costs, len(costs) - n_needed)[-n_needed:].min(initial=np.inf)
    some = np.flatnonzero(costs >= least)
    spare = iter(some[np.lexsort((clusters[some], items[some], -costs[some]))])
    for target in empty:
        source = next((i for i in spare if sizes[clusters[i]] > 1), None)
        if source is None:
            break
        sizes[clusters[source]] -= 1
        sizes[target] += 1
        yield source, int(target)
