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
* **Pairs**: two columns of text of which the first repeats; or two whose headings name what rows
  and columns are (user, item), text or whole numbers, if those in the first repeat; with or
  without a time or text after them.
* **Row names** of a table: see `_ids`.
* **Thousands**: where `2,000` stands in one column with `137`, and commas do not separate cells,
  nobody can say what is meant, and the file is refused until an option does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from neocc.io._errors import FormatError
from neocc.io._options import Layout, ReadOptions
from neocc.io._source import Source
from neocc.io.readers._dialects import choose_dialect
from neocc.io.readers._faults import not_text_error
from neocc.io.readers._headings import (
    NAME_HEADINGS,
    Kind,
    has_header,
    kind_of,
    mean_pairs,
    mean_triplets,
)
from neocc.io.readers._ids import plan_named
from neocc.io.readers._numerals import ask_about_commas, say_about_points
from neocc.io.readers._plan import Plan, plan_triplets
from neocc.io.readers._text import (
    Dialect,
    Record,
    is_foreign,
    is_number,
    read_sample,
    sample_records,
)

__all__ = ["recognise", "recognise_lines", "recognise_records"]

_TIME_HEADINGS = ("timestamp", "time", "date", "datetime", "unix_time", "unixtime")
# Whole numbers from here on, in a fourth column without heading, are seconds since 1970.
_EARLIEST_TIME = 10**8
# Headings of names; `id` and `row` may also be those of triplets.
_ROW_NAMES = tuple(heading for heading in NAME_HEADINGS if heading not in ("id", "row"))
# The share of names that may repeat in a table, and of pairs of ids that may in triplets.
_FEW = 0.1
# So many whole numbers that never repeat are no row ids of triplets.
_MANY = 10
_MOST_COLUMNS_OF_PAIRS = 4
_LAYOUTS = {
    "table": "a table of numbers",
    "triplets": "triplets (row, column, value)",
    "pairs": "pairs (row, column) of which each is a cell with 1",
}


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
    dialect = choose_dialect(lines, complete, options, preferred)
    found = sample_records(lines, complete, dialect)
    if not found:
        raise FormatError(path, "The file has no lines with data.", "Was it written to the end?")
    if options.decimal is None and options.thousands is None:
        ask_about_commas(path, found, dialect)
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
    layout = options.layout or _layout(sample, options)
    notes = _notes(sample, layout, options)
    skip_lines = 0 if header is None else header.last_line
    plan = Plan(dialect, layout, sample.width, skip_lines, sample.headings, notes=notes)
    if layout != "table":
        plan = plan_triplets(path, plan, options.columns)
        return plan if options.columns else replace(plan, notes=(*plan.notes, *_left_out(plan)))
    columns = [sample.column(place) for place in range(sample.width)]
    return plan_named(path, plan, columns, options)


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
    """Distinguish triplets and pairs from a table; see the module's docstring."""
    headings = sample.headings
    if options.columns:
        return "pairs" if len(options.columns) == 2 else "triplets"
    if options.row_names or options.drop or _has_names_above_numbers(sample):
        return "table"
    if headings is not None and mean_triplets(headings) and sample.kind(2) != "text":
        return "triplets"
    if _holds_pairs(sample):
        return "pairs"
    return "triplets" if _holds_triplets(sample) else "table"


def _holds_triplets(sample: _Sample) -> bool:
    if sample.width != 3 and not (sample.width == 4 and _is_time(sample, sample.headings)):
        return False
    kinds = [sample.kind(place) for place in range(3)]
    if not {*kinds[:2]} <= {"text", "whole numbers"} or kinds[2] == "text":
        return False
    if kinds[1] == "text":
        return True  # No table has text in its second column.
    first = sample.column(0)
    if kinds[0] == "text":
        return _repeated(first) >= _FEW
    # A matrix with a single entry in each row is none.
    has_own_row = len(first) >= _MANY and _repeated(first) == 0
    pairs = list(zip(first, sample.column(1), strict=False))
    return not has_own_row and _repeated(pairs) <= _FEW


def _holds_pairs(sample: _Sample) -> bool:
    headings = sample.headings
    if sample.width < 2 or {sample.kind(0), sample.kind(1)} - {"text", "whole numbers"}:
        return False
    repeats = _repeated(sample.column(0)) > _FEW
    if sample.width == 2 and repeats and sample.kind(0) == sample.kind(1) == "text":
        return True
    if headings is None or not mean_pairs(headings):
        return False
    if sample.width > 2 and (
        sample.width > _MOST_COLUMNS_OF_PAIRS
        or not all(_is_beside(sample, place) for place in range(2, sample.width))
    ):
        return False
    return repeats or sample.kind(1) == "text"


def _is_beside(sample: _Sample, place: int) -> bool:
    """Whether a column after two of ids says when, or something in words."""
    heading = "" if sample.headings is None else sample.headings[place].lower()
    return heading in _TIME_HEADINGS or sample.kind(place) == "text"


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


def _left_out(plan: Plan) -> tuple[str, ...]:
    """Say which columns after those of ids and values are not read."""
    labels = plan.labels[len(plan.ids) + len(plan.numbers) :]
    return (f"Left out: column {', '.join(labels)}.",) if labels else ()


def _notes(sample: _Sample, layout: Layout, options: ReadOptions) -> tuple[str, ...]:
    """Say what was recognised rather than asked for, and how to ask for something else."""
    notes: list[str] = []
    if options.layout is None and not options.columns:
        other = "triplets" if layout == "table" else "table"
        notes.append(f'Read as {_LAYOUTS[layout]}; layout="{other}" overrides this.')
    if options.delimiter is None and sample.width > 1:
        notes.append(f"Delimiter: {sample.dialect.delimiter!r}.")
    if options.decimal is None and sample.dialect.decimal != ".":
        notes.append(f"Decimal sign: {sample.dialect.decimal!r}.")
    if options.decimal is None and options.thousands is None:
        notes += say_about_points(sample.data, sample.dialect)
    if options.header is None:
        words = "no header" if sample.header is None else f"line {sample.header.last_line}"
        notes.append(f"Header: {words}.")
    return tuple(notes)
