"""Compiled loops over sets of clusters: the best of each size, and the prices of one more.

Written as those of `neocc.kernels.loops`.
"""

from __future__ import annotations

import numpy as np

from neocc._typing import BoolArray, FloatArray, LabelArray
from neocc.kernels.loops import compiled, without_nan
from neocc.kernels.numpy_ import TIE_SCALE

__all__ = ["best_sets", "hull_steps", "least_sets"]

# Costs within this share of their parts may be equal once they are rounded.
_NEAR = 2.0**-38
# Of an anchor, more than what costs are rounded by.
_SAME = 2.0**-50


@compiled
def _rounded(own: float, fixed: float, joint: float) -> float:
    anchor = (abs(own) + abs(fixed) + abs(joint)) * TIE_SCALE
    return ((own + fixed + joint) + anchor) - anchor if anchor < np.inf else np.inf


@without_nan
def _least_pairs(half: FloatArray, joined: FloatArray, least: FloatArray) -> float:
    """Write the least cost of a pair of each cluster with a later one, but for rounding."""
    n_clusters = len(half)
    found = np.inf
    for i in range(n_clusters):
        line, smallest = joined[i], np.inf
        for j in range(i + 1, n_clusters):
            smallest = min(smallest, half[j] + line[j])
        least[i] = smallest + half[i]
        found = min(found, least[i])
    return found


@without_nan
def _least_further(
    row: FloatArray,
    joined: FloatArray,
    own: float,
    joint: float,
    chosen: BoolArray,
    values: FloatArray,
) -> float:
    """Write what a further cluster adds, but for rounding; return the least."""
    found = np.inf
    for q in range(len(row)):
        values[q] = np.inf if chosen[q] else own * row[q] + joint * joined[q]
        found = min(found, values[q])
    return found


@compiled
def best_sets(
    d: FloatArray,
    squares: FloatArray,
    own: FloatArray,
    fixed: FloatArray,
    joint: FloatArray,
    pairs: FloatArray,
    curves: FloatArray,
    sets: LabelArray,
) -> None:
    """Find the best sets item by item; see `neocc.kernels.numpy_.best_sets`.

    Costs are rounded and compared only where they may be the least: rounding takes the time.
    """
    n_clusters, largest = d.shape[1], curves.shape[1]
    chosen, joined = np.empty(n_clusters, dtype=np.bool_), np.empty(n_clusters)
    values, half, joint_pairs = np.empty(n_clusters), np.empty(n_clusters), pairs.copy()
    if len(pairs) and largest > 1:
        joint_pairs *= joint[1]
    widest = np.abs(pairs).max() if pairs.size else 0.0
    for p in range(len(d)):
        row, base = d[p], squares[p] if len(squares) else 0.0
        chosen[:], joined[:] = False, 0.0
        own_part = pair_part = 0.0
        for s in range(largest):
            constant, least = fixed[s] * base, np.inf
            one = two = -1
            if s == 1 and len(pairs):
                for q in range(n_clusters):
                    half[q] = own[s] * row[q]
                bound = _least_pairs(half, joint_pairs, values)
                bound += _NEAR * (abs(bound) + abs(constant) + abs(joint[s]) * widest)
                for i in range(n_clusters):
                    if values[i] > bound:
                        continue
                    for j in range(i + 1, n_clusters):
                        if half[i] + half[j] + joint_pairs[i, j] <= bound:
                            found = _rounded(
                                own[s] * (row[i] + row[j]), constant, joint[s] * pairs[i, j]
                            )
                            if found < least or one < 0:
                                least, one, two = found, i, j
                chosen[:] = False
                chosen[one] = chosen[two] = True
                own_part, pair_part = row[one] + row[two], pairs[one, two]
                for q in range(n_clusters):
                    joined[q] = pairs[one, q] + pairs[two, q]
            else:
                bound = _least_further(row, joined, own[s], joint[s], chosen, values)
                beside = abs(own[s] * own_part) + abs(joint[s]) * (abs(pair_part) + s * widest)
                bound += _NEAR * (abs(bound) + abs(constant) + beside)
                for q in range(n_clusters):
                    if values[q] <= bound and not chosen[q]:
                        found = _rounded(
                            own[s] * (own_part + row[q]),
                            constant,
                            joint[s] * (pair_part + joined[q]),
                        )
                        if found < least or one < 0:
                            least, one = found, q
                chosen[one] = True
                own_part += row[one]
                pair_part += joined[one]
                if len(pairs):
                    for q in range(n_clusters):
                        joined[q] += pairs[one, q]
            curves[p, s] = least
            place = 0
            for q in range(n_clusters):
                if chosen[q]:
                    sets[p, s, place] = q
                    place += 1


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
    slope: FloatArray,
    curve: FloatArray,
    empty: BoolArray,
    squares: FloatArray,
    anchors: FloatArray,
    curves: FloatArray,
    sets: LabelArray,
) -> None:
    """Find the best sets item by item; see `neocc.kernels.numpy_.least_sets`."""
    (n_clusters, width), largest = slope.shape, curves.shape[1]
    beyond, least = np.empty((n_clusters, width)), np.empty(width)
    chosen = np.empty(n_clusters, dtype=np.bool_)
    for p in range(len(squares)):
        base, anchor = squares[p], anchors[p]
        for j in range(width):
            smallest = np.inf
            for q in range(n_clusters):
                beyond[q, j] = np.inf if empty[q] else slope[q, j] * sums[p, j] + curve[q, j]
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


@compiled
def hull_steps(curves: FloatArray, steps: FloatArray) -> None:
    """Find slopes of hulls item by item; see `neocc.kernels.numpy_.hull_steps`."""
    largest = curves.shape[1]
    for p in range(len(curves)):
        for j in range(largest - 1):
            steps[p, j] = -np.inf
        for before in range(largest - 1):
            if curves[p, before] == np.inf:
                continue
            least = np.inf
            for after in range(largest - 1, before, -1):
                least = min(least, (curves[p, after] - curves[p, before]) / (after - before))
                steps[p, after - 1] = max(steps[p, after - 1], least)
