"""Input at the edge: checked here, once, and trusted everywhere else."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_array, validate_data

from neocc._typing import AnyArray, BoolArray
from neocc.core.problem import Counts
from neocc.engines import DenseMatrix, Matrix, SparseMatrix
from neocc.kernels import Memberships

_SPARSE_FORMATS = ("csr", "csc", "coo", "lil", "dia", "dok", "bsr")
# Squares of larger values, and sums of many of them, would overflow.
_LARGEST = 1e150
_DEFAULT_CLUSTERS = 3


def read_matrix(estimator: Any, X: Any, *, reset: bool) -> Matrix:
    """Check X and wrap it without copying, but for one conversion of sparse formats other than CSR.

    With an estimator, its `n_features_in_` and `feature_names_in_` are set (`reset`) or checked.
    """
    options: dict[str, Any] = {"accept_sparse": _SPARSE_FORMATS, "ensure_all_finite": False}
    if estimator is None:
        X = check_array(X, **options)
    else:
        X = validate_data(estimator, X, reset=reset, **options)
    names = getattr(estimator, "feature_names_in_", None)
    if not sparse.issparse(X):
        check_values(X, X.shape, names, None)
        return DenseMatrix(X)
    X = _canonical(X)
    check_values(X.data, X.shape, names, X)
    if X.nnz == X.shape[0] * X.shape[1]:
        # Nothing is missing: the stored values are the dense matrix, and can be centred.
        return DenseMatrix(X.data.reshape(X.shape))
    return SparseMatrix.from_scipy(X)


def _canonical(X: Any) -> Any:
    """CSR with sorted, unique indices and float32 or float64 data.

    The caller's matrix is not changed.
    """
    given = X
    X = X.tocsr()
    if not X.has_canonical_format:
        X = X.copy() if X is given or np.shares_memory(X.data, given.data) else X
        X.sum_duplicates()
    if X.data.dtype not in (np.float32, np.float64):
        small = X.data.dtype.itemsize <= 2
        X = sparse.csr_array(
            (X.data.astype(np.float32 if small else np.float64), X.indices, X.indptr), shape=X.shape
        )
    return X


def check_values(values: AnyArray, shape: tuple[int, int], names: Any, where: Any) -> None:
    """Refuse NaN, infinities and values too large to square, naming the first such cell.

    `values` is the dense matrix, or the data of the CSR matrix `where`.
    """
    if values.dtype.kind not in "fc" or values.size == 0:
        return
    low, high = float(values.min()), float(values.max())
    if np.isfinite(low) and np.isfinite(high) and max(-low, high) <= _LARGEST:
        return
    bad = ~np.isfinite(values)
    if not bad.any():
        bad = np.abs(values) > _LARGEST
    flat = int(np.argmax(bad))
    if where is None:
        row, column = divmod(flat, shape[1])
        value = values[row, column]
    else:
        row = int(np.searchsorted(where.indptr, flat, side="right")) - 1
        column, value = int(where.indices[flat]), values[flat]
    place = f"row {row}, column {column}" + ("" if names is None else f" ({names[column]!r})")
    if np.isfinite(value):
        raise ValueError(
            f"Input X holds {value:g} at {place}, larger than {_LARGEST:g}: its square would "
            "overflow. Rescale the data."
        )
    kind = "NaN" if np.isnan(value) else "infinity"
    count = int(np.count_nonzero(bad))
    raise ValueError(
        f"Input X contains {kind}: {count} of its values are not finite, the first at {place}. "
        "Fill or drop these cells before fitting."
    )


def make_counts(
    side: str, n_items: int, n_clusters: int | None, overlap: float = 0.0, outliers: float = 0.0
) -> Counts:
    """Turn a side's parameters into exact counts, or say why no membership matrix meets them.

    `side` is "row" or "column" (parameters `n_row_clusters`, `row_overlap`, ...), or "" for
    one-way estimators (`n_clusters`, `overlap`, `outliers`).
    """
    if n_clusters is None:
        n_clusters = min(_DEFAULT_CLUSTERS, n_items)
    prefix = f"{side}_" if side else ""
    items = f"{side or 'row'}s"
    sklearn_name = "n_features" if side == "column" else "n_samples"
    if n_clusters > n_items:
        raise ValueError(
            f"n_{prefix}clusters={n_clusters} is more than the number of {items} "
            f"({sklearn_name}={n_items}). Ask for at most {n_items}."
        )
    counts = Counts.from_fractions(n_items, n_clusters, overlap, outliers)
    if counts.max_outliers >= n_items:
        raise ValueError(
            f"{prefix}outliers={outliers} would leave out all {n_items} {items} "
            f"({sklearn_name}={n_items}). Choose a smaller fraction."
        )
    if counts.n_memberships < counts.n_covered:
        raise ValueError(
            f"{prefix}overlap={overlap} is below -{prefix}outliers={-outliers}: "
            f"{counts.n_memberships} memberships cannot cover the {counts.n_covered} {items} "
            f"that may not be left out. Raise {prefix}overlap or {prefix}outliers."
        )
    if counts.n_memberships > n_items * n_clusters:
        raise ValueError(
            f"{prefix}overlap={overlap} is above n_{prefix}clusters - 1 = {n_clusters - 1}: "
            f"{n_items} {items} in {n_clusters} clusters have at most {n_items * n_clusters} "
            f"memberships, not {counts.n_memberships}. Lower {prefix}overlap."
        )
    return counts


def read_memberships(matrix: Any, name: str, n_items: int, n_clusters: int | None) -> Memberships:
    """Check a 0/1 membership matrix given by the user."""
    if sparse.issparse(matrix):
        matrix = matrix.toarray()
    values = np.asarray(matrix)
    wanted = f"({n_items}, {'n_clusters' if n_clusters is None else n_clusters})"
    if values.ndim != 2 or values.shape[0] != n_items or n_clusters not in (None, values.shape[1]):
        raise ValueError(f"{name} must have shape {wanted}, one row per item; got {values.shape}.")
    if values.dtype.kind not in "biuf":
        raise ValueError(f"{name} must hold 0 and 1 (or booleans); got dtype {values.dtype}.")
    wrong = (values != 0) & (values != 1)
    if wrong.any():
        item, cluster = np.argwhere(wrong)[0]
        raise ValueError(
            f"{name} must hold only 0 and 1; found {values[item, cluster]} at row {item}, "
            f"column {cluster}."
        )
    members: BoolArray = values.astype(bool)
    return Memberships.from_dense(members)


def check_feasible(members: Memberships, counts: Counts, name: str, prefix: str) -> None:
    """Refuse given memberships that do not meet the counts asked for."""
    if members.n_total != counts.n_memberships:
        raise ValueError(
            f"{name} has {members.n_total} memberships, but {prefix}overlap asks for exactly "
            f"{counts.n_memberships}. Change {name}, or set {prefix}overlap="
            f"{members.n_total / counts.n_items - 1:.6g}."
        )
    n_outliers = int(members.outliers.sum())
    if n_outliers > counts.max_outliers:
        raise ValueError(
            f"{name} leaves {n_outliers} items in no cluster, but {prefix}outliers allows at "
            f"most {counts.max_outliers}. Change {name}, or set {prefix}outliers="
            f"{n_outliers / counts.n_items:.6g}."
        )
