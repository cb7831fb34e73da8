"""What a saved model is good for: the groups of new rows, and its report, made again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import RenderableType
from rich.text import Text

from neocc._extras import need
from neocc._typing import BoolArray
from neocc.cli._command import Answer
from neocc.cli._guard import Mistake, as_options, blaming_the_user, collected_warnings, printable
from neocc.cli._known import KnownFiles
from neocc.cli._load import load_again, read_as_it_is, refuse_other_order, rows_for
from neocc.cli._sample import page_of
from neocc.cli._settings import FitSettings, Reading, option_of
from neocc.cli._settings_files import read_recorded
from neocc.cli._terminal import table
from neocc.io import Matrix, RunRecord, SavedModel, read_model
from neocc.io._result import as_arrow
from neocc.io._tidy import member_table, memberships
from neocc.io._whole import whole_file
from neocc.report import write_report
from neocc.report._page import is_report

__all__ = ["MOST_ROWS", "model_path", "predict_answer", "report_file", "write_table"]

MOST_ROWS = 20


def model_path(path: Path) -> Path:
    """Return the model file: the path itself, or the one in a folder of results."""
    inside = path / "model.neocc"
    if path.is_dir() and not inside.is_file():
        raise Mistake(
            f"{path}: There is no model.neocc in this folder. Name a result of neocc fit."
        )
    return inside if path.is_dir() else path


def predict_answer(
    model: Path, path: Path, reading: Reading, output: Path | None, *, force: bool
) -> Answer:
    """Read a model, and new rows over the columns of the fit; decide where each row belongs.

    Columns are matched by name where both have names; rows are preprocessed as the model says.
    """
    saved = read_model(model_path(model))
    with blaming_the_user(), collected_warnings() as notes:
        matrix = read_as_it_is(path, reading)
        X = rows_for(saved, matrix)
        members, distances = saved.estimator.predict_membership(X), saved.estimator.transform(X)
    if output is not None:
        names = [matrix.name_of_row(row) for row in range(matrix.shape[0])]
        write_table(member_table("row", members, distances, names), output, force=force)

    def rows() -> Iterator[dict[str, Any]]:
        for row, groups in enumerate(members):
            yield {
                "name": matrix.name_of_row(row),
                "groups": [int(group) + 1 for group in np.flatnonzero(groups)],
                "outlier": not groups.any(),
                "nearest_distance": float(distances[row].min()),
            }

    def told() -> dict[str, Any]:
        said = [as_options(note) for note in notes]
        return {"n_groups": int(members.shape[1]), "notes": said, "rows": list(rows())}

    return Answer(lambda: _page(members, rows(), output), told, notes)


def write_table(columns: dict[str, Any], output: Path, *, force: bool) -> None:
    """Write a line per membership, like rows.csv; as Parquet if the name ends so."""
    csv, parquet = need("pyarrow.csv"), need("pyarrow.parquet")

    with whole_file(output, force=force) as partial:
        if output.suffix.lower() in (".parquet", ".pq"):
            parquet.write_table(as_arrow(columns), partial)
        else:
            csv.write_csv(as_arrow(columns), partial)


def _page(
    members: BoolArray, rows: Iterator[dict[str, Any]], output: Path | None
) -> Iterator[RenderableType]:
    """Yield a line per row, and how many there are of each kind."""
    made = table("row", "groups", "distance to nearest", right=[2])
    for line in islice(rows, MOST_ROWS):
        groups = ", ".join(map(str, line["groups"])) or "none: outlier"
        made.add_row(Text(printable(line["name"])), groups, f"{line['nearest_distance']:.4g}")
    yield made
    n_rows = len(members)
    if n_rows > MOST_ROWS:
        rest = "" if output else "; --output FILE writes all"
        yield Text(f"... and {n_rows - MOST_ROWS:,} more{rest}", "dim")
    none, one, several = np.bincount(np.minimum(members.sum(axis=1), 2), minlength=3)
    yield Text(
        f"\n{n_rows:,} rows: {one:,} in one group, {several:,} in several, {none:,} in none", "bold"
    )
    if output is not None:
        yield Text(f"Written to {printable(str(output))}")


# ----------------------------------------------------------------------------------------- reports


def report_file(
    model: Path,
    data: Path | None,
    output: Path | None,
    given: dict[str, Any],
    files: KnownFiles,
    *,
    force: bool,
) -> tuple[Path, list[str], dict[str, Any]]:
    """Write the report of a model again; return where it is, what to note, and tests of labels.

    The record beside a model says which file it was fitted to, and how that was read; `data` is
    where that file is now, if it has moved, or the file, if there is no record. The report replaces
    an earlier one beside the model if no other place is given.
    """
    path = model_path(model)
    saved = read_model(path)
    beside = path.with_name("record.json")
    record: RunRecord | None = None
    matrix: Matrix | None = None
    notes = []
    settings = FitSettings(**given)
    if beside.is_file():
        told = [name for name in given if name not in ("row_noun", "column_noun")]
        if told:
            raise Mistake(f"{beside} says how the matrix was read: leave out {option_of(told[0])}.")
        recorded = read_recorded(beside)
        record, settings = recorded.record, replace(recorded.settings, **given)
        files = files.or_recorded(record.settings.get("known"))
        place = data or Path(recorded.input.path)
        matrix = load_again(place, recorded, "name it with --data.").matrix
    elif data is not None:
        matrix = _matrix_of(saved, data, settings)
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
    known = files.read(named)
    page, remarks = page_of(saved.estimator, matrix, settings, known=known)
    if matrix is None:
        page |= {side: page[side] or one for side, one in names.items()}
    target = output or path.with_name("report.html")
    force = force or (output is None and is_report(target))
    with blaming_the_user():
        write_report(path=target, record=record, force=force, **page)
    return target, [*notes, *known.notes, *remarks], known.tested(members)


def _matrix_of(saved: SavedModel, data: Path, settings: FitSettings) -> Matrix:
    """Read the matrix of a fit that nothing but the model tells about."""
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
