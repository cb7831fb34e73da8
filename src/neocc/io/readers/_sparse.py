"""Sparse matrices from arrays that a file holds: every index checked, rows compressed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from neocc._typing import AnyArray
from neocc.engines.reading import summed
from neocc.io._errors import FormatError
from neocc.io._options import Duplicates
from neocc.io._source import check_shape
from neocc.io.readers._contents import real_numbers
from neocc.io.readers._triplets import sum_entries

__all__ = ["from_compressed", "from_entries", "read_shape"]

_AGAIN = "The file is damaged: write it again."


def read_shape(path: Path, shape: Any, size: int) -> tuple[int, int]:
    """Check the declared shape of a matrix against the size of its file."""
    values = np.asarray(shape)
    if values.shape != (2,) or values.dtype.kind not in "iu":
        raise FormatError(path, f"{shape!r} is not the shape of a matrix.", _AGAIN)
    n_rows, n_columns = (int(value) for value in values)
    check_shape(path, (n_rows, n_columns), size)
    return n_rows, n_columns


def from_compressed(
    path: Path, parts: tuple[AnyArray, AnyArray, AnyArray], shape: tuple[int, int], axis: int
) -> sparse.csr_array:
    """Make a matrix from data, indices and indptr, compressed by rows (axis 0) or columns (1)."""
    data, indices, indptr = parts
    _check_vectors(path, data=data, indices=indices, indptr=indptr)
    data = real_numbers(path, data)
    n_lines, width = shape if axis == 0 else shape[::-1]
    _check_range(path, indices, width)
    if len(indptr) != n_lines + 1 or len(indices) != len(data):
        raise FormatError(
            path,
            f"Its {n_lines} lines need {n_lines + 1} pointers and as many indices as numbers; "
            f"there are {len(indptr)}, {len(indices)} and {len(data)}.",
            _AGAIN,
        )
    ends = (int(indptr[0]), int(indptr[-1]))
    if ends != (0, len(data)) or (np.diff(indptr.astype(np.int64)) < 0).any():
        raise FormatError(path, "The pointers to its lines do not rise from 0 to the end.", _AGAIN)
    kind = sparse.csr_array if axis == 0 else sparse.csc_array
    matrix = summed(kind((data, indices, indptr), shape=shape)).tocsr()
    matrix.sum_duplicates()
    return matrix


def from_entries(
    path: Path,
    parts: tuple[AnyArray, AnyArray, AnyArray],
    shape: tuple[int, int],
    duplicates: Duplicates = "sum",
) -> sparse.csr_array | tuple[int, int]:
    """Make a matrix from data, rows and columns; or return the place of a refused duplicate."""
    data, rows, columns = parts
    _check_vectors(path, data=data, row=rows, col=columns)
    data = real_numbers(path, data)
    if not len(data) == len(rows) == len(columns):
        raise FormatError(
            path,
            f"There are {len(data)} numbers, {len(rows)} rows and {len(columns)} columns.",
            _AGAIN,
        )
    _check_range(path, rows, shape[0])
    _check_range(path, columns, shape[1])
    if duplicates == "mean" or data.dtype.kind == "b":
        data = data.astype(np.float64)
    return sum_entries(sparse.coo_array((data, (rows, columns)), shape=shape), duplicates)


def _check_vectors(path: Path, **vectors: AnyArray) -> None:
    for name, vector in vectors.items():
        if vector.ndim != 1:
            raise FormatError(path, f"{name!r} has {vector.ndim} dimensions, not one.", _AGAIN)
        if name != "data" and vector.dtype.kind not in "iu":
            raise FormatError(path, f"{name!r} holds {vector.dtype}, not whole numbers.", _AGAIN)


def _check_range(path: Path, indices: AnyArray, size: int) -> None:
    if not len(indices):
        return
    low, high = int(indices.min()), int(indices.max())
    if low < 0 or high >= size:
        raise FormatError(
            path,
            f"An index is {low if low < 0 else high}; indices should lie from 0 to {size - 1}.",
            _AGAIN,
        )
