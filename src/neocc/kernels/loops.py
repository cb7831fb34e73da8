"""The compiled loops of `neocc.kernels.numba_`.

Each walks the rows of one block once, releases the interpreter lock, allocates nothing of the size
of the data and is cached on disk, so that a machine compiles it only once. Sums are float64
whatever the type of the data. Optional arrays are empty where there are none. Indices are read as
unsigned numbers: numba would test signed ones for being negative, which takes as long as the sum.
"""

from __future__ import annotations

from typing import TypeVar

import numba
import numpy as np
from numba.extending import intrinsic

from neocc._typing import AnyArray, BoolArray, FloatArray, IntArray, LabelArray

__all__ = [
    "compiled",
    "gather_sparse",
    "intrinsic",
    "multiply",
    "multiply_transposed",
    "scatter_dense",
    "scatter_sparse",
    "square_rows",
    "without_nan",
]

_Function = TypeVar("_Function")


def compiled(function: _Function) -> _Function:
    """Compile a function on its first call, and keep the result on disk."""
    wrapped: _Function = numba.njit(nogil=True, cache=True, boundscheck=False)(function)
    return wrapped


def without_nan(function: _Function) -> _Function:
    """Compile a function that meets no NaN: minima can be found several at a time then."""
    options = {"nogil": True, "cache": True, "boundscheck": False, "fastmath": {"nnan", "nsz"}}
    wrapped: _Function = numba.njit(**options)(function)
    return wrapped


@compiled
def gather_sparse(
    indptr: AnyArray,
    indices: AnyArray,
    data: AnyArray,
    first: LabelArray,
    scale: FloatArray,
    has_extra: BoolArray,
    extra_ptr: IntArray,
    extra_clusters: LabelArray,
    weights: FloatArray,
    sums: FloatArray,
    squares: FloatArray,
    found: AnyArray,
) -> None:
    """Sum rows over clusters, in four slots per cluster: an addition waits for the one before it.

    Whether a column is an outlier or overlaps is unpredictable, and a mispredicted branch costs
    more than the work it saves: outliers go to slots of their own, entries whose column lies in
    several clusters are collected in `found`, a scratch space as long as the longest row.
    """
    width = np.uint64(sums.shape[1] + 1)
    slots = np.empty(4 * sums.shape[1] + 4)
    for p in range(len(indptr) - 1):
        slots[:] = 0.0
        start, stop, n_found = np.uint64(indptr[p]), np.uint64(indptr[p + 1]), np.uint64(0)
        if len(scale):
            # Entries are looked at once: to look for each of these three takes as long as to add.
            total = 0.0
            for e in range(start, stop):
                t, x = indices[e], np.float64(data[e])
                slots[np.uint64(first[t] + 1)] += x * scale[t]
                if len(squares):
                    total += weights[t] * x * x
                if len(extra_clusters):
                    found[n_found] = e
                    n_found += np.uint64(has_extra[t])
            if len(squares):
                squares[p] = total
        else:
            at = start
            while at + np.uint64(3) < stop:
                for i in range(np.uint64(4)):
                    slots[i * width + np.uint64(first[indices[at + i]] + 1)] += data[at + i]
                at += np.uint64(4)
            for rest in range(at, stop):
                slots[np.uint64(first[indices[rest]] + 1)] += data[rest]
        if len(squares) and not len(scale):
            total = 0.0
            for e in range(start, stop):
                x = np.float64(data[e])
                total += weights[indices[e]] * x * x
            squares[p] = total
        if len(extra_clusters):
            if not len(scale):
                for e in range(start, stop):
                    found[n_found] = e
                    n_found += np.uint64(has_extra[indices[e]])
            for i in range(n_found):
                e = found[i]
                t = indices[e]
                x = np.float64(data[e])
                if len(scale):
                    x *= scale[t]
                for a in range(extra_ptr[t], extra_ptr[np.uint64(t) + np.uint64(1)]):
                    slots[np.uint64(extra_clusters[a] + 1)] += x
        for j in range(np.uint64(1), width):
            sums[p, j - np.uint64(1)] = (slots[j] + slots[width + j]) + (
                slots[np.uint64(2) * width + j] + slots[np.uint64(3) * width + j]
            )


@compiled
def square_rows(
    indptr: AnyArray, indices: AnyArray, data: AnyArray, weights: FloatArray, squares: FloatArray
) -> None:
    """Write the weighted squares of each row."""
    for p in range(len(indptr) - 1):
        total = 0.0
        for e in range(np.uint64(indptr[p]), np.uint64(indptr[p + 1])):
            x = np.float64(data[e])
            total += weights[indices[e]] * x * x if len(weights) else x * x
        squares[p] = total


