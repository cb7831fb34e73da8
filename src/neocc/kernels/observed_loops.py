"""The compiled loops of `neocc.kernels.numba_` over observed cells.

They are as those of `neocc.kernels.loops`, with a second table for the weights of the cells.
"""

from __future__ import annotations

import numpy as np

from neocc._typing import AnyArray, BoolArray, FloatArray, IntArray, LabelArray
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
    has_extra: BoolArray,
    extra_ptr: IntArray,
    extra_clusters: LabelArray,
    sums: FloatArray,
    counts: FloatArray,
    found: AnyArray,
) -> None:
    """Sum rows over clusters, in four slots per cluster, and count in others.

    Slots of sums and counts lie apart: where they are neighbours, both are loaded at once, which
    waits for two stores.
    """
    one, two, three, four = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    width, n_clusters = np.uint64(sums.shape[1] + 1), np.uint64(sums.shape[1])
    slots, counted = np.empty(8 * sums.shape[1] + 8), four * width
    for p in range(len(indptr) - 1):
        slots[:] = 0.0
        start, stop = np.uint64(indptr[p]), np.uint64(indptr[p + 1])
        rest = start
        if len(weights) == 0 and len(scale) == 0:
            while rest + three < stop:
                for i in range(four):
                    at = i * width + np.uint64(first[indices[rest + i]] + 1)
                    slots[at] += data[rest + i]
                    slots[counted + at] += 1.0
                rest += four
        for e in range(rest, stop):
            at, x, w = np.uint64(first[indices[e]] + 1), np.float64(data[e]), 1.0
            if len(weights):
                w = weights[e]
                x *= np.sqrt(w)
            if len(scale):
                x *= scale[indices[e]]
                w *= scale[indices[e]]
            slots[at] += x
            slots[counted + at] += w
        if len(extra_clusters):
            n_found = np.uint64(0)
            for e in range(start, stop):
                found[n_found] = e
                n_found += np.uint64(has_extra[indices[e]])
            for i in range(n_found):
                e = found[i]
                t, x, w = np.uint64(indices[e]), np.float64(data[e]), 1.0
                if len(weights):
                    w = weights[e]
                    x *= np.sqrt(w)
                if len(scale):
                    x *= scale[t]
                    w *= scale[t]
                for a in range(extra_ptr[t], extra_ptr[t + one]):
                    at = np.uint64(extra_clusters[a] + 1)
                    slots[at] += x
                    slots[counted + at] += w
        for q in range(n_clusters):
            at = q + one
            sums[p, q] = (slots[at] + slots[width + at]) + (
                slots[two * width + at] + slots[three * width + at]
            )
            at += counted
            counts[p, q] = (slots[at] + slots[width + at]) + (
                slots[two * width + at] + slots[three * width + at]
            )


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
