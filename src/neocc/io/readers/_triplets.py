"""Batches of triplets (row, column, value), put together as one row-compressed matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from neocc._extras import need
from neocc._places import place_of
from neocc._typing import AnyArray
from neocc.engines.reading import summed
from neocc.io._options import Duplicates, Missing
from neocc.io.readers._contents import Contents, missing_note

__all__ = [
    "TripletBuilder",
    "entry_notes",
    "has_blank",
    "rank_names",
    "sum_entries",
    "triplet_values",
    "with_ones",
]


_AGAIN = {
    "sum": 'values were added up; duplicates="mean" averages them',
    "mean": 'values were averaged; duplicates="sum" adds them up',
    "once": 'they count once; duplicates="sum" counts them',
}


class TripletBuilder:
    """Collects triplets.

    Ids are text. They are numbered in their order as whole numbers if they all are whole numbers
    without leading zeros, else in the order of their characters: the order of the lines does not
    matter.

    Parameters
    ----------
    duplicates : {"sum", "mean", "error", "once"}
        What becomes of entries that occur more than once.
    """

    def __init__(self, duplicates: Duplicates) -> None:
        self._duplicates = duplicates
        self._ids: tuple[list[Any], list[Any]] = ([], [])
        self._values: list[AnyArray] = []
        self._n_missing = 0
        self._missing: Missing = "error"

    def add(self, batch: Any, missing: Missing) -> bool:
        """Add the triplets of a record batch; False if one lacks an id or a finite number."""
        found = triplet_values(batch, missing)
        if found is None:
            return False
        values, n_missing = found
        self._n_missing += n_missing
        self._missing = missing
        for place, known in enumerate(self._ids):
            ids = batch.column(place)
            if ids.null_count or has_blank(ids.dictionary):
                return False
            known.append(ids)
        self._values.append(values)
        return True

    def build(self, notes: tuple[str, ...]) -> Contents | tuple[str, str]:
        """Return the matrix; where duplicates are refused, names of the row and column of one."""
        pa = need("pyarrow")

        rows, row_names = _number(self._ids[0])
        columns, column_names = _number(self._ids[1])
        values = np.concatenate(self._values)
        self._values.clear()
        pa.default_memory_pool().release_unused()
        shape = (len(row_names), len(column_names))
        observed = self._missing == "ignore"
        if observed:
            kept = ~np.isnan(values)
            values, rows, columns = values[kept], rows[kept], columns[kept]
        entries = sparse.coo_array((values, (rows, columns)), shape=shape)
        found = sum_entries(entries, self._duplicates)
        if isinstance(found, tuple):
            return row_names[found[0]], column_names[found[1]]
        n_again = len(values) - found.nnz
        notes += entry_notes(n_again, self._duplicates, self._n_missing, self._missing)
        if not observed:
            found.eliminate_zeros()
        return Contents(found, row_names, column_names, notes)


def entry_notes(
    n_again: int, duplicates: Duplicates, n_missing: int, missing: Missing = "zero"
) -> tuple[str, ...]:
    """Say what became of entries that occur again, and of missing ones."""
    notes: tuple[str, ...] = ()
    if n_again:
        entries = "entry occurs" if n_again == 1 else "entries occur"
        notes += (f"{n_again} {entries} again: {_AGAIN[duplicates]}.",)
    if n_missing:
        notes += (missing_note(n_missing, missing),)
    return notes


def sum_entries(entries: sparse.coo_array, duplicates: Duplicates) -> Any:
    """Compress entries by rows; where duplicates are refused, return the place of one instead."""
    matrix = summed(entries).tocsr(copy=False)
    # SciPy adds entries up when it compresses; fewer are left if some were the same.
    if matrix.nnz == entries.nnz or duplicates in ("sum", "once"):
        matrix.sum_duplicates()
        if duplicates == "once":
            matrix.data[:] = 1.0
        return matrix
    ones = np.ones(entries.nnz)
    counts = sparse.coo_array((ones, (entries.row, entries.col)), shape=entries.shape).tocsr()
    counts.sum_duplicates()
    matrix.sum_duplicates()
    if duplicates == "mean":
        matrix.data /= counts.data
        return matrix
    at = int(np.argmax(counts.data > 1))
    return place_of(counts, at)


def _number(chunks: list[Any]) -> tuple[AnyArray, tuple[str, ...]]:
    """Give ids the same numbers in all chunks; return the numbers, and the names in their order."""
    pa = need("pyarrow")
    pc = need("pyarrow.compute")

    joined = pa.chunked_array(chunks).unify_dictionaries()
    chunks.clear()
    codes = np.concatenate([chunk.indices.to_numpy() for chunk in joined.chunks])
    # Spaces around an id do not make it another one.
    distinct = pc.dictionary_encode(pc.utf8_trim_whitespace(joined.chunk(0).dictionary))
    rank, names = rank_names(distinct.dictionary)
    return rank[distinct.indices.to_numpy()][codes], names


def rank_names(names: Any) -> tuple[AnyArray, tuple[str, ...]]:
    """Return the place of each name in order, and the names in order.

    Whole numbers are in numerical order, other names in that of their characters.
    """
    pa = need("pyarrow")
    pc = need("pyarrow.compute")

    whole = pc.all(pc.match_substring_regex(names, "^(0|-?[1-9][0-9]{0,17})$")).as_py()
    order = pc.sort_indices(names.cast(pa.int64()) if whole else names).to_numpy()
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return rank, tuple(names.take(order).to_pylist())


def with_ones(batch: Any) -> Any:
    """Return a batch of pairs as triplets whose values are 1."""
    pa = need("pyarrow")

    arrays = [*batch.columns, pa.array(np.ones(batch.num_rows))]
    return pa.record_batch(arrays, names=[str(place) for place in range(len(arrays))])


def triplet_values(batch: Any, missing: Missing) -> tuple[AnyArray, int] | None:
    """Return the values of a batch and how many were missing; None if one is not allowed.

    Missing ones are 0, or NaN where they are to be left out.
    """
    pc = need("pyarrow.compute")

    column, n_missing = batch.column(2), 0
    if column.null_count:
        if missing == "error":
            return None
        n_missing = column.null_count
        column = pc.fill_null(column, np.nan if missing == "ignore" else 0.0)
    values = column.to_numpy(zero_copy_only=False).astype(np.float64, copy=False)
    if not np.isfinite(values).all():
        if missing == "error" or np.isinf(values).any():
            return None
        if missing == "ignore":
            return values, int(np.isnan(values).sum())
        n_missing += int(np.isnan(values).sum())
        values = np.nan_to_num(values, nan=0.0)
    return values, n_missing


def has_blank(names: Any) -> bool:
    pc = need("pyarrow.compute")

    return bool(pc.any(pc.equal(pc.utf8_trim_whitespace(names), "")).as_py())
