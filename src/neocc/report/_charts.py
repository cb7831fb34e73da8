"""Small drawings in SVG: without style attributes, which the page forbids itself."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from neocc._typing import FloatArray
from neocc.plot._words import number
from neocc.report._html import Markup, element
from neocc.report._scale import Scale

__all__ = ["curve", "difference_bar", "legend", "limit_bar", "stacked_bar"]

_MOST_POINTS = 400


def _svg(
    width: float,
    height: float,
    *children: Markup,
    label: str | None,
    class_: str,
    stretches: bool = False,
) -> Markup:
    """Make a drawing; one without a label only repeats what is written beside it."""
    role = {"role": "img", "aria_label": label} if label else {"aria_hidden": "true"}
    size = {"viewBox": f"0 0 {width:g} {height:g}", "width": f"{width:g}", "height": f"{height:g}"}
    if stretches:
        size["preserveAspectRatio"] = "none"
    return element("svg", *children, class_=class_, **role, **size)


def _rect(x: float, y: float, width: float, height: float, class_: str) -> Markup:
    at = {
        "x": f"{x:.1f}",
        "y": f"{y:.1f}",
        "width": f"{max(width, 0):.1f}",
        "height": f"{height:g}",
    }
    return element("rect", **at, class_=class_)


def _text(x: float, y: float, text: str, class_: str, anchor: str = "start") -> Markup:
    return element("text", text, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor, class_=class_)


def stacked_bar(counts: tuple[int, int, int], width: float = 360, height: float = 14) -> Markup:
    """Draw how many items are in one group, in several, in none: as parts of a bar.

    What there is at all is at least two pixels wide.
    """
    total = max(sum(counts), 1)
    parts = np.array([max(2.0, width * count / total) if count else 0.0 for count in counts])
    parts *= width / max(parts.sum(), 1.0)
    starts = np.concatenate([[0.0], np.cumsum(parts)])
    pieces = [
        _rect(start, 0, stop - start - (1 if stop < width - 0.5 else 0), height, class_)
        for (start, stop), class_ in zip(pairwise(starts), ("one", "several", "none"), strict=True)
        if stop > start
    ]
    return _svg(width, height, *pieces, label=None, class_="stacked")


def difference_bar(
    mean: float, overall: float, ends: tuple[float, float], width: float = 130, height: float = 14
) -> Markup:
    """Draw a mean as a bar that starts at the mean of all groups."""
    low, high = ends
    scale = (width - 4) / (high - low) if high > low else 0.0
    at, base = 2 + scale * (mean - low), 2 + scale * (overall - low)
    class_ = "above" if mean >= overall else "below"
    return _svg(
        width,
        height,
        _rect(0, height / 2 - 0.5, width, 1, "axis"),
        _rect(min(at, base), 3, abs(at - base), height - 6, class_),
        _rect(base - 0.75, 0, 1.5, height, "base"),
        label=None,
        class_="difference",
        stretches=True,
    )


def limit_bar(
    distance: float, limit: float, longest: float, width: float = 160, height: float = 14
) -> Markup:
    """Draw a distance as a bar, and the threshold as a mark across it."""
    scale = (width - 2) / longest if longest > 0 else 0.0
    return _svg(
        width,
        height,
        _rect(0, 3, scale * distance, height - 6, "distance"),
        _rect(scale * limit - 0.75, 0, 1.5, height, "base"),
        label=None,
        class_="limit",
    )


def _short(value: float) -> str:
    return f"{value:.3g}".replace("-", "−", 1) if value < 0 else f"{value:.3g}"


def legend(scale: Scale, width: float = 260) -> Markup:
    """Draw the colours with the numbers they stand for."""
    colours = scale.colours
    stops = [
        element("stop", offset=f"{place / (len(colours) - 1):.3f}", stop_color=colour)
        for place, colour in enumerate(colours)
    ]
    ramp = {"x": "0.5", "y": "0.5", "width": f"{width - 1:g}", "height": "12"}
    marks = []
    for share, sign, anchor in (
        (0.0, "≤ " if scale.limits.cut_low else "", "start"),
        (0.5, "", "middle"),
        (1.0, "≥ " if scale.limits.cut_high else "", "end"),
    ):
        marks.append(_rect(share * (width - 1), 12, 1, 4, "tick"))
        text = sign + _short(scale.value(share))
        marks.append(_text(share * width, 28, text, "mark", anchor))
    drawing = (
        element("defs", element("linearGradient", *stops, id="ramp")),
        element("rect", **ramp, fill="url(#ramp)", class_="ramp"),
    )
    label = f"Colours from {_short(scale.value(0.0))} to {_short(scale.value(1.0))}"
    return _svg(width, 32, *drawing, *marks, label=label, class_="scale")


def curve(
    history: FloatArray,
    label: str,
    ends: tuple[str, str] | None = None,
    chosen: int | None = None,
    width: float = 640,
    height: float = 220,
) -> Markup:
    """Draw how the objective fell, from left to right, or an error between two `ends`.

    The value at the place `chosen` has a larger point.
    """
    left, right, top, bottom = 12.0, width - 12.0, 26.0, height - 30.0
    last = len(history) - 1
    shown = np.unique(np.linspace(0, last, min(last + 1, _MOST_POINTS)).round().astype(int))
    low, high = float(history.min()), float(history.max())
    x = left + (right - left) * shown / max(last, 1)
    y = bottom - (bottom - top) * (history[shown] - low) / ((high - low) or 1.0)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
    radii = [7 if place == chosen else 3 for place in shown.tolist()]
    dots = [
        element("circle", cx=f"{a:.1f}", cy=f"{b:.1f}", r=str(r), class_="point")
        for a, b, r in zip(x, y, radii, strict=True)
    ]
    begin, end = ends or ("start", f"step {last:,}")
    values = [_text(x[0], y[0] - 9, number(float(history[0])), "value")]
    if last:
        values.append(_text(x[-1], y[-1] - 9, number(float(history[-1])), "value", "end"))
    return _svg(
        width,
        height,
        _rect(left, bottom + 6, right - left, 1, "axis"),
        element("polyline", points=points, class_="curve"),
        *(dots if last < 40 else [dots[0], dots[-1]]),
        *values,
        _text(left, height - 8, begin, "mark"),
        _text(right, height - 8, end, "mark", "end") if last else Markup(),
        label=label,
        class_="convergence",
    )
