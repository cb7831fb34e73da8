"""Data that are changed when they are read: weights of items and cells, effects subtracted.

Rows of a store are changed by whoever reads them, in this process or on a worker; data in memory
once, by the same functions. Where only observed cells count, their weights lie beside the values;
where both travel as one matrix, weights are its imaginary part. Arrays may be those of a card.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from neocc._typing import AnyArray, BoolArray, FloatArray, IntArray
from neocc.engines.matrix import packed, slice_rows, with_data
from neocc.engines.reading import canonical
from neocc.engines.stored import RowSource, StoredRows

__all__ = ["ChangedSource", "minus_effects", "observed_cells", "scaled", "unpacked"]
__all__ += ["LARGEST_WEIGHT", "LEAST_WEIGHT", "as_numbers", "real_weights", "weights_of"]
__all__ += ["weights_of_items"]

# Products of weights and squares must be finite, and not 0.
LEAST_WEIGHT, LARGEST_WEIGHT = 1e-100, 1e100


def unpacked(X: Any) -> tuple[Any, FloatArray | None]:
    """Return cells and their weights, None for ones."""
    if X.dtype.kind != "c":
        return X, None
    return with_data(X, X.data.real.copy()), X.data.imag.copy()


def scaled(X: Any, rows: FloatArray | None, columns: FloatArray | None) -> Any:
    """Return an array or a CSR matrix times weights of its rows and columns."""
    if hasattr(X, "indptr"):
        return with_data(X, X.data * weights_of_items(X, rows, columns))
    X = X.astype(np.float64)
    X = X if columns is None else X * columns
    return X if rows is None else X * rows[:, None]


def minus_effects(X: Any, rows: FloatArray, columns: FloatArray) -> Any:
    """Return observed cells minus effects of rows and columns."""
    expected = _by_row(X, rows) + columns[X.indices]
    return with_data(X, X.data.astype(np.float64) - expected)


def weights_of_items(X: Any, rows: FloatArray | None, columns: FloatArray | None) -> FloatArray:
    """Return the weight of each stored cell, given those of rows and of columns."""
    found = np.ones_like(X.data, dtype=np.float64)
    if rows is not None:
        found *= _by_row(X, rows)
    return found if columns is None else found * columns[X.indices]


def _by_row(X: Any, rows: FloatArray) -> FloatArray:
    """Return for each stored cell the number of its row."""
    if sparse.issparse(X):
        return np.repeat(rows, np.diff(X.indptr))
    ends, cells = X.indptr.astype(np.int64), np.arange(len(X.data), like=X.data)
    return rows[np.searchsorted(ends, cells, side="right") - 1]


def observed_cells(X: Any) -> Any:
    """Return the observed cells as a CSR matrix: the stored ones, but for NaN."""
    if sparse.issparse(X):
        return _without_nan(X)
    X = X.astype(np.float64) if X.dtype.kind == "O" else X
    observed = ~np.isnan(X) if X.dtype.kind == "f" else np.ones(X.shape, dtype=bool)
    rows, columns = np.nonzero(observed)
    indptr = np.zeros(len(X) + 1, dtype=np.int64)
    np.cumsum(np.bincount(rows, minlength=len(X)), out=indptr[1:])
    small = max(X.shape[1], int(indptr[-1])) < np.iinfo(np.int32).max
    kind = np.int32 if small else np.int64
    cells = (X[rows, columns], columns.astype(kind), indptr.astype(kind))
    return sparse.csr_array(cells, shape=X.shape)


def _without_nan(X: Any) -> Any:
    """Return a sparse matrix without the cells that store NaN; zeros stay."""
    X = X.tocsr()
    if X.dtype.kind != "f" or not np.isnan(X.data).any():
        return X
    return _only(X, ~np.isnan(X.data))


def _only(X: Any, kept: BoolArray) -> Any:
    """Return some of the stored cells of a CSR matrix."""
    indptr = np.concatenate([[0], np.cumsum(kept)])[X.indptr].astype(X.indptr.dtype)
    return sparse.csr_array((X.data[kept], X.indices[kept], indptr), shape=X.shape)


def _alike(one: Any, other: Any) -> bool:
    """Whether two CSR matrices store the same cells."""
    pairs = ((one.indptr, other.indptr), (one.indices, other.indices))
    return all(np.array_equal(*pair) for pair in pairs)


def real_weights(name: str, weights: Any) -> Any:
    """Return weights as they are, or as an array; text and complex ones are refused."""
    found = weights if sparse.issparse(weights) else np.asarray(weights)
    if found.dtype.kind == "c":
        raise ValueError(f"{name} must hold real numbers; got {found.dtype}. Pass the real part.")
    return as_numbers(name, found)


def as_numbers(name: str, values: Any) -> Any:
    """Return values as they are, or as numbers if they are text or objects."""
    if values.dtype.kind in "biuf":
        return values
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must hold numbers; got {values!r}.") from error


def weights_of(weights: Any, X: Any, given: Any = None) -> FloatArray:
    """Check the weights of cells; return those of the observed ones in their order.

    Weights may be stored for the cells, too, in which `given`, the data with what is missing,
    stores NaN.
    """
    weights = real_weights("cell_weight", weights)
    if weights.shape != X.shape:
        raise ValueError(f"cell_weight must have the shape of X, {X.shape}; got {weights.shape}.")
    if sparse.issparse(weights):
        W = canonical(weights)
        if sparse.issparse(given) and not _alike(W, X):
            stored = canonical(given)
            W = _only(W, ~np.isnan(stored.data)) if _alike(W, stored) else W
        if not _alike(W, X):
            raise ValueError(
                "cell_weight must store the same cells as X: a weight for each observed cell. Give "
                "explicit zeros to cells that should not count."
            )
        found: FloatArray = W.data.astype(np.float64)
    else:
        rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        found = weights.astype(np.float64)[rows, X.indices]
    bad = np.flatnonzero((found != 0.0) & ~((found >= LEAST_WEIGHT) & (found <= LARGEST_WEIGHT)))
    if len(bad):
        raise ValueError(
            f"cell_weight must be 0, or from {LEAST_WEIGHT:g} to {LARGEST_WEIGHT:g}, in every "
            f"observed cell; found {found[bad[0]]:g}."
        )
    return found


@dataclass(frozen=True)
class ChangedSource:
    """Blocks of another source, changed; see `neocc.engines.stored.RowSource`.

    Of `observed` cells the weights are kept beside the values, and effects of rows and columns are
    subtracted; other entries are multiplied by weights. `cells` are weights of the observed ones,
    in a store or in memory.
    """

    source: RowSource
    observed: bool
    rows: FloatArray | None = None
    columns: FloatArray | None = None
    cells: Any = None
    effects: tuple[FloatArray, FloatArray] | None = None
    shape: tuple[int, int] = field(init=False)
    n_stored: int = field(init=False)
    dtype: np.dtype[Any] = field(init=False)
    is_sparse: bool = field(init=False)
    edges: IntArray = field(init=False)
    entries: IntArray = field(init=False)

    def __post_init__(self) -> None:
        kind = np.complex128 if self.observed and self._weighs else np.float64
        object.__setattr__(self, "dtype", np.dtype(kind))
        for name in ("shape", "n_stored", "is_sparse", "edges", "entries"):
            object.__setattr__(self, name, getattr(self.source, name))

    @property
    def _weighs(self) -> bool:
        return any(each is not None for each in (self.rows, self.columns, self.cells))

    @property
    def digest(self) -> str:
        """Identifies the data; effects follow from them."""
        known = getattr(self.source, "digest", None) or [self.n_stored, self.edges.tolist()]
        if not self._weighs:
            return str(known)
        given = [
            known,
            *(None if each is None else _crc(each) for each in (self.rows, self.columns)),
        ]
        if isinstance(self.cells, RowSource):
            given.append(getattr(self.cells, "digest", None))
        elif self.cells is not None:
            given.append(_crc(self.cells.data if sparse.issparse(self.cells) else self.cells))
        return str(given)

    def load(self, index: int) -> Any:
        """Return one block, changed."""
        return self._changed(self.source.load(index), index)

    def read(self, index: int) -> Any:
        """Return one block that is soon left behind."""
        return self._changed(getattr(self.source, "read", self.source.load)(index), index)

    def load_part(self, index: int) -> Any:
        """Return one block of which a few rows are wanted."""
        return self._changed(getattr(self.source, "load_part", self.source.load)(index), index)

    def _changed(self, block: Any, index: int) -> Any:
        start, stop = (int(edge) for edge in self.edges[index : index + 2])
        rows = None if self.rows is None else self.rows[start:stop]
        if not self.observed:
            return scaled(block, rows, self.columns)
        X, weights, cells = observed_cells(block), None, self.cells
        if cells is not None:
            stored = isinstance(cells, RowSource)
            cells = StoredRows(cells)[start:stop] if stored else slice_rows(cells, start, stop)
            weights = weights_of(cells, X)
        if self._weighs:
            more = weights_of_items(X, rows, self.columns)
            weights = more if weights is None else more * weights
        if self.effects is not None:
            X = minus_effects(X, self.effects[0][start:stop], self.effects[1])
        return packed(X, weights)


def _crc(values: AnyArray) -> int:
    return zlib.crc32(np.ascontiguousarray(values).tobytes())
