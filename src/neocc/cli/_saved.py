"""What a saved model is good for: groups of new rows, values of cells, and its report again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import RenderableType
from rich.text import Text

from neocc.cli._command import Answer
from neocc.cli._given import read_recorded
from neocc.cli._guard import Mistake, as_options, blaming_the_user, collected_warnings, printable
from neocc.cli._load import prepare, read_again, read_as_it_is, refuse_options
from neocc.cli._settings import READ_OPTIONS, FitSettings, Reading, option_of
from neocc.cli._terminal import table
from neocc.io import Matrix, RunRecord, SavedModel, read_model, read_record
from neocc.io._model import read_groups
from neocc.io._options import ReadOptions
from neocc.io._result import write_table
from neocc.io._tidy import member_table, memberships
from neocc.io._whole import check_not_read
from neocc.plot._words import plural
from neocc.report import write_report
from neocc.report._page import is_report
from neocc.report._result import measures_gains
from neocc.report._shown import Known, page_of

__all__ = ["cells_answer", "predict_answer", "report_answer"]

_MOST_LINES = 20


def _model_path(path: Path) -> Path:
    """Return the model file: the path itself, or the one in a folder of results."""
    inside = path / "model.neocc"
    if path.is_dir() and not inside.is_file():
        raise Mistake(f"{path}: There is no model.neocc here. Name a folder that neocc fit wrote.")
    return inside if path.is_dir() else path


def _like_the_fit(
    model: Path, saved: SavedModel, path: Path, given: dict[str, Any]
) -> tuple[dict[str, Any], list[str]]:
    """Return settings with how the fit read its file, where nothing else is given; and notes."""
    beside = model.with_name("record.json")
    with blaming_the_user():
        record = read_record(beside).input if beside.is_file() else None
        found, notes = saved.read_alike(path, record, given)
    return {**found, **given}, [as_options(note) for note in notes]


def predict_answer(
    model: Path, path: Path, given: dict[str, Any], output: Path | None, *, force: bool
) -> Answer:
    """Read a model, and new rows over the columns of the fit; decide where each row belongs.

    Columns are matched by name where both have names; rows are preprocessed as the model says.
    """
    check_not_read(output, path, _model_path(model))
    saved = read_groups(_model_path(model))
    values, remarks = _like_the_fit(_model_path(model), saved, path, given)
    with blaming_the_user(), collected_warnings() as notes:
        matrix = read_as_it_is(path, Reading(**values), saved)
        with blaming_the_user(matrix):
            X = saved.prepare(matrix)
        with blaming_the_user(matrix, saved.column_names):
            members, distances = saved.estimator.predict_membership(X), saved.estimator.transform(X)
    notes += remarks + [as_options(one) for one in matrix.notes if one.startswith("Left out")]
    names = [matrix.name_of_row(row) for row in range(matrix.shape[0])]
    if output is not None:
        write_table(output, member_table("row", members, distances, names), force=force)
    gains = measures_gains(saved.estimator)
    sign, measure = (-1, "largest_gain") if gains else (1, "nearest_distance")

    def rows() -> Iterator[dict[str, Any]]:
        for row, (name, groups) in enumerate(zip(names, members, strict=True)):
            yield {
                "name": name,
                "groups": [int(group) + 1 for group in np.flatnonzero(groups)],
                "outlier": not groups.any(),
                measure: sign * float(distances[row].min()),
            }

    def told() -> dict[str, Any]:
        said = list(map(as_options, notes))
        return {"n_groups": members.shape[1], "notes": said, "rows": list(rows())}

    def page() -> Iterator[RenderableType]:
        made = table("row", "groups", measure.replace("_", " "), right=[2])
        for line in islice(rows(), _MOST_LINES):
            groups = ", ".join(map(str, line["groups"])) or "none: outlier"
            made.add_row(Text(printable(line["name"])), groups, f"{line[measure]:.4g}")
        none, one, several = np.bincount(np.minimum(members.sum(axis=1), 2), minlength=3)
        counts = f"{one:,} in one group, {several:,} in several, {none:,} in none"
        total = f"\n{plural(len(members), 'row')}: {counts}"
        return _page(made, len(members), output, Text(total, "bold"))

    return Answer(page, told, notes)


def cells_answer(
    model: Path, path: Path, given: dict[str, Any], output: Path | None, *, force: bool
) -> Answer:
    """Predict listed cells within the range of those observed; names not known are counted."""
    check_not_read(output, path, _model_path(model))
    saved = read_model(_model_path(model))
    if not saved.knows_cells:
        raise Mistake(f"{model}: The model was not fitted with --missing ignore.")
    reading = Reading(**given)
    options = {name: getattr(reading, name) for name in ("header", "encoding", "delimiter")}
    why = "--cells reads a list of cells, a row and a column in each line"
    heeded = {**options, "triplet_columns": reading.triplet_columns}
    refuse_options(path, reading, heeded, why)
    places = reading.triplet_columns and reading.triplet_columns[:2]
    with blaming_the_user():
        cells, values, notes = saved.predict_cells(path, ReadOptions(**options, columns=places))
    names = ("row", "column", "value")
    lines = [(*cell, float(value)) for cell, value in zip(cells, values, strict=True)]
    if output is not None:
        write_table(output, dict(zip(names, zip(*lines, strict=True), strict=True)), force=force)

    def page() -> Iterator[RenderableType]:
        made = table(*names, right=[2])
        for row, column, value in lines[:_MOST_LINES]:
            made.add_row(Text(printable(row)), Text(printable(column)), f"{value:.4g}")
        return _page(made, len(lines), output)

    told = {"cells": [dict(zip(names, line, strict=True)) for line in lines], "notes": notes}
    return Answer(page, lambda: told, notes)


def _page(
    made: RenderableType, n_lines: int, output: Path | None, *more: RenderableType
) -> Iterator[RenderableType]:
    """Yield the first lines, how many there are besides, and where all of them are."""
    yield made
    if n_lines > _MOST_LINES:
        rest = "" if output else "; --output FILE writes all"
        yield Text(f"... and {n_lines - _MOST_LINES:,} more{rest}", "dim")
    yield from more
    if output is not None:
        yield Text(f"Written to {printable(str(output))}")


# ----------------------------------------------------------------------------------------- reports


def report_answer(
    model: Path, data: Path | None, output: Path | None, given: dict[str, Any], *, force: bool
) -> Answer:
    """Write the report of a model again.

    The record beside a model says which file it was fitted to, and how that was read; `data` is
    where that file is now, if it has moved, or the file, if there is no record. The report replaces
    an earlier one beside the model if no other place is given.
    """
    path = _model_path(model)
    saved = read_groups(path)
    beside = path.with_name("record.json")
    record: RunRecord | None = None
    matrix: Matrix | None = None
    notes: list[str] = []
    settings = FitSettings(**given)
    if beside.is_file():
        told = [name for name in given if name in READ_OPTIONS]
        if told:
            raise Mistake(f"{beside} says how the matrix was read: leave out {option_of(told[0])}.")
        recorded = read_recorded(beside)
        record, (settings, notes) = recorded.record, recorded.again(given)
        place = data or Path(recorded.input.path)
        file = read_again(place, recorded, "name it with --data.")
        matrix, _ = prepare(file, recorded.settings)
    elif data is not None:
        values, notes = _like_the_fit(path, saved, data, given)
        settings = FitSettings(**values)
        with blaming_the_user():
            matrix = saved.matrix_of_fit(read_as_it_is(data, settings, saved))
    else:
        notes.append("without the matrix, which --data names, the page has no picture of it.")
    names: dict[str, Any] = {"row_names": saved.row_names, "column_names": saved.column_names}
    members = memberships(saved.estimator)
    if matrix is None:
        shape = len(members[0]), saved.estimator.n_features_in_
        named = Matrix(np.broadcast_to(0.0, shape), **names)
    else:
        matrix = replace(matrix, **{side: one for side, one in names.items() if one is not None})
        named = matrix
    known = Known.read(vars(settings), named)
    page, remarks = page_of(saved.estimator, matrix, known, settings.nouns, seed=settings.seed)
    if matrix is None:
        page |= {side: page[side] or one for side, one in names.items()}
    target = output or path.with_name("report.html")
    check_not_read(target, path, None if matrix is None else matrix.source)
    force = force or (output is None and is_report(target))
    with blaming_the_user():
        write_report(path=target, record=record, force=force, **page)
    notes = [*notes, *known.notes, *remarks]
    answer = {"report": str(target), "notes": notes, "enrichment": known.tested(members)}
    return Answer(lambda: [f"Written to {target}: open it in a browser."], lambda: answer, notes)
