"""What is looked at and shown: rows of a block store in memory, labels, and names beside ids.

What is chosen from the data and what a page shows needs rows at hand, over and over. A store may
have more of them than memory; a seeded sample of bounded size takes their place then. Only what is
shown depends on labels and names; the fit and its tables do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from neocc._sizes import as_bytes
from neocc._typing import BoolArray, IntArray
from neocc.cli._settings import FitSettings
from neocc.engines import RowSource
from neocc.engines.stored import StoredRows
from neocc.io import Matrix
from neocc.io._labels import Labels, read_labels, read_names_table
from neocc.metrics import enrichment
from neocc.report._enriched import as_json

__all__ = ["Known", "Sample", "draw_to_choose", "page_of"]

# `suggest_n_clusters` looks at five million entries at most; a few less are drawn here.
MOST_TO_CHOOSE = 1 << 22
MOST_ON_PAGE = 1 << 25
# What the program takes by itself, and what an entry takes with all that is computed from it.
_PROGRAM, _BYTES_PER_ENTRY = 300_000_000, 64
# A sample must still show groups: so many rows for each. Very long rows may be too much for that.
_ROWS_PER_GROUP, _MOST_GROUPS_TRIED, _TOO_MUCH = 20, 8, 8
# Small groups, and those in none, do not vanish from a page.
_LEAST_OF_GROUP, _LEAST_OF_NONE = 20, 100


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows of a store."""

    data: Any
    at: IntArray  # their places in the store, in order
    n_rows: int  # of the store
    seed: int  # what they were drawn with

    @property
    def is_whole(self) -> bool:
        """Whether these are all rows."""
        return len(self.at) == self.n_rows

    def in_words(self, noun: str) -> str:
        """Say that this is a sample."""
        return f"a random sample of {len(self.at):,} of the {self.n_rows:,} {noun}"


def draw_to_choose(store: RowSource, settings: FitSettings, limit: str | None = None) -> Sample:
    """Draw rows from which to choose what is not given; `limit` is the bytes that a fit may take.

    The settings have the seed, and the number of groups that a sample must show.
    """
    n = store.shape[0]
    groups = _MOST_GROUPS_TRIED if "rows" in settings.left_open else int(settings.rows)
    most = _entries_within(limit, MOST_TO_CHOOSE)
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


def _draw(store: RowSource, size: int, seed: int, besides: IntArray | None = None) -> Sample:
    n = store.shape[0]
    rows = StoredRows(store)
    if size == n:
        return Sample(rows[:], np.arange(n), n, seed)
    at = np.random.default_rng(seed).choice(n, size=size, replace=False)
    at = np.unique(at if besides is None else np.concatenate([at, besides]))
    return Sample(rows.take(at), at, n, seed)


# ------------------------------------------------------------------------------- what a page shows


@dataclass(frozen=True)
class Known:
    """Labels and names in the order of rows and columns, None where there are none."""

    labels: Labels | None = None
    labels_of_columns: Labels | None = None
    row_names: tuple[str, ...] | None = None
    column_names: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def read(cls, settings: FitSettings, matrix: Matrix) -> Known:
        """Read the files that settings name; ids are the names of a matrix."""
        found: dict[str, Any] = {}
        notes: list[str] = []
        for side, name_of, n in zip(
            ("rows", "columns"),
            (matrix.name_of_row, matrix.name_of_column),
            matrix.shape,
            strict=True,
        ):
            word = side[:-1]
            labels = "labels" if side == "rows" else "labels_of_columns"
            files = {name: getattr(settings, name) for name in (labels, f"{word}_labels")}
            ids = [name_of(item) for item in range(n)] if any(files.values()) else []
            if files[labels]:
                found[labels] = read_labels(files[labels], ids, side)
                notes += found[labels].notes
            if files[f"{word}_labels"]:
                names = read_names_table(files[f"{word}_labels"], ids, side)
                found[f"{word}_names"] = names[0]
                notes += names[1]
        return cls(**found, notes=tuple(notes))

    @property
    def on_page(self) -> dict[str, Any]:
        """The arguments of `render_report`."""
        return {name: value for name, value in vars(self).items() if name != "notes"}

    def tested(self, members: Sequence[Any]) -> dict[str, Any]:
        """Return the tests of labels of the sides that have any, as JSON knows them."""
        labels = {"rows": self.labels, "columns": self.labels_of_columns}
        return {
            side: as_json(known, enrichment(known.members, own))
            for (side, known), own in zip(labels.items(), members, strict=True)
            if known is not None
        }

    def take_rows(self, rows: IntArray) -> Known:
        """Return what is known of some rows, and of all columns."""
        return replace(
            self,
            labels=None if self.labels is None else self.labels.take(rows),
            row_names=None if self.row_names is None else tuple(self.row_names[r] for r in rows),
        )


def page_of(
    model: Any,
    matrix: Matrix | None,
    settings: FitSettings,
    limit: str | None = None,
    most: int | None = None,
    known: Known | None = None,
) -> tuple[dict[str, Any], list[str]]:
    """Return the arguments of `render_report`, with rows in memory, and what to say of the page.

    Of too many rows a sample is drawn, and all that the page counts is called one. `limit` is the
    bytes that a fit may take, `most` the entries that a page may show.
    """
    nouns = {"row_noun": settings.row_noun, "column_noun": settings.column_noun}
    known = known or Known()
    page = {"model": model, "matrix": matrix, **nouns, **known.on_page}
    title = "Groups"
    if matrix is not None and matrix.source is not None:
        page["title"] = title = f"Groups in {matrix.source.name}"
    if matrix is None or not isinstance(matrix.data, RowSource):
        return page, []
    size = _rows_with(matrix.data, _entries_within(limit, most or MOST_ON_PAGE))
    members: BoolArray = model.row_membership_
    drawn = _draw(matrix.data, size, settings.seed, _some_of_each(members, settings.seed))
    if drawn.is_whole:
        return {**page, "matrix": replace(matrix, data=drawn.data)}, []
    names = tuple(matrix.name_of_row(row) for row in drawn.at.tolist())
    # Means and distances stay those of all rows.
    part = copy(model)
    part.row_membership_ = members[drawn.at]
    part.row_outliers_ = ~part.row_membership_.any(axis=1)
    words = drawn.in_words(settings.row_noun)
    shown = {"this page shows": f"{words}, drawn with seed {drawn.seed}"}
    page |= {
        "model": part,
        "matrix": replace(matrix, data=drawn.data, row_names=names),
        "title": f"{title}: {words}",
        "row_noun": f"sampled {settings.row_noun}",
        **known.take_rows(drawn.at).on_page,
        "settings": {**shown, **model.get_params(deep=False)},
    }
    return page, [f"the report shows {words}; rows.csv lists them all."]


def _some_of_each(members: BoolArray, seed: int) -> IntArray:
    """Return some rows of every group, and some in none."""
    rng = np.random.default_rng(seed)
    least = [_LEAST_OF_GROUP] * members.shape[1] + [_LEAST_OF_NONE]
    found = []
    for group, most in zip([*members.T, ~members.any(axis=1)], least, strict=True):
        rows = np.flatnonzero(group)
        found.append(rows if len(rows) <= most else rng.choice(rows, size=most, replace=False))
    return np.concatenate(found)