@compiled
def scatter_sparse(
    indptr: AnyArray,
    indices: AnyArray,
    data: AnyArray,
    first: LabelArray,
    scale: FloatArray,
    extra_items: IntArray,
    extra_clusters: LabelArray,
    weights: FloatArray,
    sums: FloatArray,
    squares: FloatArray,
) -> None:
    """Add rows to the sums of their clusters, column by column."""
    n_clusters = np.uint64(sums.shape[1])
    table = sums.reshape(-1)
    a = 0
    for p in range(len(indptr) - 1):
        start, stop = np.uint64(indptr[p]), np.uint64(indptr[p + 1])
        weight, square = scale[p] if len(scale) else 1.0, weights[p] if len(squares) else 0.0
        both = len(first) > 0 and first[p] >= 0 and square != 0.0
        if both:
            cluster = np.uint64(first[p])
            for e in range(start, stop):
                t, x = np.uint64(indices[e]), np.float64(data[e])
                squares[t] += square * x * x
                table[t * n_clusters + cluster] += weight * x
        elif square != 0.0:
            for e in range(start, stop):
                x = np.float64(data[e])
                squares[indices[e]] += square * x * x
        if len(first) == 0:
            continue
        if first[p] >= 0 and not both:
            cluster = np.uint64(first[p])
            for e in range(start, stop):
                table[np.uint64(indices[e]) * n_clusters + cluster] += weight * data[e]
        while a < len(extra_items) and extra_items[a] == p:
            cluster = np.uint64(extra_clusters[a])
            for e in range(start, stop):
                table[np.uint64(indices[e]) * n_clusters + cluster] += weight * data[e]
            a += 1


@compiled
def scatter_dense(
    X: FloatArray,
    first: LabelArray,
    scale: FloatArray,
    extra_items: IntArray,
    extra_clusters: LabelArray,
    weights: FloatArray,
    sums: FloatArray,
    squares: FloatArray,
) -> None:
    """Add rows to lines of their clusters, and these to the sums, which lie column by column."""
    lines = np.zeros((sums.shape[1], sums.shape[0]))
    for p in range(len(weights)):
        if weights[p] != 0.0:
            for t in range(len(squares)):
                squares[t] += weights[p] * X[p, t] * X[p, t]
    for p in range(len(first)):
        if first[p] >= 0:
            line, weight = lines[first[p]], scale[p] if len(scale) else 1.0
            for t in range(len(line)):
                line[t] += weight * X[p, t]
    for a in range(len(extra_items)):
        p = extra_items[a]
        line, weight = lines[extra_clusters[a]], scale[p] if len(scale) else 1.0
        for t in range(len(line)):
            line[t] += weight * X[p, t]
    for t in range(len(sums)):
        for q in range(len(lines)):
            sums[t, q] += lines[q, t]


@compiled
def multiply(
    indptr: AnyArray, indices: AnyArray, data: AnyArray, table: FloatArray, products: FloatArray
) -> None:
    """Four entries at a time: each visit to `row` is a load and a store, lines are the work."""
    width, one = table.shape[1], np.uint64(1)
    for p in range(len(indptr) - 1):
        row = products[p]
        row[:] = 0.0
        e, stop = np.uint64(indptr[p]), np.uint64(indptr[p + 1])
        while e + np.uint64(3) < stop:
            x0, line0 = np.float64(data[e]), table[indices[e]]
            x1, line1 = np.float64(data[e + one]), table[indices[e + one]]
            x2, line2 = np.float64(data[e + np.uint64(2)]), table[indices[e + np.uint64(2)]]
            x3, line3 = np.float64(data[e + np.uint64(3)]), table[indices[e + np.uint64(3)]]
            for q in range(width):
                row[q] += (x0 * line0[q] + x1 * line1[q]) + (x2 * line2[q] + x3 * line3[q])
            e += np.uint64(4)
        while e < stop:
            x0, line0 = np.float64(data[e]), table[indices[e]]
            for q in range(width):
                row[q] += x0 * line0[q]
            e += one


@compiled
def multiply_transposed(
    indptr: AnyArray, indices: AnyArray, data: AnyArray, table: FloatArray, products: FloatArray
) -> None:
    """Add each row times a row of the table."""
    width = table.shape[1]
    for p in range(len(indptr) - 1):
        row = table[p]
        for e in range(np.uint64(indptr[p]), np.uint64(indptr[p + 1])):
            x = np.float64(data[e])
            line = products[indices[e]]
            for q in range(width):
                line[q] += x * row[q]
