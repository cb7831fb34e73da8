"""The model that is asked for, and data that take the place of others while numbers are ranked.

Numbers of groups are ranked by squared errors over all cells; counts and observed cells are turned
into data whose squared errors show the same groups.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from neocc.cli._guard import blaming_the_user
from neocc.cli._kinds import AUTO
from neocc.cli._settings import FitSettings
from neocc.core.objectives import COUNTS, OBJECTIVES
from neocc.core.overlap import OverlapModel
from neocc.estimators import NEOCC
from neocc.estimators._fitted import asked_objective

__all__ = ["asked_model", "can_rank", "stand_in"]


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


def can_rank(settings: FitSettings) -> bool:
    """Whether numbers of groups of rows and of columns may differ, and so be ranked."""
    return not OBJECTIVES[settings.objective].paired


def stand_in(X: Any, settings: FitSettings) -> tuple[Any, str]:
    """Return data whose squared errors show the same groups, and the objective for them.

    Counts are scaled until all rows, and all columns, weigh the same; observed cells lose what is
    common to their row and to their column, and cells that were not observed are then 0.
    """
    if settings.is_observed:
        return _without_levels(X), "mean"
    if settings.objective in COUNTS:
        from neocc.preprocessing import binormalize

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of counts that allow no equal norms
            return binormalize(X, max_iter=50), "mean"
    return X, settings.objective


def _without_levels(X: Any) -> Any:
    """Subtract from observed cells the mean of their column, then that of their row."""
    if not sparse.issparse(X):
        seen = ~np.isnan(X)
        X = sparse.csr_array((X[seen], np.nonzero(seen)), shape=X.shape)
    cells = sparse.csr_array(X, dtype=np.float64, copy=True).tocoo()
    for at, size in ((cells.col, X.shape[1]), (cells.row, X.shape[0])):
        numbers = np.maximum(np.bincount(at, minlength=size), 1)
        cells.data = cells.data - (np.bincount(at, cells.data, minlength=size) / numbers)[at]
    return cells.tocsr()
