"""Rows or columns brought to variance 1 or to norm 1."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted

from neocc._sklearn import StrOptions, fit_context
from neocc._typing import AnyArray
from neocc.preprocessing._reading import Preprocessor, column_scaler, refuse_sparse, transformed


class Standardizer(Preprocessor):
    """Standardise every row, or every column, to mean 0 and variance 1.

    Constant rows and columns become 0; NaN cells remain NaN.

    Parameters
    ----------
    axis : {"rows", "columns"}, default="columns"
        Whether to standardise rows or columns. Means and variances of columns are those of the rows
        seen in `fit`; those of rows are computed from the rows passed to `transform`.
    with_mean : bool, default=True
        Subtract the mean. Only False keeps a sparse matrix sparse.

    Attributes
    ----------
    column_means_, column_scales_ : ndarray of shape (n_columns,) or None
        Means and standard deviations of the columns, 0 and 1 where a column has no value; None for
        "rows". `column_means_` is also None for sparse matrices.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, where X has them.

    See Also
    --------
    standardize : The same as a function.
    sklearn.preprocessing.StandardScaler : The scaler used internally.

    Examples
    --------
    >>> from neocc.preprocessing import Standardizer
    >>> Standardizer(axis="rows").fit_transform([[1.0, 3.0], [5.0, 5.0]])
    array([[-1.,  1.],
           [ 0.,  0.]])
    """

    keeps_missing: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "axis": [StrOptions({"rows", "columns"})],
        "with_mean": ["boolean"],
    }

    def __init__(self, axis: str = "columns", *, with_mean: bool = True) -> None:
        self.axis = axis
        self.with_mean = with_mean

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Standardizer:
        """Learn means and variances of the columns.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            The data.
        y : None
            Ignored.

        Returns
        -------
        self : Standardizer
            The fitted transformer.
        """
        X = self._checked(X, reset=True)
        self._scaler = None
        self.column_means_ = self.column_scales_ = None
        if self.axis == "columns":
            self._scaler = column_scaler(X, with_mean=self.with_mean)
            self.column_means_ = self._scaler.mean_ if self.with_mean else None
            self.column_scales_ = self._scaler.scale_
        return self

    def transform(self, X: Any) -> Any:
        """Standardise rows or columns.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            The data, with the same columns as in `fit`.

        Returns
        -------
        standardized : ndarray or sparse matrix of shape (n_rows, n_columns)
            The standardised data.
        """
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        if self._scaler is not None:
            return self._scaler.transform(X)
        turned = column_scaler(X.T, with_mean=self.with_mean).transform(X.T).T
        return turned.tocsr() if sparse.issparse(turned) else np.ascontiguousarray(turned)

    def _checked(self, X: Any, *, reset: bool) -> Any:
        if self.with_mean:
            refuse_sparse(X, "Subtracting means", "Pass with_mean=False to scale only.")
        return self._read(X, reset=reset)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self.with_mean
        return tags


class NormScaler(Preprocessor):
    """Divide every row, or every column, by its norm.

    Rows and columns of zeros remain unchanged.

    Parameters
    ----------
    axis : {"rows", "columns"}, default="rows"
        Whether to scale rows or columns. Norms of columns are those of the rows seen in `fit`.
    norm : {"l1", "l2", "max"}, default="l2"
        Sum of absolute values, Euclidean norm, or largest absolute value.

    Attributes
    ----------
    column_norms_ : ndarray of shape (n_columns,) or None
        Norms of the columns, 1 for a column of zeros; None for "rows".
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, where X has them.

    See Also
    --------
    scale_norms : The same as a function.
    Binormalizer : Scale rows and columns together.

    Examples
    --------
    >>> from neocc.preprocessing import NormScaler
    >>> NormScaler(axis="columns", norm="max").fit_transform([[1.0, -4.0], [2.0, 0.0]])
    array([[ 0.5, -1. ],
           [ 1. ,  0. ]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "axis": [StrOptions({"rows", "columns"})],
        "norm": [StrOptions({"l1", "l2", "max"})],
    }

    def __init__(self, axis: str = "rows", norm: str = "l2") -> None:
        self.axis = axis
        self.norm = norm

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> NormScaler:
        """Learn the norms of the columns.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            The data.
        y : None
            Ignored.

        Returns
        -------
        self : NormScaler
            The fitted transformer.
        """
        X = self._read(X, reset=True)
        self.column_norms_ = _column_norms(X, self.norm) if self.axis == "columns" else None
        return self

    def transform(self, X: Any) -> Any:
        """Divide rows or columns by their norms.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            The data, with the same columns as in `fit`.

        Returns
        -------
        scaled : ndarray or sparse matrix of shape (n_rows, n_columns)
            The scaled data.
        """
        check_is_fitted(self)
        X = self._read(X, reset=False)
        if self.column_norms_ is None:
            return normalize(X, norm=self.norm)
        return scale_columns(X, 1.0 / self.column_norms_)


def _column_norms(X: Any, norm: str) -> AnyArray:
    """Return the norms of the columns, 1 for a column of zeros."""
    if norm == "l1":
        norms = np.asarray(abs(X).sum(axis=0)).ravel()
    else:
        largest = abs(X).max(axis=0)
        norms = largest.toarray().ravel() if sparse.issparse(largest) else largest
    norms = np.where(norms > 0, norms, np.ones_like(norms))
    if norm == "l2":
        # Scaled by the largest value first, so that squares neither overflow nor underflow.
        norms = norms * np.sqrt(column_squares(scale_columns(X, 1.0 / norms)))
        norms = np.where(norms > 0, norms, np.ones_like(norms))
    return norms


def column_squares(X: Any) -> AnyArray:
    """Return the sum of squares of every column."""
    squares = X.multiply(X) if sparse.issparse(X) else X * X
    return np.asarray(squares.sum(axis=0)).ravel()


def scale_columns(X: Any, factors: AnyArray) -> Any:
    """Multiply every column by a factor, in a new array or CSR matrix."""
    if not sparse.issparse(X):
        return X * factors.astype(X.dtype)
    data = X.data * factors.astype(X.dtype)[X.indices]
    return type(X)((data, X.indices.copy(), X.indptr.copy()), shape=X.shape)


def scale_rows(X: Any, factors: AnyArray) -> Any:
    """Multiply every row by a factor, in a new array or CSR matrix."""
    if not sparse.issparse(X):
        return X * factors.astype(X.dtype)[:, None]
    data = X.data * np.repeat(factors.astype(X.dtype), np.diff(X.indptr))
    return type(X)((data, X.indices.copy(), X.indptr.copy()), shape=X.shape)


def standardize(X: Any, axis: str = "columns", *, with_mean: bool = True) -> Any:
    """Standardise every row, or every column, to mean 0 and variance 1.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_rows, n_columns)
        The data.
    axis : {"rows", "columns"}, default="columns"
        Whether to standardise rows or columns.
    with_mean : bool, default=True
        Subtract the mean. Only False keeps a sparse matrix sparse.

    Returns
    -------
    standardized : ndarray or sparse matrix of shape (n_rows, n_columns)
        The standardised data; constant rows or columns are 0.

    See Also
    --------
    Standardizer : The same as a transformer.

    Examples
    --------
    >>> from neocc.preprocessing import standardize
    >>> standardize([[1.0, 5.0], [3.0, 5.0]])
    array([[-1.,  0.],
           [ 1.,  0.]])
    """
    return transformed(Standardizer(axis=axis, with_mean=with_mean), X)


def scale_norms(X: Any, axis: str = "rows", norm: str = "l2") -> Any:
    """Divide every row, or every column, by its norm.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_rows, n_columns)
        The data.
    axis : {"rows", "columns"}, default="rows"
        Whether to scale rows or columns.
    norm : {"l1", "l2", "max"}, default="l2"
        Sum of absolute values, Euclidean norm, or largest absolute value.

    Returns
    -------
    scaled : ndarray or sparse matrix of shape (n_rows, n_columns)
        The scaled data; rows or columns of zeros remain unchanged.

    See Also
    --------
    NormScaler : The same as a transformer.

    Examples
    --------
    >>> from neocc.preprocessing import scale_norms
    >>> scale_norms([[3.0, 4.0], [0.0, 0.0]])
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    return transformed(NormScaler(axis=axis, norm=norm), X)
