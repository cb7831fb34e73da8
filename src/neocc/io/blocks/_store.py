"""A matrix in a folder of row blocks, opened without reading it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from scipy import sparse

from neocc._typing import AnyArray, IntArray
from neocc.io._errors import FormatError, ReadError
from neocc.io.blocks import _arrays
from neocc.io.blocks._manifest import (
    NAMES_FILES,
    Manifest,
    checksum,
    file_of,
    members_of,
    read_manifest,
)

__all__ = ["BlockStore", "open_store"]

_DAMAGED = (
    "The disk or a copy is at fault: copy the store again, or write it again. If it was replaced "
    "while it was open, open it again."
)

# Files whose checksums matched in this process, by all that reveals a change: a copy may keep the
# time of the last one, but not the number of the file. The checksum itself comes last, for a store
# that is opened may be replaced by another.
_verified: set[tuple[str | int, ...]] = set()
_verifying = Lock()


@dataclass(frozen=True, eq=False)
class BlockStore:
    """A matrix on disk in blocks of rows, for `fit` and `predict` of the estimators.

    Opening a store reads its table of contents alone; blocks are mapped into memory when they are
    used, and compared with their checksums the first time. A store is small to pickle and to send:
    a path and a few numbers per block.

    Attributes
    ----------
    path : Path
        The folder.
    manifest : Manifest
        What it holds.

    See Also
    --------
    write_store : Write one.
    open_store : Open one.
    """

    path: Path
    manifest: Manifest

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return self.manifest.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the numbers."""
        return np.dtype(self.manifest.dtype)

    @property
    def is_sparse(self) -> bool:
        """Whether blocks are row-compressed."""
        return self.manifest.is_sparse

    @property
    def n_stored(self) -> int:
        """Number of stored entries."""
        return sum(block.n_entries for block in self.manifest.blocks)

    @property
    def digest(self) -> str:
        """Digest of the table of contents and, through the checksums in it, of the store."""
        return self.manifest.sha256

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return len(self.manifest.blocks)

    @cached_property
    def edges(self) -> IntArray:
        """Block i holds rows `edges[i]` to `edges[i + 1]`."""
        return np.cumsum([0] + [block.n_rows for block in self.manifest.blocks])

    @cached_property
    def entries(self) -> IntArray:
        """Number of stored entries of each block."""
        return np.array([block.n_entries for block in self.manifest.blocks], dtype=np.intp)

    @cached_property
    def row_names(self) -> tuple[str, ...] | None:
        """Names of the rows, None where they have none."""
        return self._names("rows")

    @cached_property
    def column_names(self) -> tuple[str, ...] | None:
        """Names of the columns, None where they have none."""
        return self._names("columns")

    def load(self, index: int) -> Any:
        """Return one block as a `csr_array` or an array, mapped into memory.

        The first time in a process its files are read to the end and compared with their checksums.

        Parameters
        ----------
        index : int
            Number of the block, from 0.

        Returns
        -------
        block : csr_array or ndarray
            Its rows. What is written to them does not reach the disk.
        """
        return self._load(index, _arrays.mapped_whole)

    def read(self, index: int) -> Any:
        """Return a copy of one block in memory, for passes, which use it once.

        That is cheaper than mapping and unmapping a file.

        Parameters
        ----------
        index : int
            Number of the block, from 0.

        Returns
        -------
        block : csr_array or ndarray
            As from `load`.
        """
        return self._load(index, _arrays.read)

    def load_part(self, index: int) -> Any:
        """Return one block of which only a few rows will be used: others are not read.

        Parameters
        ----------
        index : int
            Number of the block, from 0.

        Returns
        -------
        block : csr_array or ndarray
            As from `load`.
        """
        return self._load(index, _arrays.mapped)

    def _load(self, index: int, get: Callable[[Path], AnyArray]) -> Any:
        parts = [self._part(index, member, get) for member in members_of(self.is_sparse)]
        n_rows, n_columns = self.manifest.blocks[index].n_rows, self.shape[1]
        if not self.is_sparse:
            return parts[0]
        indptr, indices, data = parts
        block = sparse.csr_array((n_rows, n_columns), dtype=data.dtype)
        # Set rather than passed on: the constructor would look through all indices every time.
        block.indptr, block.indices, block.data = indptr, indices, data
        block.has_sorted_indices = block.has_canonical_format = True
        return block

    def _part(self, index: int, member: str, get: Callable[[Path], AnyArray]) -> AnyArray:
        """Get one file of a block, after a look at its checksum, its type and its shape."""
        entry = self.manifest.blocks[index]
        path = self.path / file_of(index, member)
        n_rows, n_columns = entry.n_rows, self.shape[1]
        wanted: tuple[int, ...] = {
            "indptr": (n_rows + 1,),
            "indices": (entry.n_entries,),
            "data": (entry.n_entries,) if self.is_sparse else (n_rows, n_columns),
        }[member]
        try:
            wanted_sum = entry.checksums[member]
            key = (*_identity(path), wanted_sum)
            is_new = key not in _verified
            if is_new and checksum(path) != wanted_sum:
                raise FormatError(path, "Its bytes do not match their checksum.", _DAMAGED)
            array: AnyArray = get(path)
        except (OSError, ValueError) as error:
            if isinstance(error, ReadError):
                raise
            reason = getattr(error, "strerror", None) or str(error)
            raise FormatError(path, f"The block cannot be read ({reason}).", _DAMAGED) from error
        if array.shape != wanted or (member == "data" and array.dtype != self.dtype):
            raise FormatError(
                path, f"It holds {array.dtype} of shape {array.shape}, not of {wanted}.", _DAMAGED
            )
        if is_new:
            # Kernels trust what they are given: an index out of range would read out of bounds.
            if not _is_sound(member, array, entry.n_entries, n_columns):
                raise FormatError(path, "Its pointers or indices are out of range.", _DAMAGED)
            with _verifying:
                _verified.add(key)
        return array

    def _names(self, side: str) -> tuple[str, ...] | None:
        if side not in self.manifest.names:
            return None
        path = self.path / NAMES_FILES[side]
        try:
            if checksum(path) != self.manifest.names[side]:
                raise FormatError(path, "Its bytes do not match their checksum.", _DAMAGED)
            with path.open(encoding="utf-8") as file:
                names = tuple(str(json.loads(line)) for line in file)
        except OSError as error:
            raise FormatError(path, f"It cannot be read ({error.strerror}).", _DAMAGED) from error
        if len(names) != self.shape[side == "columns"]:
            raise FormatError(path, f"{len(names)} names do not fit the matrix.", _DAMAGED)
        return names

    def __repr__(self) -> str:
        n, m = self.shape
        kind = "sparse" if self.is_sparse else "dense"
        return (
            f"BlockStore({str(self.path)!r}: {n} x {m}, {kind} {self.dtype}, {self.n_stored} "
            f"entries in {self.n_blocks} blocks)"
        )


