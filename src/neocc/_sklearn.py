"""Private names of scikit-learn: all that are used, in one place, and nowhere else.

Rules for parameters have no public form there; should they move, this file is all that changes.
"""

from __future__ import annotations

from typing import Any

from sklearn.base import _fit_context as fit_context
from sklearn.utils._param_validation import (
    HasMethods,
    StrOptions,
    validate_parameter_constraints,
)
from sklearn.utils._param_validation import Interval as _Interval

__all__ = ["HasMethods", "Interval", "StrOptions", "fit_context", "validate_parameter_constraints"]


class Interval(_Interval):  # type: ignore[misc]
    """Numbers in an interval, among which True is none."""

    def is_satisfied_by(self, val: Any) -> bool:
        """Tell whether a value is such a number."""
        return not isinstance(val, bool) and bool(super().is_satisfied_by(val))
