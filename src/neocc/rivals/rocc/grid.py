"""ROCC, step 2: squared errors of unions of blocks, from sums over a grid and never from the data.

After the first step rows and columns have at most one cluster each. Every co-cluster that merging
can form is then a rectangle of the k x l grid: some row clusters I times some column clusters J.
With the sums B and squares Q of the blocks, and n, m the numbers of rows and columns in I and J,
its squared error is

    mean:     Q_IJ - B_IJ^2 / (n m)
    residue:  Q_IJ - sum_{p in I} S_pJ^2 / m - sum_{t in J} R_It^2 / n + B_IJ^2 / (n m)

where S_pJ and R_It are sums of a row over J and of a column over I. Their squares are quadratic
forms of the tables G_i = sum_{p in i} s_p s_p' (l x l, s_p the sums of row p over the column
clusters) and H_j (k x k, likewise), which are computed once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neocc._typing import BoolArray, FloatArray
from neocc.core.engine import Engine
from neocc.core.problem import Problem
from neocc.core.solve import Solution

# Cells of the tables that are held at a time.
_TABLE_CELLS = 1 << 21


@dataclass(frozen=True)
class Grid:
    """Sums over the blocks of a grid of row clusters and column clusters.

    Attributes
    ----------
    row_sizes, column_sizes : arrays of shape (k,) and (l,)
        Numbers of rows and columns in each cluster.
    sums, squares : arrays of shape (k, l)
        B and Q: sums of the entries of each block, and of their squares.
    row_products, column_products : arrays of shape (k, l, l) and (l, k, k), or None
        G and H, for the residue only.
    noise : float
        Squared errors that rounding alone can make.
    """

    row_sizes: FloatArray
    column_sizes: FloatArray
    sums: FloatArray
    squares: FloatArray
    row_products: FloatArray | None
    column_products: FloatArray | None
    noise: float

    @classmethod
    def of(cls, data: Engine, problem: Problem, solution: Solution) -> Grid:
        """Sum the data over the blocks of a solution without overlap."""
        U, V, R = solution.U, solution.V, solution.features.sums
        assert U is not None and V is not None and R is not None
        row_products = column_products = None
        if problem.objective.needs_products:
            S = data.multiply(V.indicator)
            row_products = _products(S, U.dense)
            column_products = _products(R, V.dense)
        return cls(
            U.sizes,
            V.sizes,
            R.T @ V.indicator,
            _block_squares(data, U.dense) @ V.indicator,
            row_products,
            column_products,
            solution.noise,
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of row and of column clusters."""
        return len(self.row_sizes), len(self.column_sizes)

    def errors(
        self, rows: BoolArray, columns: BoolArray, *, table_cells: int = _TABLE_CELLS
    ) -> FloatArray:
        """Return the squared error per degree of freedom of many rectangles.

        Rectangle c holds the row clusters `rows[c]` and the column clusters `columns[c]`. Degrees
        of freedom are its entries less the means fitted to them: per entry, small blocks would
        look better than they are. Infinite where there are none. Tables hold `table_cells` at a
        time.
        """
        errors = np.empty(len(rows))
        step = max(1, table_cells // sum(size * size for size in self.shape))
        for start in range(0, len(rows), step):
            part = slice(start, start + step)
            errors[part] = self._errors(rows[part], columns[part])
        return errors

    def _errors(self, rows: BoolArray, columns: BoolArray) -> FloatArray:
        I, J = rows.astype(np.float64), columns.astype(np.float64)  # noqa: E741 (index sets)
        n, m = I @ self.row_sizes, J @ self.column_sizes
        total = np.einsum("cj,cj->c", I @ self.sums, J)
        error = np.einsum("cj,cj->c", I @ self.squares, J)
        n_entries = np.maximum(n * m, 1.0)
        freedom = n * m - 1.0
        if self.row_products is None or self.column_products is None:
            error -= total * total / n_entries
        else:
            error -= _quadratic(I, self.row_products, J) / np.maximum(m, 1.0)
            error -= _quadratic(J, self.column_products, I) / np.maximum(n, 1.0)
            error += total * total / n_entries
            freedom = (n - 1.0) * (m - 1.0)
        error[error <= self.noise] = 0.0
        judged = (freedom > 0) & (n > 0) & (m > 0)
        errors = np.full(len(error), np.inf)
        errors[judged] = error[judged] / freedom[judged]
        return errors


def _products(sums: FloatArray, members: BoolArray) -> FloatArray:
    """Return sum_{p in i} s_p s_p' for every cluster i, s_p a row of `sums`."""
    parts = [sums[of_cluster] for of_cluster in members.T]
    return np.array([part.T @ part for part in parts])


def _quadratic(chosen: FloatArray, tables: FloatArray, weights: FloatArray) -> FloatArray:
    """Return w_c' (sum of the tables chosen by c) w_c for every c."""
    size = weights.shape[1]
    chosen_sums = (chosen @ tables.reshape(len(tables), -1)).reshape(-1, size, size)
    forms: FloatArray = np.einsum("cij,ci,cj->c", chosen_sums, weights, weights)
    return forms


def _block_squares(data: Engine, members: BoolArray) -> FloatArray:
    """Return, for every row cluster, the sums of squares of its entries in each column."""
    squares = np.zeros((members.shape[1], data.shape[1]))
    for out, of_cluster in zip(squares, members.T, strict=True):
        if of_cluster.any():
            out[:] = data.column_squares(of_cluster.astype(np.float64))
    return squares
