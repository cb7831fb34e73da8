"""Rows and columns that count as more than one, or as less, where that is a matter of the data.

Counts of a row that stands for two are twice its counts, and so are the weights of its observed
cells. Data in memory are multiplied once, those of a store whenever a block is read: by whoever
reads it, in this process or on a worker.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from neocc._typing import FloatArray, IntArray
from neocc.engines.gpu.matrix import DenseCard, ObservedCard, SparseCard, fetched
from neocc.engines.matrix import DenseMatrix, Matrix, SparseMatrix, slice_rows
from neocc.engines.observed import (
    ObservedMatrix,
    observed_cells,
    weighed_cells,
    weights_of,
    weights_of_items,
)
from neocc.engines.reading import canonical
from neocc.engines.stored import RowSource, StoredRows, open_rows

__all__ = ["WeighedSource", "read_cell_weights", "read_weights"]
__all__ += ["read_weights_of_sides", "weighed"]


# Products of weights and squares must be finite, and not 0.
_LEAST, _LARGEST = 1e-100, 1e100


def read_weights(name: str, weights: Any, n_items: int) -> FloatArray | None:
    """Check the weights of rows or columns; None if all are one."""
    if weights is None:
        return None
    try:
        found = np.array(fetched(weights), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must hold numbers; got {weights!r}.") from error
    if found.shape != (n_items,):
        side = name.removesuffix("_weight")
        raise ValueError(
            f"{name} must have a number for each of the {n_items} {side}s; got {found.shape}."
        )
    bad = np.flatnonzero(~((found >= _LEAST) & (found <= _LARGEST)))
    if len(bad):
        raise ValueError(
            f"{name} must be positive, from {_LEAST:g} to {_LARGEST:g}; found {found[bad[0]]:g} at "
            f"{bad[0]}. Leave out what shall not count."
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
        weights = canonical(weights) if sparse.issparse(weights) else np.asarray(weights)
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
        if isinstance(known, WeighedSource):
            known, cells = known.source, known.cells
        source = WeighedSource(known, rows, columns, cells, isinstance(matrix, ObservedMatrix))
        stored = open_rows(source, matrix.values.n_kept)
        if isinstance(matrix, DenseMatrix):
            return DenseMatrix(stored)
        return type(matrix)(stored, matrix.indptr)
    if isinstance(matrix, SparseCard | ObservedCard | DenseCard):
        return matrix.weighed(rows, columns)
    if isinstance(matrix, ObservedMatrix):
        return weighed_cells(matrix, rows, columns)
    scaled = _scaled(matrix.values, rows, columns)
    return SparseMatrix.from_scipy(scaled) if sparse.issparse(scaled) else DenseMatrix(scaled)


def _scaled(X: Any, rows: FloatArray | None, columns: FloatArray | None) -> Any:
    """Return an array or a CSR matrix times weights of its rows and columns."""
    if sparse.issparse(X):
        data = X.data * weights_of_items(X, rows, columns)
        return sparse.csr_array((data, X.indices, X.indptr), shape=X.shape)
    X = X.astype(np.float64)
    X = X if columns is None else X * columns
    return X if rows is None else X * rows[:, None]


@dataclass(frozen=True)
class WeighedSource:
    """Blocks of another source, weighed; see `neocc.engines.stored.RowSource`.

    Of observed cells the weights are kept beside the values; other entries are multiplied by them.
    `cells` are weights of the observed ones, in a store or in memory.
    """

    source: RowSource
    rows: FloatArray | None
    columns: FloatArray | None
    cells: Any = None
    observed: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return self.source.shape

    @property
    def n_stored(self) -> int:
        """Number of stored entries."""
        return self.source.n_stored

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the numbers."""
        return np.dtype(np.complex128 if self.observed else np.float64)

    @property
    def is_sparse(self) -> bool:
        """Whether blocks are row-compressed."""
        return self.source.is_sparse

    @property
    def edges(self) -> IntArray:
        """Block i holds rows `edges[i]` to `edges[i + 1]`."""
        return self.source.edges

    @property
    def entries(self) -> IntArray:
        """Number of stored entries of each block."""
        return self.source.entries

    @property
    def digest(self) -> str:
        """What tells these data from others."""
        known = getattr(self.source, "digest", None) or [self.n_stored, self.edges.tolist()]
        given: list[Any] = [known]
        given += [
            None if weights is None else zlib.crc32(weights.tobytes())
            for weights in (self.rows, self.columns)
        ]
        if isinstance(self.cells, RowSource):
            given.append(getattr(self.cells, "digest", None))
        elif self.cells is not None:
            values = self.cells.data if sparse.issparse(self.cells) else self.cells
            given.append(zlib.crc32(np.ascontiguousarray(values).tobytes()))
        return str(given)

    def load(self, index: int) -> Any:
        """Return one block, weighed."""
        return self._weighed(self.source.load(index), index)

    def read(self, index: int) -> Any:
        """Return one block that is soon left behind."""
        return self._weighed(getattr(self.source, "read", self.source.load)(index), index)

    def load_part(self, index: int) -> Any:
        """Return one block of which a few rows are wanted."""
        return self._weighed(getattr(self.source, "load_part", self.source.load)(index), index)

    def _weighed(self, block: Any, index: int) -> Any:
        start, stop = (int(edge) for edge in self.edges[index : index + 2])
        rows = None if self.rows is None else self.rows[start:stop]
        if not self.observed:
            return _scaled(block, rows, self.columns)
        X, cells = observed_cells(block), self.cells
        if cells is not None:
            stored = isinstance(cells, RowSource)
            cells = StoredRows(cells)[start:stop] if stored else slice_rows(cells, start, stop)
        found = ObservedMatrix.from_scipy(X, None if cells is None else weights_of(cells, X))
        return weighed_cells(found, rows, self.columns).sendable
