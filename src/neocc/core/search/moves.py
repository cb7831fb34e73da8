"""Exact moves of single memberships, where the alternation is stuck.

The alternation compares items with cluster means that the items themselves have pulled; moving one
membership at a time takes that into account. With the other side fixed, let c_p be the part of d_pq
that no cluster can explain and delta = d_pq - c_p. Then, n_q being the size of cluster q,

    adding p to q costs      c_p + n_q / (n_q + 1) * delta,
    removing p from q saves  c_p + n_q / (n_q - 1) * delta      (n_q >= 2).

A swap removes one membership and adds another in a different cluster, so the number of memberships
stays. Clusters enter the objective separately: swaps that share no cluster add up exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neocc._typing import BoolArray, FloatArray, IntArray
from neocc.core.problem import Counts


@dataclass(frozen=True)
class Swap:
    """Remove `source` = (item, cluster), add `target` = (item, cluster), and gain `gain`."""

    source: tuple[int, int]
    target: tuple[int, int]
    gain: float


@dataclass
class Exchange:
    """The gains of all swaps on one side, for memberships that the swaps change in place.

    Attributes
    ----------
    members : bool array of shape (n_items, n_clusters)
        Memberships; changed by `apply`.
    savings, costs : arrays of the same shape
        What removing a membership saves (-inf where there is none, or where its cluster is as small
        as it may be), and what adding one costs (inf where there is one already).
    spare_outliers : int
        How many more items may be left in no cluster.
    constant : array of shape (n_items,)
        The part of an item's distances that no cluster explains.
    """

    members: BoolArray
    savings: FloatArray
    costs: FloatArray
    spare_outliers: int
    constant: FloatArray

    @classmethod
    def of(
        cls, members: BoolArray, d: FloatArray, constant: FloatArray, counts: Counts
    ) -> Exchange:
        """Compute savings and costs from comparable distances and their unexplained part."""
        sizes = members.sum(axis=0).astype(np.float64)
        # An item that begins an empty cluster is explained as far as it can be.
        excess = np.where(sizes > 0, np.maximum(d - constant[:, None], 0.0), 0.0)
        removable = members & (sizes > counts.min_size)
        shrink = sizes / np.maximum(sizes - 1.0, 1.0)
        savings = np.where(removable, constant[:, None] + shrink * excess, -np.inf)
        costs = np.where(members, np.inf, constant[:, None] + sizes / (sizes + 1.0) * excess)
        n_outliers = int(np.count_nonzero(~members.any(axis=1)))
        return cls(members, savings, costs, counts.max_outliers - n_outliers, constant)

    def best(self, open_items: BoolArray, open_clusters: BoolArray) -> Swap | None:
        """Return the swap of largest gain, be it negative, among the open items and clusters."""
        savings = np.where(open_items[:, None] & open_clusters, self.savings, -np.inf)
        costs = np.where(open_items[:, None] & open_clusters, self.costs, np.inf)
        n_memberships = self.members.sum(axis=1)
        dispensable = n_memberships > (0 if self.spare_outliers > 0 else 1)
        covered = np.where(dispensable[:, None], savings, -np.inf)
        found = [
            *_within(savings, costs, 1),
            *_between(covered, costs, 1, 1),
            # An outlier comes in for an item that becomes one.
            *_between(savings, np.where(n_memberships[:, None] == 0, costs, np.inf), 1, 1),
        ]
        return max(found, key=lambda swap: swap.gain, default=None)

    def moves_within(self, n_swaps: int) -> list[Swap]:
        """Return the best move from cluster to cluster of each of some items, best first."""
        return _within(self.savings, self.costs, n_swaps)

    def swaps_between(self, n_swaps: int, per_cluster: int = 3) -> list[Swap]:
        """Return swaps between items: of the best few of each cluster, best first."""
        dispensable = self.members.sum(axis=1) > (0 if self.spare_outliers > 0 else 1)
        savings = np.where(dispensable[:, None], self.savings, -np.inf)
        return _between(savings, self.costs, n_swaps, per_cluster)

    def after(self, swaps: list[Swap]) -> BoolArray:
        """Return the memberships after some swaps that do not concern each other."""
        members = self.members.copy()
        for swap in swaps:
            members[swap.source], members[swap.target] = False, True
        return members

    def other_singletons(self, n_trials: int) -> list[BoolArray]:
        """Return memberships in which another item is the only one of a cluster of one.

        The items that would save most where they are come first.
        """
        lonely = np.flatnonzero(self.members.sum(axis=0) == 1)
        saved = self.savings - self.constant[:, None]
        best = np.argsort(-saved.max(axis=1), kind="stable")[:n_trials]
        trials = []
        for cluster in lonely:
            old = int(self.members[:, cluster].argmax())
            refuge = int(self.costs[old].argmin())
            if not np.isfinite(self.costs[old, refuge]):
                continue
            for new in best[np.isfinite(saved[best].max(axis=1)) & (best != old)]:
                members = self.members.copy()
                members[new, saved[new].argmax()] = False
                members[old, cluster], members[old, refuge] = False, True
                members[new, cluster] = True
                trials.append(members)
        return trials

    def apply(self, swap: Swap) -> None:
        """Carry out a swap; savings and costs of its two clusters are stale from then on."""
        was_outlier = not self.members[swap.target[0]].any()
        self.members[swap.source] = False
        self.members[swap.target] = True
        becomes_outlier = not self.members[swap.source[0]].any()
        self.spare_outliers += int(was_outlier) - int(becomes_outlier)


def independent_swaps(exchange: Exchange, least_gain: float) -> float:
    """Carry out the best swaps that share no item and no cluster; return their total gain."""
    open_items = np.ones(len(exchange.members), dtype=bool)
    open_clusters = np.ones(exchange.members.shape[1], dtype=bool)
    total = 0.0
    while True:
        swap = exchange.best(open_items, open_clusters)
        if swap is None or swap.gain <= least_gain:
            return total
        exchange.apply(swap)
        total += swap.gain
        for item, cluster in (swap.source, swap.target):
            open_items[item] = open_clusters[cluster] = False


def _within(savings: FloatArray, costs: FloatArray, n: int) -> list[Swap]:
    """Return the best moves of one item from a cluster to another; its coverage stays."""
    sources, targets = savings.argmax(axis=1), costs.argmin(axis=1)
    items = np.arange(len(savings))
    (best,) = _largest(savings[items, sources] - costs[items, targets], n)
    return [
        Swap((p, q), (p, r), float(savings[p, q] - costs[p, r]))
        for p, q, r in zip(
            best.tolist(), sources[best].tolist(), targets[best].tolist(), strict=True
        )
    ]


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
        Swap((int(sources[q, i]), int(q)), (int(targets[r, j]), int(r)), float(gains[q, r, i, j]))
        for q, r, i, j in zip(*_largest(gains, n), strict=True)
    ]


def _best_items(values: FloatArray, depth: int) -> IntArray:
    """Return the items of the smallest values in each column, a line per column."""
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
