"""What the script of the page gets: the matrix on a grid, who belongs where, and names.

All of it is bounded, however large the matrix is, so that the page is.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from neocc._typing import BoolArray, FloatArray, IntArray
from neocc.plot._binning import bin_means
from neocc.plot._layout import Layout, once, plain
from neocc.plot._style import cluster_style
from neocc.report._facts import SideFacts
from neocc.report._html import LONGEST_KEPT, script_json
from neocc.report._names import keep_names, share_out
from neocc.report._pieces import look
from neocc.report._result import Result
from neocc.report._scale import Scale, scale_for

__all__ = ["Picture", "grid_shape", "make_picture", "page_data"]

# A cell takes four characters. With at most so many bins along a side, and a byte for each bin and
# group, cells and groups together stay below 1.4 million characters.
_MOST_CELLS, _MOST_BINS, _USUAL_BINS = 260_000, 2_500, 500
_NAME_BYTES = 500_000
# A place, the number of a combination of groups, quotation marks and commas.
_BYTES_PER_ITEM, _BYTES_PER_GROUP, _BYTES_PER_DISTANCE = 16, 4, 4
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


def page_data(
    result: Result, picture: Picture | None, facts: Sequence[SideFacts]
) -> dict[str, Any]:
    """Return what the script needs, as JSON knows it; `facts` are those of the clustered sides.

    Without a picture there are names and groups only.
    """
    budgets = share_out(result.matrix.shape, _NAME_BYTES)
    layouts: Sequence[Layout] = (
        [once(one.side.arrangement) for one in facts]
        if picture is None
        else (picture.rows, picture.columns)
    )
    shape = (None, None) if picture is None else picture.cells.shape
    of_sides = {
        key: {
            "noun": result.nouns[at],
            **_side(facts[at] if at < len(facts) else None, layouts[at], shape[at], name, budget),
        }
        for at, (key, name, budget) in enumerate(
            (
                ("rows", result.rows.name, budgets[0]),
                ("columns", result.column_name, budgets[1]),
            )[: len(layouts)]
        )
    }
    if picture is None:
        return of_sides
    return {"cells": _packed(picture.cells), "scale": picture.scale.as_json(), **of_sides}


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
    facts: SideFacts | None,
    layout: Layout,
    n_bins: int | None,
    name: Callable[[int], str],
    budget: int,
) -> dict[str, Any]:
    """Describe one side: places, names, groups."""
    places = np.flatnonzero(layout.items >= 0)
    order = layout.items[places]
    first = [] if facts is None else _named_on_page(facts)
    kept = keep_names(order, name, first, _costs(facts, len(order)), budget)
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
    if n_bins is not None:
        data["bins"] = n_bins
    if facts is None:
        return data
    cut = any(len(text) >= LONGEST_KEPT or text != name(item) for item, text in kept.items())
    return {**data, "cut": cut, **_groups(facts, layout, n_bins, items)}


def _costs(facts: SideFacts | None, n_items: int) -> IntArray:
    """Return the bytes that each item takes besides its name: memberships, distances, its id."""
    if facts is None:
        return np.full(n_items, _BYTES_PER_ITEM)
    per_group = _BYTES_PER_GROUP + (0 if facts.side.distances is None else _BYTES_PER_DISTANCE)
    costs = _BYTES_PER_ITEM + per_group * facts.side.weights
    if facts.side.identify is None:
        return costs
    ids = (script_json(facts.side.identify(item)) for item in range(n_items))
    return costs + np.array([len(text.encode()) + 1 for text in ids], dtype=np.intp)


def _groups(
    facts: SideFacts, layout: Layout, n_bins: int | None, items: Sequence[int]
) -> dict[str, Any]:
    """Describe the groups, in the order in which they stand, and those of each item named."""
    side = facts.side
    listed = {group.cluster for group in facts.groups}
    clusters = [cluster for cluster in layout.bars if cluster in listed]
    segments = side.arrangement.segments
    segment_of = np.empty(side.n_items, dtype=np.intp)
    lengths = [len(segment.items) for segment in segments]
    segment_of[side.arrangement.order] = np.repeat(np.arange(len(segments)), lengths)
    used, numbers = np.unique(segment_of[list(items)], return_inverse=True)
    data: dict[str, Any] = {
        "groups": [
            {
                "number": cluster + 1,
                "size": int(side.sizes[cluster]),
                "colour": cluster_style(cluster)["facecolor"],
                "look": look(cluster),
                "frame": layout.boxes.get(cluster),
            }
            for cluster in clusters
        ],
        "more": side.n_clusters - len(clusters),
        "of": numbers.tolist(),
        "combinations": [[c + 1 for c in segments[number].clusters] for number in used],
    }
    if n_bins is not None:
        data["shares"] = _base64(_shares(side.members, layout, clusters, n_bins))
    if side.identify is not None:
        data["ids"] = [side.identify(item) for item in items]
    if side.distances is not None:
        # Those of each item named, in the order of its groups.
        rows, columns = np.nonzero(side.members[list(items)])
        found = side.distances[np.asarray(items, dtype=np.intp)[rows], columns]
        data["distances"] = _packed(-found if side.gains else found)
        data["measure"] = "gain" if side.gains else "distance"
    return data


def _shares(members: BoolArray, layout: Layout, clusters: Sequence[int], n_bins: int) -> Any:
    """Return which share of each bin belongs to each group, from 0 to 255."""
    at = np.array(clusters, dtype=np.intp)
    shares = bin_means(members, layout.items, at, (n_bins, len(clusters)))
    levels = np.ceil(np.nan_to_num(shares) * (_FULL - 1)) + (shares == 1)
    return levels.astype(np.uint8)


def _named_on_page(facts: SideFacts) -> list[int]:
    """Return the items whose names the page shows anyway: those a reader will look for."""
    typical = [item for group in facts.groups for item, _ in group.typical]
    return typical + [outlier.item for outlier in facts.outliers]
