"""Overlap and outliers of both sides, estimated together from co-clusters."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from neocc._typing import BoolArray
from neocc.core.engine import Engine
from neocc.core.objectives import Objective, Side
from neocc.core.overlap import OverlapModel
from neocc.selection._astray import followers, rough_mixture, without_strays
from neocc.selection._overlap_estimate import OverlapEstimate
from neocc.selection._places import SIDES, Asked, Place
from neocc.selection._sharing import Sharing, shared
from neocc.selection._space import GROUP, find_places, seen_through, with_groups
from neocc.selection._stored import Looks, seen_by

__all__ = [
    "Asked",
    "Looks",
    "Taken",
    "completed",
    "estimate_sides",
    "is_estimated",
    "most_memberships",
    "other_side",
    "places_of",
]

_MOST_MEMBERSHIPS = 4
# Those left out are no outliers if so many of them are in groups.
_MOST_IN_GROUPS, _USUAL = 0.5, 0.9
_OTHER_CLUSTERS = 8


def other_side(n_clusters: int, n_items: int) -> Asked:
    """Return what to ask of a side that is only to describe the other one: many small clusters."""
    return Asked(min(n_items, max(_OTHER_CLUSTERS, 2 * n_clusters)), overlap=0.0)


def estimate_sides(
    engine: Engine,
    objective: Objective,
    asked: tuple[Asked, Asked],
    rng: np.random.Generator,
    *,
    most: int | None = None,
    n_init: int = 4,
    looks: Looks | None = None,
) -> dict[Side, OverlapEstimate]:
    """Estimate what is not given of the rows and the columns of an engine's data as given.

    No item has more than `most` memberships, nor more than four. The estimates are
    feasible: 0 <= outliers < 1 and -outliers <= overlap <= n_clusters - 1. How data were
    seen before is taken from `looks`.
    """
    most = min(_MOST_MEMBERSHIPS, most or _MOST_MEMBERSHIPS)
    objective, places = _seen(engine, objective, asked, rng, n_init, looks)
    found: dict[Side, OverlapEstimate] = {}
    members: BoolArray | None = None
    # That of more items comes first: its clusters show the other side with less noise.
    for i in sorted((0, 1), key=lambda i: -engine.shape[i]):
        side, wanted = SIDES[i], asked[i]
        n_most = most if wanted.overlap is None else 1
        place = places[side]
        if members is not None:
            place = seen_through(engine, objective, side, place, members)
        before = place
        place, sharing = _shared(place, wanted, n_most, rng)
        if place is not before:
            # Items that follow no cluster may follow one of their own.
            strays = {**places, side: place}
            again = _without_groups(engine, objective, asked, strays, [side], rng)[side]
            if again is not place:
                place, sharing = again, shared(again, wanted.n_clusters, n_most, rng)
        members = sharing.members if n_most > 1 and sharing.mixture is not None else None
        found[side] = _estimate(side, place, sharing)
        if wanted.overlap is not None:
            found[side] = replace(found[side], overlap=wanted.overlap)
    return {side: found[side] for side in SIDES}


def places_of(
    engine: Engine,
    objective: Objective,
    asked: tuple[Asked, Asked],
    rng: np.random.Generator,
    n_init: int = 4,
    looks: Looks | None = None,
) -> dict[Side, Place]:
    """Find where items are among prototypes; zeros that tell nothing are not looked at."""
    return _seen(engine, objective, asked, rng, n_init, looks)[1]


def _seen(
    engine: Engine,
    objective: Objective,
    asked: tuple[Asked, Asked],
    rng: np.random.Generator,
    n_init: int,
    looks: Looks | None,
) -> tuple[Objective, dict[Side, Place]]:
    """Return the objective by which data are seen, and where items are then."""
    counts = [each.counts(n) for each, n in zip(asked, engine.shape, strict=True)]
    objective, start = seen_by(engine, objective, (counts[0], counts[1]), rng, looks)
    places = find_places(engine, objective, asked, rng, n_init, start)
    doubtful = [
        side
        for side, wanted in zip(SIDES, asked, strict=True)
        if wanted.outliers is None and places[side].outlying.items.any()
    ]
    return objective, _without_groups(engine, objective, asked, places, doubtful, rng)


def _shared(
    place: Place, asked: Asked, most: int, rng: np.random.Generator
) -> tuple[Place, Sharing]:
    """Compare explanations without items that follow no clusters."""
    found, is_open = place, asked.outliers is None
    if is_open and (most == 1 or place.outlying.items.any()):
        rough = rough_mixture(place, most, rng)
        found = place if rough is None else followers(place, rough, rng)
    sharing = shared(found, asked.n_clusters, most, rng)
    if is_open and sharing.mixture is not None:
        again = without_strays(place, sharing.mixture)
        if not np.array_equal(again.outlying.items, found.outlying.items):
            found = followers(place, sharing.mixture, rng)
            sharing = shared(found, asked.n_clusters, most, rng)
    return found, sharing


def _without_groups(
    engine: Engine,
    objective: Objective,
    asked: tuple[Asked, Asked],
    places: dict[Side, Place],
    doubtful: list[Side],
    rng: np.random.Generator,
) -> dict[Side, Place]:
    """Return places in which items left out are no outliers if they are groups of their own.

    The fit is made again with nobody left out on the doubtful sides: it begins with clusters of
    these in addition to the others. Both are compared.
    """
    if not doubtful:
        return places
    rows, columns = (
        replace(wanted, outliers=0.0) if side in doubtful else wanted
        for side, wanted in zip(SIDES, asked, strict=True)
    )
    U, V = (
        with_groups(engine, s, places[s], wanted.n_generous(n) * (s in doubtful), rng)
        for s, wanted, n in zip(SIDES, asked, engine.shape, strict=True)
    )
    again = find_places(engine, objective, (rows, columns), rng, 1, (U, V))
    grouped = [side for side in doubtful if _grouped(places[side], again[side])]
    return {**places, **{side: again[side] for side in grouped}}


def _grouped(place: Place, again: Place) -> bool:
    """Return whether clusters of several items explain those that a fit without them left out.

    That is so if most of them are then no farther from everything than most others are.
    """
    out = place.outlying.items
    home = again.to(again.prototypes).argmin(axis=1)
    sizes = np.bincount(home, minlength=len(again.prototypes))
    explained = again.left[out] <= np.quantile(again.left[~out], _USUAL)
    return bool(np.mean(explained & (sizes[home[out]] >= GROUP)) > _MOST_IN_GROUPS)


def most_memberships(
    model: OverlapModel, overlaps: tuple[float | None, float | None]
) -> tuple[int, int]:
    """Return how many memberships items of each side may have; an overlap of None may be any."""
    several = min(_MOST_MEMBERSHIPS, model.most or _MOST_MEMBERSHIPS)
    rows, columns = (several if each is None or each > 0 else 1 for each in overlaps)
    return rows, columns if model.both_sides else 1


def is_estimated(objective: Objective) -> bool:
    """Return whether overlap and outliers are estimated: where all cells have squared errors."""
    return not (objective.of_counts or objective.needs_counts)


class Taken(NamedTuple):
    """What a fit asks of a side."""

    n_clusters: int
    overlap: float
    outliers: float

    @property
    def disjoint(self) -> Taken:
        """The same without overlap: memberships that outliers leave free are nobody's."""
        return self._replace(overlap=0.0 - self.outliers)


