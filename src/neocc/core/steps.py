"""Half-steps: the distances and the best memberships of one side while the other is fixed.

Rows and columns differ in one thing: rows are scored where they live, columns from features that
fit into this process.
"""

from __future__ import annotations

import numpy as np

from neocc._typing import FloatArray, LabelArray
from neocc.core.assign import Step, assign
from neocc.core.engine import Engine
from neocc.core.objectives import Pair, Side
from neocc.core.objectives.blends import in_types
from neocc.core.overlap import Scores, followed_clusters
from neocc.core.problem import Problem
from neocc.kernels import Features, Kernels, Memberships, Terms, numpy_

__all__ = [
    "Pair",
    "assigned",
    "counted",
    "distances",
    "fixed_pair",
    "given_pair",
    "half_step",
    "join",
    "make_features",
    "make_terms",
    "score",
    "with_side",
]

# Rounds in which items of given clusters settle what they follow; a few suffice.
_MOST_ROUNDS = 100


def with_side(pair: Pair, side: Side, members: Memberships) -> Pair:
    """Return a pair with other memberships on one side."""
    return (members, pair[1]) if side == "rows" else (pair[0], members)


def make_features(engine: Engine, problem: Problem, pair: Pair) -> Features:
    """Return the column features that the half-steps of a problem need."""
    objective, has_columns = problem.objective, problem.columns is not None
    products = pair[1] if has_columns and objective.needs_products else None
    base = objective.base if has_columns else None
    return engine.column_features(pair[0], products, base=base, counts=objective.needs_counts)


def make_terms(problem: Problem, side: Side, features: Features, pair: Pair) -> Terms:
    """Return the terms of a half-step from the column features of the same memberships."""
    model = problem.overlap_model
    pairs = float(model.needs_pairs)
    if model.pair_share > 0.0:
        pairs = model.pair_share if problem.counts(side).n_extra > 0 else 0.0
    terms = problem.objective.terms(side, features, pair, pairs=pairs)
    all_zero = problem.row_all_zero if side == "rows" else problem.column_all_zero
    if all_zero is not None:
        terms.all_zero = True
    return terms


def half_step(engine: Engine, problem: Problem, side: Side, features: Features, pair: Pair) -> Step:
    """Return the objective of a pair and the best memberships of one side."""
    own, other = pair if side == "rows" else pair[::-1]
    terms = make_terms(problem, side, features, pair)
    step = join(engine, problem, side, terms, own, other, features)
    return step._replace(objective=step.objective + terms.constant)


def join(
    engine: Engine,
    problem: Problem,
    side: Side,
    terms: Terms,
    members: Memberships | None,
    other: Memberships | None,
    features: Features | None = None,
) -> Step:
    """Assign all items of a side to the clusters that terms describe.

    `members` are their memberships before, for the objective; `other` those of the other side.
    Columns are scored from their features.
    """
    if side == "rows":
        return engine.assign_rows(problem, terms, members, other)
    counts = problem.columns
    assert features is not None and counts is not None
    kernels, model = engine.shards.kernels, problem.overlap_model
    before = problem.no_memberships("columns") if members is None else members
    if features.place is not None:
        choices = features.place.choices(terms, before, model, counts.needs_distances)
        return assign(choices, counts, model, members)
    scores = score(kernels, features, terms, before, distances=counts.needs_distances)
    return assign(model.choices(scores, kernels), counts, model, members)


def score(
    kernels: Kernels,
    features: Features,
    terms: Terms,
    members: Memberships | None,
    *,
    distances: bool = True,
) -> Scores:
    """Return comparable distances of items, where their features are; without `distances` no table.

    The nearest clusters are known in any case.
    """
    squares, k = features.squares, len(terms.offset)
    d = np.empty((len(squares), k), like=squares) if distances else None
    labels, minima = np.empty_like(squares, dtype=np.int32), np.empty_like(squares)
    compared = in_types(members, k) if terms.single else members
    objective = kernels.score(features, terms, compared, d, labels, minima)
    all_zero = squares == 0.0 if terms.all_zero else None
    counted = squares if terms.rate is None else np.zeros_like(squares)
    known = (d, labels, minima, terms.single or k, objective, members, counted, terms.gram)
    return Scores(*known, all_zero=all_zero)


def distances(
    engine: Engine, problem: Problem, side: Side, pair: Pair, features: Features | None = None
) -> FloatArray:
    """Return the distance of every item of a side to every cluster, not rounded."""
    features = make_features(engine, problem, pair) if features is None else features
    terms = make_terms(problem, side, features, pair)
    if side == "rows":
        d = engine.row_distances(terms, pair[1])
    else:
        d = numpy_.distances(features, terms)
    return d[:, : terms.single] if terms.single else d


def assigned(engine: Engine, problem: Problem, side: Side, pair: Pair) -> Pair:
    """Return a pair with the best memberships of one side for its present clusters.

    They need not have the numbers that the problem asks for.
    """
    features = make_features(engine, problem, pair)
    terms = make_terms(problem, side, features, pair)
    step = join(engine, problem, side, terms, None, pair[1 if side == "rows" else 0], features)
    return with_side(pair, side, step.members)


def _weighted(problem: Problem, pair: Pair) -> Pair:
    """Return a pair with its memberships weighted as they count in sums."""
    U, V = pair
    rows = None if U is None else problem.weighted("rows", U)
    return rows, None if V is None else problem.weighted("columns", V)


def counted(engine: Engine, problem: Problem, pair: Pair) -> Pair:
    """Return a pair with its memberships weighted, and at most one for each all-zero item.

    If some have more, their side is assigned again.
    """
    pair = _weighted(problem, pair)
    for side in problem.sides:
        members, all_zero = pair[int(side == "columns")], problem.all_zero(side)
        if all_zero is not None and members is not None and members.numbers[all_zero].max() > 1:
            pair = assigned(engine, problem, side, pair)
    return pair


def given_pair(engine: Engine, problem: Problem, pair: Pair) -> Pair:
    """Return given memberships to begin with.

    Where rows follow one or another of their clusters, what they settle on may cost more than the
    first of them: whichever is the lower.
    """
    U, V = pair
    if U is None or not problem.overlap_model.needs_sums or not len(U.extra_items):
        return pair

    def value(pair: Pair) -> float:
        return problem.objective.value(make_features(engine, problem, pair), *pair)

    return min(_weighted(problem, pair), fixed_pair(engine, problem, U, V), key=value)


def fixed_pair(engine: Engine, problem: Problem, U: Memberships, V: Memberships | None) -> Pair:
    """Return given memberships as they count under the overlap model of a problem.

    Where rows are free to follow one or another of their clusters, they begin with the prototypes
    of rows in one cluster, if each cluster has any, and go on until nothing changes.
    """
    model = problem.overlap_model
    U, V = problem.weighted("rows", U), _weighted(problem, (None, V))[1]
    if U.virtual is None or not model.needs_sums:
        return U, V
    alone = Memberships.from_labels(np.where(U.numbers == 1, U.summed.first, -1), U.n_clusters)
    alone = alone.weighing(U.item_weights)
    begun = alone if ((alone.sizes > 0) | (U.sizes == 0)).all() else U
    before: LabelArray | None = None
    for _ in range(_MOST_ROUNDS):
        features = make_features(engine, problem, (begun, V))
        terms = make_terms(problem, "rows", features, (begun, V))
        U = engine.followed_rows(model, terms, U, V)
        now = followed_clusters(U, engine.shape[1] if V is None else V.n_clusters)
        if before is not None and np.array_equal(now, before):
            break
        begun, before = U, now
    return U, V
