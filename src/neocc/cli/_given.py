"""Settings that are given: by options, in TOML written by a person, or in an earlier record."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neocc.cli._guard import Mistake
from neocc.cli._kinds import did_you_mean
from neocc.cli._settings import DEFAULTS, LABELS, SETTINGS, FitSettings, option_of
from neocc.io import InputRecord, ReadError, RunRecord, make_record, read_record
from neocc.io._item_table import find_table
from neocc.io._source import Source

__all__ = ["Plan", "Recorded", "check", "from_options", "make_plan", "read_recorded"]
__all__ += ["read_settings"]

_PLACES = ("file", "output")
_LARGEST = 1 << 20
# Options about one run alone.
_RUN = {"force", "quiet", "json", "config", "from", "traceback", "memory_limit"}
_RUN |= {"checkpoint", "checkpoint_every"}
# What a record says about a run besides its settings.
_ABOUT_THE_RUN = ("interrupted", "chosen", "overlap_model_used", "story")
# What fits did before there were these settings, whatever their defaults are now.
_ADDED_LATER: dict[str, Any] = {"overlap_model": "repeat", "max_memberships": None}
_ADDED_LATER |= {"outlier_cost": "auto", "min_cluster_size": 1, "prior": 1.0}
_ADDED_LATER |= dict.fromkeys(LABELS) | {"gpu": False}


def check(name: str, value: Any) -> Any:
    """Return the value of a setting in its own type, or raise a ValueError with what it must be."""
    if value is None and DEFAULTS[name] is None:
        return None
    return SETTINGS[name].kind.check(value)


def _as_setting(option: str, value: Any) -> tuple[str, Any]:
    """Return the setting that an option sets, and what it sets it to."""
    name = option.removeprefix("no_")
    if name != option and name in SETTINGS and SETTINGS[name].off and isinstance(value, bool):
        return name, not value
    return ("row_names", value) if option == "row_names_in" else (option, value)


def from_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings among the options of a command, checked; None and [] are not given."""
    found: dict[str, Any] = {}
    by: dict[str, str] = {}
    for option, given in options.items():
        name, value = _as_setting(option, given)
        if name not in SETTINGS or given is None or given == []:
            continue
        if name in found and False in (found[name], value):
            one, other = option_of(by[name]), option_of(option)
            raise Mistake(f"{one} and {other} contradict each other. Give one.")
        try:
            found[name], by[name] = check(name, value), option
        except ValueError as error:
            raise Mistake(f"{option_of(option)} must be {error}; got {value!r}.") from error
    return found


def read_settings(path: Path) -> dict[str, Any]:
    """Read a TOML file of settings, and `file` and `output` as paths from where it lies.

    A file that is not TOML is refused, and so are unknown settings and values that a setting cannot
    have; the error names the line.
    """
    text = Source.at(path).small_text(_LARGEST, "settings", "Name a TOML file.")
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = re.search(r" \(at line (\d+), column \d+\)", str(error))
        line = int(found[1]) if found else None
        problem = str(error).replace(found[0], "") if found else str(error)
        raise ReadError(
            path, f"This is not TOML: {problem}.", "Write one `name = value` per line.", line=line
        ) from error
    settings = {}
    for key, given in content.items():
        name, value = _as_setting(key.replace("-", "_"), given)
        settings[name] = _checked(path, name, value, _line_of(key, text), (*SETTINGS, *_PLACES))
        if name in LABELS:
            settings[name] = str(path.parent / settings[name])
    return settings


@dataclass(frozen=True)
class Recorded:
    """An earlier run: what it read and how, and what it did with it."""

    record: RunRecord
    input: InputRecord
    settings: FitSettings

    @property
    def story(self) -> dict[str, Any]:
        """What was told of that run."""
        told = self.record.settings.get("story")
        return told if isinstance(told, dict) else {}

    def again(self, changes: Mapping[str, Any]) -> tuple[FitSettings, list[str]]:
        """Return the settings with something changed, and say which files of labels have moved."""
        values, notes = {**vars(self.settings), **changes}, []
        for name in LABELS:
            file = values[name]
            if file and name not in changes and not find_table(file)[0].exists():
                values[name] = None
                notes.append(
                    f"the run had {file}, which has moved: name it with {option_of(name)}."
                )
        return FitSettings(**values), notes

    def compare(self) -> list[str]:
        """Say what may differ from that run in one that repeats it now."""
        now = make_record({}).versions
        changed = [
            f"{name} {version} then, {now[name]} now"
            for name, version in self.record.versions.items()
            if now.get(name, version) != version
        ]
        said = f"other versions may change the last digits: {'; '.join(changed)}."
        notes = [said] if changed else []
        if self.record.settings.get("interrupted") is True:
            notes.append("the recorded run was interrupted; this one goes on to the end.")
        return notes


