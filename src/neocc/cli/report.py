"""``neocc report``: the report of a saved model, made again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from neocc.cli import _options as given
from neocc.cli import _reading_options as read_as
from neocc.cli._guard import guarded
from neocc.cli._help import command_with

__all__ = ["Command", "report"]

Command = command_with(
    ("The report of a result again", "neocc report groups"),
    ("With words for rows and columns", "neocc report groups --row-noun genes"),
    ("The matrix has moved", "neocc report groups --data elsewhere/ratings.csv"),
    ("A model alone", "neocc report model.neocc --data ratings.csv -o page.html"),
)


def report(
    ctx: typer.Context,
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL",
            help="A folder that neocc fit wrote, or its model.neocc.",
            show_default=False,
        ),
    ],
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            show_default=False,
            help="The matrix of the fit, where it has moved or nothing beside the model names it.",
        ),
    ] = None,
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
    row_noun: given.RowNoun = None,
    column_noun: given.ColumnNoun = None,
    output: Annotated[
        Path | None,
        given.output_file("Page to write; the report.html beside the model if not given."),
    ] = None,
    force: given.Force = False,
    quiet: given.Quiet = False,
    as_json: given.Json = False,
) -> None:
    """Write the report of a saved model again.

    The matrix is read from where neocc fit read it, if it has not changed, and as
    it was read there. A model alone needs --data, and how to read it.
    """
    with guarded(show_traceback=bool(ctx.obj)):
        from neocc.cli._reporting import report_file
        from neocc.cli._settings import from_options
        from neocc.cli._terminal import Terminal

        terminal = Terminal(quiet=quiet, as_json=as_json)
        options = from_options(ctx.params)
        with terminal.progress("Writing the report"):
            path, notes = report_file(model, data, output, options, force=force)
        terminal.notes(notes)
        terminal.show(lambda: [f"Written to {path}: open it in a browser."])
        terminal.result(lambda: {"report": str(path), "notes": notes})
