"""Sums down the columns, collected over groups of row blocks and added in their order."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from neocc._typing import FloatArray
from neocc.core.objectives import Sums
from neocc.engines.scratch import Scratch


@dataclass
class ColumnTotals:
    """Sums down the columns over some rows: U' X, weighted squares, X' P and the energy of P."""

    sums: FloatArray
    squares: FloatArray
    products: FloatArray
    energy: FloatArray

    @classmethod
    def zeros(
        cls, n_row_clusters: int, n_columns: int, n_column_clusters: int, scratch: Scratch
    ) -> ColumnTotals:
        """Return totals over no rows."""
        totals = cls(
            scratch.take(n_row_clusters, n_columns),
            scratch.take(n_columns),
            scratch.take(n_columns, n_column_clusters),
            scratch.take(n_column_clusters),
        )
        for table in totals.tables():
            table.fill(0.0)
        return totals

    def tables(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return all four tables."""
        return self.sums, self.squares, self.products, self.energy

    def as_sums(self, *, with_clusters: bool, with_products: bool) -> Sums:
        """Return these totals as the sums for the distances of columns."""
        return Sums(
            self.sums.T if with_clusters else None,
            self.squares,
            self.products if with_products else None,
            self.energy if with_products else None,
        )

    def move_from(self, other: ColumnTotals) -> None:
        """Add the totals over further rows, and leave the other ones at zero for the next user."""
        for total, part in zip(self.tables(), other.tables(), strict=True):
            np.add(total, part, out=total)
            part.fill(0.0)


def grouped(blocks: list[tuple[int, int]], n_groups: int) -> list[list[tuple[int, int]]]:
    """Split a list of row ranges into consecutive groups of about equal length."""
    if n_groups == 1:
        return [blocks]
    edges = np.linspace(0, len(blocks), min(n_groups, len(blocks)) + 1).astype(int).tolist()
    return [blocks[start:stop] for start, stop in pairwise(edges)]
