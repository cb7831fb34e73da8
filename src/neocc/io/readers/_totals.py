"""Lines and columns that sum up the others: a row called Total is no item like the rest.

Name and contents have to agree: what is called a total, or a mean, and is that of all others, is
left out of a table, and a note says so; `row_names` keeps it, as it keeps columns of ids. Numbers
that add up without a name for it are kept, with a note; a name alone says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from neocc._typing import AnyArray, FloatArray, IntArray
from neocc.io._options import ReadOptions
from neocc.io.readers._contents import SAME_NAME, Contents
from neocc.io.readers._plan import Plan

__all__ = ["Summary", "SummaryWatch", "find_summaries", "says_summary"]
__all__ += ["without_summary_columns", "without_summary_rows"]

_SUM, _PART = "sum", "subtotal"
# What a summary is called: words of its name, and what is a name of sums only alone.
_CALLED = {
    _PART: r"sub[\W_]?totals?|zwischensumme",
    _SUM: "total|totals|sum|sums|summe|gesamt|insgesamt|gesamtsumme|somme|suma|totale|totaal|soma",
    "mean": "mean|means|average|averages|avg|mittelwert|moyenne|media|promedio",
    "median": "median",
    "minimum": "min|minimum",
    "maximum": "max|maximum",
    "standard deviation": "sd|std|stdev|stddev|standard deviation",
}
_WORDS = {
    what: re.compile(rf"(?<![^\W_])({words})(?![^\W_])", re.IGNORECASE)
    for what, words in _CALLED.items()
}
_ALL_WORDS = "all|overall|gesamtergebnis|итого|всего|合计|总计"
_ALL = re.compile(rf"\W*({_ALL_WORDS})\W*", re.IGNORECASE)
_ANY = f"{'|'.join(_CALLED.values())}|{_ALL_WORDS}".split("|")
_COMPUTE: dict[str, Callable[..., Any]] = {
    _SUM: np.sum,
    _PART: np.sum,
    "mean": np.mean,
    "median": np.median,
    "minimum": np.min,
    "maximum": np.max,
    "standard deviation": partial(np.std, ddof=1),
}
# Of so many others an item may be the sum, and anything else, or the sum though no name says so.
_FEWEST_OF_SUM, _FEWEST = 2, 3
# So many numbers that are not 0 have to agree: of a sum with a name, of other summaries, without.
_NUMBERS_OF_SUM, _NUMBERS, _NUMBERS_WITHOUT_NAME = 1, 3, 5
# Where more names say so, these are words of the field.
_MOST_NAMED = 20
_DECIMALS, _ROUNDED, _ROUNDING = 6, 0.01, 1e-9
# So many columns are compared first, and so many cells at once.
_GLANCE, _PIECE = 8, 1 << 20


@dataclass(frozen=True)
class Summary:
    """An item that is the sum, mean, ... of all others; whether its name says so."""

    place: int
    what: str
    is_named: bool


def find_summaries(X: FloatArray, names: Sequence[str] | None) -> list[Summary]:
    """Find the rows that are sums, means, ... of all others, to rounding.

    Of several whose names say so, none counts among the others.

    Examples
    --------
    >>> import numpy as np
    >>> from neocc.io.readers._totals import find_summaries
    >>> X = np.array([[1.0, 5.0], [2.0, 7.0], [3.0, 12.0]])
    >>> find_summaries(X, ("a", "b", "Total"))
    [Summary(place=2, what='sum', is_named=True)]
    >>> find_summaries(X, ("a", "b", "c"))
    []
    """
    with np.errstate(all="ignore"):  # the sum of large numbers may be infinite: no number is that
        return _named(X, names or ()) or _without_name(X)


def _named(X: FloatArray, names: Sequence[str]) -> list[Summary]:
    said = {at: what for at in _candidates(names) if (what := _says(names[at])) is not None}
    if not said or len(said) > _MOST_NAMED:
        return []
    unnamed = np.array([at not in said for at in range(len(X))])
    place_of = np.arange(len(X))
    found, start = [], 0
    for place, what in said.items():
        above = unnamed & (place_of >= start) & (place_of < place)  # below another summary
        whole = () if what == _PART else (unnamed, place_of != place)
        if any(_sums_up(X, place, base, what) for base in whole):
            found.append(Summary(place, what, True))
        elif what in (_SUM, _PART) and _sums_up(X, place, above, what):
            found.append(Summary(place, _PART, True))
        start = place
    return found


def _candidates(names: Sequence[str]) -> list[int]:
    """Return the places of names with any of the words, sought in all of them at once."""
    text = "\n".join(names).lower()
    words = [word for word in _ANY if word in text]
    if not words:
        return []
    return [at for at, name in enumerate(names) if any(word in name.lower() for word in words)]


def says_summary(names: Sequence[str]) -> bool:
    """Whether any name says that an item sums up others."""
    return any(_says(name) is not None for name in names)


def _says(name: str) -> str | None:
    """Return what a name says that an item is of all others."""
    if _ALL.fullmatch(name):
        return _SUM
    return next((what for what, words in _WORDS.items() if words.search(name)), None)


def _without_name(X: FloatArray) -> list[Summary]:
    if len(X) <= _FEWEST or X.shape[1] < _NUMBERS_WITHOUT_NAME:
        return []
    totals = X.sum(axis=0)
    totals = np.nansum(X, axis=0) if np.isnan(totals).any() else totals
    first = int(np.argmax(np.abs(totals)))  # where no other than the sum is half of the total
    is_half = np.abs(2 * X[:, first] - totals[first]) <= 2 * _ROUNDED * abs(totals[first])
    for place in np.flatnonzero(is_half)[:_FEWEST].tolist():
        has_enough = np.count_nonzero(X[place]) >= _NUMBERS_WITHOUT_NAME
        if has_enough and _sums_up(X, place, np.arange(len(X)) != place, _SUM):
            return [Summary(place, _SUM, False)]
    return []


def _sums_up(X: FloatArray, place: int, base: AnyArray, what: str) -> bool:
    """Whether a line is the sum, mean, ... of others, up to the digits that were written.

    A few numbers tell of most lines that they are not; where they do not, all are compared.
    """
    is_sum = _COMPUTE[what] is np.sum
    columns, others = np.flatnonzero(~np.isnan(X[place])), np.flatnonzero(base)
    if len(others) < (_FEWEST_OF_SUM if is_sum else _FEWEST):
        return False
    if np.count_nonzero(X[place, columns]) < (_NUMBERS_OF_SUM if is_sum else _NUMBERS):
        return False
    step = max(1, _PIECE // len(X))
    pieces = [columns[at : at + step] for at in range(0, len(columns), step)]
    return all(_agree(X, place, others, some, what) for some in ([columns[:_GLANCE]], pieces))


def _agree(
    X: FloatArray, place: int, others: IntArray, pieces: Sequence[IntArray], what: str
) -> bool:
    """Whether all numbers of some columns agree; as many digits count as any of them has."""
    n_added = len(others) if _COMPUTE[what] is np.sum else 1

    def cells(columns: IntArray) -> FloatArray:
        return np.nan_to_num(X[np.ix_(others, columns)])

    of_line = min(_last_digit(X[place, columns]) for columns in pieces)
    of_others = min(_last_digit(cells(columns)) for columns in pieces)
    half = (of_line + n_added * of_others) / 2
    for columns in pieces:
        line, added = X[place, columns], cells(columns)
        expected = _COMPUTE[what](added, axis=0)
        slack = np.minimum(half, _ROUNDED * np.abs(expected))
        slack = np.maximum(slack, _ROUNDING * np.abs(added).sum(axis=0))
        if not (np.isfinite(expected) & (np.abs(line - expected) <= slack)).all():
            return False
    return True


def _last_digit(values: FloatArray) -> float:
    """Return what the last digit of some numbers is worth; 0 where they have many."""
    decimals = range(_DECIMALS + 1)
    return next((10.0**-at for at in decimals if np.array_equal(np.round(values, at), values)), 0.0)


# --------------------------------------------------------------------------- what becomes of them


def without_summary_columns(
    plan: Plan, X: FloatArray, options: ReadOptions, *, complete: bool
) -> Plan:
    """Leave out columns of a table that sum up the others, judging by some of its lines, or all."""
    left_out, notes = set[int](), []
    where = "" if complete else f" in the first {len(X)} rows"
    for one in find_summaries(np.ascontiguousarray(X.T), plan.number_names):
        at = plan.numbers[one.place]
        said, what = f"olumn {plan.labels[at]}", _of_others(one.what) + where
        if one.is_named and options.row_names is None:
            left_out.add(at)
            notes.append(f"Left out: c{said}, {what}; {_undo(plan)} reads it as data.")
        else:
            drop = plan.drop_option([at])
            notes.append(f"C{said} is {what}, and is data; {drop} leaves it out.")
    numbers = tuple(place for place in plan.numbers if place not in left_out)
    return replace(plan, numbers=numbers, notes=(*plan.notes, *notes))


def without_summary_rows(contents: Contents, plan: Plan, options: ReadOptions) -> Contents:
    """Leave out rows of a table that sum up the others."""
    X, names = contents.data, contents.row_names
    if plan.layout != "table" or X is None:  # in a store
        return contents
    left_out, notes = list[int](), []
    for one in find_summaries(X, names):
        said = f"ow {one.place + 1}" + ("" if names is None else f" ({names[one.place]!r})")
        if one.is_named and options.row_names is None:
            left_out.append(one.place)
            notes.append(f"Left out: r{said}, {_of_others(one.what)}; {_undo(plan)} keeps it.")
        else:
            notes.append(_kept(f"R{said}", one.what))
    if left_out:
        kept = np.delete(np.arange(len(X)), left_out)
        is_first = kept[-1] == len(kept) - 1
        X = X[: len(kept)] if is_first else X[kept]
        names = None if names is None else tuple(names[at] for at in kept)
    known = contents.notes
    if names is not None and len(set(names)) == len(names):  # subtotals had the same
        known = tuple(note for note in known if note != SAME_NAME.format("rows"))
    return replace(contents, data=X, row_names=names, notes=(*known, *notes))


class SummaryWatch:
    """Rows of a table that is larger than memory: what is a sum of all others is told of."""

    def __init__(self) -> None:
        self._totals: Any = 0.0
        self._named: list[tuple[str, FloatArray]] = []

    def add(self, X: FloatArray, names: Sequence[str]) -> None:
        """Take the next rows."""
        with np.errstate(all="ignore"):
            self._totals = self._totals + np.nan_to_num(X).sum(axis=0)
        at = [place for place, name in enumerate(names) if _says(name) == _SUM]
        self._named += [(names[place], X[place].copy()) for place in at[:_MOST_NAMED]]

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be said of rows that are the sum of all others."""
        if not 0 < len(self._named) <= _MOST_NAMED:
            return ()
        others = self._totals - np.nan_to_num([line for _, line in self._named]).sum(axis=0)
        nothing = np.zeros_like(others)
        return tuple(
            _kept(f"Row {name!r}", _SUM)
            for name, line in self._named
            if find_summaries(np.stack([others, nothing, line]), ("", "", name))
        )


def _kept(said: str, what: str) -> str:
    return f"{said} is {_of_others(what)}, and is data; delete its line if it is not."


def _of_others(what: str) -> str:
    return "the sum of those above" if what == _PART else f"the {what} of all others"


def _undo(plan: Plan) -> str:
    return plan.as_row_names(plan.ids[0]) if plan.ids else "row_names=False"
