"""Reference kernels on NumPy and SciPy: the meaning of the operations, in a few lines each.

For a block X of rows, column memberships V (weights w = V 1), row memberships U (weights f = U 1)
and a thin table P:

* `gather` writes, for each row p,   sums_pj = sum over t in cluster j of x_pt   (X V),
  squares_p = sum_t w_t x_pt^2, and products = X P;
* `scatter` adds, for each column t, sums_it = sum over p in cluster i of x_pt   (U' X),
  squares_t = sum_p f_p x_pt^2, and products = X' P.

* `nearest` makes distances comparable and finds the nearest cluster of each item.

Memberships of `None` mean that every item is its own cluster: all weights are one and `sums`,
which would be a copy of X, is not asked for. Each output may be None: it is then not computed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from neocc._typing import FloatArray, IntArray
from neocc.kernels.blocks import Block, SparseBlock
from neocc.kernels.memberships import Memberships

# A distance is rounded to 2**-40 of itself, and to no less than 2**-46 of the terms it is made of.
TIE_SCALE = 2.0**12
NOISE_SCALE = 2.0**6
_BUFFER_ENTRIES = 1 << 15


def gather(
    block: Block,
    columns: Memberships | None,
    table: FloatArray | None,
    *,
    sums: FloatArray | None,
    squares: FloatArray | None,
    products: FloatArray | None,
) -> None:
    """Write row-wise sums (X V), weighted squares and products (X P) of a block."""
    X = _matrix(block)
    if sums is not None:
        assert columns is not None
        sums[...] = X @ columns.indicator
    if squares is not None:
        weights = np.ones(X.shape[1]) if columns is None else columns.weights
        for at, squared in _squared(block):
            squares[at] = squared @ weights
    if products is not None:
        products[...] = X @ table


def scatter(
    block: Block,
    rows: Memberships | None,
    table: FloatArray | None,
    *,
    sums: FloatArray | None,
    squares: FloatArray | None,
    products: FloatArray | None,
) -> None:
    """Add column-wise sums (U' X), weighted squares and products (X' P) of a block."""
    X = _matrix(block)
    if sums is not None:
        assert rows is not None
        sums += (X.T @ rows.indicator).T
    if squares is not None:
        weights = np.ones(X.shape[0]) if rows is None else rows.weights
        for at, squared in _squared(block):
            squares += squared.T @ weights[at]
    if products is not None:
        products += X.T @ table


def nearest(
    d: FloatArray,
    item_terms: FloatArray,
    cluster_terms: FloatArray,
    squares: FloatArray,
    magnitude: FloatArray,
    members: Memberships | None,
) -> tuple[IntArray, FloatArray, float]:
    """Complete the distances in `d` and make them comparable; return argmin and min of each row.

    The third result is the sum of the distances at `members`, taken before anything is rounded.

    A distance is known to about 2**-50 of the terms it is made of, here bounded by `squares` of the
    item plus `magnitude` of the cluster. Rounding makes equal distances compare equal, whichever
    kernel, block size or order of summation produced them: adding and subtracting a large number
    rounds to a multiple of that number's last bit. An infinite magnitude marks an empty cluster,
    which becomes infinitely far.
    """
    d += np.add.outer(item_terms, cluster_terms)
    total = 0.0 if members is None else members.total(d)
    anchor = np.add.outer(squares * NOISE_SCALE, magnitude * NOISE_SCALE)
    np.maximum(anchor, np.abs(d) * TIE_SCALE, out=anchor)
    d += anchor
    with np.errstate(invalid="ignore"):
        d -= anchor
    d[:, np.isinf(magnitude)] = np.inf
    labels = d.argmin(axis=1)
    return labels, d[np.arange(len(d)), labels], total


def _matrix(block: Block) -> Any:
    return block.matrix() if isinstance(block, SparseBlock) else block


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
