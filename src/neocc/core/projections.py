"""Starts from low-dimensional views of X, for matrices whose single rows tell little.

Rows and columns are replaced by short vectors, and one-way NEO-K-Means on these gives feasible
memberships. The *spectral* view takes the leading singular vectors of X with rows and columns
scaled by the roots of their norms (Dhillon 2001; Cho et al. 2004); the *sketch* multiplies X by a
random table, which keeps distances between rows in expectation (Johnson and Lindenstrauss).
"""

from __future__ import annotations

import numpy as np

from neocc._typing import FloatArray
from neocc.core.engine import Engine
from neocc.core.initialise import seeded_start
from neocc.core.objectives import KMEANS, Side
from neocc.core.problem import Problem
from neocc.core.solve import solve
from neocc.core.steps import Pair
from neocc.kernels import Memberships

_OVERSAMPLING = 8
_POWER_ITERATIONS = 4
_ITERATIONS = 20


def spectral_start(data: Engine, problem: Problem, rng: np.random.Generator) -> Pair:
    """Start from clusters of the leading left and right singular vectors of the scaled matrix."""
    row_scale = _inverse_root(data.row_squares())
    column_scale = _inverse_root(data.column_squares())
    rank = min(_most_clusters(problem), *data.shape)
    width = min(rank + _OVERSAMPLING, *data.shape)

    def times(table: FloatArray) -> FloatArray:
        return data.multiply(table * column_scale[:, None]) * row_scale[:, None]

    def transposed_times(table: FloatArray) -> FloatArray:
        return data.multiply_transposed(table * row_scale[:, None]) * column_scale[:, None]

    basis = np.linalg.qr(times(rng.normal(size=(data.shape[1], width))))[0]
    for _ in range(_POWER_ITERATIONS):
        basis = np.linalg.qr(times(np.linalg.qr(transposed_times(basis))[0]))[0]
    right, values, rotation = np.linalg.svd(transposed_times(basis), full_matrices=False)
    left = basis @ rotation.T
    return (
        _cluster(data, problem, "rows", left[:, :rank] * values[:rank], rng),
        _cluster(data, problem, "columns", right[:, :rank] * values[:rank], rng),
    )


def sketched_start(data: Engine, problem: Problem, rng: np.random.Generator) -> Pair:
    """Start from clusters of random projections of the rows and of the columns."""
    n, m = data.shape
    width = 2 * _most_clusters(problem) + _OVERSAMPLING
    by_rows = data.multiply(rng.normal(size=(m, min(width, m))) / np.sqrt(width))
    by_columns = data.multiply_transposed(rng.normal(size=(n, min(width, n))) / np.sqrt(width))
    return (
        _cluster(data, problem, "rows", by_rows, rng),
        _cluster(data, problem, "columns", by_columns, rng),
    )


def _cluster(
    data: Engine, problem: Problem, side: Side, table: FloatArray, rng: np.random.Generator
) -> Memberships:
    """Cluster the items of a side, of which `table` has a row each."""
    one_way = Problem(
        KMEANS,
        problem.counts(side),
        None,
        max_iter=_ITERATIONS,
        overlap_model=problem.overlap_model,
    )
    points = data.over_table(table)
    U = solve(points, one_way, seeded_start(points, one_way, rng)).U
    assert U is not None
    return U


def _most_clusters(problem: Problem) -> int:
    return max(problem.counts(side).n_clusters for side in problem.sides)


def _inverse_root(squares: FloatArray) -> FloatArray:
    """Return norm^(-1/2), and 0 for an item without entries."""
    return np.where(squares > 0, np.maximum(squares, np.finfo(float).tiny) ** -0.25, 0.0)
