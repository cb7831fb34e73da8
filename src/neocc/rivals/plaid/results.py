"""A fitted plaid model: its attributes, rows compared with it, averages over the kept sweeps."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from neocc._typing import BoolArray, FloatArray, IntArray
from neocc.core.overlap.scores import nearest_among
from neocc.estimators._labels import BiclusterLabelsMixin
from neocc.estimators._tables import ColumnTableMixin
from neocc.rivals.plaid.data import Units, read_dense
from neocc.rivals.plaid.predict import added_errors, likely_members
from neocc.rivals.plaid.state import Field, State, areas
from neocc.rivals.plaid.trace import Trace, comembership, support


class PlaidResults(
    ClassNamePrefixFeaturesOutMixin, BiclusterLabelsMixin, ColumnTableMixin, TransformerMixin
):
    """What is known after a fit; more of it is derived when it is asked for."""

    # Co-memberships of more items than this are given for some of them at a time.
    _largest_table: ClassVar[int] = 5_000

    _trace: Trace
    dense_limit: int

    def _publish(self, state: State, units: Units, trace: Trace) -> None:
        """Set the attributes of the fit, in the units of X."""
        state.reorder(np.argsort(-areas(state.sets), kind="stable"))
        parameters = state.parameters
        self.row_membership_: BoolArray = state.rows.T.copy()
        self.column_membership_: BoolArray = state.columns.T.copy()
        self.row_outliers_: Any = ~self.row_membership_.any(axis=1)
        self.column_outliers_: Any = ~self.column_membership_.any(axis=1)
        self._row_members, self._column_members = self.row_membership_, self.column_membership_
        self.n_submatrices_ = self._n_features_out = state.K
        self.effects_: FloatArray = units.scale * state.theta
        self.background_ = units.centre + units.scale * state.phi
        for side, residual, (members, others) in (
            ("row", state.data.minus(state.phi), state.sets),
            ("column", state.data.minus(state.phi).T, state.sets[::-1]),
        ):
            labels = _labels(members.T, added_errors(residual, others, state.theta))
            setattr(self, f"{side}_labels_", labels)
        self.noise_precision_ = parameters.tau0 / units.scale**2
        self.row_concentration_ = parameters.gamma1
        self.column_concentration_ = parameters.gamma2
        log_scale = units.log_density(state.data.n_observed)
        self.history_: dict[str, Any] = {
            "log_likelihood": np.array(trace.log_likelihood) - log_scale,
            "n_submatrices": np.array(trace.n_submatrices),
            "noise_precision": np.array(trace.noise_precision) / units.scale**2,
            "row_concentration": np.array(trace.row_concentration),
            "column_concentration": np.array(trace.column_concentration),
        }
        self.n_iter_ = len(trace.n_submatrices)
        self.n_kept_ = len(trace.rows)
        self.support_: FloatArray = support((trace.rows, trace.columns), state.sets)
        self._trace = trace

    def transform(self, X: Any) -> FloatArray:
        """Return how far each row is from each sub-matrix.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            Rows, seen or new, over the columns of the fit. NaN marks entries that were not
            observed.

        Returns
        -------
        distances : ndarray of shape (n_rows, n_submatrices)
            Squared errors of the observed entries of each row, if it were in this sub-matrix alone.
        """
        return self._distances(self._read(X), self.column_membership_)

    def predict_membership(self, X: Any) -> BoolArray:
        """Predict which sub-matrices rows, seen or new, belong to.

        Sub-matrices, background and noise remain those of the fit. A row takes the memberships of
        highest posterior density, found from none by the best single change at a time; as in any
        Indian buffet process, the prior odds of a sub-matrix that holds m of the n rows of the
        fit are m / (n + 1 - m). A row that the chain left undecided may get other memberships than
        in the fit.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            Rows over the columns of the fit. NaN marks entries that were not observed.

        Returns
        -------
        membership : ndarray of bool, shape (n_rows, n_submatrices)
            Memberships; a row without any is explained by the background.
        """
        return self._explain(self._read(X))[0]

    def predict(self, X: Any) -> IntArray:
        """Predict a label for each row, seen or new: the nearest of its sub-matrices.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            Rows over the columns of the fit. NaN marks entries that were not observed.

        Returns
        -------
        labels : ndarray of int, shape (n_rows,)
            The nearest (by `transform`) of the sub-matrices given by `predict_membership`; -1 for
            none.
        """
        rows = self._read(X)
        return _labels(self._explain(rows)[0], self._distances(rows, self.column_membership_))

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002
        """Return the mean log-likelihood of the observed entries of rows, seen or new.

        Rows are assigned as by `predict_membership`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            Rows over the columns of the fit. NaN marks entries that were not observed.
        y : None
            Ignored.

        Returns
        -------
        score : float
            Larger is better.
        """
        residual = self._explain(self._read(X))[1]
        error = residual.squares / max(residual.n_observed, 1)
        log_scale = float(np.log(self.noise_precision_ / (2 * np.pi)))
        return (log_scale - self.noise_precision_ * error) / 2

    def _read(self, X: Any) -> Field:
        check_is_fitted(self)
        return Field(*read_dense(self, X, None, self.dense_limit, reset=False))

    def _distances(self, rows: Field, columns: BoolArray) -> FloatArray:
        residual = rows.minus(self.background_)
        errors: FloatArray = np.square(residual.values).sum(axis=1)[:, None]
        errors = errors + added_errors(residual, columns.T, self.effects_)
        return np.maximum(errors, 0.0, out=errors)

    def _column_distances(self, X: Any) -> FloatArray:
        return self._distances(self._read(X).T, self.row_membership_)

    def _explain(self, rows: Field) -> tuple[BoolArray, Field]:
        """Return the likely memberships of rows, and what the model leaves of them."""
        residual = rows.minus(self.background_)
        m = self.row_membership_.sum(axis=0)
        log_odds = np.log(m / (len(self.row_membership_) + 1 - m))
        members = likely_members(
            residual, self.columns_, self.effects_, self.noise_precision_, log_odds
        )
        return members, residual

    @property
    def rows_(self) -> BoolArray:
        """Rows of each sub-matrix, of shape (n_submatrices, n_rows)."""
        check_is_fitted(self)
        return self.row_membership_.T

    @property
    def columns_(self) -> BoolArray:
        """Columns of each sub-matrix, of shape (n_submatrices, n_columns)."""
        check_is_fitted(self)
        return self.column_membership_.T

    @property
    def row_comembership_(self) -> FloatArray:
        """Fraction of kept sweeps in which two rows share a sub-matrix."""
        return self.comembership("rows")

    @property
    def column_comembership_(self) -> FloatArray:
        """Fraction of kept sweeps in which two columns share a sub-matrix."""
        return self.comembership("columns")

    def comembership(self, side: Literal["rows", "columns"], items: Any = None) -> FloatArray:
        """Return the fraction of kept sweeps in which items share a sub-matrix.

        Sub-matrices have no names that last from sweep to sweep; whether two items are together
        does not depend on names.

        Parameters
        ----------
        side : {"rows", "columns"}
            Which items.
        items : array-like of int, default=None
            Indices of the items to compare with all others; None for all of them, of which there
            may be 5,000.

        Returns
        -------
        fractions : ndarray of shape (len(items), n_items)
            Between 0 and 1; all 0 where no sweep was kept.
        """
        check_is_fitted(self)
        if side not in ("rows", "columns"):
            raise ValueError(f'side must be "rows" or "columns"; got {side!r}.')
        samples = self._trace.rows if side == "rows" else self._trace.columns
        members = self.row_membership_ if side == "rows" else self.column_membership_
        n_items = len(members)
        if items is None and n_items > self._largest_table:
            raise ValueError(
                f"Co-memberships of {n_items:,} {side} are a table of {n_items:,} x {n_items:,} "
                f"entries, {n_items**2 * 8 / 1e9:.3g} GB. Ask for some of them: "
                f'comembership("{side}", items=[...]).'
            )
        chosen = np.arange(n_items) if items is None else np.asarray(items)
        if chosen.ndim != 1 or not (chosen.size == 0 or chosen.dtype.kind in "iub"):
            raise ValueError(f"items must be a list of indices of {side}; got {items!r}.")
        indices = np.arange(n_items)[chosen if chosen.size else slice(0)]
        return comembership(samples, n_items, indices)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_trace")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


def _labels(members: BoolArray, distances: FloatArray) -> IntArray:
    """Return the nearest sub-matrix of each item, -1 for none; there may be none at all."""
    return nearest_among(members, distances) if members.size else np.full(len(members), -1)
