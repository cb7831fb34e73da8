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
    DuplicateEntryError,
    FormatError,
    MissingValueError,
    ReadError,
    ValueInCellError,
)
from neocc.io._options import Missing
from neocc.io._source import Source
from neocc.io.readers._contents import MISSING_REMEDY
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

__all__ = ["duplicate_error", "find_duplicate", "find_entry", "find_fault"]

_MOST_COLUMNS_OF_TRIPLETS = 6
# So many cells after a fault are looked at for more of its kind; so many columns are shown.
_MOST_CELLS, _MOST_TOLD = 2_000_000, 5
_MISSING_TOO = 'pass missing="zero" to read such cells as 0, or missing="ignore" to leave them out'


def find_fault(source: Source, plan: Plan, missing: Missing, reason: str) -> ReadError:
    """Return the error for the first bad record; `reason` is the parser's, if there is none.

    In a table, the columns that have text or missing values after that are told of, too.
    """
    data = _data(source, plan)
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


def find_duplicate(source: Source, plan: Plan, row: str, column: str) -> ReadError:
    """Return the error for an entry of triplets that occurs more than once."""
    lines = []
    for record in _data(source, plan):
        if [record.cells[place].strip() for place in plan.ids] == [row, column]:
            lines.append(record.line)
            if len(lines) == 2:
                break
    fault = duplicate_error(source, row, column, *lines)
    if not plan.guessed:
        return fault
    told = f'If the file is a table, pass layout="table". {fault.remedy}'
    return _like(fault, f"{fault.problem} So these may not be triplets.", told)


def find_entry(
    source: Source, plan: Plan, row: int, column: int, shape: tuple[int, int]
) -> ReadError:
    """Return the error for an entry, by numbers from 1, that is twice there or outside."""
    lines = []
    for record in _data(source, plan):
        # In a symmetric matrix an entry stands for its mirror image too.
        if {int(record.cells[place]) for place in plan.integers} == {row, column}:
            lines.append(record.line)
            if len(lines) == 2:
                break
    if not (1 <= row <= shape[0] and 1 <= column <= shape[1]):
        return FormatError(
            source.path,
            f"Row {row}, column {column} lies outside of {shape[0]} rows and {shape[1]} columns.",
            "Correct the line, or the declared size.",
            line=lines[0] if lines else None,
        )
    return duplicate_error(source, str(row), str(column), *lines)


def duplicate_error(source: Source, row: str, column: str, *lines: int) -> ReadError:
    """Return the error for an entry that occurs more than once, with its lines where known."""
    first = f" (first on line {lines[0]})" if len(lines) == 2 else ""
    return DuplicateEntryError(
        source.path,
        f"Row {row!r}, column {column!r} is given twice{first}.",
        'Remove one, or pass duplicates="sum" or "mean".',
        line=lines[-1] if lines else None,
    )


def _data(source: Source, plan: Plan) -> Iterator[Record]:
    for record in records(source, plan.dialect):
        if record.line > plan.skip_lines and not _is_comment(record, plan):
            yield record


def _is_comment(record: Record, plan: Plan) -> bool:
    mark = plan.dialect.comment
    return bool(mark) and record.cells[0].startswith(mark)


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
    if is_missing(stripped):
        if missing != "error":
            return None
        kind, remedy = MissingValueError, MISSING_REMEDY
        problem = f"The cell has no value ({stripped!r})." if stripped else "The cell is blank."
        if cell and not stripped:
            problem = "The cell holds spaces only."
    elif stripped in plan.codes.get(place, ()):
        return None
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
    words, blank = _survey(plan, data)
    n_blank = sum(blank.values()) if missing == "error" else 0
    is_blank = isinstance(fault, MissingValueError)
    if is_blank and n_blank > 1 and not words:
        said = f"{fault.problem} {n_blank} cells {_in(blank, plan)} have no value."
        return _like(fault, said, fault.remedy)
    # Thousands that are separated are no text: the fault says how to read them.
    grouped = all(map(grouping, words.values()))
    if not words or (not is_blank and (grouped or (len(words) == 1 and not n_blank))):
        return fault
    told = [f"{plan.labels[p]}: {word[:20]!r}" for p, word in list(words.items())[:_MOST_TOLD]]
    dots = "; ..." if len(words) > _MOST_TOLD else ""
    said = f"{fault.problem} Of {len(plan.numbers)} columns, {len(words)} "
    said += f"{'holds' if len(words) == 1 else 'hold'} text ({'; '.join(told)}{dots})."
    remedy = f"Leave {'them' if len(words) > 1 else 'it'} out with {drop_option(plan, words)}"
    if len(words) == len(plan.numbers) > 1:  # then nothing would be left
        remedy = "If the line holds a title, units or a header again, delete it"
    elif not plan.ids:
        remedy += "; if one names the rows, pass row_names='...'"
    if n_blank:
        remedy += f". {n_blank} cells have no value; {_MISSING_TOO}"
    return _like(fault, said, f"{remedy}.")


def _survey(plan: Plan, data: Iterable[Record]) -> tuple[dict[int, str], dict[int, int]]:
    """Return the first text of each column that has any, and how many cells have no value."""
    words: dict[int, str] = {}
    blank: dict[int, int] = {}
    n_cells, numbers, decimal, code = 0, set(plan.numbers), plan.dialect.decimal, plan.codes.get
    with suppress(ReadError):  # a record that cannot be read: not what this is about
        for record in data:
            for place, cell in enumerate(map(str.strip, record.cells)):
                if place not in numbers:
                    continue
                if is_missing(cell):
                    blank[place] = blank.get(place, 0) + 1
                elif not (is_number(cell, decimal) or is_infinite(cell) or cell in code(place, ())):
                    words.setdefault(place, cell)
            n_cells += len(record.cells)
            if n_cells > _MOST_CELLS:
                break
    return words, blank


def drop_option(plan: Plan, places: Iterable[int]) -> str:
    """Return the option that leaves columns out."""
    return f"drop={list(dict.fromkeys(plan.name(place) for place in places))}"


def _in(places: Collection[int], plan: Plan) -> str:
    if len(places) == 1:
        return f"in column {plan.labels[next(iter(places))]}"
    return f"in {len(places)} of {len(plan.numbers)} columns"


def _like(fault: ReadError, problem: str, remedy: str) -> ReadError:
    return type(fault)(fault.path, problem, remedy, line=fault.line, column=fault.column)


def _remedy_for_text(plan: Plan, cell: str, place: int) -> str:
    others = [sign for sign in ",;\t| " if sign != plan.dialect.delimiter and sign in cell.strip()]
    if plan.width == 1 and others:
        return f"Is the delimiter {others[0]!r}? Then pass delimiter={others[0]!r}."
    if (remedy := remedy_for_thousands(cell.strip(), plan.dialect)) is not None:
        return remedy
    if plan.dialect.decimal == "." and is_number(cell, ","):
        return 'If commas are decimal signs, pass decimal=",".'
    if plan.layout == "triplets":
        return 'Correct it; if the file is a table and not triplets, pass layout="table".'
    remedy = f"Correct it, or leave the column out with {drop_option(plan, [place])}"
    if not plan.ids:
        remedy += f"; if it names the rows, pass {plan.as_row_names(place)}"
    if plan.width == 2:
        remedy += '. If a line is a row id and a column id, pass layout="pairs"'
    if 3 <= plan.width <= _MOST_COLUMNS_OF_TRIPLETS:
        remedy += (
            '. If a line is a row id, a column id and a value, pass layout="triplets", and '
            "columns=[...] unless these come first"
        )
    return f"{remedy}."
