"""Where things stand along one side of a picture."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neocc._typing import IntArray
from neocc.plot.arrange import Arrangement

__all__ = ["Layout", "once", "plain", "repeated"]

_GAP = 0.012


@dataclass(frozen=True, eq=False)
class Layout:
    """One side of a picture, place by place.

    Attributes
    ----------
    items : ndarray of int
        The row (or column) at each place, -1 where a place is left empty.
    bars : dict of int to list of pair of int
        For each cluster, in order, the stretches at which its members stand.
    boxes : dict of int to pair of int
        For each cluster that can be framed in one piece, where the frame starts and ends.
    outliers : pair of int or None
        Where the items of no cluster start and end.
    """

    items: IntArray
    bars: dict[int, list[tuple[int, int]]]
    boxes: dict[int, tuple[int, int]]
    outliers: tuple[int, int] | None

    @property
    def n_places(self) -> int:
        """Number of places."""
        return len(self.items)

    @property
    def end(self) -> int:
        """Where the items in clusters end; all the way where there are none."""
        ends = [pieces[-1][1] for pieces in self.bars.values() if pieces]
        return max(ends, default=self.n_places)


def plain(n_items: int) -> Layout:
    """Lay out items in the order of the data."""
    return Layout(np.arange(n_items), {}, {}, None)


def once(arrangement: Arrangement) -> Layout:
    """Lay out each item once, clusters in one piece where they can be, outliers apart at the end.

    Examples
    --------
    >>> import numpy as np
    >>> from neocc.plot._layout import once
    >>> from neocc.plot.arrange import arrange
    >>> layout = once(arrange(np.array([[1, 0], [1, 1], [0, 1], [0, 0]], dtype=bool)))
    >>> layout.items, layout.boxes, layout.outliers
    (array([ 0,  1,  2, -1,  3]), {0: (0, 2), 1: (1, 3)}, (4, 5))
    """
    bars = {cluster: arrangement.pieces(cluster) for cluster in arrangement.clusters}
    boxes = {cluster: pieces[0] for cluster, pieces in bars.items() if len(pieces) == 1}
    inside = arrangement.order[: arrangement.n_items - arrangement.n_outliers]
    return _with_outliers(arrangement, [inside], bars, boxes)


def repeated(arrangement: Arrangement) -> Layout:
    """Lay out each item once in each of its clusters, with space between clusters.

    Examples
    --------
    >>> import numpy as np
    >>> from neocc.plot._layout import repeated
    >>> from neocc.plot.arrange import arrange
    >>> layout = repeated(arrange(np.array([[1, 0], [1, 1], [0, 1], [0, 0]], dtype=bool)))
    >>> layout.items, layout.boxes, layout.outliers
    (array([ 0,  1, -1,  1,  2, -1,  3]), {0: (0, 2), 1: (3, 5)}, (6, 7))
    """
    gap = _gap(arrangement)
    parts: list[IntArray] = []
    bars: dict[int, list[tuple[int, int]]] = {cluster: [] for cluster in arrangement.clusters}
    boxes = {}
    place = 0
    for cluster in arrangement.clusters:
        members = [part for part in arrangement.segments if cluster in part.clusters]
        if not members:
            continue
        if parts:
            parts.append(gap)
            place += len(gap)
        first = place
        for part in members:
            stop = place + len(part.items)
            for shared in part.clusters:
                _extend(bars[shared], place, stop)
            parts.append(part.items)
            place = stop
        boxes[cluster] = (first, place)
    return _with_outliers(arrangement, parts, bars, boxes)


def _extend(pieces: list[tuple[int, int]], start: int, stop: int) -> None:
    """Add a stretch, joined to the last if it follows it at once."""
    if pieces and pieces[-1][1] == start:
        start = pieces.pop()[0]
    pieces.append((start, stop))


def _gap(arrangement: Arrangement) -> IntArray:
    n_empty = max(1, round(_GAP * arrangement.n_items))
    return np.full(n_empty, -1, dtype=np.intp)


def _with_outliers(
    arrangement: Arrangement,
    parts: list[IntArray],
    bars: dict[int, list[tuple[int, int]]],
    boxes: dict[int, tuple[int, int]],
) -> Layout:
    items = np.concatenate([np.empty(0, dtype=np.intp), *parts])
    outliers = None
    if arrangement.n_outliers:
        gap = _gap(arrangement)[: None if len(items) else 0]
        start = len(items) + len(gap)
        outside = arrangement.segments[-1].items
        outliers = (start, start + len(outside))
        items = np.concatenate([items, gap, outside])
    return Layout(items, bars, boxes, outliers)
