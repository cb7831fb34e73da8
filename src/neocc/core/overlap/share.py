"""`"share"`: an item pays once, divided over its memberships.

C(A) = mean_{i in A} d_i
"""

from __future__ import annotations

from typing import ClassVar

from neocc.core.overlap.model import OverlapModel

__all__ = ["Share"]


class Share(OverlapModel):
    """The mean of the distances to an item's clusters."""

    name: ClassVar[str] = "share"
    divides: ClassVar[bool] = True
