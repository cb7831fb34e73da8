"""Compiled loops that update sums of columns where few rows changed clusters."""

from __future__ import annotations

import numpy as np

from neocc._typing import AnyArray, FloatArray, IntArray, LabelArray
from neocc.kernels.loops import compiled

__all__ = ["add_rows", "add_squares"]


@compiled
def add_rows(
    indptr: AnyArray,
    indices: AnyArray,
    data: AnyArray,
    some: IntArray,
    first: LabelArray,
    extra_ptr: IntArray,
    extra_clusters: LabelArray,
    sign: float,
    sums: FloatArray,
    counts: FloatArray,
) -> None:
    """Add some rows, times a sign, to the sums of their clusters, column by column.

    With `counts` each entry counts as one observed cell.
    """
    n_clusters = np.uint64(sums.shape[1])
    table, counted = sums.reshape(-1), counts.reshape(-1)
    for i in range(len(some)):
        p = some[i]
        start, stop = np.uint64(indptr[p]), np.uint64(indptr[p + 1])
        low, high = (extra_ptr[p], extra_ptr[p + 1]) if len(extra_clusters) else (0, 0)
        for a in range(low - 1, high):
            cluster = first[p] if a < low else extra_clusters[a]
            if cluster < 0:
                continue
            at = np.uint64(cluster)
            for e in range(start, stop):
                table[np.uint64(indices[e]) * n_clusters + at] += sign * data[e]
            if len(counted):
                for e in range(start, stop):
                    counted[np.uint64(indices[e]) * n_clusters + at] += sign


@compiled
def add_squares(
    indptr: AnyArray,
    indices: AnyArray,
    data: AnyArray,
    some: IntArray,
    weights: FloatArray,
    squares: FloatArray,
) -> None:
    """Add the squares of some rows, times weights of all, column by column."""
    for i in range(len(some)):
        weight = weights[some[i]]
        if weight != 0.0:
            for e in range(np.uint64(indptr[some[i]]), np.uint64(indptr[some[i] + 1])):
                x = np.float64(data[e])
                squares[indices[e]] += weight * x * x
