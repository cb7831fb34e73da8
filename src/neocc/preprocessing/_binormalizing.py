"""Rows and columns scaled until all rows, and all columns, have equal norms."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from neocc._sklearn import Interval, fit_context
from neocc._typing import FloatArray
from neocc._warn import warn
from neocc.preprocessing._reading import Preprocessor, transformed
from neocc.preprocessing._scaling import scale_columns, scale_rows

# Where no scaling exists the factors diverge; this keeps them finite.
_BOUNDS = (1e-100, 1e100)


class Binormalizer(Preprocessor):
    r"""Scale rows and columns until all rows, and all columns, have equal Euclidean norms.

    Finds factors :math:`r_p` and :math:`c_t` such that every row and every column of
    :math:`r_p x_{pt} c_t` has mean square 1: active users, popular films or highly expressed genes
    do not outweigh others. Rows and columns are scaled alternately (the Sinkhorn-Knopp iteration on
    the squares).

    Parameters
    ----------
    max_iter : int, default=1000
        Maximum number of iterations, each over rows and columns.
    tol : float, default=1e-6
        Fraction by which the squared norms of the columns may differ from their target; those of
        the rows are exact.

    Attributes
    ----------
    column_scales_ : ndarray of shape (n_columns,)
        The factors c, the same for all columns of zeros. Rows are scaled after their columns, to
        mean square 1.
    n_iter_ : int
        Number of iterations.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, where X has them.

    See Also
    --------
    binormalize : The same as a function.

    Notes
    -----
    Rows and columns of zeros remain unchanged, and mean squares are taken over the others. A matrix
    with many zeros may have no such scaling, for instance if two rows have their only entry in the
    same column: a `ConvergenceWarning` then says how far the columns are from equal.

    References
    ----------
    R. Sinkhorn and P. Knopp, "Concerning Nonnegative Matrices and Doubly Stochastic Matrices",
    Pacific Journal of Mathematics 21, 1967.

    H. Cho and I. S. Dhillon, "Coclustering of Human Cancer Microarrays Using Minimum Sum-Squared
    Residue Coclustering", IEEE/ACM Transactions on Computational Biology and Bioinformatics 5,
    2008.

    Examples
    --------
    >>> import numpy as np
    >>> from neocc.preprocessing import Binormalizer
    >>> X = Binormalizer().fit_transform([[1.0, 2.0], [3.0, 40.0]])
    >>> np.square(X).mean(axis=0).round(4), np.square(X).mean(axis=1).round(4)
    (array([1., 1.]), array([1., 1.]))
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(self, *, max_iter: int = 1000, tol: float = 1e-6) -> None:
        self.max_iter = max_iter
        self.tol = tol

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Binormalizer:
        """Find the factors of the columns.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            The data.
        y : None
            Ignored.

        Returns
        -------
        self : Binormalizer
            The fitted transformer.
        """
        X = self._read(X, reset=True)
        # Divided by the largest value first, so that squares do not overflow.
        largest = float(abs(X).max()) or 1.0
        squares = (X / largest).astype(np.float64)
        squares = squares.multiply(squares).tocsr() if sparse.issparse(X) else squares * squares
        factors, self.n_iter_, off = _balance(squares, self.max_iter, self.tol)
        # Rows of zeros are left out of the mean squares, as are columns.
        self._n_columns = max(1, int(np.count_nonzero(_sums(squares, 0))))
        self.column_scales_ = np.sqrt(factors) / largest
        if off > self.tol:
            warn(
                f"Squared norms of columns still differ by up to {off:.1%} from their target after "
                f"{self.n_iter_} turns. The zeros of the data may rule out equal norms of rows and "
                "columns: drop rows and columns of few entries, or raise max_iter.",
                ConvergenceWarning,
            )
        return self

    def transform(self, X: Any) -> Any:
        """Scale columns by the factors of the fit, and rows to mean square 1.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            The data, with the same columns as in `fit`.

        Returns
        -------
        scaled : ndarray or sparse matrix of shape (n_rows, n_columns)
            The data to that scale.
        """
        check_is_fitted(self)
        X = scale_columns(self._read(X, reset=False), self.column_scales_)
        squares = X.multiply(X) if sparse.issparse(X) else X * X
        sums = _sums(squares, 1)
        scales = np.divide(self._n_columns, sums, out=np.ones_like(sums), where=sums > 0)
        return scale_rows(X, np.sqrt(scales))


def _balance(squares: Any, max_iter: int, tol: float) -> tuple[FloatArray, int, float]:
    """Return squared factors of the columns, the number of iterations, and the deviation left."""
    row_sums, column_sums = _sums(squares, 1), _sums(squares, 0)
    rows, columns = row_sums > 0, column_sums > 0
    n, m = int(np.count_nonzero(rows)), int(np.count_nonzero(columns))
    factors = np.ones(len(columns))
    best, off = factors, np.inf
    turn = 0
    while off > tol and turn < max_iter:
        turn += 1
        row_factors = _clipped(m, squares @ factors, rows) * rows
        weighted = squares.T @ row_factors
        now = float(
            np.max(np.abs(factors * weighted / max(n, 1) - 1.0), where=columns, initial=0.0)
        )
        if now < off:
            best, off = factors, now
        factors = _clipped(n, weighted, columns)
    return best, turn, off


def _clipped(target: float, sums: FloatArray, where: Any) -> FloatArray:
    factors = np.divide(target, sums, out=np.ones(len(sums)), where=where)
    return np.clip(factors, *_BOUNDS)


def _sums(squares: Any, axis: int) -> FloatArray:
    sums: FloatArray = np.asarray(squares.sum(axis=axis), dtype=np.float64).ravel()
    return sums


def binormalize(X: Any, *, max_iter: int = 1000, tol: float = 1e-6) -> Any:
    """Scale rows and columns until all rows, and all columns, have equal Euclidean norms.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_rows, n_columns)
        The data.
    max_iter : int, default=1000
        Maximum number of iterations, each over rows and columns.
    tol : float, default=1e-6
        Fraction by which the squared norms of the columns may differ from their target.

    Returns
    -------
    scaled : ndarray or sparse matrix of shape (n_rows, n_columns)
        The data with mean square 1 in every row and column; rows or columns of zeros stay as they
        are.

    See Also
    --------
    Binormalizer : The same as a transformer.

    Examples
    --------
    >>> from neocc.preprocessing import binormalize
    >>> binormalize([[1.0, 2.0], [4.0, 8.0]]).round(6)
    array([[1., 1.],
           [1., 1.]])
    """
    return transformed(Binormalizer(max_iter=max_iter, tol=tol), X)
