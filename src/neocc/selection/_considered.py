"""The rows and columns that numbers of clusters are chosen from: some of many, without outliers."""

from __future__ import annotations

from copy import deepcopy
from typing import NamedTuple

import numpy as np

from neocc._typing import IntArray
from neocc.core.engine import Engine
from neocc.core.objectives import MEAN, Side
from neocc.engines import Matrix
from neocc.selection._curves import SIDES
from neocc.selection._places import Asked
from neocc.selection._together import Looks, estimate_sides

__all__ = ["Outliers", "known_outliers", "sampled", "shortened", "without_items"]

# Items of the other side with so many values are described well enough.
_MOST_VALUES = 20_000
# A sample must still show clusters.
_ITEMS_PER_CLUSTER = 20
# Outliers are far from all groups, however many there are: these many groups are asked first, of no
# more than so many items, from so many starts.
_SOME_CLUSTERS, _SOME_ITEMS, _SOME_STARTS = 8, 2000, 2


class Outliers(NamedTuple):
    """Outliers of a side: their share, and which they are if all items were looked at."""

    share: float
    items: IntArray

    @property
    def unknown(self) -> float:
        """The share that a fit has to find."""
        return 0.0 if len(self.items) else self.share

    def if_left(self, n_items: int, least: int) -> Outliers:
        """Return them without saying which they are if the others are fewer than `least`."""
        enough = n_items - len(self.items) >= least
        return self if enough else Outliers(self.share, self.items[:0])

    def said(self, side: Side) -> str:
        """Say how many there are."""
        if len(self.items) == 1:
            return f"1 {side[:-1]} that looks like an outlier"
        some = (
            f"{len(self.items):,} {side}" if len(self.items) else f"{self.share:.1%} of the {side}"
        )
        return f"{some} that look like outliers"


def known_outliers(
    engine: Engine,
    outliers: tuple[float | None, float | None],
    rng: np.random.Generator,
    looks: Looks | None = None,
    *,
    n_some: int = _SOME_ITEMS,
) -> list[Outliers]:
    """Return outliers of both sides, found where their share is None: they follow no clusters.

    Of a side of more than `n_some` items so many are asked.
    """
    nobody = np.zeros(0, dtype=np.intp)
    if None not in outliers:
        return [Outliers(given or 0.0, nobody) for given in outliers]
    # What follows draws the same numbers, whether outliers were given or not.
    apart, shape = deepcopy(rng), engine.shape
    for side, n in zip(SIDES, shape, strict=True):
        if n > n_some:
            engine = engine.sample(side, np.sort(apart.choice(n, n_some, replace=False)))
    rows, columns = (
        Asked(min(_SOME_CLUSTERS, n), 0.0, given)
        for n, given in zip(engine.shape, outliers, strict=True)
    )
    asked = rows, columns
    estimates = estimate_sides(engine, MEAN, asked, apart, n_init=_SOME_STARTS, looks=looks)
    found = []
    for side, n, given in zip(SIDES, shape, outliers, strict=True):
        share, n_seen = estimates[side].outliers, estimates[side].n_items
        if given is not None:
            found.append(Outliers(given, nobody))
        elif n_seen < n:
            # There may be more than a sample shows.
            more = 2.0 * float(np.sqrt(share * (1.0 - share) / n_seen))
            found.append(Outliers(share + more, nobody))
        else:
            found.append(Outliers(share, np.flatnonzero(estimates[side].item_pairs == 0)))
    return found


def without_items(matrix: Matrix, outliers: list[Outliers]) -> Matrix:
    """Return a matrix without the items that are known to be outliers: a copy if there are any."""
    for side, n, each in zip(SIDES, matrix.shape, outliers, strict=True):
        if len(each.items):
            kept = np.delete(np.arange(n), each.items)
            matrix = matrix.take(kept) if side == "rows" else matrix.take_columns(kept)
    return matrix


def sampled(
    matrix: Matrix, max_entries: int | None, n_clusters: int, rng: np.random.Generator
) -> tuple[Matrix, list[str]]:
    """Return some rows of a matrix that has too many entries, and a note that says so."""
    if max_entries is None or matrix.n_stored <= max_entries:
        return matrix, []
    return _some_of(matrix, "rows", max_entries / matrix.n_stored, n_clusters, rng)


def shortened(
    matrix: Matrix, n_clusters: int, rng: np.random.Generator
) -> tuple[Matrix, list[str]]:
    """Return some rows of a matrix whose columns have more values than it takes, or vice versa."""
    notes = []
    for side, n_others in zip(SIDES, matrix.shape[::-1], strict=True):
        share = _MOST_VALUES * n_others / max(matrix.n_stored, 1)
        if share < 1.0:
            matrix, notes_of_side = _some_of(matrix, side, share, n_clusters, rng)
            notes += notes_of_side
    return matrix, notes


def _some_of(
    matrix: Matrix, side: Side, share: float, n_clusters: int, rng: np.random.Generator
) -> tuple[Matrix, list[str]]:
    n = matrix.shape[SIDES.index(side)]
    size = min(n, max(int(n * share), _ITEMS_PER_CLUSTER * n_clusters))
    items = np.sort(rng.choice(n, size=size, replace=False))
    some = matrix.take(items) if side == "rows" else matrix.take_columns(items)
    return some, [f"numbers of clusters suit a random sample of {size:,} of the {n:,} {side}."]
