"""Items that count in pieces: each column of theirs in a cluster of its own.

That is what items of several clusters do in "either" where columns have no clusters. Tables of
pieces have a row for each item, of -1 if it counts as a whole.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from neocc._typing import FloatArray, LabelArray

__all__ = ["add_pieces", "joined_pieces", "table_of_pieces", "weights_of_pieces"]

# Cells that are looked at together.
_CELLS = 1 << 18


def table_of_pieces(n_items: int, n_columns: int, n_clusters: int) -> LabelArray:
    """Return a table of items that all count as a whole, in as few bytes as clusters allow."""
    kind = next(each for each in (np.int8, np.int16, np.int32) if np.iinfo(each).max >= n_clusters)
    return np.full((n_items, n_columns), -1, dtype=kind)


def joined_pieces(parts: Sequence[tuple[LabelArray | None, int]]) -> LabelArray | None:
    """Put the tables of consecutive items together; None of so many, who all count as a whole."""
    known = next((table for table, _ in parts if table is not None), None)
    if known is None:
        return None
    width, kind = known.shape[1], known.dtype
    return np.concatenate(
        [np.full((n, width), -1, dtype=kind) if each is None else each for each, n in parts]
    )


def add_pieces(
    rows: FloatArray, pieces: LabelArray, weights: FloatArray | None, sums: FloatArray
) -> None:
    """Add rows that count in pieces to the sums of columns, of shape (n_columns, n_clusters)."""
    m, k = sums.shape
    places = (np.arange(m) * k + pieces).ravel()
    values = rows if weights is None else rows * weights[:, None]
    sums += np.bincount(places, values.ravel(), minlength=m * k).reshape(m, k)


def weights_of_pieces(
    pieces: LabelArray, weights: FloatArray | None, n_clusters: int
) -> FloatArray:
    """Return how many items count in each cluster, column by column: (n_clusters, n_columns)."""
    m = pieces.shape[1]
    found, some = np.zeros((m, n_clusters)), np.flatnonzero(pieces[:, 0] >= 0)
    step = max(1, _CELLS // m)
    for start in range(0, len(some), step):
        at = some[start : start + step]
        ones = np.ones((len(at), m))
        add_pieces(ones, pieces[at], None if weights is None else weights[at], found)
    return np.ascontiguousarray(found.T)
