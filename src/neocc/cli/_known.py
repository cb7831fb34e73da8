"""What is known besides the matrix: options that name files of labels and of names, and these read.

Only what is shown depends on them; the fit, its tables and its record do not.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neocc.cli._command import option
from neocc.cli._settings import Panel, option_of

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
# The options of a side: labels, and names to show.
_NAMES = {"rows": ("labels", "row_labels"), "columns": ("labels_of_columns", "column_labels")}


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

        return {
            side: as_json(labels, enrichment(labels.members, own))
            for side, own in zip(_NAMES, members, strict=True)
            if (labels := getattr(self, _NAMES[side][0])) is not None
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
    notes: tuple[str, ...] = ()

    @property
    def as_json(self) -> dict[str, str]:
        """Where they are, for a record."""
        return {name: str(Path(file).resolve()) for name, file in self._given.items()}

    @property
    def _given(self) -> dict[str, str]:
        return {name: one for name, one in vars(self).items() if one and name != "notes"}

    def or_recorded(self, recorded: Any) -> KnownFiles:
        """Return these, and for what is not given the files of an earlier run that are there."""
        found, notes = {}, []
        for name, file in recorded.items() if isinstance(recorded, dict) else ():
            if name not in vars(KnownFiles()) or name in self._given:
                continue
            if any(os.path.exists(place) for place in (file, file.rpartition(":")[0])):  # noqa: PTH110
                found[name] = file
            else:
                notes.append(
                    f"the run had {file}, which has moved: name it with {option_of(name)}."
                )
        return KnownFiles(**{**found, **self._given}, notes=tuple(notes))

    def read(self, matrix: Matrix) -> Known:
        """Read the files; ids are the names of the rows and columns of a matrix."""
        from neocc.io._labels import read_labels, read_names_table

        rows = [matrix.name_of_row(row) for row in range(matrix.shape[0])]
        columns = [matrix.name_of_column(column) for column in range(matrix.shape[1])]
        found: dict[str, Any] = {}
        notes = list(self.notes)
        for side, ids in (("rows", rows), ("columns", columns)):
            labels, names = _NAMES[side]
            if labels in self._given:
                found[labels] = read_labels(self._given[labels], ids, side)
                notes += found[labels].notes
            if names in self._given:
                path = self._given[names]
                found[f"{side[:-1]}_names"], said = read_names_table(path, ids, side)
                notes += said
        return Known(**found, notes=tuple(notes))
