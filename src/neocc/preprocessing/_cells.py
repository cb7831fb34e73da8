"""Cell by cell: logarithms of intensities, and zeros that stand for cells without a value."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from neocc._sklearn import fit_context
from neocc._typing import AnyArray
from neocc.preprocessing._reading import Preprocessor, refuse_sparse


class Log2(Preprocessor):
    """Replace x by its logarithm to base 2; for positive intensities.

    Values below the smallest positive value seen in `fit` are first raised to it.

    Attributes
    ----------
    floor_ : float
        The smallest positive value seen in `fit`.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, where X has them.

    See Also
    --------
    Log1p : For counts, where many cells are zero.

    Examples
    --------
    >>> from neocc.preprocessing import Log2
    >>> Log2().fit_transform([[1.0, 2.0], [0.0, 1024.0]])
    array([[ 0.,  1.],
           [ 0., 10.]])
    """

    keeps_missing: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Log2:
        """Find the smallest positive value.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_columns)
            The data, without negative values.
        y : None
            Ignored.

        Returns
        -------
        self : Log2
            The fitted transformer.
        """
        X = self._checked(X, reset=True)
        positive = X[X > 0]
        self.floor_ = float(positive.min()) if positive.size else 1.0
        return self

    def transform(self, X: Any) -> AnyArray:
        """Take logarithms.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_columns)
            The data, without negative values.

        Returns
        -------
        logarithms : ndarray of shape (n_rows, n_columns)
            Logarithms to base 2.
        """
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        logarithms: AnyArray = np.log2(np.maximum(X, X.dtype.type(self.floor_)))
        return logarithms

    def _checked(self, X: Any, *, reset: bool) -> AnyArray:
        refuse_sparse(X, "A logarithm", "Take Log1p, which keeps zeros.")
        X = self._read(X, reset=reset)
        if (X < 0).any():
            row, column = divmod(int(np.argmax(X.ravel() < 0)), X.shape[1])
            raise ValueError(
                f"Negative values in data: {X[row, column]:g} at row {row}, column {column}. They "
                "have no logarithm; use another step, or shift the data."
            )
        checked: AnyArray = X
        return checked

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        tags.input_tags.positive_only = True
        return tags


class ZeroDropper(Preprocessor):
    """Drop zeros: with ``NEOCC(missing="ignore")``, only the other cells count.

    For tables in which 0 means that a cell has no value, such as a film not rated.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, where X has them.

    Examples
    --------
    >>> from neocc.preprocessing import ZeroDropper
    >>> ZeroDropper().fit_transform([[5.0, 0.0], [0.0, 3.0]]).nnz
    2
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> ZeroDropper:
        """Check the data; there is nothing to learn.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            The data.
        y : None
            Ignored.

        Returns
        -------
        self : ZeroDropper
            The transformer.
        """
        self._read(X, reset=True)
        return self

    def transform(self, X: Any) -> Any:
        """Return the values other than zero.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            The data.

        Returns
        -------
        stored : sparse array of shape (n_rows, n_columns)
            The same without zeros, in CSR format.
        """
        check_is_fitted(self)
        X = self._read(X, reset=False, copy=sparse.issparse(X))
        stored = sparse.csr_array(X)
        stored.eliminate_zeros()
        return stored

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_features_in_")
