"""What readers put their batches into: matrices in memory, or anything with that interface."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from neocc._typing import AnyArray
from neocc.io._options import Duplicates, Missing
from neocc.io.readers._contents import Contents
from neocc.io.readers._sparse import from_entries
from neocc.io.readers._table import TableBuilder
from neocc.io.readers._triplets import TripletBuilder

__all__ = ["IN_MEMORY", "BatchBuilder", "Builders", "EntryBuilder", "InMemory"]


class BatchBuilder(Protocol):
    """Collects record batches."""

    def add(self, batch: Any, missing: Missing) -> bool:
        """Add the rows of a batch; False if one lacks a name or a finite number."""

    def build(self, notes: tuple[str, ...]) -> Contents | tuple[str, str]:
        """Return the matrix, or the names of a cell that occurs twice where that is refused."""


class EntryBuilder(Protocol):
    """Collects entries whose places are numbers."""

    def add(self, rows: AnyArray, columns: AnyArray, values: AnyArray) -> None:
        """Add entries."""

    def build(self) -> Any:
        """Return the matrix, or the place of a cell that occurs twice where that is refused."""


class Builders(Protocol):
    """Makes a builder for each kind of file."""

    def table(self, names: tuple[str, ...] | None, *, has_row_names: bool) -> BatchBuilder:
        """Return a builder for the rows of a table."""

    def triplets(self, duplicates: Duplicates) -> BatchBuilder:
        """Return a builder for triplets."""

    def entries(self, source: Any, shape: tuple[int, int], duplicates: Duplicates) -> EntryBuilder:
        """Return a builder for entries in coordinate form."""


class InMemory:
    """Builders of matrices in memory."""

    def table(self, names: tuple[str, ...] | None, *, has_row_names: bool) -> BatchBuilder:
        """Return a builder for the rows of a table."""
        return TableBuilder(names, has_row_names=has_row_names)

    def triplets(self, duplicates: Duplicates) -> BatchBuilder:
        """Return a builder for triplets."""
        return TripletBuilder(duplicates)

    def entries(self, source: Any, shape: tuple[int, int], duplicates: Duplicates) -> EntryBuilder:
        """Return a builder for entries in coordinate form."""
        return _Entries(source.path, shape, duplicates)


class _Entries:
    def __init__(self, path: Any, shape: tuple[int, int], duplicates: Duplicates) -> None:
        self._path = path
        self._shape = shape
        self._duplicates = duplicates
        self._index = np.int32 if max(shape) < 2**31 else np.int64
        self._parts: tuple[list[AnyArray], ...] = ([], [], [])

    def add(self, rows: AnyArray, columns: AnyArray, values: AnyArray) -> None:
        for part, new in zip(self._parts, (values, rows, columns), strict=True):
            part.append(new if part is self._parts[0] else new.astype(self._index))

    def build(self) -> Any:
        values, rows, columns = (np.concatenate(part or [np.empty(0)]) for part in self._parts)
        places = (rows.astype(self._index), columns.astype(self._index))
        return from_entries(self._path, (values, *places), self._shape, self._duplicates)


IN_MEMORY = InMemory()