def completed(asked: Asked, estimate: OverlapEstimate | None) -> Taken:
    """Return what was asked for, with the fractions that were open; none without an estimate.

    Where overlap was said to be none, memberships that outliers found here leave free are nobody's.
    """
    outliers = asked.outliers
    if outliers is None:
        outliers = 0.0 if estimate is None else estimate.outliers
    overlap = asked.overlap
    if overlap is None:
        overlap = 0.0 - outliers if estimate is None else estimate.overlap
    taken = Taken(asked.n_clusters, overlap, outliers)
    return taken.disjoint if asked.overlap == 0 and asked.outliers is None else taken


def _estimate(side: Side, place: Place, sharing: Sharing) -> OverlapEstimate:
    members, outliers = sharing.members, place.outlying
    n, k = members.shape
    d = place.to(sharing.prototypes)
    home = d.argmin(axis=1)
    ordered = np.partition(d, min(1, k - 1), axis=1)
    n_pairs, n_outliers = int(members.sum()), int(outliers.items.sum())
    return OverlapEstimate(
        overlap=(n_pairs - n) / n,
        outliers=n_outliers / n,
        side=side,
        strategy="mixture",
        count_home=True,
        delta_overlap=float("nan"),
        delta_outliers=float("nan"),
        n_items=n,
        n_clusters=k,
        n_pairs=n_pairs,
        n_home=int(np.count_nonzero(members[np.arange(n), home])),
        n_outliers=n_outliers,
        overlap_thresholds=np.full(k, np.nan),
        outlier_threshold=outliers.threshold,
        cluster_sizes=np.bincount(home, minlength=k),
        cluster_pairs=np.asarray(members.sum(axis=0), dtype=np.intp),
        item_pairs=np.asarray(members.sum(axis=1), dtype=np.intp),
        nearest=ordered[:, 0],
        second_nearest=ordered[:, min(1, k - 1)],
        left=np.sqrt(place.left),
        gain=sharing.gain,
        margin=sharing.margin,
        references=sharing.references,
        path=sharing.path * np.array([[(n - n_outliers) / n], [1.0]]),
    )
