"""Matrices that the benchmarks run on."""

from __future__ import annotations

import gzip
import os
from functools import cache
from pathlib import Path

import numpy as np
from scipy import sparse


@cache
def planted(
    n_rows: int = 100_000, n_columns: int = 10_000, n_entries: int = 10_000_000, k: int = 20
) -> sparse.csr_array:
    """k x k blocks of different density; float32 values from 1 to 5; about `n_entries` entries."""
    rng = np.random.default_rng(0)
    row_labels = rng.integers(k, size=n_rows)
    column_labels = np.sort(rng.integers(k, size=n_columns))
    starts = np.searchsorted(column_labels, np.arange(k + 1))
    widths = np.diff(starts)
    expected = rng.gamma(1.0, size=(k, k))[row_labels] * widths
    expected *= n_entries / expected.sum()
    counts = np.minimum(rng.poisson(expected), widths)
    indptr = np.concatenate([[0], np.cumsum(counts.sum(axis=1))])
    cells = np.repeat(np.tile(np.arange(k, dtype=np.int32), n_rows), counts.ravel())
    columns = starts[cells] + (rng.random(len(cells)) * widths[cells]).astype(np.int32)
    values = rng.integers(1, 6, size=len(cells)).astype(np.float32)
    X = sparse.csr_array(
        (values, columns.astype(np.int32), indptr.astype(np.int32)), shape=(n_rows, n_columns)
    )
    X.sum_duplicates()
    return X


@cache
def movielens_1m() -> sparse.csr_array | None:
    """Return the ratings of MovieLens 1M, users x movies, or None without NEOCC_DATA."""
    path = Path(os.environ.get("NEOCC_DATA", "")) / "movielens-1m" / "ratings.csv.gz"
    if "NEOCC_DATA" not in os.environ or not path.exists():
        return None
    with gzip.open(path, "rt") as file:
        users, movies, ratings = np.loadtxt(file, delimiter=",", skiprows=1, dtype=np.int32).T
    rows = np.unique(users, return_inverse=True)[1]
    columns = np.unique(movies, return_inverse=True)[1]
    return sparse.coo_array((ratings.astype(np.float32), (rows, columns))).tocsr()


@cache
def gaussian(n_rows: int = 100_000, n_columns: int = 50) -> np.ndarray:
    """Return dense standard normal data."""
    return np.random.default_rng(0).normal(size=(n_rows, n_columns))


def memberships(n_items: int, n_clusters: int, overlap: float, outliers: float) -> np.ndarray:
    """Return random feasible memberships, for timing iterations from the same start."""
    from neocc.core.initialise import random_start
    from neocc.core.problem import Counts

    counts = Counts.from_fractions(n_items, n_clusters, overlap, outliers)
    return random_start(counts, np.random.default_rng(0)).dense
