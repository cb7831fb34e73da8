"""Whether a delimited file holds a table, triplets or pairs; `_recognise` says by what rules."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from neocc.io._options import Layout, ReadOptions
from neocc.io.readers._headings import (
    NAME_HEADINGS,
    Kind,
    find_list,
    is_thing,
    is_when,
    kind_of,
    mean_baskets,
    mean_pairs,
    says_id,
)
from neocc.io.readers._text import Dialect, Record, is_missing, is_number
from neocc.io.readers._truths import are_truths, find_truths

__all__ = ["Sample", "choose_layout", "list_places", "may_be_pairs"]

# Whole numbers from here on, in a fourth column without heading, are seconds since 1970; below a
# heading that says something else, those of the years from 1990 to 2040 are.
_EARLIEST_TIME = 10**8
_TIMES = range(631_152_000, 2_208_988_800)
# Headings of names; `id` and `row` may also be those of triplets.
_ROW_NAMES = tuple(heading for heading in NAME_HEADINGS if heading not in ("id", "row"))
# The share of names that may repeat in a table, and of pairs of ids that may in triplets.
_FEW = 0.1
# So many texts that never repeat name rows; so many whole numbers show whether they are in order.
_MANY = 10
# Headings as short as i, j and x1 say nothing.
_SHORT = 2
_MOST_COLUMNS_OF_PAIRS = 4
# Numbers that are written as text, such as 12% and 3,5, are no ids.
_ODD_NUMBER = re.compile(r"([<>~$€£] ?)?[+-]?\d+([.,]\d+)?( ?[%$€£])?")


@dataclass(frozen=True)
class Sample:
    """The first records of a file: its heading, if it has one, and some of its data."""

    dialect: Dialect
    header: Record | None
    data: list[Record]

    @property
    def width(self) -> int:
        """The number of cells that most records have."""
        widths = [len(record.cells) for record in self.data]
        return max(set(widths), key=lambda width: (widths.count(width), width))

    @property
    def n_blank_end(self) -> int:
        """How many columns at the end have neither headings, where others have them, nor values."""
        width = self.width
        if self.header is None:
            return 0
        least = max(1, self._n_headings)
        while width > least and not any(self.column(width - 1)):
            width -= 1
        return self.width - width

    @property
    def without_end(self) -> tuple[Record | None, list[Record]]:
        """The heading and the data without these columns; the heading may be cut further."""
        if self.header is None:
            return None, self.data
        width, cells = self.width - self.n_blank_end, self.header.cells
        # R leaves the heading of row names out.
        is_short = len(cells) == self.width - 1 and self._n_headings < width
        most = max(self._n_headings, width - is_short)
        data = [
            replace(one, cells=one.cells[:width]) if len(one.cells) == self.width else one
            for one in self.data
        ]
        return replace(self.header, cells=cells[:most]), data

    @property
    def _n_headings(self) -> int:
        """The number of columns up to the last that has a heading."""
        cells = [] if self.header is None else self.header.cells
        return max((at for at, cell in enumerate(cells, start=1) if cell.strip()), default=0)

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


def choose_layout(sample: Sample, options: ReadOptions) -> Layout:
    """Distinguish triplets and pairs from a table; see the module's docstring."""
    if options.columns:
        return "pairs" if len(options.columns) == 2 else "triplets"
    if options.row_names or options.drop:
        return "table"
    if (places := list_places(sample)) is not None:
        return "pairs" if len(places) == 2 else "triplets"
    if _has_names_above_numbers(sample):
        return "table"
    if _holds_pairs(sample):
        return "pairs"
    return "triplets" if _holds_triplets(sample) else "table"


def list_places(sample: Sample) -> tuple[int, ...] | None:
    """Return the columns of a list whose headings say so: of rows, of columns and of values."""
    headings = sample.headings
    places = None if headings is None else find_list(headings)
    if headings is None or places is None:
        return None
    kinds = [sample.kind(place) for place in places]
    is_remark = headings[places[-1]].lower() in ("note", "notes") and kinds[-1] == "text"
    if places == (0, 1, 2):
        return None if is_remark else places
    if not {*kinds[:2]} <= {"text", "whole numbers"}:
        return None
    if _repeated(sample.column(places[0])) == 0:
        return None
    # What only numbers the lines is no value: n,user,item.
    is_counted = len(places) == 3 and places[2] == 0 and _repeated(sample.column(0)) == 0
    is_counted = is_counted and kinds[-1] == "whole numbers"
    return places[:2] if is_counted or is_remark else places


