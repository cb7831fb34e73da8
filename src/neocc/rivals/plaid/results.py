"""A fitted plaid model: its attributes, and averages over the kept sweeps."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import BiclusterMixin
from sklearn.utils.validation import check_is_fitted

from neocc._typing import BoolArray, FloatArray, IntArray
from neocc.core.overlap.scores import nearest_among
from neocc.rivals.plaid.data import Units
from neocc.rivals.plaid.state import Field, State, areas
from neocc.rivals.plaid.trace import Trace, comembership, support


class PlaidResults(BiclusterMixin):
    """What is known after a fit; more of it is derived when it is asked for."""

    # Co-memberships of more items than this are given for some of them at a time.
    _largest_table: ClassVar[int] = 5_000

    _trace: Trace

    def _publish(self, state: State, units: Units, trace: Trace) -> None:
        """Set the attributes of the fit, in the units of X."""
        state.reorder(np.argsort(-areas(state.sets), kind="stable"))
        parameters = state.parameters
        self.row_membership_: BoolArray = state.rows.T.copy()
        self.column_membership_: BoolArray = state.columns.T.copy()
        self.row_outliers_: Any = ~self.row_membership_.any(axis=1)
        self.column_outliers_: Any = ~self.column_membership_.any(axis=1)
        self.row_labels_: IntArray = _labels(state, state.data, state.rows, state.columns)
        self.column_labels_: IntArray = _labels(state, state.data.T, state.columns, state.rows)
        self.n_submatrices_ = state.K
        self.effects_: FloatArray = units.scale * state.theta
        self.background_ = units.centre + units.scale * state.phi
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


def _labels(state: State, data: Field, members: BoolArray, others: BoolArray) -> IntArray:
    """Return, of the sub-matrices of each row of the data, the one that alone explains it best."""
    if not state.K:
        return np.full(members.shape[1], -1)
    counts = np.column_stack([data.counts(y) for y in others.astype(float)])
    sums = np.column_stack([data.sums(y) for y in others.astype(float)]) - state.phi * counts
    # Squared errors with one sub-matrix, less those of the background.
    return nearest_among(members.T, state.theta * (state.theta * counts - 2 * sums))
