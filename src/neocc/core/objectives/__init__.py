"""Objectives: what a block costs, one file each. `OBJECTIVES` is the only place that names them."""

from __future__ import annotations

from neocc.core.objectives.base import Centring, Features, Objective, Side, Terms
from neocc.core.objectives.kmeans import KMEANS, mean_rows
from neocc.core.objectives.mean import MEAN, block_means
from neocc.core.objectives.residue import RESIDUE

__all__ = [
    "COCLUSTERING",
    "KMEANS",
    "OBJECTIVES",
    "OUTLIER_COSTS",
    "Centring",
    "Features",
    "Objective",
    "Side",
    "Terms",
    "block_means",
    "make_objective",
    "mean_rows",
]

OBJECTIVES: dict[str, Objective] = {each.name: each for each in (MEAN, RESIDUE, KMEANS)}
"""All objectives by name."""

COCLUSTERING = tuple(name for name in OBJECTIVES if name != KMEANS.name)
"""Names of those of both sides."""

OUTLIER_COSTS = ("zero", "background", "auto")


def make_objective(name: str, outlier_cost: str = "auto") -> Objective:
    """Return an objective by name, given what an item in no cluster costs.

    It costs nothing unless that is asked for: "auto" is the paper's choice for squared errors.
    """
    objective = OBJECTIVES[name]
    if outlier_cost not in OUTLIER_COSTS:
        listed = ", ".join(repr(each) for each in OUTLIER_COSTS)
        raise ValueError(f"outlier_cost must be one of {listed}; got {outlier_cost!r}.")
    if outlier_cost != "background":
        return objective
    if not objective.has_background:
        raise ValueError(
            f"outlier_cost='background' makes no sense for objective={name!r}: without clusters "
            "there are no offsets either, which a row or column is compared up to. Take 'zero', or "
            "objective='mean'."
        )
    return objective.against_background()
