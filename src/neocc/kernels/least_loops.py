"""The compiled loop of `least_sets`: the nearest cluster of a set counts in each part."""

from __future__ import annotations

import numpy as np

from neocc._typing import BoolArray, FloatArray, LabelArray
from neocc.kernels.loops import compiled

__all__ = ["least_sets"]

# Of an anchor, more than what costs are rounded by.
_SAME = 2.0**-50


@compiled
def _least_sum(one: FloatArray, other: FloatArray, enough: float) -> float:
    """Return the sum of the smaller ones of numbers that are not negative, or more than `enough`.

    Summing ends there.
    """
    total = 0.0
    for j in range(len(one)):
        total += min(one[j], other[j])
        if total > enough:
            break
    return total


@compiled
def least_sets(
    sums: FloatArray,
    counts: FloatArray,
    slope: FloatArray,
    curve: FloatArray,
    empty: BoolArray,
    squares: FloatArray,
    anchors: FloatArray,
    curves: FloatArray,
    sets: LabelArray,
) -> None:
    """Find the best sets item by item; see `neocc.kernels.numpy_.least_sets`.

    One line of `counts` stands for all items.
    """
    (n_clusters, width), largest = slope.shape, curves.shape[1]
    beyond, least = np.empty((n_clusters, width)), np.empty(width)
    chosen = np.empty(n_clusters, dtype=np.bool_)
    for p in range(len(squares)):
        base, anchor, weights = squares[p], anchors[p], counts[p if len(counts) > 1 else 0]
        for j in range(width):
            smallest = np.inf
            for q in range(n_clusters):
                part = slope[q, j] * sums[p, j] + curve[q, j] * weights[j]
                beyond[q, j] = np.inf if empty[q] else part
                smallest = min(smallest, beyond[q, j])
            base += smallest
            for q in range(n_clusters):
                beyond[q, j] -= smallest
        chosen[:], least[:] = False, np.inf
        for s in range(largest):
            # Sums above `near` are larger when they are rounded, too.
            found = near = np.inf
            one, two = (0, 1) if s == 1 else (-1, -1)
            for i in range(n_clusters):
                if s != 1 and not chosen[i] and one < 0:
                    one = i
                if empty[i] or (s != 1 and chosen[i]):
                    continue
                for j in range(i + 1 if s == 1 else n_clusters - 1, n_clusters):
                    if s == 1 and empty[j]:
                        continue
                    total = _least_sum(beyond[i], beyond[j] if s == 1 else least, near)
                    if total <= near:
                        near = min(near, total + _SAME * anchor)
                        total = ((base + total) + anchor) - anchor
                        if total < found:
                            found, one, two = total, i, j
            if s == 1:
                chosen[:], least[:] = False, beyond[two]
                chosen[two] = True
            chosen[one] = True
            for j in range(width):
                least[j] = min(least[j], beyond[one, j])
            curves[p, s] = found
            place = 0
            for q in range(n_clusters):
                if chosen[q]:
                    sets[p, s, place] = q
                    place += 1
