"""Starts by name, and plain restarts: every start carried to convergence.

Several starts for disjoint clusters of data that are neither small nor sampled are made from one
view of these (`neocc.core.projections`): that takes a third of the time of one-way clusters of the
data themselves, and ends lower. On sparse data, seeds that are compared with all items would take
most of the time, and tell little where rows share few columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Literal, TypeAlias

import numpy as np

from neocc.core.checkpoints import NO_JOURNAL, Journal
from neocc.core.engine import Engine
from neocc.core.initialise import COLD, one_way_start, random_pair, seeded_start
from neocc.core.problem import Problem
from neocc.core.projections import (
    View,
    modularity_start,
    sketched_start,
    spectral_start,
    thin_start,
    thin_view,
)
from neocc.core.samples import SAMPLING, Sampling, draw_sample, sampled_start, side_to_sample
from neocc.core.solve import Report, Solution, solve
from neocc.core.steps import Pair, given_pair

__all__ = ["COSTLY_SHARE", "Begin", "Init", "Start", "Starts"]
__all__ += ["make_start", "may_see_all", "run_starts"]

Start: TypeAlias = Callable[[Engine, Problem, np.random.Generator], Pair]
"""A start that looks at both sides at once, on centred data."""

Init: TypeAlias = Literal["neo-kmeans", "random", "spectral", "sketch", "modularity"] | Start | Pair
"""How a run starts: by name, by a function, or from given memberships."""

Begin: TypeAlias = Callable[[], None]

COSTLY_SHARE = 50
"""Starts that are functions (semidefinite ones) cost as much as hundreds of others and hardly
differ: one in so many will do."""

# Entries that are not zero of data that starts see through a view, at least.
_LEAST = 1 << 15
# Larger data than this multiple of those that are searched without a sample are seen through one
# only if they cannot be sampled.
_LARGEST_SEEN = 4.0
# Sparse data have no more than this share of all cells filled.
_SPARSE = 0.5

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
    report: Report | None = None,
    *,
    begin: Begin = lambda: None,
    journal: Journal = NO_JOURNAL,
    sampling: Sampling = SAMPLING,
    from_view: bool = False,
) -> Iterator[Solution]:
    """Solve the problem once per generator and yield each solution as it is found.

    `engine` holds the data as given; `begin` is called before each start, `report` after every
    iteration. Starts that `journal` knows to be done are not made again. With `from_view` they may
    be made from a view.
    """
    n_done = journal.found("n_starts") or 0
    # Iterations are reported and noted one by one, by one thread.
    watched = report is not None or journal is not NO_JOURNAL
    starts, left = Starts(engine, problem, init, rngs, sampling), range(n_done, len(rngs))
    view = starts.view() if from_view and left else None

    def one_start(engine: Engine, i: int) -> Solution:
        pair = COLD if journal.found("run") is not None else starts.make(engine, i, view)
        return solve(engine.centred(problem.centring), problem, pair, report, journal)

    runs = map(partial(one_start, engine), left) if watched else engine.each(one_start, left)
    for i in left:
        begin()
        found = next(runs)
        journal.hold(run=None)
        yield found
        journal.note(n_starts=i + 1)


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
        return self.engine.n_nonzero() if self.engine.n_stored >= _LEAST else 0

    @property
    def is_sparse(self) -> bool:
        """Whether few cells are filled."""
        return self.n_entries <= _SPARSE * float(np.prod(self.engine.shape))

    @property
    def are_seen(self) -> bool:
        """Whether starts are made from a view."""
        how = self.engine.n_stored, self.problem, self.init, len(self.rngs), self.sampling
        return may_see_all(*how) and self.n_entries >= _LEAST

    def view(self) -> View | None:
        """Return what starts are made from, if they are."""
        if not self.are_seen:
            return None
        data = self.engine.centred(self.problem.centring)
        return thin_view(data, self.problem, self.rngs[0].spawn(1)[0])

    def make(self, engine: Engine, i: int, view: View | None) -> Pair:
        """Return the start of a number, made by an engine over the same data."""
        rng, problem = self.rngs[i], self.problem
        if view is not None:
            return thin_start(engine, problem, view, i, rng)
        data = engine.centred(problem.centring)
        return make_start(engine, data, problem, self.init, rng, self.sampling)


def may_see_all(
    n_stored: int, problem: Problem, init: Init, n_init: int, sampling: Sampling = SAMPLING
) -> bool:
    """Whether starts may be made from a view, which has a line for each row and each column.

    With overlap, outliers or residues most of the time is that of the iterations, and starts from
    a view are no better.
    """
    one_way = init == problem.objective.usual_start == "neo-kmeans" and len(problem.sides) == 2
    if problem.needs_products or any(problem.counts(s).needs_distances for s in problem.sides):
        return False
    is_small = n_stored <= _LARGEST_SEEN * sampling.largest_searched
    is_large = not is_small and side_to_sample(n_stored, problem, sampling) is not None
    return one_way and n_init > 1 and n_stored >= _LEAST and not is_large


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
