"""Starts from low-rank embeddings of X, for matrices whose single rows carry little information.

Rows and columns are replaced by short vectors, and one-way NEO-K-Means on these gives feasible
memberships. The *spectral* embedding takes the leading singular vectors of X with rows and columns
scaled by the roots of their norms (Dhillon 2001; Cho et al. 2004); the *sketch* multiplies X by a
random table, which keeps distances between rows in expectation (Johnson and Lindenstrauss). Of
counts the spectral embedding is that of correspondence analysis: roots of margins scale them, the
first vectors are the margins themselves and are left out, and only directions count. Where most
items have few counts, those with the fewest lead the vectors astray, and raised margins do better
(Qin and Rohe 2013): clusters are made of both embeddings, soft steps follow, and those that cost
less are taken.

Several starts are made from one low-rank embedding: the leading singular vectors of X as it is, of
which one-way clusters cost hardly more than those of X (Drineas et al. 2004), for a small part of
the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from scipy.optimize import linear_sum_assignment

from neocc._typing import FloatArray
from neocc.core.engine import Engine
from neocc.core.initialise import COLD, seeded_start, seeds_of_table
from neocc.core.objectives import KMEANS, MODULARITY, Side
from neocc.core.overlap.share import Share
from neocc.core.problem import Problem
from neocc.core.soft import softened
from neocc.core.solve import solve
from neocc.core.steps import Pair, assigned, counted, make_features, with_side
from neocc.kernels import Memberships, Terms

__all__ = [
    "Embedding",
    "embedded_start",
    "make_embedding",
    "modularity_start",
    "scaled_sums",
    "sketched_start",
    "spectral_start",
    "width_of",
]

_OVERSAMPLING = 8
_POWER_ITERATIONS = 4
_ITERATIONS = 20
# What is added to margins of counts, in means of these.
_RAISED = (0.0, 1.0)
# The same for an embedding that many starts share, each of which is run on in any case.
_FEW_POWER_ITERATIONS = 2
_FEW_ITERATIONS = 3
# A pass over a table counts in parts of one over the data.
_PARTS = 1024
# Rows of an embedding that are so short against the longest have no direction; others this many
# digits.
_NO_LENGTH, _DIGITS = 1e-10, 12

Embedding: TypeAlias = tuple[FloatArray, FloatArray]
"""Tables with coordinates for each row, and for each column."""

# Starts by turns: whether the side with fewer items comes first, and how that side is clustered,
# then the other, and maybe the first again: by the embedding, by the nearest of some items, or by
# sums over the clusters of the other side. Items of the shorter side have more entries: they carry
# more information.
_WAYS = (
    (True, ("embedding", "sums", "sums")),
    (False, ("embedding", "sums", "sums")),
    (True, ("seeds", "sums", "sums")),
    (False, ("seeds", "sums", "sums")),
    (False, ("embedding", "sums", "sums", "sums")),
)


def spectral_start(
    data: Engine,
    problem: Problem,
    rng: np.random.Generator,
    raised: Sequence[float] = _RAISED,
) -> Pair:
    """Start from clusters of the leading left and right singular vectors of the scaled matrix.

    Of counts one start is made for each of the numbers `raised`, which are added to their margins.
    """
    if problem.objective.of_counts:
        return _start_of_counts(data, problem, rng, raised)
    rank = min(_most_clusters(problem), *data.shape)
    scales = _inverse_root(data.row_squares()), _inverse_root(data.column_squares())
    left, values, right = _leading(data, problem, scales, _POWER_ITERATIONS, rng)
    both = left[:, :rank] * values[:rank], right[:, :rank] * values[:rank]
    return _clustered(data, problem, both, rng)


def _start_of_counts(
    data: Engine, problem: Problem, rng: np.random.Generator, raised: Sequence[float]
) -> Pair:
    """Start from directions of the singular vectors, by margins or raised ones, and soft steps."""
    margins, rank = (data.row_margins(), data.column_margins()), _most_clusters(problem)

    def clusters(added: float) -> Pair:
        scales = tuple(_inverse_root((each + added * each.mean()) ** 2) for each in margins)
        left, values, right = _leading(data, problem, scales, _POWER_ITERATIONS, rng)
        some = slice(min(1, len(values) - 1), max(2, min(rank, *data.shape)))
        both = _directions(left[:, some] * values[some]), _directions(right[:, some] * values[some])
        pair = _matched(data, problem, _clustered(data, problem, both, rng))
        return counted(data, problem, pair)

    def value(pair: Pair) -> float:
        return problem.objective.value(make_features(data, problem, pair), *pair)

    rough = [clusters(each) for each in raised]
    # Where there are hardly any counts, soft clusters become one.
    return min([*rough, *(softened(data, problem, each) for each in rough)], key=value)


def make_embedding(data: Engine, problem: Problem, rng: np.random.Generator) -> Embedding:
    """Return rows and columns in the coordinates of the leading singular vectors."""
    scales = np.ones(data.shape[0]), np.ones(data.shape[1])
    left, values, right = _leading(data, problem, scales, _FEW_POWER_ITERATIONS, rng)
    return left * values, right * values


def embedded_start(
    engine: Engine, problem: Problem, embedding: Embedding, turn: int, rng: np.random.Generator
) -> Pair:
    """Start from short runs of one-way NEO-K-Means on an embedding, in another way every turn."""
    data, (from_shorter, ways) = engine.centred(problem.centring), _WAYS[turn % len(_WAYS)]
    pair = COLD
    sides = sorted(problem.sides, key=lambda side: problem.counts(side).n_items)
    for i, way in enumerate(ways):
        side = sides[(i + (not from_shorter)) % 2]
        if way == "seeds":
            one_way = problem.one_way(side, _FEW_ITERATIONS)
            own = engine.centred(one_way.centring)
            index = int(side == "columns")
            members = seeded_start(own, one_way, rng, embedding[index])[index]
        else:
            by_sums = way == "sums"
            points = scaled_sums(data, side, pair) if by_sums else embedding[side == "columns"]
            members = _one_way(data, problem, side, points, rng, short=True)
        assert members is not None
        pair = with_side(pair, side, members)
    return pair


def scaled_sums(data: Engine, side: Side, pair: Pair) -> FloatArray:
    """Return sums over the clusters of the other side, at the scale of distances."""
    other = pair[side == "rows"]
    assert other is not None
    scale = 1.0 / np.sqrt(np.maximum(other.sizes, 1.0))
    if side == "rows":
        zeros = np.zeros(len(scale))
        terms = Terms(zeros, np.diag(scale), None, None, zeros, rate=zeros, base="plain")
        return data.row_distances(terms, other)
    sums = data.column_features(other, None, base=None).here.sums
    assert sums is not None
    return sums * scale


def width_of(problem: Problem, data: Engine) -> int:
    """Return the number of coordinates in an embedding."""
    return min(_most_clusters(problem) + _OVERSAMPLING, *data.shape)


def _leading(
    data: Engine,
    problem: Problem,
    scales: tuple[FloatArray, ...],
    n_iterations: int,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return leading singular vectors and values of X with scaled rows and columns, about."""
    row_scale, column_scale = scales
    width = width_of(problem, data)

    def times(table: FloatArray) -> FloatArray:
        return data.multiply(table * column_scale[:, None]) * row_scale[:, None]

    def transposed_times(table: FloatArray) -> FloatArray:
        return data.multiply_transposed(table * row_scale[:, None]) * column_scale[:, None]

    basis = np.linalg.qr(times(rng.normal(size=(data.shape[1], width))))[0]
    for _ in range(n_iterations):
        basis = np.linalg.qr(times(np.linalg.qr(transposed_times(basis))[0]))[0]
    right, values, rotation = np.linalg.svd(transposed_times(basis), full_matrices=False)
    return basis @ rotation.T, values, right


