"""Overlap and outliers by the rules of the method's authors, within bounds."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone

from neocc.core.objectives import Side
from neocc.core.overlap import OverlapModel
from neocc.estimators._fractions import SIDES, Estimates, Sides, taken
from neocc.selection import estimate_overlap_and_outliers
from neocc.selection._together import Asked

__all__ = ["by_published_rule"]

# Two clusters count as one made twice if so many of those in either are in both.
_TOO_ALIKE = 0.6


def by_published_rule(
    model: Any, X: Any, rule: OverlapModel, strategy: str, asked: dict[Side, Asked]
) -> tuple[Estimates, Sides]:
    """Estimate overlap and outliers of each side by "first" or "second".

    They often find too much overlap: none is taken where a trial makes two clusters nearly equal.
    The method gives memberships to whom they cost least. Where rows differ much in weight, as users
    with few and with many ratings do, these are the lightest, which fit any cluster alike.
    """
    how: dict[str, Any] = {
        "strategy": strategy,
        "random_state": model.random_state,
        "n_jobs": model.n_jobs,
    }
    found = {
        side: estimate_overlap_and_outliers(X, each.n_clusters, axis=side, **how)
        for side, each in asked.items()
        if each.is_open
    }
    sides = taken(asked, found, rule)
    doubtful = [s for s in SIDES if asked[s].overlap is None and sides[s].overlap > 0]
    most = np.inf if rule.most is None else rule.most - 1.0
    for side in doubtful:
        sides[side] = sides[side]._replace(overlap=min(sides[side].overlap, most))
    if doubtful:
        trial = clone(model).set_params(n_init=1, refine=False)
        for side, each in sides.items():
            word = side[:-1]
            trial.set_params(
                **{
                    f"n_{word}_clusters": each.n_clusters,
                    f"{word}_overlap": each.overlap,
                    f"{word}_outliers": each.outliers,
                }
            )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            alike = trial.fit(X).redundancy_.sides
        for side in doubtful:
            if np.triu(alike[side], 1).max() >= _TOO_ALIKE:
                sides[side] = sides[side].disjoint
    return found, sides
