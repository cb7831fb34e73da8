"""Results as tidy tables: one line per membership, one line per block.

Rows, columns and clusters are numbered from 1 in tables, which are for people.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from neocc._typing import BoolArray, FloatArray
from neocc.core.objectives import CountObjective, Features, Objective
from neocc.core.problem import Problem
from neocc.engines import Workers
from neocc.engines.validation import read_matrix as read_array
from neocc.engines.weighing import weighed
from neocc.estimators._engines import make_engine
from neocc.estimators._fitted import asked_objective, used_overlap_model, weigh, weights_of
from neocc.io._block_errors import block_errors, centre_errors
from neocc.io._matrix import Matrix
from neocc.io._observed import observed_block_errors, observed_column_distances
from neocc.kernels import Memberships, numpy_

__all__ = ["ResultTables", "column_distances", "means_over_blocks", "member_table", "memberships"]
__all__ += ["result_tables"]


@dataclass(frozen=True, eq=False)
class ResultTables:
    """The tables of a result, each a dict of columns.

    Attributes
    ----------
    rows : dict
        `name`, `cluster`, `distance`, `outlier` and `row`: a line per membership, and one per row
        without any. The distance is the squared distance to this cluster alone as the objective
        measures it; for an outlier, which has no cluster, that to the nearest one.
    columns : dict or None
        The same for columns, with `column`; None where only rows were clustered.
    blocks : dict
        `row_cluster`, `column_cluster`, `n_rows`, `n_columns`, `mean`, for counts `lift` (the rate
        over that of independence), and `error`: a line per block. The errors of all blocks add up
        to the objective. Where overlap is `"average"` or `"sum"`, the mean is the level that the
        model gives the block, and a cell of several blocks divides its error among them.
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


def result_tables(
    model: Any, matrix: Matrix, cell_weight: Any = None, before: Any = None
) -> ResultTables:
    """Tabulate a fit of a matrix with the weights of its cells, if any; see `ResultTables`.

    `before` are the data before they were transformed: blocks have their means too, `mean_before`.
    """
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
        return ResultTables(rows, None, _one_way_blocks(model, matrix, U))
    names = [matrix.name_of_column(j) for j in range(n_columns)]
    found = column_distances(model, matrix.data, cell_weight)
    columns = member_table("column", V, found, names)
    blocks = _block_table(model, matrix, U, V, cell_weight)
    if before is not None:
        blocks["mean_before"] = means_over_blocks(before, U, V).ravel()
    return ResultTables(rows, columns, blocks)


def column_distances(model: Any, X: Any, cell_weight: Any = None) -> FloatArray:
    """Return the distance of each column to each column cluster: `transform`, for columns.

    Parameters
    ----------
    model : NEOCC or MSSR
        Fitted to X.
    X : array-like or sparse matrix of shape (n_rows, n_columns)
        The data of the fit.
    cell_weight : array-like or sparse matrix of shape (n_rows, n_columns), default=None
        Weights of observed cells, as given to the fit.

    Returns
    -------
    distances : ndarray of shape (n_columns, n_column_clusters)
        Squared distances as the objective measures them: what a column in this cluster alone adds
        to it. Infinite for a cluster without members.
    """
    objective = asked_objective(model)
    if objective.needs_counts:
        return observed_column_distances(model, X, *_weighed(model), cell_weight)
    features, U, V = _features(model, objective, X)
    terms = objective.column_terms(features, U, V)
    d = numpy_.distances(features, terms)
    d = np.maximum(d, 0.0) if terms.rate is None else d
    d[:, np.isinf(terms.magnitude)] = np.inf
    return d


def _features(
    model: Any, objective: Objective, X: Any
) -> tuple[Features, Memberships, Memberships]:
    """Return the column features of a fit, with its memberships."""
    U, V = _weighed(model)
    problem = Problem(objective, None, None, overlap_model=used_overlap_model(model))
    with Workers(model.n_jobs) as workers:
        matrix = read_array(None, X, reset=False)
        if objective.weighs_data:
            matrix = weighed(matrix, *weights_of(model))
        engine = make_engine(matrix, model.kernel, workers)
        data = engine.centred(problem.centring)
        products = V if objective.needs_products else None
        return data.column_features(U, products, base=objective.base), U, V


def _weighed(model: Any) -> tuple[Memberships, Memberships]:
    """Return the memberships of a fit as they count in sums."""
    U, V = memberships(model)
    assert V is not None
    return weigh(model, U, "rows"), weigh(model, V, "columns")


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


def means_over_blocks(X: Any, U: BoolArray, V: BoolArray) -> FloatArray:
    """Return the plain means of data over all blocks; NaN for those without a cell."""
    sums = U.T.astype(np.float64) @ np.asarray(X @ V.astype(np.float64))
    cells = np.multiply.outer(U.sum(axis=0), V.sum(axis=0))
    means: FloatArray = np.full(cells.shape, np.nan)
    np.divide(sums, cells, out=means, where=cells > 0)
    return means


def _block_table(
    model: Any, matrix: Matrix, U: BoolArray, V: BoolArray, cell_weight: Any
) -> dict[str, Any]:
    (k, l), sizes = model.block_means_.shape, (U.sum(axis=0), V.sum(axis=0))  # noqa: E741
    objective, lifts = asked_objective(model), getattr(model, "block_lifts_", None)
    if isinstance(objective, CountObjective):
        errors = objective.block_costs(*_features(model, objective, matrix.data))
    elif objective.needs_counts:
        errors = observed_block_errors(model, matrix.data, *_weighed(model), cell_weight)
    else:
        errors = block_errors(matrix.data, *_weighed(model), objective.name)
    return {
        "row_cluster": np.repeat(np.arange(1, k + 1), l),
        "column_cluster": np.tile(np.arange(1, l + 1), k),
        "n_rows": np.repeat(sizes[0], l),
        "n_columns": np.tile(sizes[1], k),
        "mean": model.block_means_.ravel(),
        **({} if lifts is None else {"lift": lifts.ravel()}),
        "error": errors.ravel(),
    }


def _one_way_blocks(model: Any, matrix: Matrix, U: BoolArray) -> dict[str, Any]:
    """Every cluster of rows makes one block with all columns."""
    k = U.shape[1]
    return {
        "row_cluster": np.arange(1, k + 1),
        "column_cluster": np.ma.masked_array(np.zeros(k, np.intp), mask=True),
        "n_rows": U.sum(axis=0),
        "n_columns": np.full(k, matrix.shape[1]),
        "mean": model.cluster_centers_.mean(axis=1),
        "error": centre_errors(matrix.data, weigh(model, U), model.cluster_centers_),
    }
