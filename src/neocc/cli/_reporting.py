"""The report of a saved model, made again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from neocc.cli._guard import Mistake, blaming_the_user, message_of
from neocc.cli._load import load, read_as_it_is, refuse_other_order
from neocc.cli._predicting import model_path, rows_for
from neocc.cli._settings import FitSettings
from neocc.cli._settings_files import Recorded, read_recorded
from neocc.cli._stored import page_view
from neocc.io import (
    Matrix,
    RunRecord,
    SavedModel,
    UnreadableFileError,
    read_model,
    read_record,
)
from neocc.io._tidy import memberships
from neocc.report import write_report
from neocc.report._page import is_report

__all__ = ["report_file"]


def report_file(
    model: Path,
    data: Path | None,
    output: Path | None,
    options: dict[str, Any],
    *,
    force: bool,
) -> tuple[Path, list[str]]:
    """Write the report of a model again.

    Parameters
    ----------
    model : Path
        A folder of results, or a model file. What lies beside the model says which file it was
        fitted to, and how that was read.
    data : Path or None
        Where that file is now, if it has moved; or the file, if nothing tells which.
    output : Path or None
        Where to write; beside the model, in place of the earlier report, if not given.
    options : dict
        Settings that were given: how to read `data`, and what rows and columns are called.
    force : bool
        Whether to replace a file at `output`.

    Returns
    -------
    path : Path
        The report.
    notes : list of str
        What is missing in it.
    """
    path = model_path(model)
    saved = read_model(path)
    beside = path.with_name("record.json")
    record: RunRecord | None = None
    matrix: Matrix | None = None
    notes = []
    settings = FitSettings()
    if beside.is_file():
        _refuse_reading(options, beside)
        record, recorded = read_record(beside), read_recorded(beside)
        settings = recorded.settings
        matrix = _recorded_matrix(recorded, data)
    elif data is not None:
        matrix = _given_matrix(saved, data, replace(settings, **options))
    else:
        notes.append("without the matrix, which --data names, the page has no picture of it.")
    settings = replace(settings, **{k: v for k, v in options.items() if k in _NOUNS})
    page, remarks = _page_of(saved, matrix, settings)
    target = output or path.with_name("report.html")
    with blaming_the_user():
        write_report(
            path=target,
            record=record,
            force=force or (output is None and is_report(target)),
            **page,
        )
    return target, [*notes, *remarks]


def _page_of(
    saved: SavedModel, matrix: Matrix | None, settings: FitSettings
) -> tuple[dict[str, Any], list[str]]:
    """Return what a page is made of, and what is to be said about it."""
    names: dict[str, Any] = {"row_names": saved.row_names, "column_names": saved.column_names}
    if matrix is None:
        nouns = {name: getattr(settings, name) for name in _NOUNS}
        return {"model": saved.estimator, **names, **nouns}, []
    known = {side: given for side, given in names.items() if given is not None}
    view = page_view(saved.estimator, replace(matrix, **known), settings.seed)
    return {"model": view.model, **view.options(settings)}, view.notes(settings.row_noun)


_NOUNS = ("row_noun", "column_noun")


def _refuse_reading(options: dict[str, Any], record: Path) -> None:
    """Refuse options on how to read a file that the record tells how to read."""
    told = [name for name in options if name not in _NOUNS]
    if told:
        option = "--" + told[0].replace("_", "-")
        raise Mistake(f"{record} says how the matrix was read: leave out {option}.")


def _recorded_matrix(recorded: Recorded, data: Path | None) -> Matrix:
    try:
        loaded = load(data or Path(recorded.input.path), recorded.settings)
    except UnreadableFileError as error:
        if data is not None:
            raise
        raise Mistake(f"{message_of(error)} If it has moved, name it with --data.") from error
    recorded.input.check(loaded.file)
    return loaded.matrix


def _given_matrix(saved: SavedModel, data: Path, settings: FitSettings) -> Matrix:
    n_rows, n_columns = len(memberships(saved.estimator)[0]), saved.estimator.n_features_in_
    with blaming_the_user():
        matrix = read_as_it_is(data, settings)
        if matrix.shape[0] != n_rows:
            raise Mistake(
                f"{data}: It has {matrix.shape[0]} rows and {matrix.shape[1]} columns, the model "
                f"was fitted to {n_rows} and {n_columns}. Name the file of the fit."
            )
        refuse_other_order(matrix, saved.row_names, "rows")
        if saved.row_names is not None and matrix.row_names is not None:
            matrix = matrix.align_rows(saved.row_names)
        return replace(matrix, data=rows_for(saved, matrix), column_names=saved.column_names)
