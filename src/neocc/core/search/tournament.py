"""A search: many short runs, the best of them refined, and the best of these polished.

It makes better use of the effort of a number of plain starts. On large matrices it runs on a
sample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from neocc.core.checkpoints import NO_JOURNAL, Journal
from neocc.core.engine import Engine
from neocc.core.initialise import COLD, pressurised
from neocc.core.problem import Problem
from neocc.core.samples import SAMPLING, Sample, Sampling, draw_sample, extend_to_all
from neocc.core.search.local import SAME_BASIN, local_search, rounds
from neocc.core.search.perturb import Resumable
from neocc.core.search.starts import COSTLY_SHARE, Begin, Init, make_start
from neocc.core.solve import Solution, continued, solve
from neocc.core.steps import Pair

__all__ = ["Schedule", "n_search_steps", "ranked", "search", "short_run"]

# Short runs per start; every second one uses the chosen `init`, the others are random.
_SHORT_RUNS = 5
_CHOSEN_SHARE = 2
_SHORT_TOL = 1e-3
# Patience of the rounds on all of the data that follow a search on a sample.
_LAST_PATIENCE = 6
_SAME = 1e-9


@dataclass(frozen=True)
class Schedule:
    """How a search goes on from its short runs."""

    # For each stage, the share of `n_init` solutions to refine and the patience of their rounds.
    stages: tuple[tuple[float, int], ...] = ((1.0, 3), (0.5, 8), (0.3, 12))
    # Once this many runs agree on the lowest value, a stage that finds nothing lower is the last.
    enough_alike: int = 3
    # Of solutions whose objectives differ by less than this fraction, only the best is refined.
    same_basin: float = SAME_BASIN


SCHEDULE = Schedule()


def search(
    engine: Engine,
    problem: Problem,
    init: Init,
    n_init: int,
    rng: np.random.Generator,
    *,
    begin: Begin = lambda: None,
    stopped: Callable[[], bool] = lambda: False,
    warm: Pair = COLD,
    journal: Journal = NO_JOURNAL,
    sampling: Sampling = SAMPLING,
    schedule: Schedule = SCHEDULE,
) -> Iterator[Solution | None]:
    """Search with the effort of `n_init` starts; yield the best solution so far after each step.

    None is yielded for steps on a sample, whose solutions are not solutions of the whole. A search
    that is stopped or interrupted there still yields one: all items join the best clusters so far.
    `begin` is called before each step. The first one-way start begins with the `warm` clusters,
    unless it is made on a sample. Steps that `journal` knows to be done are not made again.
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
        first = warm if sample is None else COLD
        for _ in tournament.steps(where, init, n_init, rng, begin, first, schedule):
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


def n_search_steps(init: Init, n_init: int, schedule: Schedule = SCHEDULE) -> int:
    """Return the largest number of steps that `search` yields."""
    n_init = 1 if isinstance(init, tuple) else n_init
    return _SHORT_RUNS * n_init + sum(_kept(share, n_init) for share, _ in schedule.stages) + 4


@dataclass
class _Tournament(Resumable):
    """The state of a search on the data at hand."""

    n_runs: int = 0  # short runs made
    stage: int = -1  # of the schedule, -1 before the first
    index: int = 0  # of the next solution to refine
    pool: list[Solution] = field(default_factory=list)  # solutions still in the running
    lowest: float = 0.0  # lowest objective when the stage began
    agreed: bool = False  # enough short runs ended at the lowest value
    polished: bool = False  # local search has been done

    @property
    def best(self) -> Solution:
        return ranked(self.pool)[0]

    def steps(
        self,
        where: Sample,
        init: Init,
        n_init: int,
        rng: np.random.Generator,
        begin: Begin,
        warm: Pair,
        schedule: Schedule,
    ) -> Iterator[None]:
        """Make short runs, refine the best in stages, polish the winner; yield after each step."""
        problem, data, stages = where.problem, where.data, schedule.stages
        given = isinstance(init, tuple)
        n_init = 1 if given else n_init
        every = COSTLY_SHARE if callable(init) else _CHOSEN_SHARE
        short = replace(problem, tol=max(problem.tol, _SHORT_TOL))
        while self.n_runs < (1 if given else _SHORT_RUNS * n_init):
            begin()
            kind: Init = init if given or self.n_runs % every == 0 else "random"
            first = warm if self.n_runs == 0 else COLD
            pair = make_start(where.engine, data, problem, kind, rng, first)
            found = short_run(data, short, pair, pressure=not given)
            self.pool = ranked([*self.pool, found])[:n_init]
            self.n_runs += 1
            yield
        if self.stage < 0:
            begin()
            self.pool = ranked([continued(data, problem, each) for each in self.pool])
            n_alike = sum(alike(self.pool[0], each.objective) for each in self.pool)
            self.agreed = not given and n_alike >= schedule.enough_alike
            self.stage = 0
            yield
        while self.stage < len(stages):
            share, patience = stages[self.stage]
            if self.index == 0:
                self.pool = _distinct(self.pool, schedule.same_basin)[: _kept(share, n_init)]
                self.lowest = self.pool[0].objective
                if abs(self.lowest) <= self.pool[0].noise:
                    break  # nothing is left to gain
            begin()
            i = self.index
            found = rounds(data, problem, self.pool[i], patience, rng, self.bandit)
            self.pool = [*self.pool[:i], found, *self.pool[i + 1 :]]
            self.index += 1
            if self.index == len(self.pool):
                self.pool = ranked(self.pool)
                is_last = self.agreed and alike(self.pool[0], self.lowest)
                self.stage, self.index = len(stages) if is_last else self.stage + 1, 0
            yield
        if not self.polished:
            begin()
            self.pool = [local_search(data, problem, self.pool[0])]
            self.polished = True
            yield


def short_run(data: Engine, short: Problem, pair: Pair, *, pressure: bool) -> Solution:
    """Run a start; with `pressure` outliers are admitted gradually."""
    if not (pressure and short.allows_outliers):
        return solve(data, short, pair)
    start = solve(data, replace(short, max_iter=0), pair)
    found = solve(data, short, pressurised(data, short, pair))
    if start.objective >= found.history[0]:
        found = replace(found, history=np.append(start.history, found.history))
    return found


def alike(best: Solution, objective: float, within: float = _SAME) -> bool:
    return objective <= best.objective + within * abs(best.objective) + best.noise


def _distinct(pool: list[Solution], same_basin: float) -> list[Solution]:
    """Keep the best solution of every basin; `pool` is ranked."""
    kept = pool[:1]
    for each in pool[1:]:
        if not alike(kept[-1], each.objective, same_basin):
            kept.append(each)
    return kept


def _kept(share: float, n_init: int) -> int:
    return max(1, round(share * n_init))


def ranked(pool: list[Solution]) -> list[Solution]:
    """Sort by objective; of solutions that differ by rounding alone, the first found comes first.

    Otherwise dense and sparse data, whose sums round differently, would number clusters
    differently.
    """
    order = sorted(range(len(pool)), key=lambda i: pool[i].objective)
    ranks, rank = {}, 0
    for before, i in zip([order[0], *order], order, strict=False):
        rank += not alike(pool[before], pool[i].objective)
        ranks[i] = rank
    return [pool[i] for i in sorted(order, key=lambda i: (ranks[i], i))]
