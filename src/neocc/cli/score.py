"""``neocc score``: compare groups that were found with known ones."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from neocc.cli import _options as given
from neocc.cli._guard import guarded
from neocc.cli._help import command_with

__all__ = ["Command", "score"]

Command = command_with(
    ("A result against a table with the columns name and cluster", "neocc score truth.csv groups"),
    ("Groups of columns", "neocc score truth.csv groups --side columns"),
    ("Two results, rows and columns", "neocc score groups-1 groups-2"),
)


def score(
    ctx: typer.Context,
    truth: Annotated[
        Path, typer.Argument(metavar="TRUTH", help="Known groups.", show_default=False)
    ],
    found: Annotated[
        Path, typer.Argument(metavar="FOUND", help="Groups to be scored.", show_default=False)
    ],
    side: Annotated[
        Literal["rows", "columns"] | None,
        typer.Option(
            metavar="SIDE",
            show_default=False,
            help="rows or columns; rows if not given, or both sides of two folders.",
        ),
    ] = None,
    quiet: given.Quiet = False,
    as_json: given.Json = False,
) -> None:
    """Measure how well FOUND agrees with TRUTH.

    Each is a folder that neocc fit wrote, a model.neocc, a table with a column
    name and a column cluster (one line per membership), or a matrix of 0 and 1
    with a row per item and a column per group. Items are matched by name.
    """
    with guarded(show_traceback=bool(ctx.obj)):
        from neocc.cli._scoring import score_files, score_json, score_page
        from neocc.cli._terminal import Terminal

        terminal = Terminal(quiet=quiet, as_json=as_json)
        scores = score_files(truth, found, side)
        terminal.notes(note for each in scores for note in each.notes)
        terminal.show(lambda: score_page(scores))
        terminal.result(lambda: score_json(scores))
