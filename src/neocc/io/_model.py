"""Fitted estimators in files: JSON and arrays in a zip archive, versioned, without pickle."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

import neocc
from neocc._sklearn import validate_parameter_constraints
from neocc.estimators._fitted import last_step
from neocc.io._archive import Archive, open_archive, write_archive
from neocc.io._codec import Decoder, Encoder, Undecodable
from neocc.io._errors import FormatError, ModelFileError, UnreadableFileError
from neocc.io._saved import SavedModel
from neocc.io._source import Source
from neocc.io._state import check_state

__all__ = ["SavedModel", "load_model", "read_model", "save_model"]

_SAVED = ("NEOCC", "NEOKMeans", "MSSR", "LowRankNEOKMeans")
_FORMAT = "neocc model"
_VERSION = 2
_READABLE = (1, 2)
_ARCHIVE = b"PK"
_HEADER = "model.json"
_ATTRIBUTE = re.compile(r"_?[a-zA-Z][a-zA-Z0-9_]*")
# scikit-learn's callbacks are not part of a fit.
_NOT_SAVED = "_skl_callbacks"


def save_model(
    model: Any,
    path: str | PathLike[str],
    *,
    row_names: Sequence[str] | None = None,
    column_names: Sequence[str] | None = None,
    force: bool = False,
) -> None:
    """Write a fitted estimator to a file that `load_model` reads.

    A `RandomState` among the parameters becomes None; everything else is restored exactly. The file
    is written atomically.

    Parameters
    ----------
    model : NEOCC, NEOKMeans, MSSR or LowRankNEOKMeans
        The fitted estimator.
    path : path-like
        Where; `.neocc` is the usual extension.
    row_names, column_names : sequence of str, default=None
        Names to keep with the model, in the order of the fit.
    force : bool, default=False
        Whether to replace an existing file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from neocc import NEOKMeans
    >>> from neocc.io import load_model, save_model
    >>> model = NEOKMeans(n_clusters=2, random_state=0).fit([[0.0], [0.1], [5.0]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "model.neocc"
    ...     save_model(model, path)
    ...     loaded = load_model(path)
    >>> bool((loaded.predict([[0.2], [4.0]]) == model.predict([[0.2], [4.0]])).all())
    True
    """
    name = type(model).__name__
    known = _estimators().get(name)
    if known is None or type(model) is not known:
        raise ValueError(
            f"Only {', '.join(_estimators())} can be saved; got an object of type {name}"
            f"{last_step(model)}."
        )
    check_is_fitted(model)
    encoder = Encoder()
    given = {**model.get_params(False)}
    if "checkpoint" in given:
        given["checkpoint"] = None  # where a running fit was saved is not part of the model
    if not isinstance(given.get("engine", "auto"), str):
        given["engine"] = "dask"  # nor is a client: it is the current one where the model is read
    parameters = {key: _encode(encoder, key, one) for key, one in given.items()}
    attributes = {
        key: _encode(encoder, key, one)
        for key, one in vars(model).items()
        if key not in parameters and not key.startswith(_NOT_SAVED)
    }
    header = {
        "format": _FORMAT,
        "version": _VERSION,
        "neocc": neocc.__version__,
        "estimator": name,
        "parameters": parameters,
        "attributes": attributes,
        "row_names": None if row_names is None else list(row_names),
        "column_names": None if column_names is None else list(column_names),
    }
    text = json.dumps(header, allow_nan=False, ensure_ascii=False)
    write_archive(path, _HEADER, text, encoder.arrays, force=force)


def load_model(path: str | PathLike[str]) -> Any:
    """Read a fitted estimator that `save_model` wrote.

    Nothing in the file is trusted: it runs no code, and whatever a prediction would use is checked.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    model : estimator
        The fitted estimator; its predictions are bitwise those of the saved one.

    Raises
    ------
    ModelFileError
        If the file is damaged, hostile, or written by a newer version of neocc.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from neocc import NEOKMeans
    >>> from neocc.io import load_model, save_model
    >>> model = NEOKMeans(n_clusters=2, random_state=0).fit([[0.0], [0.1], [5.0]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(model, Path(folder) / "model.neocc")
    ...     load_model(Path(folder) / "model.neocc")
    NEOKMeans(n_clusters=2, random_state=0)
    """
    return read_model(path).estimator


def read_model(path: str | PathLike[str]) -> SavedModel:
    """Read a model file with the names in it; see `load_model`.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    saved : SavedModel
        The estimator, the names of rows and columns, and the version that wrote them.
    """
    path = Path(path)
    with _explaining(path):
        source = Source.at(path)
        if not source.head.startswith(_ARCHIVE):
            raise _no_model(path)
    with _explaining(path), open_archive(source.path, stored=True) as archive:
        header = _read_header(archive)
        kind = _estimators().get(header["estimator"])
        if kind is None:
            raise Undecodable(f"it holds an estimator of the unknown kind {header['estimator']!r}")
        decoder = Decoder(archive.array)
        parameters = _decode_all(decoder, header["parameters"])
        attributes = _decode_all(decoder, header["attributes"])
        model = _rebuilt(kind, parameters, attributes)
        n_rows, n_columns = len(attributes["_row_members"]), attributes["n_features_in_"]
        return SavedModel(
            model,
            _read_names(header["row_names"], n_rows),
            _read_names(header["column_names"], n_columns),
            str(header["neocc"]),
        )


def _estimators() -> dict[str, Any]:
    """Return the classes whose attributes `check_state` knows, by name."""
    return {name: getattr(neocc, name) for name in _SAVED}


def _encode(encoder: Encoder, name: str, value: Any) -> Any:
    try:
        return encoder.encode(value)
    except Undecodable as error:
        raise ValueError(f"{name!r} cannot be saved: {error}.") from error


@contextmanager
def _explaining(path: Path) -> Iterator[None]:
    """Turn whatever a bad file leads to into one kind of error."""
    remedy = "Save the model again."
    try:
        yield
    except (ModelFileError, UnreadableFileError):
        raise
    except FormatError as error:
        raise ModelFileError(path, error.problem, error.remedy) from error
    except Undecodable as error:
        raise ModelFileError(path, f"The model file is damaged: {error}.", remedy) from error
    except (ValueError, RecursionError, UnicodeError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise ModelFileError(path, f"The model file is damaged ({reason}).", remedy) from error
    except MemoryError as error:
        raise ModelFileError(path, "The model does not fit into memory.", remedy) from error


def _no_model(path: Path) -> ModelFileError:
    remedy = "Name the folder of a result, or a file that save_model wrote."
    return ModelFileError(path, "This is not a model file.", remedy)


def _read_header(archive: Archive) -> dict[str, Any]:
    header = json.loads(archive.text(_HEADER))
    if not isinstance(header, dict) or header.get("format") != _FORMAT:
        raise _no_model(archive.path)
    if header.get("version") not in _READABLE:
        raise ModelFileError(
            archive.path,
            f"The model file has version {header.get('version')!r}, written by neocc "
            f"{header.get('neocc')!r}; this one reads versions up to {_VERSION}.",
            "Install that neocc, or fit again.",
        )
    kinds = {"estimator": str, "parameters": dict, "attributes": dict, "neocc": str}
    for name, kind in kinds.items():
        if not isinstance(header.get(name), kind):
            raise Undecodable(f"its {name!r} is missing")
    return {"row_names": None, "column_names": None, **header}


def _decode_all(decoder: Decoder, coded: dict[str, Any]) -> dict[str, Any]:
    for name in coded:
        if not _ATTRIBUTE.fullmatch(name):
            raise Undecodable(f"it sets {name!r}, which is not an attribute")
    return {name: decoder.decode(one) for name, one in coded.items()}


def _rebuilt(kind: type, parameters: dict[str, Any], attributes: dict[str, Any]) -> Any:
    """Make the estimator, and give it its attributes once they are known to fit."""
    check_state(kind.__name__, parameters, attributes)
    for name in attributes:
        if hasattr(kind, name) or name in parameters:
            raise Undecodable(f"it replaces {name!r}, which is not an attribute of a fit")
    try:
        model: Any = kind(**parameters)
    except TypeError as error:
        raise Undecodable(f"its parameters are not those of {kind.__name__}") from error
    rules = kind._parameter_constraints  # type: ignore[attr-defined]  # noqa: SLF001
    validate_parameter_constraints(rules, model.get_params(False), kind.__name__)
    vars(model).update(attributes)
    return model


def _read_names(names: Any, size: int) -> tuple[str, ...] | None:
    if names is None:
        return None
    is_list = isinstance(names, list) and all(isinstance(one, str) for one in names)
    if not is_list or len(names) != size:
        raise Undecodable(f"its names are not a list of {size} names")
    return tuple(names)
