"""Averages over a grid of bins, against averages taken cell by cell."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from neocc.plot._binning import bin_edges, bin_means


def literal_means(X, rows, columns, most):
    """Average the cells of every bin one by one."""
    edges = [[i * len(places) // n for i in range(n + 1)]
             for places, n in zip((rows, columns), map(min, most, (len(rows), len(columns))), strict=True)]  # fmt: skip  # noqa: E501
    means = np.full((len(edges[0]) - 1, len(edges[1]) - 1), np.nan)
    for i, j in np.ndindex(means.shape):
        cells = [
            float(X[p, t])
            for p in rows[edges[0][i] : edges[0][i + 1]]
            for t in columns[edges[1][j] : edges[1][j + 1]]
            if p >= 0 and t >= 0
        ]
        if cells:
            means[i, j] = sum(cells) / len(cells)
    return means


def make(kind, rng, shape):
    X = rng.normal(size=shape) * (rng.random(shape) < 0.4)
    if kind == "csr":
        return sparse.csr_array(X)
    if kind == "csr32":
        return sparse.csr_array(X.astype(np.float32))
    return X.astype(kind)


@pytest.mark.parametrize("kind", ["float64", "float32", "int64", "bool", "csr", "csr32"])
@pytest.mark.parametrize("seed", range(8))
def test_bins_hold_the_mean_of_their_cells(kind, seed):
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(1, 12, size=2))
    X = make(kind, rng, shape)
    # Items in any order, some not shown, some shown twice, some places empty.
    rows, columns = (rng.integers(-1, n, size=rng.integers(1, 15)) for n in shape)
    most = tuple(rng.integers(1, 12, size=2))
    np.testing.assert_allclose(
        bin_means(X, rows, columns, most),
        literal_means(X, rows, columns, most),
        rtol=1e-6,
        atol=1e-12,
    )


@pytest.mark.parametrize("kind", ["float64", "csr"])
def test_with_enough_bins_the_matrix_is_only_reordered(kind):
    rng = np.random.default_rng(0)
    X = make(kind, rng, (9, 7))
    rows, columns = rng.permutation(9), rng.permutation(7)
    dense = X.toarray() if sparse.issparse(X) else X
    assert (bin_means(X, rows, columns, (9, 7)) == dense[rows][:, columns]).all()


def test_bins_are_even():
    for n_places in range(1, 60):
        for most in (1, 2, 7, 59):
            edges = bin_edges(n_places, most)
            assert edges[0] == 0
            assert edges[-1] == n_places
            assert np.ptp(np.diff(edges)) <= 1
            assert len(edges) - 1 == min(n_places, most)


def test_a_matrix_that_would_never_fit_into_memory_is_binned():
    n = 2_000_000
    at = np.arange(0, n, 2000)
    X = sparse.csr_array((np.ones(len(at)), (at, at)), shape=(n, n))
    means = bin_means(X, np.arange(n), np.arange(n)[::-1], (10, 10))
    assert means.shape == (10, 10)
    assert (means[np.arange(10), np.arange(10)[::-1]] == 100 / (n / 10) ** 2).all()
    assert np.count_nonzero(means) == 10
