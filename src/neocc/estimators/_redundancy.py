"""Clusters that nearly coincide: how alike the members of each pair are, and a warning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.sparse.csgraph import connected_components
from sklearn.utils.validation import check_is_fitted

from neocc._typing import BoolArray, FloatArray
from neocc._warn import warn
from neocc.estimators._fitted import can_average

__all__ = [
    "ALIKE",
    "AlikePair",
    "Redundancy",
    "RedundancyMixin",
    "RedundancyWarning",
    "alike_groups",
    "alike_pairs",
    "member_jaccard",
]

ALIKE = 0.9
"""Clusters whose Jaccard index is above this nearly coincide."""

# Cells of memberships that are copied as numbers at a time.
_CHUNK = 1 << 18
_MOST_NAMED = 20
_MOST_PRINTED = 10


class RedundancyWarning(UserWarning):
    """Some clusters of a fit have nearly the same members.

    Examples
    --------
    >>> import warnings
    >>> from neocc import NEOKMeans, RedundancyWarning
    >>> model = NEOKMeans(n_clusters=2, overlap=1.0, random_state=0)
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", RedundancyWarning)
    ...     membership = model.fit([[0.0], [0.1], [9.0]]).membership_
    >>> bool(membership.all())
    True
    """


class AlikePair(NamedTuple):
    """Two clusters of a side, and the Jaccard index of their members."""

    one: int
    other: int
    jaccard: float


@dataclass(frozen=True, eq=False)
class Redundancy:
    """How far the clusters of a fit coincide; `print` it for a summary.

    Attributes
    ----------
    rows : ndarray of shape (n_row_clusters, n_row_clusters)
        Jaccard index of the members of each pair of clusters: the number of rows in both, divided
        by the number in either. 1 on the diagonal; 0 for an empty cluster, also with itself.
    columns : ndarray of shape (n_column_clusters, n_column_clusters) or None
        The same of the column clusters; None where columns are not clustered.

    Examples
    --------
    >>> from neocc import NEOKMeans
    >>> X = [[0.0], [0.1], [9.0], [9.2]]
    >>> model = NEOKMeans(n_clusters=2, overlap=0.5, random_state=0).fit(X)
    >>> model.redundancy_.rows
    array([[1. , 0.5],
           [0.5, 1. ]])
    >>> model.redundancy_.pairs(above=0.4)["rows"]
    [AlikePair(one=0, other=1, jaccard=0.5)]
    >>> print(model.redundancy_)
    rows: 2 clusters, no two nearly the same (largest Jaccard index 0.500, of 0 and 1)
    """

    rows: FloatArray
    columns: FloatArray | None = None

    @property
    def sides(self) -> dict[str, FloatArray]:
        """The tables of the sides that are clustered."""
        every = {"rows": self.rows, "columns": self.columns}
        return {side: table for side, table in every.items() if table is not None}

    def pairs(self, above: float = ALIKE) -> dict[str, list[AlikePair]]:
        """List the pairs of clusters more alike than a limit, the most alike first.

        Parameters
        ----------
        above : float, default=0.9
            The limit that the Jaccard index of a pair exceeds.

        Returns
        -------
        pairs : dict
            A list of pairs, each with its Jaccard index, for `"rows"` and for `"columns"`.
        """
        return {side: alike_pairs(table, above) for side, table in self.sides.items()}

    def __str__(self) -> str:
        return "\n".join(_summary(side, table) for side, table in self.sides.items())


def member_jaccard(members: BoolArray) -> FloatArray:
    """Return |a and b| / |a or b| of the members of all pairs of clusters, 0 for empty ones."""
    sizes = members.sum(axis=0).astype(np.float64)
    both = np.diag(sizes)
    several = np.flatnonzero(members.sum(axis=1) > 1)
    # Those in one cluster alone add to the diagonal only.
    step = max(1, _CHUNK // max(1, members.shape[1]))
    for start in range(0, len(several), step):
        some = members[several[start : start + step]].astype(np.float64)
        both += some.T @ some
    np.fill_diagonal(both, sizes)
    either = sizes[:, None] + sizes - both
    table: FloatArray = np.divide(both, either, out=np.zeros_like(both), where=either > 0)
    return table


def alike_pairs(table: FloatArray, above: float = ALIKE) -> list[AlikePair]:
    """List the pairs of clusters with a larger Jaccard index, the most alike first."""
    ones, others = np.nonzero(np.triu(table > above, 1))
    values = table[ones, others]
    order = np.argsort(-values, kind="stable")
    return [AlikePair(int(ones[i]), int(others[i]), float(values[i])) for i in order]


def alike_groups(table: FloatArray, above: float = ALIKE) -> list[tuple[int, ...]]:
    """List clusters that are alike, together if a chain of such pairs links them."""
    alike = np.triu(table > above, 1)
    n_kinds, kinds = connected_components(alike, directed=False)
    found = [tuple(np.flatnonzero(kinds == kind).tolist()) for kind in range(n_kinds)]
    return sorted(clusters for clusters in found if len(clusters) > 1)


class RedundancyMixin:
    """What estimators with overlapping clusters say of those that nearly coincide."""

    _row_members: BoolArray
    overlap_model: str

    @property
    def redundancy_(self) -> Redundancy:
        """How far clusters coincide: Jaccard indices of all pairs of each side."""
        check_is_fitted(self)
        columns: BoolArray | None = getattr(self, "_column_members", None)
        return Redundancy(
            member_jaccard(self._row_members), None if columns is None else member_jaccard(columns)
        )

    def _warn_if_redundant(self) -> None:
        names = ("labels_", "row_labels_", "column_labels_")
        labels = [getattr(self, name) for name in names if hasattr(self, name)]
        members = [self._row_members, getattr(self, "_column_members", self._row_members[:0])]
        if sum(map(np.count_nonzero, members)) == sum(np.count_nonzero(at >= 0) for at in labels):
            return  # each item is in one cluster at most
        _warn(self.redundancy_, can_average(self))


def _warn(found: Redundancy, advise_averages: bool) -> None:
    """Warn of clusters with nearly the same members, once for each side."""
    for side, table in found.sides.items():
        groups = alike_groups(table)
        if not groups:
            continue
        word = "Clusters" if found.columns is None else f"{side[:-1].capitalize()} clusters"
        remedy = 'overlap_model="average"' if advise_averages else "less overlap"
        warn(
            f"{word} {'; '.join(map(_listed, groups[:_MOST_NAMED]))} nearly coincide: the Jaccard "
            f"index of their members is above {ALIKE}. Ask for fewer clusters, or for {remedy}; "
            "redundancy_ has all pairs.",
            RedundancyWarning,
        )


def _listed(clusters: tuple[int, ...]) -> str:
    if len(clusters) > _MOST_NAMED:
        named = ", ".join(map(str, clusters[:_MOST_NAMED]))
        return f"{named} and {len(clusters) - _MOST_NAMED} more"
    return f"{', '.join(map(str, clusters[:-1]))} and {clusters[-1]}"


def _summary(side: str, table: FloatArray) -> str:
    title = f"{side}: {len(table)} cluster{'' if len(table) == 1 else 's'}"
    pairs = alike_pairs(table)
    if not pairs:
        nearest = alike_pairs(table, above=0.0)[:1]
        if not nearest:
            return f"{title}, no two share a member"
        one, other, value = nearest[0]
        return (
            f"{title}, no two nearly the same (largest Jaccard index {value:.3f}, of {one} and "
            f"{other})"
        )
    lines = [f"{title}; nearly the same: {'; '.join(map(_listed, alike_groups(table)))}"]
    lines += [f"  {one} and {other}: {value:.3f}" for one, other, value in pairs[:_MOST_PRINTED]]
    if len(pairs) > _MOST_PRINTED:
        lines.append(f"  and {len(pairs) - _MOST_PRINTED} more pairs above {ALIKE}")
    return "\n".join(lines)
