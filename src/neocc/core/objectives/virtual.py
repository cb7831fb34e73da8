"""Block values where rows are summed over virtual clusters.

A virtual cluster stands for one row cluster, or none, within each column cluster: block (i, j) is
made of all virtual clusters that stand for i in j.
"""

from __future__ import annotations

import numpy as np

from neocc._typing import FloatArray, LabelArray
from neocc.kernels import Memberships, inverse
from neocc.kernels.pieces import weights_of_pieces

__all__ = ["added_up", "by_sums", "followed_lines", "followed_means", "followers", "gathered"]
__all__ += ["gathered_lines", "gathered_within", "lines_of"]


def by_sums(M: FloatArray, U: Memberships) -> FloatArray:
    """Return block values by the clusters that data are summed over, 0 where they stand for none.

    The values of rows are the memberships in these times that table.
    """
    virtual = U.virtual
    if virtual is None or virtual.stands_for is None:
        return M
    found: FloatArray = np.append(M, np.zeros((1, M.shape[1])), axis=0)
    return np.take_along_axis(found, virtual.stands_for, axis=0)


def lines_of(M: FloatArray, U: Memberships) -> FloatArray:
    """Return the block values of each row, 0 for a row in no cluster."""
    lines: FloatArray = U.summed.shares @ by_sums(M, U)
    if (pieces := U.summed.pieces) is not None:
        some = np.flatnonzero(pieces[:, 0] >= 0)
        lines[some] = np.take_along_axis(M, pieces[some].astype(np.intp), axis=0)
    return lines


def followers(U: Memberships, n_other: int) -> FloatArray:
    """Return the number of rows that each block is made of."""
    if (pieces := U.summed.pieces) is not None:
        by_column = weights_of_pieces(pieces, U.item_weights, U.n_clusters)
        return np.asarray(U.summed.sizes[:, None] + by_column)
    sizes = np.broadcast_to(U.summed.sizes[:, None], (U.summed.n_clusters, n_other))
    return gathered(sizes, U)


def followed_means(blocks: FloatArray, U: Memberships, V: Memberships | None) -> FloatArray:
    """Return M from the sums over virtual clusters of rows and clusters of columns.

    Without clusters of columns, each column is one. Where no row follows a cluster, the mean of all
    rows takes its place; 0 for an empty cluster.
    """
    sums, numbers = gathered(blocks, U), followers(U, blocks.shape[1])
    inverse_sizes = 1.0 if V is None else V.inverse_sizes
    means = sums * inverse(numbers) * inverse_sizes
    overall = sums.sum(axis=0) * inverse(numbers.sum(axis=0)) * inverse_sizes
    return np.where((numbers == 0) & (U.sizes[:, None] > 0), overall, means)


def followed_lines(sums: FloatArray, U: Memberships, V: Memberships) -> FloatArray:
    """Return the mean of each column over the rows that follow a cluster there.

    Columns have one cluster each, and those in none have 0, as clusters have that no row follows.
    """
    found, within = gathered_lines(sums, U, V), V.first >= 0
    found[:, within] *= inverse(followers(U, V.n_clusters))[:, V.first[within]]
    return found


def gathered_lines(table: FloatArray, U: Memberships, V: Memberships) -> FloatArray:
    """Add up the lines of virtual clusters, column by column, by the clusters they stand for."""
    followed, within = U.summed.stands_for, V.first >= 0
    assert followed is not None
    found = np.zeros((U.n_clusters, len(within)))
    found[:, within] = added_up(table[:, within], followed[:, V.first[within]], U.n_clusters)
    return found


def gathered(table: FloatArray, U: Memberships) -> FloatArray:
    """Add up the lines of virtual clusters by the clusters they stand for."""
    stands_for = U.summed.stands_for
    return np.array(table) if stands_for is None else added_up(table, stands_for, U.n_clusters)


def gathered_within(table: FloatArray, U: Memberships, j: int) -> FloatArray:
    """Add up the columns of virtual clusters by what they stand for in one column cluster."""
    stands_for = U.summed.stands_for
    return table if stands_for is None else added_up(table.T, stands_for[:, [j]], U.n_clusters).T


def added_up(table: FloatArray, clusters: LabelArray, k: int) -> FloatArray:
    """Add up each column of a table by the clusters of its cells, -1 for none."""
    found = np.zeros((k + 1, table.shape[1]))
    np.add.at(found, (clusters, np.arange(table.shape[1])), table)
    return found[:k]
