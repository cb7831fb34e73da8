"""Objectives: what a block costs, one file each. `OBJECTIVES` is the only place that names them."""

from __future__ import annotations

from dataclasses import replace

from neocc.core.objectives.base import Centring, Features, Objective, Side, Terms
from neocc.core.objectives.counts import CountObjective
from neocc.core.objectives.diagonal import DIAGONAL
from neocc.core.objectives.kmeans import KMEANS, mean_rows
from neocc.core.objectives.mean import MEAN, block_means
from neocc.core.objectives.modularity import MODULARITY
from neocc.core.objectives.poisson import POISSON
from neocc.core.objectives.residue import RESIDUE

__all__ = [
    "COCLUSTERING",
    "COUNTS",
    "KMEANS",
    "MODULARITY",
    "OBJECTIVES",
    "Centring",
    "CountObjective",
    "Features",
    "Objective",
    "Side",
    "Terms",
    "block_means",
    "make_objective",
    "mean_rows",
]

OBJECTIVES: dict[str, Objective] = {
    each.name: each for each in (MEAN, RESIDUE, KMEANS, POISSON, DIAGONAL, MODULARITY)
}
"""All objectives by name."""

COUNTS = tuple(name for name, each in OBJECTIVES.items() if each.of_counts)
"""Names of those of counts."""

COCLUSTERING = tuple(name for name in OBJECTIVES if name != KMEANS.name and name not in COUNTS)
"""Names of those of both sides that are squared differences."""


def make_objective(name: str, prior: float = 1.0) -> Objective:
    """Return an objective by name; those of counts have a prior."""
    found = OBJECTIVES[name]
    return replace(found, prior=prior) if isinstance(found, CountObjective) else found
