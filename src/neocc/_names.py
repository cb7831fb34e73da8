"""What clusters, rows and columns are called: as people count, from 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def cluster_name(side: str, cluster: int) -> str:
    """Name a cluster of "rows" or "columns".

    Examples
    --------
    >>> from neocc._names import cluster_name
    >>> cluster_name("rows", 0), cluster_name("columns", 2)
    ('R1', 'C3')
    """
    return f"{side[0].upper()}{cluster + 1}"


def item_name(side: str, item: int) -> str:
    """Name one of the "rows" or "columns" that has no name.

    Examples
    --------
    >>> from neocc._names import item_name
    >>> item_name("rows", 0)
    'row 1'
    """
    return f"{side[:-1]} {item + 1}"


def frame_names(frame: Any, side: str) -> Sequence[Any] | None:
    """Return the names that a data frame has for its "rows" or "columns", None where it has none.

    Examples
    --------
    >>> from neocc._names import frame_names
    >>> frame_names([[1, 2]], "rows") is None
    True
    """
    names = getattr(frame, "index" if side == "rows" else "columns", None)
    # Lists have a method of this name, and an index that only counts names nothing.
    return None if callable(names) or type(names).__name__ == "RangeIndex" else names
