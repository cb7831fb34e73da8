"""Data sets inside scikit-learn, with their classes as clusters of the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from neocc.datasets._bunch import make_bunch

if TYPE_CHECKING:
    from sklearn.utils import Bunch

_LICENCE = "CC BY 4.0 (UCI Machine Learning Repository); a copy is part of scikit-learn."

_WINE_CITATION = (
    "Aeberhard, S., and Forina, M. (1991). Wine. UCI Machine Learning Repository, "
    "doi:10.24432/C5PC7J."
)
_WINE_TEXT = """\
Thirteen chemical measurements (columns) of 178 wines (rows) from three cultivars of one region of
Italy. The columns are on very different scales."""

_DIGITS_CITATION = (
    "Alpaydin, E., and Kaynak, C. (1998). Optical Recognition of Handwritten Digits. UCI Machine "
    "Learning Repository, doi:10.24432/C50P49."
)
_DIGITS_TEXT = """\
1,797 handwritten digits (rows), images of 8 x 8 pixels (columns) with grey levels from 0 to 16. The
digit that was meant is the class of a row. About half of the cells are zero, and pixels at the
margins are zero in nearly all images."""


def load_wine() -> Bunch:
    """Load measurements of wines of three cultivars.

    178 wines, 13 measurements, 3 disjoint classes [1]_. Small and well separated once the columns
    are standardised. The data is part of scikit-learn.

    Returns
    -------
    data : sklearn.utils.Bunch
        Dictionary-like object with the attributes

        data : ndarray of shape (178, 13), float64
            The measurements, each in its own unit.
        row_names : list of str
            ``"Wine1"`` to ``"Wine178"``.
        column_names : list of str
            What is measured.
        row_membership : ndarray of shape (178, 3), bool
            The cultivar of each wine.
        row_class_names : list of str
            ``"class_0"`` to ``"class_2"``, as in scikit-learn.
        column_membership, column_class_names : None
            Nothing is known about the columns.
        DESCR, citation, licence : str
            Description, citation and licence of the data.

    See Also
    --------
    sklearn.datasets.load_wine : The same data in scikit-learn's format.

    References
    ----------
    .. [1] Aeberhard, S., and Forina, M. (1991). Wine. UCI Machine Learning Repository.

    Examples
    --------
    >>> from neocc.datasets import load_wine
    >>> wine = load_wine()
    >>> wine.data.shape, wine.row_membership.sum(axis=0)
    ((178, 13), array([59, 71, 48]))
    """
    from sklearn.datasets import load_wine

    return _bunch(load_wine(), "Wine", _WINE_TEXT, _WINE_CITATION)


def load_digits() -> Bunch:
    """Load images of handwritten digits.

    1,797 images of 8 x 8 pixels, 10 disjoint classes [1]_. The data is part of scikit-learn.

    Returns
    -------
    data : sklearn.utils.Bunch
        Dictionary-like object with the attributes

        data : ndarray of shape (1797, 64), float64
            Grey levels from 0 to 16.
        row_names : list of str
            ``"Digit1"`` to ``"Digit1797"``.
        column_names : list of str
            The pixels, ``"pixel_0_0"`` to ``"pixel_7_7"``.
        row_membership : ndarray of shape (1797, 10), bool
            The digit of each image.
        row_class_names : list of str
            ``"0"`` to ``"9"``.
        column_membership, column_class_names : None
            Nothing is known about the columns.
        DESCR, citation, licence : str
            Description, citation and licence of the data.

    See Also
    --------
    sklearn.datasets.load_digits : The same data in scikit-learn's format.

    References
    ----------
    .. [1] Alpaydin, E., and Kaynak, C. (1998). Optical Recognition of Handwritten Digits. UCI
       Machine Learning Repository.

    Examples
    --------
    >>> from neocc.datasets import load_digits
    >>> digits = load_digits()
    >>> digits.data.shape, digits.row_membership.shape
    ((1797, 64), (1797, 10))
    """
    from sklearn.datasets import load_digits

    return _bunch(load_digits(), "Digits", _DIGITS_TEXT, _DIGITS_CITATION)


def _bunch(source: Any, title: str, text: str, citation: str) -> Bunch:
    """Turn a data set of scikit-learn with one class for each row into our form."""
    singular = title.removesuffix("s")
    return make_bunch(
        title=title,
        text=text,
        citation=citation,
        licence=_LICENCE,
        data=np.ascontiguousarray(source.data, dtype=np.float64),
        row_names=[f"{singular}{number}" for number in range(1, len(source.data) + 1)],
        column_names=[str(name) for name in source.feature_names],
        row_membership=source.target[:, None] == np.arange(len(source.target_names)),
        row_class_names=[str(name) for name in source.target_names],
    )
