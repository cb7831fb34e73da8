"""ROCC's co-clusters once they are found: attributes, and new rows compared with them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from neocc._typing import BoolArray, FloatArray, IntArray
from neocc._warn import warn
from neocc.core.engine import Engine
from neocc.core.overlap import nearest_among
from neocc.core.problem import Problem
from neocc.core.solve import Solution
from neocc.estimators._base import BaseNEO
from neocc.estimators._labels import BiclusterLabelsMixin, only_labels
from neocc.estimators._progress import logger
from neocc.estimators._tables import ColumnTableMixin
from neocc.rivals.rocc.grid import Grid
from neocc.rivals.rocc.members import Fitted, without_nested
from neocc.rivals.rocc.merging import Merged, find_coclusters


class FewerCoclustersWarning(UserWarning):
    """Fewer co-clusters were found than asked for."""


class CoclusterResults(BiclusterLabelsMixin, ColumnTableMixin, BaseNEO):
    """Co-clusters with rows and columns of their own, and no grid."""

    _fitted: list[Fitted]
    _row_limits: FloatArray
    _grid_problem: Any

    def _publish(self, engine: Engine, problem: Problem, solution: Solution) -> None:
        """Turn the grid into co-clusters."""
        merged = find_coclusters(
            Grid.of(engine, problem, solution),
            self.error_cutoff,
            self.n_coclusters,
            self.merge_threshold,
        )
        noise = solution.noise / (engine.shape[0] * engine.shape[1])
        found = merged.on_items(solution)
        if self.expand is not None:
            found = [each.expanded(engine, problem, self.expand, noise) for each in found]
        found = sorted(found, key=lambda each: -each.n_entries)
        if self.n_coclusters is None:
            found = without_nested(found)
        fitted = [each.fitted(engine, problem, noise) for each in found]
        errors = np.column_stack([each.row_errors(engine) for each in fitted])
        of_columns = [each.column_errors(engine, problem, noise) for each in found]
        super()._publish(engine, problem, solution)
        self._publish_grid(merged, solution)
        self._publish_coclusters(fitted)
        self.row_labels_ = nearest_among(self.row_membership_, errors)
        self.column_labels_ = nearest_among(self.column_membership_, np.column_stack(of_columns))
        self._report_merging(merged)

    def _labels(self, *_: Any) -> dict[str, Any]:
        return {}  # those of the grid say nothing of the co-clusters

    def _publish_coclusters(self, fitted: list[Fitted]) -> None:
        """Set the attributes of the co-clusters."""
        self.n_coclusters_ = self._n_features_out = len(fitted)
        self.row_membership_ = np.array([each.cocluster.rows for each in fitted]).T
        self.column_membership_ = np.array([each.cocluster.columns for each in fitted]).T
        self.row_outliers_ = ~self.row_membership_.any(axis=1)
        self.column_outliers_ = ~self.column_membership_.any(axis=1)
        self.means_ = np.array([each.mean for each in fitted])
        self.errors_ = np.array([each.error for each in fitted])
        self.objective_ = float(sum(each.error * each.cocluster.n_entries for each in fitted))
        self._fitted = fitted
        margin = 0.0 if self.expand is None else self.expand
        self._row_limits = np.array([each.row_limit(margin) for each in fitted])
        self._row_members, self._column_members = self.row_membership_, self.column_membership_

    def _publish_grid(self, merged: Merged, solution: Solution) -> None:
        """Set the attributes of the first step."""
        assert solution.U is not None and solution.V is not None
        self.grid_row_labels_ = only_labels(solution.U)
        self.grid_column_labels_ = only_labels(solution.V)
        self.grid_errors_ = merged.block_errors
        self.error_cutoff_ = merged.cutoff
        self.merge_distances_ = merged.coclusters.distances

    def _report_merging(self, merged: Merged) -> None:
        """Log what merging has led to; warn where that is too little."""
        if self.verbose:
            logger.info(
                "%d of %d blocks have an error of at most %.6g; merged into %d co-clusters",
                merged.n_kept,
                merged.block_errors.size,
                merged.cutoff,
                self.n_coclusters_,
            )
        if self.n_coclusters is not None and self.n_coclusters_ < self.n_coclusters:
            warn(
                f"Found {self.n_coclusters_} co-clusters, not n_coclusters={self.n_coclusters}: "
                f"only {merged.n_kept} blocks of the grid have an error of at most "
                f"{merged.cutoff:g}. Raise error_cutoff, or enlarge the grid.",
                FewerCoclustersWarning,
            )

    @property
    def rows_(self) -> BoolArray:
        """Rows of each co-cluster, of shape (n_coclusters, n_rows)."""
        check_is_fitted(self)
        members: BoolArray = self.row_membership_.T
        return members

    @property
    def columns_(self) -> BoolArray:
        """Columns of each co-cluster, of shape (n_coclusters, n_columns)."""
        check_is_fitted(self)
        members: BoolArray = self.column_membership_.T
        return members

    def transform(self, X: Any) -> FloatArray:
        """Return the mean squared error of each row over the columns of each co-cluster.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            Rows, seen or new, over the columns of the fit.

        Returns
        -------
        errors : ndarray of shape (n_rows, n_coclusters)
            How badly each row fits each co-cluster.
        """
        with self._engine_of(X) as engine:
            return np.column_stack([each.row_errors(engine) for each in self._fitted])

    def _column_distances(self, X: Any) -> FloatArray:
        with self._engine_of(X) as engine:
            problem = self._grid_problem(engine.shape)
            errors = [
                each.cocluster.column_errors(engine, problem, each.noise) for each in self._fitted
            ]
        return np.column_stack(errors)

    def predict_membership(self, X: Any) -> BoolArray:
        """Return which co-clusters rows, seen or new, belong to.

        The rule is that of the last step of the fit: a row belongs to every co-cluster whose own
        mean squared error its own exceeds by no more than `expand` standard errors.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            Rows over the columns of the fit.

        Returns
        -------
        membership : ndarray of bool, shape (n_rows, n_coclusters)
            Memberships; a row without any is an outlier. Rows that the grid put into a co-cluster
            which they do not fit so well are not in it by this rule.
        """
        return self._within_limits(self.transform(X))

    def predict(self, X: Any) -> IntArray:
        """Return the co-cluster that each row, seen or new, fits best.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            Rows over the columns of the fit.

        Returns
        -------
        labels : ndarray of int, shape (n_rows,)
            Of the co-clusters that `predict_membership` gives, the one of smallest error; -1 for an
            outlier.
        """
        errors = self.transform(X)
        return nearest_among(self._within_limits(errors), errors)

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002
        """Return minus the squared errors of rows in the co-clusters they fit, for each cell of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            Rows over the columns of the fit.
        y : None
            Ignored.

        Returns
        -------
        score : float
            Larger is better. A row in no co-cluster costs nothing.
        """
        errors, sizes = self.transform(X), self.column_membership_.sum(axis=0)
        total = (errors * sizes)[self._within_limits(errors)].sum()
        return -float(total) / (len(errors) * len(self.column_membership_))

    def _within_limits(self, errors: FloatArray) -> BoolArray:
        within: BoolArray = errors <= self._row_limits
        return within
