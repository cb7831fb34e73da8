"""What is done to a matrix before it is clustered, by names such as ``row-norm+column-norm``."""

from __future__ import annotations

from typing import Any

from scipy import sparse

from neocc.preprocessing import PREPROCESSORS, preprocess

__all__ = ["RAW", "explained", "treated"]

RAW = "raw"

# A step of `neocc.preprocessing` for which the columns, not the rows, are the documents.
_TURNED = {"column-tfidf": "tfidf"}
# These fill a sparse matrix.
_FILLING = {"double-center", "row-standardize", "column-standardize"}


def treated(X: Any, treatment: str) -> Any:
    """Return the matrix after the steps of a treatment.

    Examples
    --------
    >>> from neocc.paper._treatments import treated
    >>> treated([[3.0, 0.0], [4.0, 2.0]], "column-norm")
    array([[0.6, 0. ],
           [0.8, 1. ]])
    """
    for step in _steps(treatment):
        if step in _TURNED:
            X = preprocess(X.T, _TURNED[step]).T
            X = X.tocsr() if sparse.issparse(X) else X
        else:
            X = preprocess(X.toarray() if step in _FILLING and sparse.issparse(X) else X, step)
    return X


def explained(treatment: str) -> str:
    """Say in words what a treatment does.

    Examples
    --------
    >>> from neocc.paper._treatments import explained
    >>> explained("binarize+row-norm")
    'replace positive values by 1, others by 0; then divide each row by its Euclidean norm'
    """
    if treatment == RAW:
        return "the numbers as they are; a missing rating is a zero"
    words = {
        **PREPROCESSORS,
        "column-tfidf": "weigh rows by their rarity and divide each column by its norm",
    }
    return "; then ".join(words[step] for step in _steps(treatment))


def _steps(treatment: str) -> list[str]:
    return [] if treatment == RAW else treatment.split("+")
