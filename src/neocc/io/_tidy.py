"""Results as tidy tables: one line per membership, one line per block.

Rows, columns and clusters are numbered from 1 in tables, which are for people.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from neocc._typing import BoolArray, FloatArray
from neocc.estimators._fitted import asked_objective, memberships
from neocc.estimators._tables import (
    column_distances,
    fitted_data,
    member_lines,
    weighed_members,
)
from neocc.io._matrix import Matrix

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


def member_table(
    side: str, members: BoolArray, found: FloatArray, names: list[str]
) -> dict[str, Any]:
    """Tabulate memberships with their distances, and items without any; see `ResultTables`."""
    lines = member_lines(members, found)
    is_outlier = lines.clusters < 0
    return {
        "name": [names[item] for item in lines.items],
        "cluster": np.ma.masked_array(lines.clusters + 1, mask=is_outlier),
        "distance": lines.distances,
        "outlier": is_outlier,
        side: lines.items + 1,
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
    lifts = getattr(model, "block_lifts_", None)
    return {
        "row_cluster": np.repeat(np.arange(1, k + 1), l),
        "column_cluster": np.tile(np.arange(1, l + 1), k),
        "n_rows": np.repeat(sizes[0], l),
        "n_columns": np.tile(sizes[1], k),
        "mean": model.block_means_.ravel(),
        **({} if lifts is None else {"lift": lifts.ravel()}),
        "error": _block_costs(model, matrix.data, cell_weight).ravel(),
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
        "error": _block_costs(model, matrix.data),
    }


def _block_costs(model: Any, X: Any, cell_weight: Any = None) -> FloatArray:
    objective = asked_objective(model)
    with fitted_data(model, objective, X, cell_weight) as (engine, features):
        return objective.block_costs(engine, features, *weighed_members(model))
