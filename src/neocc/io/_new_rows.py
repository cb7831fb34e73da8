"""Which columns of new rows are names and which are data: as in the fit, where that can be seen.

New rows are judged alone, and a few of them may look otherwise than the rows of the fit.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from neocc.io._matrix import Matrix
from neocc.io._registry import accepted_options
from neocc.io.readers._text import is_number
from neocc.io.readers._totals import says_summary

__all__ = ["as_in_the_fit", "may_have_decimal_commas"]

_Names = Sequence[str] | None


def as_in_the_fit(
    matrix: Matrix, n_columns: int, row_names: _Names, column_names: _Names
) -> tuple[dict[str, Any], str] | None:
    """Return options of `read_matrix` with which a file has the columns of the fit, and a note.

    None if it has them, or if nothing is known that would help. What the fit had is told by the
    names of its rows and columns.
    """
    if matrix.is_sparse or "row_names" not in accepted_options(matrix.format):
        return None
    column = _names_column(matrix, n_columns, row_names, column_names)
    if column is not None:
        note = f"Names of the rows: as in the fit (row_names={column!r})."
        if column is True:
            note = "Names of the rows: column 1, as in the fit; row_names=False reads it as data."
        return {"row_names": column}, note
    if matrix.column_names is None or column_names is None:
        return None
    own, known = set(matrix.column_names), set(column_names)
    if own < known:  # ids and totals that the fit was told to take for data
        names = matrix.row_names is not None
        return {"row_names": names}, f"Left out, as in the fit: nothing (row_names={names})."
    others = sorted(own - known)
    if known < own and all(says_summary([name]) for name in others):
        return {"drop": others}, f"Left out, as in the fit: column {', '.join(map(repr, others))}."
    return None


def _names_column(
    matrix: Matrix, n_columns: int, row_names: _Names, column_names: _Names
) -> bool | str | None:
    """Return what is to be read as names, where the columns fit those of the model only then.

    Only whole numbers that never repeat may be names or data.
    """
    own, known = matrix.column_names, None
    if matrix.row_names is not None:
        is_data = row_names is None and matrix.shape[1] == n_columns - 1
        return False if is_data and all(map(is_number, matrix.row_names)) else None
    if row_names is None or matrix.shape[1] != n_columns + 1:
        return None
    if own is not None and column_names is not None:
        known = set(column_names)
    places = [0] if own is None or known is None else _others(own, known)
    cells = matrix.data[:, places[0]] if len(places) == 1 else np.array([np.nan])
    if (cells != np.rint(cells)).any() or len(np.unique(cells)) < len(cells):
        return None
    return True if own is None or not places[0] else own[places[0]]


def _others(names: Sequence[str], known: Collection[str]) -> list[int]:
    """Return the places of names that are not known."""
    return [place for place, name in enumerate(names) if name not in known]


def may_have_decimal_commas(path: Path) -> bool:
    """Whether something else than a comma may separate the cells of a file of text."""
    if path.suffix not in (".csv", ".txt"):
        return True
    with path.open("rb") as file:
        first = file.readline(1 << 16)
    return b"," not in first or b";" in first or b"\t" in first
