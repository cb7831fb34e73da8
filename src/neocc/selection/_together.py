"""Overlap and outliers of both sides, estimated together from co-clusters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from neocc.core.engine import Engine
from neocc.core.objectives import Objective, Side
from neocc.selection._overlap_estimate import OverlapEstimate
from neocc.selection._sharing import Sharing, shared
from neocc.selection._space import SIDES, Asked, Place, find_places

__all__ = ["Asked", "completed", "estimate_sides", "other_side"]

_MOST_MEMBERSHIPS = 4
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
    n_init: int = 6,
) -> dict[Side, OverlapEstimate]:
    """Estimate what is not given of the rows and the columns of an engine's data as given.

    No item has more than `most` memberships, nor more than four. The estimates are
    feasible: 0 <= outliers < 1 and -outliers <= overlap <= n_clusters - 1.
    """
    most = min(_MOST_MEMBERSHIPS, most or _MOST_MEMBERSHIPS)
    places = find_places(engine, objective, asked, rng, n_init)
    found = {}
    for side, wanted in zip(SIDES, asked, strict=True):
        n_most = most if wanted.overlap is None else 1
        sharing = shared(places[side], wanted.n_clusters, n_most, rng)
        found[side] = _estimate(side, places[side], sharing)
        if wanted.overlap is not None:
            found[side] = replace(found[side], overlap=wanted.overlap)
    return found


def completed(asked: Asked, estimate: OverlapEstimate) -> Asked:
    """Return what was asked for, with the fractions that were open."""
    overlap = estimate.overlap if asked.overlap is None else asked.overlap
    outliers = estimate.outliers if asked.outliers is None else asked.outliers
    return replace(asked, overlap=overlap, outliers=outliers)


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
