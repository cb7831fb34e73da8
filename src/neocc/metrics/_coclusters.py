"""Recovery and relevance of co-clusters: best Jaccard index of sets of cells."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np

from neocc._typing import FloatArray, IntArray
from neocc.metrics._covers import Overlaps, read_covers, require_clusters

Pairing = Literal["grid", "paired"]

# Entries of the table of Jaccard indices that are held at a time.
_TABLE_SIZE = 1 << 20


def recovery(
    true: Any, found: Any, *, true_pairing: Pairing = "grid", found_pairing: Pairing = "grid"
) -> float:
    r"""Mean over the true co-clusters of the best Jaccard index with a found co-cluster.

    A co-cluster is the set of cells where its rows meet its columns.

    .. math:: \frac{1}{|T|} \sum_{A \in T} \max_{B \in F} \frac{|A \cap B|}{|A \cup B|}

    for the true co-clusters T and the found ones F: how much of the truth was found. The match
    score of [1]_, on cells instead of rows as in [2]_.

    Parameters
    ----------
    true : pair of array-likes or sparse matrices
        Row memberships (n_rows, n_row_clusters) and column memberships (n_columns,
        n_column_clusters), booleans or 0 and 1.
    found : pair of array-likes or sparse matrices
        The same for the co-clusters to be scored.
    true_pairing, found_pairing : {"grid", "paired"}, default="grid"
        ``"grid"``: every row cluster with every column cluster is a co-cluster, as in NEO-CC.
        ``"paired"``: the first row cluster with the first column cluster, the second with the
        second, and so on, as in lists of biclusters.

    Returns
    -------
    score : float
        Between 0 and 1. Co-clusters without cells score 0; so does finding none.

    See Also
    --------
    relevance : How much of what was found is true.
    sklearn.metrics.consensus_score : One-to-one matches of lists of biclusters.

    References
    ----------
    .. [1] Prelić, A., et al. (2006). A systematic comparison and evaluation of biclustering methods
       for gene expression data. Bioinformatics 22, 1122-1129.
    .. [2] Eren, K., Deveci, M., Küçüktunç, O., and Çatalyürek, Ü. V. (2013). A comparative analysis
       of biclustering algorithms for gene expression data. Briefings in Bioinformatics 14, 279-292.

    Examples
    --------
    >>> from neocc.metrics import recovery, relevance
    >>> true = [[1, 0], [1, 0], [0, 1], [0, 1]], [[1], [1]]
    >>> found = [[1], [1], [0], [0]], [[1], [1]]
    >>> recovery(true, found)  # one of two co-clusters was found
    0.5
    >>> relevance(true, found)  # and it is right
    1.0
    """
    rows, columns = _read_sides(true, found)
    true_pairs = _pairs(rows.common.shape[0], columns.common.shape[0], true_pairing, "true")
    found_pairs = _pairs(rows.common.shape[1], columns.common.shape[1], found_pairing, "found")
    return float(_best_jaccard(rows, columns, true_pairs, found_pairs).mean())


def relevance(
    true: Any, found: Any, *, true_pairing: Pairing = "grid", found_pairing: Pairing = "grid"
) -> float:
    r"""Mean over the found co-clusters of the best Jaccard index with a true co-cluster.

    .. math:: \frac{1}{|F|} \sum_{B \in F} \max_{A \in T} \frac{|A \cap B|}{|A \cup B|}

    for the true co-clusters T and the found ones F, as sets of cells: how much of what was found is
    true. It is :func:`recovery` with the roles exchanged [1]_.

    Parameters
    ----------
    true : pair of array-likes or sparse matrices
        Row memberships (n_rows, n_row_clusters) and column memberships (n_columns,
        n_column_clusters), booleans or 0 and 1.
    found : pair of array-likes or sparse matrices
        The same for the co-clusters to be scored.
    true_pairing, found_pairing : {"grid", "paired"}, default="grid"
        Which row clusters and column clusters make a co-cluster, see :func:`recovery`.

    Returns
    -------
    score : float
        Between 0 and 1. Co-clusters without cells score 0; so does finding none.

    See Also
    --------
    recovery : How much of the truth was found.

    References
    ----------
    .. [1] Prelić, A., et al. (2006). A systematic comparison and evaluation of biclustering methods
       for gene expression data. Bioinformatics 22, 1122-1129.

    Examples
    --------
    >>> from neocc.metrics import relevance
    >>> true = [[1], [1], [0], [0]], [[1], [1]]
    >>> found = [[1], [1], [1], [1]], [[1], [1]]
    >>> relevance(true, found)  # 4 true cells of 8
    0.5
    """
    rows, columns = _read_sides(true, found)
    true_pairs = _pairs(rows.common.shape[0], columns.common.shape[0], true_pairing, "true")
    found_pairs = _pairs(rows.common.shape[1], columns.common.shape[1], found_pairing, "found")
    best = _best_jaccard(_swapped(rows), _swapped(columns), found_pairs, true_pairs)
    return float(best.mean()) if best.size else 0.0


def _read_sides(true: Any, found: Any) -> tuple[Overlaps, Overlaps]:
    """Check two pairs of membership matrices; return what their row and column clusters share."""
    sides = []
    for side, index in (("row", 0), ("column", 1)):
        names = (f"true[{index}]", f"found[{index}]")
        covers = read_covers(_pair(true, "true")[index], _pair(found, "found")[index], names)
        require_clusters(covers[0], f"{names[0]} ({side} memberships)")
        sides.append(Overlaps.of(*covers))
    return sides[0], sides[1]


def _pair(value: Any, name: str) -> tuple[Any, Any]:
    if isinstance(value, tuple | list) and len(value) == 2:
        return value[0], value[1]
    raise ValueError(f"{name} must be a pair: row memberships and column memberships.")


def _pairs(n_rows: int, n_columns: int, pairing: Pairing, name: str) -> tuple[IntArray, IntArray]:
    """Row cluster and column cluster of each co-cluster."""
    if pairing not in get_args(Pairing):
        raise ValueError(f'{name}_pairing must be "grid" or "paired", got {pairing!r}.')
    if pairing == "grid":
        return np.repeat(np.arange(n_rows), n_columns), np.tile(np.arange(n_columns), n_rows)
    if n_rows != n_columns:
        raise ValueError(
            f'{name}_pairing="paired" needs as many row clusters as column clusters; got {n_rows} '
            f"and {n_columns}."
        )
    return np.arange(n_rows), np.arange(n_columns)


def _swapped(overlaps: Overlaps) -> Overlaps:
    return Overlaps(overlaps.n_items, overlaps.found_sizes, overlaps.true_sizes, overlaps.common.T)


def _best_jaccard(
    rows: Overlaps,
    columns: Overlaps,
    scored: tuple[IntArray, IntArray],
    others: tuple[IntArray, IntArray],
    table_size: int = _TABLE_SIZE,
) -> FloatArray:
    """Best Jaccard index of each scored (true) co-cluster with any of the others (found)."""
    areas = rows.true_sizes[scored[0]] * columns.true_sizes[scored[1]]
    other_areas = rows.found_sizes[others[0]] * columns.found_sizes[others[1]]
    best = np.zeros(areas.size)
    step = max(1, table_size // max(1, other_areas.size))
    for start in range(0, areas.size, step):
        part = slice(start, start + step)
        common = rows.common[np.ix_(scored[0][part], others[0])]
        common = common * columns.common[np.ix_(scored[1][part], others[1])]
        union = np.add.outer(areas[part], other_areas) - common
        best[part] = (common / np.maximum(union, 1)).max(axis=1, initial=0.0)
    return best
