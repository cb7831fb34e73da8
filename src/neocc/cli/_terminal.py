"""Where a command writes: the answer to standard output, progress to standard error."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import typer
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from neocc.cli._command import Answer
from neocc.cli._guard import as_options, printable

__all__ = ["FitProgress", "Terminal", "Tick", "section", "table"]

MOST_COLUMNS = 100


class Tick(Protocol):
    """What moves a bar: the number of steps done and to do, and what was done last."""

    def __call__(self, done: int, total: int | None, last: str = "") -> None: ...


class Terminal:
    """Prints for people, or one JSON value, or nothing; errors are not printed here.

    Pages go to the console, which is standard output if not given.
    """

    def __init__(
        self, *, quiet: bool = False, as_json: bool = False, console: Console | None = None
    ) -> None:
        for stream in (sys.stdout, sys.stderr):
            # A terminal that cannot show a name shows a question mark in its place.
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="replace")
        self._quiet = quiet
        self._as_json = as_json
        plain = {"highlight": False, "markup": False, "emoji": False}
        self.console = console or Console(**plain)  # type: ignore[arg-type]
        self._err = Console(stderr=True, **plain)  # type: ignore[arg-type]

    @property
    def for_people(self) -> bool:
        """Whether anyone will read text."""
        return not (self._quiet or self._as_json)

    def tell(self, answer: Answer) -> None:
        """Print what a command has to say, in the form that was asked for.

        Plain texts of a page are printed as they are, without breaking lines: they are there to be
        copied.
        """
        if self._as_json and not self._quiet:
            typer.echo(json.dumps(answer.json(), indent=2, allow_nan=False))
        if not self.for_people:
            return
        for note in answer.notes:
            text = f"Note: {printable(as_options(note))}"
            self._err.print(Text(text, "yellow"), soft_wrap=True)
        with self.progress("Describing the result"):
            page = list(answer.page())
        for part in page:
            if isinstance(part, str):
                typer.echo(printable(part))
            else:
                self.console.print(part, width=min(self.console.width, MOST_COLUMNS))

    @contextmanager
    def progress(self, doing: str, *, lines: bool = False) -> Iterator[Tick]:
        """Draw a bar while the block runs, where someone can see it; yield what moves it.

        With `lines`, people who see no bar get a line now and then.
        """
        if self._quiet or not self._err.is_terminal:
            yield _lines if lines and self.for_people else lambda *_, **__: None
            return
        columns = (
            SpinnerColumn("line"),
            TextColumn("{task.description}"),
            BarColumn(30),
            TextColumn("{task.fields[count]}"),
            TimeElapsedColumn(),
            TextColumn("{task.fields[last]}"),
        )
        with Progress(*columns, console=self._err, transient=True) as bars:
            task = bars.add_task(doing, total=None, count="", last="")

            def tick(done: int, total: int | None, last: str = "") -> None:
                count = "" if total is None else f"{done}/{total}"
                bars.update(task, completed=done, total=total, count=count, last=last)

            yield tick


def _lines(done: int, total: int | None, last: str = "") -> None:
    """Print a line after every twentieth of the trials."""
    if done == total or done % max(1, (total or 0) // 20) == 0:
        typer.echo(f"{done} of {total} trials" + (f"; {last}" if last else ""), err=True)


def section(title: str, *parts: RenderableType) -> RenderableType:
    """Put a title above indented parts."""
    return Group(Text(f"\n{title}", "bold"), *(Padding.indent(part, 2) for part in parts))


def table(*columns: str, right: Iterable[int] = (), gap: int = 2) -> Table:
    """Make a table without lines; it has a head if a column has a name.

    Columns of numbers stand to the right and are never broken; `gap` blanks are between columns.
    """
    made = Table(box=None, padding=(0, gap, 0, 0), header_style="dim", show_header=any(columns))
    for name in columns:
        made.add_column(name)
    for place in right:
        made.columns[place].justify, made.columns[place].no_wrap = "right", True
    return made


class FitProgress:
    """A callback in the manner of scikit-learn 1.9 that counts the steps of a fit."""

    def __init__(self, tick: Tick) -> None:
        self._tick = tick
        self._done = 0

    def setup(self, estimator: Any, context: Any) -> None:
        """Begin a fit."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """End a fit."""

    def on_fit_task_begin(self, estimator: Any, context: Any, **_: Any) -> None:  # noqa: ARG002
        """Learn from the outermost task how many steps there are."""
        if context.parent is None:
            self._tick(0, context.max_subtasks)

    def on_fit_task_end(self, estimator: Any, context: Any, **_: Any) -> bool:  # noqa: ARG002
        """Count a step; never ask the fit to stop."""
        whole = context.parent
        if whole is not None and whole.parent is None:
            self._done += 1
            self._tick(self._done, whole.max_subtasks)
        return False
