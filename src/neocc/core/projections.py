"""Starts from low-dimensional views of X, for matrices whose single rows tell little.

Rows and columns are replaced by short vectors, and one-way NEO-K-Means on these gives feasible
memberships. The *spectral* view takes the leading singular vectors of X with rows and columns
scaled by the roots of their norms (Dhillon 2001; Cho et al. 2004); the *sketch* multiplies X by a
random table, which keeps distances between rows in expectation (Johnson and Lindenstrauss). Of
counts the spectral view is that of correspondence analysis: roots of margins scale them, the first
vectors are the margins themselves and are left out, and only directions count.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.optimize import linear_sum_assignment

from neocc._typing import FloatArray
from neocc.core.engine import Engine
from neocc.core.initialise import COLD, seeded_start
from neocc.core.objectives import KMEANS, MODULARITY
from neocc.core.overlap.share import Share
from neocc.core.problem import Problem
from neocc.core.solve import solve
from neocc.core.steps import Pair, with_side
from neocc.kernels import Memberships

_OVERSAMPLING = 8
_POWER_ITERATIONS = 4
_ITERATIONS = 20


def spectral_start(data: Engine, problem: Problem, rng: np.random.Generator) -> Pair:
    """Start from clusters of the leading left and right singular vectors of the scaled matrix."""
    counts = problem.objective.of_counts
    if counts:
        squares = data.row_margins() ** 2, data.column_margins() ** 2
    else:
        squares = data.row_squares(), data.column_squares()
    row_scale, column_scale = (_inverse_root(each) for each in squares)
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
    if not counts:
        both = left[:, :rank] * values[:rank], right[:, :rank] * values[:rank]
        return _clustered(data, problem, both, rng)
    some = slice(min(1, len(values) - 1), max(2, rank))
    both = _directions(left[:, some] * values[some]), _directions(right[:, some] * values[some])
    return _matched(data, problem, _clustered(data, problem, both, rng))


def modularity_start(data: Engine, problem: Problem, rng: np.random.Generator) -> Pair:
    """Start from a short run of modularity, itself started from a spectral view.

    Its clusters have no rates that could be blended: items are divided among theirs.
    """
    model = problem.overlap_model
    model = Share(model.most) if model.blends else model
    first = replace(problem, objective=MODULARITY, max_iter=_ITERATIONS, overlap_model=model)
    return solve(data, first, spectral_start(data, first, rng)).pair


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
        model, weights = problem.overlap_model.one_way, problem.weights(side)
        one_way = replace(one_way, overlap_model=model, row_weights=weights)
        points = data.over_table(table)
        U = solve(points, one_way, seeded_start(points, one_way, rng)).U
        # By cells, so that a search of dense data is one of sparse data.
        data.reads.asked += points.reads.asked * points.shape[1] / data.shape[side == "rows"]
        assert U is not None
        pair = with_side(pair, side, U)
    return pair


def _matched(data: Engine, problem: Problem, pair: Pair) -> Pair:
    """Renumber column clusters so that most counts beyond the expected are on the diagonal."""
    if not problem.objective.paired:
        return pair
    assert pair[0] is not None and pair[1] is not None
    U, V = problem.weighted("rows", pair[0]), problem.weighted("columns", pair[1])
    blocks = MODULARITY.blocks(data.column_features(U, None, base="margins"), V)
    _, order = linear_sum_assignment(blocks.expected - blocks.observed)
    return pair[0], Memberships.from_dense(pair[1].dense[:, order])


def _directions(table: FloatArray) -> FloatArray:
    """Scale lines to length one; those without entries stay zero."""
    lengths = np.linalg.norm(table, axis=1, keepdims=True)
    found: FloatArray = table / np.where(lengths > 0, lengths, 1.0)
    return found


def _most_clusters(problem: Problem) -> int:
    return max(problem.counts(side).n_clusters for side in problem.sides)


def _inverse_root(squares: FloatArray) -> FloatArray:
    """Return norm^(-1/2), and 0 for an item without entries."""
    return np.where(squares > 0, np.maximum(squares, np.finfo(float).tiny) ** -0.25, 0.0)
