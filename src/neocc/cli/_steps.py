"""Preprocessing that travels with a model: a model file keeps what the steps learnt from the data.

It is kept in the attribute `preprocessing_` of the estimator, as plain values and arrays, for model
files hold no other objects. Nothing in it is trusted when it comes back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from neocc.cli._guard import Mistake

__all__ = ["attach", "is_prepared", "restore"]

_ATTRIBUTE = "preprocessing_"
_DENSE, _STEPS = "dense", "steps"
_PARTS = {"class", "parameters", "attributes"}


def attach(model: Any, preprocessor: Any, *, dense: bool) -> None:
    """Give a fitted model the steps that its data went through; none leave no trace.

    Parameters
    ----------
    model : estimator
        The fitted model.
    preprocessor : Pipeline or None
        The fitted steps, made by `neocc.preprocessing.make_preprocessor`.
    dense : bool
        Whether sparse data were filled with their zeros.
    """
    if preprocessor is None and not dense:
        return
    steps = [] if preprocessor is None else [_packed(step) for _, step in preprocessor.steps]
    setattr(model, _ATTRIBUTE, {_DENSE: dense, _STEPS: steps})


def is_prepared(model: Any) -> bool:
    """Whether rows must be preprocessed for a model."""
    return getattr(model, _ATTRIBUTE, None) is not None


def restore(model: Any) -> tuple[Callable[[Any], Any], bool]:
    """Return the function that prepares new rows for a model, and whether they must be filled.

    A sparse file is filled for steps that take no sparse data, too: the data of the fit were dense.

    Raises
    ------
    Mistake
        If what the model file says about preprocessing makes no sense.
    """
    kept = getattr(model, _ATTRIBUTE, None)
    if kept is None:
        return lambda X: X, False
    try:
        if set(kept) != {_DENSE, _STEPS} or not isinstance(kept[_DENSE], bool):
            raise ValueError("it has other parts than steps")
        steps = [_unpacked(step, model.n_features_in_) for step in kept[_STEPS]]
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise Mistake(
            f"The preprocessing in the model file is damaged ({error}). Fit the model again."
        ) from error

    def prepared(X: Any) -> Any:
        for step in steps:
            X = step.transform(X)
        return X

    return prepared, kept[_DENSE] or not all(_takes_sparse(step) for step in steps)


def _takes_sparse(step: Any) -> bool:
    from sklearn.utils import get_tags

    return bool(get_tags(step).input_tags.sparse)


def _classes() -> dict[str, Any]:
    from sklearn.preprocessing import Binarizer, StandardScaler

    from neocc import preprocessing

    names = ("Binormalizer", "Centerer", "Log1p", "NormScaler", "Standardizer", "Tfidf")
    ours = [getattr(preprocessing, name) for name in names]
    return {kind.__name__: kind for kind in (*ours, Binarizer, StandardScaler)}


def _packed(step: Any) -> dict[str, Any]:
    parameters = step.get_params(deep=False)
    learnt = {name: value for name, value in vars(step).items() if name not in parameters}
    return {
        "class": type(step).__name__,
        "parameters": parameters,
        "attributes": {
            name: _packed(value) if hasattr(value, "get_params") else value
            for name, value in learnt.items()
        },
    }


def _unpacked(packed: Any, n_columns: int) -> Any:
    if not isinstance(packed, dict) or set(packed) != _PARTS:
        raise ValueError("a step has other parts than class, parameters and attributes")
    known = _classes()
    if packed["class"] not in known:
        raise ValueError(f"there is no step {packed['class']!r}")
    kind = known[packed["class"]]
    step = kind(**packed["parameters"])
    for name, value in packed["attributes"].items():
        if not isinstance(name, str) or hasattr(kind, name) or name in packed["parameters"]:
            raise ValueError(f"{name!r} is nothing that a step learns")
        vars(step)[name] = _checked(value, n_columns)
    return step


def _checked(value: Any, n_columns: int) -> Any:
    """Accept numbers, arrays with one number per column, and steps within steps."""
    if isinstance(value, dict):
        return _unpacked(value, n_columns)
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "iuf" or value.shape != (n_columns,):
            raise ValueError(f"a step learnt an array of shape {value.shape} and {value.dtype}")
        if not np.isfinite(value).all():
            raise ValueError("a step learnt numbers that are not finite")
        return value
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise ValueError(f"a step learnt a {type(value).__name__}")
