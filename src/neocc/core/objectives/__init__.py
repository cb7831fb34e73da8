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
    "Centring",
    "Features",
    "Objective",
    "Side",
    "Terms",
    "block_means",
    "mean_rows",
]

OBJECTIVES: dict[str, Objective] = {each.name: each for each in (MEAN, RESIDUE, KMEANS)}
"""All objectives by name."""

COCLUSTERING = tuple(name for name in OBJECTIVES if name != KMEANS.name)
"""Names of those of both sides."""
