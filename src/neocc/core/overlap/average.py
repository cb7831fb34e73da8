"""`"average"`: an item is the mean of the prototypes of its clusters (OKM, Cleuziou 2008).

    C(A) = |x - mean_{i in A} z_i|^2 = mean_{i in A} d_i - sum_{i < i' in A} |z_i - z_i'|^2 / s^2

for prototypes z and s = |A|: the mean distance, less how much the prototypes differ.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from neocc._typing import FloatArray
from neocc.core.overlap.model import OverlapModel
from neocc.kernels import SetCosts

__all__ = ["Average"]


class Average(OverlapModel):
    """The distance to the mean of an item's clusters."""

    name: ClassVar[str] = "average"
    mixed: ClassVar[bool] = True
    divides: ClassVar[bool] = True
    needs_pairs: ClassVar[bool] = True

    def costs(self, sizes: FloatArray, gram: FloatArray | None) -> SetCosts:
        """Return the parts of the cost of sets, by size."""
        pairs = None
        if gram is not None:
            norms = gram.diagonal()
            pairs = np.maximum(norms[:, None] + norms - 2.0 * gram, 0.0)
        return SetCosts(1.0 / sizes, np.zeros_like(sizes), -1.0 / sizes**2, pairs)
