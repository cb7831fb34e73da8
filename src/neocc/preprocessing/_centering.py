"""Means of rows, columns or both subtracted."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from neocc._sklearn import StrOptions, fit_context
from neocc._typing import AnyArray
from neocc.preprocessing._reading import Preprocessor, column_scaler, refuse_sparse, transformed


class Centerer(Preprocessor):
    r"""Subtract the means of rows, of columns, or of both.

    With ``axis="both"`` (double centring) rows and columns of the result have mean 0:

    .. math:: x_{pt} - \bar{x}_{p \cdot} - \bar{x}_{\cdot t} + \bar{x}

    Parameters
    ----------
    axis : {"rows", "columns", "both"}, default="columns"
        Which means to subtract. Means of columns are those of the rows seen in `fit`; means of
        rows are those of the rows passed to `transform`.

    Attributes
    ----------
    column_means_ : ndarray of shape (n_columns,) or None
        Means of the columns (of the centred rows, with "both"), 0 where a column has no value;
        None for "rows".
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, where X has them.

    See Also
    --------
    center : The same as a function.

    Notes
    -----
    Sparse matrices are rejected: hardly any zeros would be left. `neocc.NEOCC` needs no centring:
    its objective "mean" is invariant to a constant added to the data, and "residue" to offsets of
    rows and columns.

    Examples
    --------
    >>> from neocc.preprocessing import Centerer
    >>> Centerer(axis="both").fit_transform([[1.0, 2.0], [3.0, 6.0]])
    array([[ 0.5, -0.5],
           [-0.5,  0.5]])
    """

    keeps_missing: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "axis": [StrOptions({"rows", "columns", "both"})],
    }

    def __init__(self, axis: str = "columns") -> None:
        self.axis = axis

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Centerer:
        """Learn the means of the columns.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_columns)
            The data.
        y : None
            Ignored.

        Returns
        -------
        self : Centerer
            The fitted transformer.
        """
        X = self._rows_centered(X, reset=True)
        self._scaler = None
        if self.axis != "rows":
            self._scaler = column_scaler(X, with_std=False)
        self.column_means_ = None if self._scaler is None else self._scaler.mean_
        return self

    def transform(self, X: Any) -> AnyArray:
        """Subtract the means.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_columns)
            The data, with the same columns as in `fit`.

        Returns
        -------
        centered : ndarray of shape (n_rows, n_columns)
            The centred data.
        """
        check_is_fitted(self)
        X = self._rows_centered(X, reset=False)
        centered: AnyArray = X.copy() if self._scaler is None else self._scaler.transform(X)
        return centered

    def _rows_centered(self, X: Any, *, reset: bool) -> AnyArray:
        refuse_sparse(X, "Centring", 'Scale instead, e.g. with NormScaler(axis="columns").')
        values: AnyArray = self._read(X, reset=reset)
        if self.axis == "columns":
            return values
        means = values.mean(axis=1, keepdims=True)
        if np.isnan(means).any():
            there = np.count_nonzero(~np.isnan(values), axis=1, keepdims=True)
            means = np.nansum(values, axis=1, keepdims=True) / np.maximum(there, 1)
        centered: AnyArray = values - means.astype(values.dtype)
        return centered

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags


def center(X: Any, axis: str = "columns") -> Any:
    """Subtract the means of rows, of columns, or of both.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_columns)
        The data; not sparse.
    axis : {"rows", "columns", "both"}, default="columns"
        Which means to subtract.

    Returns
    -------
    centered : ndarray of shape (n_rows, n_columns)
        The centred data.

    See Also
    --------
    Centerer : The same as a transformer.

    Examples
    --------
    >>> from neocc.preprocessing import center
    >>> center([[1.0, 2.0], [3.0, 6.0]], axis="rows")
    array([[-0.5,  0.5],
           [-1.5,  1.5]])
    """
    return transformed(Centerer(axis=axis), X)
