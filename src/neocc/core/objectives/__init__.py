"""Objectives: what a block costs, one file each. `OBJECTIVES` is the only place that names them."""

from __future__ import annotations

from neocc.core.objectives.base import Centring, Features, Objective, Rise, Side, Terms
from neocc.core.objectives.kmeans import KMEANS, mean_rows
from neocc.core.objectives.mean import MEAN, block_means
from neocc.core.objectives.observed import Observed
from neocc.core.objectives.residue import RESIDUE

__all__ = [
    "COCLUSTERING",
    "KMEANS",
    "MEAN",
    "OBJECTIVES",
    "Centring",
    "Features",
    "Objective",
    "Observed",
    "Rise",
    "Side",
    "Terms",
    "block_means",
    "find_objective",
    "mean_rows",
]

OBJECTIVES: dict[str, Objective] = {each.name: each for each in (MEAN, RESIDUE, KMEANS)}
"""All objectives by name."""

COCLUSTERING = tuple(name for name in OBJECTIVES if name != KMEANS.name)
"""Names of those of both sides."""

_OF_OBSERVED: dict[str, type[Observed]] = {Observed.name: Observed}


def find_objective(name: str, missing: str = "zero", shrinkage: float = 0.0) -> Objective:
    """Return an objective by name, over all cells or, if missing ones are ignored, observed ones.

    Over observed cells costs are relative to a background, or else those who have most of them
    would be left out first, and block means are shrunk.
    """
    if missing == "zero":
        return OBJECTIVES[name]
    if name not in _OF_OBSERVED:
        listed = " or ".join(repr(each) for each in _OF_OBSERVED)
        raise ValueError(
            f"missing={missing!r} is known for objective={listed} only; got {name!r}. Fill the "
            "missing cells, or take that objective."
        )
    return _OF_OBSERVED[name](shrinkage=shrinkage).against_background()
