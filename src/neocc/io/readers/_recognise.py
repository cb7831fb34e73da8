"""What a delimited file holds, inferred from its first lines.

The rules, each of which an option overrides:

* **Delimiter and decimal sign**: of comma, semicolon, tab and bar, the one that splits all lines
  into the same number of cells, at least two; among several, the one that leaves most numbers, and
  leaves no other of these signs in a cell of every line; then the one that the name of the file
  suggests. Commas may be decimal where they do not separate, and within quotes also where they do:
  then no number has a point, and columns with such numbers hold nothing else. Where none of these
  separates anything, and blanks do and leave numbers, these are it.
* **Comments**: lines at the beginning that begin with #, if they have another number of cells. A
  first line such as `sep=;` says what the delimiter is.
* **Blank end**: below a header, last columns without headings and values are left out.
* **Header**: the first line is one if it has text above a column that is mostly numbers; if its
  first cell is blank or one of `NAME_HEADINGS`; or if it is one cell shorter than all other lines
  (as R writes tables with row names). A line of one text and then numbers, above names, is one if
  the text is a word for what rows are, such as gene or country; if it is written otherwise than
  the names below it, five at least, which are all written alike (capitals, small letters,
  digits); or if its numbers rise in equal steps, four at least, or rise, six at least, and those
  of no other line do.
* **Triplets**: three columns whose headings say so (user, item, rating), with or without others
  after them; anywhere, if all others say when (date), or hold the number of the line. Else three
  columns, or four of which the last is a time (by its heading, or whole numbers of 10^8 and more),
  where the third holds numbers, and the first two hold text or whole numbers. But below a heading
  such as `name` there are names of rows, if there are numbers beside them; if nearly every line has
  a text of its own in the first column, and a number in the second, these are the names of the rows
  of a table; and whole numbers of which more than a tenth of the pairs occur again are cells of a
  table, and so are whole numbers that never repeat in the first column, or that are in no order
  below headings that are words for other things than ids. Numbers with signs, such as 12% and 3,5,
  in the second column are no ids. Where nothing but this says that whole numbers are ids, a cell
  that is given twice is refused: the file may be a table.
* **Pairs**: two columns of text of which the first repeats; or two whose headings name what rows
  and columns are (user, item), text or whole numbers, if those in the first repeat; with or
  without a time or text after them. Two columns alone, numbers that repeat and text, are pairs
  below headings such as Transaction or Member_number, and Product or itemDescription, too.
  Without a header, two columns of whole numbers from 0 on are pairs, ten at least, if lines with
  the same first number stand together and hardly any line occurs twice.
* **Words for 1 and 0**: columns of the words of one pair, such as yes and no; see `_truths`.
* **Row names** of a table: see `_ids`.
* **Totals**: columns and rows that sum up all others are left out; see `_totals`.
* **Thousands**: where `2,000` stands in one column with `137`, nobody can say what is meant, and
  the file is refused until an option does. So is a file of quoted numbers that all have three
  digits after the comma, and `1.100` beside `137`: who writes a decimal 0 at the end writes
  `137.000`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from neocc._typing import FloatArray
from neocc.io._errors import FormatError
from neocc.io._options import Layout, ReadOptions
from neocc.io._source import Source
from neocc.io.readers._contents import TITLE_REMEDY
from neocc.io.readers._dialects import choose_dialect
from neocc.io.readers._headings import has_header
from neocc.io.readers._ids import plan_named
from neocc.io.readers._layouts import Sample, choose_layout, list_places, may_be_pairs
from neocc.io.readers._numerals import ask_about_thousands, say_about_digits, say_about_points
from neocc.io.readers._plan import Plan, plan_triplets
from neocc.io.readers._text import (
    Dialect,
    Record,
    is_foreign,
    is_number,
    not_text_error,
    read_sample,
    sample_records,
)
from neocc.io.readers._totals import says_summary, without_summary_columns
from neocc.io.readers._truths import find_truths, told

__all__ = ["recognise", "recognise_lines", "recognise_records"]

# What spreadsheets write, and expect, before the table.
_DECLARED = re.compile(r'"?sep=([,;|\t])"?')
_N_COLUMNS = {"pairs": 2, "triplets": 3}
_LAYOUTS = {
    "table": "a table of numbers",
    "triplets": "triplets (row, column, value)",
    "pairs": "pairs (row, column) of which each is a cell with 1",
}


def recognise(source: Source, options: ReadOptions, preferred: str) -> Plan:
    """Plan the reading of a delimited file; `preferred` is the delimiter its name suggests."""
    lines, complete = read_sample(source, options.encoding)
    return recognise_lines(source.path, lines, complete, options, preferred)


def recognise_lines(
    path: Path, lines: list[str], complete: bool, options: ReadOptions, preferred: str
) -> Plan:
    """Plan the reading of a file from its first lines; `complete` if these are all."""
    n_comments = next((at for at, one in enumerate(lines) if not one.startswith("#")), 0)
    declared = _DECLARED.fullmatch(lines[0].rstrip("\r\n")) if len(lines) > 1 else None
    if declared is not None:
        n_comments, options = 1, replace(options, delimiter=options.delimiter or declared[1])
    dialect = choose_dialect(path, lines[n_comments:], complete, options, preferred)
    found = sample_records(lines, complete, dialect)
    if declared or (n_comments and len(found) > 1 and len(found[0].cells) != len(found[-1].cells)):
        blank = ["\n"] * n_comments
        found = sample_records(blank + lines[n_comments:], complete, dialect)
    else:
        n_comments = 0
    if not found:
        raise FormatError(path, "The file has no lines with data.", "Was it written completely?")
    if options.decimal is None and options.thousands is None:
        ask_about_thousands(path, found, dialect)
    with_header = has_header(found, dialect) if options.header is None else options.header
    header, data = (found[0], found[1:]) if with_header else (None, found)
    if not data:
        raise FormatError(
            path,
            "There is a header and nothing below it.",
            "Was the file written completely? If the line holds data, pass header=False.",
            line=found[0].line,
        )
    sample = Sample(dialect, header, data)
    plan = recognise_records(path, dialect, *sample.without_end, options, complete=complete)
    if sample.n_blank_end:
        plan = _with_blank_end(plan, sample.n_blank_end)
    if n_comments:
        lead = f"{n_comments} lines at the beginning that begin with '#'."
        if n_comments == 1:
            lead = "a line at the beginning that begins with '#'."
        note = f"Left out: {lead if declared is None else f'line 1, {declared[0]!r}.'}"
        plan = replace(plan, skip_lines=max(plan.skip_lines, n_comments), notes=(*plan.notes, note))
    return plan


def recognise_records(
    path: Path,
    dialect: Dialect,
    header: Record | None,
    data: list[Record],
    options: ReadOptions,
    *,
    complete: bool = True,
) -> Plan:
    """Plan the reading of a file whose headings, if any, are known, from some records, or all."""
    sample = Sample(dialect, header, data)
    _check_header(path, sample)
    layout = options.layout or choose_layout(sample, options)
    notes = _notes(sample, layout, options)
    skip_lines = 0 if header is None else header.last_line
    plan = Plan(dialect, layout, sample.width, skip_lines, sample.headings, notes=notes)
    if layout == "table":
        plan = plan_named(path, plan, sample.column, options)
    else:
        places = list_places(sample)
        columns = options.columns
        if columns is None and places is not None and len(places) == _N_COLUMNS[layout]:
            columns = tuple(place + 1 for place in places)
        plan = plan_triplets(path, plan, columns)
        if options.columns is None:
            said = options.layout is not None or places is not None
            guessed = not said and sample.kind(0) == sample.kind(1) == "whole numbers"
            plan = replace(plan, guessed=guessed, notes=(*plan.notes, *_left_out(plan)))
    plan = _with_truths(plan, sample)
    cells, labels = [sample.column(place) for place in plan.numbers], plan.labels
    digits = say_about_digits(cells, [labels[place] for place in plan.numbers])
    plan = replace(plan, notes=(*plan.notes, *digits))
    if layout != "table":
        return plan
    return without_summary_columns(plan, _values(plan, sample), options, complete=complete)


def _values(plan: Plan, sample: Sample) -> FloatArray:
    """Return the numbers of lines of a sample that sum up no others; NaN where there is none."""
    whole = [one.cells for one in sample.data if len(one.cells) == plan.width]
    whole = [one for one in whole if not says_summary([one[place] for place in plan.ids])]
    decimal = plan.dialect.decimal

    def value(cell: str, codes: Mapping[str, float]) -> float:
        if is_number(cell, decimal):
            return float(cell.replace(decimal, "."))
        return codes.get(cell, np.nan)

    codes = [(place, plan.codes.get(place, {})) for place in plan.numbers]
    lines = [[value(cells[place].strip(), known) for place, known in codes] for cells in whole]
    return np.array(lines).reshape(len(lines), len(plan.numbers))


def _with_blank_end(plan: Plan, n: int) -> Plan:
    """Add last columns that must stay blank: every line ends in a delimiter, or in several."""
    headings = None if plan.headings is None else [*plan.headings, *[""] * n]
    blank = tuple(range(plan.width, plan.width + n))
    note = f"Left out: column {plan.width + 1}, which has neither a heading nor values."
    if n > 1:
        note = f"Left out: columns {plan.width + 1} to {plan.width + n}, which have neither "
        note += "headings nor values."
    notes = (*plan.notes, note)
    return replace(plan, width=plan.width + n, headings=headings, blank=blank, notes=notes)


def _with_truths(plan: Plan, sample: Sample) -> Plan:
    """Read words for yes and no as 1 and 0; a cell among them that says else is refused."""
    found = {place: find_truths(sample.column(place), least=0.5) for place in plan.numbers}
    codes = {place: known for place, known in found.items() if known is not None}
    return replace(plan, codes=codes, notes=(*plan.notes, *told(plan, codes)))


def _check_header(path: Path, sample: Sample) -> None:
    header = sample.header
    if header is None:
        return
    for place, cell in enumerate(header.cells):
        if is_foreign(cell):
            label = str(place + 1)
            raise not_text_error(path, sample.dialect.encoding, cell, header.line, label)
    n_cells = len(header.cells)
    if n_cells not in (sample.width, sample.width - 1):
        remedy = "Give every column a heading; if the line holds data, pass header=False."
        if n_cells < sample.width and header.line == 1:
            remedy = f"{TITLE_REMEDY} Otherwise g{remedy[1:]}"
        raise FormatError(
            path,
            f"The header has {n_cells} {'cell' if n_cells == 1 else 'cells'}, the lines below it "
            f"{sample.width}.",
            remedy,
            line=header.line,
        )


def _left_out(plan: Plan) -> tuple[str, ...]:
    """Say which columns beside those of ids and values are not read."""
    used = (*plan.ids, *plan.numbers)
    labels = [label for place, label in enumerate(plan.labels) if place not in used]
    return (f"Left out: column {', '.join(labels)}.",) if labels else ()


def _notes(sample: Sample, layout: Layout, options: ReadOptions) -> tuple[str, ...]:
    """Say what was recognised rather than asked for, and how to ask for something else."""
    notes: list[str] = []
    if options.layout is None and not options.columns:
        other = "table"
        if layout == other:
            other = "triplets" if sample.width > 2 else "pairs"
        notes.append(f'Read as {_LAYOUTS[layout]}; layout="{other}" overrides this.')
        if layout == "table" and may_be_pairs(sample):
            said = "These may be pairs: if a line is a row id and a column id"
            notes.append(f'{said}, a cell with 1, pass layout="pairs".')
    if options.delimiter is None and sample.width > 1:
        notes.append(f"Delimiter: {sample.dialect.delimiter!r}.")
    if options.decimal is None and sample.dialect.decimal != ".":
        notes.append(f"Decimal sign: {sample.dialect.decimal!r}.")
    if options.decimal is None and options.thousands is None:
        notes += say_about_points(sample.data, sample.dialect)
    if options.header is None:
        words = "no header" if sample.header is None else f"line {sample.header.line}"
        notes.append(f"Header: {words}.")
    return tuple(notes)
