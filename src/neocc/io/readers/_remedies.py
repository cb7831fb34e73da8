"""What to do about a cell that holds something else than a number."""

from __future__ import annotations

import re

from neocc.io.readers._numerals import grouping, remedy_for_thousands
from neocc.io.readers._plan import Plan
from neocc.io.readers._text import is_number

__all__ = ["if_triplets", "is_typeset", "remedy_for_number", "remedy_for_text"]

_MOST_COLUMNS_OF_TRIPLETS, _LONGEST = 6, 60
_MINUS = "\N{MINUS SIGN}"
_FORTRAN = re.compile(r"[+-]?\d+(\.\d*)?[dD][+-]?\d+")
# As in 1.234.567, and in 12,34,567 of India.
_GROUPS = re.compile(r"[+-]?\d{1,3}(\.\d{3}){2,}|[+-]?\d{1,2}(,\d{2})+,\d{3}")
# Signs before a number; signs, a unit, an error or a footnote behind it.
_AROUND = re.compile(
    r"(?P<before>([$€£¥₹~≈<>≤≥=*']|[A-Z]{3} |[A-Z]{2}\$)*\s?)"
    r"(?P<number>[+-]?\d([\d.,'\u2019\s]*\d|[.,])?([eE][+-]?\d+)?)"
    r"(?P<after>\s?[^\W\d_°%µ/²³]{0,8}[°%µ‰/²³]{0,2}[^\W\d_]{0,8}|\s?[$€£¥₹*†‡]{1,3}|\s+"
    r"|\s?(±|\+/-)\s?[\d.,]+|\s?\[\w{1,3}\]|\s?\(\w{1,3}\))"
)


def remedy_for_text(plan: Plan, cell: str, place: int) -> str:
    others = [sign for sign in ",;\t| " if sign != plan.dialect.delimiter and sign in cell.strip()]
    if plan.width == 1 and others:
        return f"Is the delimiter {others[0]!r}? Then pass delimiter={others[0]!r}."
    if (remedy := remedy_for_number(plan, cell)) is not None:
        return remedy
    if plan.layout == "triplets":
        return 'Correct it; if these are not triplets, pass layout="table" or layout="pairs".'
    remedy = f"orrect it, or leave the column out with {plan.drop_option([place])}"
    if not plan.ids:
        remedy += f"; if it names the rows, pass {plan.as_row_names(place)}"
    if plan.width == 2:
        return f'If a line is a row id and a column id, pass layout="pairs". Otherwise c{remedy}.'
    return f"C{remedy}{if_triplets(plan)}."


def if_triplets(plan: Plan) -> str:
    """Say how a table of few columns is read as a list, which it may be."""
    if not 3 <= plan.width <= _MOST_COLUMNS_OF_TRIPLETS:
        return ""
    said = '. If a line is a row id, a column id and a value, pass layout="triplets", and'
    return f"{said} columns=[...] unless these come first"


def is_typeset(cell: str, decimal: str) -> bool:
    """Whether a cell is a negative number with a minus sign of print."""
    return cell.strip().startswith(_MINUS) and is_number(cell.strip()[1:], decimal)


def remedy_for_number(plan: Plan, cell: str) -> str | None:
    """Say how a cell is read that holds a number written in another way."""
    cell, decimal = cell.strip(" \t"), plan.dialect.decimal
    if is_typeset(cell, decimal):
        return f"Write minus signs as '-', not as {_MINUS!r}."
    if (remedy := remedy_for_thousands(cell, plan.dialect)) is not None:
        return remedy
    if decimal == "." and is_number(cell, ","):
        return 'If commas are decimal signs, pass decimal=",".'
    if decimal == "," and is_number(cell):
        return f"Commas are decimal signs here: write it as {cell.replace('.', ',')!r}."
    return _how_to_write(cell, decimal)


def _how_to_write(cell: str, decimal: str) -> str | None:
    """Say how to write a number that has other signs, or something beside it."""
    negative = cell[1:-1] if cell[:1] + cell[-1:] == "()" else cell.removesuffix("-")
    if negative != cell and _is_written(negative, decimal):
        return f"Write negative numbers with a sign before them: {'-' + negative!r}."
    if _GROUPS.fullmatch(cell):
        return f"Write it without separators: {re.sub('[,.]', '', cell)!r}."
    if _FORTRAN.fullmatch(cell):
        return f"Write powers of ten with E: {re.sub('[dD]', 'E', cell)!r}."
    if (beside := _beside_number(cell, decimal)) is not None:
        return f"Write it as a plain number, without {beside}."
    return None


def _is_written(cell: str, decimal: str) -> bool:
    """Whether a cell is a number, perhaps with separated thousands or other decimal signs."""
    return is_number(cell, decimal) or is_number(cell, ",") or grouping(cell) is not None


def _beside_number(cell: str, decimal: str) -> str | None:
    """Return what stands around a number: a currency, a unit, a footnote; None if none does."""
    found = _AROUND.fullmatch(cell) if len(cell) <= _LONGEST else None
    if found is None or not _is_written(found["number"], decimal):
        return None
    before, after = found["before"], found["after"]
    is_code = len(after) == 1 and after.isalpha()  # 12A
    if is_code or not before + after:
        return None
    said = [one.strip(" ") if one.strip() else repr(one) for one in (before, after) if one]
    return " and ".join(said)
