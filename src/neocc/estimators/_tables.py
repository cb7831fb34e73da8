"""Members of clusters as tables: a line per membership, with its distance."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from neocc._names import cluster_name, item_name
from neocc._typing import BoolArray, FloatArray, IntArray
from neocc.core.engine import Engine
from neocc.core.objectives import Features, Objective
from neocc.engines.containers import in_memory
from neocc.estimators._fitted import (
    asked_objective,
    memberships,
    weigh,
    weights_of,
)
from neocc.kernels import Memberships, numpy_

__all__ = ["ColumnTableMixin", "GridTableMixin", "RowTableMixin", "column_distances"]
__all__ += ["fitted_data", "member_lines", "weighed_members"]


class MemberLines(NamedTuple):
    """Memberships one by one, in the order of items; those in none are in cluster -1."""

    items: IntArray
    clusters: IntArray
    distances: FloatArray


def member_lines(members: BoolArray, distances: FloatArray) -> MemberLines:
    """List memberships with their distances, and items without any with that to the nearest."""
    items, clusters = np.nonzero(members)
    outliers = np.flatnonzero(~members.any(axis=1))
    at = np.concatenate([items, outliers])
    order = np.argsort(at, kind="stable")
    nearest = distances[outliers].min(axis=1, initial=np.inf)
    lengths = np.concatenate([distances[items, clusters], nearest])
    numbers = np.concatenate([clusters, np.full(len(outliers), -1)])
    return MemberLines(at[order], numbers[order], lengths[order])


def weighed_members(model: Any) -> tuple[Memberships, Memberships | None]:
    """Return the memberships of both sides of a fit as they count in sums; None for no columns."""
    rows, columns = memberships(model)
    return weigh(model, rows), None if columns is None else weigh(model, columns, "columns")


@contextmanager
def fitted_data(
    model: Any, objective: Objective, X: Any, cell_weight: Any = None
) -> Iterator[tuple[Engine, Features]]:
    """Yield the data of a fit, centred, with the column features for its memberships."""
    U, V = weighed_members(model)
    rows = weights_of(model)[0] if objective.weighs_data else None
    wanted = {"base": objective.base, "counts": objective.needs_counts}
    with model._engine_of(X, rows, cell_weight) as engine:
        products = V if objective.needs_products else None
        yield engine, engine.column_features(U, products, **wanted)


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
    with fitted_data(model, objective, X, cell_weight) as (_, features):
        terms = objective.terms("columns", features, weighed_members(model))
        d = numpy_.distances(features, terms)
    d = np.maximum(d, 0.0) if terms.rate is None else d
    d[:, np.isinf(terms.magnitude)] = np.inf
    return d


class RowTableMixin:
    """Rows of a fit as a table."""

    _row_members: BoolArray
    n_features_in_: int
    transform: Any

    def row_table(self, X: Any) -> Any:
        """Return the members of the row clusters as a data frame, one line per membership.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            The data of the fit.

        Returns
        -------
        table : pandas.DataFrame
            `row`, its index in X; `name`, from the index of a data frame, otherwise "row 1" for the
            first; `group`, named as in plots and `top_features` ("R1", group 1 of a report, is
            ``row_membership_[:, 0]``), missing for a row in none; and `distance`, as in
            `transform`; for a row in no group, that to the nearest. Requires pandas.

        Examples
        --------
        >>> from neocc import NEOKMeans
        >>> X = [[0.0], [0.2], [2.0], [3.8], [4.0], [50.0]]
        >>> model = NEOKMeans(n_clusters=2, outliers=1 / 6, random_state=0).fit(X)
        >>> table = model.row_table(X)
        >>> table[table.group == "R1"].name.tolist()
        ['row 3', 'row 4', 'row 5']
        >>> table[table.group.isna()].row.tolist()
        [5]
        """
        X = self._data_of_fit(X)
        return _frame("row", self._row_members, self.transform(X), getattr(X, "index", None))

    def _data_of_fit(self, X: Any) -> Any:
        """Return X in memory; refuse data of another shape than the fit's."""
        check_is_fitted(self)
        X = in_memory(X)
        shape = len(self._row_members), self.n_features_in_
        found = tuple(getattr(X, "shape", None) or np.shape(X))
        if found != shape:
            raise ValueError(
                f"The table needs the data of the fit, of shape {shape}; X has shape {found}. "
                "predict_membership and transform take new rows."
            )
        return X


class ColumnTableMixin(RowTableMixin):
    """Columns of a fit as a table, too."""

    _column_members: BoolArray
    _column_distances: Any

    def column_table(self, X: Any) -> Any:
        """Return the members of the column groups as a data frame, one line per membership.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            The data of the fit.

        Returns
        -------
        table : pandas.DataFrame
            `column`, `name` (from `feature_names_in_`, or "column 1" for the first), `group`
            ("C1" has the columns that belong to the rows of "R1") and `distance`: what
            `transform` is for rows.
        """
        return self._column_table(X)

    def _column_table(self, X: Any, **options: Any) -> Any:
        X = self._data_of_fit(X)
        names = getattr(self, "feature_names_in_", None)
        return _frame("column", self._column_members, self._column_distances(X, **options), names)


class GridTableMixin(ColumnTableMixin):
    """Column clusters that form a grid with the row clusters."""

    _column_distances = column_distances

    def column_table(self, X: Any, *, cell_weight: Any = None) -> Any:
        """Return the members of the column clusters as a data frame, one line per membership.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            The data of the fit.
        cell_weight : array-like or sparse matrix of shape (n_rows, n_columns), default=None
            Weights of observed cells, as given to the fit.

        Returns
        -------
        table : pandas.DataFrame
            `column`, `name` (from `feature_names_in_`, or "column 1" for the first), `group`
            ("C1" for the first) and `distance`, as in `row_table`.
        """
        return self._column_table(X, cell_weight=cell_weight)


def _frame(side: str, members: BoolArray, d: FloatArray, names: Any) -> Any:
    try:
        import pandas as pd  # type: ignore[import-untyped]
    except ImportError as error:
        raise ImportError(f"{side}_table returns a data frame: pip install pandas") from error
    lines = member_lines(members, d)
    if names is None or callable(names):
        names = [item_name(f"{side}s", item) for item in range(len(members))]
    # The last one is that of items in none.
    groups = [*(cluster_name(f"{side}s", cluster) for cluster in range(members.shape[1])), None]
    return pd.DataFrame(
        {
            side: lines.items,
            "name": np.asarray(names)[lines.items],
            "group": np.array(groups, dtype=object)[lines.clusters],
            "distance": lines.distances,
        }
    )
