"""Counts made comparable: logarithms, TF-IDF, and 0 or 1."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import Binarizer
from sklearn.utils.validation import check_is_fitted

from neocc._places import place_of
from neocc._sklearn import fit_context
from neocc.preprocessing._reading import Preprocessor, transformed


class Log1p(Preprocessor):
    """Replace x by log(1 + x), which tames large counts and keeps zeros.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, where X has them.

    See Also
    --------
    log1p : The same as a function.

    Examples
    --------
    >>> from neocc.preprocessing import Log1p
    >>> Log1p().fit_transform([[0.0, 1.0], [3.0, 7.0]]).round(3)
    array([[0.   , 0.693],
           [1.386, 2.079]])
    """

    keeps_missing: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Log1p:
        """Check the data; there is nothing to learn.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            The data, without negative values.
        y : None
            Ignored.

        Returns
        -------
        self : Log1p
            The transformer.
        """
        self._non_negative(X, reset=True)
        return self

    def transform(self, X: Any) -> Any:
        """Take logarithms.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            The data, without negative values.

        Returns
        -------
        logarithms : ndarray or sparse matrix of shape (n_rows, n_columns)
            The logarithms log(1 + x) of the values x.
        """
        check_is_fitted(self)
        X = self._non_negative(X, reset=False)
        return X.log1p() if sparse.issparse(X) else np.log1p(X)

    def _non_negative(self, X: Any, *, reset: bool) -> Any:
        X = self._read(X, reset=reset)
        values = X.data if sparse.issparse(X) else X.ravel()
        if (values < 0).any():
            first = int(np.argmax(values < 0))
            row, column = place_of(X, first)
            raise ValueError(
                f"Negative values in data: {values[first]:g} at row {row}, column {column}. "
                "log(1 + x) is for counts and other non-negative data; use another step, or shift "
                "the data."
            )
        return X

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_features_in_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


class Tfidf(TfidfTransformer):
    r"""Weigh columns by their rarity (TF-IDF), and scale rows to norm 1.

    Rows correspond to documents and columns to terms: entry x of column t is multiplied by

    .. math:: \log\frac{1 + n}{1 + n_t} + 1

    where :math:`n_t` of the n rows have an entry in column t. It is scikit-learn's transformer, but
    dense data stays dense.

    Parameters
    ----------
    norm : {"l1", "l2"} or None, default="l2"
        Norm that rows are scaled to.
    use_idf : bool, default=True
        Whether to weight the columns; if False, only rows are scaled.
    smooth_idf : bool, default=True
        Count one more row that has an entry in every column, as above.
    sublinear_tf : bool, default=False
        Replace x by 1 + log(x) first.

    Attributes
    ----------
    idf_ : ndarray of shape (n_columns,)
        Weights of the columns.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, where X has them.

    See Also
    --------
    tfidf : The same as a function.
    sklearn.feature_extraction.text.TfidfTransformer : The transformer used internally.

    Examples
    --------
    >>> from neocc.preprocessing import Tfidf
    >>> Tfidf(norm=None).fit_transform([[1.0, 0.0], [2.0, 1.0]]).round(3)
    array([[1.   , 0.   ],
           [2.   , 1.405]])
    """

    def transform(self, X: Any, copy: bool = True) -> Any:
        """Weigh columns and scale rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            The data, with the same columns as in `fit`.
        copy : bool, default=True
            Work on a copy of X.

        Returns
        -------
        weighted : ndarray or sparse matrix of shape (n_rows, n_columns)
            The weighted data.
        """
        weighted = super().transform(X, copy=copy)
        if not sparse.issparse(X):
            return weighted.toarray()
        # Where scikit-learn hands back a matrix, an array stays an array: `*` differs.
        return sparse.csr_array(weighted) if isinstance(X, sparse.sparray) else weighted


def log1p(X: Any) -> Any:
    """Replace x by log(1 + x), which tames large counts and keeps zeros.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_rows, n_columns)
        The data, without negative values.

    Returns
    -------
    logarithms : ndarray or sparse matrix of shape (n_rows, n_columns)
        The logarithms log(1 + x) of the values x.

    See Also
    --------
    Log1p : The same as a transformer.

    Examples
    --------
    >>> from neocc.preprocessing import log1p
    >>> log1p([[0, 1], [3, 7]]).round(3)
    array([[0.   , 0.693],
           [1.386, 2.079]])
    """
    return transformed(Log1p(), X)


def tfidf(X: Any, *, norm: str | None = "l2") -> Any:
    """Weigh columns by their rarity (TF-IDF), and scale rows to norm 1.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_rows, n_columns)
        The data: rows as documents, columns as terms.
    norm : {"l1", "l2"} or None, default="l2"
        Norm that rows are scaled to.

    Returns
    -------
    weighted : ndarray or sparse matrix of shape (n_rows, n_columns)
        The weighted data.

    See Also
    --------
    Tfidf : The same as a transformer, with more options.

    Examples
    --------
    >>> from neocc.preprocessing import tfidf
    >>> tfidf([[1, 0], [2, 1]], norm=None).round(3)
    array([[1.   , 0.   ],
           [2.   , 1.405]])
    """
    return transformed(Tfidf(norm=norm), X)


def binarize(X: Any, *, threshold: float = 0.0) -> Any:
    """Replace values above a threshold by 1 and others by 0.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_rows, n_columns)
        The data.
    threshold : float, default=0.0
        Values up to this become 0; at least 0 for sparse matrices.

    Returns
    -------
    binary : ndarray or sparse matrix of shape (n_rows, n_columns)
        Zeros and ones.

    See Also
    --------
    sklearn.preprocessing.Binarizer : The same as a transformer.

    Examples
    --------
    >>> from neocc.preprocessing import binarize
    >>> binarize([[1.0, 4.0], [5.0, 3.0]], threshold=3)
    array([[0., 1.],
           [1., 0.]])
    """
    return transformed(Binarizer(threshold=threshold), X)
