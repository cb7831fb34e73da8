"""The mean of every block, or its lift."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from neocc._names import cluster_name, item_name
from neocc._typing import BoolArray, FloatArray, IntArray
from neocc.plot._binning import bin_means
from neocc.plot._measure import Measure, is_observed
from neocc.plot._source import SIDES, Clusters, read_clusters, read_names, read_values
from neocc.plot._style import (
    draw_image,
    fit_text,
    font_size,
    inches,
    label_axis,
    new_axes,
    set_title,
)
from neocc.plot._words import plural

__all__ = ["blocks"]

_MOST_PIXELS = 500
_MOST_NUMBERS = 400


def blocks(
    model: Any,
    X: Any = None,
    *,
    row_names: Sequence[Any] | None = None,
    column_names: Sequence[Any] | None = None,
    cmap: Any = None,
    title: str | None = None,
    colorbar: bool = True,
    ax: Any = None,
) -> Any:
    """Draw the mean of every block (for counts, the lift), with the sizes of the clusters.

    Clusters are in the order of `neocc.plot.reordered`. For a model that clusters only the rows,
    the cluster centres are drawn, with the columns in the order of the data. If a row in several
    clusters is modelled as their mean or their sum (`overlap_model`), blocks show the levels of the
    model instead of means over all members. Lifts, and means of observed cells after row and column
    effects are removed, have a diverging colormap centred on the expected value.

    Parameters
    ----------
    model : fitted estimator or pair of membership matrices
        The clusters to draw; one of the pair (rows, columns) may be None.
    X : array-like, data frame or sparse matrix of shape (n_rows, n_columns), default=None
        The matrix; required only if the model has no block means.
    row_names, column_names : sequence, default=None
        Names of the rows or columns that are not clustered.
    cmap : str or matplotlib.colors.Colormap, default=None
        Colormap; see `neocc.plot.matrix`.
    title : str, default=None
        The title; by default, it names the highest and the lowest block.
    colorbar : bool, default=True
        Whether to draw a colour bar.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; a new figure by default.

    Returns
    -------
    ax : matplotlib.axes.Axes
        The axes drawn on.

    Examples
    --------
    >>> from neocc import plot
    >>> ax = plot.blocks(([[1], [1]], [[1, 0], [0, 1]]), [[1, 2], [3, 4]])
    >>> print(ax.get_title(loc="left"))
    Block means: highest 3 (R1, C2), lowest 2 (R1, C1)
    """
    values = None if X is None else read_values(X, observed=is_observed(model))
    clusters = read_clusters(model, values)
    if clusters.means is None:
        what = "A pair of memberships" if isinstance(model, tuple | list) else type(model).__name__
        raise ValueError(f"{what} has no block means: pass the matrix too, blocks(model, X).")
    if not clusters.means.size:
        raise ValueError("There are no clusters, so there are no blocks to draw.")
    if column_names is None:
        column_names = getattr(model, "feature_names_in_", None)
    names = [
        None if members is not None else read_names(given, X, n_items, side)
        for members, given, n_items, side in zip(
            (clusters.rows, clusters.columns),
            (row_names, column_names),
            clusters.means.shape,
            SIDES,
            strict=True,
        )
    ]
    orders = [
        np.arange(n_items) if arranged is None else np.array(arranged.clusters, dtype=np.intp)
        for arranged, n_items in zip(clusters.arrangements, clusters.means.shape, strict=True)
    ]
    ax = new_axes(ax, _size(len(orders[0]), len(orders[1])))
    means = np.where(_filled(clusters), clusters.means, np.nan)
    cells = bin_means(means, orders[0], orders[1], (_MOST_PIXELS, _MOST_PIXELS))
    places = (len(orders[0]), len(orders[1]))
    measure = clusters.measure
    label = measure.noun if colorbar else None
    image = draw_image(ax, cells, places, cmap, label, kind=measure.limits)
    ax.set_facecolor("0.85")
    if cells.shape == places:
        _write_means(ax, cells, image, measure)
    _label(ax, clusters, orders, names)
    set_title(ax, title, _extremes(clusters, means))
    return ax


def _size(n_rows: int, n_columns: int) -> tuple[float, float]:
    wide = 0.85 * n_columns if n_columns <= 8 else 7.0
    return max(wide, 2.4) + 2.4, min(max(0.36 * n_rows, 1.2), 9.0) + 1.4


def _filled(clusters: Clusters) -> BoolArray:
    """Say which blocks have any cell."""
    assert clusters.means is not None
    rows, columns = (
        np.ones(n_items, dtype=bool) if members is None else members.sum(axis=0) > 0
        for members, n_items in zip(
            (clusters.rows, clusters.columns), clusters.means.shape, strict=True
        )
    )
    return np.logical_and.outer(rows, columns)


def _write_means(ax: Any, cells: FloatArray, image: Any, measure: Measure) -> None:
    """Write numbers into the cells if they fit, dark on light or light on dark."""
    width, height = inches(ax)
    size = font_size(min(0.3 * width / cells.shape[1], height / cells.shape[0]), 1)
    if cells.size > _MOST_NUMBERS or size is None:
        return
    for (row, column), mean in np.ndenumerate(cells):
        text, colour = "empty", "black"
        if np.isfinite(mean):
            red, green, blue, _ = image.cmap(image.norm(mean))
            light = 0.3 * red + 0.6 * green + 0.1 * blue > 0.5
            text, colour = measure.figure(mean), "black" if light else "white"
        at = (column + 0.5, row + 0.5)
        ax.text(*at, text, ha="center", va="center", color=colour, fontsize=size)


def _label(
    ax: Any, clusters: Clusters, orders: list[IntArray], names: list[list[str] | None]
) -> None:
    """Write clusters with their sizes, or the names of what is not clustered, if they fit."""
    width, height = inches(ax)
    for axis, members, order, texts, room, (side, noun, between) in (
        (ax.yaxis, clusters.rows, orders[0], names[0], height, ("rows", "row", ": ")),
        (ax.xaxis, clusters.columns, orders[1], names[1], width, ("columns", "column", "\n")),
    ):
        if members is None:
            labels = [fit_text(texts[item]) if texts else str(item + 1) for item in order]
        else:
            counts = members.sum(axis=0).tolist()
            labels = [
                f"{cluster_name(side, c)}{between}{plural(counts[c], noun)}" for c in order.tolist()
            ]
        # Two lines under a column need no more width than the longer one.
        if not label_axis(axis, np.arange(len(order)) + 0.5, labels, room):
            what = noun if members is None else f"{noun} cluster"
            axis.set_label_text(plural(len(order), what), fontsize=9)


def _extremes(clusters: Clusters, means: FloatArray) -> str:
    both = clusters.rows is not None and clusters.columns is not None
    measure = clusters.measure
    what = f"{'Block' if both else 'Cluster'} {measure.plural}"
    if not np.isfinite(means).any():
        return f"{what}: all clusters are empty"
    high, low = float(np.nanmax(means)), float(np.nanmin(means))
    if high == low:
        return f"{what}: all {measure.figure(high)}"
    places = [divmod(int(at), means.shape[1]) for at in (np.nanargmax(means), np.nanargmin(means))]
    names = []
    for i, j in places:
        row = item_name("rows", i) if clusters.rows is None else cluster_name("rows", i)
        column = item_name("columns", j) if clusters.columns is None else cluster_name("columns", j)
        names.append(f"({row}, {column})")
    highest, lowest = measure.figure(high), measure.figure(low)
    return f"{what}: highest {highest} {names[0]}, lowest {lowest} {names[1]}"
