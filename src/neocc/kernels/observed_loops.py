"""The compiled loops of `neocc.kernels.numba_` over observed cells.

They are as those of `neocc.kernels.loops`, with a second table for the weights of the cells.
"""

from __future__ import annotations

import numpy as np

from neocc._typing import AnyArray, FloatArray, IntArray, LabelArray
from neocc.kernels.loops import compiled

__all__ = ["gather", "scatter"]


@compiled
def gather(
    indptr: AnyArray,
    indices: AnyArray,
    data: AnyArray,
    weights: AnyArray,
    first: LabelArray,
    scale: FloatArray,
    extra_ptr: IntArray,
    extra_clusters: LabelArray,
    sums: FloatArray,
    counts: FloatArray,
) -> None:
    """Sum rows over clusters, in two slots per cluster; outliers have slots of their own."""
    one, two = np.uint64(1), np.uint64(2)
    width = np.uint64(2 * (sums.shape[1] + 1))
    slots = np.empty(4 * sums.shape[1] + 4)
    for p in range(len(indptr) - 1):
        slots[:] = 0.0
        lane = np.uint64(0)
        for e in range(np.uint64(indptr[p]), np.uint64(indptr[p + 1])):
            t = indices[e]
            x, w = np.float64(data[e]), 1.0
            if len(weights):
                w = weights[e]
                x *= np.sqrt(w)
            if len(scale):
                x *= scale[t]
                w *= scale[t]
            at = lane + two * np.uint64(first[t] + 1)
            slots[at] += x
            slots[at + one] += w
            lane = width - lane
            if len(extra_clusters):
                for a in range(extra_ptr[t], extra_ptr[np.uint64(t) + one]):
                    at = two * np.uint64(extra_clusters[a] + 1)
                    slots[at] += x
                    slots[at + one] += w
        for q in range(np.uint64(sums.shape[1])):
            at = two * (q + one)
            sums[p, q] = slots[at] + slots[width + at]
            counts[p, q] = slots[at + one] + slots[width + at + one]


@compiled
def scatter(
    indptr: AnyArray,
    indices: AnyArray,
    data: AnyArray,
    weights: AnyArray,
    first: LabelArray,
    scale: FloatArray,
    extra_items: IntArray,
    extra_clusters: LabelArray,
    sums: FloatArray,
    counts: FloatArray,
) -> None:
    """Add rows to the sums of their clusters, column by column."""
    n_clusters = np.uint64(sums.shape[1])
    of_values, of_weights = sums.reshape(-1), counts.reshape(-1)
    a = 0
    for p in range(len(first)):
        start, stop = np.uint64(indptr[p]), np.uint64(indptr[p + 1])
        share = scale[p] if len(scale) else 1.0
        label = first[p]
        while True:
            if label >= 0:
                cluster = np.uint64(label)
                for e in range(start, stop):
                    at = np.uint64(indices[e]) * n_clusters + cluster
                    if len(weights):
                        w = share * weights[e]
                        of_values[at] += share * np.sqrt(weights[e]) * data[e]
                        of_weights[at] += w
                    else:
                        of_values[at] += share * data[e]
                        of_weights[at] += share
            if a == len(extra_items) or extra_items[a] != p:
                break
            label = extra_clusters[a]
            a += 1
