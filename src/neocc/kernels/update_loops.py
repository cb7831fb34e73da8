"""The compiled loop that updates sums of rows where few columns changed clusters."""

from __future__ import annotations

import numpy as np

from neocc._typing import AnyArray, BoolArray, FloatArray, IntArray, LabelArray
from neocc.kernels.loops import compiled

__all__ = ["regather_sparse"]

# Entries among which those of changed columns are collected at a time.
_COLLECTED = 4096


@compiled
def regather_sparse(
    indptr: AnyArray,
    indices: AnyArray,
    data: AnyArray,
    changed: BoolArray,
    old_first: LabelArray,
    old_ptr: IntArray,
    old_clusters: LabelArray,
    first: LabelArray,
    ptr: IntArray,
    clusters: LabelArray,
    gained: FloatArray,
    sums: FloatArray,
    squares: FloatArray,
    counts: FloatArray,
) -> None:
    """Move the entries of columns that changed from their old clusters to the new ones.

    With `counts` each counts as one observed cell. Most columns did not change: entries of those
    that did are collected first, without a branch.
    """
    found = np.empty(_COLLECTED, dtype=np.uint64)
    start, end, p = np.uint64(indptr[0]), np.uint64(indptr[-1]), np.uint64(0)
    while start < end:
        stop, n_found = min(start + np.uint64(_COLLECTED), end), np.uint64(0)
        for e in range(start, stop):
            found[n_found] = e
            n_found += np.uint64(changed[indices[e]])
        for i in range(n_found):
            e = found[i]
            t, x = np.uint64(indices[e]), np.float64(data[e])
            while np.uint64(indptr[p + np.uint64(1)]) <= e:
                p += np.uint64(1)
            if old_first[t] >= 0:
                sums[p, np.uint64(old_first[t])] -= x
                if len(counts):
                    counts[p, np.uint64(old_first[t])] -= 1.0
            if first[t] >= 0:
                sums[p, np.uint64(first[t])] += x
                if len(counts):
                    counts[p, np.uint64(first[t])] += 1.0
            if len(old_clusters):
                for a in range(old_ptr[t], old_ptr[t + np.uint64(1)]):
                    sums[p, np.uint64(old_clusters[a])] -= x
                    if len(counts):
                        counts[p, np.uint64(old_clusters[a])] -= 1.0
            if len(clusters):
                for a in range(ptr[t], ptr[t + np.uint64(1)]):
                    sums[p, np.uint64(clusters[a])] += x
                    if len(counts):
                        counts[p, np.uint64(clusters[a])] += 1.0
            if len(squares):
                squares[p] += gained[t] * x * x
        start = stop
