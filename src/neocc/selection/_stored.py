"""Sparse data: do zeros tell anything, and where items lie among prototypes if they do not.

A zero may be a value like any other (a word that a text does not have), or a cell of which nothing
is known. Co-clusters of the stored cells alone are compared with those that take zeros for values,
by what they tell of the stored values and of where these are (log-likelihoods, given margins).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from neocc._typing import FloatArray, IntArray
from neocc.core.engine import Engine
from neocc.core.objectives import Objective, Side, over_observed
from neocc.core.problem import Counts, Problem
from neocc.core.search import run_starts
from neocc.core.steps import Pair, make_features
from neocc.kernels import Memberships, inverse
from neocc.selection._mixture import Mixture, Sets
from neocc.selection._outlying import farthest
from neocc.selection._places import Asked, Place, Values, judged
from neocc.selection._scattered import Cells, Scattered

__all__ = ["Looks", "StoredPlace", "seen_by", "stored_place"]

Both: TypeAlias = tuple[Memberships, Memberships]

_STARTS, _TOL = 2, 1e-3
# Co-clusters follow chance, too: what they tell of where cells are counts twice.
_TWICE = 2.0
_TINY = 1e-300


class Looks(dict[tuple[Any, ...], tuple[Objective, "Both"]]):
    """How data were seen: by which objective, and in which co-clusters, of so many on each side.

    Data of another shape, or with another number of cells, are not the same; nor is what is seen
    for another objective, such as one with another cost of outliers.
    """


def seen_by(
    engine: Engine,
    objective: Objective,
    counts: tuple[Counts, Counts],
    rng: np.random.Generator,
    looks: Looks | None = None,
) -> tuple[Objective, Both | None]:
    """Return the objective, over stored cells alone if the others tell nothing.

    Co-clusters that were found on the way come with it. Data that were looked at before, with as
    many clusters, are seen as they were then; if their zeros told nothing with other numbers, they
    do not now.
    """
    observed, n_cells = over_observed(objective), float(np.prod(engine.shape))
    if observed is None or objective.needs_counts or not 0 < engine.n_stored < n_cells:
        return objective, None
    looks = Looks() if looks is None else looks
    which = engine.shape, engine.n_stored, objective, *(each.n_clusters for each in counts)
    if which in looks:
        return looks[which]
    if any(seen[0] == observed for data, seen in looks.items() if data[:2] == which[:2]):
        looks[which] = observed, _coclustered(engine, observed, counts, rng, 2 * _STARTS)
    else:
        pairs = [_coclustered(engine, each, counts, rng) for each in (observed, objective)]
        if _tell_nothing(engine, pairs, counts):
            looks[which] = observed, pairs[0]
        else:
            looks[which] = objective, pairs[1]
    return looks[which]


def _tell_nothing(engine: Engine, pairs: list[Both], counts: tuple[Counts, Counts]) -> bool:
    """Compare co-clusters of stored cells with those that take zeros for values."""
    n_cells = float(np.prod(engine.shape))
    (where, values), (elsewhere, others) = (_told(engine, pair) for pair in pairs)
    n_blocks = [side.n_clusters for side in counts]
    by_chance = 0.5 * np.prod([k - 1 for k in n_blocks]) * np.log(n_cells)
    tells = values > 0.5 * np.prod(n_blocks) * np.log(engine.n_stored)
    least = 0.0 if elsewhere < by_chance else _TWICE * elsewhere
    return bool(tells and where < by_chance and values - others >= least)


def _coclustered(
    engine: Engine,
    objective: Objective,
    counts: tuple[Counts, Counts],
    rng: np.random.Generator,
    n_starts: int = _STARTS,
) -> Both:
    problem = Problem(objective, *counts, tol=_TOL)
    runs = run_starts(engine, problem, "neo-kmeans", rng.spawn(n_starts))
    U, V = min(runs, key=lambda run: run.objective).pair
    assert U is not None and V is not None
    return U, V


def _told(engine: Engine, pair: Both) -> tuple[float, float]:
    """Return what blocks tell of where stored cells are, and of their values."""
    U, V = pair
    features = engine.column_features(U, None, counts=True)
    S, N = features.blocks(V), features.blocks(V, "counts")
    total = N.sum()
    by_margins = np.outer(N.sum(axis=1), N.sum(axis=0)) / max(total, 1.0)
    where = float((N * np.log(np.where(N > 0, N, 1.0) / (by_margins + _TINY))).sum())
    squares = features.weighed(V)
    before = squares - S.sum() ** 2 / max(total, 1.0)
    if before <= 1e-12 * squares:
        return where, 0.0
    left = max(squares - float((S * S * inverse(N)).sum()), 1e-12 * before)
    return where, 0.5 * float(total) * float(np.log(before / left))


@dataclass(frozen=True)
class StoredPlace(Place):
    """The items of a side as means of their stored cells in each cluster of the other side.

    Attributes
    ----------
    numbers : array of shape (n_items, n_dimensions)
        Numbers of these cells.
    """

    numbers: FloatArray

    def items(self, which: Any = slice(None)) -> Cells:
        """Return some of the items, for mixtures."""
        return Cells(self.Y, self.numbers)[which]

    def along(self, basis: FloatArray) -> Place:  # noqa: ARG002
        """Return the items as they are: coordinates have cells of their own."""
        return self

    def squares(self, items: Cells, points: FloatArray) -> FloatArray:
        """Return the squared distance of items to points, over stored cells."""
        return items.squares(points)

    def points(self, items: Cells) -> FloatArray:
        """Return where items are; where one has no cells, it is where others are on average."""
        weights = items.numbers / np.maximum(items.numbers.sum(axis=0), _TINY)
        return np.where(items.known, items.means, (weights * items.means).sum(axis=0))

    def densities(self, which: IntArray, mixture: Mixture) -> FloatArray:
        """Return the log-density of items as means: those of n cells are roots of n less wide."""
        wide = 0.5 * np.log(np.maximum(self.numbers[which], 1.0)).sum(axis=1)
        return np.asarray(super().densities(which, mixture) - wide[:, None])

    def mixture(self, sets: Sets, prototypes: FloatArray, width: float) -> Scattered:
        """Return a mixture to begin with."""
        return Scattered.start(sets, prototypes, np.full(prototypes.shape[1], width))


def stored_place(
    data: Engine, problem: Problem, side: Side, pair: Pair, asked: Asked, least: float
) -> tuple[Place, Memberships]:
    """Return the places of the items of one side, and their clusters without the outliers."""
    own, other = pair if side == "rows" else pair[::-1]
    U, V = pair
    assert own is not None and other is not None and U is not None and V is not None
    features = make_features(data, problem, pair)
    prototypes = problem.objective.block_means(features, U, V)
    if side == "rows":
        features = data.row_features(other, problem.objective.base)
    else:
        prototypes = prototypes.T
    assert features.sums is not None and features.counts is not None
    cells = Cells(features.sums * inverse(features.counts), features.counts)
    outside = features.squares - cells.squares(np.zeros((1, other.n_clusters)))[:, 0]
    outside = np.maximum(outside, 0.0)
    first = cells.squares(prototypes).argmin(axis=1)
    middle = prototypes.mean(axis=0)
    norms = cells.squares(middle[None])[:, 0]
    largest = (cells.numbers @ np.square(prototypes - middle).T).max(axis=1)
    left = outside + np.square(np.maximum(np.sqrt(norms) - np.sqrt(largest), 0.0))
    room = np.maximum(cells.numbers.sum(axis=1) - np.count_nonzero(cells.numbers, axis=1), 0.0)
    values = Values(features.counts.sum(axis=1), features.sums.sum(axis=1), features.squares)
    nobody = farthest(left, 0.0)
    place: Place = StoredPlace(
        cells.means, prototypes, own.sizes, outside, left, room, nobody, values, cells.numbers
    )
    place = judged(place, norms, first, asked, least)
    labels = np.where(place.outlying.items, -1, first).astype(np.int32)
    members = Memberships.from_labels(labels, own.n_clusters)
    return replace(place, sizes=members.sizes), own if members.has_empty else members
