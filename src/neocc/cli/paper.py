"""``neocc paper``: the tables and figures of the NEO-CC paper, made again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from neocc.cli import _options as given
from neocc.cli._guard import FAULT, Mistake, guarded
from neocc.cli._help import command_with

__all__ = ["Command", "paper"]

Command = command_with(
    ("In some minutes, to see that everything works", "neocc paper --quick"),
    ("All of it", "neocc paper --output paper"),
    ("Go on after Ctrl-C", "neocc paper --output paper --resume"),
)

# Where no bar can be drawn, a line is printed after so many percent.
_STEP = 5


def paper(
    ctx: typer.Context,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where everything goes.")
    ] = Path("neocc-paper"),
    quick: Annotated[
        bool, typer.Option("--quick", help="Two trials with little effort each.")
    ] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with a run in FOLDER that was stopped.")
    ] = False,
    seed: Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Of all trials.")] = 0,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", metavar="N", min=1, help="Processes; all processors if not given."),
    ] = None,
    quiet: given.Quiet = False,
    as_json: given.Json = False,
) -> None:
    """Make the tables and figures of the NEO-CC paper again.

    Runs the eight systems of the paper and k-means on yeast, on MovieLens and on
    other data, five trials each, and writes a page (index.html) with the printed
    values beside what was found. Every trial is kept as soon as it is done. The
    exit code is 1 if a trial failed; the page says which.
    """
    with guarded(show_traceback=bool(ctx.obj)):
        from neocc.cli._terminal import Terminal
        from neocc.datasets import DatasetError
        from neocc.paper import reproduce

        try:
            with _shown(quiet or as_json) as progress:
                outcome = reproduce(
                    output, quick=quick, seed=seed, resume=resume, n_jobs=jobs, progress=progress
                )
        except DatasetError as error:
            raise Mistake(str(error)) from error
        except KeyboardInterrupt:
            raise KeyboardInterrupt(
                f"Stopped. Finished trials are kept in {output}; go on with the same command and "
                "--resume."
            ) from None
        terminal = Terminal(quiet=quiet, as_json=as_json)
        told = (
            f"{outcome.n_trials} trials; {outcome.n_kept} of {outcome.n_expected} expectations "
            f"hold. See {outcome.page}"
        )
        terminal.show(lambda: [told])
        terminal.result(
            lambda: {
                "trials": outcome.n_trials,
                "expectations": outcome.n_expected,
                "kept": outcome.n_kept,
                "failed": list(outcome.failed),
                "page": str(outcome.page),
            }
        )
        for line in outcome.failed:
            typer.echo(f"neocc: failed: {line}", err=True)
        if outcome.failed:
            raise typer.Exit(FAULT)


@contextmanager
def _shown(quiet: bool) -> Iterator[Callable[[int, int, str], None] | None]:
    """Show which trials are done: by a bar on a terminal, else by a line now and then."""
    if quiet:
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )

    console = Console(stderr=True, highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        yield _lines()
        return
    columns = (
        BarColumn(30),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=console) as bars:
        task = bars.add_task("", total=None)

        def move(done: int, total: int, last: str) -> None:
            bars.update(task, completed=done, total=total, description=last)

        yield move


def _lines() -> Callable[[int, int, str], None]:
    told = -_STEP

    def tell(done: int, total: int, last: str) -> None:
        nonlocal told
        percent = 100 * done // max(total, 1)
        if percent >= told + _STEP or done == total:
            told = percent
            typer.echo(f"{done} of {total} trials" + (f"; {last}" if last else ""), err=True)

    return tell
