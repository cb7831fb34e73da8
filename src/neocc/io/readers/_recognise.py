"""What a delimited file holds, told from its first lines.

The rules, each of which an option overrides:

* **Delimiter and decimal sign**: of comma, semicolon, tab and bar, the one that cuts all lines into
  the same number of cells, at least two; among several, the one that leaves most numbers; then
  the one that the name of the file suggests. Where commas do not separate, they may be decimal.
* **Header**: the first line is one if it has text above a column that is mostly numbers; if its
  first cell is blank or one of `NAME_HEADINGS`; or if it is one cell shorter than all other lines
  (as R writes tables with row names).
* **Triplets**: three columns, or four of which the last is a time (by its heading, or whole numbers
  of 10^8 and more), where the third holds numbers, the first two hold text or whole numbers,
  and no pair of these occurs twice. But text that never repeats in the first column, with
  numbers in the second, are the names of the rows of a table.
* **Row names** of a table: the first column if it is mostly text, or headed by one of
  `NAME_HEADINGS`, or without a heading.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from neocc.io._errors import FormatError
from neocc.io._options import Layout, ReadOptions
from neocc.io._source import Source
from neocc.io.readers._plan import Plan, plan_table, plan_triplets
from neocc.io.readers._text import (
    Dialect,
    Record,
    is_infinite,
    is_missing,
    is_number,
    read_sample,
    sample_records,
)

__all__ = ["NAME_HEADINGS", "recognise", "recognise_records"]

NAME_HEADINGS = ("", "id", "name", "names", "index", "row", "row_name", "row_names", "unnamed: 0")
"""Headings of a first column that holds names, in small letters."""

_TIME_HEADINGS = ("timestamp", "time", "date", "datetime", "unix_time", "unixtime")
# Whole numbers from here on, in a fourth column without heading, are seconds since 1970.
_EARLIEST_TIME = 10**8
_DELIMITERS = (",", "\t", ";", "|")

Kind = Literal["numbers", "whole numbers", "text", "nothing"]


@dataclass(frozen=True)
class _Sample:
    """The first records of a file: its heading, if it has one, and some of its data."""

    dialect: Dialect
    header: Record | None
    data: list[Record]

    @property
    def width(self) -> int:
        """The number of cells that most records have."""
        widths = [len(record.cells) for record in self.data]
        return max(set(widths), key=lambda width: (widths.count(width), width))

    def column(self, place: int) -> list[str]:
        """Cells of one column."""
        return [one.cells[place] for one in self.data if place < len(one.cells)]

    def kind(self, place: int) -> Kind:
        """Tell what most of a column's cells are."""
        return _kind(self.column(place), self.dialect.decimal)

    @property
    def headings(self) -> list[str] | None:
        """Headings of all columns, with a blank one where R leaves that of the row names out."""
        if self.header is None:
            return None
        cells = [cell.strip() for cell in self.header.cells]
        return ["", *cells] if len(cells) == self.width - 1 else cells


def recognise(source: Source, options: ReadOptions, preferred: str) -> Plan:
    """Plan the reading of a delimited file; `preferred` is the delimiter its name suggests."""
    lines, complete = read_sample(source, options.encoding)
    dialect = _choose_dialect(lines, complete, options, preferred)
    found = sample_records(lines, complete, dialect)
    if not found:
        raise FormatError(
            source.path, "The file has no lines with data.", "Was it written to the end?"
        )
    with_header = _has_header(found, dialect) if options.header is None else options.header
    header, data = (found[0], found[1:]) if with_header else (None, found)
    if not data:
        raise FormatError(
            source.path,
            "There is a header and nothing below it.",
            "Was the file written to the end? If the line holds data, pass header=False.",
            line=found[0].line,
        )
    return recognise_records(source, dialect, header, data, options)


def recognise_records(
    source: Source,
    dialect: Dialect,
    header: Record | None,
    data: list[Record],
    options: ReadOptions,
) -> Plan:
    """Plan the reading of a file whose headings, if any, are known, from some of its records."""
    sample = _Sample(dialect, header, data)
    _check_header(source, sample)
    layout = options.layout or ("triplets" if options.columns else _layout(sample, options))
    notes = _notes(sample, layout, options)
    skip_lines = 0 if header is None else header.last_line
    plan = Plan(dialect, layout, sample.width, skip_lines, sample.headings, notes=notes)
    if layout == "triplets":
        return plan_triplets(source.path, plan, options.columns)
    names: bool | str
    names = _has_row_names(sample) if options.row_names is None else options.row_names
    plan = plan_table(source.path, plan, names, options.drop)
    if plan.ids and options.row_names is None:
        note = f"Names of the rows: column {plan.labels[plan.ids[0]]}."
        plan = replace(plan, notes=(*plan.notes, note))
    return plan


def _choose_dialect(
    lines: list[str], complete: bool, options: ReadOptions, preferred: str
) -> Dialect:
    """Return the delimiter and decimal sign that make most sense of a sample."""
    candidates = [options.delimiter] if options.delimiter else [preferred, *_DELIMITERS]
    decimals = [options.decimal] if options.decimal else [".", ","]
    best, best_score = Dialect(candidates[0], decimals[0], encoding=options.encoding), -1.0
    for delimiter in candidates:
        for decimal in decimals:
            if decimal != delimiter:
                dialect = Dialect(delimiter, decimal, encoding=options.encoding)
                score = _score(sample_records(lines, complete, dialect), decimal)
                if score > best_score:
                    best, best_score = dialect, score
    return best


