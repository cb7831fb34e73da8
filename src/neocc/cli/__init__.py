"""The ``neocc`` command.

Every command parses its arguments, calls one public function and formats the answer. Only typer is
imported here; a command imports what it needs when it runs, so that ``neocc --help`` stays quick.

Exit codes: 0 done, 1 a fault of neocc or of the machine, 2 a mistake in the command line, in a file
or in where to write, 130 interrupted.
"""

from __future__ import annotations

from typing import Annotated

import typer

from neocc import __version__
from neocc.cli import _options as given
from neocc.cli import convert as _convert
from neocc.cli import fit as _fit
from neocc.cli import paper as _paper
from neocc.cli import predict as _predict
from neocc.cli import report as _report
from neocc.cli import score as _score
from neocc.cli import suggest as _suggest
from neocc.cli._guard import guarded
from neocc.cli._help import command_with

__all__ = ["app", "main"]

app = typer.Typer(
    name="neocc",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"neocc {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    ctx: typer.Context,
    version: Annotated[  # noqa: ARG001
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
    traceback: Annotated[
        bool, typer.Option("--traceback", help="Show where in the program an error came from.")
    ] = False,
) -> None:
    """Co-cluster a matrix: group its rows and its columns at the same time.

    Groups may overlap, and rows or columns that fit nowhere may stay outside.
    """
    ctx.obj = traceback


@app.command(
    cls=command_with(
        ("See co-clusters on one page", "neocc demo"),
        ("The same for a program", "neocc demo --json"),
    )
)
def demo(ctx: typer.Context, quiet: given.Quiet = False, as_json: given.Json = False) -> None:
    """Co-cluster a small real data set and explain the result.

    The data are the 18 women and 14 social events of Davis, Gardner and Gardner.
    """
    with guarded(show_traceback=bool(ctx.obj)):
        from neocc.cli.demo import run_demo

        run_demo(quiet=quiet, as_json=as_json)


app.command(cls=_fit.Command)(_fit.fit)
app.command(cls=_convert.Command)(_convert.convert)
app.command(cls=_suggest.Command)(_suggest.suggest)
app.command(cls=_predict.Command)(_predict.predict)
app.command(cls=_score.Command)(_score.score)
app.command(cls=_report.Command)(_report.report)
app.command(cls=_paper.Command)(_paper.paper)


def main() -> None:
    """Run the ``neocc`` command."""
    app()
