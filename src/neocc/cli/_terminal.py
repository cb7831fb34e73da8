"""Where a command writes: the answer to standard output, progress to standard error."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import typer
from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from neocc.cli._guard import as_options, printable

__all__ = ["MOST_COLUMNS", "FitProgress", "Terminal", "Tick"]

MOST_COLUMNS = 100
Tick: TypeAlias = Callable[[int, int | None], None]


class Terminal:
    """Prints for people, or as JSON, or not at all.

    Parameters
    ----------
    quiet : bool, default=False
        Whether to print nothing; errors are not printed here.
    as_json : bool, default=False
        Whether to print one JSON value and nothing for people.
    """

    def __init__(self, *, quiet: bool = False, as_json: bool = False) -> None:
        for stream in (sys.stdout, sys.stderr):
            # A terminal that cannot show a name shows a question mark in its place.
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="replace")
        self._quiet = quiet
        self._as_json = as_json
        self._out = Console(highlight=False, markup=False, emoji=False, soft_wrap=False)
        self._err = Console(stderr=True, highlight=False, markup=False, emoji=False)

    @property
    def for_people(self) -> bool:
        """Whether anyone will read text."""
        return not (self._quiet or self._as_json)

    @property
    def width(self) -> int:
        """Columns to fill."""
        return min(self._out.width, MOST_COLUMNS)

    def show(self, page: Callable[[], Iterable[RenderableType]]) -> None:
        """Print the parts of a page, one below the other; it is made only if it is read.

        Plain texts are printed as they are, without breaking lines: they are there to be copied.
        """
        if self.for_people:
            for part in page():
                if isinstance(part, str):
                    typer.echo(printable(part))
                else:
                    self._out.print(part, width=self.width)

    def notes(self, notes: Iterable[str]) -> None:
        """Print remarks beside the answer, to standard error; programs get them with the answer."""
        if self.for_people:
            for note in notes:
                text = f"Note: {printable(as_options(note))}"
                self._err.print(Text(text, "yellow"), soft_wrap=True)

    def result(self, value: Callable[[], Any]) -> None:
        """Print the answer for programs, if it was asked for."""
        if self._as_json and not self._quiet:
            typer.echo(json.dumps(value(), indent=2, allow_nan=False))

    @contextmanager
    def progress(self, doing: str) -> Iterator[Tick]:
        """Draw a bar while the block runs, where someone can see it; yield what moves it."""
        if self._quiet or not self._err.is_terminal:
            yield _unseen
            return
        columns = (
            SpinnerColumn("line"),
            TextColumn("{task.description}"),
            BarColumn(30),
            TextColumn("{task.fields[count]}"),
            TimeElapsedColumn(),
        )
        with Progress(*columns, console=self._err, transient=True) as bars:
            task = bars.add_task(doing, total=None, count="")

            def tick(done: int, total: int | None) -> None:
                count = "" if total is None else f"{done}/{total}"
                bars.update(task, completed=done, total=total, count=count)

            yield tick


def _unseen(done: int, total: int | None) -> None:
    """Move a bar that no one sees."""


class FitProgress:
    """A callback in the manner of scikit-learn 1.9 that counts the steps of a fit.

    Parameters
    ----------
    tick : callable
        Called with the number of steps done and the largest number of steps.
    """

    def __init__(self, tick: Tick) -> None:
        self._tick = tick
        self._done = 0
        self._total: int | None = None

    def setup(self, estimator: Any, context: Any) -> None:
        """Begin a fit."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """End a fit."""

    def on_fit_task_begin(self, estimator: Any, context: Any, **_: Any) -> None:  # noqa: ARG002
        """Learn from the outermost task how many steps there are."""
        if context.parent is None:
            self._total = context.max_subtasks
            self._tick(0, self._total)

    def on_fit_task_end(self, estimator: Any, context: Any, **_: Any) -> bool:  # noqa: ARG002
        """Count a step; never ask the fit to stop."""
        if context.parent is not None and context.parent.parent is None:
            self._done += 1
            self._tick(self._done, self._total)
        return False