def _score(found: Sequence[Record], decimal: str) -> float:
    """How well a sample is cut: 0 for single cells, below 1 for ragged lines, else 1 to 2."""
    body = found[1:] or found
    widths = [len(record.cells) for record in body]
    if not widths or max(widths) < 2:
        return 0.0
    width = max(set(widths), key=widths.count)
    agree = widths.count(width) / len(widths)
    if width < 2 or agree < 1.0 or len(found[0].cells) not in (width, width - 1):
        return 0.5 * agree if width > 1 else 0.0
    cells = [cell for record in body for cell in record.cells]
    return 1.0 + sum(is_number(cell, decimal) or is_missing(cell) for cell in cells) / len(cells)


def _kind(cells: Sequence[str], decimal: str) -> Kind:
    present = [cell for cell in cells if not is_missing(cell.strip())]
    if not present:
        return "nothing"
    numbers = [cell for cell in present if is_number(cell, decimal) or is_infinite(cell)]
    if 2 * len(numbers) <= len(present):
        return "text"
    whole = all(cell.strip().lstrip("+-").isdigit() for cell in numbers)
    return "whole numbers" if whole else "numbers"


def _is_text(cell: str, decimal: str) -> bool:
    cell = cell.strip()
    return not is_missing(cell) and not is_number(cell, decimal)


def _has_header(found: Sequence[Record], dialect: Dialect) -> bool:
    first, rest = found[0].cells, found[1:]
    if not rest:
        return not any(is_number(cell, dialect.decimal) for cell in first)
    if all(len(record.cells) == len(first) + 1 for record in rest):
        return any(_is_text(cell, dialect.decimal) for cell in first)
    if len(first) > 1 and first[0].strip().lower() in NAME_HEADINGS:
        below = [record.cells[0].strip() for record in rest]
        if any(below):
            return True
    for place, cell in enumerate(first):
        if _is_text(cell, dialect.decimal):
            below = [record.cells[place] for record in rest if place < len(record.cells)]
            if _kind(below, dialect.decimal) in ("numbers", "whole numbers"):
                return True
    return False


def _check_header(source: Source, sample: _Sample) -> None:
    header = sample.header
    if header is None or len(header.cells) in (sample.width, sample.width - 1):
        return
    raise FormatError(
        source.path,
        f"The header has {len(header.cells)} cells, the lines below it {sample.width}.",
        "Give every column a heading; if the line holds data, pass header=False.",
        line=header.line,
    )


def _layout(sample: _Sample, options: ReadOptions) -> Layout:
    """Tell triplets from a table; see the module's docstring."""
    headings = sample.headings
    if options.row_names or options.drop or (headings is not None and headings[0] == ""):
        return "table"
    if sample.width != 3 and not (sample.width == 4 and _is_time(sample, headings)):
        return "table"
    kinds = [sample.kind(place) for place in range(3)]
    if not {*kinds[:2]} <= {"text", "whole numbers"} or kinds[2] == "text":
        return "table"
    first = sample.column(0)
    if kinds[0] == "text" and kinds[1] != "text" and len(set(first)) == len(first):
        return "table"
    pairs = list(zip(first, sample.column(1), strict=False))
    # Text in both columns cannot be a table. Numbers can, and those of a table repeat.
    if kinds[1] != "text" and len(set(pairs)) < len(pairs):
        return "table"
    return "triplets"


def _is_time(sample: _Sample, headings: list[str] | None) -> bool:
    if headings is not None:
        return headings[3].lower() in _TIME_HEADINGS
    times = sample.column(3)
    return sample.kind(3) == "whole numbers" and all(
        cell.strip().isdigit() and int(cell) >= _EARLIEST_TIME for cell in times
    )


def _has_row_names(sample: _Sample) -> bool:
    if sample.width < 2:
        return False
    headings = sample.headings
    if headings is not None and headings[0].lower() in NAME_HEADINGS:
        return True
    return sample.kind(0) == "text"


def _notes(sample: _Sample, layout: Layout, options: ReadOptions) -> tuple[str, ...]:
    """Say what was recognised rather than asked for, and how to ask for something else."""
    notes: list[str] = []
    if options.layout is None and not options.columns:
        other = "table" if layout == "triplets" else "triplets"
        text = "triplets (row, column, value)" if layout == "triplets" else "a table of numbers"
        notes.append(f'Read as {text}; layout="{other}" overrides this.')
    if options.delimiter is None and sample.width > 1:
        notes.append(f"Delimiter: {sample.dialect.delimiter!r}.")
    if options.decimal is None and sample.dialect.decimal != ".":
        notes.append(f"Decimal sign: {sample.dialect.decimal!r}.")
    if options.header is None:
        words = "no header" if sample.header is None else f"line {sample.header.last_line}"
        notes.append(f"Header: {words}.")
    return tuple(notes)
