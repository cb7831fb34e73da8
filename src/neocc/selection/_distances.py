"""Distances of rows or columns to k-means centres, without a transposed or a dense copy of X.

k-means is the package's own solver on one side, without overlap and outliers.
"""

from __future__ import annotations

import numpy as np

from neocc._typing import AnyArray, FloatArray
from neocc.core.engine import Engine
from neocc.core.incremental import sums_of
from neocc.core.initialise import seeded_start
from neocc.core.objectives import Sums, Tables, cross_terms, find_nearest, make_tables
from neocc.core.problem import Counts, Problem, Side
from neocc.core.solve import centring, solve
from neocc.core.tables import column_tables, row_tables
from neocc.engines import MemoryEngine
from neocc.kernels import Memberships, numpy_


def kmeans(
    engine: Engine,
    side: Side,
    n_clusters: int,
    rng: np.random.Generator,
    n_init: int = 5,
    trimmed: float = 0.0,
) -> Memberships:
    """Return the k-means clusters of the rows or columns: the best of `n_init` seeded starts.

    A fraction of the items, the farthest ones, can be `trimmed`: they are in no cluster.
    """
    problem = _problem(engine, side, n_clusters, trimmed)
    data = engine.centred(centring(problem))
    solutions = []
    for _ in range(n_init):
        start = seeded_start(data, problem, rng)
        pair = (start, None) if side == "rows" else (None, start)
        solutions.append(solve(data, problem, *pair))
    best = min(solutions, key=lambda solution: solution.objective)
    members = best.U if side == "rows" else best.V
    assert members is not None
    return members


def distances_to_clusters(engine: Engine, side: Side, members: Memberships) -> FloatArray:
    """Return the Euclidean distances of all items of a side to the means of given clusters."""
    problem = _problem(engine, side, members.n_clusters)
    data = engine.centred(centring(problem))
    if side == "rows":
        tables = row_tables(problem, sums_of(data, problem, members, None), members, None)
        return _rows(data, tables)
    sums = sums_of(data, problem, None, members)
    return _columns(sums, column_tables(problem, sums, None, members))


def distances_to_centers(engine: MemoryEngine, side: Side, centers: AnyArray) -> FloatArray:
    """Return the Euclidean distances of all items of a side to given centres."""
    data = engine.centred(centring(_problem(engine, side, len(centers))))
    sizes = np.ones(len(centers))
    if side == "rows":
        C = centers - data.column_effects
        product = np.ascontiguousarray(-2.0 * C.T)
        energy = np.einsum("qt,qt->q", C, C)
        return _rows(data, make_tables("vectors", sizes, None, None, product, energy))
    effects = data.matrix.row_effects
    C = centers if effects is None else centers - effects
    energy = np.einsum("qt,qt->q", C, C)
    products = data.multiply_transposed(np.ascontiguousarray(-2.0 * C.T))
    squares = data.column_sums(None, None).squares
    return _columns(
        Sums(None, squares, products), make_tables("vectors", sizes, None, None, None, energy)
    )


def all_equal(engine: MemoryEngine, side: Side) -> bool:
    """Tell whether all rows, or all columns, are the same."""
    if side == "rows":
        first = engine.take_rows(np.zeros(1, dtype=np.intp))
    else:
        unit = np.zeros((engine.shape[1], 1))
        unit[0] = 1.0
        first = engine.multiply(unit).T
    return not distances_to_centers(engine, side, first).any()


def _problem(engine: Engine, side: Side, n_clusters: int, trimmed: float = 0.0) -> Problem:
    n_items = engine.shape[0 if side == "rows" else 1]
    n_out = min(int(trimmed * n_items), n_items - n_clusters)
    counts = Counts(n_items, n_clusters, n_items - n_out, n_out)
    return Problem("vectors", counts, None) if side == "rows" else Problem("vectors", None, counts)


# Comparable distances: rounding leaves exact zeros where an item lies on a centre, and its square
# root would otherwise be as large as 1e-8 of the data.


def _rows(data: Engine, tables: Tables) -> FloatArray:
    squared, _, _ = data.nearest_rows(tables, None)
    return np.sqrt(np.maximum(squared, 0.0))


def _columns(sums: Sums, tables: Tables) -> FloatArray:
    squared = cross_terms(sums, tables)
    find_nearest(numpy_, squared, sums, tables, None)
    return np.sqrt(np.maximum(squared, 0.0))
