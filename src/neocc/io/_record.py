"""Records of runs: what was asked for, of which file, with which versions."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from os import PathLike
from pathlib import Path
from typing import Any

from neocc.io._errors import FormatError
from neocc.io._matrix import Matrix
from neocc.io._source import Source
from neocc.io._whole import whole_file

__all__ = ["InputRecord", "RunRecord", "make_record", "read_record", "write_record"]

_FORMAT = "neocc record"
_VERSION = 1
_MOST_BYTES = 64 << 20
_PACKAGES = ("neocc", "numpy", "scipy", "scikit-learn", "numba", "pyarrow")


@dataclass(frozen=True)
class InputRecord:
    """The file that a run read: `read_matrix(path, **options)` reads it again."""

    path: str
    sha256: str
    format: str
    options: Mapping[str, Any] = field(default_factory=dict)
    shape: tuple[int, int] = (0, 0)

    def check(self, matrix: Matrix) -> None:
        """Refuse a matrix whose file is not the one that was recorded."""
        if matrix.sha256 != self.sha256:
            raise FormatError(
                matrix.source or self.path,
                f"The file has changed since the run (sha256 {matrix.sha256[:12]}..., recorded "
                f"{self.sha256[:12]}...).",
                "Find the old one, or start a new run.",
            )


@dataclass(frozen=True)
class RunRecord:
    """What it takes to repeat a run.

    Attributes
    ----------
    settings : dict
        Parameters of the run, as JSON knows them.
    seed : int or None
        Seed of all random numbers.
    input : InputRecord or None
        The file.
    versions : dict
        Python and the packages that computed.
    created : str
        Time of the run, in UTC.
    """

    settings: Mapping[str, Any]
    seed: int | None = None
    input: InputRecord | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    created: str = ""


def make_record(
    settings: Mapping[str, Any], *, seed: int | None = None, matrix: Matrix | None = None
) -> RunRecord:
    """Record a run on a matrix from a file, with the current versions and time.

    Parameters
    ----------
    settings : dict
        Parameters of the run: strings, numbers, booleans, None, and lists and dicts of these.
    seed : int, default=None
        Seed of all random numbers.
    matrix : Matrix, default=None
        The input.

    Returns
    -------
    record : RunRecord
        The record, with versions and time.

    Examples
    --------
    >>> from neocc.io import make_record
    >>> make_record({"n_row_clusters": 3}, seed=0).settings
    {'n_row_clusters': 3}
    """
    read = None
    if matrix is not None:
        read = InputRecord(
            str(matrix.source), matrix.sha256, matrix.format, dict(matrix.options), matrix.shape
        )
    now = datetime.now(UTC).isoformat(timespec="seconds")
    record = RunRecord(dict(settings), seed, read, _versions(), now)
    _as_json(record)
    return record


def write_record(record: RunRecord, path: str | PathLike[str], *, force: bool = False) -> None:
    """Write a record as JSON; the file is written atomically.

    Parameters
    ----------
    record : RunRecord
        What to write.
    path : path-like
        Where.
    force : bool, default=False
        Whether to replace an existing file.
    """
    with whole_file(path, force=force) as partial:
        partial.write_text(_as_json(record), encoding="utf-8")


def read_record(path: str | PathLike[str]) -> RunRecord:
    """Read a record that `write_record` wrote.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    record : RunRecord
        The record.

    Raises
    ------
    ReadError
        If the file is not a record, or is one of a newer version.
    """
    source = Source.at(path)
    text = source.small_text(_MOST_BYTES, "a record", "Name another one.")
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(
            source.path, f"This is not JSON ({error}).", "Name a record.json."
        ) from error
    if not isinstance(content, dict) or content.pop("format", None) != _FORMAT:
        raise FormatError(source.path, "This is not a record of a run.", "Name a record.json.")
    found = content.pop("version", None)
    if found != _VERSION:
        raise FormatError(
            source.path,
            f"The record has version {found!r}; this neocc reads version {_VERSION}.",
            "Install a newer neocc.",
        )
    return _checked(source.path, content)


def _checked(path: Path, content: dict[str, Any]) -> RunRecord:
    kinds: dict[str, tuple[type, ...]] = {
        "settings": (dict,),
        "seed": (int, type(None)),
        "input": (dict, type(None)),
        "versions": (dict,),
        "created": (str,),
    }
    input_kinds: dict[str, tuple[type, ...]] = {
        "path": (str,),
        "sha256": (str,),
        "format": (str,),
        "options": (dict,),
        "shape": (list,),
    }
    _check_kinds(path, content, kinds)
    read = content["input"]
    if read is not None:
        _check_kinds(path, read, input_kinds)
        read = InputRecord(**{**read, "shape": tuple(read["shape"])})
    return RunRecord(**{**content, "input": read})


def _check_kinds(path: Path, content: dict[str, Any], kinds: dict[str, tuple[type, ...]]) -> None:
    if set(content) != set(kinds):
        raise FormatError(
            path,
            f"The record should have {', '.join(kinds)}; it has {', '.join(content)}.",
            "Do not edit the names in a record.",
        )
    for name, kind in kinds.items():
        if not isinstance(content[name], kind) or isinstance(content[name], bool):
            raise FormatError(
                path,
                f"{name!r} should not be of type {type(content[name]).__name__}.",
                "Correct it by hand, or start a new run.",
            )


def _as_json(record: RunRecord) -> str:
    content = {"format": _FORMAT, "version": _VERSION, **asdict(record)}
    try:
        return json.dumps(content, indent=2, allow_nan=False, ensure_ascii=False) + "\n"
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"A setting cannot be written to a record ({error}). Use strings, numbers, booleans, "
            "None, and lists and dicts of these."
        ) from error


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version(), "system": platform.platform()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # run from a source tree
            continue
    return found
