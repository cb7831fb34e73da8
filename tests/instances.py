"""Random problems: data of many kinds, feasible memberships.

And hypothesis strategies over both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from neocc.core.engine import Engine
from neocc.core.problem import Counts
from neocc.engines import DenseMatrix, PassOptions, SparseMatrix, Workers, open_engine
from neocc.kernels import Memberships, get_kernels

OBJECTIVES = ("mean", "residue")
KINDS = (
    "gaussian",
    "tied",
    "sparse",
    "duplicated",
    "zeros",
    "constant",
    "one_row",
    "one_column",
    "one_cluster_per_item",
)


def make_data(kind: str, rng: np.random.Generator, n: int, m: int) -> np.ndarray:
    """Draw an n x m matrix; `one_row` and `one_column` have a single one."""
    n = 1 if kind == "one_row" else n
    m = 1 if kind == "one_column" else m
    X = rng.normal(size=(n, m)) * rng.choice([1e-3, 1.0, 1e3])
    if kind == "tied":
        return rng.integers(0, 3, size=(n, m)).astype(float)
    if kind == "sparse":
        return np.where(rng.random((n, m)) < 0.3, rng.integers(1, 6, size=(n, m)), 0).astype(float)
    if kind == "duplicated":
        return X[rng.integers(0, max(1, n // 2), size=n)]
    if kind == "zeros":
        X[rng.random(n) < 0.4] = 0.0
        X[:, rng.random(m) < 0.4] = 0.0
    if kind == "constant":
        return np.full((n, m), rng.choice([0.0, 0.1, 3.0]))
    return X


def make_counts(rng: np.random.Generator, n: int, k: int, most: int | None = None) -> Counts:
    """Draw feasible counts: overlap and outliers, at most `most` memberships of an item.

    A third of them with fewer memberships than items.
    """
    b = int(rng.integers(0, n))
    low, high = n - b, n * min(k, most or k)
    if rng.random() < 0.3:
        high = min(high, n)
    elif rng.random() < 0.6:
        high = min(high, n + n // 2 + 1)
    return Counts(n, k, int(rng.integers(low, high + 1)), b)


def make_membership(
    rng: np.random.Generator, counts: Counts, most: int | None = None
) -> np.ndarray:
    """Draw a feasible membership matrix; some clusters may be empty, some items in none."""
    n, k, T = counts.n_items, counts.n_clusters, counts.n_memberships
    fewest = -(-T // n)
    clusters = rng.permutation(k)[: rng.integers(fewest, k + 1)]
    U = np.zeros((n, k), dtype=bool)
    for item in rng.permutation(n)[: counts.n_covered]:
        U[item, rng.choice(clusters)] = True
    free = [(i, j) for i in range(n) for j in clusters if not U[i, j]]
    n_left = counts.n_extra
    for at in rng.permutation(len(free)):
        if n_left > 0 and U[free[at][0]].sum() < (most or k):
            U[free[at]] = True
            n_left -= 1
    return U


def any_membership(rng: np.random.Generator, n: int, k: int) -> np.ndarray:
    """Draw a membership matrix with overlap, outliers and, at times, empty clusters."""
    U = rng.random((n, k)) < rng.choice([0.2, 0.5, 0.8])
    U[:, rng.random(k) < 0.15] = False
    return U


@dataclass(frozen=True)
class Instance:
    """A matrix with feasible memberships of both sides."""

    kind: str
    X: np.ndarray
    rows: Counts
    columns: Counts
    U: np.ndarray
    V: np.ndarray


def make_instance(
    rng: np.random.Generator, kind: str | None = None, largest: int = 9, most: int | None = None
) -> Instance:
    kind = str(rng.choice(KINDS)) if kind is None else kind
    X = make_data(kind, rng, *rng.integers(1, largest + 1, size=2))
    n, m = X.shape
    sizes = [int(rng.integers(1, min(size, 4) + 1)) for size in (n, m)]
    if kind == "one_cluster_per_item":
        sizes = [n, m]
    rows, columns = make_counts(rng, n, sizes[0], most), make_counts(rng, m, sizes[1], most)
    U, V = make_membership(rng, rows, most), make_membership(rng, columns, most)
    return Instance(kind, X, rows, columns, U, V)


def instances(kinds=KINDS, largest: int = 8) -> st.SearchStrategy[Instance]:
    """Hypothesis: an instance of one of `kinds`."""
    return st.builds(
        lambda seed, kind: make_instance(np.random.default_rng(seed), kind, largest),
        st.integers(0, 2**32 - 1),
        st.sampled_from(kinds),
    )


def make_engine(
    X, kernel: str = "numpy", workers: Workers | None = None, **options: float
) -> Engine:
    """Put an array or a CSR matrix into an engine; options are those of its passes.

    Without `workers` it runs on the calling thread.
    """
    matrix = SparseMatrix.from_scipy(X) if hasattr(X, "indptr") else DenseMatrix(X)
    return open_engine(
        matrix, get_kernels(kernel, 0), workers or Workers(1), options=PassOptions(**options)
    )


def members(U) -> Memberships:
    return Memberships.from_dense(np.asarray(U, dtype=bool))


def planted(
    rng: np.random.Generator,
    n: int = 40,
    m: int = 30,
    n_row_clusters: int = 3,
    n_column_clusters: int = 3,
    noise: float = 0.1,
) -> np.ndarray:
    """Draw a matrix of blocks with Gaussian noise: no two distances tie."""
    means = 3.0 * rng.normal(size=(n_row_clusters, n_column_clusters))
    rows = rng.permutation(np.arange(n) % n_row_clusters)
    columns = rng.permutation(np.arange(m) % n_column_clusters)
    return means[rows][:, columns] + noise * rng.normal(size=(n, m))
