"""Reference kernels on NumPy and SciPy: the meaning of the operations, in a few lines each.

For a block X of rows and memberships M of its columns (or rows), which may be weighted:

* `gather` writes the sums of each row over clusters of columns, X M, and the weighted squares
  sum_t w_t x_pt^2;
* `scatter` adds the sums of each column over clusters of rows, X' M, and the weighted squares
  sum_p w_p x_pt^2;
* `gather_observed` writes, and `scatter_observed` adds, sums over the stored cells alone: those of
  weights times values, and of weights;
* `multiply` writes X P, `multiply_transposed` adds X' P for a thin table P;
* `score` turns the features of items into distances and finds the nearest cluster of each item.

Weights of `None` are all one. Tables have a line per item.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from neocc._typing import BoolArray, FloatArray, IntArray, LabelArray
from neocc.kernels.inputs import Block, Features, Parts, SetCosts, SparseBlock, Terms
from neocc.kernels.memberships import Memberships

# A distance is rounded to 2**-40 of itself, and to no less than 2**-46 of the terms it is made of.
TIE_SCALE = 2.0**12
NOISE_SCALE = 2.0**6

_BUFFER_ENTRIES = 1 << 15
# All triples are compared of so many clusters, if they interact; of more that takes too long.
_MOST_IN_TRIPLES = 12


def gather(
    block: Block,
    columns: Memberships | None,
    weights: FloatArray | None,
    sums: FloatArray | None,
    squares: FloatArray | None,
) -> None:
    """Write the sums of each row over column clusters, and its weighted squares."""
    X = _matrix(block)
    if sums is not None and columns is not None:
        sums[...] = X.dot(columns.indicator)
    if squares is not None:
        weights = np.ones(X.shape[1]) if weights is None else weights
        for at, squared in _squared(block):
            squares[at] = squared @ weights


def scatter(
    block: Block,
    rows: Memberships | None,
    weights: FloatArray | None,
    sums: FloatArray | None,
    squares: FloatArray | None,
) -> None:
    """Add the sums of each column over row clusters, and its weighted squares."""
    X = _matrix(block)
    if sums is not None and rows is not None:
        sums += X.T.dot(rows.indicator)
    if squares is not None:
        weights = np.ones(X.shape[0]) if weights is None else weights
        for at, squared in _squared(block):
            squares += squared.T @ weights[at]


def gather_observed(
    block: SparseBlock, columns: Memberships, sums: FloatArray, counts: FloatArray
) -> None:
    """Write weighted sums of each row over column clusters, and sums of the weights."""
    for values, out in zip(_observed(block), (sums, counts), strict=True):
        out[...] = block.matrix(values).dot(columns.indicator)


def scatter_observed(
    block: SparseBlock, rows: Memberships, sums: FloatArray, counts: FloatArray
) -> None:
    """Add weighted sums of each column over row clusters, and sums of the weights."""
    for values, out in zip(_observed(block), (sums, counts), strict=True):
        np.add(out, block.matrix(values).T.dot(rows.indicator), out=out)


def multiply(block: Block, table: FloatArray, out: FloatArray) -> None:
    """Write X P."""
    out[...] = _matrix(block) @ table


def multiply_transposed(block: Block, table: FloatArray, out: FloatArray) -> None:
    """Add X' P."""
    out += _matrix(block).T @ table


def score(
    features: Features,
    terms: Terms,
    members: Memberships | None,
    d: FloatArray | None,
    labels: LabelArray,
    minima: FloatArray,
) -> float:
    """Find the nearest cluster of each item; return the sum of the distances at `members`.

    That sum is taken before anything is rounded. A distance is known to about 2**-50 of the terms
    it is made of, here bounded by the item's squares plus the cluster's `magnitude`. Rounding makes
    equal distances compare equal, whichever kernel, block size or order of summation produced them:
    adding and subtracting a large number rounds to a multiple of that number's last bit. An
    infinite magnitude marks an empty cluster, which becomes infinitely far. The rounded distances
    are written to `d` if it is given.
    """
    # `np.add.outer` would take twice the time.
    squares, rate = features.squares[:, None], terms.rate
    anchor = squares + terms.offset
    exact = _with_products(
        anchor if rate is None else squares * rate + terms.offset, features, terms
    )
    total = 0.0 if members is None else float(np.vdot(exact, members.indicator))
    # Offsets are finite, and often the magnitudes themselves.
    are_finite = terms.magnitude is terms.offset
    if not are_finite:
        anchor = squares + terms.magnitude
    anchor *= NOISE_SCALE
    np.maximum(anchor, np.abs(exact) * TIE_SCALE, out=anchor)
    if not are_finite and (empty := np.isinf(terms.magnitude)).any():
        anchor[:, empty], exact[:, empty] = 0.0, np.inf
    exact += anchor
    exact -= anchor
    if d is not None:
        d[...] = exact
    labels[:] = exact.argmin(axis=1)
    minima[:] = exact.take(labels + np.arange(0, exact.size, exact.shape[1]))
    return total


def distances(features: Features, terms: Terms) -> FloatArray:
    """Return the distances of items to clusters as they come, not rounded.

    With S the sums and H the products, they are

        d = squares rate + offset + S slope + H scale - S^2 shrink + N curve

    with N the weights of observed cells.
    """
    squares = features.squares[:, None]
    squares = squares if terms.rate is None else squares * terms.rate
    return _with_products(squares + terms.offset, features, terms)


def _with_products(d: FloatArray, features: Features, terms: Terms) -> FloatArray:
    """Add to squares and offsets what the sums and products of items contribute."""
    sums, products, slope = features.sums, features.products, terms.slope
    # Of tables this small `dot` takes half the time of `@`.
    d = d.copy() if sums is None or slope is None else d + sums.dot(slope)
    if products is not None:
        d += scaled(products, terms.scale)
    if sums is not None and terms.shrink is not None:
        shrink = terms.shrink
        shrunk = (sums * sums) @ shrink if shrink.ndim == 1 else ((sums @ shrink) * sums).sum(1)
        d -= shrunk[:, None]
    if features.counts is not None and terms.curve is not None:
        d += features.counts @ terms.curve
    return d


def scaled(products: FloatArray, scale: FloatArray | None) -> FloatArray:
    """Return products times a number for each cluster, or combined by a table."""
    if scale is None:
        return products
    return products * scale if scale.ndim == 1 else products @ scale


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
    `best_sets`, and nobody joins an empty cluster. All costs of an item are rounded against its
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


def _matrix(block: Block) -> Any:
    return block.matrix() if isinstance(block, SparseBlock) else block


def _observed(block: SparseBlock) -> tuple[FloatArray, FloatArray]:
    """Return the cells of a block times their weights, and the weights."""
    at = block.stored()
    values = block.data[at].astype(np.float64)
    if block.weights is None:
        return values, np.ones(len(values))
    weights = block.weights[at]
    return values * np.sqrt(weights), weights


def _squared(block: Block) -> Iterator[tuple[slice, Any]]:
    """Yield ranges of rows with their element-wise squares, in float64.

    Dense rows are squared a few at a time in the same buffer: it stays in the cache.
    """
    if isinstance(block, SparseBlock):
        values = block.data[block.stored()].astype(np.float64)
        yield slice(0, block.n_rows), block.matrix(values * values)
        return
    step = max(1, _BUFFER_ENTRIES // max(1, block.shape[1]))
    buffer = np.empty((min(step, len(block)), block.shape[1]))
    for start in range(0, len(block), step):
        rows = block[start : start + step]
        yield slice(start, start + len(rows)), np.multiply(rows, rows, out=buffer[: len(rows)])
