"""Cluster sizes, and the way the objective fell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from neocc._names import cluster_name
from neocc.plot._source import SIDES, Clusters, Side, read_clusters
from neocc.plot._style import (
    DARK,
    LIGHT,
    NO_CLUSTER,
    PALE,
    bare,
    font_size,
    inches,
    label_axis,
    matplotlib,
    new_axes,
    set_title,
)
from neocc.plot._words import fall, number, plural, step_name

__all__ = ["convergence", "sizes"]

_FEW_STEPS = 40


def convergence(model: Any, *, title: str | None = None, ax: Any = None) -> Any:
    """Draw the decrease of the objective.

    Parameters
    ----------
    model : fitted estimator or array-like
        A model with a ``history_``, or the history itself.
    title : str, default=None
        The title; by default, it says how far the objective fell.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; a new figure by default.

    Returns
    -------
    ax : matplotlib.axes.Axes
        The axes drawn on.

    Examples
    --------
    >>> from neocc import plot
    >>> ax = plot.convergence([4.0, 2.0, 1.0])
    >>> print(ax.get_title(loc="left"))
    The objective fell by 75%, from 4 to 1, in 2 steps
    """
    given = isinstance(model, np.ndarray | list | tuple)
    history = model if given else getattr(model, "history_", None)
    if history is None:
        raise ValueError(
            f"{type(model).__name__} has no history_, so there is nothing to draw. (Was it fitted?)"
        )
    values = np.asarray(history, dtype=np.float64)
    if values.ndim != 1 or not len(values):
        raise ValueError(f"A history is a list of numbers; got an array of shape {values.shape}.")
    ax = new_axes(ax, (6.0, 3.6))
    bare(ax, "left", "bottom")
    ax.grid(axis="y", color=LIGHT)
    last = len(values) - 1
    marker = {"marker": "o", "markersize": 4} if last < _FEW_STEPS else {}
    ax.plot(np.arange(last + 1), values, color=DARK, linewidth=1.6, **marker)
    for at, side in {0: "left", last: "right"}.items():
        text = {"textcoords": "offset points", "ha": side, "va": "bottom", "fontsize": 8}
        ax.annotate(number(values[at]), (at, values[at]), (0, 6), **text)
    ticker = matplotlib("ticker")
    ax.xaxis.set_major_locator(ticker.MaxNLocator(integer=True))
    ax.yaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: number(value)))
    ax.set_xlabel(step_name(model, last), fontsize=9)
    ax.set_ylabel("objective", fontsize=9)
    ax.tick_params(labelsize=8)
    ax.margins(y=0.12)
    set_title(ax, title, fall(values))
    return ax


@dataclass(frozen=True)
class _Bar:
    """What is to be drawn of one cluster, or of the items in none; without a label, nothing."""

    label: str = ""
    n_own: int = 0
    n_shared: int = 0
    n_items: int = 1
    is_cluster: bool = True

    @property
    def note(self) -> str:
        """Return what is written behind the bar."""
        shared = f" ({self.n_shared:,} shared)" if self.n_shared else ""
        return f"{self.n_own + self.n_shared:,}{shared}" if self.label else ""


def sizes(model: Any, *, title: str | None = None, ax: Any = None) -> Any:
    """Draw the sizes of all clusters, how much of them is shared, and the number of outliers.

    Parameters
    ----------
    model : fitted estimator or pair of membership matrices
        The clusters to draw; one of the pair (rows, columns) may be None.
    title : str, default=None
        The title; by default, it says how large the clusters are.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; a new figure by default.

    Returns
    -------
    ax : matplotlib.axes.Axes
        The axes drawn on.

    Examples
    --------
    >>> from neocc import plot
    >>> ax = plot.sizes(([[1, 0], [1, 1], [0, 1], [0, 1]], [[1], [1]]))
    >>> print(ax.get_title(loc="left"))
    Row clusters hold 2 to 3 of 4 rows, column clusters 2 of 2 columns
    """
    clusters = read_clusters(model)
    sides = [side for side in SIDES if getattr(clusters, side) is not None]
    bars: list[_Bar] = []
    for side in sides:
        bars += [_Bar()] * bool(bars) + _bars(clusters, side)
    ax = new_axes(ax, (6.4, min(max(0.24 * len(bars), 1.2), 10.0) + 1.3))
    bare(ax, "bottom")
    at = np.arange(len(bars))
    own, shared = (
        np.array([100 * getattr(bar, part) / bar.n_items for bar in bars])
        for part in ("n_own", "n_shared")
    )
    colours = [DARK if bar.is_cluster else NO_CLUSTER for bar in bars]
    ax.barh(at, own, color=colours, height=0.7)
    hatched = {"color": PALE, "hatch": "////", "edgecolor": "white", "linewidth": 0}
    ax.barh(at, shared, left=own, height=0.7, **hatched)
    room = inches(ax)[1]
    size = font_size(room, len(bars))
    if size is not None:
        for place, bar in enumerate(bars):
            where = (own[place] + shared[place], place)
            text = {"textcoords": "offset points", "va": "center", "fontsize": min(size, 8.0)}
            ax.annotate(bar.note, where, (3, 0), **text)
    label_axis(ax.yaxis, at, [bar.label for bar in bars], room)
    longest = max(float((own + shared).max(initial=0)), 1.0)
    ax.set(ylim=(len(bars) - 0.4, -0.6), xlim=(0, 1.22 * longest))
    wholes = " or of all ".join(sides)
    note = " (pale: in other clusters too)" if shared.any() else ""
    ax.set_xlabel(f"percent of all {wholes}{note}", fontsize=9)
    ax.tick_params(axis="x", labelsize=8)
    set_title(ax, title, _held(clusters, sides))
    return ax


def _bars(clusters: Clusters, side: Side) -> list[_Bar]:
    """Return the bars of one side, in the order of its clusters; items in none come last."""
    members = clusters.side(side)
    counts = members.sum(axis=1)
    totals = members.sum(axis=0)
    shared = members[counts > 1].sum(axis=0)
    bars = [
        _Bar(cluster_name(side, c), int(totals[c] - shared[c]), int(shared[c]), len(members))
        for c in clusters.arranged(side).clusters
    ]
    n_none = int((counts == 0).sum())
    if n_none:
        bars.append(_Bar(f"{side} in none", n_none, 0, len(members), is_cluster=False))
    return bars


def _held(clusters: Clusters, sides: list[Side]) -> str:
    parts: list[str] = []
    for side in sides:
        noun = side[:-1]
        counts = clusters.sizes(side).tolist() or [0]
        low, high = f"{min(counts):,}", f"{max(counts):,}"
        held = low if low == high else f"{low} to {high}"
        verb = "" if parts else "hold "
        parts.append(f"{noun} clusters {verb}{held} of {plural(len(clusters.side(side)), noun)}")
    text = ", ".join(parts)
    return text[:1].upper() + text[1:]
