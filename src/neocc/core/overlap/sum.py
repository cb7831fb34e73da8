"""`"sum"`: an item is the sum of the prototypes of its clusters (as in plaid models).

    C(A) = |x - sum_{i in A} z_i|^2 = sum_{i in A} d_i - (s - 1) |x|^2 + 2 sum_{i < j in A} z_i'z_j

for prototypes z and s = |A|. A constant added to the data changes it: subtract the mean first.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from neocc._typing import FloatArray
from neocc.core.overlap.model import OverlapModel
from neocc.kernels import SetCosts

__all__ = ["Sum"]


class Sum(OverlapModel):
    """The distance to the sum of an item's clusters."""

    name: ClassVar[str] = "sum"
    mixed: ClassVar[bool] = True
    needs_pairs: ClassVar[bool] = True
    needs_squares: ClassVar[bool] = True

    def costs(self, sizes: FloatArray, gram: FloatArray | None) -> SetCosts:
        """Return the parts of the cost of sets, by size."""
        pairs = None
        if gram is not None:
            pairs = gram.copy()
            np.fill_diagonal(pairs, 0.0)
        return SetCosts(np.ones_like(sizes), 1.0 - sizes, np.full_like(sizes, 2.0), pairs)
