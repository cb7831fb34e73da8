"""Fitted estimators in files: JSON and arrays in a zip archive, versioned, without pickle."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

import neocc
from neocc._typing import AnyArray
from neocc.io._archive import Archive, open_archive, write_archive
from neocc.io._codec import Decoder, Encoder, Undecodable
from neocc.io._coded import decode_model, encode_model
from neocc.io._errors import FormatError, ModelFileError, UnreadableFileError
from neocc.io._saved import SavedModel
from neocc.io._source import Source

__all__ = ["SavedModel", "load_model", "read_groups", "read_model", "save_model"]

_FORMAT = "neocc model"
_VERSION = 2
_READABLE = (1, 2)
_ARCHIVE = b"PK"
_HEADER = "model.json"


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
    model : NEOCC, NEOKMeans, MSSR, LowRankNEOKMeans or CellPredictor
        The fitted estimator; the ids of a `CellPredictor` must be texts or numbers.
    path : path-like
        Where; `.neocc` is the usual extension.
    row_names, column_names : sequence of str, default=None
        Names to keep with the model, in the order of the fit. A `CellPredictor` has its ids.
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
    encoder = Encoder()
    coded = encode_model(encoder, model)
    if isinstance(model, neocc.CellPredictor) and (row_names, column_names) != (None, None):
        raise ValueError("A CellPredictor has its ids: leave out row_names and column_names.")
    header = {
        "format": _FORMAT,
        "version": _VERSION,
        "neocc": neocc.__version__,
        **coded,
        "row_names": None if row_names is None else list(row_names),
        "column_names": None if column_names is None else list(column_names),
    }
    text = json.dumps(header, allow_nan=False, ensure_ascii=False)
    try:
        _decoded(json.loads(text), encoder.arrays.__getitem__)  # no file that could not be read
    except Undecodable as error:
        raise ValueError(f"The model cannot be saved: {error}.") from error
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
        return _decoded(_read_header(archive), archive.array)


def _decoded(header: dict[str, Any], load: Callable[[str], AnyArray]) -> SavedModel:
    """Return what a file of this header and these arrays holds, if all of it fits together."""
    model = decode_model(Decoder(load), header)
    names = [header["row_names"], header["column_names"]]
    if isinstance(model, neocc.CellPredictor):
        names = [_as_texts(model.row_ids_), _as_texts(model.column_ids_)]
    sizes = _sizes(model)
    known = [_read_names(each, size) for each, size in zip(names, sizes, strict=True)]
    return SavedModel(model, known[0], known[1], str(header["neocc"]))


def read_groups(path: str | PathLike[str]) -> SavedModel:
    """Read a model file like `read_model`, of a model that has groups."""
    saved = read_model(path)
    if isinstance(saved.estimator, neocc.CellPredictor):
        raise ModelFileError(
            Path(path),
            "It holds a CellPredictor, whose co-clusterings each have groups of their own.",
            "Predict cells with it (--cells), or save one of its models_.",
        )
    return saved


def _sizes(model: Any) -> tuple[int, int]:
    """Return the numbers of rows and columns of the fit."""
    if isinstance(model, neocc.CellPredictor):
        return len(model.row_ids_), len(model.column_ids_)
    return len(model._row_members), model.n_features_in_  # noqa: SLF001


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
    if not isinstance(header.get("neocc"), str):
        raise Undecodable("its 'neocc' is missing")
    return {"row_names": None, "column_names": None, **header}


def _read_names(names: Any, size: int) -> tuple[str, ...] | None:
    if names is None:
        return None
    is_list = isinstance(names, list) and all(isinstance(one, str) for one in names)
    if not is_list or len(names) != size:
        raise Undecodable(f"its names are not a list of {size} names")
    return tuple(names)


def _as_texts(ids: list[Any]) -> list[str]:
    """Return ids as a list of cells has them: whole numbers without a decimal point."""
    whole = (isinstance(one, float) and one.is_integer() for one in ids)
    return [str(int(one) if is_whole else one) for one, is_whole in zip(ids, whole, strict=True)]
