"""Rows and columns that count as more than one, or as less, where that is a matter of the data.

Counts of a row that stands for two are twice its counts, and so are the weights of its observed
cells. Data in memory are multiplied once, those of a store whenever a block is read: by whoever
reads it, in this process or on a worker.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from neocc._typing import FloatArray
from neocc.engines.changed import LARGEST_WEIGHT, LEAST_WEIGHT, ChangedSource, real_weights, scaled
from neocc.engines.gpu.matrix import DenseCard, SparseCard, fetched, put_on_card
from neocc.engines.matrix import Matrix
from neocc.engines.observed import ObservedMatrix
from neocc.engines.reading import canonical
from neocc.engines.stored import RowSource, StoredRows

__all__ = ["read_cell_weights", "read_weights", "read_weights_of_sides", "weighed"]


def read_weights(name: str, weights: Any, n_items: int) -> FloatArray | None:
    """Check the weights of rows or columns; None if all are one."""
    if weights is None:
        return None
    try:
        given = np.asarray(fetched(weights))
    except ValueError as error:  # ragged
        raise ValueError(f"{name} must hold numbers; got {weights!r}.") from error
    found = real_weights(name, given).astype(np.float64)
    if found.shape != (n_items,):
        side = name.removesuffix("_weight")
        raise ValueError(
            f"{name} must have a number for each of the {n_items} {side}s; got {found.shape}."
        )
    bad = np.flatnonzero(~((found >= LEAST_WEIGHT) & (found <= LARGEST_WEIGHT)))
    if len(bad):
        raise ValueError(
            f"{name} must be positive, from {LEAST_WEIGHT:g} to {LARGEST_WEIGHT:g}; found "
            f"{found[bad[0]]:g} at {bad[0]}. Leave out what should not count."
        )
    return None if (found == 1.0).all() else found


def read_weights_of_sides(
    rows: Any, columns: Any, matrix: Matrix
) -> tuple[FloatArray | None, FloatArray | None]:
    """Check the weights of rows and of columns."""
    n, m = matrix.shape
    return read_weights("row_weight", rows, n), read_weights("column_weight", columns, m)


def read_cell_weights(weights: Any, source: RowSource) -> Any:
    """Check the shape of the weights of a store's cells: a store, or a matrix in memory."""
    if weights is None:
        return None
    if not isinstance(weights, RowSource):
        weights = real_weights("cell_weight", weights)
        weights = canonical(weights) if sparse.issparse(weights) else weights
    if weights.shape != source.shape:
        raise ValueError(
            f"cell_weight must have the shape of X, {source.shape}; got {weights.shape}."
        )
    return weights


def weighed(
    matrix: Matrix, rows: FloatArray | None, columns: FloatArray | None, cells: Any = None
) -> Matrix:
    """Return a matrix whose rows and columns count as often as their weights say.

    With `cells`, a store or a matrix, the observed cells of a store have weights too.
    """
    if rows is None and columns is None and cells is None:
        return matrix
    if isinstance(matrix.values, StoredRows):
        known: Any = matrix.values.source
        if isinstance(known, ChangedSource):
            known, cells = known.source, known.cells
        observed = isinstance(matrix, ObservedMatrix)
        source = ChangedSource(known, observed, rows, columns, cells)
        return replace(matrix, values=matrix.values.over(source))
    if isinstance(matrix, SparseCard | DenseCard):
        rows, columns = put_on_card(rows), put_on_card(columns)
    if isinstance(matrix, ObservedMatrix):
        return matrix.weighed(rows, columns)
    return replace(matrix, values=scaled(matrix.values, rows, columns))
