"""The matrix before and after its rows and columns were put in order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from neocc.plot._binning import bin_means
from neocc.plot._frames import draw_bars, draw_boxes, make_room
from neocc.plot._layout import Layout, once, plain, repeated
from neocc.plot._measure import is_observed
from neocc.plot._source import read_clusters, read_names, read_values
from neocc.plot._style import bare, draw_image, fit_text, inches, label_axis, new_axes, set_title
from neocc.plot._words import answer, percent, plural
from neocc.plot.arrange import Arrangement

__all__ = ["matrix", "reordered"]

# More cells than this along a side are averaged: a picture of usual size shows no more. Sparse
# matrices are averaged further, until there are a few entries to a pixel, but not without limit.
_MOST_PIXELS, _FEWEST_PIXELS = 500, 150
_ENTRIES_ON_PIXEL = 3
_MOST_NAMES = 120
# Up to here a new figure grows with the number of names, so that all are easy to read.
_ROOMY_NAMES = 60


def matrix(
    X: Any,
    *,
    row_names: Sequence[Any] | None = None,
    column_names: Sequence[Any] | None = None,
    missing: Literal["zero", "ignore"] = "zero",
    cmap: Any = None,
    title: str | None = None,
    colorbar: bool = True,
    ax: Any = None,
) -> Any:
    """Draw a matrix in its given order.

    Parameters
    ----------
    X : Matrix, array-like, data frame or sparse matrix of shape (n_rows, n_columns)
        The matrix. Where it has more than 500 rows or columns (fewer, if it is sparse), each pixel
        shows the mean of the cells that fall on it, zeros included. Pass ``X != 0`` to see where
        there are entries, whatever their values.
    row_names, column_names : sequence, default=None
        Names, written where there is room for them; by default those of a data frame
        or of a `neocc.io.Matrix`, or numbers.
    missing : {"zero", "ignore"}, default="zero"
        How to treat cells not stored in a sparse matrix: as zero, or as not observed and left
        blank, like NaN in an array. `reordered` uses the setting of the model.
    cmap : str or matplotlib.colors.Colormap, default=None
        Colormap. By default, numbers of one sign get darker away from zero, and numbers of both
        signs go from blue through grey to yellow, as do all numbers if some cells are blank.
    title : str, default=None
        The title; by default, it says how large and how dense the matrix is.
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
    >>> from neocc.datasets import load_southern_women
    >>> women = load_southern_women()
    >>> ax = plot.matrix(women.data, row_names=women.row_names, column_names=women.column_names)
    >>> print(ax.get_title(loc="left"))
    18 rows and 14 columns, 35% of the cells not zero
    """
    observed = missing == "ignore"
    values = read_values(X, observed=observed)
    n_rows, n_columns = values.shape
    names = (
        read_names(row_names, X, n_rows, "rows"),
        read_names(column_names, X, n_columns, "columns"),
    )
    rows, columns = plain(n_rows), plain(n_columns)
    ax = new_axes(ax, _size(rows, columns))
    _draw_cells(ax, values, rows, columns, cmap, colorbar, observed)
    _label(ax, rows, columns, names)
    if observed:
        filled, what = values.nnz, "observed"
    else:
        dense = isinstance(values, np.ndarray)
        filled, what = np.count_nonzero(values) if dense else values.count_nonzero(), "not zero"
    share = filled / (n_rows * n_columns)
    full = "" if share == 1 else f", {percent(share)} of the cells {what}"
    set_title(ax, title, f"{plural(n_rows, 'row')} and {plural(n_columns, 'column')}{full}")
    return ax


def reordered(
    model: Any,
    X: Any,
    *,
    repeat: bool = False,
    row_names: Sequence[Any] | None = None,
    column_names: Sequence[Any] | None = None,
    cmap: Any = None,
    title: str | None = None,
    colorbar: bool = True,
    ax: Any = None,
) -> Any:
    """Draw a matrix with its rows and columns sorted by their clusters.

    Rows in several clusters are placed between the other rows of these where a single order allows
    it, and rows in no cluster at the end. The bars at the side show which rows are in which
    cluster, whatever their order. A frame is drawn around each cluster that is contiguous:
    solid for rows, dashed for columns. Similar clusters are placed side by side. Cells that the
    model treats as missing (``missing="ignore"``) are blank.

    Parameters
    ----------
    model : fitted estimator or pair of membership matrices
        The clusters to draw; one of the pair (rows, columns) may be None.
    X : Matrix, array-like, data frame or sparse matrix of shape (n_rows, n_columns)
        The matrix; see `neocc.plot.matrix` for large ones.
    repeat : bool, default=False
        Whether to draw a row or column in several clusters once in each of them, instead of once.
        All clusters are then contiguous, and the plot has more rows than the matrix.
    row_names, column_names : sequence, default=None
        Names, written where there is room for them; by default those of a data frame, those that
        the model was fitted with, or numbers.
    cmap : str or matplotlib.colors.Colormap, default=None
        Colormap; see `neocc.plot.matrix`. Colours span the values of rows and columns in clusters;
        those of outliers may lie beyond.
    title : str, default=None
        The title; by default, it summarises the result.
    colorbar : bool, default=True
        Whether to draw a colour bar.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; a new figure by default.

    Returns
    -------
    ax : matplotlib.axes.Axes
        The axes drawn on. Frames and bars carry the cluster in their ``gid``: ``"R1 box"``,
        ``"C3 bar"``.

    Examples
    --------
    >>> from neocc import NEOCC, plot
    >>> from neocc.datasets import load_southern_women
    >>> women = load_southern_women()
    >>> model = NEOCC(2, 3, row_overlap=0.05, row_outliers=0.05, random_state=0).fit(women.data)
    >>> ax = plot.reordered(model, women.data, row_names=women.row_names)
    >>> print(ax.get_title(loc="left"))
    2 row clusters and 3 column clusters; 2 rows in several; 1 row in none
    """
    observed = is_observed(model)
    values = read_values(X, observed=observed)
    clusters = read_clusters(model, values)
    if column_names is None:
        column_names = getattr(model, "feature_names_in_", None)
    names = (
        read_names(row_names, X, values.shape[0], "rows"),
        read_names(column_names, X, values.shape[1], "columns"),
    )
    rows, columns = (
        _lay_out(arrangement, n_items, repeat)
        for arrangement, n_items in zip(clusters.arrangements, values.shape, strict=True)
    )
    ax = new_axes(ax, _size(rows, columns))
    bare(ax)
    _draw_cells(ax, values, rows, columns, cmap, colorbar, observed)
    room = make_room(ax, rows, columns)
    draw_boxes(ax, rows, columns, room)
    draw_bars(ax, rows, columns, room)
    _label(ax, rows, columns, names)
    set_title(ax, title, answer(clusters))
    return ax


def _lay_out(arrangement: Arrangement | None, n_items: int, repeat: bool) -> Layout:
    if arrangement is None:
        return plain(n_items)
    return repeated(arrangement) if repeat else once(arrangement)


def _size(rows: Layout, columns: Layout) -> tuple[float, float]:
    """Return a size in inches at which names fit, if there are few."""
    wide, high = (
        0.19 * side.n_places if side.n_places <= _ROOMY_NAMES else 5.0 for side in (columns, rows)
    )
    wide += 0.24 * min(len(rows.bars), 6)
    high += 0.24 * min(len(columns.bars), 6)
    return min(max(wide, 3.5), 8.0) + 2.4, min(max(high, 2.0), 10.0) + 1.4


def _draw_cells(
    ax: Any, values: Any, rows: Layout, columns: Layout, cmap: Any, colorbar: bool, observed: bool
) -> None:
    most = _MOST_PIXELS
    if not isinstance(values, np.ndarray):
        most = int(np.clip(np.sqrt(values.nnz / _ENTRIES_ON_PIXEL), _FEWEST_PIXELS, _MOST_PIXELS))
    cells = bin_means(values, rows.items, columns.items, (most, most), observed=observed)
    places = (rows.n_places, columns.n_places)
    which = "observed cells" if observed else "cells"
    label = "value" if cells.shape == places else f"mean of the {which} on a pixel"
    # Outliers may lie far out: colours are for those in clusters.
    inner = [
        n_bins * side.end // side.n_places
        for n_bins, side in zip(cells.shape, (rows, columns), strict=True)
    ]
    main = cells[: inner[0], : inner[1]]
    shown = label if colorbar else None
    draw_image(ax, cells, places, cmap, shown, main, "range" if observed else None)


def _label(
    ax: Any, rows: Layout, columns: Layout, names: tuple[list[str] | None, list[str] | None]
) -> None:
    """Write names, or numbers, where they fit, and else how many there are."""
    width, height = inches(ax)
    for side, axis, room, texts, noun in (
        (rows, ax.yaxis, height, names[0], "row"),
        (columns, ax.xaxis, width, names[1], "column"),
    ):
        low, high = axis.get_view_interval()
        places = np.flatnonzero(side.items >= 0)
        items = side.items[places]
        if side.n_places <= _MOST_NAMES:
            labels = [fit_text(texts[item]) if texts else str(item + 1) for item in items]
            if label_axis(axis, places + 0.5, labels, room * len(places) / abs(high - low)):
                continue
        axis.set_ticks([])
        n_items = len(np.unique(items))
        again = f", drawn {len(items):,} times" if len(items) > n_items else ""
        axis.set_label_text(plural(n_items, noun) + again, fontsize=9)
