"""Which numbers the ends of a scale of colours stand for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from neocc._typing import FloatArray

__all__ = ["Kind", "Limits", "colour_limits"]

_MANY, _LEAST_RATIO = 5000, 1.1
Kind: TypeAlias = Literal["signed", "ratio", "range", "up", "down"]


@dataclass(frozen=True)
class Limits:
    """The ends of a scale of colours.

    Attributes
    ----------
    low, high : float
        The numbers at its ends.
    kind : {"signed", "ratio", "range", "up", "down"}
        Numbers of both signs, the scale then being as long below zero as above; ratios, on a
        logarithmic scale as long below one as above; numbers beside which there are blanks, from
        the lowest to the highest; numbers that get darker upwards; numbers that get darker
        downwards.
    power : float
        The exponent, 1 or 0.5, that stretches the lower part of a scale.
    cut_low, cut_high : bool
        Whether there are numbers beyond its ends.
    """

    low: float
    high: float
    kind: Kind
    power: float
    cut_low: bool
    cut_high: bool


def colour_limits(
    values: FloatArray, main: FloatArray | None = None, kind: Kind | None = None
) -> Limits:
    """Choose limits for numbers, or for the more important of them (`main`).

    The numbers decide on the kind unless it is given. Where there are many numbers, the most
    extreme half percent at each end is cut off; where most are far below the highest, the lower
    part of the scale is stretched.

    Examples
    --------
    >>> import numpy as np
    >>> from neocc.plot._limits import colour_limits
    >>> limits = colour_limits(np.array([-1.0, 4.0]))
    >>> limits.low, limits.high, limits.kind
    (-4.0, 4.0, 'signed')
    """
    known = _finite(values)
    lowest, highest = float(known.min()), float(known.max())
    known = known if main is None else _finite(main)
    if kind == "ratio":
        high = max(float(np.exp(np.abs(np.log(known[known > 0])).max(initial=0.0))), _LEAST_RATIO)
        room = high * (1 + 1e-9)
        return Limits(1 / high, high, kind, 1.0, lowest < 1 / room, highest > room)
    has_zero = bool((known == 0).any())
    known = known[known != 0] if known.any() and kind != "range" else known
    low, high = float(known.min()), float(known.max())
    if known.size > _MANY:
        low, high = (float(end) for end in np.percentile(known, (0.5, 99.5)))
    power = 1.0
    if kind == "range":
        pass
    elif kind == "signed" or known.min() < 0 < known.max():
        kind, high = "signed", max(-low, high)
        low = -high
    elif high > 0:
        kind = "up"
        low = 0.0 if has_zero or low < 0.5 * high else low
        if low == 0.0 and np.median(known) < 0.2 * high:
            power = 0.5
    else:
        kind, high = "down", 0.0 if has_zero or high > 0.5 * low else high
    if not low < high:
        room = max(0.5, 0.1 * abs(low))
        low, high = low - room, high + room
    return Limits(low, high, kind, power, lowest < low, highest > high)


def _finite(values: FloatArray) -> FloatArray:
    """Return the finite numbers, or a zero where there are none."""
    known = values[np.isfinite(values)]
    return known if known.size else np.zeros(1)
