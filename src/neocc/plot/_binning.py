"""A matrix averaged over a grid of bins: what a picture with fewer pixels than cells can show."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from neocc._typing import FloatArray, IntArray

__all__ = ["bin_edges", "bin_means"]


def bin_edges(n_places: int, most: int) -> IntArray:
    """Cut places into at most `most` bins, as even as can be.

    Examples
    --------
    >>> from neocc.plot._binning import bin_edges
    >>> bin_edges(10, 4)
    array([ 0,  2,  5,  7, 10])
    """
    n_bins = min(n_places, most)
    return np.arange(n_bins + 1, dtype=np.intp) * n_places // max(n_bins, 1)


def bin_means(
    X: Any,
    rows: IntArray,
    columns: IntArray,
    most: tuple[int, int],
    *,
    observed: bool = False,
) -> FloatArray:
    """Average a matrix, its rows and columns put in order, over the bins of a grid.

    Neither a copy of the matrix in the new order nor a dense one of a sparse matrix is made.

    Parameters
    ----------
    X : ndarray or scipy.sparse.csr_array of shape (n_rows, n_columns)
        The matrix.
    rows, columns : ndarray of int
        The row (column) to show at each place; -1 leaves a place empty. A row may be shown at
        several places.
    most : pair of int
        Largest numbers of bins along rows and along columns.
    observed : bool, default=False
        Whether cells that a sparse matrix does not store are left out, instead of zero.

    Returns
    -------
    means : ndarray of shape (n_row_bins, n_column_bins)
        Mean of the cells of each bin, NaN where there are none. With as many bins as places this is
        the matrix itself in the order given.
    """
    row_edges, column_edges = bin_edges(len(rows), most[0]), bin_edges(len(columns), most[1])
    column_bins = _indicator(columns, column_edges, X.shape[1])
    n_columns_in = np.asarray(column_bins.sum(axis=1)).ravel()
    if sparse.issparse(X):
        row_bins = _indicator(rows, row_edges, X.shape[0])
        n_rows_in = np.asarray(row_bins.sum(axis=1)).ravel()
        sums = _summed(row_bins, X, column_bins)
    else:
        sums = np.empty((len(row_edges) - 1, len(column_edges) - 1))
        n_rows_in = np.empty(len(sums))
        for at, (start, stop) in enumerate(pairwise(row_edges)):
            inside = rows[start:stop]
            inside = inside[inside >= 0]
            n_rows_in[at] = len(inside)
            sums[at] = column_bins @ X[inside].sum(axis=0, dtype=np.float64)
    n_cells = np.outer(n_rows_in, n_columns_in)
    if observed:
        stored = sparse.csr_array((np.ones(X.nnz), X.indices, X.indptr), shape=X.shape)
        n_cells = _summed(row_bins, stored, column_bins)
    means: FloatArray = np.full(sums.shape, np.nan)
    return np.divide(sums, n_cells, out=means, where=n_cells > 0)


def _summed(row_bins: Any, X: Any, column_bins: Any) -> FloatArray:
    return np.asarray((row_bins @ X @ column_bins.T).todense(), dtype=np.float64)


def _indicator(places: IntArray, edges: IntArray, n_items: int) -> sparse.csr_array:
    """Return the matrix (bins x items) that counts how often an item is shown in a bin."""
    bins = np.repeat(np.arange(len(edges) - 1), np.diff(edges))
    shown = places >= 0
    at = (bins[shown], places[shown])
    return sparse.csr_array(
        sparse.coo_array((np.ones(len(at[0])), at), shape=(len(edges) - 1, n_items))
    )
