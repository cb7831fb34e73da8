"""Several transformations by name, for the command line and for settings in files."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.preprocessing import Binarizer

from neocc.preprocessing._binormalizing import Binormalizer
from neocc.preprocessing._cells import Log2, ZeroDropper
from neocc.preprocessing._centering import Centerer
from neocc.preprocessing._names import PREPROCESSORS
from neocc.preprocessing._reading import transformed
from neocc.preprocessing._scaling import NormScaler, Standardizer
from neocc.preprocessing._values import Log1p, Tfidf

_MAKERS: dict[str, Callable[[], Any]] = {
    "row-center": lambda: Centerer(axis="rows"),
    "column-center": lambda: Centerer(axis="columns"),
    "double-center": lambda: Centerer(axis="both"),
    "row-standardize": lambda: Standardizer(axis="rows"),
    "column-standardize": lambda: Standardizer(axis="columns"),
    "row-norm": lambda: NormScaler(axis="rows"),
    "row-norm-l1": lambda: NormScaler(axis="rows", norm="l1"),
    "row-norm-max": lambda: NormScaler(axis="rows", norm="max"),
    "column-norm": lambda: NormScaler(axis="columns"),
    "column-norm-l1": lambda: NormScaler(axis="columns", norm="l1"),
    "column-norm-max": lambda: NormScaler(axis="columns", norm="max"),
    "binormalize": Binormalizer,
    "log1p": Log1p,
    "log2": Log2,
    "tfidf": Tfidf,
    "binarize": Binarizer,
    "drop-zeros": ZeroDropper,
}


def make_preprocessor(names: str | Iterable[str]) -> Pipeline:
    """Make a pipeline of transformations from their names.

    Parameters
    ----------
    names : str or iterable of str
        Names of the steps, in order; see `neocc.preprocessing.PREPROCESSORS`. Without any, the
        pipeline changes nothing.

    Returns
    -------
    pipeline : sklearn.pipeline.Pipeline
        The transformers, under their names; repeated names are numbered.

    See Also
    --------
    preprocess : Transform data directly.

    Examples
    --------
    >>> from neocc.preprocessing import make_preprocessor
    >>> make_preprocessor(["log1p", "column-norm"])
    Pipeline(steps=[('log1p', Log1p()), ('column-norm', NormScaler(axis='columns'))])
    """
    steps: dict[str, Any] = {}
    for name in [names] if isinstance(names, str) else names:
        if name not in _MAKERS:
            raise ValueError(_unknown(name))
        times = sum(step.partition("#")[0] == name for step in steps)
        steps[name if times == 0 else f"{name}#{times + 1}"] = _MAKERS[name]()
    return Pipeline(list(steps.items()) or [("nothing", "passthrough")])


def preprocess(X: Any, names: str | Iterable[str]) -> Any:
    """Transform data by steps with the given names.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_rows, n_columns)
        The data.
    names : str or iterable of str
        Names of the steps, in order; see `neocc.preprocessing.PREPROCESSORS`.

    Returns
    -------
    transformed : ndarray or sparse matrix of shape (n_rows, n_columns)
        The data after all steps.

    See Also
    --------
    make_preprocessor : A pipeline that transforms new data in the same way.

    Examples
    --------
    >>> from neocc.preprocessing import preprocess
    >>> preprocess([[0, 3], [1, 1]], ["binarize", "row-norm-l1"])
    array([[0. , 1. ],
           [0.5, 0.5]])
    """
    return transformed(make_preprocessor(names), X)


def step_classes() -> list[type]:
    """Return the classes of all steps."""
    return [type(make()) for make in _MAKERS.values()]


def _unknown(name: Any) -> str:
    close = get_close_matches(str(name), PREPROCESSORS, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    return (
        f"There is no preprocessing step {name!r}.{hint} Choose from: {', '.join(PREPROCESSORS)}."
    )
