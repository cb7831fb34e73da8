"""From an array to a matrix that engines read: values are checked, and copied only if necessary.

The array has passed scikit-learn's `check_array` (or `validate_data`) with `READ_OPTIONS`: it is a
two-dimensional NumPy array or a SciPy sparse matrix. Cells that are not finite are looked for here,
so that the error can say where they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from neocc._typing import AnyArray
from neocc.engines.containers import in_memory
from neocc.engines.matrix import DenseMatrix, Matrix, SparseMatrix

__all__ = ["READ_OPTIONS", "as_matrix", "canonical", "check_scale", "check_values", "readable"]
__all__ += ["SMALLEST", "summed"]

READ_OPTIONS: dict[str, Any] = {
    "accept_sparse": ("csr", "csc", "coo", "lil", "dia", "dok", "bsr"),
    "ensure_all_finite": False,
}
# Squares of larger values, summed and scaled for ties, could overflow.
LARGEST = 1e140
SMALLEST = 1e-150
"""The square of a smaller number is 0, or has lost its digits."""
_AT_ONCE = 1 << 14

_LEFT_OUT = '; NEOCC and suggest_n_clusters leave them out with missing="ignore".'


def readable(X: Any) -> Any:
    """Return data for `check_array`, brought into memory if they are another library's.

    Text, complex numbers and dates are refused, naming the first such column or cell: messages of
    `check_array` do not say where.
    """
    X = in_memory(X)
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        for name in X.columns:
            _refuse_values(np.asarray(X[name])[:, None], f" in column {str(name)!r}")
        fills = [getattr(kind, "fill_value", None) for kind in X.dtypes]
        if None not in fills and any(fill != 0 for fill in fills):
            X = X.sparse.to_dense()  # in a SciPy matrix cells that are not stored are zeros
    elif sparse.issparse(X):
        _refuse_values(np.empty((0, 0), dtype=X.dtype))
        X = summed(X)  # before `check_array` converts it
    elif isinstance(X, np.ndarray | list | tuple):
        try:
            _refuse_values(np.asarray(X))
        except ValueError as error:
            if "inhomogeneous" in str(error):
                raise ValueError(
                    "Input X is ragged: its rows have different lengths. Give every row the same "
                    "number of values."
                ) from error
            raise
    return X


def _refuse_values(values: AnyArray, where: str = "") -> None:
    kind = values.dtype.kind
    if kind == "c":
        raise ValueError(
            f"Complex data not supported: found {values.dtype}{where}. Pass the real part, the "
            "imaginary part or the modulus."
        )
    if kind in "mM":
        raise ValueError(
            f"Input X holds dates or times ({values.dtype}){where}. Turn them into numbers first."
        )
    if kind in "OUST" and values.ndim == 2:
        for (row, column), value in np.ndenumerate(values):
            if isinstance(value, str) and not _is_number(value):
                raise ValueError(
                    f"could not convert string to float: {str(value)!r} at row {row}"
                    f"{where or f', column {column}'}. Drop or encode columns of text before "
                    "fitting."
                )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def as_matrix(X: Any, names: Any = None) -> Matrix:
    """Wrap X without copying, but for one conversion of sparse formats other than CSR.

    `names` are the names of the columns, for error messages.
    """
    if not sparse.issparse(X):
        check_values(X, X.shape, names, None)
        return DenseMatrix(X)
    X = canonical(X)
    check_values(X.data, X.shape, names, X)
    if X.nnz == X.shape[0] * X.shape[1]:
        # Nothing is missing: the stored values are the dense matrix, and can be centred.
        return DenseMatrix(X.data.reshape(X.shape))
    return SparseMatrix.from_scipy(X)


def summed(X: Any) -> Any:
    """Return a sparse matrix in which small integers that share a cell are added up.

    SciPy adds them in their own type, in which large sums wrap around. The given matrix is not
    changed.
    """
    small = X.dtype.kind in "iu" and X.dtype.itemsize < 8
    if not small or getattr(X, "has_canonical_format", True):
        return X
    found = X.astype(np.int64).tocsr()
    found.sum_duplicates()
    return found if found.nnz < X.nnz else found.astype(X.dtype)


def canonical(X: Any) -> Any:
    """Return X as CSR with sorted, unique indices and float32 or float64 data.

    The given matrix is not changed.
    """
    given = X
    X = summed(X).tocsr()
    if not X.has_canonical_format:
        X = X.copy() if X is given or np.shares_memory(X.data, given.data) else X
        X.sum_duplicates()
    if X.data.dtype not in (np.float32, np.float64):
        small = X.data.dtype.itemsize <= 2
        X = sparse.csr_array(
            (X.data.astype(np.float32 if small else np.float64), X.indices, X.indptr), shape=X.shape
        )
    return X


def check_scale(X: Any) -> None:
    """Refuse numbers that are all so near to 0 that their squares are 0, or lose their digits.

    `X` is an array or a CSR matrix. It is read up to the first number that is large enough, which
    is one of the first in almost all data.
    """
    values = X.data if sparse.issparse(X) else X
    if values.dtype.kind != "f":
        return
    largest, step = 0.0, max(1, _AT_ONCE // max(1, values[:1].size))
    for start in range(0, len(values), step):
        part = np.abs(values[start : start + step])
        largest = max(largest, float(np.fmax.reduce(part, axis=None, initial=0.0)))
        if largest >= SMALLEST:
            return
    if largest > 0:
        raise ValueError(
            f"Input X holds no number larger than {largest:.2g}, and the squares of such numbers "
            "underflow to 0: all clusters would be alike. Rescale the data, for example with "
            'NormScaler(axis="columns").'
        )


def check_values(
    values: AnyArray, shape: tuple[int, int], names: Any, where: Any, left_out: str = _LEFT_OUT
) -> None:
    """Refuse NaN, infinities and values too large to square, naming the first such cell.

    `values` is the dense matrix, or the data of the CSR matrix `where`; `left_out` says how NaN is
    left out.
    """
    if values.dtype.kind not in "fc" or values.size == 0:
        return
    low, high = float(values.min()), float(values.max())
    if np.isfinite(low) and np.isfinite(high) and max(-low, high) <= LARGEST:
        return
    bad = ~np.isfinite(values)
    if not bad.any():
        bad = np.abs(values) > LARGEST
    flat = int(np.argmax(bad))
    if where is None:
        row, column = divmod(flat, shape[1])
        value = values[row, column]
    else:
        row = int(np.searchsorted(where.indptr, flat, side="right")) - 1
        column, value = int(where.indices[flat]), values[flat]
    place = f"row {row}, column {column}" + ("" if names is None else f" ({str(names[column])!r})")
    if np.isfinite(value):
        raise ValueError(
            f"Input X holds {value:g} at {place}, larger than {LARGEST:g}: its square would "
            "overflow. Rescale the data."
        )
    kind = "NaN" if np.isnan(value) else "infinity"
    count = int(np.count_nonzero(bad))
    raise ValueError(
        f"Input X contains {kind}: {count} of its values are not finite, the first at {place}. "
        "Fill or drop these cells before fitting" + (left_out if kind == "NaN" else ".")
    )
