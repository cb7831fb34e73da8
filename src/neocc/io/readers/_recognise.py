"""What a delimited file holds, inferred from its first lines.

The rules, each of which an option overrides:

* **Delimiter and decimal sign**: of comma, semicolon, tab and bar, the one that splits all lines
  into the same number of cells, at least two; among several, the one that leaves most numbers, and
  leaves no other of these signs in a cell of every line; then the one that the name of the file
  suggests. Where commas do not separate, they may be decimal.
* **Header**: the first line is one if it has text above a column that is mostly numbers; if its
  first cell is blank or one of `NAME_HEADINGS`; or if it is one cell shorter than all other lines
  (as R writes tables with row names). A line of one text and then numbers, above names, is one if
  the text is a word for what rows are, such as gene or country; if it is written otherwise than
  the names below it, five at least, which are all written alike (capitals, small letters,
  digits); or if its numbers rise in equal steps, four at least, or rise, six at least, and those
  of no other line do.
* **Triplets**: three columns whose headings say so (user, item, rating), with or without others
  after them. Else three columns, or four of which the last is a time (by its heading, or whole
  numbers of 10^8 and more), where the third holds numbers, and the first two hold text or
  whole numbers. But below a heading such as `name` there are names of rows, if there are numbers
  beside them; if nearly every line has a text of its own in the first column, and a number
  in the second, these are the names of the rows of a table; and whole numbers of which more than
  a tenth of the pairs occur again are cells of a table.
* **Row names** of a table: the first column if it is mostly text, or headed by one of
  `NAME_HEADINGS`, or without a heading.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from neocc.io._errors import FormatError
from neocc.io._options import Layout, ReadOptions
from neocc.io._source import Source
from neocc.io.readers._faults import not_text_error
from neocc.io.readers._headings import NAME_HEADINGS, Kind, has_header, kind_of, mean_triplets
from neocc.io.readers._plan import Plan, plan_table, plan_triplets
from neocc.io.readers._text import (
    Dialect,
    Record,
    is_foreign,
    is_missing,
    is_number,
    read_sample,
    sample_records,
)

__all__ = ["recognise", "recognise_lines", "recognise_records"]

_TIME_HEADINGS = ("timestamp", "time", "date", "datetime", "unix_time", "unixtime")
# Whole numbers from here on, in a fourth column without heading, are seconds since 1970.
_EARLIEST_TIME = 10**8
_DELIMITERS = (",", "\t", ";", "|")
# Headings of names; `id` and `row` may also be those of triplets.
_ROW_NAMES = tuple(heading for heading in NAME_HEADINGS if heading not in ("id", "row"))
# The share of names that may repeat in a table, and of pairs of ids that may in triplets.
_FEW = 0.1


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
        """Return the kind that most of a column's cells have."""
        return kind_of(self.column(place), self.dialect.decimal)

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
    return recognise_lines(source.path, lines, complete, options, preferred)


def recognise_lines(
    path: Path, lines: list[str], complete: bool, options: ReadOptions, preferred: str
) -> Plan:
    """Plan the reading of a file from its first lines; `complete` if these are all."""
    dialect = _choose_dialect(lines, complete, options, preferred)
    found = sample_records(lines, complete, dialect)
    if not found:
        raise FormatError(path, "The file has no lines with data.", "Was it written to the end?")
    with_header = has_header(found, dialect) if options.header is None else options.header
    header, data = (found[0], found[1:]) if with_header else (None, found)
    if not data:
        raise FormatError(
            path,
            "There is a header and nothing below it.",
            "Was the file written to the end? If the line holds data, pass header=False.",
            line=found[0].line,
        )
    return recognise_records(path, dialect, header, data, options)


def recognise_records(
    path: Path,
    dialect: Dialect,
    header: Record | None,
    data: list[Record],
    options: ReadOptions,
) -> Plan:
    """Plan the reading of a file whose headings, if any, are known, from some of its records."""
    sample = _Sample(dialect, header, data)
    _check_header(path, sample)
    layout = options.layout or ("triplets" if options.columns else _layout(sample, options))
    notes = _notes(sample, layout, options)
    skip_lines = 0 if header is None else header.last_line
    plan = Plan(dialect, layout, sample.width, skip_lines, sample.headings, notes=notes)
    if layout == "triplets":
        plan = plan_triplets(path, plan, options.columns)
        return plan if options.columns else replace(plan, notes=(*plan.notes, *_left_out(plan)))
    names: bool | str
    names = _has_row_names(sample) if options.row_names is None else options.row_names
    plan = plan_table(path, plan, names, options.drop)
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
    best, best_score = _dialect(candidates[0], decimals[0], options), -1.0
    for delimiter in candidates:
        for decimal in decimals:
            if decimal != delimiter:
                dialect = _dialect(delimiter, decimal, options)
                score = _score(sample_records(lines, complete, dialect), dialect)
                if score > best_score:
                    best, best_score = dialect, score
    return best


