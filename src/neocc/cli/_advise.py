"""The look at a file: what its data are, what is done with them before a fit, and why.

What is not given is taken from `neocc.selection`; what is given stays. The settings that come out
are those of a run in which everything was given, so that it can be repeated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from neocc.cli._choose import Choice
from neocc.cli._guard import Mistake, blaming_the_user
from neocc.cli._kinds import AUTO
from neocc.cli._load import STORE, Loaded, prepare, read_as_it_is
from neocc.cli._models import asked_model
from neocc.cli._settings import FitSettings
from neocc.io import Matrix
from neocc.selection import DataDescription, Reason, describe_data
from neocc.selection._advise import recipe_for

__all__ = ["Seen", "look", "look_again"]

_ADVISED = ("objective", "missing", "remove_effects")


@dataclass(frozen=True)
class Seen:
    """A file, what its data look like, and what was chosen for that."""

    loaded: Loaded
    settings: FitSettings  # without "auto" for steps and objective
    description: DataDescription
    choices: list[Choice]


def look(path: Path, settings: FitSettings) -> Seen:
    """Read a file, look at its data, choose steps and an objective, and take the steps."""
    file = read_as_it_is(path, settings)
    description = _described(file, settings)
    # The steps that are given come first: an objective is for the data after them.
    after, prepared, steps_open = description, None, settings.preprocess == (AUTO,)
    if not steps_open and settings.preprocess and settings.objective == AUTO:
        prepared = prepare(file, settings)
        after = _described(prepared.matrix, settings)
    is_store, given = file.format == STORE, _given(settings)
    undone = [one for one in recipe_for(after, given) if one.step] if is_store else []
    steps = steps_open and not is_store
    reasons = recipe_for(after, given, steps=steps)
    advised = _with(settings, reasons)
    if not _goes_with_overlap(advised):
        why = f"--overlap-model {settings.overlap_model} is for squared errors over all cells"
        plain = Reason("objective mean", why, None, {"objective": "mean"})
        given = {**given, "objective": "mean", "missing": "zero"}
        reasons = (*recipe_for(after, given, steps=steps), plain)
        advised = _with(settings, reasons)
    if advised.missing != settings.missing:
        file = read_as_it_is(path, advised)
    choices = [_undone(one) for one in undone] if steps_open else []
    choices += [_choice(reason) for reason in reasons]
    return Seen(prepared or prepare(file, advised), advised, description, choices)


def look_again(loaded: Loaded, settings: FitSettings) -> Seen:
    """Describe what was read for a run that is repeated: nothing is chosen."""
    return Seen(loaded, settings, _described(loaded.file, settings), [])


def _described(matrix: Matrix, settings: FitSettings) -> DataDescription:
    missing = "ignore" if settings.is_observed else "zero"
    with blaming_the_user(matrix):
        return describe_data(matrix.data, column_names=matrix.column_names, missing=missing)


def _given(settings: FitSettings) -> dict[str, Any]:
    """Return what was given of all that may be advised."""
    usual = FitSettings()
    given = {n: getattr(settings, n) for n in _ADVISED if getattr(settings, n) != vars(usual)[n]}
    if "missing" in given and given["missing"] != "ignore":
        given["missing"] = "zero"
    return given


def _with(settings: FitSettings, reasons: Sequence[Reason]) -> FitSettings:
    """Return the settings with what is advised."""
    found = {name: value for one in reasons for name, value in one.parameters.items()}
    if settings.preprocess == (AUTO,):
        found["preprocess"] = tuple(one.step for one in reasons if one.step is not None)
    return replace(settings, **found)


def _goes_with_overlap(settings: FitSettings) -> bool:
    try:
        asked_model(settings)
    except Mistake:
        return False
    return True


def _choice(reason: Reason) -> Choice:
    what, options = reason.what[:1].upper() + reason.what[1:], dict(reason.parameters)
    if reason.step is None:
        return Choice(what, reason.why, options)
    options["preprocess"] = reason.step
    return Choice(what, f"{reason.why} (--preprocess {reason.step})", options)


def _undone(reason: Reason) -> Choice:
    what = f"Not done, for a block store is used as it is: {reason.what}"
    return Choice(what, f"{reason.why}; transform the file before neocc convert", {})
