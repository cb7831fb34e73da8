"""What tables of results tell of a fit over observed cells."""

from __future__ import annotations

from typing import Any

import numpy as np

from neocc._typing import FloatArray
from neocc.core.objectives.blends import is_blended, mixing
from neocc.core.objectives.virtual import gathered
from neocc.estimators._fitted import asked_objective, weights_of
from neocc.kernels import Memberships

__all__ = ["observed_block_errors"]


def observed_block_errors(
    model: Any, X: Any, U: Memberships, V: Memberships, cell_weight: Any
) -> FloatArray:
    """Return each block's squared errors over its observed cells, and its part of the ridge."""
    objective = asked_objective(model)
    with model._engine_of(X, weights_of(model)[0], cell_weight) as engine:  # noqa: SLF001
        features = engine.column_features(U, None, base=objective.base, counts=True)
        of_rows = [engine.row_squares(weights) for weights in V.indicator.T.copy()]
    assert features.sums is not None
    own = U if is_blended(U) else U.summed
    squares = gathered(own.indicator.T @ np.column_stack(of_rows), U)
    sums = mixing(U).T @ gathered(features.sums.T @ V.indicator, U)
    explained = sums * objective.block_means(features, U, V)
    return np.maximum(squares - explained, 0.0)
