"""The objective of given memberships."""

from __future__ import annotations

from typing import Any

from neocc.core.problem import Counts, Problem
from neocc.core.solve import centring, checked, solve
from neocc.engines import Workers
from neocc.estimators._engines import make_engine
from neocc.estimators._validation import read_matrix, read_memberships
from neocc.kernels import Memberships


def objective_value(X: Any, U: Any, V: Any, objective: str = "mean") -> float:
    """Return the NEO-CC objective of row memberships U and column memberships V on the data X.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_rows, n_columns)
        The data.
    U : array-like of 0 and 1, shape (n_rows, n_row_clusters)
        Row memberships. Overlap, outliers and empty clusters are allowed.
    V : array-like of 0 and 1, shape (n_columns, n_column_clusters)
        Column memberships.
    objective : {"mean", "residue"}, default="mean"
        NEO-CC-M or NEO-CC-RCM.

    Returns
    -------
    value : float
        The objective, at least 0.

    Examples
    --------
    >>> from neocc import objective_value
    >>> X = [[1, 2], [3, 4]]
    >>> objective_value(X, [[1], [1]], [[1, 0], [0, 1]])
    4.0
    """
    if objective not in ("mean", "residue"):
        raise ValueError(f'objective must be "mean" or "residue"; got {objective!r}.')
    matrix = read_matrix(None, X, reset=True)
    rows = read_memberships(U, "U", matrix.shape[0], None)
    columns = read_memberships(V, "V", matrix.shape[1], None)
    problem = Problem(
        objective,  # type: ignore[arg-type]
        _counts(rows),
        _counts(columns),
        max_iter=0,
    )
    with Workers() as workers:
        engine = make_engine(matrix, "auto", workers).centred(centring(problem))
        found, _ = checked(engine, problem, solve(engine, problem, rows, columns))
        return found.objective


def _counts(members: Memberships) -> Counts:
    return Counts(members.n_items, members.n_clusters, members.n_total, int(members.outliers.sum()))
