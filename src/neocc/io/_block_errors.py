"""Each block's part of the objective."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from neocc._typing import FloatArray
from neocc.core.objectives import OBJECTIVES, BlockSums
from neocc.core.objectives.virtual import followed_means, gathered
from neocc.engines import RowSource
from neocc.engines.stored import StoredRows
from neocc.estimators._fitted import fitted_values
from neocc.kernels import Memberships, inverse

__all__ = ["block_errors", "centre_errors"]

_CELLS_AT_ONCE = 1 << 20


def block_errors(
    X: Any,
    rows: Memberships,
    columns: Memberships,
    objective: str,
    cells_at_once: int = _CELLS_AT_ONCE,
) -> FloatArray:
    """Return each block's part of the objective, given weighted memberships.

    What a cell of several blocks costs is divided among them where the overlap model explains it by
    all of them together.
    """
    if not rows.mixed and not columns.mixed:
        return _from_sums(X, rows, columns, objective, cells_at_once)
    sums = _row_sums(X, rows.summed, cells_at_once)
    if rows.virtual is not None:
        return _followed_errors(X, rows, columns, sums, cells_at_once)
    C = rows.fitted(sums)
    M = columns.fitted((C @ columns.indicator).T).T
    errors = np.zeros(M.shape)
    to_rows, to_columns = _shares(rows), _shares(columns)
    for at, part in _dense_parts(X, cells_at_once):
        here = rows.slice(at.start, at.stop)
        left = OBJECTIVES[objective].residuals(part, here, columns, M, C)
        errors += to_rows[at].T @ np.square(left) @ to_columns
    return errors


def _followed_errors(
    X: Any, rows: Memberships, columns: Memberships, sums: FloatArray, cells_at_once: int
) -> FloatArray:
    """Return the same where a cell is explained by the one block that its row follows."""
    M = followed_means(sums @ columns.indicator, rows, columns)
    errors = np.zeros((rows.summed.n_clusters, columns.n_clusters))
    for at, part in _dense_parts(X, cells_at_once):
        here = rows.slice(at.start, at.stop)
        left = np.square(part - fitted_values(here, M, columns))
        errors += here.summed.indicator.T @ left @ columns.indicator
    return gathered(errors, rows)


def centre_errors(
    X: Any, rows: Memberships, centres: FloatArray, cells_at_once: int = _CELLS_AT_ONCE
) -> FloatArray:
    """Return each cluster's part of the objective where rows alone are clustered by centres."""
    errors = np.zeros(rows.n_clusters)
    for at, part in _dense_parts(X, cells_at_once):
        here = rows.slice(at.start, at.stop)
        if rows.mixed:
            costs = np.square(part - fitted_values(here, centres, None)).sum(axis=1)
            errors += _shares(here).T @ costs
        else:
            for cluster, weights in enumerate(here.indicator.T):
                some = np.flatnonzero(weights)
                costs = np.square(part[some] - centres[cluster]).sum(axis=1)
                errors[cluster] += weights[some] @ costs
    return errors


def _from_sums(
    X: Any, rows: Memberships, columns: Memberships, objective: str, cells_at_once: int
) -> FloatArray:
    """Return the same from sums over blocks, each of which is explained by itself.

    What is common to all cells of a dense matrix is subtracted first, for accuracy.
    """
    u, v = rows.indicator, columns.indicator
    n, m = rows.sizes, columns.sizes
    if isinstance(X, RowSource):
        X = StoredRows(X)
        is_sparse, step = X.source.is_sparse, int(np.diff(X.source.edges).max())
        level = 0.0 if is_sparse else float(X[:step].mean())
    else:
        is_sparse, step = bool(sparse.issparse(X)), X.shape[0]
        level = 0.0 if is_sparse else float(np.mean(X))
    squares, sums, row_part = (np.zeros((len(n), len(m))) for _ in range(3))
    by_columns = np.zeros((len(n), X.shape[1]))
    # Squares of a sparse matrix take no more room than itself; of a dense one, a part at a time.
    step = step if is_sparse else max(1, cells_at_once // X.shape[1])
    for start in range(0, X.shape[0], step):
        members = u[start : start + step]
        part = X[start : start + step].astype(np.float64)
        if not sparse.issparse(part):
            part = part - level
        S = part @ v
        squares += members.T @ ((part * part) @ v)
        sums += members.T @ S
        row_part += members.T @ (S * S)
        by_columns += (part.T @ members).T
    column_part = (by_columns**2 @ v) * inverse(n)[:, None]
    over = BlockSums(squares, sums, row_part * inverse(m), column_part, np.outer(n, m))
    return np.maximum(OBJECTIVES[objective].block_values(over), 0.0)


def _dense_parts(X: Any, cells_at_once: int) -> Iterator[tuple[slice, FloatArray]]:
    """Yield blocks of rows as arrays, and where they lie."""
    rows = StoredRows(X) if isinstance(X, RowSource) else X
    step = max(1, cells_at_once // X.shape[1])
    for start in range(0, X.shape[0], step):
        at = slice(start, min(start + step, X.shape[0]))
        part = rows[at]
        yield at, (part.toarray() if sparse.issparse(part) else part).astype(np.float64)


def _row_sums(X: Any, rows: Memberships, cells_at_once: int) -> FloatArray:
    sums = np.zeros((rows.n_clusters, X.shape[1]))
    for at, part in _dense_parts(X, cells_at_once):
        sums += rows.indicator[at].T @ part
    return sums


def _shares(members: Memberships) -> FloatArray:
    """Return memberships whose weights add up to one, or to that of the item, if it is in any."""
    shares: FloatArray = members.dense / np.maximum(members.numbers, 1)[:, None]
    weights = members.item_weights
    return shares if weights is None else shares * weights[:, None]
