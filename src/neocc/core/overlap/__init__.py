"""Overlap models: what a membership costs, one file each. `OVERLAP_MODELS` names them."""

from __future__ import annotations

from neocc.core.overlap.base import OverlapModel, Scores
from neocc.core.overlap.repeat import REPEAT

__all__ = ["OVERLAP_MODELS", "REPEAT", "OverlapModel", "Scores"]

OVERLAP_MODELS: dict[str, OverlapModel] = {each.name: each for each in (REPEAT,)}
"""All overlap models by name."""
