"""Warnings that name the line of the user, not one of this package."""

from __future__ import annotations

import warnings
from inspect import currentframe

__all__ = ["warn"]

_OWN_PACKAGES = ("neocc", "sklearn", "joblib")


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the line that called this package."""
    level, frame = 1, currentframe()
    while frame is not None:
        if str(frame.f_globals.get("__name__")).split(".")[0] not in _OWN_PACKAGES:
            break
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
