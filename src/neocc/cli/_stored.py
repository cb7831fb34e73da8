"""Rows of a block store in memory: all of them where they are few, else a random sample.

What is chosen from the data and what a page shows needs rows at hand, over and over. A store may
have more of them than memory; a seeded sample of bounded size takes their place then.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from neocc._sizes import as_bytes
from neocc._typing import BoolArray, IntArray
from neocc.cli._settings import AUTO, FitSettings
from neocc.engines import RowSource
from neocc.engines.stored import StoredRows
from neocc.io import Matrix

__all__ = ["Drawn", "PageView", "draw_to_choose", "page_view"]

# `suggest_n_clusters` looks at five million entries at most; a few less are drawn here.
_MOST_TO_CHOOSE = 1 << 22
_MOST_ON_PAGE = 1 << 25
# What the program takes by itself, and what an entry takes with all that is computed from it.
_PROGRAM, _BYTES_PER_ENTRY = 300_000_000, 64
# A sample must still show groups: so many rows for each. Very long rows may be too much for that.
_ROWS_PER_GROUP, _MOST_GROUPS_TRIED, _TOO_MUCH = 20, 8, 8
# Small groups, and those in none, do not vanish from a page.
_LEAST_OF_GROUP, _LEAST_OF_NONE = 20, 100


@dataclass(frozen=True, eq=False)
class Drawn:
    """Rows of a store.

    Attributes
    ----------
    data : csr_array or ndarray
        The rows.
    at : ndarray of int
        Their places in the store, in order.
    n_rows : int
        How many rows the store has.
    seed : int
        What they were drawn with.
    """

    data: Any
    at: IntArray
    n_rows: int
    seed: int

    @property
    def is_whole(self) -> bool:
        """Whether these are all rows."""
        return len(self.at) == self.n_rows

    def in_words(self, noun: str) -> str:
        """Say that this is a sample."""
        return f"a random sample of {len(self.at):,} of the {self.n_rows:,} {noun}"


def draw_to_choose(store: RowSource, settings: FitSettings, limit: str | None = None) -> Drawn:
    """Draw the rows from which to choose what is not given.

    Parameters
    ----------
    store : BlockStore
        The matrix.
    settings : FitSettings
        The seed, and the numbers of groups that a sample must show.
    limit : str or None, default=None
        Bytes that a fit may take.
    """
    n = store.shape[0]
    groups = _MOST_GROUPS_TRIED if settings.rows == AUTO else int(settings.rows)
    most = _entries_within(limit, _MOST_TO_CHOOSE)
    size = min(n, max(_rows_with(store, most), _ROWS_PER_GROUP * groups))
    if size * store.n_stored / n > _TOO_MUCH * most:
        raise ValueError(
            f"The rows of the store are so long that {size} of them, which {groups} groups need to "
            "show, do not fit into memory to choose from. Give n_row_clusters, n_column_clusters, "
            "row_overlap, row_outliers, column_overlap and column_outliers."
        )
    return _draw(store, size, settings.seed)


def _entries_within(limit: str | None, most: int) -> int:
    if limit is None:
        return most
    room = as_bytes(limit, "memory_limit") - _PROGRAM
    return max(1, min(most, room // _BYTES_PER_ENTRY))


def _rows_with(store: RowSource, n_entries: int) -> int:
    """Return how many rows have about so many entries, all where the store has no more."""
    n = store.shape[0]
    return n if store.n_stored <= n_entries else max(1, int(n * (n_entries / store.n_stored)))


def _draw(store: RowSource, size: int, seed: int, besides: IntArray | None = None) -> Drawn:
    n = store.shape[0]
    rows = StoredRows(store)
    if size == n:
        return Drawn(rows.between(0, n), np.arange(n), n, seed)
    at = np.random.default_rng(seed).choice(n, size=size, replace=False)
    at = np.unique(at if besides is None else np.concatenate([at, besides]))
    return Drawn(rows.take(at), at, n, seed)


# ----------------------------------------------------------------------------------------- pages


@dataclass(frozen=True, eq=False)
class PageView:
    """A model and the matrix as a page shows them.

    Attributes
    ----------
    model : estimator
        With the memberships of the rows shown.
    matrix : Matrix
        These rows, in memory.
    sample : Drawn or None
        How they were drawn; None if they are all.
    """

    model: Any
    matrix: Matrix
    sample: Drawn | None = None

    def options(self, settings: FitSettings) -> dict[str, Any]:
        """Return what `render_report` takes; all that it counts is called a sample if it is one."""
        options: dict[str, Any] = {
            "matrix": self.matrix,
            "row_noun": settings.row_noun,
            "column_noun": settings.column_noun,
        }
        if self.matrix.source is not None:
            options["title"] = f"Groups in {self.matrix.source.name}"
        if self.sample is not None:
            words = self.sample.in_words(settings.row_noun)
            options["title"] = f"{options.get('title', 'Groups')}: {words}"
            options["row_noun"] = f"sampled {settings.row_noun}"
            shown = {"this page shows": f"{words}, drawn with seed {self.sample.seed}"}
            options["settings"] = {**shown, **self.model.get_params(deep=False)}
        return options

    def notes(self, noun: str) -> list[str]:
        """Say what the page does not show."""
        if self.sample is None:
            return []
        return [f"the report shows {self.sample.in_words(noun)}; rows.csv lists them all."]


def page_view(model: Any, matrix: Matrix, seed: int, limit: str | None = None) -> PageView:
    """Bring what a page shows into memory.

    Parameters
    ----------
    model : NEOCC
        Fitted to the matrix.
    matrix : Matrix
        In memory, or a block store.
    seed : int
        What a sample of the rows is drawn with, if there are too many entries for a page.
    limit : str or None, default=None
        Bytes that a fit may take.
    """
    store = matrix.data
    if not isinstance(store, RowSource):
        return PageView(model, matrix)
    size = _rows_with(store, _entries_within(limit, _MOST_ON_PAGE))
    members: BoolArray = model.row_membership_
    drawn = _draw(store, size, seed, _some_of_each(members, seed))
    if drawn.is_whole:
        return PageView(model, replace(matrix, data=drawn.data))
    names = matrix.row_names
    shown = replace(
        matrix,
        data=drawn.data,
        row_names=tuple(
            f"row {row + 1}" if names is None else names[row] for row in drawn.at.tolist()
        ),
    )
    # Means and distances stay those of all rows.
    part = copy(model)
    part.row_membership_ = members[drawn.at]
    part.row_outliers_ = ~part.row_membership_.any(axis=1)
    return PageView(part, shown, drawn)


def _some_of_each(members: BoolArray, seed: int) -> IntArray:
    """Return some rows of every group, and some in none."""
    rng = np.random.default_rng(seed)
    found = []
    for column in range(members.shape[1] + 1):
        is_none = column == members.shape[1]
        rows = np.flatnonzero(~members.any(axis=1) if is_none else members[:, column])
        most = _LEAST_OF_NONE if is_none else _LEAST_OF_GROUP
        found.append(rows if len(rows) <= most else rng.choice(rows, size=most, replace=False))
    return np.concatenate(found)
