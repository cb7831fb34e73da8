"""From a file to the matrix that is clustered: read, looked at, filled where asked, preprocessed.

What is not given of the steps and the objective is taken from `neocc.selection`; what is given
stays. The settings that come out are those of a run in which everything was given, so that it can
be repeated.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from neocc.cli._choose import Choice
from neocc.cli._given import Recorded
from neocc.cli._guard import Mistake, as_options, blaming_the_user, message_of
from neocc.cli._kinds import AUTO
from neocc.cli._settings import DEFAULTS, SETTINGS, FitSettings, Panel, Reading, option_of
from neocc.engines import RowSource
from neocc.engines.reading import check_scale
from neocc.io import Matrix, SavedModel, UnreadableFileError, read_matrix
from neocc.io.blocks._sample import Sample, draw, entries_within, rows_with
from neocc.selection import DataDescription, Reason, describe_data
from neocc.selection._advise import recipe_for

__all__ = ["STORE", "Seen", "draw_to_choose", "look", "prepare", "read_again", "read_as_it_is"]
__all__ += ["refuse_options"]

STORE = "blocks"
"""The format of a matrix that is a block store."""
_GIVEN = ("objective", "missing", "remove_effects", "overlap_model", "max_memberships")
# A sample must still show groups: so many rows for each. Very long rows may be too much for that.
_ROWS_PER_GROUP, _MOST_GROUPS_TRIED, _TOO_MUCH = 20, 8, 8


def prepare(file: Matrix, settings: FitSettings) -> tuple[Matrix, Any]:
    """Preprocess what was read from a file; return the matrix to cluster, and the preprocessor."""
    matrix, preprocessor = file.filled() if settings.dense else file, None
    if settings.preprocess:
        from neocc.preprocessing import make_preprocessor

        preprocessor = make_preprocessor(settings.preprocess)
        for name, (_, step) in zip(settings.preprocess, preprocessor.steps, strict=True):
            with blaming_the_user(matrix):
                made = step.fit_transform(matrix.data)
            matrix = replace(matrix, data=made, steps=(*matrix.steps, name))
    if matrix.format != STORE:
        with blaming_the_user(matrix):
            check_scale(matrix.data)
    return matrix, preprocessor


def read_again(path: Path, recorded: Recorded, how_to_name: str) -> Matrix:
    """Read the file of an earlier run; refuse another one."""
    try:
        file = read_as_it_is(path, recorded.settings)
    except UnreadableFileError as error:
        if str(path) != recorded.input.path:
            raise
        advice = f"If the file has moved, {how_to_name}"
        raise Mistake(f"{message_of(error)} {advice}") from error
    recorded.input.check(file)
    return file


def read_as_it_is(path: Path, reading: Reading, model: SavedModel | None = None) -> Matrix:
    """Read a file (new rows for a model) without preprocessing, or open a block store."""
    with blaming_the_user():
        if not os.path.isdir(path):  # noqa: PTH112 - False, too, where no one may look
            return (model.read if model else read_matrix)(path, **reading.read_options)
        from neocc.io import open_store

        # That only cells which are given count is a matter of the fit.
        heeded = {"missing": "ignore", "preprocess": ()}
        instead = ", or change the data before or while they are converted"
        refuse_options(path, reading, heeded, "A block store is used as it is", instead)
        store = open_store(path)
        names = (store.row_names, store.column_names)
        return Matrix(store, *names, path, STORE, store.digest, store.manifest.notes)


def refuse_options(
    path: Path, reading: Reading, heeded: dict[str, Any], why: str, instead: str = ""
) -> None:
    """Refuse options of reading, other than those values that are heeded, where `why` says."""
    for name, value in vars(reading).items():
        if SETTINGS[name].panel == Panel.FILE and value not in (DEFAULTS[name], heeded.get(name)):
            raise Mistake(f"{path}: {why}. Leave out {option_of(name)}{instead}.")


def draw_to_choose(
    X: Any, settings: FitSettings, limit: str | None = None, *, most: int = 1 << 22
) -> Sample:
    """Return rows from which to choose what is not given: all, or some of a large block store.

    The settings have the seed, and the number of groups that a sample must show; `limit` is the
    bytes that a fit may take, `most` the entries: `suggest_n_clusters` looks at few more.
    """
    n = X.shape[0]
    if not isinstance(X, RowSource) or not settings.left_open:
        return Sample(X, np.arange(n), n, settings.seed)
    groups = _MOST_GROUPS_TRIED if "rows" in settings.left_open else int(settings.rows)
    most = entries_within(limit, most)
    size = min(n, max(rows_with(X, most), _ROWS_PER_GROUP * groups))
    if size * X.n_stored / n > _TOO_MUCH * most:
        raise ValueError(
            f"The rows of the store are so long that the {size} needed for {groups} groups do not "
            "fit into memory. Give n_row_clusters, n_column_clusters, row_overlap, row_outliers, "
            "column_overlap and column_outliers."
        )
    return draw(X, size, settings.seed)


# --------------------------------------------------------- what the data are, and what is advised


@dataclass(frozen=True)
class Seen:
    """A file, what was made of it, what its data look like, and what was chosen for that."""

    file: Matrix  # as it was read
    matrix: Matrix  # as it is clustered
    preprocessor: Any  # what turned one into the other; it treats further rows alike
    settings: FitSettings  # without "auto" for steps and objective
    description: DataDescription
    choices: list[Choice]

    @property
    def is_stored(self) -> bool:
        """Whether the matrix is a block store, whose rows stay on disk."""
        return self.file.format == STORE


def look(path: Path, settings: FitSettings, recorded: Recorded | None = None) -> Seen:
    """Read a file, look at its data, choose steps and an objective, and take the steps.

    In a run that is repeated nothing is chosen.
    """
    if recorded is not None:
        file = read_again(path, recorded, "name it: neocc fit FILE --from record.json.")
        return Seen(file, *prepare(file, settings), settings, _described(file, settings), [])
    file = read_as_it_is(path, settings)
    description = _described(file, settings)
    # The steps that are given come first: an objective is for the data after them.
    after, prepared, steps_open = description, None, settings.preprocess == (AUTO,)
    if not steps_open and settings.preprocess and settings.objective == AUTO:
        prepared = prepare(file, settings)
        after = _described(prepared[0], settings)
    is_store, given = file.format == STORE, _given(settings)
    advice = recipe_for(after, given) if is_store and steps_open else ()
    undone = [_undone(reason) for reason in advice if reason.step]
    reasons = recipe_for(after, given, steps=steps_open and not is_store)
    advised = _with(settings, reasons)
    if advised.missing != settings.missing:
        file = read_as_it_is(path, advised)
    choices = [*undone, *(_choice(reason) for reason in reasons)]
    return Seen(file, *(prepared or prepare(file, advised)), advised, description, choices)


def _described(matrix: Matrix, settings: FitSettings) -> DataDescription:
    missing = "ignore" if settings.is_observed else "zero"
    with blaming_the_user(matrix):
        return describe_data(matrix.data, column_names=matrix.column_names, missing=missing)


def _given(settings: FitSettings) -> dict[str, Any]:
    """Return what was given of all that advice depends on."""
    given = {n: getattr(settings, n) for n in _GIVEN if getattr(settings, n) != DEFAULTS[n]}
    if "missing" in given and given["missing"] != "ignore":
        given["missing"] = "zero"
    return given


def _with(settings: FitSettings, reasons: Sequence[Reason]) -> FitSettings:
    """Return the settings with what is advised."""
    found = {name: value for one in reasons for name, value in one.parameters.items()}
    if settings.preprocess == (AUTO,):
        found["preprocess"] = tuple(one.step for one in reasons if one.step is not None)
    return replace(settings, **found)


def _choice(reason: Reason) -> Choice:
    what, options = reason.what[:1].upper() + reason.what[1:], dict(reason.parameters)
    if reason.step is None:
        return Choice(what, as_options(reason.why), options)
    options["preprocess"] = reason.step
    return Choice(what, f"{reason.why} (--preprocess {reason.step})", options)


def _undone(reason: Reason) -> Choice:
    what = f"Not done, because a block store is used as it is: {reason.what}"
    return Choice(what, f"{reason.why}; transform the file before neocc convert", {})
