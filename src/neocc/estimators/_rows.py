"""Rows, seen or new, compared with the row clusters of a fit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from neocc._typing import BoolArray, FloatArray, IntArray
from neocc.core.engine import Engine
from neocc.core.objectives import Centring, Side, Terms
from neocc.core.overlap import REPEAT, OverlapModel, Scores, nearest_among
from neocc.core.thresholds import Thresholds
from neocc.engines import DenseMatrix, Matrix, SparseMatrix, Workers
from neocc.engines.validation import read_matrix
from neocc.engines.weighing import weighed
from neocc.estimators._engines import make_engine
from neocc.estimators._fitted import asked_objective, used_overlap_model, weights_of
from neocc.kernels import Kernels, Memberships

__all__ = ["RowModel", "RowsMixin", "decided"]


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


class _Decided(NamedTuple):
    """Memberships of rows, their comparable distances and total cost, and the number of cells."""

    members: BoolArray
    distances: FloatArray
    cost: float
    n_cells: int


def decided(
    rule: OverlapModel,
    scores: Scores,
    kernels: Kernels,
    thresholds: tuple[float, float],
    all_zero: BoolArray | None = None,
) -> Memberships:
    """Return the memberships of items by the thresholds of a fit, each decided by itself.

    Items that are `all_zero` are as far from every cluster.
    """
    nearest, extra = thresholds
    if rule.needs_sums and extra == 0.0:
        # A further cluster that an item follows nowhere costs nothing; the fit needed some such.
        extra = np.nextafter(0.0, -1.0)
    choices = rule.choices(scores, kernels)
    members = choices.apply(Thresholds(nearest, extra, price=extra)).members
    if all_zero is None or not all_zero.any():
        return members
    dense = members.dense.copy()
    dense[all_zero] = False
    dense[all_zero, 0] = nearest == np.inf
    return rule.weighted(Memberships.from_dense(dense))


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
            matrix = self._without_known(matrix, workers, "rows", rows)
            engine = make_engine(matrix, self.kernel, workers)
            if model.terms.base == "margins":
                names = getattr(self, "feature_names_in_", None)
                asked_objective(self).check(engine, (rows, model.column_weights), names)
            yield engine.centred(model.centring, model.column_effects)

    def _without_known(
        self, matrix: Matrix, workers: Workers, side: Side, weights: FloatArray | None = None
    ) -> Matrix:
        """Subtract from new items what a fit subtracts from old ones; nothing unless overridden."""
        return matrix

    def predict_membership(self, X: Any) -> BoolArray:
        """Predict the memberships of rows, seen or new, in the row clusters of the fit.

        Each row is assigned independently, by the thresholds of the fit: it joins its nearest
        cluster if it is no farther than the farthest row the fit accepted at its nearest cluster
        (always, if no outliers were requested), and any other cluster within the largest distance
        of an extra membership. See :meth:`NEOCC.predict_membership` for other overlap models and
        weights.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            Rows with the same columns as in `fit`.

        Returns
        -------
        membership : ndarray of bool, shape (n_rows, n_row_clusters)
            Memberships; a row without any is an outlier.
        """
        return self._decide(X).members

    def predict(self, X: Any) -> IntArray:
        """Predict a label for each row, seen or new: the nearest of the clusters it belongs to.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            Rows with the same columns as in `fit`.

        Returns
        -------
        labels : ndarray of int, shape (n_rows,)
            The nearest (by `transform`) of the clusters given by `predict_membership`; -1 for an
            outlier.
        """
        found = self._decide(X)
        return nearest_among(found.members, found.distances)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the negative objective of rows, seen or new, per cell.

        Rows are assigned as by `predict_membership`, and the clusters remain those of the fit. On
        the data of a converged fit, this is minus `objective_` divided by the number of cells
        (observed cells, if only these count). New rows have weight one.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            Rows with the same columns as in `fit`.
        y : None
            Ignored.

        Returns
        -------
        score : float
            Higher is better, so `GridSearchCV` needs no scorer. Outliers cost nothing, unless costs
            are relative to a background.
        """
        found, objective = self._decide(X), asked_objective(self)
        share = len(found.members) / len(self._row_members)
        cost = found.cost + self._row_model.terms.constant * share
        if not objective.background:
            cost = max(cost, 0.0)
        return -cost / max(found.n_cells, 1)

    def _decide(self, X: Any) -> _Decided:
        """Decide where rows belong, by the thresholds of the fit."""
        with self._engine_of(X) as engine:
            model, objective = self._row_model, asked_objective(self)
            # Of one cluster each all models are the same, and the fit was one of "repeat".
            several = model.extra_threshold > -np.inf
            rule = used_overlap_model(self) if several else REPEAT
            scores = engine.row_scores(model.terms, model.V, sums=rule.needs_sums)
            all_zero = objective.all_zero(engine, "rows")
            columns = None if objective.weighs_data else weights_of(self)[1]
            constant = objective.constant(engine, None, columns)
            n_cells = engine.n_stored if objective.needs_counts else int(np.prod(engine.shape))
            kernels = engine.kernels
        thresholds = model.nearest_threshold, model.extra_threshold
        members = decided(rule, scores, kernels, thresholds, all_zero)
        cost = rule.present(scores, members)
        assert scores.d is not None
        return _Decided(members.dense, scores.d, float(cost.sum()) + constant, n_cells)

    def transform(self, X: Any) -> FloatArray:
        """Return the distance of each row to each row cluster.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            Rows, seen or new, with the same columns as in `fit`.

        Returns
        -------
        distances : ndarray of shape (n_rows, n_row_clusters)
            Squared distances as the objective measures them: what a row in this cluster alone adds
            to it, which may be negative for costs relative to a background. Infinite for an empty
            cluster, except for counts.
        """
        with self._engine_of(X) as engine:
            model = self._row_model
            d = engine.row_distances(model.terms, model.V)
        d[:, np.isinf(model.terms.magnitude)] = np.inf
        d = d[:, : model.terms.single or None]
        # Relative to a background they may be negative.
        return d if model.terms.rate is not None else np.maximum(d, 0.0, out=d)
