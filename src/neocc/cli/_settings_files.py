"""Settings from files: TOML written by a person, or the record of an earlier run."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from neocc.cli._guard import Mistake
from neocc.cli._settings import FitSettings, check, did_you_mean, from_options
from neocc.io import InputRecord, ReadError, RunRecord, read_record

__all__ = ["Recorded", "changed_versions", "merged", "read_recorded", "read_settings"]

_PLACES = ("file", "output")
_LARGEST = 1 << 20
# Options that are settings turned off, and options about this run alone.
_TURNED_OFF = ("no_header", "no_row_names", "no_refine", "no_report")
_OPTIONS_ONLY = ("force", "quiet", "json", "config", "from", "traceback") + (
    "memory_limit",
    "checkpoint",
    "checkpoint_every",
)
# What a record says about a run besides its settings.
_ABOUT_THE_RUN = ("interrupted", "chosen")


def read_settings(path: Path) -> dict[str, Any]:
    """Read a TOML file of settings, and `file` and `output` as paths from where it lies.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    settings : dict
        The settings in it, checked.

    Raises
    ------
    Mistake
        If the file is no TOML, or has a setting that there is not or a value that it cannot have.
    """
    text = _text_of(path)
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = re.search(r" \(at line (\d+), column \d+\)", str(error))
        line = int(found[1]) if found else None
        problem = str(error).replace(found[0], "") if found else str(error)
        raise _refused(
            path, f"This is no TOML: {problem}.", "Write one `name = value` a line.", line=line
        ) from error
    settings = {}
    for key, given in content.items():
        name, value = _as_setting(key.replace("-", "_"), given)
        settings[name] = _checked(path, name, value, _line_of(key, text), (*_names(), *_PLACES))
    return settings


def _as_setting(name: str, value: Any) -> tuple[str, Any]:
    """Return the setting that an option sets which is called otherwise."""
    turned = name.removeprefix("no_")
    if name in _TURNED_OFF and isinstance(value, bool):
        return turned, not value
    return ("row_names", value) if name == "row_names_in" else (name, value)


def merged(options: Mapping[str, Any], config: Path | None) -> tuple[FitSettings, dict[str, Path]]:
    """Join what the command line says with what a settings file says; the command line wins.

    Parameters
    ----------
    options : dict
        Options by name; None means not given.
    config : Path or None
        The settings file.

    Returns
    -------
    settings : FitSettings
        All settings.
    places : dict
        `file` and `output`, where the settings file names them.
    """
    values = {} if config is None else read_settings(config)
    values.update(from_options(options))
    places = {name: values.pop(name) for name in _PLACES if name in values}
    return FitSettings(**values), places


@dataclass(frozen=True)
class Recorded:
    """An earlier run: what it read and how, and what it did with it."""

    settings: FitSettings
    input: InputRecord
    versions: Mapping[str, str]
    interrupted: bool


def read_recorded(path: Path) -> Recorded:
    """Read the record of a fit that this command wrote."""
    record = read_record(path)
    settings = {k: v for k, v in record.settings.items() if k not in _ABOUT_THE_RUN}
    known = _names()
    values = {k: _checked(path, k, v, None, known) for k, v in settings.items()}
    absent = [name for name in known if name not in values]
    if absent or record.input is None or record.seed != values["seed"]:
        what = f"has no {absent[0]!r}" if absent else "does not name its file and its seed"
        raise _refused(
            path, f"The record {what}.", "Name the record.json of a `neocc fit`, unchanged."
        )
    interrupted = record.settings.get("interrupted") is True
    return Recorded(FitSettings(**values), record.input, record.versions, interrupted)


def changed_versions(earlier: Mapping[str, str], now: RunRecord) -> list[str]:
    """Say which packages have another version than in an earlier run, for bits depend on them."""
    return [
        f"{name} {version} then, {now.versions[name]} now"
        for name, version in earlier.items()
        if name in now.versions and now.versions[name] != version
    ]


def _refused(path: Path, problem: str, remedy: str, *, line: int | None = None) -> Mistake:
    """Return the error about a file in the form of all others."""
    return Mistake(str(ReadError(path, problem, remedy, line=line)))


def _names() -> tuple[str, ...]:
    return tuple(one.name for one in fields(FitSettings))


def _checked(path: Path, name: str, value: Any, line: int | None, known: tuple[str, ...]) -> Any:
    if name in _OPTIONS_ONLY and name not in known:
        option = "--" + name.replace("_", "-")
        raise _refused(
            path,
            f"{name!r} is no setting of a fit.",
            f"Say {option} on the command line.",
            line=line,
        )
    if name not in known:
        raise _refused(
            path,
            f"There is no setting {name!r}{did_you_mean(name, known)}.",
            "Settings are called like options: `neocc fit --help` lists them.",
            line=line,
        )
    if name in _PLACES:
        if isinstance(value, str):
            return path.parent / value
        raise _refused(path, f"{name!r} must be a path; got {value!r}.", "Quote it.", line=line)
    try:
        return check(name, value)
    except ValueError as error:
        raise _refused(
            path, f"{name!r} must be {error}; got {value!r}.", "Correct it.", line=line
        ) from error


def _text_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
    except FileNotFoundError as error:
        raise _refused(path, "There is no such file.", "Check the name and the folder.") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise _refused(
            path, f"The file cannot be read ({reason}).", "Name a readable TOML file."
        ) from error
    if len(data) > _LARGEST:
        raise _refused(path, "The file is too large for settings.", "Name a TOML file.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise _refused(path, "The file is not UTF-8.", "Save it as UTF-8.", line=line) from error


def _line_of(key: str, text: str) -> int | None:
    name = rf"""["']?{re.escape(key)}["']?"""
    found = re.search(rf"^[ \t]*(\[+[ \t]*{name}|{name}[ \t]*[=.])", text, re.MULTILINE)
    return text.count("\n", 0, found.start()) + 1 if found else None
