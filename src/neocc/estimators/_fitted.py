"""How a fitted model combines several memberships: one place for all that explain cells by it."""

from __future__ import annotations

from typing import Any

import numpy as np

from neocc._typing import BoolArray, FloatArray
from neocc.core.objectives import KMEANS, Objective, Side, make_objective
from neocc.core.overlap import (
    OVERLAP_MODELS,
    REPEAT,
    STORED_MODELS,
    OverlapModel,
    compared_models,
    cost_of_outliers,
    following,
    in_pieces,
)
from neocc.kernels import Memberships

__all__ = ["asked_objective", "can_average", "last_step", "memberships"]
__all__ += ["used_overlap_model", "weigh", "weights_of"]


def last_step(model: Any) -> str:
    """Return what to add to a refusal: of a pipeline the last step is the model."""
    return "; of a pipeline give the last step, pipeline[-1]" if hasattr(model, "steps") else ""


def memberships(model: Any) -> tuple[BoolArray, BoolArray | None]:
    """Return the memberships of rows and of columns (None where only rows were clustered)."""
    if hasattr(model, "row_membership_"):
        return model.row_membership_, model.column_membership_
    if hasattr(model, "membership_"):
        return model.membership_, None
    if hasattr(model, "row_labels_"):
        k, l = model.block_means_.shape  # noqa: E741
        return model.row_labels_[:, None] == range(k), model.column_labels_[:, None] == range(l)
    raise ValueError(f"{type(model).__name__} has no memberships. Fit it first.")


def used_overlap_model(model: Any) -> OverlapModel:
    """Return the overlap model that a fit used; models without overlap repeat nothing."""
    used = getattr(model, "_row_model", None)
    if used is None:
        return REPEAT
    return STORED_MODELS[used.overlap_model](used.max_memberships)


def asked_objective(model: Any) -> Objective:
    """Return the objective that the parameters of an estimator ask for; one-way ones have one."""
    names = ("outlier_cost", "prior", "missing", "shrinkage")
    given = {name: getattr(model, name) for name in names if hasattr(model, name)}
    if given.get("missing") == "ignore" and given["outlier_cost"] == "auto":
        left_out = (model.row_outliers, model.column_outliers) != (0.0, 0.0)
        overlaps = (model.row_overlap, model.column_overlap) != (0.0, 0.0)
        given["outlier_cost"] = cost_of_outliers(
            model.overlap_model, overlaps=overlaps, left_out=left_out
        )
    return make_objective(getattr(model, "objective", KMEANS.name), **given)


def can_average(model: Any) -> bool:
    """Whether a fit could have been one of means of clusters, and is not."""
    if not hasattr(model, "overlap_model") or used_overlap_model(model).averages:
        return False
    compared = compared_models(asked_objective(model).kind)
    return any(OVERLAP_MODELS[name]().averages for name in compared)


def weights_of(model: Any) -> tuple[FloatArray | None, FloatArray | None]:
    """Return the weights that rows and columns had in a fit."""
    found: tuple[FloatArray | None, FloatArray | None] = getattr(model, "_weights", (None, None))
    return found


def weigh(model: Any, members: BoolArray, side: Side = "rows") -> Memberships:
    """Return memberships as they count in the sums of a fit: all rows, or all columns."""
    given, followed = Memberships.from_dense(members), getattr(model, "followed_", None)
    weights = weights_of(model)[0 if side == "rows" else 1]
    if weights is not None and not asked_objective(model).weighs_data:
        given = given.weighing(weights)
    if followed is not None and len(given.extra_items):
        if not hasattr(model, "_column_members"):
            return in_pieces(given, np.where(given.numbers[:, None] > 1, followed, -1))
        some = np.flatnonzero(given.numbers > 1)
        return following(given, some, followed[some])
    return used_overlap_model(model).weighted(given)
