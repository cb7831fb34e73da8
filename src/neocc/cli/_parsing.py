"""How options of the commands are made, and how their values are read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer

__all__ = [
    "fraction_or_auto",
    "make_among",
    "make_flag",
    "make_option",
    "number_or_auto",
    "range_of",
]


def make_option(name: str, metavar: str, panel: str, help_: str, **more: Any) -> Any:
    """Make an option whose help tells its default itself."""
    return typer.Option(
        name, metavar=metavar, rich_help_panel=panel, show_default=False, help=help_, **more
    )


def make_flag(name: str, panel: str, help_: str) -> Any:
    return make_option(name, "", panel, help_)


def make_among(names: Any) -> Callable[[str], list[str]]:
    """Complete words of a list in the shell."""
    return lambda incomplete: [name for name in names if name.startswith(incomplete)]


def number_or_auto(text: str) -> int | str:
    """Read a whole number, or "auto"."""
    if text == "auto":
        return text
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is neither a whole number nor 'auto'.") from None


def fraction_or_auto(text: str) -> float | str:
    """Read a number, also in percent, or "auto".

    Examples
    --------
    >>> from neocc.cli._parsing import fraction_or_auto
    >>> fraction_or_auto("0.25"), fraction_or_auto("5%"), fraction_or_auto("auto")
    (0.25, 0.05, 'auto')
    """
    if text == "auto":
        return text
    try:
        return float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is neither a number nor 'auto'.") from None


def range_of(text: str) -> list[int]:
    """Read numbers such as "4", "2-8" or "2,4,8".

    Examples
    --------
    >>> from neocc.cli._parsing import range_of
    >>> range_of("2-4,8")
    [2, 3, 4, 8]
    """
    found: list[int] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        try:
            numbers = range(int(first), int(last if dash else first) + 1)
        except ValueError:
            numbers = range(0)
        if not numbers or len(numbers) > 1000:
            raise typer.BadParameter(f"{text!r} is no list of numbers such as 2-8 or 2,4,8.")
        found += numbers
    return found
