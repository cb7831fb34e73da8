"""A search: many short runs, rounds that begin with the best, and the best of these polished.

It makes better use of the effort of a number of plain starts. On large matrices it runs on a
sample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from neocc.core.checkpoints import NO_JOURNAL, Journal
from neocc.core.engine import Engine
from neocc.core.initialise import COLD
from neocc.core.problem import Problem
from neocc.core.samples import SAMPLING, Sample, Sampling, draw_sample, extend_to_all
from neocc.core.search.local import SAME_BASIN, local_search, rounds
from neocc.core.search.pool import N_STEPS, SHORT_TOL, Pool, alike, ranked, short_run
from neocc.core.search.starts import COSTLY_SHARE, Begin, Init, make_start
from neocc.core.solve import Solution, continued, solve

__all__ = ["n_search_steps", "search"]

# Short runs per start; every second one uses the chosen `init`, the others are random.
_SHORT_RUNS = 2
_CHOSEN_SHARE = 2
# What may follow them, as a multiple of their work, of which there are so many at least.
_MULTIPLE = 3.0
_FEW = 20
# So many rounds without a gain is each run worth that ended where the best did.
_AGREED = 5
# Patience of the rounds on all of the data that follow a search on a sample.
_LAST_PATIENCE = 6


def search(
    engine: Engine,
    problem: Problem,
    init: Init,
    n_init: int,
    rng: np.random.Generator,
    *,
    begin: Begin = lambda: None,
    stopped: Callable[[], bool] = lambda: False,
    journal: Journal = NO_JOURNAL,
    sampling: Sampling = SAMPLING,
) -> Iterator[Solution | None]:
    """Search with the effort of `n_init` starts; yield the best solution so far after each step.

    None is yielded for steps on a sample, whose solutions are not solutions of the whole. A search
    that is stopped or interrupted there still yields one: all items join the best clusters so far.
    `begin` is called before each step. Steps that `journal` knows to be done are not made again.
    """
    data = engine.centred(problem.centring)
    # Spawned before anything is drawn, so that a resumed search gets the same one.
    (later,) = rng.spawn(1)
    sample = None
    if engine.n_stored > sampling.largest_searched and not isinstance(init, tuple):
        sample = draw_sample(engine, data, problem, rng, sampling)
    where = sample or Sample(engine, data, problem)
    tournament = _Tournament.resumed(journal.found("tournament"), rng)
    try:
        for _ in tournament.steps(where, init, n_init, rng, begin):
            yield tournament.best if sample is None else None
            journal.note(tournament=tournament.noted(rng))
            if stopped():
                break
    except KeyboardInterrupt:
        if sample is not None and tournament.pool:
            pair = extend_to_all(sample, tournament.best.pair, data, problem)
            yield solve(data, replace(problem, max_iter=0), pair)
        raise
    if sample is None:
        return
    begin()
    pair = COLD
    if journal.found("run") is None:
        pair = extend_to_all(sample, tournament.best.pair, data, problem)
    found = solve(data, problem, pair, journal=journal)
    yield found
    if not stopped():
        begin()
        yield rounds(data, problem, found, _LAST_PATIENCE, later)


def n_search_steps(init: Init, n_init: int) -> int:
    """Return the largest number of steps that `search` yields."""
    return _n_runs(init, n_init) + N_STEPS + 4


def _n_runs(init: Init, n_init: int) -> int:
    return 1 if isinstance(init, tuple) else _SHORT_RUNS * n_init


@dataclass
class _Tournament(Pool):
    """The state of a search on the data at hand."""

    patience: ClassVar[int] = 60

    n_runs: int = 0  # short runs made
    work: float = 0.0  # that these took
    is_ready: bool = False  # the best of them have converged
    polished: bool = False  # local search has been done

    @property
    def best(self) -> Solution:
        return self.pool[0]

    def steps(
        self,
        where: Sample,
        init: Init,
        n_init: int,
        rng: np.random.Generator,
        begin: Begin,
    ) -> Iterator[None]:
        """Make short runs, rounds from the best, and polish the winner; yield after each step."""
        problem, given, n_runs = where.problem, isinstance(init, tuple), _n_runs(init, n_init)
        every = COSTLY_SHARE if callable(init) else _CHOSEN_SHARE
        short = replace(problem, tol=max(problem.tol, SHORT_TOL))
        # Spawned before anything is drawn, so that a resumed search gets the same ones.
        rngs, engine, asked = rng.spawn(n_runs), where.engine, where.data.reads.asked

        def centred(own: Engine) -> Engine:
            return where.data if own is engine else own.centred(problem.centring)

        def one_run(own: Engine, i: int) -> Solution:
            kind: Init = init if given or i % every == 0 else "random"
            pair = make_start(own, centred(own), problem, kind, rngs[i])
            return short_run(centred(own), short, pair, pressure=not given)

        def end(own: Engine, each: Solution) -> Solution:
            return continued(centred(own), problem, each)

        before, runs = self.work, engine.each(one_run, range(self.n_runs, n_runs))
        while self.n_runs < n_runs:
            begin()
            self.pool = ranked([*self.pool, next(runs)])[:n_init]
            self.n_runs += 1
            self.work = before + where.data.reads.asked - asked
            yield
        if not self.is_ready:
            begin()
            self.pool = ranked(list(engine.each(end, self.pool)))
            n_alike = sum(alike(self.best, each.objective, SAME_BASIN) for each in self.pool)
            self.waited, self.is_ready = (n_alike - 1) * _AGREED, True
            yield
        while not self.is_over:
            begin()
            self.make_rounds(where, _MULTIPLE * self.work / n_runs * max(n_runs, _FEW), rng)
            yield
        if not self.polished:
            begin()
            self.pool = [local_search(where.data, problem, self.best)]
            self.polished = True
            yield
