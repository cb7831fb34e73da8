"""Numbers that may be written in two ways: `2,000` beside `137` is two thousand, or two."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from neocc.io._errors import FormatError
from neocc.io.readers._text import Dialect, Record, is_number

__all__ = ["ask_about_commas", "is_grouped", "say_about_points"]

_GROUPED = {sign: re.compile(rf"[+-]?[1-9]\d{{0,2}}({re.escape(sign)}\d{{3}})+") for sign in ",."}
_SMALL = re.compile(r"[+-]?\d{1,3}")
# So many numbers with exactly three decimals, beside others without any, are worth a remark.
_ENOUGH = 3


def is_grouped(cell: str) -> bool:
    """Whether a cell holds a number whose thousands are separated by commas, perhaps."""
    return _GROUPED[","].fullmatch(cell) is not None


def ask_about_commas(path: Path, found: Sequence[Record], dialect: Dialect) -> None:
    """Refuse decimal commas that may separate thousands, until an option says which."""
    if dialect.decimal != ",":
        return
    doubtful = _doubtful(found, dialect)
    if doubtful is None:
        return
    record, place, other, _ = doubtful
    cell = record.cells[place].strip()
    raise FormatError(
        path,
        f"{cell!r} stands in one column with {other!r}: commas may be decimal signs, or separate "
        "thousands.",
        f'Pass thousands="," if it is {cell.replace(",", "")}, decimal="," if it is '
        f"{cell.replace(',', '.')}.",
        line=record.line,
        column=str(place + 1),
    )


def say_about_points(found: Sequence[Record], dialect: Dialect) -> list[str]:
    """Return a note on points that may separate thousands; mostly they are decimal."""
    doubtful = _doubtful(found, dialect) if dialect.decimal == "." else None
    if doubtful is None or doubtful[3] < _ENOUGH:
        return []
    cell = doubtful[0].cells[doubtful[1]].strip()
    digits = cell.replace(".", "")
    return [f'Points are read as decimal signs; if {cell} is {digits}, pass thousands=".".']


def _doubtful(found: Sequence[Record], dialect: Dialect) -> tuple[Record, int, str, int] | None:
    """Return the first such cell of a column, one beside it without a sign, and how many there are.

    All numbers of the column that have the sign have three digits after it, and none begins with 0.
    """
    sign = dialect.decimal
    width = max(len(record.cells) for record in found)
    for place in range(width):
        cells = [(one, one.cells[place].strip()) for one in found if place < len(one.cells)]
        signed = [(one, cell) for one, cell in cells if sign in cell and is_number(cell, sign)]
        if not signed or not all(_GROUPED[sign].fullmatch(cell) for _, cell in signed):
            continue
        plain = next((cell for _, cell in cells if _SMALL.fullmatch(cell)), None)
        if plain is not None:
            return signed[0][0], place, plain, len(signed)
    return None
