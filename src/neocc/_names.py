"""What clusters, rows and columns are called: as people count, from 1."""

from __future__ import annotations


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
