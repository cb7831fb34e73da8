"""Reference kernels on NumPy and SciPy: the meaning of the operations, in a few lines each.

For a block X of rows and memberships M of its columns (or rows), which may be weighted:

* `gather` writes the sums of each row over clusters of columns, X M, and the weighted squares
  sum_t w_t x_pt^2;
* `scatter` adds the sums of each column over clusters of rows, X' M, and the weighted squares
  sum_p w_p x_pt^2;
* `move` updates what `scatter` has added up where a few rows have changed clusters;
* all three sum over the stored cells alone where `counts` are asked for: weights times values, and
  into these the weights (`move` only those of one);
* `multiply` writes X P, `multiply_transposed` adds X' P for a thin table P;
* `score` turns the features of items into distances and finds the nearest cluster of each item;
* `take_seed` takes one of a few candidates for a seed of k-means++;
* `best_sets`, `least_sets` and `hull_steps` are those of `neocc.kernels.numpy_sets`, `compared` and
  `move_cells` those of `neocc.kernels.numpy_settle`.

Weights of `None` are all one. Tables have a row per item.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from neocc._typing import FloatArray, IntArray, LabelArray
from neocc.kernels.inputs import (
    NOISE_SCALE,
    SAME_SUM,
    TIE_SCALE,
    Block,
    Features,
    SparseBlock,
    Terms,
)
from neocc.kernels.memberships import Memberships
from neocc.kernels.numpy_sets import best_sets, hull_steps, least_sets
from neocc.kernels.numpy_settle import compared, move_cells

__all__ = ["best_sets", "by_cluster", "distances", "gather", "hull_steps", "least_sets", "multiply"]
__all__ += ["move", "multiply_transposed", "scaled", "scatter", "score", "take_seed"]
__all__ += ["compared", "move_cells"]

_BUFFER_ENTRIES = 1 << 15


def gather(
    block: Block,
    columns: Memberships | None,
    weights: FloatArray | None,
    sums: FloatArray | None,
    squares: FloatArray | None,
    counts: FloatArray | None = None,
) -> None:
    """Write the sums of each row over column clusters, and its weighted squares."""
    X = _matrix(block)
    if sums is not None and columns is not None:
        for cells, out in [(X, sums)] if counts is None else _observed(block, sums, counts):
            out[...] = cells.dot(columns.indicator)
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
    counts: FloatArray | None = None,
) -> None:
    """Add the sums of each column over row clusters, and its weighted squares."""
    X = _matrix(block)
    if sums is not None and rows is not None:
        for cells, out in [(X, sums)] if counts is None else _observed(block, sums, counts):
            np.add(out, cells.T.dot(rows.indicator), out=out)
    if squares is not None:
        weights = np.ones(X.shape[0]) if weights is None else weights
        for at, squared in _squared(block):
            squares += squared.T @ weights[at]


def move(
    block: Block,
    before: Memberships,
    now: Memberships,
    some: IntArray,
    sums: FloatArray | None,
    squares: FloatArray | None,
    counts: FloatArray | None = None,
) -> None:
    """Add some rows to the sums of the clusters they are in now, not of those they were in."""
    gained = now.take(some).indicator - before.take(some).indicator
    X = _matrix(block)
    if sums is not None:
        for cells, out in [(X, sums)] if counts is None else _observed(block, sums, counts):
            np.add(out, cells[some].T.dot(gained), out=out)
    if squares is not None:
        weights = now.weights - before.weights
        for at, squared in _squared(block):
            squares += squared.T @ weights[at]


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


def by_cluster(
    features: Features, terms: Terms, more: Any = None, put: Any = np.asarray
) -> tuple[Any, Any, Any]:
    """Return products and their scale, a number for each cluster, and what sums are shrunk by.

    What is a table in `terms`, and `more`, is part of the products: compiled loops read lines.
    Features may be on a card, where `put` sends tables of terms.
    """
    sums, products, scale, shrink = features.sums, features.products, terms.scale, terms.shrink
    if products is not None and scale is not None and scale.ndim == 2:
        products, scale = products @ put(scale), None
    squares = sums is not None and shrink is not None and shrink.ndim == 2
    curved = features.counts is not None and terms.curve is not None
    if more is None and not (squares or curved):
        return products, scale, shrink
    if products is not None:
        found = products if scale is None else products * put(scale)
        more = found if more is None else more + found
    if squares:
        rest = np.zeros(terms.n_clusters, like=features.squares) if more is None else more
        more, shrink = rest - ((sums @ put(shrink)) * sums).sum(axis=1)[:, None], None
    if curved:
        found = features.counts @ put(terms.curve)
        more = found if more is None else found + more
    return more, None, shrink


def take_seed(
    closest: FloatArray,
    left: FloatArray,
    labels: LabelArray,
    number: int,
    tie: float,
    n_kept: int,
) -> int:
    """Return which of a few candidates leaves the least sum of distances from the nearest seed.

    `closest` are those distances so far, `left` has a row of distances from each candidate, none
    of which counts as less than zero. `closest` is lowered to the one taken, and items that are
    nearer to it by more than `tie` get its number. The `n_kept` smallest distances are summed. Of
    sums that differ by rounding alone the first is taken, for dense and sparse data alike.
    """
    nearer = kept = np.maximum(np.minimum(closest, left), 0.0)
    if n_kept < len(closest):
        kept = np.partition(nearer, n_kept - 1, axis=1)[:, :n_kept]
    sums = kept.sum(axis=1)
    best = int(np.argmax(sums <= sums.min() + SAME_SUM * sums.max()))
    labels[left[best] < closest - tie] = number
    closest[:] = nearer[best]
    return best


def _matrix(block: Block) -> Any:
    return block.matrix() if isinstance(block, SparseBlock) else block


def _observed(block: Any, sums: FloatArray, counts: FloatArray) -> list[tuple[Any, FloatArray]]:
    """Return observed cells times their weights, and the weights, with where they are summed."""
    at = block.stored()
    values = block.data[at].astype(np.float64)
    weights = np.ones(len(values)) if block.weights is None else block.weights[at]
    values = values if block.weights is None else values * np.sqrt(weights)
    return [(block.matrix(values), sums), (block.matrix(weights), counts)]


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
