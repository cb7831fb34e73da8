"""What stands below the options in a help page: examples, steps, exit codes."""

from __future__ import annotations

from textwrap import wrap
from typing import Any

import typer
from typer.core import TyperCommand

from neocc.preprocessing import PREPROCESSORS

__all__ = ["command_with"]

_WIDTH = 80
_EXIT_CODES = {
    "0": "done",
    "1": "a fault of neocc or of the machine",
    "2": "a mistake in the command, in a file or in where to write",
    "130": "interrupted with Ctrl-C",
}


def command_with(*examples: tuple[str, str], steps: bool = False) -> type[TyperCommand]:
    """Make the class of a command whose help page ends with examples.

    Not typer's epilog: how that breaks lines depends on the version.

    Parameters
    ----------
    *examples : tuple of str
        What a command line does, and the command line.
    steps : bool, default=False
        Whether to list the steps of preprocessing.
    """

    class Command(TyperCommand):
        def format_help(self, ctx: Any, formatter: Any) -> None:
            super().format_help(ctx, formatter)
            for line in _lines(examples, steps):
                typer.echo(line)

    return Command


def _lines(examples: tuple[tuple[str, str], ...], steps: bool) -> list[str]:
    lines = [_heading("Examples")]
    for about, command in examples:
        lines += [f"   {about}:", f"     {typer.style(command, 'cyan')}"]
    if steps:
        lines += ["", _heading("Steps of --preprocess")]
        lines += _pairs(PREPROCESSORS)
    return [*lines, "", _heading("Exit codes"), *_pairs(_EXIT_CODES), ""]


def _heading(text: str) -> str:
    return " " + typer.style(text, bold=True)


def _pairs(texts: dict[str, str]) -> list[str]:
    width = max(map(len, texts))
    lines = []
    for name, text in texts.items():
        first, *rest = wrap(text, _WIDTH - width - 5)
        lines.append(f"   {typer.style(name.ljust(width), 'cyan')}  {first}")
        lines += [" " * (width + 5) + line for line in rest]
    return lines
