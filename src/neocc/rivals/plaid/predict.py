"""Rows, seen or new, compared with the sub-matrices of a plaid model."""

from __future__ import annotations

import numpy as np

from neocc._typing import BoolArray, FloatArray
from neocc.rivals.plaid.state import Field

# Log densities that differ by less are taken for equal.
_LEAST_GAIN = 1e-9


def added_errors(residual: Field, columns: BoolArray, theta: FloatArray) -> FloatArray:
    """Return what each of K sub-matrices, added to the model, adds to the squared errors of rows.

    `columns` is of shape (K, n_columns); `theta`, the effects, of shape (K,) or (n_rows, K).
    """
    Y = columns.T.astype(float)
    counts = Y.sum(axis=0) if residual.observed is None else residual.observed @ Y
    added: FloatArray = theta * (theta * counts - 2 * (residual.values @ Y))
    return added


def likely_members(
    residual: Field, columns: BoolArray, theta: FloatArray, tau0: float, log_odds: FloatArray
) -> BoolArray:
    """Return the memberships of rows, each a mode of its posterior given the sub-matrices.

    From no membership on, each row makes the single change that raises its density most, as long
    as one does. `residual`, at first the data without the background, is left without the
    sub-matrices of each row; `log_odds` are those of the prior, of shape (K,).
    """
    members = np.zeros((residual.shape[0], len(theta)), dtype=bool)
    active = np.arange(len(members))
    for _ in range(2 * len(theta)):  # rounding must not make a row go round in circles
        observed = None if residual.observed is None else residual.observed[active]
        signs = np.where(members[active], -1.0, 1.0)
        added = added_errors(Field(residual.values[active], observed), columns, signs * theta)
        gains = signs * log_odds - tau0 / 2 * added
        best = gains.argmax(axis=1)
        better = np.flatnonzero(gains[np.arange(len(best)), best] > _LEAST_GAIN)
        active, best = active[better], best[better]
        change = (signs[better, best] * theta[best])[:, None] * columns[best]
        residual.values[active] -= change if observed is None else change * observed[better]
        members[active, best] ^= True
    return members
