"""How planted data is drawn: memberships with exact counts, block means, and the values of cells.

Letters as in the method's paper: U and V are the memberships of rows and columns, M the block
means.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neocc._counts import Counts
from neocc._typing import AnyArray, BoolArray, FloatArray

# Orders of the block means that are tried; the one with the least spread is kept.
_N_ORDERS = 20


def plant(counts: Counts, rng: np.random.Generator, shuffle: bool) -> BoolArray:
    """Draw a membership matrix: one cluster for each covered item, further ones at random."""
    covered = np.arange(counts.n_covered)
    home = covered * counts.n_clusters // counts.n_covered
    members = np.zeros((counts.n_items, counts.n_clusters), dtype=bool)
    members[covered, home] = True
    # The k - 1 clusters an item is not yet in are numbered from the one after its home.
    n_others = counts.n_clusters - 1
    item, step = np.divmod(
        distinct_integers(rng, counts.n_covered * n_others, counts.n_extra), max(1, n_others)
    )
    members[item, (home[item] + 1 + step) % counts.n_clusters] = True
    return members[rng.permutation(counts.n_items)] if shuffle else members


def distinct_integers(rng: np.random.Generator, below: int, size: int) -> NDArray[np.int64]:
    """Draw a uniform subset of `size` of the integers from 0 to `below` - 1, in rising order.

    Needs memory for the subset, not for all integers (unless the subset is more than half of them).
    """
    if 2 * size > below:
        kept = np.ones(below, dtype=bool)
        kept[distinct_integers(rng, below, below - size)] = False
        return np.flatnonzero(kept)
    subset = np.empty(0, dtype=np.int64)
    while subset.size < size:
        more = rng.integers(below, size=size - subset.size + 16 + size // 8)
        subset = np.concatenate([subset, more])
        subset.sort()  # np.unique would hash, which is much slower here
        subset = subset[np.append(True, subset[1:] != subset[:-1])]
    surplus = rng.choice(subset.size, subset.size - size, replace=False)
    return np.delete(subset, surplus)


def block_means(n_rows: int, n_columns: int, rng: np.random.Generator) -> FloatArray:
    """Equally spaced numbers around zero in random order, no two rows or columns alike.

    The smallest root-mean-square difference of two rows or of two columns is 1. Of several random
    orders, the one that needs the smallest numbers for this is used.
    """
    if n_rows * n_columns == 1:
        return np.ones((1, 1))
    levels = np.linspace(-1, 1, n_rows * n_columns)
    best, best_gap = levels.reshape(n_rows, n_columns), 0.0
    for _ in range(_N_ORDERS):
        order = rng.permutation(levels).reshape(n_rows, n_columns)
        gap = min(_smallest_difference(order), _smallest_difference(order.T))
        if gap > best_gap:
            best, best_gap = order, gap
    return best / best_gap


def _smallest_difference(table: FloatArray) -> float:
    """Smallest root-mean-square difference of two rows."""
    squares = np.einsum("ij,ij->i", table, table)
    distances = np.add.outer(squares, squares) - 2 * table @ table.T
    np.fill_diagonal(distances, np.inf)
    return math.sqrt(max(0.0, float(distances.min())) / table.shape[1])


@dataclass(frozen=True)
class Cells:
    """The means of all cells, as a product of two thin tables, and the outliers.

    The mean of cell (p, t) is ``row_factors[p] @ column_factors[t] + shift``; in outlier rows and
    columns it is ``shift`` plus or minus ``far``.
    """

    row_factors: FloatArray
    column_factors: FloatArray
    row_outliers: BoolArray
    column_outliers: BoolArray
    far: float
    M: FloatArray
    row_effects: FloatArray
    column_effects: FloatArray
    lowest: float
    shift: float = 0.0

    @classmethod
    def planted(
        cls,
        U: BoolArray,
        V: BoolArray,
        M: FloatArray,
        separation: float,
        effects: float,
        rng: np.random.Generator,
    ) -> Cells:
        """Average block means and effects over the blocks of each cell."""
        row_effects = effects * rng.standard_normal((U.shape[0], V.shape[1]))
        column_effects = effects * rng.standard_normal((U.shape[1], V.shape[0]))
        row_shares = U / np.maximum(U.sum(axis=1, keepdims=True), 1)
        column_shares = V / np.maximum(V.sum(axis=1, keepdims=True), 1)
        row_factors, column_factors = row_shares @ M, column_shares
        if effects:
            row_factors = np.hstack([row_factors + row_effects, row_shares])
            column_factors = np.hstack([column_shares, column_effects.T])
        row_outliers: BoolArray = np.logical_not(U.any(axis=1))
        column_outliers: BoolArray = np.logical_not(V.any(axis=1))
        reach = float(np.abs(M).max()) + 3 * effects
        far = reach + separation
        any_outliers = bool(row_outliers.any() or column_outliers.any())
        return cls(
            row_factors,
            column_factors,
            row_outliers,
            column_outliers,
            far,
            M,
            row_effects,
            column_effects,
            lowest=-(far if any_outliers else reach),
        )

    def moved(self, shift: float) -> Cells:
        """Add a constant to all means."""
        return replace(self, shift=shift)

    @property
    def block_means(self) -> FloatArray:
        """Means of the blocks, without effects."""
        return self.M + self.shift


@dataclass(frozen=True)
class Draw:
    """Values of cells: their means, signs of outlying cells, noise, rounding.

    So many are drawn at a time as `cells_at_a_time` says: it bounds the memory beyond the result.
    """

    cells: Cells
    noise: float
    integer: bool
    dtype: np.dtype[Any]
    noise_rng: np.random.Generator
    sign_rng: np.random.Generator
    cells_at_a_time: int = 1 << 17

    def all(self) -> AnyArray:
        """Draw the full matrix."""
        cells = self.cells
        X = np.empty((cells.row_outliers.size, cells.column_outliers.size), dtype=self.dtype)
        step = max(1, self.cells_at_a_time // X.shape[1])
        for start in range(0, X.shape[0], step):
            part = slice(start, start + step)
            means = cells.row_factors[part] @ cells.column_factors.T
            X[part] = self._values(means, cells.row_outliers[part, None] | cells.column_outliers)
        return X

    def some(self, n_cells: int, place_rng: np.random.Generator) -> Any:
        """Draw `n_cells` cells at random places, as a CSR array."""
        from scipy import sparse

        cells = self.cells
        shape = (cells.row_outliers.size, cells.column_outliers.size)
        places = distinct_integers(place_rng, shape[0] * shape[1], n_cells)
        data = np.empty(n_cells, dtype=self.dtype)
        index_type = np.int32 if max(n_cells, *shape) <= np.iinfo(np.int32).max else np.int64
        columns = np.empty(n_cells, dtype=index_type)
        per_row = np.zeros(shape[0], dtype=np.int64)
        for start in range(0, n_cells, self.cells_at_a_time):
            part = slice(start, start + self.cells_at_a_time)
            row, column = np.divmod(places[part], shape[1])
            means = np.einsum("ij,ij->i", cells.row_factors[row], cells.column_factors[column])
            data[part] = self._values(
                means, cells.row_outliers[row] | cells.column_outliers[column]
            )
            columns[part] = column
            per_row += np.bincount(row, minlength=shape[0])
        indptr = np.concatenate([[0], np.cumsum(per_row)]).astype(index_type)
        return sparse.csr_array((data, columns, indptr), shape=shape)

    def _values(self, means: FloatArray, outlying: BoolArray) -> FloatArray:
        n_outlying = np.count_nonzero(outlying)
        means[outlying] = self.cells.far * self.sign_rng.choice((-1.0, 1.0), n_outlying)
        values = means + self.cells.shift + self.noise * self.noise_rng.standard_normal(means.shape)
        if not self.integer:
            return values
        whole = np.maximum(np.rint(values), 1.0)
        if self.dtype.kind in "iu" and whole.max() > np.iinfo(self.dtype).max:
            raise ValueError(f"dtype {self.dtype} is too small: a cell holds {whole.max():.0f}.")
        return whole
