"""Kinds of settings and of values: how an option reads them, and what they must be anywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import StrEnum
from typing import Any, Literal

from neocc.preprocessing import PREPROCESSORS

__all__ = ["AUTO", "DELIMITER", "FLAG", "FLAG_OR_TEXT", "JOBS", "NONE", "STEPS", "TEXT", "TEXTS"]
__all__ += ["THREE_COLUMNS", "Kind", "Panel", "Setting", "choice", "did_you_mean", "number"]

AUTO, NONE = "auto", "none"
_MOST = 1e300


@dataclass(frozen=True)
class Kind:
    """A kind of values."""

    wanted: str  # what a value must be
    read: Callable[[Any], Any]  # return a value in its own type, None for what is no such value
    annotation: Any = str  # what typer reads an option as
    extras: Mapping[str, Any] = field(default_factory=dict)  # what else typer is told

    def check(self, value: Any) -> Any:
        """Return a value in its own type, or raise a ValueError with what it must be."""
        found = self.read(value)
        if found is None:
            raise ValueError(self.wanted)
        return found


class Panel(StrEnum):
    """The parts of a help page, in their order; options in none of them come first."""

    GROUPS = "Groups"
    FILE = "Reading the file"
    SEARCH = "Search"
    LONG = "Long fits"
    OUTPUT = "Output"


@dataclass(frozen=True)
class Setting:
    """What a setting is, besides its name, type and default."""

    panel: Panel
    kind: Kind
    metavar: str
    help: str  # without it there is no option of this name
    off: str = ""  # help of --no-NAME, where there is that option
    column: str = ""  # help of --NAME-in COLUMN, likewise
    words: Iterable[str] = ()  # what a shell completes


def number(
    of: type, low: float | None = None, high: float | None = None, *, auto: bool = False
) -> Kind:
    """Finite numbers from `low` to below `high`, whole or real, the latter also in percent."""
    # Neither infinity nor NaN lies between two numbers.
    lowest, above = (-_MOST if low is None else low), (_MOST if high is None else high)
    wanted = "a number" if low is None else f"a number of at least {low:g}"
    wanted += "" if high is None else f" and below {high:g}"
    wanted = f"a whole number of at least {low}" if of is int else wanted

    def read(value: Any) -> Any:
        if of is float and isinstance(value, str) and value.strip().endswith("%"):
            with suppress(ValueError):
                value = float(value.strip()[:-1]) / 100
        if type(value) in (int, of) and lowest <= value < above:
            return of(value)
        return value if auto and value == AUTO else None

    def parse(text: str) -> Any:
        with suppress(ValueError):
            return of(text)
        return text  # for the check to judge

    if auto:
        return Kind(f'{wanted}, or "{AUTO}"', read, Any, {"parser": parse})
    return Kind(wanted, read, of, {"min": low})


def choice(*choices: str) -> Kind:
    """Return the kind of some words."""
    wanted = " or ".join(f'"{one}"' for one in choices)
    return Kind(wanted, lambda value: value if value in choices else None, Literal[choices])


def _texts(value: Any) -> tuple[str, ...] | None:
    values = [value] if isinstance(value, str) else value
    is_list = isinstance(values, list | tuple) and all(isinstance(one, str) for one in values)
    return tuple(values) if is_list else None


def _three_columns(value: Any) -> tuple[str | int, ...] | None:
    if isinstance(value, str):
        value = [int(one) if one.strip().isdecimal() else one for one in value.split(",")]
    is_list = isinstance(value, list | tuple) and len(value) in (2, 3)
    return tuple(value) if is_list and all(type(one) in (int, str) for one in value) else None


def _steps(value: Any) -> tuple[str, ...] | None:
    steps = TEXTS.check(value)
    if steps in ((AUTO,), (NONE,)):
        return () if steps == (NONE,) else steps
    for step in steps:
        if step not in PREPROCESSORS:
            raise ValueError(STEPS.wanted + did_you_mean(step, PREPROCESSORS))
    return steps  # type: ignore[no-any-return]


_SIGNS = {"tab": "\t", "\\t": "\t", "space": " "}
FLAG = Kind("true or false", lambda value: value if isinstance(value, bool) else None, bool)
TEXT = Kind("text", lambda value: value if isinstance(value, str) and value else None)
FLAG_OR_TEXT = Kind(
    "true, false, or the name of a column",
    lambda value: value if isinstance(value, bool) else TEXT.read(value),
    bool,
)
JOBS = Kind("a number of threads", lambda n: n if type(n) is int and n != 0 else None, int)
DELIMITER = Kind(TEXT.wanted, lambda value: TEXT.read(value) and _SIGNS.get(value, value))
TEXTS = Kind("text, or a list of texts", _texts, list[str])
THREE_COLUMNS = Kind(
    "three names, or numbers counted from 1, for rows, columns and values; or the first two",
    _three_columns,
)
STEPS = Kind('"auto", "none", or steps that `neocc fit --help` lists', _steps, list[str])


def did_you_mean(name: str, known: Any) -> str:
    """Suggest a known name that is close to an unknown one."""
    close = get_close_matches(str(name), list(known), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""
