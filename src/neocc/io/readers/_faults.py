"""The line and column of what is wrong with a delimited file.

The fast parser says that a file is bad, not where. When it does, the file is read again, record by
record, up to the first fault.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import chain

from neocc.io._errors import (
    FormatError,
    MissingValueError,
    ReadError,
    ValueInCellError,
    like,
)
from neocc.io._options import Missing
from neocc.io._source import Source
from neocc.io.readers._contents import MISSING_REMEDY, TITLE_REMEDY
from neocc.io.readers._headings import kind_of
from neocc.io.readers._plan import Plan
from neocc.io.readers._remedies import remedy_for_text
from neocc.io.readers._survey import bad_columns
from neocc.io.readers._text import (
    Record,
    is_foreign,
    is_infinite,
    is_missing,
    is_number,
    not_text_error,
    records,
)
from neocc.io.readers._totals import says_summary
from neocc.io.readers._truths import neither

__all__ = ["data_records", "find_fault"]


def find_fault(source: Source, plan: Plan, missing: Missing, reason: str) -> ReadError:
    """Return the error for the first bad record; `reason` is the parser's, if there is none.

    In a table, the columns that have text or missing values after that are told of, too.
    """
    data = data_records(source, plan)
    for record in data:
        fault = _fault_in(source, plan, record, missing)
        if fault is None:
            continue
        if isinstance(fault, MissingValueError) and _is_note(plan, record):
            aside = "If the line is a note or sums up others, delete it. Otherwise f"
            fault = like(fault, fault.problem, aside + fault.remedy[1:])
        if plan.layout == "table" and isinstance(fault, ValueInCellError) and not plan.integers:
            return bad_columns(fault, plan, missing, chain([record], data))
        return fault
    return FormatError(
        source.path,
        f"The file cannot be read as {plan.layout} ({reason.splitlines()[0].rstrip('.')}).",
        "Check the delimiter and the quotation marks.",
    )


def _is_note(plan: Plan, record: Record) -> bool:
    """Whether a line of a table has a name and no values, or one that says that it is a total."""
    if plan.layout != "table" or not plan.ids:
        return False
    values = (record.cells[place].strip() for place in plan.numbers)
    return says_summary([record.cells[place] for place in plan.ids]) or all(map(is_missing, values))


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
    elif (said := neither(cell, plan.codes.get(place))) is not None:
        problem = said
        remedy = f"Correct it, or leave the column out with {plan.drop_option([place])}."
    elif is_number(cell, decimal):
        if math.isfinite(float(stripped.replace(decimal, "."))):
            return None
        problem, remedy = f"{stripped} is too large.", "Rescale the data."
    elif is_infinite(cell):
        problem, remedy = f"{stripped} is infinite.", "Replace it by a finite number."
    else:
        problem, remedy = f"{cell[:40]!r} is not a number.", remedy_for_text(plan, cell, place)
    return kind(source.path, problem, remedy, line=record.line, column=plan.labels[place])