def read_recorded(path: Path) -> Recorded:
    """Read the record of a fit that this command wrote."""
    record = read_record(path)
    settings = {k: v for k, v in record.settings.items() if k not in _ABOUT_THE_RUN}
    values = {k: _checked(path, k, v, None, SETTINGS) for k, v in settings.items()}
    values = {**_ADDED_LATER, **values}
    absent = [name for name in SETTINGS if name not in values]
    if absent or record.input is None or record.seed != values["seed"]:
        what = f"has no {absent[0]!r}" if absent else "does not name its file and its seed"
        raise ReadError(
            path, f"The record {what}.", "Give the unchanged record.json of a `neocc fit`."
        )
    return Recorded(record, record.input, FitSettings(**values))


def _checked(path: Path, name: str, value: Any, line: int | None, known: Iterable[str]) -> Any:
    if name in _RUN:
        problem = f"{name!r} is not a setting of a fit."
        remedy = f"Give {option_of(name)} on the command line."
    elif name not in known:
        problem = f"There is no setting {name!r}{did_you_mean(name, known)}."
        remedy = "Settings are named like the options: `neocc fit --help` lists them."
    elif name in _PLACES:
        if isinstance(value, str):
            return path.parent / value
        problem, remedy = f"{name!r} must be a path; got {value!r}.", "Quote it."
    else:
        try:
            return check(name, value)
        except ValueError as error:
            problem, remedy = f"{name!r} must be {error}; got {value!r}.", "Correct it."
    raise ReadError(path, problem, remedy, line=line)


def _line_of(key: str, text: str) -> int | None:
    name = rf"""["']?{re.escape(key)}["']?"""
    found = re.search(rf"^[ \t]*(\[+[ \t]*{name}|{name}[ \t]*[=.])", text, re.MULTILINE)
    return text.count("\n", 0, found.start()) + 1 if found else None


@dataclass(frozen=True)
class Plan:
    """What a fit shall do."""

    path: Path
    settings: FitSettings
    folder: Path
    recorded: Recorded | None = None  # the run that is repeated
    notes: tuple[str, ...] = ()


def make_plan(
    given: Mapping[str, Any],
    file: Path | None,
    output: Path | None,
    config: Path | None,
    from_record: Path | None,
) -> Plan:
    """Join what the command line says, which wins, with a settings file; or repeat a record."""
    if from_record is None:
        values = {} if config is None else read_settings(config)
        values.update(given)
        named, folder = values.pop("file", None), values.pop("output", None)
        path = file or named
        if values.get("thorough") and not values.get("refine", True):
            raise Mistake("--thorough and --no-refine contradict each other. Give one.")
        if path is None:
            raise Mistake("No file was given. Try: neocc fit FILE, or neocc fit --help.")
        return Plan(path, FitSettings(**values), output or folder or _default_output(path))
    # Where a fit runs, and what its report calls rows, is no part of what it does.
    changes = [option_of(name) for name in given if name not in (*LABELS, "gpu")]
    if changes or config:
        raise Mistake(
            f"--from repeats a run as it was; {[*changes, '--config'][0]} would change it. Give "
            "one or the other."
        )
    recorded = read_recorded(from_record)
    settings, notes = recorded.again(given)
    path, notes = file or Path(recorded.input.path), [*recorded.compare(), *notes]
    return Plan(path, settings, output or _default_output(path), recorded, tuple(notes))


def _default_output(path: Path) -> Path:
    """Return where to write if that is not said: ratings-coclusters for data/ratings.csv.gz."""
    name = path.name.removesuffix(".gz")
    return Path(f"{Path(name).stem or 'matrix'}-coclusters")
