"""``neocc predict``: where new rows belong."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from neocc.cli import _options as given
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
        typer.Argument(metavar="FILE", help="New rows over the same columns.", show_default=False),
    ],
    format_: given.Format = None,
    layout: given.Layout = None,
    header: given.Header = None,
    no_header: given.NoHeader = None,
    row_names: given.RowNames = None,
    no_row_names: given.NoRowNames = None,
    row_names_in: given.RowNamesIn = None,
    triplet_columns: given.TripletColumns = None,
    delimiter: given.Delimiter = None,
    decimal: given.Decimal = None,
    encoding: given.Encoding = None,
    drop: given.Drop = None,
    layer: given.Layer = None,
    missing: given.Missing = None,
    duplicates: given.Duplicates = None,
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
