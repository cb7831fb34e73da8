"""What a result says: pure functions of memberships, means and distances."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neocc._typing import IntArray
from neocc.estimators._redundancy import ALIKE, alike_groups
from neocc.report._side import Side

__all__ = [
    "Combination",
    "Difference",
    "Group",
    "Outlier",
    "SideFacts",
    "combinations",
    "gather",
    "group_facts",
    "lookalikes",
    "outlier_facts",
]


# --------------------------------------------------------------------------------------- groups


@dataclass(frozen=True)
class Difference:
    """The mean of a group over a group of the other side, and what it is compared with."""

    other: int
    mean: float
    overall: float


@dataclass(frozen=True)
class Group:
    """What there is to say of a group.

    Attributes
    ----------
    cluster, size : int
        Its number, from 0, and how many members it has.
    n_shared : int
        How many of its members belong to other groups too.
    typical : tuple of (int, float or None)
        Members with their distances, the nearest first; where distances are not known, members in
        the order of the data.
    differences : tuple of Difference
        Where it differs from the rest, the largest difference first; of lifts, the highest.
    partners : tuple of (int, int)
        Groups that it shares members with, and how many; the most first.
    frequent : tuple of (int, float)
        Of counts: items of the other side that its members have more often than expected, with
        lifts; those that say most first.
    """

    cluster: int
    size: int
    n_shared: int
    typical: tuple[tuple[int, float | None], ...]
    differences: tuple[Difference, ...]
    partners: tuple[tuple[int, int], ...]
    frequent: tuple[tuple[int, float], ...] = ()


def group_facts(side: Side, cluster: int, n_typical: int, other_sizes: IntArray) -> Group:
    """Gather what there is to say of one group of a side, naming some of its members.

    `other_sizes` are those of the clusters of the other side: empty ones say nothing.
    """
    items = np.flatnonzero(side.members[:, cluster])
    shared = side.shared[cluster]
    by_count = np.argsort(-shared, kind="stable")
    return Group(
        cluster,
        len(items),
        int((side.weights[items] > 1).sum()),
        _typical(side, cluster, items, n_typical),
        _differences(side, cluster, other_sizes) if len(items) else (),
        tuple((int(c), int(shared[c])) for c in by_count if shared[c]),
        () if side.associations is None else side.associations.strongest(cluster, n_typical),
    )


def _typical(
    side: Side, cluster: int, items: IntArray, count: int
) -> tuple[tuple[int, float | None], ...]:
    count = min(count, len(items))
    if side.distances is None:
        return tuple((int(item), None) for item in items[:count])
    found = side.distances[items, cluster]
    nearest = np.argsort(found, kind="stable")[:count]
    return tuple((int(items[at]), float(found[at])) for at in nearest)


def _differences(side: Side, cluster: int, other_sizes: IntArray) -> tuple[Difference, ...]:
    if side.means is None:
        return ()
    means, overall = side.means[cluster], side.overall
    far = side.measure.position(means) - side.measure.position(overall)
    # Of ratios the high ones tell more: what is missing altogether is far below one anyway.
    far = far if side.measure.is_ratio else np.abs(far)
    known = other_sizes > 0 if side.cells is None else side.cells.observed[cluster] > 0
    return tuple(
        Difference(int(j), float(means[j]), float(overall[j]))
        for j in np.argsort(-far, kind="stable")
        if known[j]
    )


# ------------------------------------------------------------------------- overlaps and outliers


def lookalikes(side: Side, above: float = ALIKE) -> list[tuple[int, ...]]:
    """List groups of a side with nearly the same members: their Jaccard index is above a limit.

    Groups are listed together if a chain of such pairs links them.
    """
    return alike_groups(side.jaccard, above)


@dataclass(frozen=True)
class Combination:
    """Groups that share members, and the items that are in exactly these."""

    clusters: tuple[int, ...]
    items: IntArray


def combinations(side: Side) -> list[Combination]:
    """List which groups items belong to who belong to several, the most common first."""
    found = [
        Combination(segment.clusters, segment.items)
        for segment in side.arrangement.segments
        if segment.is_overlap
    ]
    return sorted(found, key=lambda one: (-len(one.items), one.clusters))


@dataclass(frozen=True)
class Outlier:
    """An item in no group.

    Attributes
    ----------
    item : int
        Its number, from 0.
    nearest : int or None
        The group nearest to it.
    distance : float or None
        How far it is from there.
    """

    item: int
    nearest: int | None
    distance: float | None


def outlier_facts(side: Side, most: int) -> list[Outlier]:
    """List items in no group, the farthest first; where distances are unknown, as in the data."""
    items = np.flatnonzero(side.weights == 0)
    if side.distances is None or not side.n_clusters:
        return [Outlier(int(item), None, None) for item in items[:most]]
    nearest = side.distances[items].argmin(axis=1)
    lengths = side.distances[items, nearest]
    farthest = np.argsort(-lengths, kind="stable")[:most]
    return [Outlier(int(items[at]), int(nearest[at]), float(lengths[at])) for at in farthest]


# ------------------------------------------------------------------------------------- together


@dataclass(frozen=True, eq=False)
class SideFacts:
    """All there is to say of one side.

    Attributes
    ----------
    side : Side
        The side.
    groups : list of Group
        Its groups by number; where there are too many, the largest ones.
    combinations : list of Combination
        Its most common overlaps.
    outliers : list of Outlier
        Its farthest outliers.
    """

    side: Side
    groups: list[Group]
    combinations: list[Combination]
    outliers: list[Outlier]


def gather(
    side: Side,
    other_sizes: IntArray,
    *,
    most_groups: int,
    n_typical: int,
    most_combinations: int,
    most_outliers: int,
) -> SideFacts:
    """Gather all there is to say of one side, up to so much of each kind."""
    largest = np.argsort(-side.sizes, kind="stable")[:most_groups]
    return SideFacts(
        side,
        [group_facts(side, each, n_typical, other_sizes) for each in sorted(largest.tolist())],
        combinations(side)[:most_combinations],
        outlier_facts(side, most_outliers),
    )
