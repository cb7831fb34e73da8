"""Starts from low-dimensional views of X, for matrices whose single rows tell little.

Rows and columns are replaced by short vectors, and one-way NEO-K-Means on these gives feasible
memberships. The *spectral* view takes the leading singular vectors of X with rows and columns
scaled by the roots of their norms (Dhillon 2001; Cho et al. 2004); the *sketch* multiplies X by a
random table, which keeps distances between rows in expectation (Johnson and Lindenstrauss).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from neocc._typing import FloatArray
from neocc.core.engine import Engine
from neocc.core.initialise import COLD, seeded_start
from neocc.core.objectives import KMEANS
from neocc.core.problem import Problem
from neocc.core.solve import solve
from neocc.core.steps import Pair, with_side

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
    both = left[:, :rank] * values[:rank], right[:, :rank] * values[:rank]
    return _clustered(data, problem, both, rng)


def sketched_start(data: Engine, problem: Problem, rng: np.random.Generator) -> Pair:
    """Start from clusters of random projections of the rows and of the columns."""
    n, m = data.shape
    width = 2 * _most_clusters(problem) + _OVERSAMPLING
    by_rows = data.multiply(rng.normal(size=(m, min(width, m))) / np.sqrt(width))
    by_columns = data.multiply_transposed(rng.normal(size=(n, min(width, n))) / np.sqrt(width))
    return _clustered(data, problem, (by_rows, by_columns), rng)


def _clustered(
    data: Engine, problem: Problem, tables: tuple[FloatArray, FloatArray], rng: np.random.Generator
) -> Pair:
    """Cluster rows and columns by tables that have a row for each of them."""
    pair = COLD
    for side, table in zip(problem.sides, tables, strict=True):
        # Columns are the rows of their table.
        one_way = Problem(KMEANS, problem.counts(side), None, max_iter=_ITERATIONS)
        one_way = replace(one_way, overlap_model=problem.overlap_model)
        points = data.over_table(table)
        U = solve(points, one_way, seeded_start(points, one_way, rng)).U
        data.reads.asked += points.reads.asked * points.n_stored / max(1, data.n_stored)
        assert U is not None
        pair = with_side(pair, side, U)
    return pair


def _most_clusters(problem: Problem) -> int:
    return max(problem.counts(side).n_clusters for side in problem.sides)


def _inverse_root(squares: FloatArray) -> FloatArray:
    """Return norm^(-1/2), and 0 for an item without entries."""
    return np.where(squares > 0, np.maximum(squares, np.finfo(float).tiny) ** -0.25, 0.0)
