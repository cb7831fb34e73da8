"""Entries in any order, sorted into blocks of rows by way of the disk.

Entries are appended to files as they come. When all are known, they are dealt out to one file per
block of rows, and each of these, which fits into memory, is sorted by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy import sparse

from neocc._typing import AnyArray, IntArray
from neocc.io._options import Duplicates
from neocc.io.blocks._cutting import ENTRY_BYTES, Cutter
from neocc.io.readers._triplets import sum_entries

__all__ = ["EntrySpool", "Sorted"]

_CHUNK = 1 << 20
_RECORD = np.dtype([("row", np.int32), ("column", np.int32), ("value", np.float64)])


@dataclass(frozen=True)
class Sorted:
    """How many entries occurred again, or where one did though that is refused."""

    n_again: int = 0
    twice: tuple[int, int] | None = None


class EntrySpool:
    """A file of entries (row, column, value), in any order and any number.

    Parameters
    ----------
    folder : Path
        Where to put files while the work lasts.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._folder.mkdir(exist_ok=True)
        self._path = folder / "entries"
        self._counts: IntArray = np.zeros(0, dtype=np.int64)

    def add(self, rows: AnyArray, columns: AnyArray, values: AnyArray) -> None:
        """Append entries."""
        if not len(rows):
            return
        records = np.empty(len(rows), dtype=_RECORD)
        records["row"], records["column"], records["value"] = rows, columns, values
        with self._path.open("ab") as file:
            file.write(records.view(np.uint8).data)
        counts = np.bincount(rows, minlength=len(self._counts))
        counts[: len(self._counts)] += self._counts
        self._counts = counts

    def write(
        self,
        cutter: Cutter,
        shape: tuple[int, int],
        duplicates: Duplicates,
        row_ranks: AnyArray | None = None,
        column_ranks: AnyArray | None = None,
    ) -> Sorted:
        """Write all entries as blocks of rows, rows and columns put at the ranks given."""
        counts = np.zeros(shape[0], dtype=np.int64)
        counts[: len(self._counts)] = self._counts
        if row_ranks is not None:
            ranked = np.empty_like(counts)
            ranked[row_ranks] = counts
            counts = ranked
        edges = _edges(counts, cutter)
        self._deal_out(edges, row_ranks, column_ranks)
        n_again = 0
        for index, (start, stop) in enumerate(pairwise(edges)):
            path = self._folder / f"bucket-{index}"
            records = np.fromfile(path, dtype=_RECORD) if path.exists() else np.empty(0, _RECORD)
            path.unlink(missing_ok=True)
            places = (records["row"] - np.int32(start), records["column"])
            entries = sparse.coo_array((records["value"], places), shape=(stop - start, shape[1]))
            found = sum_entries(entries, duplicates)
            if isinstance(found, tuple):
                return Sorted(twice=(found[0] + int(start), found[1]))
            n_again += len(records) - found.nnz
            found.eliminate_zeros()
            cutter.writer.add(found)
        return Sorted(n_again)

    def _deal_out(
        self, edges: IntArray, row_ranks: AnyArray | None, column_ranks: AnyArray | None
    ) -> None:
        for records in self._chunks():
            if row_ranks is not None:
                records["row"] = row_ranks[records["row"]]
            if column_ranks is not None:
                records["column"] = column_ranks[records["column"]]
            buckets = np.searchsorted(edges, records["row"], side="right") - 1
            order = np.argsort(buckets, kind="stable")
            cuts = np.searchsorted(buckets[order], np.arange(len(edges)))
            for index in range(len(edges) - 1):
                some = order[cuts[index] : cuts[index + 1]]
                if len(some):
                    with (self._folder / f"bucket-{index}").open("ab") as file:
                        file.write(records[some].view(np.uint8).data)
        self._path.unlink(missing_ok=True)

    def _chunks(self) -> Iterator[AnyArray]:
        if not self._path.exists():
            return
        with self._path.open("rb") as file:
            while len(records := np.fromfile(file, dtype=_RECORD, count=_CHUNK)):
                yield records


def _edges(counts: IntArray, cutter: Cutter) -> IntArray:
    """Cut rows of known numbers of entries into blocks of the size asked for."""
    n = len(counts)
    if cutter.rows_per_block is not None:
        return np.append(np.arange(0, n, cutter.rows_per_block), n)
    ends = np.cumsum(counts * ENTRY_BYTES + 8)
    edges = [0]
    while edges[-1] < n:
        before = ends[edges[-1] - 1] if edges[-1] else 0
        fitting = int(np.searchsorted(ends, before + cutter.block_bytes, side="right"))
        edges.append(max(fitting, edges[-1] + 1))
    return np.array(edges)
