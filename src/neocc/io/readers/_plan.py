"""Which columns of a delimited file are names or ids, which are numbers, and which are left out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path

from neocc.io._errors import FormatError
from neocc.io._options import Duplicates, Layout, ReadOptions
from neocc.io.readers._headings import is_rating
from neocc.io.readers._text import Dialect

__all__ = ["Plan", "dropped_columns", "plan_table", "plan_triplets"]

_NEEDED = {
    2: "Pairs need two columns (row, column)",
    3: "Triplets need three columns (row, column, value)",
}


@dataclass(frozen=True)
class Plan:
    """How to read a delimited file.

    Attributes
    ----------
    dialect : Dialect
        How a record is written.
    layout : {"table", "triplets", "pairs"}
        What the columns mean.
    width : int
        Cells of a record.
    skip_lines : int
        Lines before the data.
    headings : list of str or None
        Names of all columns.
    ids : tuple of int
        Columns read as text: row names of a table, if any; rows and columns of triplets.
    integers : tuple of int
        Columns read as whole numbers: places of entries.
    numbers : tuple of int
        Columns read as numbers, in the order wanted.
    blank : tuple of int
        Columns that must be blank.
    codes : dict
        Columns of numbers that are written as words, with the number of each word.
    form : str
        What every line must look like, where the format says so.
    guessed : bool
        Whether nothing but the look of the data says that these are triplets.
    notes : tuple of str
        What was recognised.
    """

    dialect: Dialect
    layout: Layout
    width: int
    skip_lines: int
    headings: list[str] | None
    ids: tuple[int, ...] = ()
    integers: tuple[int, ...] = ()
    numbers: tuple[int, ...] = ()
    blank: tuple[int, ...] = ()
    codes: Mapping[int, Mapping[str, float]] = field(default_factory=dict)
    form: str = ""
    guessed: bool = False
    notes: tuple[str, ...] = ()

    @property
    def labels(self) -> list[str]:
        """What error messages call the columns: their names, or numbers from 1."""
        numbers = [str(place + 1) for place in range(self.width)]
        if self.headings is None:
            return numbers
        if self.form:
            return [repr(name) for name in self.headings]
        return [
            f"{number} ({name!r})" if name else number
            for number, name in zip(numbers, self.headings, strict=True)
        ]

    def name(self, place: int) -> str:
        """Return what `drop` calls a column: its heading, or its number if it has none."""
        return str(place + 1) if self.headings is None else self.headings[place]

    def drop_option(self, places: Iterable[int]) -> str:
        """Return the option that leaves columns out."""
        return f"drop={list(dict.fromkeys(self.name(place) for place in places))}"

    def as_row_names(self, place: int) -> str:
        """Return the option that takes a column for the names of the rows."""
        return "row_names=True" if place == 0 else f"row_names={self.name(place)!r}"

    @property
    def number_names(self) -> tuple[str, ...] | None:
        """Names of the columns of numbers, where there are any."""
        if self.headings is None:
            return None
        return tuple(self.headings[place] for place in self.numbers)

    def duplicates(self, options: ReadOptions) -> Duplicates:
        """Return what becomes of several values for a cell, as asked for or as the values ask for.

        Ratings do not add up; where only the look of the data says that these are triplets, a
        cell that is given twice says that they are not.
        """
        if self.layout == "triplets" and options.duplicates is None:
            if self.guessed:
                return "error"
            if self.number_names and is_rating(self.number_names[0]):
                return "mean"
        return options.duplicates_of(self.layout)


def plan_triplets(path: Path, plan: Plan, columns: Sequence[str | int] | None) -> Plan:
    """Choose the columns of rows, columns and values: those named, or the first; pairs have two."""
    n_needed = 2 if plan.layout == "pairs" else 3
    if columns is None:
        if plan.width < n_needed:
            raise FormatError(
                path,
                f"{_NEEDED[n_needed]}; the file has {plan.width}.",
                'Name the delimiter (delimiter=";", say), or pass layout="table".',
                line=plan.skip_lines + 1,
            )
        places = list(range(n_needed))
    else:
        places = [find_column(path, plan, name) for name in columns]
        if len(set(places)) < n_needed:
            raise FormatError(
                path, f"columns={list(columns)} names a column twice.", "Name different columns."
            )
    return replace(plan, ids=tuple(places[:2]), numbers=tuple(places[2:]))


def plan_table(
    path: Path, plan: Plan, row_names: bool | int | str, dropped: Collection[int]
) -> Plan:
    """Choose the columns of a table: those of names and all others but those dropped.

    `row_names` is the name or the number, from 1, of a column; True is the first.
    """
    ids: tuple[int, ...] = ()
    if isinstance(row_names, str):
        ids = (find_column(path, plan, row_names),)
    elif row_names is not False:
        ids = (int(row_names) - 1,)
    numbers = [place for place in range(plan.width) if place not in dropped and place not in ids]
    if not numbers:
        raise FormatError(
            path, "No column of numbers is left.", "Drop fewer columns, or pass row_names=False."
        )
    return replace(plan, ids=ids, numbers=tuple(numbers))


def dropped_columns(path: Path, plan: Plan, drop: Sequence[str]) -> set[int]:
    """Return the columns that names or patterns say are to be left out."""
    names = [plan.name(place) for place in range(plan.width)]
    dropped: set[int] = set()
    for pattern in drop:
        exact = {place for place, name in enumerate(names) if name == pattern}
        matched = exact or {p for p, name in enumerate(names) if fnmatchcase(name, pattern)}
        if not matched:
            raise FormatError(
                path, f"No column matches drop={pattern!r}.", f"The columns are {_some(names)}."
            )
        dropped |= matched
    return dropped


def find_column(path: Path, plan: Plan, name: str | int) -> int:
    """Return the place of a column given by name or, counted from 1, by number."""
    if isinstance(name, str) and plan.headings is None and name.isdecimal():
        name = int(name)  # what notes call it where there is no header
    if isinstance(name, str):
        if plan.headings is None:
            raise FormatError(
                path,
                f"There is no header, and so no column {name!r}.",
                "Give the number of the column, counted from 1, or pass header=True.",
            )
        places = [place for place, one in enumerate(plan.headings) if one == name]
        if len(places) == 1:
            return places[0]
        raise FormatError(
            path,
            f"{'No column is' if not places else f'{len(places)} columns are'} called {name!r}.",
            f"The columns are {_some(plan.headings)}.",
        )
    if not 1 <= name <= plan.width:
        raise FormatError(
            path,
            f"There is no column {name}.",
            f"Columns are counted from 1 to {plan.width}.",
        )
    return name - 1


def _some(names: Sequence[str]) -> str:
    """List names, but not all of thousands."""
    shown = ", ".join(repr(name) for name in names[:10])
    return shown + (f" and {len(names) - 10} more" if len(names) > 10 else "")
