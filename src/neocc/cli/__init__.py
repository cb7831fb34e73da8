"""The ``neocc`` command.

Every command parses its arguments, calls one public function and formats the answer. Only typer is
imported here; a command imports what it needs when it runs, so that ``neocc --help`` stays quick.

Exit codes: 0 success, 1 a run that failed, 2 a command line that makes no sense.
"""

from __future__ import annotations

from typing import Annotated

import typer

from neocc import __version__

__all__ = ["app", "main"]

app = typer.Typer(
    name="neocc", no_args_is_help=True, add_completion=False, pretty_exceptions_show_locals=False
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"neocc {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Co-cluster a matrix: group its rows and its columns at the same time.

    Groups may overlap, and rows or columns that fit nowhere may stay outside.
    """


@app.command()
def demo() -> None:
    """Co-cluster a small real data set and explain the result."""
    from neocc.cli.demo import run_demo

    run_demo()


def main() -> None:
    """Run the ``neocc`` command."""
    app()
