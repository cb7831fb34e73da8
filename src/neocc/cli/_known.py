"""What is known besides the matrix: labels to test groups by, and names to show.

Only what is shown depends on them; the fit and its tables do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from neocc._typing import IntArray
from neocc.cli._settings import FitSettings
from neocc.io import Matrix
from neocc.io._labels import Labels, read_labels, read_names_table
from neocc.metrics import enrichment
from neocc.report._enriched import as_json

__all__ = ["Known"]


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
