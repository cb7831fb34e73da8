"""The objective of given memberships."""

from __future__ import annotations

from typing import Any

import numpy as np

from neocc.core.objectives import COCLUSTERING, COUNTS, Pair, make_objective
from neocc.core.objectives.base import both
from neocc.core.overlap import check_columns, cost_of_outliers, make_overlap_model
from neocc.core.problem import Counts, Problem
from neocc.core.solve import checked_value
from neocc.core.steps import fixed_pair, make_features
from neocc.engines import Workers
from neocc.engines.matrix import Matrix
from neocc.engines.observed import ObservedMatrix
from neocc.engines.validation import check_paired, read_matrix, read_memberships
from neocc.engines.weighing import read_weights_of_sides, weighed
from neocc.estimators._engines import make_engine
from neocc.estimators._observed import effects_of


def objective_value(
    X: Any,
    U: Any,
    V: Any,
    objective: str = "mean",
    overlap_model: str = "repeat",
    outlier_cost: str = "auto",
    *,
    prior: float = 1.0,
    missing: str = "zero",
    remove_effects: bool = False,
    shrinkage: float = 10.0,
    cell_weight: Any = None,
    row_weight: Any = None,
    column_weight: Any = None,
) -> float:
    """Return the NEO-CC objective of row memberships U and column memberships V on the data X.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_rows, n_columns)
        The data.
    U : array-like of 0 and 1, shape (n_rows, n_row_clusters)
        Row memberships. Overlap, outliers and empty clusters are allowed.
    V : array-like of 0 and 1, shape (n_columns, n_column_clusters)
        Column memberships.
    objective : {"mean", "residue", "poisson", "diagonal", "modularity"}, default="mean"
        NEO-CC-M, NEO-CC-RCM, or an objective for counts, see :class:`NEOCC`.
    overlap_model : {"repeat", "share", "average", "sum", "either"}, default="repeat"
        Cost of several memberships, see :class:`NEOCC`. For `"either"`, the clusters that rows
        follow and the block means are updated in turn until nothing changes, beginning with the
        means of the rows in one cluster only. A lower value may exist.
    outlier_cost : {"zero", "background", "auto"}, default="auto"
        Cost of rows and columns in no cluster, see :class:`NEOCC`; for observed cells `"auto"`
        means "background", but "zero" if memberships are repeated and no item is left out. A fit
        asks whether any might have been left out: for its value pass its `outlier_cost_`.
    prior : float, default=1.0
        Pseudocount for the rates of `"poisson"` and `"diagonal"`, see :class:`NEOCC`.
    missing : {"zero", "ignore"}, default="zero"
        Whether cells not stored in sparse data are zeros, or not observed, as NaN is then. The
        latter requires objective `"mean"`.
    remove_effects, shrinkage, cell_weight : bool, float, array-like or sparse matrix
        For observed cells, see :class:`NEOCC`; by default False, 10.0 and None.
    row_weight, column_weight : array-like of shape (n_rows,), (n_columns,), default=None
        Positive weights: how many rows (columns) each counts as.

    Returns
    -------
    value : float
        The objective; non-negative unless costs are relative to a background.

    Examples
    --------
    >>> from neocc import objective_value
    >>> X = [[1, 2], [3, 4]]
    >>> objective_value(X, [[1], [1]], [[1, 0], [0, 1]])
    4.0
    """
    if objective not in (*COCLUSTERING, *COUNTS):
        listed = ", ".join(repr(name) for name in (*COCLUSTERING, *COUNTS))
        raise ValueError(f"objective must be one of {listed}; got {objective!r}.")
    if not 0 < prior < np.inf:
        raise ValueError(f"prior must be positive and finite; got {prior!r}.")
    if missing not in ("zero", "ignore"):
        raise ValueError(f"missing must be 'zero' or 'ignore'; got {missing!r}.")
    if not 0 <= shrinkage < np.inf:
        raise ValueError(f"shrinkage must be finite and not negative; got {shrinkage!r}.")
    observed = missing == "ignore"
    if not observed and (remove_effects or cell_weight is not None):
        raise ValueError('remove_effects and cell_weight are for missing="ignore".')
    matrix = read_matrix(None, X, reset=True, cell_weight=cell_weight, observed=observed)
    rows = read_memberships(U, "U", matrix.shape[0], None)
    columns = read_memberships(V, "V", matrix.shape[1], None)
    if observed and outlier_cost == "auto":
        overlaps = len(rows.extra_items) + len(columns.extra_items) > 0
        left_out = bool(rows.outliers.any() or columns.outliers.any())
        outlier_cost = cost_of_outliers(overlap_model, overlaps=overlaps, left_out=left_out)
    found = make_objective(
        objective, outlier_cost, prior=prior, missing=missing, shrinkage=shrinkage
    )
    model = make_overlap_model(overlap_model, None, found.kind)
    check_columns(model, len(columns.extra_items) > 0)
    most = max(int(each.numbers.max(initial=0)) for each in (rows, columns))
    if model.most is not None and most > model.most:
        raise ValueError(
            f"overlap_model={overlap_model!r} allows at most {model.most} memberships of a row or "
            f"column here; got {most}."
        )
    check_paired(found, rows.n_clusters, columns.n_clusters)
    # No item is assigned: these numbers are the ones there are.
    sides = [Counts(each.n_items, each.n_clusters, each.n_total, 0) for each in (rows, columns)]
    weights = read_weights_of_sides(row_weight, column_weight, matrix)
    problem = Problem(found, sides[0], sides[1], 100, 1e-6, model, *weights)
    return _value_of(matrix, problem, (rows, columns), remove_effects)


def _value_of(matrix: Matrix, problem: Problem, given: Pair, remove_effects: Any) -> float:
    """Return the objective of memberships as the overlap model of a problem has them count."""
    objective = problem.objective
    weights = problem.row_weights, problem.column_weights
    if objective.weighs_data:
        matrix = weighed(matrix, *weights)
    with Workers() as workers:
        if isinstance(matrix, ObservedMatrix):
            engine = make_engine(matrix, "auto", workers)
            (mean, *effects), _ = effects_of(engine, *weights, effects=remove_effects)
            matrix = matrix.without(mean + effects[0], effects[1])
        engine = make_engine(matrix, "auto", workers).centred(problem.centring)
        objective.check(engine, weights)
        U, V = both(fixed_pair(engine, problem, *both(given)))
        features = make_features(engine, problem, (U, V))
        value = objective.value(features, U, V)
        value = value if objective.background else max(value, 0.0)
        return checked_value(engine, objective, value, features, U, V)[0]
