"""Which column of a table names its rows, and what is said where that is in doubt.

The rules, in their order; `row_names` and `drop` overrule them:

* The **first column** names the rows if it has one of `NAME_HEADINGS`, or no heading where
  others have one; if it holds text, unless that repeats and another column of text does not; if
  it holds whole numbers under a heading that says id (`customer_id`, `userId`, `barcode`); or
  whole numbers that never repeat under a word for what rows are (`GENES`, `sample`, `case`) or a
  heading with a word for an id in it (`ID_REF`, `case_no`, `NHS number`), if no other column of
  whole numbers never repeats.
* **By content**, whole numbers in the first column do if they count, ten at least, in steps of
  one: from 0 or 1, or without a heading, or under one that says when, such as `year`. Words for
  values, and several columns that count, speak against it.
* A **later column** that counts the rows from 0 or 1, ten at least, and is the only one that does,
  names them, or is left out beside other names.
* Failing that, or if the first column says nothing but the number of the row, another column does
  whose heading says id and whose values never repeat, or text that never repeats, five at
  least, wherever it stands: it could be nothing else.
* **Left out** is what names rows beside these names: the numbers of the rows, and columns whose
  heading says id. Ids are no measurements.

Numbers that never repeat by chance are measurements until something else says otherwise. Where a
column might be one of ids and is read as data, a note says so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from neocc._names import names_ids
from neocc.io._options import ReadOptions
from neocc.io.readers._headings import (
    NAME_HEADINGS,
    Kind,
    is_thing,
    is_time,
    is_value,
    kind_of,
    says_id,
)
from neocc.io.readers._plan import Plan, dropped_columns, plan_table
from neocc.io.readers._truths import are_truths

__all__ = ["Naming", "find_names", "plan_named"]

# So many numbers in steps of one are counted, not measured; so few may be either.
_COUNTED, _FEW_COUNTED = 10, 5
_COUNTING = ("which counts the rows", "counts in steps of one")
# So many texts that never repeat are names, in whichever of the first columns they stand.
_ENOUGH_NAMES, _COLUMNS = 5, 50


@dataclass(frozen=True)
class Naming:
    """The column that names the rows, if any, why, and what is doubtful."""

    place: int | None = None
    why: str = ""  # for names that might be data
    doubts: tuple[tuple[int, str], ...] = ()  # columns read as data, and what speaks for ids
    left_out: tuple[tuple[int, str], ...] = ()  # columns that are neither, and why


class _Table:
    """The columns of a sample, judged when asked."""

    def __init__(
        self, columns: Sequence[Sequence[str]], headings: Sequence[str] | None, decimal: str
    ) -> None:
        self.columns = [[cell.strip() for cell in column] for column in columns]
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
        return bool(column) and all(column) and len(set(column)) == len(column)

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
    found, left_out = _first(table), []
    if found.place is None or _is_number_of_row(table):
        later = _later(table)
        if later.place is not None:
            left_out = [] if found.place is None else [(0, "which counts the rows")]
            found = later
    counted = _counted_later(table)
    if found.place is None and counted is not None:
        found = Naming(counted, "because it counts in steps of one")
    # A blank heading above the names says that all other numbers are data.
    is_said = found.place == 0 and table.headings is not None and not table.heading(0)
    doubts = list(found.doubts)
    for place in range(len(table.columns)) if found.place is not None else ():
        known = place in (found.place, *(one for one, _ in (*found.doubts, *left_out)))
        if known or not (says_id(table.heading(place)) or place == counted):
            continue
        if place == counted:
            (doubts if is_said else left_out).append((place, _COUNTING[is_said]))
        elif table.is_whole(place) and is_said:
            doubts.append((place, "has a heading of ids"))
        elif table.is_whole(place) or table.kind(place) == "text":
            left_out.append((place, "with a heading of ids"))
    return replace(found, doubts=tuple(doubts), left_out=tuple(left_out))


def _is_number_of_row(table: _Table) -> bool:
    """Whether the first column holds 0, 1, 2, ... or 1, 2, 3, ... and no heading says of what."""
    heading = table.heading(0)
    is_named = says_id(heading) or is_thing(heading) or heading.lower() in ("name", "names")
    return not is_named and table.counts(0) and table.columns[0][0] in ("0", "1")


def _first(table: _Table) -> Naming:
    """Judge the first column."""
    heading = table.heading(0)
    if table.headings is not None and heading.lower() in NAME_HEADINGS:
        why = "by its heading" if heading else "which has no heading"
        return Naming(0, "" if table.kind(0) == "text" else why)
    # A name that is written like a missing value is a name; so are two lines called yes and no.
    unique = table.never_repeats(0)
    is_name = unique and (table.kind(0) == "nothing" or are_truths(table.columns[0]))
    if table.kind(0) == "text" or is_name:
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
    return _whole(table, heading) if table.is_whole(0) else Naming()


def _whole(table: _Table, heading: str) -> Naming:
    """Judge a first column of whole numbers by the words of its heading, and by itself."""
    n_rows = len(table.columns[0])
    alone = not any(table.counts(place) for place in range(1, len(table.columns)))
    says, unlike = names_ids(heading), _is_unlike(table)
    if says and unlike and n_rows >= _FEW_COUNTED:
        return Naming(0, "by its heading, and because no number repeats")
    if table.counts(0) and alone and n_rows >= _FEW_COUNTED and not is_value(heading):
        # Heights of 58, 59, 60, ... are measurements.
        from_start = table.columns[0][0] in ("0", "1")
        is_sure = from_start or is_time(heading) or not heading
        if n_rows >= _COUNTED and is_sure:
            return Naming(0, "because it counts in steps of one")
        return Naming(doubts=((0, "counts in steps of one"),))
    return _doubtful(table, says is None) if unlike and n_rows >= _COUNTED else Naming()


def _is_unlike(table: _Table) -> bool:
    """Whether the numbers of the first column never repeat, and whole ones of all others do."""
    others = range(1, len(table.columns))
    return table.never_repeats(0) and not any(
        table.is_whole(place) and table.never_repeats(place) for place in others
    )


def _doubtful(table: _Table, is_asked: bool) -> Naming:
    """Say of a first column of whole numbers unlike the others that it might be one of ids.

    That is so where the heading may say it (`is_asked`), or the numbers look like ids.
    """
    numbers = [int(cell) for cell in table.columns[0]]
    is_sorted = numbers == sorted(numbers)
    has_one_length = len(str(numbers[0])) > 3 and len({len(cell) for cell in table.columns[0]}) == 1
    if is_asked or is_sorted or has_one_length:
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


def _counted_later(table: _Table) -> int | None:
    """Return the column after the first that counts the rows, if it is the only one."""
    places = range(1, len(table.columns))
    found = [
        place for place in places if table.counts(place) and not is_value(table.heading(place))
    ]
    if len(found) != 1 or table.counts(0) or len(table.columns[0]) < _COUNTED:
        return None
    return found[0] if table.columns[found[0]][0] in ("0", "1") else None


def _text(table: _Table) -> int | None:
    """Return the first column after the first of text that never repeats."""
    if len(table.columns[0]) < _ENOUGH_NAMES:
        return None
    places = range(1, len(table.columns))
    return next((p for p in places if table.kind(p) == "text" and table.never_repeats(p)), None)


def _is_whole(cell: str) -> bool:
    return cell.lstrip("+-").isdecimal() and cell.isascii() and len(cell) < 19


def plan_named(
    path: Path, plan: Plan, column: Callable[[int], list[str]], options: ReadOptions
) -> Plan:
    """Choose the columns of a table, from some cells of each; say which one names the rows."""
    dropped = dropped_columns(path, plan, options.drop)
    if options.row_names is not None:
        return plan_table(path, plan, options.row_names, dropped)
    kept = [place for place in range(plan.width) if place not in dropped]
    headings = None if plan.headings is None else [plan.headings[place] for place in kept]
    sample = [column(place) for place in kept[:_COLUMNS]]
    found = find_names(sample, headings, plan.dialect.decimal)
    names = False if found.place is None else kept[found.place] + 1
    left_out = {kept[place]: reason for place, reason in found.left_out}
    plan = plan_table(path, plan, names, dropped | set(left_out))
    notes = list(plan.notes)
    if plan.ids:
        why = f", {found.why}; row_names=False reads it as data" if found.why else ""
        notes.append(f"Names of the rows: column {plan.labels[plan.ids[0]]}{why}.")
    for at, reason in left_out.items():
        undo = plan.as_row_names(plan.ids[0])
        notes.append(f"Left out: column {plan.labels[at]}, {reason}; {undo} reads it as data.")
    for place, reason in found.doubts:
        at = kept[place]
        remedy = f"if it names the rows, pass {plan.as_row_names(at)}"
        notes.append(f"Column {plan.labels[at]} {reason}, and is read as data; {remedy}.")
    return replace(plan, notes=tuple(notes))
