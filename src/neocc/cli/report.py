"""``neocc report``: the report of a saved model, made again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from neocc.cli import _options as given
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