def open_store(path: str | PathLike[str]) -> BlockStore:
    """Open a matrix that `write_store` or ``neocc convert`` has written.

    Parameters
    ----------
    path : path-like
        The folder.

    Returns
    -------
    store : BlockStore
        The matrix, for `fit`.

    Raises
    ------
    ReadError
        If the folder is not a store, was not written completely, is damaged, or was written by a
        newer version.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from neocc import NEOCC
    >>> from neocc.io import open_store, write_store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     X = np.kron(np.eye(2), np.ones((3, 2)))
    ...     _ = write_store(f"{folder}/matrix", X, rows_per_block=4)
    ...     store = open_store(f"{folder}/matrix")
    ...     model = NEOCC(n_row_clusters=2, n_column_clusters=2, random_state=0).fit(store)
    >>> store.shape, store.n_blocks
    ((6, 4), 2)
    >>> model.objective_
    0.0
    """
    folder = Path(path)
    return BlockStore(folder, read_manifest(folder))


def _identity(path: Path) -> tuple[str | int, ...]:
    found = path.stat()
    return str(path.absolute()), found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _is_sound(member: str, array: AnyArray, n_entries: int, n_columns: int) -> bool:
    if member == "indptr":
        whole = array.dtype.kind == "i" and bool(array[0] == 0 and array[-1] == n_entries)
        return whole and not (np.diff(array) < 0).any()
    if member == "indices":
        inside = not len(array) or bool(array.min() >= 0 and array.max() < n_columns)
        return array.dtype.kind == "i" and inside
    return True
