"""How things look: figures, colours that most eyes can distinguish, text of a size that fits."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from neocc._extras import need
from neocc._typing import AnyArray, FloatArray
from neocc.plot._limits import Kind, Limits, colour_limits

__all__ = [
    "DARK",
    "HATCHES",
    "LIGHT",
    "NO_CLUSTER",
    "PALE",
    "PALETTE",
    "SHADES",
    "bare",
    "cluster_style",
    "colour_scale",
    "draw_image",
    "fit_text",
    "font_size",
    "inches",
    "label_axis",
    "matplotlib",
    "new_axes",
    "set_title",
]

# The palette of Okabe and Ito, distinct for every kind of colour blindness, without its yellow:
# it hardly shows on white paper, and not at all in print without colour.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#333333")
HATCHES = ("", "////", "....", "xxxx", "||||", "----", "oooo")
LIGHT, NO_CLUSTER = "0.92", "0.55"
DARK, PALE = "#1f4e79", "#8fb4d9"
SHADES = ("#ffffff", "#9fb0c3", "#1f2f43")
_LARGEST_TEXT, _SMALLEST_TEXT, _TITLE = 9.0, 5.0, 10.0
_POINTS = 72.0
_MARGIN = 0.6  # inches
# Mean width of a letter against the size of the text.
_LETTER = 0.6
_SMALLEST_LEVEL = 6.5


def matplotlib(name: str) -> Any:
    """Import a part of matplotlib."""
    return need(f"matplotlib.{name}")


def new_axes(ax: Any, size: tuple[float, float]) -> Any:
    """Return the axes given, or those of a new figure of this size in inches.

    Where pyplot is in use the figure is one of its own, so that `pyplot.show` and notebooks show
    it. Otherwise pyplot is left alone: it would keep the figure for ever.
    """
    if ax is not None:
        return ax
    figure = matplotlib("figure").Figure
    pyplot = sys.modules.get("matplotlib.pyplot")
    make = figure if pyplot is None else pyplot.figure
    return make(figsize=size, layout="constrained").subplots()


def inches(ax: Any) -> tuple[float, float]:
    """Return width and height of axes."""
    box, dpi = ax.get_window_extent(), ax.figure.dpi
    return float(box.width / dpi), float(box.height / dpi)


def bare(ax: Any, *keep: str) -> None:
    """Hide the frame of axes, but for the sides named."""
    for side, spine in ax.spines.items():
        spine.set_visible(side in keep)


# --------------------------------------------------------------------------------------- colours


def cluster_style(cluster: int) -> dict[str, Any]:
    """Return the colour and, from the eighth cluster on, the hatching of a cluster."""
    turn, place = divmod(cluster, len(PALETTE))
    return {"facecolor": PALETTE[place], "hatch": HATCHES[turn % len(HATCHES)] or None}


def colour_scale(
    values: FloatArray,
    cmap: Any = None,
    main: FloatArray | None = None,
    kind: Kind | None = None,
) -> dict[str, Any]:
    """Choose colours for numbers: `cmap`, `norm`, and `extend`, the ends that are cut off.

    Numbers of both signs go from blue over grey, at zero, to yellow, and so do ratios, grey at one,
    and numbers beside blanks (`kind`); other numbers of one sign get darker away from zero. Either
    way lightness alone separates them, as it must in print without colour.
    Where there are many numbers, the most extreme half percent at each end is cut off; where
    most are far below the highest, the lower part of the scale is stretched.
    """
    limits = colour_limits(values, main, kind)
    shades = matplotlib("colors").LinearSegmentedColormap.from_list("neocc", SHADES)
    of_one_sign = {"up": shades, "down": shades.reversed()}
    ends = {(0, 0): "neither", (1, 0): "min", (0, 1): "max", (1, 1): "both"}
    return {
        "cmap": cmap or of_one_sign.get(limits.kind, "cividis"),
        "norm": _norm(limits),
        "extend": ends[limits.cut_low, limits.cut_high],
    }


def _norm(limits: Limits) -> Any:
    colors = matplotlib("colors")
    norm = colors.Normalize if limits.power == 1 else partial(colors.PowerNorm, limits.power)
    norm = colors.LogNorm if limits.kind == "ratio" else norm
    return norm(vmin=limits.low, vmax=limits.high, clip=limits.kind == "ratio")


def draw_image(
    ax: Any,
    cells: FloatArray,
    places: tuple[int, int],
    cmap: Any,
    colorbar: str | None,
    main: FloatArray | None = None,
    kind: Kind | None = None,
) -> Any:
    """Draw numbers as colours over so many rows and columns; `colorbar` says what they are.

    Colours are chosen for the numbers in `main`, if given; those beyond are cut off.
    """
    scale = colour_scale(cells, cmap, main, kind)
    extend = scale.pop("extend")
    extent = (0, places[1], places[0], 0)
    image = ax.imshow(np.ma.masked_invalid(cells), extent=extent, aspect="auto", **scale)
    if colorbar is not None:
        bar = ax.figure.colorbar(image, ax=ax, extend=extend, shrink=0.7, aspect=25)
        bar.set_label(colorbar, fontsize=8)
        bar.ax.tick_params(labelsize=8)
        if kind == "ratio":
            # Powers of ten would hardly be met by ratios near one.
            ticks = image.norm.vmax ** np.linspace(-1, 1, 5)
            bar.set_ticks(ticks, labels=[f"{tick:.2g}" for tick in ticks])
            bar.minorticks_off()
    return image


# ------------------------------------------------------------------------------------------ text


def font_size(room: float, n_labels: int) -> float | None:
    """Return the size of text, in points, at which lines fit into inches; None if none does."""
    size = 0.8 * _POINTS * room / max(n_labels, 1)
    return None if size < _SMALLEST_TEXT else min(size, _LARGEST_TEXT)


def fit_text(text: str, most: int = 28) -> str:
    r"""Shorten text in its middle, and keep matplotlib from reading it as a formula.

    Examples
    --------
    >>> from neocc.plot._style import fit_text
    >>> fit_text("a very long name of a very long thing")
    'a very long na…ry long thing'
    >>> print(fit_text("$5 to $10"))
    \$5 to \$10
    """
    text = "".join(letter if letter.isprintable() else " " for letter in text)
    if len(text) > most:
        tail = (most - 1) // 2
        text = text[: most - 1 - tail] + "…" + text[len(text) - tail :]
    return text.replace("$", r"\$")


def label_axis(axis: Any, places: AnyArray, labels: Sequence[str], room: float) -> bool:
    """Write labels along an axis that has so many inches; return False if they do not fit.

    Along the x axis they are turned upright if they would run into each other.
    """
    size = font_size(room, len(labels))
    if size is None:
        axis.set_ticks([])
        return False
    rotation = 0
    if axis.axis_name == "x":
        longest = max((len(line) for label in labels for line in label.split("\n")), default=0)
        level = 0.85 * _POINTS * room / max(len(labels), 1) / (_LETTER * max(longest, 1))
        rotation = 0 if level >= _SMALLEST_LEVEL else 90
        size = size if rotation else min(size, level)
    axis.set_ticks(places, labels, fontsize=size, rotation=rotation)
    axis.set_tick_params(length=0)
    return True


def set_title(ax: Any, title: str | None, default: str) -> None:
    """Write a title above the left edge, in lines that fit."""
    room = inches(ax)[0]
    spec = ax.get_subplotspec()
    if spec is not None and spec.get_gridspec().ncols == 1:
        # To the right there is nothing but a colour bar, to the left there are labels.
        figure = ax.figure
        room = max(room, figure.bbox.width / figure.dpi - _label_width(ax) - _MARGIN)
    width = max(20, int(room * _POINTS / (0.9 * _LETTER * _TITLE)))
    text = default if title is None else title.replace("$", r"\$")
    ax.set_title("\n".join(textwrap.wrap(text, width)), loc="left", fontsize=_TITLE)


def _label_width(ax: Any) -> float:
    """Return about how many inches the labels of the y axis take."""
    labels = ax.get_yticklabels()
    widths = [len(label.get_text()) * _LETTER * label.get_fontsize() for label in labels]
    return float(max(widths, default=0.0) / _POINTS)
