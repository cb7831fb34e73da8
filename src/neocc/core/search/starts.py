"""Starts by name, and runs from them.

Several starts for disjoint clusters of data that are neither small nor sampled are made from one
embedding of these (`neocc.core.projections`): that takes a third of the time of one-way clusters of
the data themselves, and ends lower. On sparse data, seeds that are compared with all items would
take most of the time, and carry little information where rows share few columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np

from neocc.core.engine import Engine
from neocc.core.initialise import one_way_start, random_pair, seeded_start
from neocc.core.problem import Problem
from neocc.core.projections import (
    Embedding,
    embedded_start,
    make_embedding,
    modularity_start,
    sketched_start,
    spectral_start,
)
from neocc.core.samples import SAMPLING, Sampling, draw_sample, sampled_start, side_to_sample
from neocc.core.search.cells import work_on_cells
from neocc.core.solve import Solution, solve
from neocc.core.steps import Pair, given_pair

__all__ = ["COSTLY_SHARE", "Begin", "Init", "Start", "Starts"]
__all__ += ["make_start", "may_divide", "may_embed", "run_starts"]

Start: TypeAlias = Callable[[Engine, Problem, np.random.Generator], Pair]
"""A start that looks at both sides at once, on centred data."""

Init: TypeAlias = Literal["neo-kmeans", "random", "spectral", "sketch", "modularity"] | Start | Pair
"""How a run starts: by name, by a function, or from given memberships."""

Begin: TypeAlias = Callable[[], None]

COSTLY_SHARE = 50
"""Starts that are functions (semidefinite ones) cost as much as hundreds of others and hardly
differ: one in so many will do."""


_STARTS: dict[str, Start] = {
    "random": lambda _, problem, rng: random_pair(problem, rng),
    "spectral": spectral_start,
    "sketch": sketched_start,
    "modularity": modularity_start,
}


def run_starts(
    engine: Engine,
    problem: Problem,
    init: Init,
    rngs: list[np.random.Generator],
    sampling: Sampling = SAMPLING,
) -> Iterator[Solution]:
    """Solve the problem once per generator and yield each solution as it is found.

    `engine` holds the data as given. Nothing is shared between starts, as it is in a search.
    """
    starts = Starts(engine, problem, init, rngs, sampling)

    def one_start(own: Engine, i: int) -> Solution:
        return solve(own.centred(problem.centring), problem, starts.make(own, i, None))

    return engine.each(one_start, range(len(rngs)))


@dataclass(frozen=True)
class Starts:
    """The starts of a fit, one for each generator."""

    engine: Engine
    problem: Problem
    init: Init
    rngs: list[np.random.Generator]
    sampling: Sampling = SAMPLING

    @cached_property
    def n_entries(self) -> int:
        """Entries that are not zero; none are counted if even with zeros they are few."""
        least = min(self.sampling.embedded[0], self.sampling.divided[0])
        return self.engine.n_nonzero() if self.engine.n_stored >= least else 0

    @property
    def are_embedded(self) -> bool:
        """Whether starts are made from an embedding."""
        how = self.engine.n_stored, self.problem, self.init, len(self.rngs), self.sampling
        return may_embed(*how) and self.n_entries >= self.sampling.embedded[0]

    @property
    def are_raced(self) -> bool:
        """Whether starts are short runs at first, not all of which are carried on.

        Iterations that need products cost several times as much as others, and there are more.
        """
        is_large = _is_large(self.engine.n_stored, self.problem, self.sampling)
        return self.problem.needs_products and is_large and len(self.rngs) > 1

    @property
    def are_divided(self) -> bool:
        """Whether a search may make a start from cells, of dense and sparse data alike."""
        how = self.problem, self.init, len(self.rngs), self.sampling
        return may_divide(self.engine.n_stored, *how) and may_divide(self.n_entries, *how)

    @cached_property
    def work_on_cells(self) -> float:
        """What a start from cells takes until they are searched."""
        return work_on_cells(self.engine, self.problem, self.n_entries)

    def embedding(self) -> Embedding | None:
        """Return what starts are made from, if they are."""
        if not self.are_embedded:
            return None
        data = self.engine.centred(self.problem.centring)
        return make_embedding(data, self.problem, self.rngs[0].spawn(1)[0])

    def make(self, engine: Engine, i: int, embedding: Embedding | None) -> Pair:
        """Return the start of a number, made by an engine over the same data."""
        rng, problem = self.rngs[i], self.problem
        if embedding is not None:
            return embedded_start(engine, problem, embedding, i, rng)
        data = engine.centred(problem.centring)
        return make_start(engine, data, problem, self.init, rng, self.sampling)


def may_embed(
    n_stored: int, problem: Problem, init: Init, n_init: int, sampling: Sampling = SAMPLING
) -> bool:
    """Whether starts may be made from an embedding of rows and columns.

    With overlap, outliers or residues most of the time is that of the iterations, and starts from
    an embedding are no better.
    """
    one_way = init == problem.objective.usual_start == "neo-kmeans" and len(problem.sides) == 2
    if problem.needs_products or any(problem.counts(s).needs_distances for s in problem.sides):
        return False
    is_large = _is_large(n_stored, problem, sampling)
    return one_way and n_init > 1 and n_stored >= sampling.embedded[0] and not is_large


def may_divide(
    n_stored: int, problem: Problem, init: Init, n_init: int, sampling: Sampling = SAMPLING
) -> bool:
    """Whether a search may make a start from cells: of disjoint clusters, by sums of all cells."""
    one_way = init == problem.objective.usual_start == "neo-kmeans" and len(problem.sides) == 2
    if not one_way or n_init == 1 or problem.objective.needs_counts:
        return False
    for side in problem.sides:
        if problem.counts(side).needs_distances or problem.weights(side) is not None:
            return False
    least, of_starts = sampling.divided
    if n_stored < least or n_init * (n_stored + sampling.per_start) < of_starts:
        return False
    return not _is_large(n_stored, problem, sampling)


def _is_large(n_stored: int, problem: Problem, sampling: Sampling) -> bool:
    """Whether starts begin with samples, of data that take long to read."""
    can_be_sampled = side_to_sample(n_stored, problem, sampling) is not None
    return n_stored > sampling.embedded[1] and can_be_sampled


def make_start(
    engine: Engine,
    data: Engine,
    problem: Problem,
    init: Init,
    rng: np.random.Generator,
    sampling: Sampling | None = None,
) -> Pair:
    """Return feasible memberships; `data` is `engine` centred.

    One-way starts are made on a sample where `sampling` says so.
    """
    if isinstance(init, tuple):
        return given_pair(data, problem, init)
    start = init if callable(init) else _STARTS.get(init)
    if init == "neo-kmeans":
        start = _STARTS.get(problem.objective.usual_start)
    if start is not None:
        return start(data, problem, rng)
    if len(problem.sides) == 1:
        return seeded_start(data, problem, rng)
    if sampling is not None:
        sample = draw_sample(engine, data, problem, rng, sampling)
        if sample is not None:
            return sampled_start(sample, data, problem, rng)
    return one_way_start(engine, problem, rng)
