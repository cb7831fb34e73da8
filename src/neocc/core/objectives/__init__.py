"""Objectives: what a block costs, one file each. `OBJECTIVES` is the only place that names them."""

from __future__ import annotations

from dataclasses import replace

from neocc.core.objectives.base import (
    BlockSums,
    Centring,
    Features,
    Objective,
    Pair,
    Rise,
    Side,
    Terms,
)
from neocc.core.objectives.counts import CountObjective
from neocc.core.objectives.diagonal import DIAGONAL
from neocc.core.objectives.kmeans import KMEANS, mean_rows
from neocc.core.objectives.mean import MEAN, block_means
from neocc.core.objectives.modularity import MODULARITY
from neocc.core.objectives.observed import Observed
from neocc.core.objectives.poisson import POISSON
from neocc.core.objectives.residue import RESIDUE

__all__ = [
    "BY_KIND",
    "COCLUSTERING",
    "COUNTS",
    "KMEANS",
    "MEAN",
    "MODULARITY",
    "OBJECTIVES",
    "OUTLIER_COSTS",
    "POISSON",
    "BlockSums",
    "Centring",
    "CountObjective",
    "Features",
    "Objective",
    "Observed",
    "Pair",
    "Rise",
    "Side",
    "Terms",
    "block_means",
    "make_objective",
    "mean_rows",
    "over_observed",
]

OBJECTIVES: dict[str, Objective] = {
    each.name: each for each in (MEAN, RESIDUE, KMEANS, POISSON, DIAGONAL, MODULARITY)
}
"""All objectives by name."""

BY_KIND: dict[str, Objective] = {each.kind: each for each in (*OBJECTIVES.values(), Observed())}
"""The same by what overlap models know them by, and that of observed cells."""

COUNTS = tuple(name for name, each in OBJECTIVES.items() if each.of_counts)
"""Names of those of counts."""

COCLUSTERING = tuple(name for name in OBJECTIVES if name != KMEANS.name and name not in COUNTS)
"""Names of those of both sides that are squared differences."""

OUTLIER_COSTS = ("zero", "background", "auto")


def over_observed(objective: Objective) -> Objective | None:
    """Return what compares observed cells as an objective does all cells; None if nothing does."""
    return Observed() if objective.name == Observed.name else None


def make_objective(
    name: str,
    outlier_cost: str = "auto",
    *,
    prior: float = 1.0,
    missing: str = "zero",
    shrinkage: float = 0.0,
) -> Objective:
    """Return an objective by name, given what an item in no cluster costs.

    "auto" is the paper's choice for squared errors, zero; of counts, and over observed cells (those
    that are not `missing`), costs are relative to a background, or else those who have most would
    be left out first. Rates of counts have a `prior`, means of observed cells a `shrinkage`.
    """
    if outlier_cost not in OUTLIER_COSTS:
        listed = ", ".join(repr(each) for each in OUTLIER_COSTS)
        raise ValueError(f"outlier_cost must be one of {listed}; got {outlier_cost!r}.")
    found = OBJECTIVES[name]
    if missing != "zero":
        if name != Observed.name:
            raise ValueError(
                f"missing={missing!r} is known for objective={Observed.name!r} only; got {name!r}. "
                "Fill the missing cells, or use that objective."
            )
        observed = Observed(shrinkage=shrinkage)
        return observed if outlier_cost == "zero" else observed.against_background()
    if isinstance(found, CountObjective):
        if outlier_cost == "zero":
            raise ValueError(
                f"outlier_cost='zero' makes no sense for objective={name!r}: costs of counts are "
                "relative to independence, the background. Use 'background' or 'auto'."
            )
        return replace(found, prior=prior)
    return found.against_background() if outlier_cost == "background" else found
