"""Colours for numbers, as the pictures of `neocc.plot` have them, but without matplotlib."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from neocc._typing import FloatArray
from neocc.plot._limits import Kind, Limits, colour_limits
from neocc.plot._style import SHADES

__all__ = ["LEVELS", "Scale", "readable_on", "scale_for", "shade_rules"]

# Eleven colours of matplotlib's cividis (blue over grey to yellow), evenly spaced.
_SIGNED = (
    "#00224e",
    "#083370",
    "#35456c",
    "#4f576c",
    "#666970",
    "#7d7c78",
    "#948e77",
    "#aea371",
    "#c8b866",
    "#e5cf52",
    "#fee838",
)
_FINEST = 255
LEVELS = 10
"""Shades of the cells of a table, but for the lightest."""
_INK, _PAPER = "#14202e", "#ffffff"


def readable_on(colour: str) -> str:
    """Return the colour of a text, dark or light, that stands out more on another colour."""
    dark, light, back = (_luminance(one) + 0.05 for one in (_INK, _PAPER, colour))
    return _INK if back / dark >= light / back else _PAPER


@dataclass(frozen=True)
class Scale:
    """Colours between two numbers."""

    limits: Limits

    @property
    def colours(self) -> tuple[str, ...]:
        """The colours, evenly spaced from the low end to the high one."""
        return {"up": SHADES, "down": SHADES[::-1]}.get(self.limits.kind, _SIGNED)

    def share(self, value: float) -> float:
        """Return where a number stands, from 0 at the low end to 1 at the high one."""
        low, high = self._place(self.limits.low), self._place(self.limits.high)
        share = (self._place(value) - low) / (high - low)
        return float(min(max(share, 0.0), 1.0) ** self.limits.power)

    def value(self, share: float) -> float:
        """Return the number that stands there."""
        low, high = self.limits.low, self.limits.high
        if self.limits.kind == "ratio":
            return low * float((high / low) ** share)
        return low + (high - low) * float(share ** (1.0 / self.limits.power))

    def _place(self, value: float) -> float:
        """Return where a number stands before scales are cut: ratios by their logarithms."""
        if self.limits.kind != "ratio":
            return value
        return math.log(value) if value > 0 else -math.inf

    def colour(self, share: float) -> str:
        """Return the colour there."""
        at = share * (len(self.colours) - 1)
        below = min(int(at), len(self.colours) - 2)
        low, high = (_rgb(colour) for colour in self.colours[below : below + 2])
        mixed = low + (at - below) * (high - low)
        return "#" + "".join(f"{round(part):02x}" for part in mixed)

    def as_json(self) -> dict[str, Any]:
        """Return what the script needs to colour cells itself."""
        return {
            "low": self.limits.low,
            "high": self.limits.high,
            "power": self.limits.power,
            "colours": [self.colour(level / _FINEST) for level in range(_FINEST + 1)],
        }


def scale_for(
    values: FloatArray, main: FloatArray | None = None, kind: Kind | None = None
) -> Scale:
    """Choose colours for numbers, or for the more important of them (`main`)."""
    return Scale(colour_limits(values, main, kind))


def shade_rules(letter: str, scale: Scale | None = None) -> str:
    """Return the style rules of cells called by a letter and a level; by default, white to dark."""
    scale = scale or Scale(Limits(0.0, 1.0, "up", 1.0, cut_low=False, cut_high=False))
    colours = [scale.colour(level / LEVELS) for level in range(LEVELS + 1)]
    return "\n".join(
        f".{letter}{level} {{ background: {colour}; color: {readable_on(colour)}; }}"
        for level, colour in enumerate(colours)
    )


def _rgb(colour: str) -> FloatArray:
    return np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)], dtype=np.float64)


def _luminance(colour: str) -> float:
    """Return the relative luminance of WCAG 2."""
    parts = _rgb(colour) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])
