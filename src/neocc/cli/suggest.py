"""``neocc suggest``: how many groups a matrix has."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from neocc.cli import _options as given
from neocc.cli import _reading_options as read_as
from neocc.cli._guard import INTERRUPTED, guarded
from neocc.cli._help import command_with

__all__ = ["Command", "suggest"]

Command = command_with(
    ("Try 2 to 8 groups of rows and of columns", "neocc suggest ratings.csv"),
    ("Try others", "neocc suggest ratings.csv --rows 5,10,20 --columns 2-6"),
    ("For a program", "neocc suggest ratings.csv --json"),
    steps=True,
)


def suggest(
    ctx: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="The matrix: a file or a block store.", show_default=False
        ),
    ],
    row_clusters: given.RowRange = None,
    column_clusters: given.ColumnRange = None,
    objective: given.Objective = None,
    criterion: given.Criterion = "icl",
    overlap_rule: given.OverlapRule = None,
    preprocess: read_as.Preprocess = None,
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
    dense: read_as.Dense = None,
    n_init_per_pair: given.NInitPerPair = 4,
    seed: given.Seed = None,
    jobs: given.Jobs = None,
    quiet: given.Quiet = False,
    as_json: given.Json = False,
) -> None:
    """Rank numbers of groups for the matrix in FILE.

    Every pair of numbers is tried, and the fit weighed against the number of
    groups. Ctrl-C ranks the pairs tried so far.
    """
    with guarded(show_traceback=bool(ctx.obj)):
        from neocc.cli import _suggesting as suggesting
        from neocc.cli._settings import FitSettings, from_options
        from neocc.cli._terminal import Terminal

        terminal = Terminal(quiet=quiet, as_json=as_json)
        found = suggesting.suggest_file(
            file,
            FitSettings(**from_options(ctx.params)),
            row_clusters,
            column_clusters,
            criterion,
            n_init_per_pair,
            terminal.progress,
        )
        terminal.notes(found.notes)
        terminal.show(lambda: suggesting.suggestion_page(found))
        terminal.result(lambda: suggesting.suggestion_json(found))
    if not found.ranked.complete:
        raise typer.Exit(INTERRUPTED)
