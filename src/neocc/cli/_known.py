"""What is known besides the matrix: options that name files of labels and of names, and these read.

Only what is shown depends on them; the fit, its tables and its record do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from neocc.cli._command import option
from neocc.cli._settings import Panel

if TYPE_CHECKING:
    from neocc._typing import IntArray
    from neocc.io import Matrix
    from neocc.io._labels import Labels

__all__ = ["COLUMN_LABELS", "LABELS", "LABELS_OF_COLUMNS", "ROW_LABELS", "Known", "KnownFiles"]

LABELS = option(
    "FILE",
    "Labels of rows, such as classes: a table of row name and label. The report tells which "
    "labels each group has more often than by chance. FILE:COLUMN says which column.",
    Panel.OUTPUT,
)
LABELS_OF_COLUMNS = option("FILE", "The same for columns.", Panel.OUTPUT)
ROW_LABELS = option(
    "FILE",
    "Names to show instead of ids: a table of row name and what to call it, such as films by "
    "number. FILE:COLUMN says which column.",
    Panel.OUTPUT,
)
COLUMN_LABELS = option("FILE", "The same for columns.", Panel.OUTPUT)


@dataclass(frozen=True)
class Known:
    """Labels and names in the order of rows and columns, None where there are none."""

    labels: Labels | None = None
    labels_of_columns: Labels | None = None
    row_names: tuple[str, ...] | None = None
    column_names: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()

    @property
    def on_page(self) -> dict[str, Any]:
        """The arguments of `render_report`."""
        return {name: value for name, value in vars(self).items() if name != "notes"}

    def tested(self, members: Sequence[Any]) -> dict[str, Any]:
        """Return the tests of labels of the sides that have any, as JSON knows them."""
        from neocc.metrics import enrichment
        from neocc.report._enriched import as_json

        of_sides = zip(
            ("rows", "columns"), (self.labels, self.labels_of_columns), members, strict=True
        )
        return {
            side: as_json(labels, enrichment(labels.members, own))
            for side, labels, own in of_sides
            if labels is not None
        }

    def take_rows(self, rows: IntArray) -> Known:
        """Return what is known of some rows, and of all columns."""
        return replace(
            self,
            labels=None if self.labels is None else self.labels.take(rows),
            row_names=None if self.row_names is None else tuple(self.row_names[r] for r in rows),
        )


@dataclass(frozen=True)
class KnownFiles:
    """Files as the options name them."""

    labels: str | None = None
    labels_of_columns: str | None = None
    row_labels: str | None = None
    column_labels: str | None = None

    def read(self, matrix: Matrix) -> Known:
        """Read the files; ids are the names of the rows and columns of a matrix."""
        from neocc.io._labels import read_labels, read_names_table

        n_rows, n_columns = matrix.shape

        def ids(noun: str) -> list[str]:
            if noun == "rows":
                return [matrix.name_of_row(row) for row in range(n_rows)]
            return [matrix.name_of_column(column) for column in range(n_columns)]

        def labels(path: str | None, noun: str) -> Labels | None:
            return None if path is None else read_labels(path, ids(noun), noun)

        def names(path: str | None, noun: str) -> tuple[Any, tuple[str, ...]]:
            return (None, ()) if path is None else read_names_table(path, ids(noun), noun)

        known = labels(self.labels, "rows"), labels(self.labels_of_columns, "columns")
        rows, columns = names(self.row_labels, "rows"), names(self.column_labels, "columns")
        notes = [note for one in known if one is not None for note in one.notes]
        return Known(*known, rows[0], columns[0], (*notes, *rows[1], *columns[1]))
