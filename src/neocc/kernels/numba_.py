"""Compiled kernels; same functions and meaning as `neocc.kernels.numpy_`.

The loops are in `neocc.kernels.loops`. Parallelism is the engine's: it runs blocks on threads and
adds their results in block order.
"""

from __future__ import annotations

import numpy as np

from neocc._typing import AnyArray, FloatArray, IntArray, LabelArray
from neocc.kernels import (
    least_loops,
    loops,
    numpy_,
    numpy_sets,
    observed_loops,
    score_loops,
    set_loops,
    settle_loops,
    update_loops,
)
from neocc.kernels.inputs import Block, Features, Parts, SetCosts, SparseBlock, Terms
from neocc.kernels.memberships import Memberships

# Products of small tables are cheaper as loops than as calls of BLAS.
_SMALL_TABLE = 256

# Indices as unsigned numbers, by their size in bytes.
_UNSIGNED = {4: np.uint32, 8: np.uint64}

_NO_LINE = np.empty(0)
_NO_TABLE = np.empty((0, 0))
_NOBODY = Memberships.from_labels(np.empty(0, dtype=np.int32), 0)

hull_steps = set_loops.hull_steps
compared = settle_loops.compared
move_cells = settle_loops.move_cells


def gather(
    block: Block,
    columns: Memberships | None,
    weights: FloatArray | None,
    sums: FloatArray | None,
    squares: FloatArray | None,
    counts: FloatArray | None = None,
) -> None:
    """Write the sums of each row over column clusters, and its weighted squares."""
    if not isinstance(block, SparseBlock):
        if squares is not None:
            numpy_.gather(block, None, weights, None, squares)
        if sums is not None and columns is not None:
            block.dot(columns.indicator, out=sums)
        return
    if squares is not None and (columns is None or weights is None or counts is not None):
        weights = _NO_LINE if weights is None else weights
        loops.square_rows(*_entries(block), weights, squares)
        squares = None
    if columns is None or (sums is None and squares is None):
        return
    sums = np.empty((block.n_rows, columns.n_clusters)) if sums is None else sums
    first, clusters = columns.first, columns.extra_clusters
    scale = _NO_LINE if columns.scale is None else columns.scale
    ptr, has_extra, longest = columns.extra_items, np.empty(0, dtype=bool), 0
    if len(clusters):
        ptr, has_extra = columns.extra_ptr, columns.has_extra
        longest = int(np.diff(block.indptr).max(initial=0)) + 1
    found = np.empty(longest, dtype=np.uintp)
    if counts is not None:
        cells = _cells(block)
        observed_loops.gather(*cells, first, scale, has_extra, ptr, clusters, sums, counts, found)
        return
    loops.gather_sparse(
        *_entries(block),
        first,
        scale,
        has_extra,
        ptr,
        clusters,
        _NO_LINE if squares is None or weights is None else weights,
        sums,
        _NO_LINE if squares is None else squares,
        found,
    )


def scatter(
    block: Block,
    rows: Memberships | None,
    weights: FloatArray | None,
    sums: FloatArray | None,
    squares: FloatArray | None,
    counts: FloatArray | None = None,
) -> None:
    """Add the sums of each column over row clusters, and its weighted squares."""
    rows = _NOBODY if rows is None or sums is None else rows
    if counts is not None and sums is not None and isinstance(block, SparseBlock):
        scale = _NO_LINE if rows.scale is None else rows.scale
        extra = (rows.extra_items, rows.extra_clusters)
        observed_loops.scatter(*_cells(block), rows.first, scale, *extra, sums, counts)
        rows, sums = _NOBODY, None
    if squares is not None and weights is None:
        weights = np.ones(block.n_rows if isinstance(block, SparseBlock) else len(block))
    common = (
        rows.first,
        _NO_LINE if rows.scale is None else rows.scale,
        rows.extra_items,
        rows.extra_clusters,
        _NO_LINE if squares is None or weights is None else weights,
        _NO_TABLE if sums is None else sums,
        _NO_LINE if squares is None else squares,
    )
    if isinstance(block, SparseBlock):
        indices = block.indices.view(_UNSIGNED[block.indices.itemsize])
        loops.scatter_sparse(block.indptr, indices, block.data, *common)
    else:
        loops.scatter_dense(block, *common)


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
    if not isinstance(block, SparseBlock):
        numpy_.move(block, before, now, some, sums, squares, counts)
        return
    tables = _NO_TABLE if sums is None else sums, _NO_TABLE if counts is None else counts
    for members, sign in ((before, -1.0), (now, 1.0)):
        ptr = members.extra_ptr if len(members.extra_items) else members.extra_items
        extra = ptr, members.extra_clusters
        update_loops.add_rows(*_entries(block), some, members.first, *extra, sign, *tables)
    if squares is not None:
        weights = now.weights - before.weights
        update_loops.add_squares(*_entries(block), some, weights, squares)


