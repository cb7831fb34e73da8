"""Blocks to disk, one at a time; the table of contents comes last."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy
from scipy import sparse

from neocc._typing import AnyArray
from neocc.engines.reading import canonical, check_values, readable
from neocc.io.blocks._manifest import (
    MANIFEST,
    NAMES_FILES,
    BlockEntry,
    Manifest,
    file_of,
)

__all__ = ["StoreWriter", "is_ours"]

_LEFT_OUT = '; write_store(..., missing="ignore") stores the others, as observed cells.'
_OURS = re.compile(r"block-\d{6,}\.(indptr|indices|data)\.npy")


def _checked_type(dtype: Any) -> np.dtype[Any]:
    """Return the type that numbers are to be stored in; one that changes them is refused."""
    wanted: np.dtype[Any] = np.dtype(dtype)
    if wanted not in (np.float32, np.float64):
        raise ValueError(f"dtype must be float32 or float64; got {wanted}.")
    return wanted


def is_ours(path: Path) -> bool:
    """Whether a file belongs to a store."""
    known = {MANIFEST, *NAMES_FILES.values()}
    return path.name in known or bool(_OURS.fullmatch(path.name))


class StoreWriter:
    """Writes the blocks of one store into a folder.

    Parameters
    ----------
    folder : Path
        An empty folder.
    place : Path
        Where the store will be, for messages.
    dtype : data type, default=None
        What to store numbers as; by default as they come (sparse ones in float32 or float64).
    """

    def __init__(self, folder: Path, place: Path, dtype: Any = None) -> None:
        self.folder = folder
        self.place = place
        self._dtype = None if dtype is None else _checked_type(dtype)
        self._blocks: list[BlockEntry] = []
        self._totals = {"sum": 0.0, "squares": 0.0, "least": np.inf, "largest": -np.inf}
        self._n_columns: int | None = None
        self._is_sparse = False

    @property
    def n_rows(self) -> int:
        """Number of rows so far."""
        return sum(block.n_rows for block in self._blocks)

    def add(self, rows: Any) -> None:
        """Write a block of rows: an array, or any sparse matrix."""
        if rows.shape[0] == 0:
            return
        rows = readable(rows)
        is_sparse = bool(sparse.issparse(rows))
        if self._n_columns is None:
            self._n_columns, self._is_sparse = int(rows.shape[1]), is_sparse
        self._check_alike(rows, is_sparse)
        parts = _sparse_parts(rows) if is_sparse else _dense_parts(rows)
        self._dtype = parts["data"].dtype if self._dtype is None else self._dtype
        parts["data"] = self._cast(parts["data"])
        index = len(self._blocks)
        checksums = {
            member: _write_array(self.folder / file_of(index, member), part)
            for member, part in parts.items()
        }
        self._count(parts["data"])
        self._blocks.append(BlockEntry(int(rows.shape[0]), int(parts["data"].size), checksums))

    def _cast(self, data: AnyArray) -> AnyArray:
        """Return the numbers in the type of the store; an error if one does not fit."""
        with np.errstate(over="ignore"):
            cast: AnyArray = data.astype(self._dtype, copy=False)
        if cast is not data and cast.dtype.itemsize < data.dtype.itemsize and data.size:
            largest = max(abs(float(cast.min())), abs(float(cast.max())))
            if not np.isfinite(largest):
                found = data.ravel()[np.flatnonzero(~np.isfinite(cast.ravel()))[0]]
                raise ValueError(
                    f"Block {len(self._blocks)} (from row {self.n_rows}) holds {found:g}, which "
                    f"{cast.dtype} cannot hold. Store a wider type, such as float64, or scale the "
                    "data."
                )
        return cast

    def _check_alike(self, rows: Any, is_sparse: bool) -> None:
        index = len(self._blocks)
        if rows.shape[1] != self._n_columns:
            raise ValueError(
                f"Block {index} (from row {self.n_rows}) has {rows.shape[1]} columns, those before "
                f"it have {self._n_columns}. Give all blocks the same columns."
            )
        if is_sparse != self._is_sparse:
            raise ValueError(
                f"Block {index} is {'sparse' if is_sparse else 'dense'}, those before it are not. "
                "Give all blocks in the same form."
            )

    def _count(self, data: AnyArray) -> None:
        if data.size:
            values = data.astype(np.float64, copy=False).ravel()
            self._totals["sum"] += float(values.sum())
            self._totals["squares"] += float(values @ values)
            self._totals["least"] = min(self._totals["least"], float(values.min()))
            self._totals["largest"] = max(self._totals["largest"], float(values.max()))

    def finish(
        self,
        row_names: Iterable[str] | None = None,
        column_names: Sequence[str] | None = None,
        notes: Sequence[str] = (),
    ) -> Manifest:
        """Write names and the table of contents: from now on the store is whole."""
        if self._n_columns is None:
            raise ValueError("There are no rows to store.")
        n, m = self.n_rows, self._n_columns
        names: dict[str, int] = {}
        for side, size, given in (("rows", n, row_names), ("columns", m, column_names)):
            if given is not None:
                names[side] = self._write_names(NAMES_FILES[side], given, size, side)
        if not any(block.n_entries for block in self._blocks):
            self._totals |= {"least": 0.0, "largest": 0.0}
        manifest = Manifest(
            (n, m),
            np.dtype(self._dtype).str,
            self._is_sparse,
            tuple(self._blocks),
            names,
            self._totals,
            tuple(notes),
        )
        text = json.dumps(manifest.as_json(), indent=1)
        (self.folder / MANIFEST).write_text(text, encoding="utf-8")
        return manifest

    def _write_names(self, file_name: str, names: Iterable[str], size: int, side: str) -> int:
        value, count = 0, 0
        with (self.folder / file_name).open("wb") as file:
            for name in names:
                line = json.dumps(str(name)).encode() + b"\n"
                value = zlib.crc32(line, value)
                file.write(line)
                count += 1
        if count != size:
            raise ValueError(f"{count} names for {size} {side}.")
        return value


def _sparse_parts(rows: Any) -> dict[str, AnyArray]:
    """Return the arrays of a block in canonical form, with the narrowest usual indices."""
    X = canonical(rows)
    check_values(X.data, X.shape, None, X, _LEFT_OUT)
    narrow = np.int32 if max(X.shape[1], X.nnz) < 2**31 else np.int64
    return {
        "indptr": (X.indptr - X.indptr[0]).astype(narrow, copy=False),
        "indices": X.indices.astype(narrow, copy=False),
        "data": X.data,
    }


def _dense_parts(rows: Any) -> dict[str, AnyArray]:
    values = np.ascontiguousarray(rows)
    check_values(values, values.shape, None, None, _LEFT_OUT)
    return {"data": values}


class _Summing:
    """A file that adds up the checksum of what passes through it."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.value = 0

    def write(self, data: Any) -> int:
        self.value = zlib.crc32(data, self.value)
        return self._file.write(data)


def _write_array(path: Path, array: AnyArray) -> int:
    """Write an array in NumPy's format 1.0; return the checksum of the file."""
    with path.open("wb") as file:
        summing = _Summing(file)
        npy.write_array_header_1_0(summing, npy.header_data_from_array_1_0(array))
        if array.size:
            summing.write(np.ascontiguousarray(array).data.cast("B"))
    return summing.value
