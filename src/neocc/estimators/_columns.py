"""Columns, seen or new, compared with the column clusters of a fit."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from neocc._typing import BoolArray, FloatArray, IntArray
from neocc._warn import warn
from neocc.core.engine import Engine
from neocc.core.objectives import Features, Terms
from neocc.core.overlap import following, nearest_among
from neocc.core.problem import Problem
from neocc.core.solve import Solution
from neocc.core.steps import half_step, make_features, make_terms, score
from neocc.engines import DenseMatrix, Matrix, SparseMatrix, Workers
from neocc.engines.stored import source_of
from neocc.engines.validation import read_matrix
from neocc.engines.weighing import weighed
from neocc.estimators._engines import make_engine
from neocc.estimators._fitted import asked_objective, used_overlap_model, weigh, weights_of
from neocc.estimators._labels import only_labels
from neocc.estimators._rows import RowsMixin, decided

__all__ = ["ColumnModel", "ColumnsMixin", "column_side"]

Axis = Literal["rows", "columns"]


@dataclass(frozen=True)
class ColumnModel:
    """All that is needed to compare new columns, over the rows of a fit, with its clusters.

    `row_effects` are subtracted from the rows; None for nothing.
    """

    terms: Terms
    nearest_threshold: float
    extra_threshold: float
    row_effects: FloatArray | None


def column_side(
    solution: Solution, engine: Engine, problem: Problem, matrix: Matrix
) -> tuple[IntArray, ColumnModel | None]:
    """Return the labels of the columns of a solution, and what new ones are compared with.

    Where patterns of rows are compared these are kept, a number for each row and column cluster,
    but not of rows that are not in memory.
    """
    V, features = solution.V, solution.features
    assert V is not None and solution.U is not None
    several, patterns = len(V.extra_items) > 0, problem.needs_products
    kept = not patterns or source_of(matrix) is None
    if not kept and not several:
        return only_labels(V), None
    if patterns:
        features = make_features(engine, problem, solution.pair)
    terms = make_terms(problem, "columns", features, solution.pair)
    labels = only_labels(V)
    if several:
        d = score(engine.kernels, features, terms, None).d
        assert d is not None
        labels = nearest_among(V.dense, d)
    if not kept:
        return labels, None
    step = half_step(engine, problem, "columns", features, solution.pair)
    if patterns:
        table = engine.multiply(V.summed.indicator)
        table *= solution.U.weights[:, None]
        terms = replace(terms, table=table)
    effects = engine.effects
    rows = effects.rows
    if problem.centring == "global" and effects.columns is not None:
        rows = np.full(engine.shape[0], effects.columns[0])
    return labels, ColumnModel(terms, *step.thresholds, rows)


class ColumnsMixin(RowsMixin):
    """What is asked of the columns after a fit of both sides."""

    _column_model: ColumnModel | None
    _column_members: BoolArray
    row_names_in_: NDArray[np.object_]

    def predict_membership(self, X: Any, axis: Axis = "rows") -> BoolArray:
        """Predict the memberships of rows or columns, seen or new, in the clusters of the fit.

        Each row is assigned independently, by the thresholds of the fit: it joins its nearest
        cluster if it is no farther than the farthest row the fit accepted at its nearest cluster
        (always, if no outliers were requested), and any other cluster within the largest distance
        of an extra membership. On the rows of a converged fit, this gives the memberships of the
        fit, up to ties at the thresholds. Columns are assigned in the same way.

        With overlap models other than `"repeat"`, or a limit on memberships, a row takes the set of
        clusters that is cheapest at the price of an extra membership. A few rows of the fit may
        then differ: single changes made after the price to meet exact counts, and sets of more than
        three clusters (of three, if there are more than twelve), which are searched one cluster at
        a time.

        New rows have weight one, whatever the weights of the rows of the fit; thresholds apply to
        costs, distances times weights.

        A row of counts is compared with independence given its own sum. A row without counts (or
        without observed cells, if only these count) is equally far from every cluster: it is an
        outlier if the fit allowed outliers, and otherwise in the first cluster.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            Rows with the same columns as in `fit`, or columns with the same rows, in the same
            order. Row names are compared with those of the fit, as scikit-learn does for columns.
        axis : {"rows", "columns"}, default="rows"
            Whether to predict memberships of rows or of columns.

        Returns
        -------
        membership : ndarray of bool, shape (n_rows, n_row_clusters) or (n_columns, ...)
            Memberships; a row (column) without any is an outlier.
        """
        if axis == "rows":
            return super().predict_membership(X)
        if axis != "columns":
            raise ValueError(f'axis must be "rows" or "columns"; got {axis!r}.')
        check_is_fitted(self)
        model = getattr(self, "_column_model", None)
        if model is None:
            raise ValueError(
                "This model does not know what new columns are compared with: it comes from an "
                "older file, or objective='residue' was fitted to rows on disk. Fit it again, with "
                'engine="memory".'
            )
        self._check_row_names(X)
        with self._engine_of_columns(X, model) as engine:
            features, kernels = self._features_of_columns(engine, model), engine.kernels
            all_zero = asked_objective(self).all_zero(engine, "columns")
        scores = score(kernels, features, model.terms, None)
        thresholds = model.nearest_threshold, model.extra_threshold
        return decided(used_overlap_model(self), scores, kernels, thresholds, all_zero).dense

    def _keep_row_names(self, X: Any) -> None:
        """Note what the rows of a fit are called, as `feature_names_in_` are noted."""
        self.__dict__.pop("row_names_in_", None)
        names = _row_names(X)
        if names is not None:
            self.row_names_in_ = names

    def _check_row_names(self, X: Any) -> None:
        """Compare the names of the rows of new columns with those of the fit."""
        known, names = getattr(self, "row_names_in_", None), _row_names(X)
        if known is None or names is None:
            if known is not names:
                has, lacks = ("The fit", "X") if names is None else ("X", "the fit")
                warn(
                    f"{has} has row names, but {lacks} has none to compare them with.",
                    UserWarning,
                )
        elif len(names) == len(known) and (names != known).any():
            at = int(np.flatnonzero(names != known)[0])
            remedy = " Take X.loc[model.row_names_in_]." if set(names) == set(known) else ""
            raise ValueError(
                f"Rows must be those of the fit, in their order: row {at} is {names[at]!r}, in the "
                f"fit it was {known[at]!r}.{remedy}"
            )

    def _features_of_columns(self, engine: Engine, model: ColumnModel) -> Features:
        """Return the features of new columns, over the row clusters of the fit."""
        objective, U = asked_objective(self), weigh(self, self._row_members, "rows")
        assert model.terms.slope is not None
        n_summed, followed = len(model.terms.slope), getattr(self, "followed_", None)
        if followed is not None and U.virtual is None and n_summed > U.n_clusters:
            # The fit summed over virtual clusters, although no row is in several of the real ones.
            U = following(U, np.empty(0, dtype=np.intp), followed[:0])
        features = engine.column_features(
            U, None, base=objective.base, counts=objective.needs_counts
        )
        assert features.sums is not None
        if features.sums.shape[1] != n_summed:
            raise ValueError("What new columns are compared with has other clusters than the rows.")
        if model.terms.table is not None:
            features.products = engine.multiply_transposed(model.terms.table)
        return features

    @contextmanager
    def _engine_of_columns(self, X: Any, model: ColumnModel) -> Iterator[Engine]:
        """Put new columns into an engine, centred as the rows of the fit were."""
        objective = asked_objective(self)
        matrix = read_matrix(None, X, reset=False, observed=objective.needs_counts)
        n_rows = len(self._row_members)
        if matrix.shape[0] != n_rows:
            raise ValueError(
                f"New columns need the {n_rows} rows of the fit, in their order; X has "
                f"{matrix.shape[0]} rows."
            )
        if model.row_effects is not None:
            if isinstance(matrix, SparseMatrix):
                matrix = DenseMatrix(matrix.values)
            assert isinstance(matrix, DenseMatrix)
            matrix = DenseMatrix(matrix.block(0, n_rows) - model.row_effects[:, None])
        with Workers(self.n_jobs) as workers:
            if objective.weighs_data:
                matrix = weighed(matrix, weights_of(self)[0], None)
            matrix = self._without_known(matrix, workers, "columns")
            engine = make_engine(matrix, self.kernel, workers)
            objective.check(engine, (weights_of(self)[0], None))
            # Patterns are the same whatever is subtracted from a column.
            yield engine if model.terms.table is None else engine.centred("columns")


def _row_names(X: Any) -> NDArray[np.object_] | None:
    """Return the index of a data frame, if it is of strings."""
    pandas, index = sys.modules.get("pandas"), getattr(X, "index", None)
    if pandas is None or not isinstance(index, pandas.Index):
        return None
    names = np.asarray(index, dtype=object)
    return names if all(isinstance(name, str) for name in names) else None
