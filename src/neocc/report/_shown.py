"""What a page shows besides the fit: labels, names instead of ids, and a sample of too many rows.

A page needs rows in memory. Of a block store that has more of them a seeded sample is shown, and
called one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from neocc._typing import BoolArray, IntArray
from neocc.engines import RowSource
from neocc.io import Matrix
from neocc.io._labels import Labels, read_labels, read_names_table
from neocc.io.blocks._sample import draw, entries_within, rows_with
from neocc.metrics import enrichment
from neocc.report._enriched import as_json

__all__ = ["Known", "page_of"]

_MOST_ON_PAGE = 1 << 25
# Small groups, and those in none, do not vanish from a page.
_LEAST_OF_GROUP, _LEAST_OF_NONE = 20, 100


@dataclass(frozen=True)
class Known:
    """Labels and names in the order of rows and columns, None where there are none."""

    labels: Labels | None = None
    labels_of_columns: Labels | None = None
    row_names: tuple[str, ...] | None = None
    column_names: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def read(cls, files: Mapping[str, Any], matrix: Matrix) -> Known:
        """Read the files of labels and names; ids are the names of a matrix.

        The files are `labels`, `labels_of_columns`, `row_labels` and `column_labels`, by name.
        """
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
            names = f"{word}_labels"
            ids = [name_of(item) for item in range(n)] if files[labels] or files[names] else []
            if files[labels]:
                found[labels] = read_labels(files[labels], ids, side)
                notes += found[labels].notes
            if files[names]:
                found[f"{word}_names"], said = read_names_table(files[names], ids, side)
                notes += said
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
    known: Known,
    nouns: tuple[str, str] = ("rows", "columns"),
    *,
    seed: int = 0,
    limit: str | None = None,
    most: int = _MOST_ON_PAGE,
) -> tuple[dict[str, Any], list[str]]:
    """Return the arguments of `render_report`, with rows in memory, and what to say of the page.

    Of too many rows a sample is drawn, and all that the page counts is called one. `limit` is the
    bytes that a fit may take, `most` the entries that a page may show.
    """
    page = {"model": model, "matrix": matrix, **known.on_page}
    page |= {"row_noun": nouns[0], "column_noun": nouns[1]}
    title = "Groups"
    if matrix is not None and matrix.source is not None:
        page["title"] = title = f"Groups in {matrix.source.name}"
    if matrix is None or not isinstance(matrix.data, RowSource):
        return page, []
    size = rows_with(matrix.data, entries_within(limit, most))
    members: BoolArray = model.row_membership_
    drawn = draw(matrix.data, size, seed, _some_of_each(members, seed))
    if drawn.is_whole:
        return {**page, "matrix": replace(matrix, data=drawn.data)}, []
    names = tuple(matrix.name_of_row(row) for row in drawn.at.tolist())
    # Means and distances stay those of all rows.
    part = copy(model)
    part.row_membership_ = members[drawn.at]
    part.row_outliers_ = ~part.row_membership_.any(axis=1)
    words = drawn.in_words(nouns[0])
    shown = {"this page shows": f"{words}, drawn with seed {drawn.seed}"}
    page |= {
        "model": part,
        "matrix": replace(matrix, data=drawn.data, row_names=names),
        "title": f"{title}: {words}",
        "row_noun": f"sampled {nouns[0]}",
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
