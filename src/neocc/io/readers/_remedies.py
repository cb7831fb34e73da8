"""What to do about a cell that holds something else than a number."""

from __future__ import annotations

from neocc.io.readers._numerals import remedy_for_thousands
from neocc.io.readers._plan import Plan
from neocc.io.readers._text import is_number

__all__ = ["if_triplets", "is_typeset", "remedy_for_number", "remedy_for_text"]

_MOST_COLUMNS_OF_TRIPLETS = 6
_MINUS = "\N{MINUS SIGN}"


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
    if cell.strip().endswith("%") and is_number(cell.strip()[:-1], plan.dialect.decimal):
        return "Write it as a plain number, without %."
    if is_typeset(cell, plan.dialect.decimal):
        return f"Write minus signs as '-', not as {_MINUS!r}."
    if plan.dialect.decimal == "." and is_number(cell, ","):
        commas = 'If commas are decimal signs, pass decimal=",".'
    else:
        commas = None
    return remedy_for_thousands(cell.strip(), plan.dialect) or commas
