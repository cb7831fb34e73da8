"""Passes down the columns: few tables, used again, and blocks that two threads can share."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from neocc.core.shards import Reads
from neocc.engines import Workers
from neocc.engines.matrix import DenseMatrix, SparseMatrix
from neocc.engines.passes import Passes, PassOptions

SMALL = PassOptions(row_block=50, column_block=20, smallest_block=20, entries_per_cell=0)


class Counted(Passes):
    """Passes that count the tables they make."""

    n_made = 0

    def _zeros(self, widths):
        self.n_made += 1
        return super()._zeros(widths)


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_tables_of_columns_are_few_and_used_again(n_jobs):
    X = np.random.default_rng(0).normal(size=(400, 5))
    with Workers(n_jobs) as workers:
        passes = Counted(DenseMatrix(X), workers, Reads(), SMALL)

        def add(rows, totals):
            block = X[slice(*rows)]
            totals.squares[:] += np.square(block).sum(axis=0)
            totals.products[:] += block.T @ block[:, :2]

        for _ in range(2):
            passes.n_made = 0
            found = passes.down_columns((0, 2, 0), add)
            assert len(passes._grouped[0, 2, 0]) > 10
            assert passes.n_made <= n_jobs + 2
            assert np.allclose(found.squares, np.square(X).sum(axis=0), rtol=1e-12)
            assert np.allclose(found.products, X.T @ X[:, :2], rtol=1e-12)


@pytest.mark.parametrize("entries", [7, 60, 250, 900, 10_000])
def test_blocks_of_passes_are_one_or_an_even_number(entries):
    X = np.random.default_rng(0).normal(size=(97, 9))
    for matrix in (DenseMatrix(X), SparseMatrix.from_scipy(sparse.csr_array(X))):
        parts = matrix.partition(entries, even=True)
        assert len(parts) == 1 or len(parts) % 2 == 0 or len(parts) == len(X)
        assert [0, *(stop for _, stop in parts)] == [*(start for start, _ in parts), len(X)]
