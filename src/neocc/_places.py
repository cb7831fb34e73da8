"""Where a value is in a matrix: for messages that name it."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["place_of"]


def place_of(X: Any, at: int) -> tuple[int, int]:
    """Return row and column of the value at a place among the stored ones, row by row."""
    if hasattr(X, "indptr"):
        return int(np.searchsorted(X.indptr, at, side="right")) - 1, int(X.indices[at])
    n_columns: int = X.shape[1]
    return divmod(at, n_columns)
