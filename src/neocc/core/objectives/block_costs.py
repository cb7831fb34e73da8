"""What each block costs where costs are squared: from sums over blocks, or cell by cell."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from neocc._typing import FloatArray
from neocc.kernels import Memberships

__all__ = ["BlockSums", "portions", "shared_costs", "squared_sums"]


class BlockSums(NamedTuple):
    """Sums over the entries of each block, and their numbers, `sizes`.

    `rows` adds the square of the sum of each row over its length, `columns` that of each column.
    """

    squares: FloatArray
    sums: FloatArray
    rows: FloatArray
    columns: FloatArray
    sizes: FloatArray


def portions(members: Memberships) -> FloatArray:
    """Return memberships whose weights add up to that of the item, if it is in any cluster."""
    found: FloatArray = members.dense / np.maximum(members.numbers, 1)[:, None]
    weights = members.item_weights
    return found if weights is None else found * weights[:, None]


def squared_sums(X: Any, U: Memberships, V: Memberships) -> FloatArray:
    """Return the squares of some rows over blocks, and those of their sums by column cluster."""
    X = X.astype(np.float64)
    return np.stack(
        [U.indicator.T @ each for each in ((X * X) @ V.indicator, (X @ V.indicator) ** 2)]
    )


def shared_costs(
    X: Any, U: Memberships, objective: Any, V: Memberships, M: FloatArray, lines: FloatArray
) -> FloatArray:
    """Return what cells of some rows cost, each divided among its blocks, or all for one."""
    X = X.toarray() if sparse.issparse(X) else X
    left = np.square(objective.residuals(X, U, V, M, lines))
    if U.virtual is not None:
        return np.asarray(U.summed.indicator.T @ left @ V.indicator)
    return np.asarray(portions(U).T @ left @ portions(V))