def modularity_start(data: Engine, problem: Problem, rng: np.random.Generator) -> Pair:
    """Start from a short run of modularity, itself started from a spectral embedding.

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


def _clustered(data: Engine, problem: Problem, both: Embedding, rng: np.random.Generator) -> Pair:
    """Cluster rows and columns by tables of their coordinates."""
    pair = COLD
    for side, table in zip(problem.sides, both, strict=True):
        pair = with_side(pair, side, _one_way(data, problem, side, table, rng))
    return pair


def _one_way(
    data: Engine,
    problem: Problem,
    side: Side,
    table: FloatArray,
    rng: np.random.Generator,
    *,
    short: bool = False,
) -> Memberships:
    """Cluster the items of a side by a table of their coordinates."""
    # Columns are the rows of their table.
    counts, weights = problem.counts(side), problem.weights(side)
    model = problem.overlap_model.one_way
    one_way = Problem(KMEANS, counts, None, _ITERATIONS, overlap_model=model, row_weights=weights)
    points = data.over_table(table)
    if counts.needs_distances:
        pair = seeded_start(points, one_way, rng, table)
    else:
        _, labels = seeds_of_table(points, table, counts, weights, rng)
        pair = one_way.weighted("rows", Memberships.partition(labels, counts.n_clusters)), None
    if short:
        for _ in range(_FEW_ITERATIONS):
            pair = assigned(points, one_way, "rows", pair)
    else:
        pair = solve(points, one_way, pair).pair
    # By cells, so that a search of dense data is one of sparse data; in parts that add up exactly,
    # so that a resumed search is one that was not interrupted.
    work = points.reads.work * points.shape[1] / data.shape[side == "rows"]
    data.reads.work += np.ceil(_PARTS * work) / _PARTS
    assert pair[0] is not None
    return pair[0]


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
    """Scale rows to length one; those of which only rounding is left become zero.

    They are rounded, so that equal items have equal directions, of dense and of sparse data.
    """
    lengths = np.linalg.norm(table, axis=1, keepdims=True)
    least = _NO_LENGTH * lengths.max(initial=0.0)
    found: FloatArray = table / np.where(lengths > least, lengths, np.inf)
    return found.round(_DIGITS)


def _most_clusters(problem: Problem) -> int:
    return max(problem.counts(side).n_clusters for side in problem.sides)


def _inverse_root(squares: FloatArray) -> FloatArray:
    """Return norm^(-1/2), and 0 for an item without entries."""
    return np.where(squares > 0, np.maximum(squares, np.finfo(float).tiny) ** -0.25, 0.0)
