"""What a fitted model makes of several memberships: one place for all who explain a cell by it."""

from __future__ import annotations

from typing import Any

from neocc._typing import BoolArray, FloatArray
from neocc.core.objectives import Objective, make_objective
from neocc.core.overlap import OVERLAP_MODELS, REPEAT, OverlapModel
from neocc.kernels import Memberships

__all__ = ["asked_objective", "fitted_values", "used_overlap_model", "weigh"]


def used_overlap_model(model: Any) -> OverlapModel:
    """Return the overlap model that a fit used; models without overlap repeat nothing."""
    used = getattr(model, "_row_model", None)
    if used is None:
        return REPEAT
    return OVERLAP_MODELS[used.overlap_model](used.max_memberships)


def asked_objective(model: Any) -> Objective:
    """Return the objective that the parameters of an estimator ask for."""
    return make_objective(model.objective, getattr(model, "prior", 1.0))


def weigh(model: Any, members: BoolArray) -> Memberships:
    """Return memberships as they count in the sums of a fit."""
    return used_overlap_model(model).weighted(Memberships.from_dense(members))


def fitted_values(U: Memberships, M: FloatArray, V: Memberships | None) -> FloatArray:
    """Return what weighted memberships make of a table of levels: U_w M V_w'.

    A row of two clusters is the mean of their lines for `"average"`, and the sum for `"sum"`.
    Without column clusters the lines are centres. Items in no cluster get zeros.
    """
    lines: FloatArray = U.indicator @ M
    return lines if V is None else lines @ V.indicator.T
