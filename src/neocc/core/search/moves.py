"""Moves of single memberships, where the alternation is stuck.

A swap removes one membership and adds another in a different cluster, so the number of memberships
stays. What each of the two gains is exact (`neocc.core.search.gains`). Where each cluster has a
mean of its own, clusters enter the objective separately, so that swaps that share no cluster add up
exactly; where clusters are fitted together they add up nearly. Either way the alternation decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from neocc._typing import BoolArray, FloatArray, IntArray


class Swap(NamedTuple):
    """Remove `source` = (item, cluster), add `target` = (item, cluster), and gain `gain`."""

    source: tuple[int, int]
    target: tuple[int, int]
    gain: float = np.nan


@dataclass(frozen=True)
class Exchange:
    """The gains of all swaps on one side; tables have shape (n_items, n_clusters).

    `savings` are what removing a membership saves (-inf where there is none, or where it is the
    last of its cluster), `costs` what adding one costs (inf where there is one already), `constant`
    the part of each item's distances that no cluster explains.
    """

    members: BoolArray
    savings: FloatArray
    costs: FloatArray
    constant: FloatArray
    max_outliers: int

    def after(self, swaps: Sequence[Swap]) -> BoolArray:
        """Return the memberships after some swaps that do not concern each other."""
        members = self.members.copy()
        for swap in swaps:
            members[swap.source], members[swap.target] = False, True
        return members

    def without(self, items: Sequence[int], clusters: Sequence[int] = ()) -> Exchange:
        """Leave out the swaps of some items and clusters."""
        savings, costs = self.savings.copy(), self.costs.copy()
        for table, never in ((savings, -np.inf), (costs, np.inf)):
            table[list(items)] = never
            table[:, list(clusters)] = never
        return replace(self, savings=savings, costs=costs)

    def best(self) -> Swap | None:
        """Return the swap of largest gain, even if it is negative."""
        outliers = ~self.members.any(axis=1, keepdims=True)
        found = [
            *self.moves_within(1),
            *self.swaps_between(1, 1),
            # An outlier comes in for an item that becomes one.
            *_between(self.savings, np.where(outliers, self.costs, np.inf), 1, 1),
        ]
        return max(found, key=lambda swap: swap.gain, default=None)

    def moves_within(self, n_swaps: int) -> list[Swap]:
        """Return the best move from cluster to cluster of each of some items, best first."""
        sources, targets = self.savings.argmax(axis=1), self.costs.argmin(axis=1)
        items = np.arange(len(self.members))
        gains = self.savings[items, sources] - self.costs[items, targets]
        (best,) = _largest(gains, n_swaps)
        return [Swap((p, sources[p]), (p, targets[p]), gains[p]) for p in best]

    def swaps_between(self, n_swaps: int, per_cluster: int = 3) -> list[Swap]:
        """Return swaps between items: of the best few of each cluster, best first."""
        n_memberships = self.members.sum(axis=1)
        may_leave = np.count_nonzero(n_memberships == 0) < self.max_outliers
        dispensable = n_memberships > (0 if may_leave else 1)
        savings = np.where(dispensable[:, None], self.savings, -np.inf)
        return _between(savings, self.costs, n_swaps, per_cluster)

    def other_singletons(self, n_trials: int) -> list[BoolArray]:
        """Return memberships in which another item is the only one of a cluster of one.

        The items that would save most where they are come first.
        """
        saved = self.savings - self.constant[:, None]
        best = np.argsort(-saved.max(axis=1), kind="stable")[:n_trials]
        best = best[np.isfinite(saved[best].max(axis=1))]
        trials = []
        for cluster in np.flatnonzero(self.members.sum(axis=0) == 1).tolist():
            old = int(self.members[:, cluster].argmax())
            refuge = int(self.costs[old].argmin())
            if np.isfinite(self.costs[old, refuge]):
                goes = Swap((old, cluster), (old, refuge))
                trials += [
                    self.after([goes, Swap((new, saved[new].argmax()), (new, cluster))])
                    for new in best
                    if new != old
                ]
        return trials


def independent_swaps(exchange: Exchange, least_gain: float) -> tuple[BoolArray, float]:
    """Return the memberships after the best swaps that share no item and no cluster.

    The second result is their total gain; each gains more than `least_gain`.
    """
    total = 0.0
    while (swap := exchange.best()) is not None and swap.gain > least_gain:
        total += swap.gain
        after = replace(exchange, members=exchange.after([swap]))
        exchange = after.without(*zip(swap.source, swap.target, strict=True))
    return exchange.members, total


def _between(savings: FloatArray, costs: FloatArray, n: int, depth: int) -> list[Swap]:
    """Return the best removals together with additions of another item elsewhere.

    Of each cluster the best few are looked at. Within one cluster the two changes would not be
    independent.
    """
    k = savings.shape[1]
    sources, targets = _best_items(-savings, depth), _best_items(costs, depth)
    clusters = np.arange(k)[:, None]
    # Axes: cluster left, cluster joined, item that leaves, item that joins.
    gains = (
        savings[sources, clusters][:, None, :, None] - costs[targets, clusters][None, :, None, :]
    )
    gains[np.eye(k, dtype=bool)] = -np.inf
    gains[sources[:, None, :, None] == targets[None, :, None, :]] = -np.inf
    return [
        Swap((sources[q, i], q), (targets[r, j], r), gains[q, r, i, j])
        for q, r, i, j in zip(*_largest(gains, n), strict=True)
    ]


def _best_items(values: FloatArray, depth: int) -> IntArray:
    """Return the items of the smallest values in each column, a row per column."""
    if depth == 1:
        return np.asarray(values.argmin(axis=0)[:, None])
    return np.asarray(np.argsort(values, axis=0, kind="stable")[:depth].T)


def _largest(gains: FloatArray, n: int) -> tuple[IntArray, ...]:
    """Return the places of the largest finite gains, in falling order; the first of equal ones."""
    flat = gains.reshape(-1)
    n = min(n, flat.size)
    near = np.flatnonzero(flat >= np.partition(flat, flat.size - n)[flat.size - n])
    near = near[np.isfinite(flat[near])]
    order = near[np.argsort(-flat[near], kind="stable")[:n]]
    return np.unravel_index(order, gains.shape)
