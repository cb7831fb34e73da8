"""Compiled kernels for sparse blocks; same functions and meaning as `neocc.kernels.numpy_`.

Each compiled function walks the rows of one block once, releases the interpreter lock, allocates nothing
of the size of the data and is cached on disk, so that a machine compiles it only once. Parallelism
is the engine's: it runs blocks on threads and adds their results in block order. Sums are float64
whatever the type of the data.
"""

from __future__ import annotations

from typing import TypeVar

import numba
import numpy as np

from neocc._typing import AnyArray, BoolArray, FloatArray, IntArray, LabelArray
from neocc.kernels import numpy_
from neocc.kernels.blocks import Block, SparseBlock
from neocc.kernels.memberships import Memberships

_Function = TypeVar("_Function")


def _compiled(function: _Function) -> _Function:
    compiled: _Function = numba.njit(nogil=True, cache=True, boundscheck=False)(function)
    return compiled


def gather(
    block: Block,
    columns: Memberships | None,
    table: FloatArray | None,
    *,
    sums: FloatArray | None,
    squares: FloatArray | None,
    products: FloatArray | None,
) -> None:
    """Write row-wise sums (X V), weighted squares and products (X P) of a block."""
    if not isinstance(block, SparseBlock):
        numpy_.gather(block, columns, table, sums=sums, squares=squares, products=products)
        return
    X = (block.indptr, block.indices, block.data)
    if columns is None:
        if squares is not None:
            _row_squares(*X, squares)
    elif sums is not None or squares is not None:
        sums = np.empty((block.n_rows, columns.n_clusters)) if sums is None else sums
        squares = np.empty(block.n_rows) if squares is None else squares
        longest = int(np.diff(block.indptr).max(initial=0)) if len(columns.extra_items) else 0
        _row_sums(*X, *_lists(columns), sums, squares, np.empty(longest + 1, dtype=np.intp))
    if products is not None and table is not None:
        _row_products(*X, table, products)


def scatter(
    block: Block,
    rows: Memberships | None,
    table: FloatArray | None,
    *,
    sums: FloatArray | None,
    squares: FloatArray | None,
    products: FloatArray | None,
) -> None:
    """Add column-wise sums (U' X), weighted squares and products (X' P) of a block."""
    if not isinstance(block, SparseBlock):
        numpy_.scatter(block, rows, table, sums=sums, squares=squares, products=products)
        return
    X = (block.indptr, block.indices, block.data)
    if rows is None:
        if squares is not None:
            _column_squares(*X, squares)
    elif sums is not None or squares is not None:
        sums = np.zeros((rows.n_clusters, block.n_columns)) if sums is None else sums
        squares = np.zeros(block.n_columns) if squares is None else squares
        first, _, extra_ptr, extra_clusters = _lists(rows)
        _column_sums(*X, first, extra_ptr, extra_clusters, sums, squares)
    if products is not None and table is not None:
        _column_products(*X, table, products)


def _lists(members: Memberships) -> tuple[LabelArray, BoolArray, IntArray, LabelArray]:
    return members.first, members.has_extra, members.extra_ptr, members.extra_clusters


@_compiled
def _row_squares(indptr: AnyArray, indices: AnyArray, data: AnyArray, squares: FloatArray) -> None:
    for p in range(len(indptr) - 1):
        total = 0.0
        for e in range(indptr[p], indptr[p + 1]):
            x = np.float64(data[e])
            total += x * x
        squares[p] = total


@_compiled
def _row_sums(
    indptr: AnyArray,
    indices: AnyArray,
    data: AnyArray,
    first: LabelArray,
    has_extra: BoolArray,
    extra_ptr: IntArray,
    extra_clusters: LabelArray,
    sums: FloatArray,
    squares: FloatArray,
    found: IntArray,
) -> None:
    """`found` is scratch space: the entries of one row whose column lies in several clusters."""
    some_extra = len(extra_clusters) > 0
    for p in range(len(indptr) - 1):
        row = sums[p]
        row[:] = 0.0
        total = 0.0
        n_found = 0
        for e in range(indptr[p], indptr[p + 1]):
            t = indices[e]
            x = np.float64(data[e])
            cluster = first[t]
            if cluster >= 0:
                row[cluster] += x
                total += x * x
            if some_extra:
                # Collecting without a branch: overlap is unpredictable, and a missed guess costs more.
                found[n_found] = e
                n_found += has_extra[t]
        for i in range(n_found):
            e = found[i]
            t = indices[e]
            x = np.float64(data[e])
            for a in range(extra_ptr[t], extra_ptr[t + 1]):
                row[extra_clusters[a]] += x
                total += x * x
        squares[p] = total


@_compiled
def _row_products(
    indptr: AnyArray, indices: AnyArray, data: AnyArray, table: FloatArray, products: FloatArray
) -> None:
    width = table.shape[1]
    for p in range(len(indptr) - 1):
        row = products[p]
        row[:] = 0.0
        for e in range(indptr[p], indptr[p + 1]):
            x = np.float64(data[e])
            line = table[indices[e]]
            for q in range(width):
                row[q] += x * line[q]


@_compiled
def _column_squares(
    indptr: AnyArray, indices: AnyArray, data: AnyArray, squares: FloatArray
) -> None:
    for e in range(indptr[0], indptr[-1]):
        x = np.float64(data[e])
        squares[indices[e]] += x * x


@_compiled
def _column_sums(
    indptr: AnyArray,
    indices: AnyArray,
    data: AnyArray,
    first: LabelArray,
    extra_ptr: IntArray,
    extra_clusters: LabelArray,
    sums: FloatArray,
    squares: FloatArray,
) -> None:
    for p in range(len(indptr) - 1):
        start, stop = indptr[p], indptr[p + 1]
        if first[p] >= 0:
            line = sums[first[p]]
            for e in range(start, stop):
                x = np.float64(data[e])
                t = indices[e]
                line[t] += x
                squares[t] += x * x
        for a in range(extra_ptr[p], extra_ptr[p + 1]):
            line = sums[extra_clusters[a]]
            for e in range(start, stop):
                x = np.float64(data[e])
                t = indices[e]
                line[t] += x
                squares[t] += x * x


@_compiled
def _column_products(
    indptr: AnyArray, indices: AnyArray, data: AnyArray, table: FloatArray, products: FloatArray
) -> None:
    width = table.shape[1]
    for p in range(len(indptr) - 1):
        row = table[p]
        for e in range(indptr[p], indptr[p + 1]):
            x = np.float64(data[e])
            line = products[indices[e]]
            for q in range(width):
                line[q] += x * row[q]


