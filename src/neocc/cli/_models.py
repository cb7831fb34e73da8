"""The overlap model that is asked for."""

from __future__ import annotations

from dataclasses import replace

from neocc.cli._guard import blaming_the_user
from neocc.cli._kinds import AUTO
from neocc.cli._settings import FitSettings
from neocc.core.overlap import OverlapModel
from neocc.estimators import NEOCC
from neocc.estimators._fitted import asked_objective

__all__ = ["asked_model"]


def asked_model(settings: FitSettings) -> OverlapModel:
    """Return the overlap model that is asked for, or the first that is tried.

    One that does not go with the objective is refused. An objective still to be chosen is taken
    for one of squared errors, which go with all.
    """
    if settings.objective == AUTO:
        settings = replace(settings, objective="mean")
    with blaming_the_user():
        model = NEOCC(**settings.estimator_options)
        return model._make_model(asked_objective(model).kind)  # noqa: SLF001
