"""``neocc predict``: where new rows belong."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from neocc.cli import _options as given
from neocc.cli import _reading_options as read_as
from neocc.cli._guard import guarded
from neocc.cli._help import command_with

__all__ = ["Command", "predict"]

Command = command_with(
    ("Show where new rows belong", "neocc predict groups new.csv"),
    ("Write it to a file like rows.csv", "neocc predict groups new.csv -o new_rows.csv"),
    ("For a program", "neocc predict groups/model.neocc new.csv --json"),
)


def predict(
    ctx: typer.Context,
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL",
            help="A folder that neocc fit wrote, or its model.neocc.",
            show_default=False,
        ),
    ],
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="New rows over the same columns: a file or a block store.",
            show_default=False,
        ),
    ],
    format_: read_as.Format = None,
    layout: read_as.Layout = None,
    header: read_as.Header = None,
    no_header: read_as.NoHeader = None,
    row_names: read_as.RowNames = None,
    no_row_names: read_as.NoRowNames = None,
    row_names_in: read_as.RowNamesIn = None,
    triplet_columns: read_as.TripletColumns = None,
    delimiter: read_as.Delimiter = None,
    decimal: read_as.Decimal = None,
    encoding: read_as.Encoding = None,
    drop: read_as.Drop = None,
    layer: read_as.Layer = None,
    missing: read_as.Missing = None,
    duplicates: read_as.Duplicates = None,
    output: Annotated[
        Path | None, given.output_file("CSV file to write, or Parquet by its ending.")
    ] = None,
    force: given.Force = False,
    quiet: given.Quiet = False,
    as_json: given.Json = False,
) -> None:
    """Find the groups of new rows.

    Each row is decided by itself, by the distances that the fit arrived at: it
    joins its nearest group, and further groups that are near enough. If the fit
    might leave rows out, those farther than all that it accepted are outliers; if
    it might not (--row-outliers 0), every new row gets a group, however far it is.
    Columns are matched by name, and the data are preprocessed as for the fit.
    """
    with guarded(show_traceback=bool(ctx.obj)):
        from neocc.cli import _predicting as predicting
        from neocc.cli._settings import Reading, from_options
        from neocc.cli._terminal import Terminal

        terminal = Terminal(quiet=quiet, as_json=as_json)
        reading = Reading(**from_options(ctx.params))
        with terminal.progress("Predicting"):
            found = predicting.predict_file(model, file, reading)
        if output is not None:
            predicting.write_prediction(found, output, force=force)
        terminal.notes(found.notes)
        terminal.show(lambda: predicting.prediction_page(found, output))
        terminal.result(lambda: predicting.prediction_json(found))
