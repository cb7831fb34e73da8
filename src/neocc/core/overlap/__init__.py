"""Overlap models: what a membership costs, one file each. `OVERLAP_MODELS` names them."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil, isfinite
from numbers import Real

from neocc._counts import Counts
from neocc.core.objectives import BY_KIND, COCLUSTERING, COUNTS, OBJECTIVES, Objective
from neocc.core.overlap.average import Average
from neocc.core.overlap.blend import Blend, BlendedSum
from neocc.core.overlap.either import Either, followed_clusters, following, in_pieces
from neocc.core.overlap.model import OverlapModel
from neocc.core.overlap.repeat import REPEAT, Repeat
from neocc.core.overlap.scores import Scores, nearest_among
from neocc.core.overlap.share import Share
from neocc.core.overlap.sum import Sum

__all__ = [
    "OVERLAP_MODELS",
    "REPEAT",
    "STORED_MODELS",
    "OverlapModel",
    "Scores",
    "bounded_model",
    "check_columns",
    "compared_models",
    "cost_of_outliers",
    "followed_clusters",
    "following",
    "in_pieces",
    "make_overlap_model",
    "nearest_among",
]

OVERLAP_MODELS: dict[str, type[OverlapModel]] = {
    each.name: each for each in (Repeat, Share, Average, Sum, Either)
}
"""All overlap models by name; each takes the largest number of memberships of an item."""

STORED_MODELS: dict[str, type[OverlapModel]] = {
    **OVERLAP_MODELS,
    **{each.key: each for each in (Blend, BlendedSum)},
}
"""The same by what files call them, with those that stand in for others."""

_USUAL_BOUND = 4
_COMPARED = ("average", "sum", "either")
_BLENDS: dict[str, type[OverlapModel]] = {each.name: each for each in (Blend, BlendedSum)}


def compared_models(objective: str, columns: Counts | None = None) -> list[str]:
    """Return the names of the models whose costs can be compared; the first is taken in doubt.

    An item pays once in all of them; "share" costs at least what "average" does. Of few observed
    cells a row that follows what fits them best explains more, whether or not it follows anything;
    and so does a row that may follow another cluster in each column.
    """
    asked = BY_KIND[objective]
    found = [
        model.name
        for model in (OVERLAP_MODELS[name]() for name in _COMPARED)
        if asked.refusal(model) is None
        and model.name not in asked.freed_by
        and (model.both_sides or columns is None or columns.n_extra <= 0)
    ]
    return found or [Share.name]


def check_columns(model: OverlapModel, has_several: bool) -> None:
    """Refuse columns of several clusters where the model is one of rows alone."""
    if has_several and not model.both_sides:
        raise ValueError(
            f"overlap_model={model.name!r} needs columns of one cluster each, in which rows follow "
            "one of theirs: column_overlap must be 0, or minus column_outliers if columns may be "
            "left out. Exchange rows and columns if it is the columns that overlap."
        )


def bounded_model(
    name: str, most: int | None, objective: str, overlaps: Iterable[object] = ()
) -> OverlapModel:
    """Return a model by name, bounded as usual where no bound is given.

    Sets of more than four clusters were never worth it, unless the overlap asks for about as many
    of every item; then they may have one more than that. The paper's model knows no bound.
    """
    if most is None and name in BY_KIND[objective].blended_by:
        most = 2
    elif most is None and name != REPEAT.name:
        given = (float(each) for each in overlaps if isinstance(each, Real))
        most = max(_USUAL_BOUND, *(ceil(1.0 + each) + 1 for each in given if isfinite(each)), 0)
    return make_overlap_model(name, most, objective)


def make_overlap_model(name: str, most: int | None, objective: str) -> OverlapModel:
    """Return a model by name, bounded to so many memberships of an item."""
    if name not in OVERLAP_MODELS:
        listed = ", ".join(repr(each) for each in OVERLAP_MODELS)
        raise ValueError(f"overlap_model must be one of {listed}; got {name!r}.")
    asked = BY_KIND[objective]
    model = OVERLAP_MODELS[name](most)
    if (refusal := asked.refusal(model)) is not None:
        instead = _instead(asked, model)
        raise ValueError(f"overlap_model={name!r} makes no sense {refusal}: take {instead}.")
    if name in asked.blended_by:
        if most is not None and most > 2:
            raise ValueError(
                f"max_memberships={most} is too many for overlap_model={name!r} of counts or "
                "observed cells, where every pair of clusters has a cost of its own: use 2."
            )
        return _BLENDS[name](min(most or 2, 2))
    return model


def _instead(asked: Objective, refused: OverlapModel) -> str:
    """Name the models that make sense for an objective, then objectives for the model refused."""
    models = [repr(m.name) for m in OVERLAP_MODELS.values() if asked.refusal(m()) is None]
    last, *others = models
    alike = COUNTS if asked.of_counts else COCLUSTERING
    named = [f", or objective={o!r}" for o in alike if OBJECTIVES[o].refusal(refused) is None]
    return f"{', '.join(reversed(others))} or {last}{''.join(named)}"


def cost_of_outliers(overlap_model: str, *, overlaps: bool, left_out: bool) -> str:
    """Return what "auto" means for observed cells.

    Where no item is left out, every membership that is repeated pays in full, as elsewhere; an item
    that pays once does so either way.
    """
    repeats = overlap_model == REPEAT.name and overlaps
    return "zero" if repeats and not left_out else "background"
