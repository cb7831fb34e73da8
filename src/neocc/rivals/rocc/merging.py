"""ROCC, step 2: drop the blocks that are not co-clusters, and merge those that belong together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from neocc._typing import BoolArray, FloatArray, IntArray
from neocc.core.solve import Solution
from neocc.rivals.rocc.grid import Grid
from neocc.rivals.rocc.members import Cocluster

# A block is not a co-cluster if its error is above this share of that of all blocks taken as one.
_COHERENT = 0.5
# A gap in the sorted errors means something if it is at least this share of the error below it.
_SIGNIFICANT = 0.3
# Gaps that are tried, from the largest, for the wanted number of co-clusters.
_GAPS = 8


@dataclass(frozen=True)
class Rectangles:
    """Co-clusters as rectangles of the grid.

    Attributes
    ----------
    rows, columns : bool arrays of shape (n_coclusters, k) and (n_coclusters, l)
        Row clusters and column clusters of each.
    unions : array of shape (n_coclusters, n_coclusters)
        Error of the union of two, above the diagonal; infinite elsewhere.
    distances : array
        Errors of the unions that were formed, in the order of the merges.
    """

    rows: BoolArray
    columns: BoolArray
    unions: FloatArray
    distances: FloatArray

    @classmethod
    def of(cls, grid: Grid, rows: BoolArray, columns: BoolArray) -> Rectangles:
        """Compute the errors of all unions."""
        unions = np.full((len(rows), len(rows)), np.inf)
        first, second = np.triu_indices(len(rows), 1)
        unions[first, second] = _union_errors(grid, rows, columns, first, second)
        return cls(rows, columns, unions, np.empty(0))

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, chosen: BoolArray) -> Rectangles:
        return Rectangles(
            self.rows[chosen],
            self.columns[chosen],
            self.unions[np.ix_(chosen, chosen)],
            self.distances,
        )


@dataclass(frozen=True)
class Merged:
    """What pruning and merging found.

    Attributes
    ----------
    coclusters : Rectangles
        The co-clusters.
    block_errors : array of shape (k, l)
        Error of each block, infinite where it cannot be judged.
    n_kept : int
        Number of blocks that were not dropped.
    cutoff : float
        The largest error of a block that is kept.
    """

    coclusters: Rectangles
    block_errors: FloatArray
    n_kept: int
    cutoff: float

    def on_items(self, solution: Solution) -> list[Cocluster]:
        """Return the rows and columns of each co-cluster, given those of the grid."""
        assert solution.U is not None and solution.V is not None
        rows = self.coclusters.rows @ solution.U.dense.T
        columns = self.coclusters.columns @ solution.V.dense.T
        return [Cocluster(*each) for each in zip(rows, columns, strict=True)]


class NoBlockError(ValueError):
    """No block of the grid meets the cut-off."""


def find_coclusters(
    grid: Grid, cutoff: float | None, n_coclusters: int | None, threshold: float | None
) -> Merged:
    """Drop the blocks whose error is above the cut-off and merge the others.

    Without a cut-off, one is put into the largest gap of the sorted errors. Merging ends at
    `n_coclusters`, or when the error of the next union would be above `threshold`; with neither,
    the threshold is the cut-off: unions must be as good as the blocks they are made of.
    """
    rows, columns, errors = _blocks(grid)
    usable = np.isfinite(errors)
    blocks = Rectangles.of(grid, rows[usable], columns[usable])
    candidates = [cutoff] if cutoff is not None else _cutoffs(grid, errors[usable], n_coclusters)
    for limit in candidates:
        kept = blocks[errors[usable] <= limit]
        if len(kept) == 0:
            raise NoBlockError(
                f"No block of the grid has an error of at most error_cutoff={limit:g}; the "
                f"smallest error is {errors.min():g}. Raise error_cutoff."
            )
        if n_coclusters is None or len(merge(grid, kept, 1, limit)) >= n_coclusters:
            break
    if threshold is None:
        threshold = limit if n_coclusters is None else np.inf
    coclusters = merge(grid, kept, n_coclusters or 1, threshold)
    return Merged(coclusters, errors.reshape(grid.shape), len(kept), float(limit))


def _blocks(grid: Grid) -> tuple[BoolArray, BoolArray, FloatArray]:
    """Return the row cluster, the column cluster and the error of every block."""
    n_row_clusters, n_column_clusters = grid.shape
    rows = np.repeat(np.eye(n_row_clusters, dtype=bool), n_column_clusters, axis=0)
    columns = np.tile(np.eye(n_column_clusters, dtype=bool), (n_row_clusters, 1))
    errors = grid.errors(rows, columns)
    if np.isinf(errors).all():
        # Nothing can be judged where no block is large enough: all of them are perfect.
        errors[np.outer(grid.row_sizes, grid.column_sizes).ravel() > 0] = 0.0
    return rows, columns, errors


def _cutoffs(grid: Grid, errors: FloatArray, n_coclusters: int | None) -> Iterator[float]:
    """Propose cut-offs, the most convincing first; the last one keeps every block.

    Blocks nearly as bad as the whole grid are not co-clusters. Below that, the largest gap in the
    sorted errors separates blocks inside a co-cluster from the others; without a large enough gap,
    all of them are co-clusters.
    """
    everything = (np.ones((1, size), dtype=bool) for size in grid.shape)
    whole = grid.errors(*everything)[0]
    coherent = _COHERENT * whole if np.isfinite(whole) else 0.0
    ordered = np.sort(errors)
    below, gaps = ordered[:-1], np.diff(ordered)
    # A gap above fewer blocks than co-clusters are wanted is of no use.
    places = np.flatnonzero(gaps > 0)
    places = places[places >= (n_coclusters or 1) - 1]
    places = places[np.argsort(-gaps[places], kind="stable")]
    convincing = (below <= coherent) & (gaps >= _SIGNIFICANT * below)
    middles = below + gaps / 2.0
    yield from middles[places[convincing[places]]][:_GAPS]
    if ordered[0] <= coherent:
        yield min(coherent, (1.0 + _SIGNIFICANT) * ordered[ordered <= coherent][-1])
    yield from middles[places][:_GAPS]
    yield ordered[-1]


def merge(grid: Grid, start: Rectangles, n_coclusters: int, threshold: float) -> Rectangles:
    """Join the two co-clusters whose union has the smallest error, again and again.

    The union holds the row clusters and the column clusters of both, so that what is left may
    overlap. A co-cluster inside another one joins it before anything else happens.
    """
    rows, columns, table = start.rows.copy(), start.columns.copy(), start.unions.copy()
    alive = np.ones(len(rows), dtype=bool)
    distances: list[float] = []
    while np.count_nonzero(alive) > max(1, n_coclusters):
        i, j = divmod(int(table.argmin()), len(table))
        if table[i, j] > threshold:
            break
        rows[i] |= rows[j]
        columns[i] |= columns[j]
        distances.append(float(_errors(grid, rows[i : i + 1], columns[i : i + 1])[0]))
        alive[j] = False
        table[j], table[:, j] = np.inf, np.inf
        others = np.flatnonzero(alive & (np.arange(len(rows)) != i))
        low, high = np.minimum(others, i), np.maximum(others, i)
        table[low, high] = _union_errors(grid, rows, columns, low, high)
    return Rectangles(rows, columns, table, np.array(distances))[alive]


def _union_errors(
    grid: Grid, rows: BoolArray, columns: BoolArray, first: IntArray, second: IntArray
) -> FloatArray:
    joint_rows, joint_columns = rows[first] | rows[second], columns[first] | columns[second]
    errors = _errors(grid, joint_rows, joint_columns)
    for one in (first, second):
        inside = (joint_rows == rows[one]).all(axis=1) & (joint_columns == columns[one]).all(axis=1)
        errors[inside] = -1.0
    return errors


def _errors(grid: Grid, rows: BoolArray, columns: BoolArray) -> FloatArray:
    """Return errors of unions; one without degrees of freedom is fitted perfectly."""
    errors = grid.errors(rows, columns)
    errors[np.isinf(errors)] = 0.0
    return errors
