"""Compiled loops that add the best cluster to sets of one less, for several items side by side.

Written as those of `neocc.kernels.loops`.
"""

from __future__ import annotations

import numpy as np

from neocc._typing import FloatArray, IntArray, LabelArray
from neocc.kernels.inputs import TIE_SCALE
from neocc.kernels.loops import compiled, without_nan

__all__ = ["LANES", "NEAR", "SEVERAL", "grown_sets", "largest_of", "only_below", "places_below"]
__all__ += ["rounded"]

# Costs within this share of their parts may be equal once they are rounded.
NEAR = 2.0**-38
# Items whose sets are compared side by side: vectors of the processor hold several of them.
LANES = 64
# More than there are clusters.
SEVERAL = 1 << 30


@compiled
def rounded(own: float, fixed: float, joint: float) -> float:
    """Return the sum of the parts of a cost, rounded."""
    anchor = (abs(own) + abs(fixed) + abs(joint)) * TIE_SCALE
    return ((own + fixed + joint) + anchor) - anchor if anchor < np.inf else np.inf


@compiled
def largest_of(pairs: FloatArray) -> float:
    """Return the largest absolute value of a table, 0 of an empty one."""
    largest = 0.0
    for i in range(pairs.shape[0]):
        for j in range(pairs.shape[1]):
            largest = max(largest, abs(pairs[i, j]))
    return largest


@compiled
def _holds(members: LabelArray, cluster: int) -> bool:
    """Return whether a cluster is one of some."""
    found = False
    for at in range(len(members)):
        found |= members[at] == cluster
    return found


@compiled
def places_below(values: FloatArray, bound: float, found: IntArray) -> int:
    """Write where values are no larger than a bound; return how many are.

    Where is unpredictable, and a mispredicted branch costs more than writing all places.
    """
    n_found = 0
    for q in range(len(values)):
        found[n_found] = q
        n_found += values[q] <= bound
    return n_found


@without_nan
def _least_further(
    left: FloatArray,
    joined: FloatArray,
    own: float,
    joint: float,
    values: FloatArray,
    least: FloatArray,
) -> None:
    """Write what each cluster that is left adds, but for rounding, and the least of these.

    A line has a number for each of several items.
    """
    least[:] = np.inf
    for q in range(len(left)):
        rest, beside, found = left[q], joined[q], values[q]
        for r in range(len(least)):
            found[r] = own * rest[r] + joint * beside[r]
            least[r] = min(least[r], found[r])


@compiled
def only_below(values: FloatArray, bounds: FloatArray, places: IntArray) -> None:
    """Write where the only value is that is no larger than a bound, `SEVERAL` or more if not."""
    places[:] = -SEVERAL
    for q in range(len(values)):
        found = values[q]
        for r in range(len(bounds)):
            places[r] += SEVERAL + q if found[r] <= bounds[r] else 0


@compiled
def _insert(sets: LabelArray, p: int, size: int, one: int) -> None:
    """Write the set of one cluster more than `size`: that before, with one in its place."""
    last = np.int32(one)
    for place in range(size):
        other = sets[p, size - 1, place]
        sets[p, size, place] = min(other, last)
        last = max(other, last)
    sets[p, size, size] = last


@compiled
def _join(joined: FloatArray, pairs: FloatArray, chosen: IntArray) -> None:
    """Add what each cluster costs beside the one that each item has chosen."""
    for q in range(len(pairs)):
        line, beside = joined[q], pairs[q]
        for r in range(len(chosen)):
            line[r] += beside[chosen[r]]


@compiled
def grown_sets(
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
    """Find the best single clusters, and add the best cluster to each set of one less."""
    n_clusters, largest = d.shape[1], curves.shape[1]
    left, values = np.zeros((n_clusters, LANES)), np.empty((n_clusters, LANES))
    joined, widest = np.zeros((n_clusters, LANES)), largest_of(pairs)
    own_parts, pair_parts, bounds = np.zeros(LANES), np.zeros(LANES), np.empty(LANES)
    places, near = np.empty(LANES, dtype=np.intp), np.empty(n_clusters, dtype=np.intp)
    turned, chosen = pairs.T.copy(), np.zeros(LANES, dtype=np.intp)
    for start in range(0, len(d), LANES):
        n_lanes = min(LANES, len(d) - start)
        joined[:], own_parts[:], pair_parts[:] = 0.0, 0.0, 0.0
        for s in range(largest):
            if 0 < s < n_exact - 1:
                continue
            if s == 0:
                for r in range(n_lanes):
                    for q in range(n_clusters):
                        left[q, r] = d[start + r, q]
            if 0 < s == n_exact - 1:
                for r in range(n_lanes):
                    p = start + r
                    left[chosen[r], r] = d[p, chosen[r]]
                    for place in range(s + 1):
                        one = np.intp(sets[p, s, place])
                        left[one, r] = np.inf
                        own_parts[r] += d[p, one]
                        pair_parts[r] += joined[one, r]
                        for q in range(n_clusters):
                            joined[q, r] += pairs[one, q]
                continue
            _least_further(left, joined, own[s], joint[s], values, bounds)
            for r in range(LANES):
                beside = abs(own[s] * own_parts[r])
                beside += abs(joint[s]) * (abs(pair_parts[r]) + s * widest)
                base = fixed[s] * squares[start + r] if r < n_lanes and len(squares) else 0.0
                bounds[r] += NEAR * (abs(bounds[r]) + abs(base) + beside)
            only_below(values, bounds, places)
            for r in range(n_lanes):
                p, one, least = start + r, places[r], np.inf
                constant = fixed[s] * squares[p] if len(squares) else 0.0
                own_part, pair_part = own_parts[r], pair_parts[r]
                if 0 <= one < SEVERAL:
                    least = rounded(
                        own[s] * (own_part + d[p, one]),
                        constant,
                        joint[s] * (pair_part + joined[one, r]),
                    )
                else:
                    one = np.intp(-1)
                    for at in range(places_below(values[:, r], bounds[r], near)):
                        q = near[at]
                        if _holds(sets[p, s - 1, :s], q):
                            continue
                        found = rounded(
                            own[s] * (own_part + d[p, q]),
                            constant,
                            joint[s] * (pair_part + joined[q, r]),
                        )
                        if found < least or one < 0:
                            least, one = found, q
                curves[p, s] = least
                left[one, r] = np.inf
                _insert(sets, p, s, int(one))
                chosen[r] = one
                if s >= n_exact - 1:
                    own_parts[r] += d[p, one]
                    pair_parts[r] += joined[one, r]
            if s >= n_exact - 1 and s < largest - 1:
                _join(joined, turned, chosen)
