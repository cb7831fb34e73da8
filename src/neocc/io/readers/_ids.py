"""Which column of a table names its rows, and what is said where that is in doubt.

The rules, in their order; `row_names` and `drop` overrule them:

* The **first column** names the rows if it has one of `NAME_HEADINGS`, or no heading where
  others have one; if it holds text, unless that repeats and another column of text does not; if
  it holds whole numbers under a heading that says id (`customer_id`, `userId`, `barcode`); or
  whole numbers that never repeat under a word for what rows are (`GENES`, `sample`, `case`).
* **By content**, whole numbers in the first column do if they count, ten at least, in steps of
  one, unless their heading is a word for values or several columns count.
* Failing that, another column does whose heading says id and whose values never repeat, or text
  that never repeats, five at least, wherever it stands: it could be nothing else.

Numbers that never repeat by chance are measurements until something else says otherwise. Where a
column might be one of ids and is read as data, a note says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from neocc.io.readers._headings import NAME_HEADINGS, Kind, is_thing, is_value, kind_of, says_id

__all__ = ["Naming", "find_names"]

# So many numbers in steps of one are counted, not measured; so few may be either.
_COUNTED, _FEW_COUNTED = 10, 5
# So many texts that never repeat are names, in whichever of the first columns they stand.
_ENOUGH_NAMES, _COLUMNS = 5, 50


@dataclass(frozen=True)
class Naming:
    """The column that names the rows, if any, why, and what is doubtful."""

    place: int | None = None
    why: str = ""  # for names that might be data
    doubts: tuple[tuple[int, str], ...] = ()  # columns read as data, and what speaks for ids


class _Table:
    """The columns of a sample, judged when asked."""

    def __init__(
        self, columns: Sequence[Sequence[str]], headings: Sequence[str] | None, decimal: str
    ) -> None:
        self.columns = [[cell.strip() for cell in column] for column in columns[:_COLUMNS]]
        self.headings = None if headings is None else [one.strip() for one in headings]
        self._decimal = decimal
        self._kinds: dict[int, Kind] = {}

    def kind(self, place: int) -> Kind:
        if place not in self._kinds:
            self._kinds[place] = kind_of(self.columns[place], self._decimal)
        return self._kinds[place]

    def heading(self, place: int) -> str:
        return "" if self.headings is None else self.headings[place]

    def is_whole(self, place: int) -> bool:
        return self.kind(place) == "whole numbers" and all(map(_is_whole, self.columns[place]))

    def never_repeats(self, place: int) -> bool:
        column = self.columns[place]
        return all(column) and len(set(column)) == len(column)

    def counts(self, place: int) -> bool:
        """Whether every line has the number after that of the line before."""
        if not self.is_whole(place):
            return False
        numbers = [int(cell) for cell in self.columns[place]]
        return numbers == list(range(numbers[0], numbers[0] + len(numbers)))


def find_names(
    columns: Sequence[Sequence[str]], headings: Sequence[str] | None, decimal: str
) -> Naming:
    """Find the column that names the rows, from some cells of every column."""
    if len(columns) < 2:
        return Naming()
    table = _Table(columns, headings, decimal)
    found = _first(table)
    if found.place is None:
        later = _later(table)
        found = found if later.place is None else later
    taken = found.place
    others = (
        (place, "has a heading of ids")
        for place in range(len(table.columns))
        if place not in (taken, *(doubtful for doubtful, _ in found.doubts))
        and says_id(table.heading(place))
        and table.is_whole(place)
    )
    return Naming(taken, found.why, (*found.doubts, *others))


def _first(table: _Table) -> Naming:
    """Judge the first column."""
    heading = table.heading(0)
    if table.headings is not None and heading.lower() in NAME_HEADINGS:
        return Naming(0, "" if table.kind(0) == "text" else "by its heading")
    # A name that is written like a missing value is a name.
    unique = table.never_repeats(0)
    if table.kind(0) == "text" or (table.kind(0) == "nothing" and unique):
        better = None if unique else _text(table)
        return Naming(better or 0)
    if table.kind(0) != "whole numbers":
        return Naming()
    if says_id(heading):
        return Naming(0, "by its heading")
    return _counted(table, heading)


def _counted(table: _Table, heading: str) -> Naming:
    """Judge a first column of whole numbers whose heading does not say id."""
    if is_thing(heading):
        if table.never_repeats(0):
            return Naming(0, "by its heading, and because no number repeats")
        return Naming(doubts=((0, "has a heading of names, but repeats"),))
    if not table.is_whole(0):
        return Naming()
    n_rows = len(table.columns[0])
    alone = not any(table.counts(place) for place in range(1, len(table.columns)))
    if table.counts(0) and alone and not is_value(heading):
        if n_rows >= _COUNTED:
            return Naming(0, "because it counts in steps of one")
        if n_rows >= _FEW_COUNTED:
            return Naming(doubts=((0, "counts the rows"),))
    return _doubtful(table) if table.never_repeats(0) and n_rows >= _COUNTED else Naming()


def _doubtful(table: _Table) -> Naming:
    """Say of a first column of whole numbers that never repeat that it might be one of ids."""
    others = range(1, len(table.columns))
    if any(table.is_whole(place) and table.never_repeats(place) for place in others):
        return Naming()
    numbers = [int(cell) for cell in table.columns[0]]
    is_sorted = numbers == sorted(numbers)
    has_one_length = len(str(numbers[0])) > 3 and len({len(cell) for cell in table.columns[0]}) == 1
    if is_sorted or has_one_length:
        return Naming(doubts=((0, "holds whole numbers that never repeat"),))
    return Naming()


def _later(table: _Table) -> Naming:
    """Look for names in the columns after the first."""
    for place in range(1, len(table.columns)):
        heading = table.heading(place).lower()
        named = says_id(heading) or heading in NAME_HEADINGS[1:3]
        whole = table.is_whole(place)
        if named and table.never_repeats(place) and (whole or table.kind(place) == "text"):
            return Naming(place, "by its heading" if whole else "")
    return Naming(_text(table))


def _text(table: _Table) -> int | None:
    """Return the first column after the first of text that never repeats."""
    if len(table.columns[0]) < _ENOUGH_NAMES:
        return None
    places = range(1, len(table.columns))
    return next((p for p in places if table.kind(p) == "text" and table.never_repeats(p)), None)


def _is_whole(cell: str) -> bool:
    return cell.lstrip("+-").isdecimal() and cell.isascii() and len(cell) < 19
