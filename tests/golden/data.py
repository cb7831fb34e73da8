"""The matrices of the golden cases: drawn from seeds, or small tables that ship with packages."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from scipy import sparse
from sklearn import datasets as of_sklearn

from neocc import datasets

# With this much on either side; `rolled` returns memberships that meet these counts.
COUNTS = {"row_overlap": 0.2, "row_outliers": 0.05, "column_overlap": 0.1, "column_outliers": 0.1}


def planted(shape, k, width, seed, **options):
    return datasets.make_coclusters(shape, k, width, random_state=seed, **options)[0]


def rolled():
    """Return memberships for the data set "planted", feasible and wrong."""
    _, U, V = datasets.make_coclusters((60, 30), 3, 3, **COUNTS, random_state=1)
    return np.roll(U, 7, axis=0), np.roll(V, 4, axis=0)


def drawn(seed):
    return np.random.default_rng(seed)


def counts(shape, density, seed):
    """Return counts of a few events: small integers, most of them zero."""
    rng = drawn(seed)
    rates = np.outer(rng.gamma(2.0, size=shape[0]), rng.gamma(2.0, size=shape[1]))
    found = 1 + rng.poisson(rates)
    return sparse.csr_array(np.where(rng.random(shape) < density, found, 0).astype(float))


def binary(shape, density, seed):
    """Return a graph with two communities on each side."""
    rng = drawn(seed)
    rows, columns = rng.random(shape[0]) < 0.5, rng.random(shape[1]) < 0.5
    likely = np.where(np.equal.outer(rows, columns), 2.0 * density, 0.5 * density)
    return sparse.csr_array((rng.random(shape) < likely).astype(float))


def duplicates():
    X = drawn(8).normal(size=(20, 12))
    return X[np.sort(drawn(9).integers(0, 20, size=50))]


def zero_rows():
    X = planted((50, 20), 3, 2, 10)
    X[::7], X[:, ::6] = 0.0, 0.0
    return X


def far_off():
    """Return rows and columns at levels far above the noise between them."""
    rng = drawn(12)
    return planted((60, 25), 3, 3, 11) + 1e3 * rng.random((60, 1)) + 1e4


def large_sparse(dtype=float):
    """Return more entries than the thresholds beyond which sums follow the memberships."""
    X = planted((7000, 400), 4, 3, 14, density=0.22, format="csr", separation=2.0)
    return X.astype(dtype)


def scaled(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


DATA: dict[str, Callable[[], Any]] = {
    "planted": lambda: planted((60, 30), 3, 3, 1, **COUNTS),
    "disjoint": lambda: planted((50, 40), 4, 3, 2, noise=1.5),
    "effects": lambda: planted((60, 24), 3, 2, 3, effects=1.5, noise=0.7),
    "gaussian": lambda: drawn(4).normal(size=(40, 25)),
    "float32": lambda: planted((60, 30), 3, 3, 5, row_overlap=0.2, dtype=np.float32),
    "counts": lambda: counts((80, 50), 0.2, 6),
    "binary": lambda: binary((90, 60), 0.15, 7),
    "ties": lambda: drawn(13).integers(0, 3, size=(30, 16)).astype(float),
    "ratings": lambda: planted((70, 40), 3, 3, 15, integer=True, density=0.4, format="csr"),
    "duplicates": duplicates,
    "zero rows": zero_rows,
    "constant": lambda: np.full((12, 9), 0.5),
    "wide": lambda: planted((20, 300), 3, 4, 16),
    "tall": lambda: planted((400, 10), 4, 2, 17),
    "one row": lambda: drawn(18).normal(size=(1, 20)),
    "one column": lambda: drawn(19).normal(size=(20, 1)),
    "tiny": lambda: drawn(20).normal(size=(7, 5)),
    "far off": far_off,
    "large dense": lambda: planted((6000, 100), 4, 3, 21, separation=1.0, **COUNTS),
    "large effects": lambda: planted((6000, 100), 4, 3, 22, effects=1.0, noise=2.0),
    "large sparse": large_sparse,
    "large float32": lambda: large_sparse(np.float32),
    "women": lambda: datasets.load_southern_women().data,
    "case study": lambda: datasets.load_case_study().data,
    "digits": lambda: of_sklearn.load_digits().data[:300],
    "wine": lambda: scaled(of_sklearn.load_wine().data),
    "cancer": lambda: scaled(of_sklearn.load_breast_cancer().data)[:250],
    # Not passed on: read from the folder that NEOCC_DATA names.
    "yeast": lambda: datasets.fetch_yeast().data,
    "movielens": lambda: datasets.fetch_movielens_100k().data,
}
LOCAL = ("yeast", "movielens")


@cache
def load(name: str) -> Any:
    return DATA[name]()
