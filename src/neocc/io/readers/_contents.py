"""What a reader hands back, and the checks that all of them share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from neocc._places import place_of
from neocc._typing import AnyArray
from neocc.engines.reading import SMALLEST
from neocc.io._errors import FormatError, MissingValueError, ReadError, ValueInCellError
from neocc.io._options import Missing

__all__ = ["MISSING_REMEDY", "SAME_NAME", "TITLE_REMEDY", "Contents", "finite", "real_numbers"]
__all__ += ["sentinel_note", "tiny_note"]

# Numbers that stand for no value in many files.
_SENTINELS = (-99, -999, -9999, -99999)
MISSING_REMEDY = (
    'Fill it in, or pass missing="zero" to read such cells as 0, "ignore" to skip them.'
)
SAME_NAME = "Some {} have the same name."
TITLE_REMEDY = (
    "If it is a title, delete it and all else above the table, or put # before each of these lines."
)


@dataclass(frozen=True)
class Contents:
    """Numbers and names of a file. Names are None where it has none."""

    data: Any
    row_names: tuple[str, ...] | None = None
    column_names: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()


def real_numbers(path: Path, values: AnyArray, what: str = "The array") -> AnyArray:
    """Return an array in a type that estimators take, or refuse objects, text and complex numbers.

    Integers and truth values stay what they are; floats of other sizes become float64 or float32.
    """
    kind, size = values.dtype.kind, values.dtype.itemsize
    if kind not in "biuf":
        raise FormatError(
            path,
            f"{what} holds {_KINDS.get(kind, 'values')} (dtype {values.dtype}).",
            "Store it as real numbers.",
        )
    if kind == "f" and size not in (4, 8):
        return values.astype(np.float32 if size < 4 else np.float64)
    return values.astype(values.dtype.newbyteorder("="), copy=False)


_KINDS = {
    "O": "Python objects, which only pickle could read",
    "V": "records",
    "U": "text",
    "S": "text",
    "c": "complex numbers",
    "m": "durations",
    "M": "dates",
}


def finite(path: Path, contents: Contents, missing: Missing) -> Contents:
    """Return contents without NaN (0 where that was asked for), or name the first bad cell.

    For formats without lines. Text tables are checked as they are read, to name the line.
    """
    data = contents.data
    is_sparse = sparse.issparse(data)
    values = data.data if is_sparse else data
    if values.dtype.kind != "f" or np.isfinite(values).all():
        return contents
    bad = ~np.isfinite(values) if missing == "error" else np.isinf(values)
    if bad.any():
        flat = int(np.argmax(bad))
        raise _bad_cell(path, values.ravel()[flat], *place_of(data, flat), contents)
    n_missing = int(np.isnan(values).sum())
    if missing == "ignore":
        if is_sparse:
            data = without_missing(data)
        notes = (*contents.notes, missing_note(n_missing, missing))
        return Contents(data, contents.row_names, contents.column_names, notes)
    # The array may be a view of a file that is open for reading only.
    filled = np.where(np.isnan(values), 0, values).astype(values.dtype, copy=False)
    if is_sparse:
        data = sparse.csr_array((filled, data.indices, data.indptr), shape=data.shape)
        data.eliminate_zeros()
    else:
        data = filled
    notes = (*contents.notes, missing_note(n_missing, missing))
    return Contents(data, contents.row_names, contents.column_names, notes)


def tiny_note(data: Any) -> tuple[str, ...]:
    """Say how many numbers are so near to 0 that a computer takes their squares for 0."""
    values = data.data if sparse.issparse(data) else data
    if values.dtype.kind != "f":
        return ()
    n_tiny = int(np.count_nonzero((values > -SMALLEST) & (values < SMALLEST) & (values != 0)))
    if not n_tiny:
        return ()
    said = f"{n_tiny} numbers other than 0 are smaller than {SMALLEST:g}, and in squared errors the"
    return (f"{said} same as 0; if they are probabilities, take logarithms.",)


def sentinel_note(data: Any) -> tuple[str, ...]:
    """Say how often -999 and the like occur in columns of a table that have no other negatives."""
    if sparse.issparse(data) or data.dtype.kind not in "if" or not data.size:
        return ()
    least = np.fmin.reduce(data, axis=0)
    found: dict[int, tuple[int, int]] = {}
    for column in np.flatnonzero(np.isin(least, _SENTINELS)):
        cells = data[:, column]
        others = cells[cells != least[column]]
        if (others < 0).any() or not (others >= 0).any():
            continue
        n_cells, n_columns = found.get(int(least[column]), (0, 0))
        found[int(least[column])] = (n_cells + int((cells == least[column]).sum()), n_columns + 1)
    return tuple(
        f"{value} occurs {n_cells} times in {n_columns} columns without other negative numbers; if "
        'it stands for no value, blank these cells and pass missing="ignore".'
        for value, (n_cells, n_columns) in found.items()
        if n_cells > 1
    )


def without_missing(data: Any) -> Any:
    """Return a CSR matrix without the entries that are NaN."""
    entries = data.tocoo()
    kept = ~np.isnan(entries.data)
    cells = (entries.data[kept], (entries.row[kept], entries.col[kept]))
    return sparse.coo_array(cells, shape=data.shape).tocsr()


def missing_note(n_missing: int, missing: Missing) -> str:
    """Say what became of missing values."""
    one = n_missing == 1
    made = "left out" if missing == "ignore" else "read as 0"
    return f"{n_missing:,} missing value{'' if one else 's'} {'was' if one else 'were'} {made}."


def _bad_cell(path: Path, value: float, row: int, column: int, contents: Contents) -> ReadError:
    names = (contents.row_names, contents.column_names)
    places = [
        f"{side} {at + 1}" + ("" if known is None else f" ({known[at]!r})")
        for side, at, known in zip(("row", "column"), (row, column), names, strict=True)
    ]
    where = f"{places[0]}, {places[1]}"
    if np.isnan(value):
        return MissingValueError(path, f"There is no number (NaN) in {where}.", MISSING_REMEDY)
    return ValueInCellError(
        path, f"The number in {where} is infinite.", "Replace it by a finite one."
    )
