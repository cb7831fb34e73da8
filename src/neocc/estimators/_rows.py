"""Rows, seen or new, compared with the row clusters of a fit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from neocc._typing import BoolArray, FloatArray, IntArray
from neocc.core.engine import Engine
from neocc.core.objectives import Centring, Terms
from neocc.core.overlap import REPEAT, STORED_MODELS
from neocc.core.thresholds import Thresholds
from neocc.engines import DenseMatrix, Matrix, SparseMatrix, Workers
from neocc.engines.validation import read_matrix
from neocc.engines.weighing import weighed
from neocc.estimators._engines import make_engine
from neocc.estimators._fitted import asked_objective
from neocc.kernels import Memberships

__all__ = ["RowModel", "RowsMixin"]


@dataclass(frozen=True)
class RowModel:
    """All that is needed to compare new rows with the row clusters of a fit."""

    terms: Terms
    V: Memberships | None
    nearest_threshold: float
    extra_threshold: float
    centring: Centring
    column_effects: FloatArray
    overlap_model: str = REPEAT.name
    max_memberships: int | None = None
    # Where the weights of columns are a matter of the data.
    column_weights: FloatArray | None = None


class RowsMixin(TransformerMixin):
    """The methods that take rows after a fit."""

    kernel: str
    n_jobs: int | None
    fit: Any
    _row_model: RowModel
    _row_members: BoolArray

    @contextmanager
    def _engine_of(
        self, X: Any, rows: FloatArray | None = None, cell_weight: Any = None
    ) -> Iterator[Engine]:
        """Put new rows into an engine, centred as the rows of the fit were.

        Rows and cells of the fit itself may have weights, where these are a matter of the data.
        """
        check_is_fitted(self)
        matrix = read_matrix(self, X, reset=False, cell_weight=cell_weight)
        model = self._row_model
        if model.column_effects.any() and isinstance(matrix, SparseMatrix):
            matrix = DenseMatrix(matrix.values)
        with Workers(self.n_jobs) as workers:
            matrix = weighed(matrix, rows, model.column_weights)
            matrix = self._without_known(matrix, workers, rows)
            engine = make_engine(matrix, self.kernel, workers)
            if model.terms.base == "margins":
                asked_objective(self).check(engine)
            yield engine.centred(model.centring, model.column_effects)

    def _without_known(
        self, matrix: Matrix, workers: Workers, weights: FloatArray | None
    ) -> Matrix:
        """Subtract from new rows what a fit subtracts from old ones; nothing unless overridden."""
        return matrix

    def predict_membership(self, X: Any) -> BoolArray:
        """Return the memberships of rows, seen or new, in the row clusters of the fit.

        Each row is decided by itself, by the thresholds of the fit: it joins its nearest
        cluster if it is no farther than the farthest row the fit accepted at its nearest cluster
        (always, where no outliers were asked for), and any other cluster within the largest
        distance of an extra membership. On the rows of a converged fit this gives the fit's own
        memberships, up to ties at the thresholds.

        With other overlap models than `"repeat"`, or a bound of memberships, it takes the set of
        clusters that is cheapest at the price of an extra membership. Of the rows of a fit a few
        may then differ: single changes that exact counts took after the price, and sets of more
        than three clusters (of three, if there are more than twelve), which are looked for one
        cluster at a time.

        New rows count as one, whatever weights the rows of the fit had; thresholds are those of
        costs, distances times weights.

        A row of counts is compared with independence given its own sum. One without any is as far
        from every cluster: it is an outlier where the fit allowed them, else in the first cluster.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            Rows over the columns of the fit.

        Returns
        -------
        membership : ndarray of bool, shape (n_rows, n_row_clusters)
            Memberships; a row without any is an outlier.
        """
        with self._engine_of(X) as engine:
            model = self._row_model
            rule = STORED_MODELS[model.overlap_model](model.max_memberships)
            scores = engine.row_scores(model.terms, model.V, sums=rule.needs_sums)
            kernels = engine.kernels
            counted = engine.row_margins() != 0 if model.terms.base == "margins" else None
        nearest, extra = model.nearest_threshold, model.extra_threshold
        choices = rule.choices(scores, kernels)
        members = choices.apply(Thresholds(nearest, extra, price=extra)).members.dense
        if counted is not None:
            members[~counted] = False
            members[~counted, 0] = nearest == np.inf
        return members

    def predict(self, X: Any) -> BoolArray | IntArray:
        """Return the clusters of rows, seen or new, in the form that fits the model.

        As with scikit-learn's classifiers, whose prediction is a vector of labels or, for
        multi-label problems, an indicator matrix: labels where every row has exactly one cluster
        (no overlap and no outliers asked for), else what `predict_membership` returns.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            Rows over the columns of the fit.

        Returns
        -------
        clusters : ndarray of int, shape (n_rows,), or of bool, shape (n_rows, n_row_clusters)
            Labels or memberships.
        """
        return self._as_prediction(self.predict_membership(X))

    def fit_predict(self, X: Any, y: Any = None) -> BoolArray | IntArray:
        """Fit and return the clusters of the rows of X, in the form of `predict`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            The data.
        y : None
            Ignored.

        Returns
        -------
        clusters : ndarray of int, shape (n_rows,), or of bool, shape (n_rows, n_row_clusters)
            Labels or memberships.
        """
        self.fit(X, y)
        return self._as_prediction(self._row_members)

    def _as_prediction(self, members: BoolArray) -> BoolArray | IntArray:
        if (
            self._row_model.extra_threshold == -np.inf
            and self._row_model.nearest_threshold == np.inf
        ):
            labels: IntArray = members.argmax(axis=1)
            return labels
        return members

    def transform(self, X: Any) -> FloatArray:
        """Return the distance of each row to each row cluster.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            Rows, seen or new, over the columns of the fit.

        Returns
        -------
        distances : ndarray of shape (n_rows, n_row_clusters)
            Squared distances as the objective measures them: what a row in this cluster alone adds
            to it, which may be negative for costs relative to a background. Infinite for a cluster
            without members, but for counts.
        """
        with self._engine_of(X) as engine:
            model = self._row_model
            d = engine.row_distances(model.terms, model.V)
        d[:, np.isinf(model.terms.magnitude)] = np.inf
        d = d[:, : model.terms.single or None]
        # Relative to a background they may be negative.
        return d if model.terms.rate is not None else np.maximum(d, 0.0, out=d)
