"""Inverses where something may be zero: sizes of clusters, and their Gram matrices."""

from __future__ import annotations

import numpy as np

from neocc._typing import FloatArray

__all__ = ["inverse", "inverse_gram"]

# Of a largest eigenvalue, the share below which another counts as zero.
_SINGULAR = 1e-10


def inverse(sizes: FloatArray) -> FloatArray:
    """1 / size, and 0 for an empty cluster: its sums are 0 and so shall be its means."""
    return np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > 0)


def inverse_gram(gram: FloatArray) -> FloatArray:
    """Return the inverse of a Gram matrix, or its pseudo-inverse if it is singular."""
    try:
        least = np.square(np.diag(np.linalg.cholesky(gram))).min(initial=np.inf)
    except np.linalg.LinAlgError:
        least = 0.0
    if least > _SINGULAR * np.diag(gram).max(initial=0.0):
        return np.asarray(np.linalg.inv(gram), dtype=np.float64)
    inverse = np.linalg.pinv(gram, rcond=_SINGULAR, hermitian=True)
    return np.asarray(inverse, dtype=np.float64)
