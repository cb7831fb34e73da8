"""Private names of scikit-learn: all that are used, in one place, and nowhere else.

Rules for parameters have no public form there; should they move, this file is all that changes.
"""

from __future__ import annotations

from sklearn.base import _fit_context as fit_context
from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
    StrOptions,
    validate_parameter_constraints,
)

__all__ = ["HasMethods", "Interval", "StrOptions", "fit_context", "validate_parameter_constraints"]
