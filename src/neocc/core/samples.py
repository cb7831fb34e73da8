"""Starts on a sample, for large matrices: the problem on some of the rows, or of the columns.

The side with many items is sampled; all of its items are then assigned to the clusters found.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from neocc._typing import IntArray
from neocc.core.engine import Engine
from neocc.core.initialise import one_way_start, random_pair
from neocc.core.objectives import Side
from neocc.core.problem import Problem
from neocc.core.solve import solve
from neocc.core.steps import Pair, join, make_features, make_terms, with_side
from neocc.kernels import Memberships

__all__ = [
    "SAMPLING",
    "Sample",
    "Sampling",
    "draw_sample",
    "extend_to_all",
    "sampled_start",
    "side_to_sample",
]

_ITERATIONS = 30
_TOL = 1e-4
# A sample is at most this share of all items.
_LARGEST_SHARE = 0.25
# Rows of sparser data share too few columns for one-way clusters to mean anything.
_ONE_WAY_DENSITY = 0.1


@dataclass(frozen=True)
class Sampling:
    """When to sample, and how much.

    A sample holds a tenth of the entries within the bounds `entries`, and at least
    `items_per_cluster`. A search runs on one if there are more entries than `largest_searched`.
    Starts of data of so many entries as `embedded` says are made from one embedding; beyond these,
    data that can be sampled take long to read: starts begin with samples of them instead. A search
    of data of at least so many entries as `divided` says, and for all starts, each of which has
    `per_start` more, makes a start from cells: `kernel` "auto" loads compiled code for as many,
    without which it would take longer than the others.
    """

    entries: tuple[int, int] = (100_000, 1_000_000)
    items_per_cluster: int = 50
    largest_searched: int = 1 << 19
    embedded: tuple[int, int] = (1 << 15, 1 << 21)
    divided: tuple[int, int] = (15_000, 200_000)
    per_start: int = 5_000


SAMPLING = Sampling()


@dataclass(frozen=True)
class Sample:
    """A problem on some of the items of a side, with their data as given and centred."""

    engine: Engine
    data: Engine
    problem: Problem
    side: Side = "rows"
    items: IntArray | None = None


def side_to_sample(
    n_stored: int, problem: Problem, sampling: Sampling = SAMPLING
) -> tuple[Side, int] | None:
    """Return the side to sample, and how many of its items; None if the matrix is not large."""
    if problem.rows is None or problem.columns is None:
        return None
    n_clusters = max(problem.rows.n_clusters, problem.columns.n_clusters)
    share = float(np.clip(n_stored / 10, *sampling.entries)) / max(1, n_stored)
    # The longer side first: the other is kept, and costs as much as before.
    for side in sorted(problem.sides, key=lambda side: -problem.counts(side).n_items):
        n = problem.counts(side).n_items
        size = max(int(np.ceil(share * n)), sampling.items_per_cluster * n_clusters)
        if size <= _LARGEST_SHARE * n:
            return side, size
    return None


def draw_sample(
    engine: Engine,
    data: Engine,
    problem: Problem,
    rng: np.random.Generator,
    sampling: Sampling = SAMPLING,
) -> Sample | None:
    """Draw items to start on, or None if the matrix is not large; `data` is `engine` centred."""
    found = side_to_sample(engine.n_stored, problem, sampling)
    if found is None:
        return None
    side, size = found
    items = np.sort(rng.choice(problem.counts(side).n_items, size=size, replace=False))
    smaller = problem.of_some(side, items).loosened(_TOL)
    some = engine.sample(side, items)
    few = some if data.shards is engine.shards else data.sample(side, items)
    return Sample(some, few, smaller, side, items)


def extend_to_all(sample: Sample, pair: Pair, data: Engine, problem: Problem) -> Pair:
    """Assign all items to the clusters found on a sample."""
    (U, V), features = pair, make_features(sample.data, sample.problem, pair)
    terms = make_terms(sample.problem, sample.side, features, pair)
    if sample.side == "columns":
        # Columns outside the sample are in no cluster yet.
        assert V is not None and sample.items is not None
        labels = np.full(data.shape[1], -1, dtype=np.int32)
        labels[sample.items] = V.first
        wide = Memberships(labels, sample.items[V.extra_items], V.extra_clusters, V.n_clusters)
        features = make_features(data, problem, (U, problem.weighted("columns", wide)))
    other = V if sample.side == "rows" else U
    step = join(data, problem, sample.side, terms, None, other, features)
    return with_side(pair, sample.side, step.members)


def sampled_start(sample: Sample, data: Engine, problem: Problem, rng: np.random.Generator) -> Pair:
    """Start from a short run on a sample, itself started at random.

    If the data are dense, a run from one-way clusters competes with it. On sparse data these would
    be worse than random ones, since single rows share few columns.
    """
    short = replace(sample.problem, max_iter=_ITERATIONS)
    starts = [random_pair(short, rng)]
    n, m = sample.engine.shape
    if sample.engine.n_stored > _ONE_WAY_DENSITY * n * m:
        starts.append(one_way_start(sample.engine, short, rng))
    found = [solve(sample.data, short, pair) for pair in starts]
    best = min(found, key=lambda each: each.objective)
    return extend_to_all(sample, best.pair, data, problem)
