"""What a result says: pure functions of memberships, means and distances."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from neocc._typing import BoolArray, FloatArray, IntArray
from neocc.estimators._redundancy import ALIKE, alike_groups, member_jaccard
from neocc.plot.arrange import Arrangement

__all__ = [
    "Combination",
    "Difference",
    "Group",
    "Outlier",
    "Side",
    "SideFacts",
    "combinations",
    "gather",
    "group_facts",
    "lookalikes",
    "outlier_facts",
]


@dataclass(frozen=True, eq=False)
class Side:
    """One clustered side of a matrix.

    Attributes
    ----------
    noun : str
        What the items are called, many of them: "rows", "genes".
    members : ndarray of shape (n_items, n_clusters), bool
        Who belongs where.
    arrangement : Arrangement
        The items in the order to show them.
    name : callable
        The name of an item.
    distances : ndarray of shape (n_items, n_clusters) or None
        What each membership adds, or would add, to the objective; None where that is not known.
    means : ndarray of shape (n_clusters, n_others) or None
        Means over the clusters of the other side, or over its items where it is not clustered.
    max_outliers : int or None
        How many items the fit was allowed to leave out; None where that is not known.
    repeats : bool
        Whether an item pays its distance to each of its clusters. Otherwise distances to single
        clusters do not tell how well one in several fits.
    """

    noun: str
    members: BoolArray
    arrangement: Arrangement
    name: Callable[[int], str]
    distances: FloatArray | None = None
    means: FloatArray | None = None
    max_outliers: int | None = None
    repeats: bool = True

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.members)

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(self.members.shape[1])

    @cached_property
    def sizes(self) -> IntArray:
        """Number of members of each cluster."""
        return np.asarray(self.members.sum(axis=0))

    @cached_property
    def weights(self) -> IntArray:
        """Number of clusters of each item."""
        return np.asarray(self.members.sum(axis=1))

    @cached_property
    def n_in(self) -> tuple[int, int, int]:
        """Number of items in exactly one cluster, in several, and in none."""
        counts = np.bincount(np.minimum(self.weights, 2), minlength=3)
        return int(counts[1]), int(counts[2]), int(counts[0])

    @cached_property
    def shared(self) -> IntArray:
        """Number of items that each pair of different clusters shares; zeros on the diagonal."""
        several = self.members[self.weights > 1].astype(np.float64)
        shared: IntArray = np.rint(several.T @ several).astype(np.intp)
        np.fill_diagonal(shared, 0)
        return shared

    @cached_property
    def jaccard(self) -> FloatArray:
        """Jaccard index of the members of each pair of clusters."""
        return member_jaccard(self.members)

    @cached_property
    def overall(self) -> FloatArray:
        """The mean of all clusters, each counted as often as it has members."""
        assert self.means is not None
        return np.asarray(self.sizes @ self.means / max(int(self.sizes.sum()), 1))

    @cached_property
    def limit(self) -> float:
        """The largest distance, of the items in clusters, to the nearest cluster.

        Those in several are left aside where they do not pay the distance to each.
        """
        assert self.distances is not None
        nearest = self.distances.min(axis=1, initial=np.inf)
        inside = self.weights > 0 if self.repeats else self.weights == 1
        return float(nearest[inside].max(initial=0.0))


# --------------------------------------------------------------------------------------- groups


@dataclass(frozen=True)
class Difference:
    """The mean of a group over a group of the other side, and what it is over all groups."""

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
        Where it differs from the rest, the largest difference first.
    partners : tuple of (int, int)
        Groups that it shares members with, and how many; the most first.
    """

    cluster: int
    size: int
    n_shared: int
    typical: tuple[tuple[int, float | None], ...]
    differences: tuple[Difference, ...]
    partners: tuple[tuple[int, int], ...]


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
    order = np.argsort(-np.abs(means - overall), kind="stable")
    return tuple(
        Difference(int(j), float(means[j]), float(overall[j])) for j in order if other_sizes[j]
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
