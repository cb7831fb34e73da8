"""Overlap models: what a membership costs, one file each. `OVERLAP_MODELS` names them."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil, isfinite
from numbers import Real

from neocc.core.overlap.average import Average
from neocc.core.overlap.repeat import REPEAT, Repeat
from neocc.core.overlap.scores import Scores
from neocc.core.overlap.sets import OverlapModel
from neocc.core.overlap.share import Share
from neocc.core.overlap.sum import Sum

__all__ = [
    "OVERLAP_MODELS",
    "REPEAT",
    "OverlapModel",
    "Scores",
    "bounded_model",
    "compared_models",
    "make_overlap_model",
]

OVERLAP_MODELS: dict[str, type[OverlapModel]] = {
    each.name: each for each in (Repeat, Share, Average, Sum)
}
"""All overlap models by name; each takes the largest number of memberships of an item."""

_USUAL_BOUND = 4
_SENSELESS = {("residue", "sum")}
# Of counts rates are multiplied, and prototypes cannot be combined.
_COUNTS = ("poisson", "diagonal", "modularity")


def compared_models(objective: str) -> list[str]:
    """Return the names of the models whose costs can be compared with each other.

    An item pays once in all of them; "share" costs at least what "average" does.
    """
    if objective in _COUNTS:
        return ["share"]
    return [name for name in ("average", "sum") if (objective, name) not in _SENSELESS]


def bounded_model(
    name: str, most: int | None, objective: str, overlaps: Iterable[object] = ()
) -> OverlapModel:
    """Return a model by name, bounded as usual where no bound is given.

    Sets of more than four clusters were never worth it, unless the overlap asks for about as many
    of every item; then they may have one more than that. The paper's model knows no bound.
    """
    if most is None and name != REPEAT.name:
        given = (float(each) for each in overlaps if isinstance(each, Real))
        most = max(_USUAL_BOUND, *(ceil(1.0 + each) + 1 for each in given if isfinite(each)), 0)
    return make_overlap_model(name, most, objective)


def make_overlap_model(name: str, most: int | None, objective: str) -> OverlapModel:
    """Return a model by name, bounded to so many memberships of an item.

    Row and column effects, which residues leave out, can be shared and averaged, but not added up.
    """
    if name not in OVERLAP_MODELS:
        listed = ", ".join(repr(each) for each in OVERLAP_MODELS)
        raise ValueError(f"overlap_model must be one of {listed}; got {name!r}.")
    if (objective, name) in _SENSELESS:
        raise ValueError(
            f"overlap_model={name!r} makes no sense for objective={objective!r}, whose clusters "
            "are patterns up to row and column offsets: take 'average', 'share' or 'repeat', or "
            "objective='mean'."
        )
    model = OVERLAP_MODELS[name](most)
    if objective in _COUNTS and model.mixed:
        raise ValueError(
            f"overlap_model={name!r} is not available for objective={objective!r}: clusters of "
            "counts have rates, which are not combined. Take 'share' or 'repeat'."
        )
    return model
