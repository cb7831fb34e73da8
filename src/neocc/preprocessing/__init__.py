"""Transformations of the data before co-clustering: functions, and transformers for pipelines.

* :func:`center`, :class:`Centerer`: subtract means of rows, of columns, or of both.
* :func:`standardize`, :class:`Standardizer`: mean 0 and variance 1 in every row or column.
* :func:`scale_norms`, :class:`NormScaler`: norm 1 of every row or column.
* :func:`binormalize`, :class:`Binormalizer`: equal norms of all rows and of all columns.
* :func:`log1p`, :class:`Log1p`: logarithms of counts; :class:`Log2`: of intensities.
* :func:`tfidf`, :class:`Tfidf`: weights of rare columns raised.
* :class:`ZeroDropper`: zeros that stand for cells without a value.
* :func:`binarize`: 0 and 1. The transformer is scikit-learn's ``Binarizer``.
* :func:`preprocess`, :func:`make_preprocessor`: several of them by name, see `PREPROCESSORS`.

Sparse matrices stay sparse. What would fill them is refused with an error that says so. Which of
them helps depends on the question: centring a rating matrix, for one, turns every missing rating
into a value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from neocc._later import importing_later
from neocc.preprocessing._names import PREPROCESSORS

if TYPE_CHECKING:
    from neocc.preprocessing._binormalizing import Binormalizer, binormalize
    from neocc.preprocessing._cells import Log2, ZeroDropper
    from neocc.preprocessing._centering import Centerer, center
    from neocc.preprocessing._registry import make_preprocessor, preprocess
    from neocc.preprocessing._scaling import NormScaler, Standardizer, scale_norms, standardize
    from neocc.preprocessing._values import Log1p, Tfidf, binarize, log1p, tfidf

__all__ = [
    "PREPROCESSORS",
    "Binormalizer",
    "Centerer",
    "Log1p",
    "Log2",
    "NormScaler",
    "Standardizer",
    "Tfidf",
    "ZeroDropper",
    "binarize",
    "binormalize",
    "center",
    "log1p",
    "make_preprocessor",
    "preprocess",
    "scale_norms",
    "standardize",
    "tfidf",
]

_MODULES = {
    "Binormalizer": "_binormalizing",
    "Centerer": "_centering",
    "Log1p": "_values",
    "Log2": "_cells",
    "NormScaler": "_scaling",
    "Standardizer": "_scaling",
    "Tfidf": "_values",
    "ZeroDropper": "_cells",
    "binarize": "_values",
    "binormalize": "_binormalizing",
    "center": "_centering",
    "log1p": "_values",
    "make_preprocessor": "_registry",
    "preprocess": "_registry",
    "scale_norms": "_scaling",
    "standardize": "_scaling",
    "tfidf": "_values",
}


# Import scikit-learn only when a name that needs it is used.
__getattr__, __dir__ = importing_later("neocc.preprocessing", _MODULES, __all__)