def _dialect(delimiter: str, decimal: str, options: ReadOptions) -> Dialect:
    # Columns that are separated by spaces are often aligned with several.
    squeeze = delimiter == " "
    return Dialect(delimiter, decimal, encoding=options.encoding, squeeze=squeeze)


def _score(found: Sequence[Record], dialect: Dialect) -> float:
    """How well a sample is split: 0 for single cells, up to a half for ragged lines, else more."""
    body = found[1:] or found
    widths = [len(record.cells) for record in body]
    if not widths or max(widths) < 2:
        return 0.0
    width = max(set(widths), key=widths.count)
    agree = widths.count(width) / len(widths)
    if width < 2 or agree < 1.0 or len(found[0].cells) not in (width, width - 1):
        return 0.5 * agree if width > 1 else 0.0
    cells = [cell for record in body for cell in record.cells]
    decimal = dialect.decimal
    numbers = sum(is_number(cell, decimal) or is_missing(cell) for cell in cells) / len(cells)
    # Split at its decimal commas, every line of `a;b;4,5` keeps its semicolons.
    others = [sign for sign in _DELIMITERS if sign != dialect.delimiter]
    kept = any(all(_holds(record, sign, decimal) for record in body) for sign in others)
    return (0.6 if kept else 1.0) + numbers


def _holds(record: Record, sign: str, decimal: str) -> bool:
    return any(sign in cell and not is_number(cell, decimal) for cell in record.cells)


def _check_header(path: Path, sample: _Sample) -> None:
    header = sample.header
    if header is None:
        return
    for place, cell in enumerate(header.cells):
        if is_foreign(cell):
            label = str(place + 1)
            raise not_text_error(path, sample.dialect.encoding, cell, header.line, label)
    if len(header.cells) not in (sample.width, sample.width - 1):
        raise FormatError(
            path,
            f"The header has {len(header.cells)} cells, the lines below it {sample.width}.",
            "Give every column a heading; if the line holds data, pass header=False.",
            line=header.line,
        )


def _layout(sample: _Sample, options: ReadOptions) -> Layout:
    """Distinguish triplets from a table; see the module's docstring."""
    headings = sample.headings
    if options.row_names or options.drop or _has_names_above_numbers(sample):
        return "table"
    if headings is not None and mean_triplets(headings) and sample.kind(2) != "text":
        return "triplets"
    if sample.width != 3 and not (sample.width == 4 and _is_time(sample, headings)):
        return "table"
    kinds = [sample.kind(place) for place in range(3)]
    if not {*kinds[:2]} <= {"text", "whole numbers"} or kinds[2] == "text":
        return "table"
    if kinds[1] == "text":
        return "triplets"  # No table has text in its second column.
    first = sample.column(0)
    if kinds[0] == "text":
        is_table = _repeated(first) < _FEW
    else:
        is_table = _repeated(list(zip(first, sample.column(1), strict=False))) > _FEW
    return "table" if is_table else "triplets"


def _has_names_above_numbers(sample: _Sample) -> bool:
    """Whether the first heading says that names of rows follow, and numbers stand beside them."""
    if sample.headings is None:
        return False
    first = sample.headings[0].lower()
    if first not in _ROW_NAMES:
        return False
    return not first or any(is_number(cell, sample.dialect.decimal) for cell in sample.column(1))


def _repeated(values: Sequence[object]) -> float:
    """Return the share of values that have occurred before."""
    return 1.0 - len(set(values)) / len(values)


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


def _left_out(plan: Plan) -> tuple[str, ...]:
    """Say which columns after the first three are not read."""
    labels = plan.labels[3:]
    return (f"Left out: column {', '.join(labels)}.",) if labels else ()


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
