"""`"share"`: an item pays once, divided over its memberships.

C(A) = mean_{i in A} d_i
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from neocc._typing import FloatArray
from neocc.core.overlap.model import OverlapModel
from neocc.kernels import SetCosts

__all__ = ["Share"]


class Share(OverlapModel):
    """The mean of the distances to an item's clusters."""

    name: ClassVar[str] = "share"
    divides: ClassVar[bool] = True

    def costs(self, sizes: FloatArray, gram: FloatArray | None) -> SetCosts:  # noqa: ARG002
        """Return the parts of the cost of sets, by size."""
        return SetCosts(1.0 / sizes, np.zeros_like(sizes), np.zeros_like(sizes), None)
