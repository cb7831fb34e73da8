"""Compiled loops over sets of clusters: the best of each size, and the prices of one more.

Written as those of `neocc.kernels.loops`.
"""

from __future__ import annotations

import numpy as np

from neocc._typing import FloatArray, LabelArray
from neocc.kernels.growing_loops import (
    LANES,
    NEAR,
    SEVERAL,
    grown_sets,
    largest_of,
    only_below,
    places_below,
    rounded,
)
from neocc.kernels.loops import compiled, without_nan

__all__ = ["best_sets", "hull_steps"]

# Clusters that are compared at a time; tables are padded by one less.
_AT_ONCE = 4
# Items whose distances stay in the cache from one size of sets to the next.
_BLOCK = 512


@without_nan
def _least_pairs(
    parts: FloatArray, joined: FloatArray, first: int, line: FloatArray, least: FloatArray
) -> None:
    """Lower `least` to the costs of a pair of each cluster from `first` with a later one.

    A line of `parts` and of `least` has a number for each of several items. Nothing is rounded.
    With one row of `least` that of all pairs is the least cost, with more that of each cluster's.
    """
    n_clusters, n_lanes = len(joined), len(line)
    for i in range(first, n_clusters - 1):
        for j in range(i + 1, n_clusters, _AT_ONCE):
            p0, p1, p2, p3 = parts[j], parts[j + 1], parts[j + 2], parts[j + 3]
            q0, q1, q2, q3 = joined[i, j], joined[i, j + 1], joined[i, j + 2], joined[i, j + 3]
            if j == i + 1:
                for r in range(n_lanes):
                    line[r] = min(p0[r] + q0, p1[r] + q1, p2[r] + q2, p3[r] + q3)
            else:
                for r in range(n_lanes):
                    smallest = min(p0[r] + q0, p1[r] + q1, p2[r] + q2, p3[r] + q3)
                    line[r] = min(line[r], smallest)
        part, found = parts[i], least[i if len(least) > 1 else 0]
        for r in range(n_lanes):
            found[r] = min(found[r], line[r] + part[r])


@without_nan
def _least_triples(
    parts: FloatArray, joined: FloatArray, line: FloatArray, least: FloatArray
) -> None:
    """Lower `least` to the costs of each cluster with two later ones: a pair beside it."""
    n_clusters, n_lanes = len(joined), len(line)
    beside = np.zeros(joined.shape)
    for i in range(n_clusters - 2):
        for j in range(i + 1, n_clusters):
            for q in range(j + 1, n_clusters):
                beside[j, q] = joined[j, q] + joined[i, j] + joined[i, q]
        _least_pairs(parts, beside, i + 1, line, least[i : i + 1])
        found, part = least[i], parts[i]
        for r in range(n_lanes):
            found[r] += part[r]


@without_nan
def _bounds(values: FloatArray, least: FloatArray) -> None:
    """Write the least value of each item."""
    least[:] = np.inf
    for i in range(len(values)):
        found = values[i]
        for r in range(len(least)):
            least[r] = min(least[r], found[r])


@compiled
def _exact_sets(
    size: int,
    d: FloatArray,
    squares: FloatArray,
    own: float,
    fixed: float,
    joint: float,
    pairs: FloatArray,
    curves: FloatArray,
    sets: LabelArray,
) -> None:
    """Find the best pairs, or triples, of all."""
    n_items, n_clusters = d.shape
    parts = np.full((n_clusters + _AT_ONCE - 1, LANES), np.inf)
    joined, least = np.zeros((n_clusters, len(parts))), np.empty((n_clusters, LANES))
    for i in range(n_clusters):
        for j in range(n_clusters):
            joined[i, j] = joint * pairs[i, j]
    line, bounds = np.empty(LANES), np.empty(LANES)
    places, near = np.empty(LANES, dtype=np.intp), np.empty(n_clusters, dtype=np.intp)
    widest = size * abs(joint) * largest_of(pairs)
    for start in range(0, n_items, LANES):
        n_lanes = min(LANES, n_items - start)
        for r in range(n_lanes):
            for q in range(n_clusters):
                parts[q, r] = own * d[start + r, q]
        least[:] = np.inf
        if size == 2:
            # Not a literal 0: numba would compile the loops for it once more.
            _least_pairs(parts, joined, size - 2, line, least)
        else:
            _least_triples(parts, joined, line, least)
        _bounds(least, bounds)
        for r in range(n_lanes):
            constant = abs(fixed * squares[start + r]) if len(squares) else 0.0
            bounds[r] += NEAR * (abs(bounds[r]) + constant + widest)
        only_below(least, bounds, places)
        for r in range(n_lanes):
            p, found, bound = start + r, np.inf, bounds[r]
            constant, one, two, three = fixed * squares[p] if len(squares) else 0.0, -1, -1, -1
            near[0], n_near = places[r], 1
            if not 0 <= places[r] < SEVERAL:
                n_near = places_below(least[:, r], bound, near)
            for at in range(n_near):
                i = near[at]
                for j in range(i + 1, n_clusters):
                    of_two = parts[i, r] + parts[j, r] + joined[i, j]
                    if size == 2:
                        if of_two <= bound:
                            cost = rounded(own * (d[p, i] + d[p, j]), constant, joint * pairs[i, j])
                            if cost < found or one < 0:
                                found, one, two = cost, i, j
                        continue
                    for q in range(j + 1, n_clusters):
                        if of_two + parts[q, r] + joined[i, q] + joined[j, q] <= bound:
                            cost = rounded(
                                own * (d[p, i] + d[p, j] + d[p, q]),
                                constant,
                                joint * (pairs[i, j] + pairs[i, q] + pairs[j, q]),
                            )
                            if cost < found or one < 0:
                                found, one, two, three = cost, i, j, q
            sets[p, size - 1, 0], sets[p, size - 1, 1] = one, two
            if size > 2:
                sets[p, size - 1, 2] = three
            curves[p, size - 1] = found


@compiled
def best_sets(
    d: FloatArray,
    squares: FloatArray,
    own: FloatArray,
    fixed: FloatArray,
    joint: FloatArray,
    pairs: FloatArray,
    n_exact: int,
    curves: FloatArray,
    sets: LabelArray,
) -> None:
    """Find the best sets item by item; see `neocc.kernels.numpy_.best_sets`.

    Costs are rounded and compared only where they may be the least: rounding takes the time.
    """
    n_exact = n_exact if len(pairs) else 1
    for start in range(0, len(d), _BLOCK):
        at = slice(start, start + _BLOCK)
        for s in range(1, min(n_exact, curves.shape[1])):
            parts = (own[s], fixed[s], joint[s])
            _exact_sets(s + 1, d[at], squares[at], *parts, pairs, curves[at], sets[at])
        grown_sets(d[at], squares[at], own, fixed, joint, pairs, n_exact, curves[at], sets[at])


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
