"""Frames around clusters, and bars that show who belongs to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from neocc._names import cluster_name
from neocc._typing import FloatArray
from neocc.plot._layout import Layout
from neocc.plot._style import LIGHT, cluster_style, inches, matplotlib

__all__ = ["draw_bars", "draw_boxes", "make_room"]

# In inches. A bar takes `_STEP` where there is room, less where there are many.
_STEP, _BAR = 0.24, 0.75
_SPACE = 0.1
_OUTSET = 0.03
_MOST_OF_SIDE = 0.3
_ROOM_FOR_WORD = 0.45
_LABELLED_FROM, _LEVEL_FROM = 0.09, 0.2
_MOST_PIECES, _MOST_PIXELS, _LEAST_SHADE = 600, 500, 0.15
_DASHES = (0, (4, 1.5))
_TEXT = {"fontsize": 7, "color": "0.15"}


@dataclass(frozen=True)
class Room:
    """The room around a matrix, all lengths in places.

    Attributes
    ----------
    inch : pair of float
        An inch along the columns, and along the rows.
    step : pair of float
        From one bar of rows to the next, and from one bar of columns to the next.
    """

    inch: tuple[float, float]
    step: tuple[float, float]


def make_room(ax: Any, rows: Layout, columns: Layout) -> Room:
    """Set the limits of axes so that bars fit right of the matrix and above it."""
    width, height = inches(ax)
    step_x, step_y = _step(len(rows.bars), width), _step(len(columns.bars), height)
    right = len(rows.bars) * step_x + 2 * _SPACE
    top = len(columns.bars) * step_y + 2 * _SPACE
    if rows.outliers:
        right = max(right, _ROOM_FOR_WORD)
    if columns.outliers:
        top = max(top, _ROOM_FOR_WORD)
    x = columns.n_places / max(width - right, 0.3 * width)
    y = rows.n_places / max(height - top, 0.3 * height)
    ax.set_xlim(-_SPACE * x, columns.n_places + right * x)
    ax.set_ylim(rows.n_places + _SPACE * y, -top * y)
    return Room((x, y), (step_x * x, step_y * y))


def _step(n_bars: int, side: float) -> float:
    return min(_STEP, _MOST_OF_SIDE * side / max(n_bars, 1))


def draw_boxes(ax: Any, rows: Layout, columns: Layout, room: Room) -> None:
    """Frame the clusters that are in one piece, rows with solid lines, columns with dashed ones.

    The frames of rows are a little wider and those of columns a little higher than the matrix, so
    that no line hides another.
    """
    x, y = _OUTSET * room.inch[0], 2 * _OUTSET * room.inch[1]
    wide, high = columns.end + 2 * x, rows.end + 2 * y
    for cluster, (start, stop) in rows.boxes.items():
        across = (-x, start, wide, stop - start)
        _draw_box(ax, cluster_name("rows", cluster), cluster, across, "solid")
    for cluster, (start, stop) in columns.boxes.items():
        down = (start, -y, stop - start, high)
        _draw_box(ax, cluster_name("columns", cluster), cluster, down, _DASHES)


def _draw_box(
    ax: Any, name: str, cluster: int, place: tuple[float, float, float, float], line: Any
) -> None:
    casing = matplotlib("patheffects").withStroke(linewidth=3.2, foreground="white")
    box = matplotlib("patches").Rectangle(place[:2], *place[2:], fill=False, linewidth=1.7)
    box.set(
        edgecolor=cluster_style(cluster)["facecolor"],
        linestyle=line,
        path_effects=[casing],
        zorder=3,
        gid=f"{name} box",
    )
    ax.add_patch(box)


def draw_bars(ax: Any, rows: Layout, columns: Layout, room: Room) -> None:
    """Draw a bar per cluster, those of rows right of the matrix and those of columns above it."""
    right = columns.n_places + _SPACE * room.inch[0]
    top = -_SPACE * room.inch[1]
    step, inch = room.step[0], room.inch[0]
    turned = 0 if step >= _LEVEL_FROM * inch else 90
    for place, cluster in enumerate(rows.bars):
        at = right + place * step
        name = cluster_name("rows", cluster)
        _draw_bar(ax, rows, cluster, (at, at + _BAR * step), upright=True)
        if step >= _LABELLED_FROM * inch:
            where = (at + 0.5 * _BAR * step, 0.4 * top)
            ax.text(*where, name, ha="center", va="bottom", rotation=turned, **_TEXT)
    step, inch = room.step[1], room.inch[1]
    for place, cluster in enumerate(columns.bars):
        at = top - (len(columns.bars) - place) * step
        name = cluster_name("columns", cluster)
        _draw_bar(ax, columns, cluster, (at, at + _BAR * step), upright=False)
        if step >= _LABELLED_FROM * inch:
            where = (-0.4 * _SPACE * room.inch[0], at + 0.5 * _BAR * step)
            ax.text(*where, name, ha="right", va="center", **_TEXT)
    if rows.outliers is not None:
        ax.text(right, sum(rows.outliers) / 2, "in none", ha="left", va="center", **_TEXT)
    if columns.outliers is not None:
        middle = sum(columns.outliers) / 2
        ax.text(middle, top, "in none", ha="center", va="bottom", rotation=90, **_TEXT)


def _draw_bar(
    ax: Any, side: Layout, cluster: int, across: tuple[float, float], *, upright: bool
) -> None:
    """Draw the pieces of a bar, or how much of it they fill where a side has too many to be seen.

    Of those that are not seen, thousands of hatched ones would also take minutes to draw.
    """
    low, high = across
    name = cluster_name("rows" if upright else "columns", cluster)
    pieces, length, style = side.bars[cluster], side.end, cluster_style(cluster)
    if sum(map(len, side.bars.values())) > _MOST_PIECES:
        colours = _shaded(pieces, length, style["facecolor"])
        colours = colours[:, None] if upright else colours[None, :]
        extent = (low, high, length, 0) if upright else (0, length, high, low)
        ax.imshow(colours, extent=extent, aspect="auto", gid=f"{name} bar")
        return

    def corners(start: float, stop: float) -> list[tuple[float, float]]:
        box = [(start, low), (stop, low), (stop, high), (start, high)]
        return [(y, x) for x, y in box] if upright else box

    collection = matplotlib("collections").PolyCollection
    ax.add_collection(collection([corners(0, length)], facecolor=LIGHT, linewidth=0))
    bar = collection([corners(*piece) for piece in pieces], **style)
    bar.set(edgecolor="white", linewidth=0, gid=f"{name} bar")
    ax.add_collection(bar)


def _shaded(pieces: list[tuple[int, int]], length: int, colour: str) -> FloatArray:
    """Return the colours of a bar cut into pixels, mixed by how much of each the pieces fill."""
    ends = np.array(pieces, dtype=np.float64).reshape(-1, 2)
    filled = np.concatenate([[0.0], np.cumsum(ends[:, 1] - ends[:, 0])])
    edges = np.linspace(0, length, min(length, _MOST_PIXELS) + 1)
    # How much lies before each edge: all pieces that end before it, and a part of the one it cuts.
    before = np.searchsorted(ends[:, 1], edges)
    cut = np.append(ends[:, 0], np.inf)[before]
    share = np.diff(filled[before] + np.maximum(edges - cut, 0.0)) / np.diff(edges)
    weight = np.where(share > 0, np.maximum(share, _LEAST_SHADE), 0.0)[:, None]
    to_rgb = matplotlib("colors").to_rgb
    mixed: FloatArray = weight * np.array(to_rgb(colour)) + (1 - weight) * np.array(to_rgb(LIGHT))
    return mixed
