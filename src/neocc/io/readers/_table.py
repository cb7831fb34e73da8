"""Batches of columns of numbers, put together as one C-ordered array."""

from __future__ import annotations

from typing import Any

import numpy as np

from neocc._typing import FloatArray
from neocc.io._options import Missing
from neocc.io.readers._contents import SAME_NAME, Contents, missing_note

__all__ = ["TableBuilder"]


class TableBuilder:
    """Collects the rows of a table.

    Parameters
    ----------
    column_names : tuple of str or None
        Names of the columns of numbers.
    has_row_names : bool
        Whether the first column of each batch holds the names of the rows.
    """

    def __init__(self, column_names: tuple[str, ...] | None, *, has_row_names: bool) -> None:
        self._column_names = column_names
        self._names: list[str] | None = [] if has_row_names else None
        self._blocks: list[FloatArray] = []
        self._n_missing = 0
        self._n_rows = 0
        self._without: list[int] = []  # rows without any value
        self._missing: Missing = "zero"

    @property
    def n_missing(self) -> int:
        """Number of missing values so far."""
        return self._n_missing

    def add(self, batch: Any, missing: Missing) -> bool:
        """Add rows; False if a cell holds no finite number (if not "error": an infinite one)."""
        if self._names is not None:
            self._names.extend((name or "").strip() for name in batch.column(0).to_pylist())
            batch = batch.select(list(range(1, batch.num_columns)))
        if batch.num_rows:
            block: FloatArray = batch.to_tensor(null_to_nan=True, row_major=True).to_numpy()
            if not np.isfinite(block).all():
                if missing == "error" or np.isinf(block).any():
                    return False
                is_missing = np.isnan(block)
                self._n_missing += int(is_missing.sum())
                if block.shape[1] > 1:
                    without = np.flatnonzero(is_missing.all(axis=1))
                    self._without += (self._n_rows + without).tolist()
                self._missing = missing
                if missing == "zero":
                    block = np.nan_to_num(block, nan=0.0)
            self._blocks.append(block)
            self._n_rows += len(block)
        return True

    def build(self, notes: tuple[str, ...]) -> Contents:
        """Return the table."""
        data = self._blocks[0] if len(self._blocks) == 1 else np.concatenate(self._blocks)
        data = np.ascontiguousarray(data)
        # What comes from Arrow may be read-only, and estimators need not know.
        data = data if data.flags.writeable else data.copy()
        if self._n_missing:
            notes += (missing_note(self._n_missing, self._missing),)
        row_names = None if self._names is None else tuple(self._names)
        notes += _without_values(self._without, row_names)
        if row_names is not None and "" in row_names:
            n_blank, first = row_names.count(""), row_names.index("") + 1
            who = "1 row has" if n_blank == 1 else f"{n_blank} rows have"
            notes += (f"{who} no name, where others have one (first: row {first}).",)
        for names, side in ((row_names, "rows"), (self._column_names, "columns")):
            if names is not None and len(set(names)) < len(names):
                notes += (SAME_NAME.format(side),)
        return Contents(data, row_names, self._column_names, notes)


def _without_values(rows: list[int], names: tuple[str, ...] | None) -> tuple[str, ...]:
    """Say which rows have no values at all; a note below the table may look like one."""
    if not rows:
        return ()
    first = f"row {rows[0] + 1}" + ("" if names is None else f", {names[rows[0]][:40]!r}")
    if len(rows) == 1:
        return (f"There are no values at all in {first}; delete its line if it is a note.",)
    said = f"There are no values at all in {len(rows)} rows (first: {first})"
    return (f"{said}; delete those that are notes.",)
