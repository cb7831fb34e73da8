"""The line and column of what is wrong with a delimited file.

The fast parser says that a file is bad, not where. When it does, the file is read again, record by
record, up to the first fault.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from itertools import chain

from neocc.io._errors import (
    FormatError,
    MissingValueError,
    ReadError,
    ValueInCellError,
)
from neocc.io._options import Missing
from neocc.io._source import Source
from neocc.io.readers._contents import MISSING_REMEDY, TITLE_REMEDY
from neocc.io.readers._headings import kind_of
from neocc.io.readers._numerals import grouping, remedy_for_thousands
from neocc.io.readers._plan import Plan
from neocc.io.readers._text import (
    TRUTH,
    Record,
    is_foreign,
    is_infinite,
    is_missing,
    is_number,
    not_text_error,
    records,
)

__all__ = ["data_records", "drop_option", "find_fault", "like"]

_MOST_COLUMNS_OF_TRIPLETS = 6
# So many cells after a fault are looked at for more of its kind; so many columns are shown.
_MOST_CELLS, _MOST_TOLD = 2_000_000, 5
_MINUS = "\N{MINUS SIGN}"
_MISSING_TOO = 'pass missing="zero" to read such cells as 0, or missing="ignore" to leave them out'


def find_fault(source: Source, plan: Plan, missing: Missing, reason: str) -> ReadError:
    """Return the error for the first bad record; `reason` is the parser's, if there is none.

    In a table, the columns that have text or missing values after that are told of, too.
    """
    data = data_records(source, plan)
    for record in data:
        fault = _fault_in(source, plan, record, missing)
        if fault is None:
            continue
        if plan.layout == "table" and isinstance(fault, ValueInCellError) and not plan.integers:
            return _bad_columns(fault, plan, missing, chain([record], data))
        return fault
    return FormatError(
        source.path,
        f"The file cannot be read as {plan.layout} ({reason.splitlines()[0].rstrip('.')}).",
        "Check the delimiter and the quotation marks.",
    )


def data_records(source: Source, plan: Plan) -> Iterator[Record]:
    """Go through the records below the header; comments and blank lines are left out."""
    for record in records(source, plan.dialect):
        if record.line > plan.skip_lines and not _is_skipped(record, plan):
            yield record


def _is_skipped(record: Record, plan: Plan) -> bool:
    """Whether a line is a comment, or has neither a name nor values where rows have names."""
    mark, cells = plan.dialect.comment, record.cells
    is_blank = plan.ids and len(cells) == plan.width and not any(cells)
    return bool(is_blank or (mark and cells[0].startswith(mark)))


def _fault_in(source: Source, plan: Plan, record: Record, missing: Missing) -> ReadError | None:
    if len(record.cells) != plan.width or any(record.cells[place] for place in plan.blank):
        return _ragged(source, plan, record)
    for place, cell in enumerate(record.cells):
        fault = None
        if is_foreign(cell):
            where = (record.line, plan.labels[place])
            fault = not_text_error(source.path, plan.dialect.encoding, cell, *where)
        elif place in plan.integers:
            fault = _not_whole(source, plan, record, place)
        elif place in plan.numbers:
            fault = _not_a_number(source, plan, record, place, missing)
        elif place in plan.ids and plan.layout != "table" and not cell.strip():
            fault = MissingValueError(
                source.path,
                "The name of a row or column is blank.",
                "Fill it in or delete the line.",
                line=record.line,
                column=plan.labels[place],
            )
        if fault is not None:
            return fault
    return None


def _ragged(source: Source, plan: Plan, record: Record) -> ReadError:
    if plan.form:
        return FormatError(
            source.path,
            f"The line is not of the form {plan.form}.",
            'Correct it; if the whole file has another form, pass format="csv".',
            line=record.line,
        )
    n_cells = len(record.cells)
    if n_cells == plan.width:
        place = next(place for place in plan.blank if record.cells[place])
        problem = f"{record.cells[place][:40]!r} stands in a column without heading, blank above."
        remedy = "Give the column a heading, or delete the cell."
        line, column = record.line, plan.labels[place]
        return FormatError(source.path, problem, remedy, line=line, column=column)
    remedy = "Complete the line, or name the delimiter if it is not "
    remedy += f"{plan.dialect.delimiter!r}."
    if n_cells < plan.width - 1 and kind_of(record.cells, ".") == "text":
        words = TITLE_REMEDY if record.line == 1 else "If it is a note, delete it."
        remedy = f"{words} Otherwise {remedy[0].lower()}{remedy[1:]}"
    if record.last_line > record.line:
        remedy += " Is a quotation mark never closed?"
    return FormatError(
        source.path,
        f"The line has {n_cells} {'cell' if n_cells == 1 else 'cells'}, others have {plan.width}.",
        remedy,
        line=record.line,
    )


def _not_whole(source: Source, plan: Plan, record: Record, place: int) -> ReadError | None:
    cell = record.cells[place]
    if cell.lstrip("-").isdigit() and len(cell) < 19:
        return None
    return ValueInCellError(
        source.path,
        f"{cell[:40]!r} is not a whole number.",
        "Rows and columns are numbered from 1.",
        line=record.line,
        column=plan.labels[place],
    )


def _not_a_number(
    source: Source, plan: Plan, record: Record, place: int, missing: Missing
) -> ReadError | None:
    cell, decimal = record.cells[place], plan.dialect.decimal
    stripped = cell.strip()
    kind: type[ReadError] = ValueInCellError
    if stripped in plan.codes.get(place, ()):
        return None
    if is_missing(stripped):
        if missing != "error":
            return None
        kind, remedy = MissingValueError, MISSING_REMEDY
        problem = f"The cell has no value ({stripped!r})." if stripped else "The cell is blank."
        if cell and not stripped:
            problem = "The cell holds spaces only."
    elif plan.codes.get(place) is TRUTH:
        problem = f"{cell[:40]!r} is neither true nor false, as others of the column are."
        remedy = f"Correct it, or leave the column out with {drop_option(plan, [place])}."
    elif is_number(cell, decimal):
        if math.isfinite(float(stripped.replace(decimal, "."))):
            return None
        problem, remedy = f"{stripped} is too large.", "Rescale the data."
    elif is_infinite(cell):
        problem, remedy = f"{stripped} is infinite.", "Replace it by a finite number."
    else:
        problem, remedy = f"{cell[:40]!r} is not a number.", _remedy_for_text(plan, cell, place)
    return kind(source.path, problem, remedy, line=record.line, column=plan.labels[place])


def _bad_columns(
    fault: ReadError, plan: Plan, missing: Missing, data: Iterator[Record]
) -> ReadError:
    """Say of a fault in one column which others have text, or no values, and how to drop them."""
    words, blank, only_text = _survey(plan, data)
    n_blank = sum(blank.values()) if missing == "error" else 0
    is_blank = isinstance(fault, MissingValueError)
    if is_blank and n_blank > 1 and not words:
        said = f"{fault.problem} {n_blank} cells {_in(blank, plan)} have no value."
        return like(fault, said, fault.remedy)
    # Thousands that are separated, and the like, are no text: the fault says how to read them.
    grouped = all(grouping(word) or _typeset(word, plan.dialect.decimal) for word in words.values())
    if not words or (not is_blank and (grouped or (len(words) == 1 and not n_blank))):
        return fault
    if only_text:
        said = f"No column holds numbers, but text such as {only_text[:40]!r}."
        plain = "Write the values as plain numbers, without words and signs such as %, and "
        plain += "categories as columns of 0 and 1."
        remedy = _remedy_for_number(plan, only_text) or plain
        if fault.line == 1:  # it may well be a header, which is not at fault
            return type(fault)(fault.path, said, remedy)
        return like(fault, f"{fault.problem} {said}", remedy)
    told = [f"{plan.labels[p]}: {word[:20]!r}" for p, word in list(words.items())[:_MOST_TOLD]]
    dots = "; ..." if len(words) > _MOST_TOLD else ""
    columns = "1 column" if len(plan.numbers) == 1 else f"{len(plan.numbers)} columns"
    said = f"{fault.problem} Of {columns}, {len(words)} "
    said += f"{'holds' if len(words) == 1 else 'hold'} text ({'; '.join(told)}{dots})."
    remedy = f"Leave {'them' if len(words) > 1 else 'it'} out with {drop_option(plan, words)}"
    if len(words) == len(plan.numbers) > 1:  # then nothing would be left
        remedy = "If the line holds a title, units or a header again, delete it"
    elif not plan.ids:
        remedy += f"; if one names the rows, pass row_names='...'{_if_triplets(plan)}"
    if n_blank:
        have = "cell has" if n_blank == 1 else "cells have"
        remedy += f". {n_blank} {have} no value; {_MISSING_TOO}"
    return like(fault, said, f"{remedy}.")


def _survey(plan: Plan, data: Iterable[Record]) -> tuple[dict[int, str], dict[int, int], str]:
    """Return the first text of each column that has any, and how many cells have no value.

    Third is a text from below the first line, if most lines hold some in every column.
    """
    words: dict[int, str] = {}
    blank: dict[int, int] = {}
    only_text, n_lines, n_of_text = "", 0, 0
    n_cells, numbers, decimal, code = 0, set(plan.numbers), plan.dialect.decimal, plan.codes.get
    with suppress(ReadError):  # a record that cannot be read: not what this is about
        for record in data:
            texts = []
            for place, cell in enumerate(map(str.strip, record.cells)):
                if place not in numbers or cell in code(place, ()):
                    continue
                if is_missing(cell):
                    blank[place] = blank.get(place, 0) + 1
                elif not (is_number(cell, decimal) or is_infinite(cell)):
                    words.setdefault(place, cell)
                    texts.append(cell)
            n_lines += 1
            if len(texts) == len(numbers) > 1:
                n_of_text += 1
                only_text = texts[0]
            n_cells += len(record.cells)
            if n_cells > _MOST_CELLS:
                break
    return words, blank, only_text if n_of_text > max(1, n_lines / 2) else ""


def drop_option(plan: Plan, places: Iterable[int]) -> str:
    """Return the option that leaves columns out."""
    return f"drop={list(dict.fromkeys(plan.name(place) for place in places))}"


def _in(places: Collection[int], plan: Plan) -> str:
    if len(places) == 1:
        return f"in column {plan.labels[next(iter(places))]}"
    return f"in {len(places)} of {len(plan.numbers)} columns"


def like(fault: ReadError, problem: str, remedy: str) -> ReadError:
    """Return an error in the same place with other words."""
    return type(fault)(fault.path, problem, remedy, line=fault.line, column=fault.column)


def _remedy_for_text(plan: Plan, cell: str, place: int) -> str:
    others = [sign for sign in ",;\t| " if sign != plan.dialect.delimiter and sign in cell.strip()]
    if plan.width == 1 and others:
        return f"Is the delimiter {others[0]!r}? Then pass delimiter={others[0]!r}."
    if (remedy := _remedy_for_number(plan, cell)) is not None:
        return remedy
    if plan.layout == "triplets":
        return 'Correct it; if these are not triplets, pass layout="table" or layout="pairs".'
    remedy = f"orrect it, or leave the column out with {drop_option(plan, [place])}"
    if not plan.ids:
        remedy += f"; if it names the rows, pass {plan.as_row_names(place)}"
    if plan.width == 2:
        return f'If a line is a row id and a column id, pass layout="pairs". Otherwise c{remedy}.'
    return f"C{remedy}{_if_triplets(plan)}."


def _if_triplets(plan: Plan) -> str:
    """Say how a table of few columns is read as a list, which it may be."""
    if not 3 <= plan.width <= _MOST_COLUMNS_OF_TRIPLETS:
        return ""
    said = '. If a line is a row id, a column id and a value, pass layout="triplets", and'
    return f"{said} columns=[...] unless these come first"


def _typeset(cell: str, decimal: str) -> bool:
    """Whether a cell is a negative number with a minus sign of print."""
    return cell.strip().startswith(_MINUS) and is_number(cell.strip()[1:], decimal)


def _remedy_for_number(plan: Plan, cell: str) -> str | None:
    """Say how a cell is read that holds a number written in another way."""
    if cell.strip().endswith("%") and is_number(cell.strip()[:-1], plan.dialect.decimal):
        return "Write it as a plain number, without %."
    if _typeset(cell, plan.dialect.decimal):
        return f"Write minus signs as '-', not as {_MINUS!r}."
    if plan.dialect.decimal == "." and is_number(cell, ","):
        commas = 'If commas are decimal signs, pass decimal=",".'
    else:
        commas = None
    return remedy_for_thousands(cell.strip(), plan.dialect) or commas