def _holds_triplets(sample: Sample) -> bool:
    if sample.width != 3 and not (sample.width == 4 and _is_time(sample, sample.headings)):
        return False
    are_answers = any(find_truths(sample.column(place), least=0.5) for place in (0, 1))
    kinds = [sample.kind(place) for place in range(3)]
    if are_answers or not {*kinds[:2]} <= {"text", "whole numbers"} or kinds[2] == "text":
        return False
    if kinds[1] == "text":
        cells = map(str.strip, sample.column(1))
        if all(is_missing(cell) or _ODD_NUMBER.fullmatch(cell) for cell in cells):
            return False
        # No table has text in its second column, unless it names the rows.
        names = sample.column(1)
        return len(names) < _MANY or _repeated(names) > 0
    first = sample.column(0)
    if kinds[0] == "text":
        return _repeated(first) >= _FEW
    # A matrix with a single entry in each row is none.
    has_own_row = _repeated(first) == 0
    pairs = list(zip(first, sample.column(1), strict=False))
    is_measured = sample.width == 3 and _holds_measurements(sample)
    return not has_own_row and _repeated(pairs) <= _FEW and not is_measured


def _holds_measurements(sample: Sample) -> bool:
    """Whether two columns of whole numbers are headed by words, none for ids, and in no order."""
    headings = (sample.headings or ["", ""])[:2]
    if not all(len(one) > _SHORT and not is_thing(one) and not says_id(one) for one in headings):
        return False
    columns = ([cell.strip() for cell in sample.column(place)] for place in (0, 1))
    numbers = [[int(cell) for cell in one if cell.lstrip("+-").isdecimal()] for one in columns]
    return all(len(one) >= _MANY and one != sorted(one) for one in numbers)


def _holds_pairs(sample: Sample) -> bool:
    headings = sample.headings
    if sample.width < 2 or {sample.kind(0), sample.kind(1)} - {"text", "whole numbers"}:
        return False
    repeats = _repeated(sample.column(0)) > _FEW
    is_said = sample.kind(0) == "text" or (headings is not None and mean_baskets(headings))
    is_text = sample.kind(1) == "text" or are_truths(sample.column(1))
    if sample.width == 2 and repeats and is_text and is_said:
        return True
    if headings is None:
        return sample.width == 2 and repeats and _are_grouped(sample)
    if not mean_pairs(headings):
        return False
    if sample.width > 2 and (
        sample.width > _MOST_COLUMNS_OF_PAIRS
        or not all(_is_beside(sample, place) for place in range(2, sample.width))
    ):
        return False
    return repeats or sample.kind(1) == "text"


def may_be_pairs(sample: Sample) -> bool:
    """Whether a table of two columns of whole numbers, without headings, may be a list of pairs."""
    if sample.width != 2 or sample.header is not None or len(sample.data) < _MANY:
        return False
    columns = [[cell.strip() for cell in sample.column(place)] for place in (0, 1)]
    whole = all(cell.isdecimal() for cells in columns for cell in cells)
    return whole and all(_repeated(cells) > _FEW for cells in columns)


def _are_grouped(sample: Sample) -> bool:
    """Whether two columns hold whole numbers, lines of one row stand together, and few repeat."""
    lines = [[cell.strip() for cell in one.cells[:2]] for one in sample.data if len(one.cells) == 2]
    if len(lines) < _MANY or not all(cell.isdecimal() for line in lines for cell in line):
        return False
    first = [line[0] for line in lines]
    n_runs = 1 + sum(one != other for one, other in pairwise(first))
    return n_runs == len(set(first)) and _repeated([tuple(line) for line in lines]) <= _FEW


def _is_beside(sample: Sample, place: int) -> bool:
    """Whether a column after two of ids says when, or something in words."""
    is_time = sample.headings is not None and is_when(sample.headings[place])
    return is_time or sample.kind(place) == "text"


def _has_names_above_numbers(sample: Sample) -> bool:
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


def _is_time(sample: Sample, headings: list[str] | None) -> bool:
    if headings is not None and is_when(headings[3]):
        return True
    times = [cell.strip() for cell in sample.column(3)]
    if not all(cell.isdigit() for cell in times):
        return False
    if headings is None:
        return all(int(cell) >= _EARLIEST_TIME for cell in times)
    return all(int(cell) in _TIMES for cell in times)
