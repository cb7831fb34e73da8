"""The files of MovieLens: `u.data` (100K) and `ratings.dat` (1M, 10M), users by movies."""

from __future__ import annotations

import re

from neocc.io._options import ReadOptions
from neocc.io._source import Source
from neocc.io.readers._builders import IN_MEMORY, Builders
from neocc.io.readers._contents import Contents
from neocc.io.readers._delimited import read_planned
from neocc.io.readers._plan import Plan
from neocc.io.readers._text import Dialect, check_is_text

__all__ = ["is_ratings_dat", "is_u_data", "read_ratings_dat", "read_u_data"]

# Times are seconds since 1970: nine digits and more.
_U_DATA = re.compile(rb"\d+\t\d+\t\d+\t\d{9,}\r?\n")
_RATINGS_DAT = re.compile(rb"\d+::\d+::\d+(\.\d+)?::\d{9,}\r?\n")
_NOTE = "Rows are users, columns are movies; times of rating are left out."


def is_u_data(head: bytes) -> bool:
    """Whether a file begins with user, movie, rating and time, separated by tabs."""
    return _U_DATA.match(head) is not None


def is_ratings_dat(head: bytes) -> bool:
    """Whether a file begins with user::movie::rating::time."""
    return _RATINGS_DAT.match(head) is not None


def read_u_data(source: Source, options: ReadOptions, builders: Builders = IN_MEMORY) -> Contents:
    """Read user, movie, rating and time, separated by tabs."""
    check_is_text(source, options.encoding)
    headings = ["user", "movie", "rating", "time"]
    plan = Plan(
        Dialect("\t"),
        "triplets",
        4,
        0,
        headings,
        ids=(0, 1),
        numbers=(2,),
        form="user, movie, rating and time, separated by tabs",
        notes=(_NOTE,),
    )
    return read_planned(source, plan, options, builders)


def read_ratings_dat(
    source: Source, options: ReadOptions, builders: Builders = IN_MEMORY
) -> Contents:
    """Read user::movie::rating::time.

    Split at single colons, a line has blank cells between the others.
    """
    check_is_text(source, options.encoding)
    headings = ["user", "", "movie", "", "rating", "", "time"]
    plan = Plan(
        Dialect(":"),
        "triplets",
        7,
        0,
        headings,
        ids=(0, 2),
        numbers=(4,),
        blank=(1, 3, 5),
        form="user::movie::rating::time",
        notes=(_NOTE,),
    )
    return read_planned(source, plan, options, builders)
