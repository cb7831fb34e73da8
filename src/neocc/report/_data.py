"""What the script of the page gets: the matrix on a grid, who belongs where, and names.

All of it is bounded, however large the matrix is, so that the page is.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from neocc._typing import FloatArray, IntArray
from neocc.plot._binning import bin_means
from neocc.plot._layout import Layout, once, plain
from neocc.plot._style import cluster_style
from neocc.report._facts import SideFacts
from neocc.report._html import LONGEST_KEPT, LONGEST_NAME, script_json, shorten
from neocc.report._result import Result
from neocc.report._scale import Scale, scale_for

__all__ = ["Picture", "grid_shape", "keep_names", "make_picture", "page_data"]

# A cell takes four characters. With at most so many bins along a side, and a byte for each bin and
# group, cells and groups together stay below 1.4 million characters.
_MOST_CELLS, _MOST_BINS, _USUAL_BINS = 260_000, 2_500, 500
_NAME_BYTES = 600_000
# A place, the number of a combination of groups, quotation marks and commas; the longest name, all
# of its letters escaped, besides.
_BYTES_PER_ITEM, _BYTES_PER_GROUP = 16, 4
_MOST_BYTES = _BYTES_PER_ITEM + 6 * LONGEST_KEPT
# Names are cut to fewer letters before any are left out.
_LENGTHS = (LONGEST_KEPT, 240, 120, LONGEST_NAME)
_FULL = 255


@dataclass(frozen=True, eq=False)
class Picture:
    """The matrix in order, on a grid.

    Attributes
    ----------
    rows, columns : Layout
        What stands where.
    cells : ndarray of shape (n_row_bins, n_column_bins)
        Means over the bins of the grid.
    scale : Scale
        Colours for them.
    """

    rows: Layout
    columns: Layout
    cells: FloatArray
    scale: Scale

    @property
    def is_exact(self) -> bool:
        """Whether there is a bin for every cell of the matrix."""
        return self.cells.shape == (self.rows.n_places, self.columns.n_places)


def make_picture(result: Result) -> Picture:
    """Put the matrix in order, on a grid."""
    rows = once(result.rows.arrangement)
    if result.columns is None:
        columns = plain(result.matrix.shape[1])
    else:
        columns = once(result.columns.arrangement)
    shape = grid_shape(rows.n_places, columns.n_places)
    data, observed = result.matrix.data, result.observed
    cells = bin_means(data, rows.items, columns.items, shape, observed=observed)
    # Outliers may lie far out: colours are for those in groups.
    inner = [
        n_bins * side.end // side.n_places
        for n_bins, side in zip(shape, (rows, columns), strict=True)
    ]
    main = cells[: inner[0], : inner[1]]
    scale = scale_for(cells, main, "range" if observed else None)
    return Picture(rows, columns, cells, scale)


def grid_shape(n_rows: int, n_columns: int) -> tuple[int, int]:
    """Return the bins to cut places into: one for each, where there are not too many.

    Examples
    --------
    >>> from neocc.report._data import grid_shape
    >>> grid_shape(2417, 103), grid_shape(943, 1682), grid_shape(1_000_000, 20)
    ((2417, 103), (520, 500), (2500, 20))
    """
    if n_rows * n_columns <= _MOST_CELLS and max(n_rows, n_columns) <= _MOST_BINS:
        return n_rows, n_columns
    n_column_bins = min(n_columns, _USUAL_BINS)
    n_row_bins = min(n_rows, _MOST_BINS, _MOST_CELLS // n_column_bins)
    return n_row_bins, min(n_columns, _MOST_BINS, _MOST_CELLS // n_row_bins)


def page_data(result: Result, picture: Picture, facts: Sequence[SideFacts]) -> dict[str, Any]:
    """Return what the script needs, as JSON knows it; `facts` are those of the clustered sides."""
    rows, columns = facts[0], facts[1] if len(facts) > 1 else None
    n_row_bins, n_column_bins = picture.cells.shape
    budgets = _share_out(result.matrix.shape, _NAME_BYTES)
    return {
        "cells": _packed(picture.cells),
        "scale": picture.scale.as_json(),
        "rows": {
            "noun": result.nouns[0],
            "bins": n_row_bins,
            **_side(rows, picture.rows, n_row_bins, rows.side.name, budgets[0]),
        },
        "columns": {
            "noun": result.nouns[1],
            "bins": n_column_bins,
            **_side(columns, picture.columns, n_column_bins, result.column_name, budgets[1]),
        },
    }


def _packed(cells: FloatArray) -> str:
    """Write numbers as the upper three bytes of float32, which keep nearly five digits.

    The lowest byte is rounded away; numbers beyond the range of float32 become the largest.
    """
    largest = np.finfo(np.float32).max * (1 - 2.0**-15)
    bits = np.clip(cells, -largest, largest).astype("<f4").view("<u4")
    rounded = np.where(np.isnan(cells), bits, bits + 0x80).astype("<u4")
    return _base64(rounded.reshape(-1, 1).view(np.uint8)[:, 1:])


def _base64(array: Any) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii")


def _side(
    facts: SideFacts | None, layout: Layout, n_bins: int, name: Callable[[int], str], budget: int
) -> dict[str, Any]:
    """Describe one side: places, names, groups."""
    places = np.flatnonzero(layout.items >= 0)
    order = layout.items[places]
    first = [] if facts is None else _named_on_page(facts)
    weights = np.zeros(len(order), np.intp) if facts is None else facts.side.weights
    kept = keep_names(order, name, first, _BYTES_PER_ITEM + _BYTES_PER_GROUP * weights, budget)
    place_of = np.empty(len(order), dtype=np.intp)
    place_of[order] = places
    items = sorted(kept, key=place_of.__getitem__)
    data: dict[str, Any] = {
        "items": len(order),
        "places": layout.n_places,
        "names": [kept[item] for item in items],
        "at": place_of[items].tolist(),
        "outliers": layout.outliers,
        "groups": [],
        "more": 0,
    }
    return data if facts is None else {**data, **_groups(facts, layout, n_bins, items)}


def _groups(facts: SideFacts, layout: Layout, n_bins: int, items: Sequence[int]) -> dict[str, Any]:
    """Describe the groups, in the order in which they stand, and those of each item named."""
    side = facts.side
    listed = {group.cluster for group in facts.groups}
    clusters = [cluster for cluster in layout.bars if cluster in listed]
    shares = bin_means(
        side.members, layout.items, np.array(clusters, dtype=np.intp), (n_bins, len(clusters))
    )
    levels = np.ceil(np.nan_to_num(shares) * (_FULL - 1)) + (shares == 1)
    segments = side.arrangement.segments
    segment_of = np.empty(side.n_items, dtype=np.intp)
    lengths = [len(segment.items) for segment in segments]
    segment_of[side.arrangement.order] = np.repeat(np.arange(len(segments)), lengths)
    used, numbers = np.unique(segment_of[list(items)], return_inverse=True)
    return {
        "groups": [
            {
                "number": cluster + 1,
                "size": int(side.sizes[cluster]),
                "colour": cluster_style(cluster)["facecolor"],
                "frame": layout.boxes.get(cluster),
            }
            for cluster in clusters
        ],
        "more": side.n_clusters - len(clusters),
        "shares": _base64(levels.astype(np.uint8)),
        "of": numbers.tolist(),
        "combinations": [[c + 1 for c in segments[number].clusters] for number in used],
    }


def _named_on_page(facts: SideFacts) -> list[int]:
    """Return the items whose names the page shows anyway: those a reader will look for."""
    typical = [item for group in facts.groups for item, _ in group.typical]
    return typical + [outlier.item for outlier in facts.outliers]


def _share_out(counts: tuple[int, int], budget: int) -> tuple[int, int]:
    """Give half to each side, and what one side cannot need to the other."""
    rows, columns = (min(count * _MOST_BYTES, budget // 2) for count in counts)
    return budget - columns, budget - rows


def keep_names(
    order: IntArray,
    name: Callable[[int], str],
    first: Sequence[int],
    costs: IntArray,
    budget: int,
) -> dict[int, str]:
    """Return names of items: of the first ones, and of as many others as the budget allows.

    Names are kept whole where all fit, else cut in their middle. If even then not all fit, the
    others are spread evenly over the order, so that there are names near every place.

    Parameters
    ----------
    order : ndarray of int
        All items, in order.
    name : callable
        The name of an item.
    first : sequence of int
        The items whose names are needed most.
    costs : ndarray of int
        Number of bytes that each item takes on the page besides its name.
    budget : int
        Number of bytes that there are.

    Examples
    --------
    >>> import numpy as np
    >>> from neocc.report._data import keep_names
    >>> keep_names(np.arange(6), str, [4], np.full(6, 1), 16)
    {4: '4', 0: '0', 2: '2'}
    """
    least = int(costs.sum())
    if least <= budget:
        whole = {item: name(item) for item in dict.fromkeys([*first, *order.tolist()])}
        for longest in _LENGTHS:
            kept = {item: shorten(text, longest) for item, text in whole.items()}
            if _cost(kept, costs) <= budget:
                return kept
    step = max(1, math.ceil(least / max(budget, 1)))
    while True:
        chosen = dict.fromkeys([*first, *order[::step].tolist()])
        kept = {item: shorten(name(item)) for item in chosen}
        cost = _cost(kept, costs)
        if cost <= budget or step >= len(order):
            return kept
        step = math.ceil(step * max(cost / budget, 1.01))


def _cost(kept: dict[int, str], costs: IntArray) -> int:
    """Return the bytes that items with names take on the page."""
    return sum(int(costs[item]) + len(script_json(text).encode()) for item, text in kept.items())
