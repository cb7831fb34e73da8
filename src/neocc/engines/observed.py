"""Observed cells: the stored entries of a matrix, and nothing else.

A stored zero is an observed zero. Cells may have weights. The effects of rows and columns can be
subtracted from observed cells without filling the matrix: at once in memory, and when a block of a
store is read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from neocc._typing import FloatArray
from neocc.engines.changed import (
    ChangedSource,
    minus_effects,
    observed_cells,
    unpacked,
    weights_of,
    weights_of_items,
)
from neocc.engines.matrix import SparseMatrix
from neocc.engines.reading import canonical, check_values
from neocc.engines.stored import RowSource, StoredRows

__all__ = ["ObservedMatrix", "open_observed", "read_observed"]


@dataclass(frozen=True, eq=False)
class ObservedMatrix(SparseMatrix):
    """A CSR matrix of observed cells, in memory or in a store."""

    @classmethod
    def from_scipy(cls, X: Any, weights: FloatArray | None = None) -> ObservedMatrix:
        """Wrap a CSR matrix of values without copying."""
        return cls(X, X.indptr, weights)

    @classmethod
    def of_rows(cls, X: Any, *_: object) -> ObservedMatrix:
        """Wrap rows that are in memory."""
        X, weights = unpacked(observed_cells(X))
        return cls(X, X.indptr, weights)

    def without(self, rows: FloatArray, columns: FloatArray) -> ObservedMatrix:
        """Return the matrix minus effects of rows and columns, in every observed cell."""
        if sparse.issparse(self.values):
            return replace(self, values=minus_effects(self.values, rows, columns))
        source, chosen = self.values.source, self.values.chosen
        if chosen is not None:
            some, rows = rows, np.zeros(source.shape[0])
            rows[chosen] = some
        changed = isinstance(source, ChangedSource)
        source = source if changed else ChangedSource(source, observed=True)
        return replace(self, values=self.values.over(replace(source, effects=(rows, columns))))

    def weighed(self, rows: FloatArray | None, columns: FloatArray | None) -> ObservedMatrix:
        """Return the cells in memory with those of rows and columns as further weights."""
        more = weights_of_items(self.values, rows, columns)
        return replace(self, weights=more if self.weights is None else more * self.weights)

    def value_range(self, start: int, stop: int) -> tuple[float, float]:
        """Return the least and the largest value of some rows that weighs something, if any."""
        if isinstance(self.values, StoredRows):
            return self.of_rows(self.values[start:stop]).value_range(0, stop - start)
        at = slice(int(self.indptr[start]), int(self.indptr[stop]))
        values = self.values.data[at]
        values = values if self.weights is None else values[self.weights[at] > 0]
        return (float(values.min()), float(values.max())) if len(values) else (np.inf, -np.inf)


def read_observed(X: Any, names: Any = None, weights: Any = None) -> ObservedMatrix:
    """Wrap the observed cells of checked input; `weights` have the same cells, or more."""
    given, X = X, canonical(observed_cells(X))
    check_values(X.data, X.shape, names, X)
    return ObservedMatrix.from_scipy(X, None if weights is None else weights_of(weights, X, given))


def open_observed(source: RowSource, n_kept: int) -> ObservedMatrix:
    """Return the matrix of the cells that a source stores."""
    rows = StoredRows(source, n_kept)
    if source.is_sparse:
        indptr = rows.indptr()
    else:
        indptr = np.arange(source.shape[0] + 1, dtype=np.int64) * source.shape[1]
    return ObservedMatrix(rows, indptr)
