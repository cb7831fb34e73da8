"""What the number of a block is: a mean, a level, a lift, a deviation from expectation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from neocc._typing import FloatArray

__all__ = ["LEVEL", "LIFT", "MEAN", "OBSERVED", "RESIDUAL", "Measure", "is_observed", "measure_of"]


@dataclass(frozen=True)
class Measure:
    """What the number of a block is.

    Attributes
    ----------
    noun, plural : str
        What it is called, and what those of all blocks are called.
    expected : float or None
        The number of a block that is as expected; None where nothing is expected.
    is_ratio : bool
        Whether numbers are ratios, which differ by factors.
    """

    noun: str
    plural: str
    expected: float | None = None
    is_ratio: bool = False

    @property
    def limits(self) -> Literal["signed", "ratio"] | None:
        """The kind of colours; None leaves it to the numbers."""
        if self.expected is None:
            return None
        return "ratio" if self.is_ratio else "signed"

    def position(self, values: Any) -> FloatArray:
        """Return where numbers stand on a scale on which equal differences are equally long."""
        values = np.asarray(values, dtype=np.float64)
        return np.asarray(np.log(values)) if self.is_ratio else values

    def figure(self, value: float) -> str:
        """Write a number.

        Examples
        --------
        >>> from neocc.plot._measure import LIFT, MEAN, RESIDUAL
        >>> LIFT.figure(6.234), LIFT.figure(0.0312), RESIDUAL.figure(0.6), MEAN.figure(-2)
        ('6.2×', '0.031×', '+0.6', '-2')
        """
        if self.is_ratio:
            return f"{value:,.0f}×" if value >= 99.5 else f"{value:#.2g}×".replace(".×", "×")
        if self.expected is None:
            return f"{value:.3g}"
        return f"{value:+.2g}" if value else "0"

    def in_words(self, value: float) -> str:
        """Say how a number compares with what was expected.

        Examples
        --------
        >>> from neocc.plot._measure import LIFT, RESIDUAL
        >>> LIFT.in_words(6.234), LIFT.in_words(1 / 3)
        ('6.2 times as often as expected', '3.0 times less often than expected')
        >>> LIFT.in_words(1.01)
        'about as often as expected'
        >>> RESIDUAL.in_words(0.612), RESIDUAL.in_words(-0.05), RESIDUAL.in_words(0.0)
        ('0.61 above expectation', '0.05 below expectation', 'as expected')
        """
        if self.is_ratio:
            if abs(np.log(value)) < _ABOUT:
                return "about as often as expected"
            if value > 1:
                return f"{self.figure(value)[:-1]} times as often as expected"
            return f"{self.figure(1 / value)[:-1]} times less often than expected"
        if self.expected is None:
            return self.figure(value)
        side = "above" if value > 0 else "below"
        return f"{abs(value):.2g} {side} expectation" if value else "as expected"


_ABOUT = 0.05
MEAN = Measure("mean", "means")
LEVEL = Measure("level", "levels")
LIFT = Measure("lift", "lifts", expected=1.0, is_ratio=True)
OBSERVED = Measure("level of the observed cells", "levels of observed cells")
RESIDUAL = Measure("deviation from expectation", "deviations from expectation", expected=0.0)


def is_observed(model: Any) -> bool:
    """Whether a model was fitted to observed cells only."""
    return getattr(model, "missing", "zero") == "ignore"


def measure_of(model: Any, *, combined: bool) -> Measure:
    """Return what the blocks of a model are told by; `combined`: see `neocc.plot._source`."""
    if getattr(model, "block_lifts_", None) is not None:
        return LIFT
    if is_observed(model) and model.remove_effects:
        return RESIDUAL
    if combined:
        return LEVEL
    return OBSERVED if is_observed(model) else MEAN
