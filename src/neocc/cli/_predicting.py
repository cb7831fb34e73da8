"""Memberships of new rows in the groups of a saved model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from neocc._typing import BoolArray, FloatArray
from neocc.cli._guard import Mistake, as_options, blaming_the_user, collected_warnings, printable
from neocc.cli._load import STORE, fill, read_as_it_is, refuse_other_order
from neocc.cli._settings import Reading
from neocc.cli._steps import is_prepared, restore
from neocc.io import Matrix, SavedModel, read_model
from neocc.io._result import as_arrow
from neocc.io._tidy import member_table
from neocc.io._whole import whole_file

__all__ = [
    "Prediction",
    "model_path",
    "predict_file",
    "prediction_json",
    "prediction_page",
    "rows_for",
    "write_prediction",
]

_MOST_ROWS = 20


@dataclass(frozen=True)
class Prediction:
    """Where new rows belong.

    Attributes
    ----------
    matrix : Matrix
        The new rows, as read.
    members : ndarray of bool, shape (n_rows, n_groups)
        Their memberships.
    distances : ndarray of shape (n_rows, n_groups)
        Their distances to the groups.
    notes : list of str
        What else is worth knowing.
    """

    matrix: Matrix
    members: BoolArray
    distances: FloatArray
    notes: list[str]


def model_path(path: Path) -> Path:
    """Return the model file: the path itself, or the one in a folder of results."""
    if not path.is_dir():
        return path
    inside = path / "model.neocc"
    if not inside.is_file():
        raise Mistake(
            f"{path}: There is no model.neocc in this folder. Name a result of neocc fit."
        )
    return inside


def predict_file(model: Path, path: Path, reading: Reading) -> Prediction:
    """Read a model and new rows, and decide for each row where it belongs.

    Parameters
    ----------
    model : Path
        A model file, or a folder with one.
    path : Path
        The new rows, a file or a block store, over the columns of the fit: matched by name where
        both have names.
    reading : Reading
        How to read them; they are preprocessed as the model says.
    """
    saved = read_model(model_path(model))
    with blaming_the_user(), collected_warnings() as warned:
        matrix = read_as_it_is(path, reading)
        X = rows_for(saved, matrix)
        members, distances = saved.estimator.predict_membership(X), saved.estimator.transform(X)
    return Prediction(matrix, members, distances, warned)


def rows_for(saved: SavedModel, matrix: Matrix) -> Any:
    """Bring new rows into the form of the data that a model was fitted to."""
    n_columns = saved.estimator.n_features_in_
    refuse_other_order(matrix, saved.column_names, "columns")
    if saved.column_names is not None and matrix.column_names is not None:
        matrix = matrix.align_columns(saved.column_names)
    elif matrix.shape[1] != n_columns:
        raise Mistake(
            f"{matrix.source}: It has {matrix.shape[1]} columns, the model {n_columns}. Use a file "
            "with the same columns."
        )
    prepared, dense = restore(saved.estimator)
    if matrix.format == STORE:
        if is_prepared(saved.estimator):
            raise Mistake(
                f"{matrix.source}: The model preprocesses its rows, and a block store is used as "
                "it is. Name a file."
            )
        return matrix.data
    with blaming_the_user(matrix):
        return prepared(fill(matrix).data if dense else matrix.data)


def write_prediction(prediction: Prediction, output: Path, *, force: bool) -> None:
    """Write a line per membership, like rows.csv; as Parquet if the name ends so."""
    from pyarrow import csv, parquet

    matrix = prediction.matrix
    names = [matrix.name_of_row(row) for row in range(matrix.shape[0])]
    table = as_arrow(member_table("row", prediction.members, prediction.distances, names))
    with whole_file(output, force=force) as partial:
        if output.suffix.lower() in (".parquet", ".pq"):
            parquet.write_table(table, partial)
        else:
            csv.write_csv(table, partial)


def prediction_page(prediction: Prediction, output: Path | None) -> Iterator[RenderableType]:
    """Yield what to print: a line per row, and how many there are of each kind."""
    counts = np.bincount(np.minimum(prediction.members.sum(axis=1), 2), minlength=3)
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("row")
    table.add_column("groups")
    table.add_column("distance", justify="right")
    for line in _lines(prediction, _MOST_ROWS):
        groups = ", ".join(map(str, line["groups"])) or "none: outlier"
        table.add_row(Text(printable(line["name"])), groups, f"{line['nearest_distance']:.4g}")
    yield table
    n_rows = len(prediction.members)
    if n_rows > _MOST_ROWS:
        rest = "" if output else "; --output FILE writes all"
        yield Text(f"... and {n_rows - _MOST_ROWS:,} more{rest}", "dim")
    none, one, several = counts
    yield Text(
        f"\n{n_rows:,} rows: {one:,} in one group, {several:,} in several, {none:,} in none", "bold"
    )
    if output is not None:
        yield Text(f"Written to {printable(str(output))}")


def prediction_json(prediction: Prediction) -> dict[str, Any]:
    """Return the answer for programs."""
    return {
        "n_groups": int(prediction.members.shape[1]),
        "notes": [as_options(note) for note in prediction.notes],
        "rows": list(_lines(prediction, len(prediction.members))),
    }


def _lines(prediction: Prediction, most: int) -> Iterator[dict[str, Any]]:
    for row, members in enumerate(prediction.members[:most]):
        yield {
            "name": prediction.matrix.name_of_row(row),
            "groups": [int(group) + 1 for group in np.flatnonzero(members)],
            "outlier": not members.any(),
            "nearest_distance": float(prediction.distances[row].min()),
        }
