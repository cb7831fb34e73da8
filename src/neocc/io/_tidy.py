"""Results as tidy tables: one line per membership, one line per block.

Rows, columns and clusters are numbered from 1 in tables, which are for people.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from neocc._typing import BoolArray, FloatArray
from neocc.core.objectives import OBJECTIVES
from neocc.engines import RowSource, Workers
from neocc.engines.stored import StoredRows
from neocc.engines.validation import read_matrix as read_array
from neocc.estimators._engines import make_engine
from neocc.io._matrix import Matrix
from neocc.kernels import Memberships, numpy_

__all__ = ["ResultTables", "column_distances", "member_table", "memberships", "result_tables"]

_CELLS_AT_ONCE = 1 << 20


@dataclass(frozen=True, eq=False)
class ResultTables:
    """The tables of a result, each a dict of columns.

    Attributes
    ----------
    rows : dict
        `name`, `cluster`, `distance`, `outlier` and `row`: a line per membership, and one per row
        without any. The distance is the squared distance to the cluster as the objective measures
        it; for an outlier, which has no cluster, that to the nearest one.
    columns : dict or None
        The same for columns, with `column`; None where only rows were clustered.
    blocks : dict
        `row_cluster`, `column_cluster`, `n_rows`, `n_columns`, `mean` and `error`: a line per
        block. The errors of all blocks add up to the objective.
    """

    rows: dict[str, Any]
    columns: dict[str, Any] | None
    blocks: dict[str, Any]


def memberships(model: Any) -> tuple[BoolArray, BoolArray | None]:
    """Return the memberships of rows and of columns (None where only rows were clustered)."""
    if hasattr(model, "row_membership_"):
        return model.row_membership_, model.column_membership_
    if hasattr(model, "membership_"):
        return model.membership_, None
    if hasattr(model, "row_labels_"):
        k, l = model.block_means_.shape  # noqa: E741
        return model.row_labels_[:, None] == range(k), model.column_labels_[:, None] == range(l)
    raise ValueError(f"{type(model).__name__} has no memberships. Fit it first.")


def result_tables(model: Any, matrix: Matrix) -> ResultTables:
    """Tabulate a fit of a matrix; see `ResultTables`."""
    U, V = memberships(model)
    if not hasattr(model, "block_means_" if V is not None else "cluster_centers_"):
        raise ValueError(
            f"{type(model).__name__} has no grid of row and column clusters to tabulate. Use its "
            "own attributes."
        )
    n_rows, n_columns = matrix.shape
    if len(U) != n_rows or model.n_features_in_ != n_columns:
        raise ValueError(
            f"The model was fitted to {len(U)} rows and {model.n_features_in_} columns; the matrix "
            f"has {n_rows} and {n_columns}. Pass the matrix of the fit."
        )
    row_distances = model.transform(matrix.data)
    rows = member_table("row", U, row_distances, [matrix.name_of_row(i) for i in range(n_rows)])
    if V is None:
        return ResultTables(rows, None, _one_way_blocks(model, matrix, U, row_distances))
    names = [matrix.name_of_column(j) for j in range(n_columns)]
    columns = member_table("column", V, column_distances(model, matrix.data), names)
    return ResultTables(rows, columns, _block_table(model, matrix, U, V))


def column_distances(model: Any, X: Any) -> FloatArray:
    """Return the distance of each column to each column cluster: `transform`, for columns.

    Parameters
    ----------
    model : NEOCC or MSSR
        Fitted to X.
    X : array-like or sparse matrix of shape (n_rows, n_columns)
        The data of the fit.

    Returns
    -------
    distances : ndarray of shape (n_columns, n_column_clusters)
        What each membership adds to the objective. Infinite for a cluster without members.
    """
    U, V = (Memberships.from_dense(side) for side in memberships(model))  # type: ignore[arg-type]
    objective = OBJECTIVES[model.objective]
    with Workers(model.n_jobs) as workers:
        engine = make_engine(read_array(None, X, reset=False), model.kernel, workers)
        data = engine.centred(objective.centring(None))
        features = data.column_features(U, V if objective.needs_products else None)
    terms = objective.column_terms(features, U, V)
    d = np.maximum(numpy_.distances(features, terms), 0.0)
    d[:, np.isinf(terms.magnitude)] = np.inf
    return d


def member_table(
    side: str, members: BoolArray, found: FloatArray, names: list[str]
) -> dict[str, Any]:
    """Tabulate memberships with their distances, and items without any; see `ResultTables`."""
    items, clusters = np.nonzero(members)
    outliers = np.flatnonzero(~members.any(axis=1))
    at = np.concatenate([items, outliers])
    order = np.argsort(at, kind="stable")
    at = at[order]
    is_outlier = np.concatenate([np.zeros(len(items), bool), np.ones(len(outliers), bool)])[order]
    lengths = np.concatenate([found[items, clusters], found[outliers].min(axis=1)])[order]
    numbers = np.concatenate([clusters + 1, np.zeros(len(outliers), np.intp)])[order]
    return {
        "name": [names[item] for item in at],
        "cluster": np.ma.masked_array(numbers, mask=is_outlier),
        "distance": lengths,
        "outlier": is_outlier,
        side: at + 1,
    }


def _block_table(model: Any, matrix: Matrix, U: BoolArray, V: BoolArray) -> dict[str, Any]:
    (k, l), sizes = model.block_means_.shape, (U.sum(axis=0), V.sum(axis=0))  # noqa: E741
    return {
        "row_cluster": np.repeat(np.arange(1, k + 1), l),
        "column_cluster": np.tile(np.arange(1, l + 1), k),
        "n_rows": np.repeat(sizes[0], l),
        "n_columns": np.tile(sizes[1], k),
        "mean": model.block_means_.ravel(),
        "error": block_errors(matrix.data, U, V, model.objective).ravel(),
    }


def _one_way_blocks(model: Any, matrix: Matrix, U: BoolArray, found: FloatArray) -> dict[str, Any]:
    """Every cluster of rows makes one block with all columns."""
    k = U.shape[1]
    return {
        "row_cluster": np.arange(1, k + 1),
        "column_cluster": np.ma.masked_array(np.zeros(k, np.intp), mask=True),
        "n_rows": U.sum(axis=0),
        "n_columns": np.full(k, matrix.shape[1]),
        "mean": model.cluster_centers_.mean(axis=1),
        "error": np.where(U, found, 0.0).sum(axis=0),
    }


def block_errors(
    X: Any, U: BoolArray, V: BoolArray, objective: str, cells_at_once: int = _CELLS_AT_ONCE
) -> FloatArray:
    """Return each block's part of the objective, from sums over the block.

    What is common to all cells of a dense matrix is subtracted first, for accuracy.
    """
    u, v = U.astype(np.float64), V.astype(np.float64)
    n, m = np.maximum(u.sum(axis=0), 1.0), np.maximum(v.sum(axis=0), 1.0)
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
    errors = OBJECTIVES[objective].block_values(
        squares, sums, row_part / m, (by_columns**2 @ v) / n[:, None], np.outer(n, m)
    )
    return np.maximum(errors, 0.0)
