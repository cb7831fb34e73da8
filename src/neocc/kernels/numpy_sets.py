"""Reference kernels of sets of clusters: the best one of each size, and the prices between them."""

from __future__ import annotations

from functools import cache
from itertools import combinations
from math import comb

import numpy as np

from neocc._typing import BoolArray, FloatArray, IntArray, LabelArray
from neocc.kernels.inputs import TIE_SCALE, Parts, SetCosts

__all__ = ["best_sets", "hull_steps", "largest_exact", "least_sets", "rounded"]

_BUFFER_ENTRIES = 1 << 15
# All triples are compared of so many clusters, if they interact; of more that takes too long.
_MOST_IN_TRIPLES = 12


def largest_exact(n_clusters: int) -> int:
    """Return the size up to which the best sets of clusters that interact are found among all."""
    return 3 if n_clusters <= _MOST_IN_TRIPLES else 2


def best_sets(
    d: FloatArray,
    squares: FloatArray | None,
    costs: SetCosts,
    curves: FloatArray,
    sets: LabelArray,
) -> None:
    """Write the best set of clusters of each size from 1, and its cost.

    Sets of one cluster and of two are the best of all, and so are those of three unless clusters
    are many. Larger ones have one more cluster than the set before, the best; where clusters do not
    interact these are the nearest ones. Costs are rounded, for the same reason as distances; of
    equal ones the first counts. Places of `sets` behind the last cluster stay as they are.
    """
    n, k = d.shape
    base = np.zeros(n) if squares is None else squares
    n_exact = 1 if costs.pairs is None else largest_exact(k)
    step = max(1, _BUFFER_ENTRIES // max(comb(k, min(n_exact, curves.shape[1])), k))
    for start in range(0, n, step):
        at = slice(start, start + step)
        for size in range(1, curves.shape[1] + 1):
            if size <= n_exact:
                found, chosen = _best_of_all(d[at], base[at], costs, size)
            else:
                found, chosen = _grown(d[at], base[at], costs, chosen, size)
            curves[at, size - 1] = found
            sets[at, size - 1, :size] = np.nonzero(chosen)[1].reshape(-1, size)


def _best_of_all(
    d: FloatArray, base: FloatArray, costs: SetCosts, size: int
) -> tuple[FloatArray, BoolArray]:
    """Return the cost of the best set of a size, and its clusters."""
    own, fixed, joint = (part[size - 1] for part in costs[:3])
    every = _all_sets(d.shape[1], size)
    own_part = sum(d[:, members] for members in every.T)
    pair_part = np.zeros(len(every))
    if costs.pairs is not None:
        pair_part += sum(costs.pairs[i, j] for i, j in combinations(every.T, 2))
    found = rounded(own * own_part, fixed * base[:, None], joint * pair_part)
    best = found.argmin(axis=1)
    lines, chosen = np.arange(len(d)), np.zeros(d.shape, dtype=bool)
    chosen[lines[:, None], every[best]] = True
    return found[lines, best], chosen


@cache
def _all_sets(n_clusters: int, size: int) -> IntArray:
    return np.array(list(combinations(range(n_clusters), size)))


def _grown(
    d: FloatArray, base: FloatArray, costs: SetCosts, chosen: BoolArray, size: int
) -> tuple[FloatArray, BoolArray]:
    """Add the best cluster to each set; return the cost of the larger sets, of a size, too."""
    own, fixed, joint = (part[size - 1] for part in costs[:3])
    own_part = np.where(chosen, d, 0.0).sum(axis=1)[:, None] + d
    pair_part = np.zeros(1)
    if costs.pairs is not None:
        A = chosen.astype(np.float64)
        joined = A @ costs.pairs
        pair_part = joined + (np.einsum("pi,pi->p", joined, A) / 2.0)[:, None]
    found = rounded(own * own_part, fixed * base[:, None], joint * pair_part)
    found[chosen] = np.inf
    lines, best = np.arange(len(d)), found.argmin(axis=1)
    # Where all that are left are infinitely far, the first of them.
    best = np.where(np.isinf(found[lines, best]), chosen.argmin(axis=1), best)
    chosen[lines, best] = True
    return found[lines, best], chosen


def least_sets(
    parts: Parts,
    squares: FloatArray,
    anchors: FloatArray,
    curves: FloatArray,
    sets: LabelArray,
) -> None:
    """Write best sets, and their costs, where the nearest cluster of a set counts in each part.

    A set costs the squares of the item and the sum of the least parts. Sets are found as by
    `best_sets`, and no item joins an empty cluster. All costs of an item are rounded against its
    anchor, so that a cluster that is nowhere the nearest adds nothing.
    """
    k, l = len(parts.magnitude), parts.sums.shape[1]  # noqa: E741
    empty = np.isinf(parts.magnitude)
    i, j = np.triu_indices(k, 1)
    step = max(1, _BUFFER_ENTRIES // max(1, len(i) * l))
    for start in range(0, len(squares), step):
        at = slice(start, start + step)
        beyond, floor = _beyond_least(parts, at)
        lines, base = np.arange(len(beyond)), squares[at] + floor
        chosen = np.zeros(beyond.shape[:2], dtype=bool)
        least = np.full((len(beyond), l), np.inf)
        for size in range(1, curves.shape[1] + 1):
            both = size == 2
            beside, new = (beyond[:, i], beyond[:, j]) if both else (least[:, None], beyond)
            left = np.minimum(beside, new)
            found = left.sum(axis=2)
            found += base[:, None]
            found += anchors[at, None]
            found -= anchors[at, None]
            found[:, empty[i] | empty[j] if both else empty] = np.inf
            if both:
                best = found.argmin(axis=1)
                chosen[:] = False
                chosen[lines, i[best]] = chosen[lines, j[best]] = True
            else:
                found[chosen] = np.inf
                best = found.argmin(axis=1)
                # Where all that are left are empty, the first of them.
                best = np.where(np.isinf(found[lines, best]), chosen.argmin(axis=1), best)
                chosen[lines, best] = True
            least = left[lines, best]
            curves[at, size - 1] = found[lines, best]
            sets[at, size - 1, :size] = np.nonzero(chosen)[1].reshape(-1, size)


def _beyond_least(parts: Parts, at: slice) -> tuple[FloatArray, FloatArray]:
    """Return by how much each part is above the least one, and the sum of the least.

    Parts of empty clusters are infinite.
    """
    found = parts.table(at)
    found[:, np.isinf(parts.magnitude)] = np.inf
    least = found.min(axis=1)
    found -= least[:, None]
    return found, least.sum(axis=1)


def hull_steps(curves: FloatArray, steps: FloatArray) -> None:
    """Write the slopes of the lower convex hull of each curve, step by step; they rise.

    A slope is the largest, over the sizes before, of the least slope to a size behind.
    """
    largest = curves.shape[1]
    steps[...] = -np.inf
    for before in range(largest - 1):
        further = np.arange(before + 1, largest)
        with np.errstate(invalid="ignore"):
            rises = (curves[:, further] - curves[:, [before]]) / (further - before)
        rises[np.isinf(curves[:, before])] = -np.inf
        least = np.minimum.accumulate(rises[:, ::-1], axis=1)[:, ::-1]
        np.maximum(steps[:, before:], least, out=steps[:, before:])


def rounded(own: FloatArray, fixed: FloatArray, joint: FloatArray) -> FloatArray:
    """Add up the parts of costs, and round them against these."""
    found = own + fixed + joint
    anchor = (np.abs(own) + np.abs(fixed) + np.abs(joint)) * TIE_SCALE
    with np.errstate(invalid="ignore"):
        found = (found + anchor) - anchor
    found[np.isinf(anchor)] = np.inf
    return found
