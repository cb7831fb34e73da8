"""Numbers that may be written in two ways: `2,000` beside `137` is two thousand, or two."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from neocc.io._errors import FormatError
from neocc.io.readers._text import Dialect, Record, is_number, separators

__all__ = ["ask_about_thousands", "grouping", "remedy_for_thousands"]
__all__ += ["say_about_digits", "say_about_points"]

_WORDS = {",": "commas", ".": "points", " ": "spaces", "'": "apostrophes"}
_HEAD = r"[+-]?[1-9]\d{0,2}"
_GROUPED = {sign: re.compile(rf"{_HEAD}({re.escape(sign)}\d{{3}})+") for sign in ",."}
# With a fraction, if it need be one: 1.234.567 may be a name.
_GROUPINGS = {
    ",": r"(,\d{3})+(\.\d+)?",
    ".": r"(\.\d{3})+,\d+",
    " ": rf"({separators(' ')}\d{{3}})+([.,]\d+)?",
    "'": rf"({separators(chr(39))}\d{{3}})+([.,]\d+)?",
}
_SMALL = re.compile(r"[+-]?\d{1,3}")
# So many digits of any whole number survive.
_DIGITS = 15
# So many numbers with exactly three decimals, beside others without any, are worth a remark.
_ENOUGH = 3


def grouping(cell: str) -> str | None:
    """Return what separates thousands in a cell, perhaps; None if it holds no such number.

    Examples
    --------
    >>> from neocc.io.readers._numerals import grouping
    >>> [grouping(one) for one in ("2,000", "1.234,5", "1 234", "1'000.5", "1.234", "1,23")]
    [',', '.', ' ', "'", None, None]
    """
    found = (sign for sign, rest in _GROUPINGS.items() if re.fullmatch(_HEAD + rest, cell))
    return next(found, None)


def remedy_for_thousands(cell: str, dialect: Dialect) -> str | None:
    """Say how a cell is read in which thousands are separated, perhaps."""
    sign = grouping(cell)
    if sign is None:
        return None
    remedy = f'If {_WORDS[sign]} separate thousands, pass thousands="{sign}"'
    points = {one for one in ",." if one in cell} - {sign, dialect.decimal}
    if points:
        return f'{remedy} and decimal="{points.pop()}".'
    if sign == "," and "." not in cell and dialect.delimiter != ",":
        return f'{remedy}; if they are decimal signs, decimal=",".'
    return f"{remedy}."


def ask_about_thousands(path: Path, found: Sequence[Record], dialect: Dialect) -> None:
    """Refuse decimal signs that may separate thousands, until an option says which.

    A point is decimal unless a zero follows it at the end, and yet not in numbers without one.
    """
    sign = dialect.decimal
    doubtful = _doubtful(found, dialect)
    if doubtful is None or (sign == "." and not doubtful.fills):
        return
    cell = doubtful.cell
    word = _WORDS[sign]
    raise FormatError(
        path,
        f"{cell!r} {doubtful.why}: {word} may be decimal signs, or separate thousands.",
        f'Pass thousands="{sign}" if it is {cell.replace(sign, "")}, decimal="{sign}" if it is '
        f"{cell.replace(sign, '.')}.",
        line=doubtful.line,
        column=str(doubtful.place + 1),
    )


def say_about_points(found: Sequence[Record], dialect: Dialect) -> list[str]:
    """Return a note on points that may separate thousands; mostly they are decimal."""
    doubtful = _doubtful(found, dialect) if dialect.decimal == "." else None
    if doubtful is None or doubtful.number < _ENOUGH:
        return []
    cell = doubtful.cell
    digits = cell.replace(".", "")
    return [f'Points are read as decimal signs; if {cell} is {digits}, pass thousands=".".']


def say_about_digits(cells: Sequence[Sequence[str]], labels: Sequence[str]) -> list[str]:
    """Return a note on whole numbers with more digits than can be kept."""
    for one, label in zip(cells, labels, strict=True):
        longest = max((cell.strip().lstrip("+-") for cell in one), key=len, default="")
        if longest.isdecimal() and len(longest) > _DIGITS:
            said = f"Column {label} holds whole numbers of {len(longest)} digits"
            return [f"{said}, of which {_DIGITS} are kept; if these are ids, they are no data."]
    return []


class _Doubtful(NamedTuple):
    """The first cell of a column that may be read in two ways."""

    cell: str
    line: int
    place: int
    why: str
    number: int  # how many have one
    fills: bool  # whether any of them ends in 0


def _doubtful(found: Sequence[Record], dialect: Dialect) -> _Doubtful | None:
    """Return a column all numbers of which that have the sign have three digits after it.

    None of them begins with 0, and others have no sign; or, where the sign also separates cells,
    no number of the file has fewer or more digits after it.
    """
    sign = dialect.decimal
    width = max(len(record.cells) for record in found)
    numbers = (cell.strip() for one in found for cell in one.cells if sign in cell)
    numbers = (cell for cell in numbers if is_number(cell, sign))
    quoted = sign == dialect.delimiter and all(_GROUPED[sign].fullmatch(one) for one in numbers)
    for place in range(width):
        cells = [(one.line, one.cells[place].strip()) for one in found if place < len(one.cells)]
        signed = [(line, cell) for line, cell in cells if sign in cell and is_number(cell, sign)]
        if not signed or not all(_GROUPED[sign].fullmatch(cell) for _, cell in signed):
            continue
        plain = next((cell for _, cell in cells if _SMALL.fullmatch(cell)), None)
        if plain is not None or quoted:
            line, first = next((one for one in signed if one[1].endswith("0")), signed[0])
            fills = first.endswith("0")
            why = "is within quotes" if plain is None else f"stands in one column with {plain!r}"
            return _Doubtful(first, line, place, why, len(signed), fills)
    return None
