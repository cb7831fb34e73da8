"""What is counted in a matrix for the page: terms of groups, observed cells of blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from neocc._typing import BoolArray, FloatArray, IntArray
from neocc.core.objectives.counts import lifts_of, likelihoods

__all__ = ["Associations", "BlockCells", "associate", "count_observed", "root_mean_squares"]

_CELLS_AT_ONCE = 1 << 18


@dataclass(frozen=True, eq=False)
class Associations:
    """How often members of groups have the items of the other side.

    Attributes
    ----------
    observed, expected : ndarray of shape (n_clusters, n_others)
        Counts, and those that independence expects of the members.
    prior : float
        What is added to both, as in the fit.
    """

    observed: FloatArray
    expected: FloatArray
    prior: float

    def strongest(self, cluster: int, most: int) -> tuple[tuple[int, float], ...]:
        """Return items that occur more often than expected, with lifts.

        First come those whose counts independence explains least: a large lift of a rare item
        says little.
        """
        counts = self.observed[cluster], self.expected[cluster]
        lifts = lifts_of(*counts, self.prior)
        order = np.argsort(likelihoods(*counts, self.prior), kind="stable")
        above = order[lifts[order] > 1.0][:most]
        return tuple((int(item), float(lifts[item])) for item in above)


def associate(X: Any, members: BoolArray, prior: float) -> Associations:
    """Count what the members of groups of rows have; each counts fully in each of its groups."""
    inside = members.astype(np.float64)
    observed = np.asarray((X.T @ inside).T, dtype=np.float64)
    columns = np.asarray(X.sum(axis=0), dtype=np.float64).ravel()
    total = float(columns.sum())
    expected = np.outer(observed.sum(axis=1), columns / total if total else columns)
    return Associations(observed, expected, prior)


@dataclass(frozen=True, eq=False)
class BlockCells:
    """How many cells blocks have, and how many of them were observed."""

    observed: IntArray
    sizes: IntArray

    @property
    def transposed(self) -> BlockCells:
        """The same with rows and columns exchanged."""
        return BlockCells(self.observed.T, self.sizes.T)

    def in_words(self, row: int, column: int) -> str:
        """Say how many of a block's cells were observed."""
        return f"{self.observed[row, column]:,} of {self.sizes[row, column]:,}"


def count_observed(X: Any, rows: BoolArray, columns: BoolArray) -> BlockCells:
    """Count the stored cells of the blocks of a CSR matrix."""
    stored = sparse.csr_array((np.ones(X.nnz), X.indices, X.indptr), shape=X.shape)
    U, V = rows.astype(np.float64), columns.astype(np.float64)
    found: IntArray = np.rint(U.T @ np.asarray(stored @ V)).astype(np.intp)
    return BlockCells(found, np.outer(rows.sum(axis=0), columns.sum(axis=0)))


def root_mean_squares(
    model: Any, X: Any, cells_at_once: int = _CELLS_AT_ONCE
) -> tuple[float, float]:
    """Return how far predictions of observed cells are off, with groups and by effects alone."""
    cells = sparse.coo_array(X)
    squares = np.zeros(2)
    for start in range(0, cells.nnz, cells_at_once):
        some = slice(start, start + cells_at_once)
        rows, columns = (at[some] for at in (cells.row, cells.col))
        effects = model.overall_mean_ + model.row_effects_[rows] + model.column_effects_[columns]
        groups = model.predict_cells(rows, columns, clip=False)
        for at, predicted in enumerate((groups, effects)):
            squares[at] += np.square(cells.data[some] - predicted).sum()
    with_groups, alone = np.sqrt(squares / max(cells.nnz, 1)).tolist()
    return with_groups, alone
