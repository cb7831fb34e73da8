"""Recombination: a solution made of pieces of several others.

The clusters of some solutions cut the items of a side into *pieces*, whose items are together in
all of them. What blocks of constant value cost depends on pieces only by their means, apart from a
constant. So a table of these means, with pieces that count as many items as they have, stands for
the data, and is a small fraction of them. There exact swaps move whole pieces from cluster to
cluster: groups of items that other solutions put elsewhere, but that the alternation would not move
one by one. Rounds are quick there too. Since the best solution is made of pieces as well, the
result is no higher.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from neocc._typing import FloatArray, IntArray, LabelArray
from neocc.core.engine import Engine
from neocc.core.objectives import Side
from neocc.core.overlap import REPEAT
from neocc.core.problem import Counts, Problem
from neocc.core.samples import Sample
from neocc.core.search.local import least_gain, swapped
from neocc.core.search.pool import Pool
from neocc.core.solve import Solution, improved, solve
from neocc.core.steps import Pair
from neocc.kernels import Memberships, inverse

__all__ = ["can_recombine", "n_pieces", "recombined"]

# Pieces of a side for each of its clusters, at most.
_PIECES = 16
# Cells of the table of pieces, as a share of the entries of the data.
_SHARE = 0.25
# Questions about it that rounds take, and swaps before and after these.
_ROUNDS, _SWAPS = 100.0, 40.0
# They count in parts of one about the data.
_PARTS = 1024
_TOL = 1e-5


def n_pieces(problem: Problem, n_entries: float = np.inf) -> tuple[int, int]:
    """Return the largest numbers of pieces of rows and of columns."""
    k, l = (problem.counts(side).n_clusters for side in ("rows", "columns"))  # noqa: E741
    each = np.clip(np.sqrt(_SHARE * n_entries / (k * l)), 1.0, _PIECES)
    return int(each * k), int(each * l)


def can_recombine(problem: Problem) -> bool:
    """Whether clusters are disjoint, and pieces tell by their means what blocks cost."""
    disjoint = all(not problem.counts(side).needs_distances for side in problem.sides)
    by_means = not (problem.objective.needs_products or problem.objective.needs_counts)
    return disjoint and by_means and len(problem.sides) == 2


def recombined(
    data: Engine,
    problem: Problem,
    solutions: Sequence[Solution],
    n_entries: int,
    rng: np.random.Generator,
) -> Solution:
    """Return the first solution, which is the best, or a lower one made of pieces of all.

    `n_entries` of the data are not zero.
    """
    best, cuts = solutions[0], []
    for side, most in zip(problem.sides, n_pieces(problem, n_entries), strict=True):
        labels = [_labels(each.pair, side) for each in solutions]
        cuts.append(_cut(labels, problem.counts(side).n_clusters, most))
    U, V = (
        Memberships.from_labels(cut, int(cut.max()) + 1).weighing(problem.weights(side))
        for side, cut in zip(problem.sides, cuts, strict=True)
    )
    pieces = data.over_table(_means(data, U, V))
    small = replace(
        problem,
        rows=_counts(problem.counts("rows"), U.n_clusters),
        columns=_counts(problem.counts("columns"), V.n_clusters),
        row_weights=U.sizes,
        column_weights=V.sizes,
        overlap_model=REPEAT,
        tol=max(problem.tol, _TOL),
    )
    begun = solve(pieces, replace(small, max_iter=0), _taken(best, problem, cuts))
    pool = Pool(pool=[swapped(pieces, small, begun, _SWAPS)])
    while not pool.is_over:
        pool.make_rounds(Sample(pieces, pieces, small), _ROUNDS, rng)
    found = swapped(pieces, small, pool.pool[0], _SWAPS)
    share = pieces.reads.asked * np.prod(pieces.shape) / np.prod(data.shape, dtype=float)
    data.reads.asked += np.ceil(_PARTS * share) / _PARTS
    if begun.objective - found.objective <= least_gain(best):
        return best
    rows, columns = (
        Memberships.from_labels(_labels(found.pair, side)[cut], problem.counts(side).n_clusters)
        for side, cut in zip(problem.sides, cuts, strict=True)
    )
    whole = solve(data, problem, (rows, columns))
    return improved(best, whole) if whole.objective < best.objective else best


def _labels(pair: Pair, side: Side) -> LabelArray:
    members = pair[side == "columns"]
    assert members is not None
    return members.first


def _cut(labels: Sequence[LabelArray], n_clusters: int, most: int) -> LabelArray:
    """Return the piece of each item; of too many pieces the smallest of a cluster become one."""
    cut: IntArray = labels[0].astype(np.int64)
    for each in labels[1:]:
        cut = _numbered(cut * n_clusters + each)
        sizes = np.bincount(cut)
        if len(sizes) > most:
            large = np.zeros(len(sizes), dtype=bool)
            large[np.argsort(-sizes, kind="stable")[: most - n_clusters]] = True
            cut = np.where(large[cut], n_clusters + cut, labels[0])
    return _numbered(cut).astype(np.int32)


def _numbered(codes: IntArray) -> IntArray:
    """Return the rank of each code among those that occur."""
    place: IntArray = np.cumsum(np.bincount(codes) > 0) - 1
    return place[codes]


def _means(data: Engine, U: Memberships, V: Memberships) -> FloatArray:
    """Return the mean of each piece of rows within each piece of columns."""
    sums = data.column_features(U, None).here.sums
    assert sums is not None
    blocks = data.over_table(sums).column_features(V, None).here.sums
    assert blocks is not None
    return blocks * inverse(U.sizes)[:, None] * inverse(V.sizes)


def _counts(counts: Counts, n: int) -> Counts:
    return replace(counts, n_items=n, n_memberships=n)


def _taken(best: Solution, problem: Problem, cuts: Sequence[LabelArray]) -> Pair:
    """Return the clusters of the pieces in a solution."""
    found = []
    for side, cut in zip(problem.sides, cuts, strict=True):
        labels = np.zeros(int(cut.max()) + 1, dtype=np.int32)
        labels[cut] = _labels(best.pair, side)
        found.append(Memberships.from_labels(labels, problem.counts(side).n_clusters))
    return found[0], found[1]
