"""Where rounding may have spoilt a fit."""

from __future__ import annotations

from neocc._warn import warn

__all__ = ["PrecisionWarning", "warn_if_inexact"]


class PrecisionWarning(UserWarning):
    """Rounding errors are not small against the objective."""


def warn_if_inexact(off: float) -> None:
    """Warn if the sums that decide over memberships were off by more than a thousandth."""
    if off > 1e-3:
        warn(
            "Clusters lie at levels so far apart that rounding hides the spread within them: the "
            f"sums behind the memberships are off by {off:.1%} of the objective. Subtract column "
            "means or scale the columns first.",
            PrecisionWarning,
        )
