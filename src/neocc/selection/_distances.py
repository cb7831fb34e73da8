"""Distances of rows or columns to k-means centres, without a transposed or a dense copy of X.

k-means is the package's own solver on one side, without overlap and outliers.
"""

from __future__ import annotations

import numpy as np

from neocc._typing import AnyArray, FloatArray
from neocc.core.engine import Engine
from neocc.core.initialise import seeded_start
from neocc.core.objectives import KMEANS, Features, Side, Terms
from neocc.core.objectives.kmeans import centre_terms
from neocc.core.problem import Counts, Problem
from neocc.core.solve import solve
from neocc.core.steps import Pair, make_features, make_terms, score
from neocc.kernels import Memberships


def kmeans(
    engine: Engine,
    side: Side,
    n_clusters: int,
    rng: np.random.Generator,
    n_init: int,
) -> Memberships:
    """Return the k-means clusters of the rows or columns: the best of `n_init` seeded starts."""
    problem = _problem(engine, side, n_clusters)
    data = engine.centred(problem.centring)
    solutions = [solve(data, problem, seeded_start(data, problem, rng)) for _ in range(n_init)]
    best = min(solutions, key=lambda solution: solution.objective)
    members = best.U if side == "rows" else best.V
    assert members is not None
    return members


def distances_to_clusters(engine: Engine, side: Side, members: Memberships) -> FloatArray:
    """Return the Euclidean distances of all items of a side to the means of given clusters."""
    problem = _problem(engine, side, members.n_clusters)
    data = engine.centred(problem.centring)
    pair: Pair = (members, None) if side == "rows" else (None, members)
    features = make_features(data, problem, pair)
    return _distances(data, side, features, make_terms(problem, side, features, pair))


def distances_to_centers(engine: Engine, side: Side, centers: AnyArray) -> FloatArray:
    """Return the Euclidean distances of all items of a side to given centres."""
    data = engine.centred(_problem(engine, side, len(centers)).centring)
    effects = data.effects.columns if side == "rows" else data.effects.rows
    C = centers if effects is None else centers - effects
    terms = centre_terms(C)
    features = Features(None, np.empty(0))
    if side == "columns":
        features = Features(None, data.column_squares(), data.multiply_transposed(C.T))
    return _distances(data, side, features, terms)


def all_equal(engine: Engine, side: Side) -> bool:
    """Return whether all rows, or all columns, are the same."""
    if side == "rows":
        first = engine.take_rows(np.zeros(1, dtype=np.intp))
    else:
        unit = np.zeros((engine.shape[1], 1))
        unit[0] = 1.0
        first = engine.multiply(unit).T
    return not distances_to_centers(engine, side, first).any()


def _problem(engine: Engine, side: Side, n_clusters: int) -> Problem:
    n_items = engine.shape[0 if side == "rows" else 1]
    counts = Counts(n_items, n_clusters, n_items, 0)
    return Problem(KMEANS, counts, None) if side == "rows" else Problem(KMEANS, None, counts)


def _distances(data: Engine, side: Side, features: Features, terms: Terms) -> FloatArray:
    """Return roots of comparable distances.

    Rounding leaves exact zeros where an item lies on a centre; its square root would otherwise be
    as large as 1e-8 of the data.
    """
    if side == "rows":
        squared = data.row_scores(terms, None).d
    else:
        squared = score(data.kernels, features, terms, None).d
    assert squared is not None
    return np.sqrt(np.maximum(squared, 0.0))
