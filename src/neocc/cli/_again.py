"""Command lines that do again what was asked for, with something changed."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

from neocc.cli._kinds import NONE
from neocc.cli._settings import READ_OPTIONS, SETTINGS, FitSettings, option_of

__all__ = ["SUGGEST_OPTIONS", "fit_again", "free_folders", "suggest_again"]

SUGGEST_OPTIONS = (
    *(*READ_OPTIONS, "dense", "preprocess", "objective"),
    *("overlap_model", "max_memberships", "overlap_rule", "seed", "jobs"),
)
"""The settings that `neocc suggest` has options for."""

_WRITTEN = {"\t": "tab", " ": "space"}


def fit_again(path: Path, asked: FitSettings, output: Path | None = None, **changes: Any) -> str:
    """Return the command that fits a file as it was asked for, but for what is changed."""
    kept = [name for name in SETTINGS if name not in changes]
    options = [*_options(asked, kept), *_options(replace(asked, **changes), changes)]
    if output is not None:
        options += ["-o", str(output)]
    return shlex.join(["neocc", "fit", str(path), *options])


def suggest_again(path: Path, asked: FitSettings) -> str:
    """Return the command that ranks numbers of groups of a file that is read the same way."""
    return shlex.join(["neocc", "suggest", str(path), *_options(asked, SUGGEST_OPTIONS)])


def free_folders(folder: Path) -> Iterator[Path]:
    """Yield folders that are not there yet, called after one that is."""
    for number in count(2):
        other = folder.with_name(f"{folder.name}-{number}")
        if not other.exists():
            yield other


def _options(settings: FitSettings, names: Iterable[str]) -> Iterator[str]:
    """Yield the options that set what is not as it would be without them."""
    usual = FitSettings()
    for name in names:
        value, option = getattr(settings, name), option_of(name)
        if value == getattr(usual, name):
            continue
        if isinstance(value, bool):
            yield option if value else option_of(f"no_{name}")
        elif SETTINGS[name].column:
            yield from (option_of(f"{name}_in"), value)
        elif name == "triplet_columns":
            yield from (option, ",".join(map(str, value)))
        elif isinstance(value, tuple):
            for one in value or (NONE,):
                yield from (option, one)
        else:
            yield from (option, _WRITTEN.get(value, str(value)))
