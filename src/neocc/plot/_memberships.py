"""Which clusters share members: counts of every combination, in the manner of UpSet."""

from __future__ import annotations

from typing import Any

import numpy as np

from neocc._names import cluster_name
from neocc._typing import IntArray
from neocc.plot._source import Side, read_clusters
from neocc.plot._style import (
    DARK,
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
from neocc.plot._words import plural
from neocc.plot.arrange import Arrangement, Segment

__all__ = ["memberships"]

_LEFT = 0.27


def memberships(
    model: Any,
    side: Side = "rows",
    *,
    most: int = 20,
    title: str | None = None,
    ax: Any = None,
) -> Any:
    """Draw how many rows (or columns) belong to each combination of clusters.

    Each column of dots stands for a combination: the clusters whose dots are dark, and no others.
    The bar above it shows how many rows belong to exactly these, the bar to the left of a cluster
    how many it has in total. The most common combinations come first, rows in no cluster last.

    Parameters
    ----------
    model : fitted estimator or pair of membership matrices
        The clusters to draw; one of the pair (rows, columns) may be None.
    side : {"rows", "columns"}, default="rows"
        Which clusters to draw.
    most : int, default=20
        Maximum number of combinations to draw separately. All others are counted in one bar.
    title : str, default=None
        The title; by default, it summarises the result.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; a new figure by default. The three parts of the plot are put inside.

    Returns
    -------
    ax : matplotlib.axes.Axes
        The axes that hold the parts, ``ax.child_axes``: dots, counts, sizes.

    Examples
    --------
    >>> import numpy as np
    >>> from neocc import plot
    >>> rows = np.array([[1, 0], [1, 0], [1, 1], [0, 1], [0, 0]], dtype=bool)
    >>> ax = plot.memberships((rows, None))
    >>> print(ax.get_title(loc="left"))
    3 of 5 rows are in one cluster, 1 in several, 1 in none
    """
    if most < 1:
        raise ValueError(f"most must be at least 1; got {most}.")
    clusters = read_clusters(model)
    arranged = clusters.arranged(side)
    noun = side[:-1]
    shown, rest = _ranked(arranged, most)
    n_bars = len(shown) + bool(rest) + bool(arranged.n_outliers)
    n_clusters = len(arranged.clusters)
    ax = new_axes(ax, (min(max(3.2 + 0.27 * n_bars, 5.0), 10.0), 2.4 + 0.2 * min(n_clusters, 40)))
    ax.set_axis_off()
    low = min(0.15 + 0.035 * n_clusters, 0.6)
    dots = ax.inset_axes((_LEFT, 0.0, 1 - _LEFT, low))
    counts = ax.inset_axes((_LEFT, low + 0.03, 1 - _LEFT, 0.97 - low), sharex=dots)
    sizes = ax.inset_axes((0.0, 0.0, _LEFT - 0.1, low), sharey=dots)
    _draw_dots(dots, shown, arranged.clusters, n_bars)
    _draw_counts(counts, shown, rest, arranged.n_outliers, noun)
    _draw_sizes(sizes, clusters.sizes(side)[list(arranged.clusters)], noun)
    labels = [cluster_name(side, cluster) for cluster in arranged.clusters]
    label_axis(dots.yaxis, np.arange(n_clusters), labels, inches(dots)[1])
    set_title(ax, title, _answer(arranged, noun))
    return ax


def _ranked(arranged: Arrangement, most: int) -> tuple[list[Segment], list[Segment]]:
    """Return the combinations to show, the commonest first, and the others.

    A single one left over is shown: the bar of the others would take its place.
    """
    parts = [part for part in arranged.segments if not part.is_outlier]
    parts.sort(key=lambda part: -len(part.items))
    n_shown = most if len(parts) > most + 1 else len(parts)
    return parts[:n_shown], parts[n_shown:]


def _answer(arranged: Arrangement, noun: str) -> str:
    n_several = sum(len(part.items) for part in arranged.segments if part.is_overlap)
    n_one = arranged.n_items - n_several - arranged.n_outliers
    text = f"{n_one:,} of {plural(arranged.n_items, noun)} {'is' if n_one == 1 else 'are'} in one"
    text += " cluster"
    text += f", {n_several:,} in several" if n_several else ""
    return text + (f", {arranged.n_outliers:,} in none" if arranged.n_outliers else "")


def _draw_dots(ax: Any, shown: list[Segment], clusters: tuple[int, ...], n_bars: int) -> None:
    bare(ax)
    n_clusters = len(clusters)
    ax.set(xlim=(-0.6, max(n_bars, 1) - 0.4), ylim=(max(n_clusters, 1) - 0.5, -0.5), xticks=[])
    for at in range(0, n_clusters, 2):
        ax.axhspan(at - 0.5, at + 0.5, color="0.96", linewidth=0, zorder=0)
    width, height = inches(ax)
    room = 72 * min(width / max(n_bars, 1), height / max(n_clusters, 1))
    dot = {"s": min(0.6 * room, 8.0) ** 2, "linewidths": 0}
    x, y = np.meshgrid(np.arange(len(shown)), np.arange(n_clusters))
    ax.scatter(x, y, color="0.85", zorder=1, **dot)
    place = {cluster: at for at, cluster in enumerate(clusters)}
    for at, part in enumerate(shown):
        dark = sorted(place[cluster] for cluster in part.clusters)
        ax.plot([at, at], [dark[0], dark[-1]], color=DARK, linewidth=1.5, zorder=2)
        ax.scatter([at] * len(dark), dark, color=DARK, zorder=3, **dot)


def _draw_counts(
    ax: Any, shown: list[Segment], rest: list[Segment], n_outliers: int, noun: str
) -> None:
    bare(ax, "left")
    bars = [(len(part.items), DARK, "") for part in shown]
    if rest:
        total = sum(len(part.items) for part in rest)
        bars.append((total, PALE, f"{len(rest):,} further\ncombinations"))
    if n_outliers:
        bars.append((n_outliers, NO_CLUSTER, "in none"))
    ax.set_ylabel(f"{noun}s in exactly\nthese clusters", fontsize=8)
    ax.tick_params(axis="y", labelsize=7)
    ax.tick_params(axis="x", length=0, labelbottom=False)
    ax.locator_params(axis="y", integer=True)
    ax.yaxis.set_major_formatter(matplotlib("ticker").StrMethodFormatter("{x:,.0f}"))
    if not bars:
        return
    heights, colours, notes = (list(part) for part in zip(*bars, strict=True))
    drawn = ax.bar(np.arange(len(bars)), heights, color=colours, width=0.65)
    labels = [f"{height:,}" for height in heights]
    turned = max(map(len, labels)) * 5 > 72 * inches(ax)[0] / len(bars)
    ax.bar_label(drawn, labels, fontsize=7.5, padding=2, rotation=90 if turned else 0)
    ax.margins(y=0.35 if turned else 0.12)
    for at, note in enumerate(notes):
        ax.annotate(
            note,
            (at, 0),
            (0, -3),
            textcoords="offset points",
            rotation=90,
            ha="center",
            va="top",
            fontsize=7,
        )


def _draw_sizes(ax: Any, sizes: IntArray, noun: str) -> None:
    bare(ax, "bottom")
    ax.barh(np.arange(len(sizes)), sizes, color=DARK, height=0.65)
    text = font_size(inches(ax)[1], len(sizes))
    for at, size in enumerate(sizes.tolist()):
        if text is not None:
            ax.annotate(
                f"{size:,}",
                (size, at),
                (-2, 0),
                textcoords="offset points",
                ha="right",
                va="center",
                fontsize=min(text, 7.0),
            )
    ax.set_xlim(1.1 * max(sizes.max(initial=0), 1), 0)
    ax.set_xlabel(f"{noun}s in all", fontsize=8)
    ax.tick_params(axis="x", labelsize=7)
    ax.tick_params(axis="y", length=0, labelleft=False)
    ax.locator_params(axis="x", nbins=2, integer=True)
    ax.xaxis.set_major_formatter(matplotlib("ticker").StrMethodFormatter("{x:,.0f}"))
