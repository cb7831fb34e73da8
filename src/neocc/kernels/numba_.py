"""Compiled kernels for sparse blocks; same functions and meaning as `neocc.kernels.numpy_`.

Each compiled function walks the rows of one block once, releases the interpreter lock, allocates
nothing of the size of the data and is cached on disk, so that a machine compiles it only once.
Parallelism is the engine's: it runs blocks on threads and adds their results in block order. Sums
are float64 whatever the type of the data.
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
            _row_squares(block.indptr, block.data, squares)
    elif sums is not None or squares is not None:
        sums = np.empty((block.n_rows, columns.n_clusters)) if sums is None else sums
        squares = np.empty(block.n_rows) if squares is None else squares
        longest = int(np.diff(block.indptr).max(initial=0)) if len(columns.extra_items) else 0
        _row_sums(
            *X,
            columns.first,
            columns.has_extra,
            columns.extra_ptr,
            columns.extra_clusters,
            sums,
            squares,
            np.empty(longest + 1, dtype=np.intp),
        )
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
        if rows is not None and sums is not None:
            _add_rows(block, rows.first, rows.extra_items, rows.extra_clusters, sums)
        numpy_.scatter(block, rows, table, sums=None, squares=squares, products=products)
        return
    X = (block.indptr, block.indices, block.data)
    if rows is None:
        if squares is not None:
            _column_squares(*X, squares)
    elif sums is not None or squares is not None:
        sums = np.zeros((rows.n_clusters, block.n_columns)) if sums is None else sums
        squares = np.zeros(block.n_columns) if squares is None else squares
        _column_sums(*X, rows.first, rows.extra_ptr, rows.extra_clusters, sums, squares)
    if products is not None and table is not None:
        _column_products(*X, table, products)


def nearest(
    d: FloatArray,
    item_terms: FloatArray,
    cluster_terms: FloatArray,
    squares: FloatArray,
    magnitude: FloatArray,
    members: Memberships | None,
) -> tuple[IntArray, FloatArray, float]:
    """Complete the distances in `d` and make them comparable; return argmin and min of each row."""
    if members is None:
        members = Memberships.from_labels(np.full(len(d), -1, dtype=np.int32), d.shape[1])
    labels, minima = np.empty(len(d), dtype=np.intp), np.empty(len(d))
    total = _nearest(
        d,
        item_terms,
        cluster_terms,
        squares * numpy_.NOISE_SCALE,
        magnitude * numpy_.NOISE_SCALE,
        numpy_.TIE_SCALE,
        members.first,
        members.extra_items,
        members.extra_clusters,
        labels,
        minima,
    )
    return labels, minima, total


@_compiled
def _row_squares(indptr: AnyArray, data: AnyArray, squares: FloatArray) -> None:
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
    """`found` is scratch space: the entries of one row whose column lies in several clusters.

    Whether a column is an outlier or overlaps is unpredictable, and a mispredicted branch costs
    more than the work it saves: outliers go to a slot of their own, entries with extra clusters
    are collected.
    """
    some_extra = len(extra_clusters) > 0
    n_clusters = sums.shape[1]
    slots = np.empty(n_clusters + 1)
    for p in range(len(indptr) - 1):
        slots[:] = 0.0
        total = 0.0
        n_found = 0
        for e in range(indptr[p], indptr[p + 1]):
            t = indices[e]
            x = np.float64(data[e])
            cluster = first[t]
            slots[cluster + 1] += x
            total += x * x if cluster >= 0 else 0.0
            if some_extra:
                found[n_found] = e
                n_found += has_extra[t]
        for i in range(n_found):
            e = found[i]
            t = indices[e]
            x = np.float64(data[e])
            for a in range(extra_ptr[t], extra_ptr[t + 1]):
                slots[extra_clusters[a] + 1] += x
                total += x * x
        sums[p, :] = slots[1:]
        squares[p] = total


@_compiled
def _row_products(
    indptr: AnyArray, indices: AnyArray, data: AnyArray, table: FloatArray, products: FloatArray
) -> None:
    width = table.shape[1]
    for p in range(len(indptr) - 1):
        row = products[p]
        row[:] = 0.0
        e, stop = indptr[p], indptr[p + 1]
        # Four entries at a time: each visit to `row` is a load and a store, the table lines are
        # the work.
        while e + 3 < stop:
            x0, line0 = np.float64(data[e]), table[indices[e]]
            x1, line1 = np.float64(data[e + 1]), table[indices[e + 1]]
            x2, line2 = np.float64(data[e + 2]), table[indices[e + 2]]
            x3, line3 = np.float64(data[e + 3]), table[indices[e + 3]]
            for q in range(width):
                row[q] += (x0 * line0[q] + x1 * line1[q]) + (x2 * line2[q] + x3 * line3[q])
            e += 4
        while e < stop:
            x0, line0 = np.float64(data[e]), table[indices[e]]
            for q in range(width):
                row[q] += x0 * line0[q]
            e += 1


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


@_compiled
def _add_rows(
    X: FloatArray,
    first: LabelArray,
    extra_items: IntArray,
    extra_clusters: LabelArray,
    sums: FloatArray,
) -> None:
    n_columns = X.shape[1]
    for p in range(len(X)):
        if first[p] >= 0:
            line = sums[first[p]]
            for t in range(n_columns):
                line[t] += X[p, t]
    for a in range(len(extra_items)):
        row, line = X[extra_items[a]], sums[extra_clusters[a]]
        for t in range(n_columns):
            line[t] += row[t]


@_compiled
def _nearest(
    d: FloatArray,
    item_terms: FloatArray,
    cluster_terms: FloatArray,
    squares: FloatArray,
    magnitude: FloatArray,
    tie_scale: float,
    first: LabelArray,
    extra_items: IntArray,
    extra_clusters: LabelArray,
    labels: IntArray,
    minima: FloatArray,
) -> float:
    n_clusters = d.shape[1]
    total = 0.0
    a = 0
    for p in range(len(d)):
        row = d[p]
        for q in range(n_clusters):
            row[q] += item_terms[p] + cluster_terms[q]
        if first[p] >= 0:
            total += row[first[p]]
        while a < len(extra_items) and extra_items[a] == p:
            total += row[extra_clusters[a]]
            a += 1
        for q in range(n_clusters):
            anchor = max(squares[p] + magnitude[q], abs(row[q]) * tie_scale)
            row[q] = (row[q] + anchor) - anchor
        label, least = 0, np.inf
        for q in range(n_clusters):
            if magnitude[q] == np.inf:
                row[q] = np.inf
            if row[q] < least:
                label, least = q, row[q]
        labels[p], minima[p] = label, least
    return total
