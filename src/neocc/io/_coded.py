"""Fitted estimators as values that JSON can hold, and back: nothing is trusted that comes back."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

import neocc
from neocc._sklearn import validate_parameter_constraints
from neocc.estimators._fitted import last_step
from neocc.io._codec import Decoder, Encoder, Undecodable
from neocc.io._state import check_state

__all__ = ["decode_model", "encode_model", "find_estimator"]

_SAVED = ("NEOCC", "NEOKMeans", "MSSR", "LowRankNEOKMeans", "CellPredictor")
_ATTRIBUTE = re.compile(r"_?[a-zA-Z][a-zA-Z0-9_]*")
# scikit-learn's callbacks are not part of a fit.
_NOT_SAVED = "_skl_callbacks"
# Of predictors of cells; their models are coded beside these, and their codes follow from the ids.
_OF_CELLS = ("row_ids_", "column_ids_", "value_range_", "n_features_in_", "_names", "_observed")


def find_estimator(name: str) -> Any:
    """Return the class of this name whose attributes are checked, or None."""
    return getattr(neocc, name) if name in _SAVED else None


def encode_model(encoder: Encoder, model: Any) -> dict[str, Any]:
    """Return kind, parameters and attributes of a fitted estimator."""
    _check_kind(model)
    check_is_fitted(model)
    if isinstance(model, neocc.CellPredictor):
        return _encode_predictor(encoder, model)
    parameters = _encode_parameters(encoder, model)
    attributes = {
        key: _encode(encoder, key, one)
        for key, one in vars(model).items()
        if key not in parameters and not key.startswith(_NOT_SAVED)
    }
    return {"estimator": type(model).__name__, "parameters": parameters, "attributes": attributes}


def _encode_predictor(encoder: Encoder, model: Any) -> dict[str, Any]:
    """Code a predictor of cells: a list of models, and the ids that they know by number."""
    for side, ids in (("row", model.row_ids_), ("column", model.column_ids_)):
        for one in ids:
            if not isinstance(one, str | int | float | np.number):
                raise ValueError(
                    f"Ids that are saved must be texts or numbers; {side} {one!r} is of type "
                    f"{type(one).__name__}. Fit with texts or numbers in its place."
                )
    coded = {key: _encode(encoder, key, getattr(model, key)) for key in _OF_CELLS}
    prototype = model.estimator
    if prototype is not None:
        _check_kind(prototype)
    return {
        "estimator": type(model).__name__,
        "parameters": _encode_parameters(encoder, model),
        "attributes": coded,
        "models": [encode_model(encoder, one) for one in model.models_],
        "prototype": None if prototype is None else _encode_parameters(encoder, prototype),
    }


def _check_kind(model: Any) -> None:
    name = type(model).__name__
    if type(model) is not find_estimator(name):
        raise ValueError(
            f"Only {', '.join(_SAVED)} can be saved; got an object of type {name}"
            f"{last_step(model)}."
        )


def _encode_parameters(encoder: Encoder, model: Any) -> dict[str, Any]:
    given = {**model.get_params(False)}
    if isinstance(model, neocc.CellPredictor):
        del given["estimator"]
    if "checkpoint" in given:
        given["checkpoint"] = None  # where a running fit was saved is not part of the model
    if not isinstance(given.get("engine", "auto"), str):
        given["engine"] = "dask"  # nor is a client: it is the current one where the model is read
    return {key: _encode(encoder, key, one) for key, one in given.items()}


def _encode(encoder: Encoder, name: str, value: Any) -> Any:
    try:
        return encoder.encode(value)
    except Undecodable as error:
        raise ValueError(f"{name!r} cannot be saved: {error}.") from error


def decode_model(decoder: Decoder, coded: Any) -> Any:
    """Return the estimator, once its attributes are known to fit each other."""
    if not isinstance(coded, dict):
        raise Undecodable("it holds something in place of a model")
    for part, wanted in (("estimator", str), ("parameters", dict), ("attributes", dict)):
        if not isinstance(coded.get(part), wanted):
            raise Undecodable(f"its {part!r} is missing")
    name = coded["estimator"]
    kind = find_estimator(name)
    if kind is None:
        raise Undecodable(f"it holds an estimator of the unknown kind {name!r}")
    parameters = _decode_all(decoder, coded["parameters"])
    attributes = _decode_all(decoder, coded["attributes"])
    if kind is neocc.CellPredictor:
        if (prototype := coded.get("prototype")) is not None:
            parameters["estimator"] = _made(neocc.NEOCC, _decode_all(decoder, prototype))
        attributes |= _of_cells(decoder, coded.get("models"), attributes)
    else:
        check_state(name, parameters, attributes)
    for each in attributes:
        if hasattr(kind, each) or each in parameters:
            raise Undecodable(f"it replaces {each!r}, which is not an attribute of a fit")
    model = _made(kind, parameters)
    vars(model).update(attributes)
    return model


def _of_cells(decoder: Decoder, coded: Any, attributes: dict[str, Any]) -> dict[str, Any]:
    """Return the models of a predictor of cells, and its codes, if all that it holds fits them."""
    if set(attributes) != set(_OF_CELLS) or attributes["n_features_in_"] != 2:
        raise Undecodable("its attributes are not those of a CellPredictor")
    if not isinstance(coded, list) or not coded:
        raise Undecodable("its 'models' are missing")
    models = [decode_model(decoder, one) for one in coded]
    codes = {f"_{side}_codes": _codes(side, attributes) for side in ("row", "column")}
    shape = len(attributes["row_ids_"]), len(attributes["column_ids_"])
    for one in models:
        if type(one) is not neocc.NEOCC or one.missing != "ignore":
            raise Undecodable("its 'models' are not fits to observed cells")
        if (len(one.row_effects_), len(one.column_effects_)) != shape:
            raise Undecodable("its 'models' have other rows or columns than its ids")
    observed, limits = attributes["_observed"], attributes["value_range_"]
    if not sparse.issparse(observed) or observed.shape != shape:
        raise Undecodable("its '_observed' does not fit")
    good = type(limits) is tuple and len(limits) == 2 and all(type(x) is float for x in limits)
    if not good or not -np.inf < limits[0] <= limits[1] < np.inf:
        raise Undecodable("its 'value_range_' is not a range")
    names = attributes["_names"]
    if names is not None and not (isinstance(names, list) and list(map(type, names)) == [str, str]):
        raise Undecodable("its '_names' are not two texts")
    return {"models_": models, **codes}


def _codes(side: str, attributes: dict[str, Any]) -> dict[Any, int]:
    """Return the number of each id."""
    ids = attributes[f"{side}_ids_"]
    if not isinstance(ids, list) or not all(isinstance(one, str | int | float) for one in ids):
        raise Undecodable(f"its '{side}_ids_' are not a list of texts and numbers")
    codes = {one: at for at, one in enumerate(ids)}
    if len(codes) < len(ids):
        raise Undecodable(f"its '{side}_ids_' name something twice")
    return codes


def _decode_all(decoder: Decoder, coded: Any) -> dict[str, Any]:
    if not isinstance(coded, dict):
        raise Undecodable("it holds something in place of parameters")
    for name in coded:
        if not _ATTRIBUTE.fullmatch(name):
            raise Undecodable(f"it sets {name!r}, which is not an attribute")
    return {name: decoder.decode(one) for name, one in coded.items()}


def _made(kind: Any, parameters: dict[str, Any]) -> Any:
    """Return an estimator with parameters that it may have."""
    try:
        model = kind(**parameters)
    except TypeError as error:
        raise Undecodable(f"its parameters are not those of {kind.__name__}") from error
    rules = kind._parameter_constraints  # noqa: SLF001
    validate_parameter_constraints(rules, model.get_params(False), kind.__name__)
    return model