def _entries(block: SparseBlock) -> tuple[AnyArray, AnyArray, AnyArray]:
    return block.indptr, block.indices.view(_UNSIGNED[block.indices.itemsize]), block.data


def _cells(block: SparseBlock) -> tuple[AnyArray, AnyArray, AnyArray, AnyArray]:
    return *_entries(block), _NO_LINE if block.weights is None else block.weights


def multiply(block: Block, table: FloatArray, out: FloatArray) -> None:
    """Write X P."""
    if isinstance(block, SparseBlock):
        loops.multiply(*_entries(block), np.ascontiguousarray(table), out)
    else:
        np.matmul(block, table, out=out)


def multiply_transposed(block: Block, table: FloatArray, out: FloatArray) -> None:
    """Add X' P."""
    if isinstance(block, SparseBlock):
        loops.multiply_transposed(*_entries(block), np.ascontiguousarray(table), out)
    else:
        numpy_.multiply_transposed(block, table, out)


def score(
    features: Features,
    terms: Terms,
    members: Memberships | None,
    d: FloatArray | None,
    labels: LabelArray,
    minima: FloatArray,
) -> float:
    """Find the nearest cluster of each item; return the sum of the distances at `members`."""
    sums, slope = features.sums, terms.slope
    cross = None
    if sums is not None and slope is not None and slope.size > _SMALL_TABLE:
        cross, slope = sums @ slope, None
    products, scale, shrink = features.products, terms.scale, terms.shrink
    if not (cross is products is shrink is features.counts is None):
        products, scale, shrink = numpy_.by_cluster(features, terms, cross)
    members = _NOBODY if members is None else members
    total: float = score_loops.score(
        _NO_TABLE if sums is None else sums,
        features.squares,
        _NO_TABLE if products is None else products,
        _NO_TABLE if slope is None else slope,
        terms.offset,
        _NO_LINE if scale is None else scale,
        _NO_LINE if shrink is None else shrink,
        _NO_LINE if terms.rate is None else terms.rate,
        terms.magnitude,
        members.first,
        members.extra_items,
        members.extra_clusters,
        _NO_LINE if members.scale is None else members.scale,
        _NO_TABLE if d is None else d,
        labels,
        minima,
    )
    return total


def take_seed(
    closest: FloatArray,
    left: FloatArray,
    labels: LabelArray,
    number: int,
    tie: float,
    n_kept: int,
) -> int:
    """Return which candidate leaves the least sum of distances, and lower `closest` to it."""
    if n_kept < len(closest):
        return numpy_.take_seed(closest, left, labels, number, tie, n_kept)
    best: int = score_loops.take_seed(closest, np.ascontiguousarray(left), labels, number, tie)
    return best


def best_sets(
    d: FloatArray,
    squares: FloatArray | None,
    costs: SetCosts,
    curves: FloatArray,
    sets: LabelArray,
) -> None:
    """Write the best set of clusters of each size from 1, and its cost."""
    pairs = costs.pairs
    set_loops.best_sets(
        d,
        _NO_LINE if squares is None else squares,
        costs.own,
        costs.fixed,
        costs.joint,
        _NO_TABLE if pairs is None else pairs,
        numpy_sets.largest_exact(d.shape[1]),
        curves,
        sets,
    )


def least_sets(
    parts: Parts,
    squares: FloatArray,
    anchors: FloatArray,
    curves: FloatArray,
    sets: LabelArray,
) -> None:
    """Write best sets, and their costs, where the nearest cluster of a set counts in each part."""
    slope, curve = (np.ascontiguousarray(table.T) for table in (parts.slope, parts.curve))
    counts, empty = np.atleast_2d(parts.counts), np.isinf(parts.magnitude)
    given = (parts.sums, counts, slope, curve, empty, squares, anchors)
    least_loops.least_sets(*given, curves, sets)
