"""Starts by name, and plain restarts: every start carried to convergence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Literal, TypeAlias

import numpy as np

from neocc.core.checkpoints import NO_JOURNAL, Journal
from neocc.core.engine import Engine
from neocc.core.initialise import COLD, one_way_start, random_pair, seeded_start
from neocc.core.problem import Problem
from neocc.core.projections import modularity_start, sketched_start, spectral_start
from neocc.core.samples import SAMPLING, Sampling, draw_sample, sampled_start
from neocc.core.solve import Report, Solution, solve
from neocc.core.steps import Pair, given_pair

__all__ = ["COSTLY_SHARE", "Begin", "Init", "Start", "make_start", "run_starts"]

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
    report: Report | None = None,
    *,
    begin: Begin = lambda: None,
    journal: Journal = NO_JOURNAL,
    sampling: Sampling = SAMPLING,
) -> Iterator[Solution]:
    """Solve the problem once per generator and yield each solution as it is found.

    `engine` holds the data as given; `begin` is called before each start, `report` after every
    iteration. Starts that `journal` knows
    to be done are not made again.
    """
    n_done = journal.found("n_starts") or 0
    # Iterations are reported and noted one by one, by one thread.
    watched = report is not None or journal is not NO_JOURNAL

    def one_start(engine: Engine, i: int) -> Solution:
        data, pair = engine.centred(problem.centring), COLD
        if journal.found("run") is None:
            pair = make_start(engine, data, problem, init, rngs[i], sampling)
        return solve(data, problem, pair, report, journal)

    left = range(n_done, len(rngs))
    runs = map(partial(one_start, engine), left) if watched else engine.each(one_start, left)
    for i in left:
        begin()
        found = next(runs)
        journal.hold(run=None)
        yield found
        journal.note(n_starts=i + 1)


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
