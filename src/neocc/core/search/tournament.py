"""A search: many short runs, of which the best are refined, of which the best is carried on.

It spends the effort of a number of plain starts better. On large matrices it runs on a sample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from neocc.core.checkpoints import NO_JOURNAL, Journal
from neocc.core.engine import Engine
from neocc.core.initialise import NO_WARM_START, WarmStart, pressurised
from neocc.core.problem import Problem
from neocc.core.samples import SAMPLING, Sample, Sampling, draw_sample, extend_to_all
from neocc.core.search.local import SAME_BASIN, local_search, rounds
from neocc.core.search.perturb import Bandit
from neocc.core.search.starts import Begin, Init, make_start, silently
from neocc.core.solve import Solution, continued, solve
from neocc.core.steps import Pair

__all__ = ["Schedule", "n_search_steps", "search"]

# Short runs per start, and one in so many of them by the chosen way.
_SHORT_RUNS = 5
_CHOSEN_SHARE = 2
# Starts that are functions of their own (semidefinite ones) take as long as hundreds of others, and
# hardly differ among themselves.
_COSTLY_SHARE = 50
_SHORT_TOL = 1e-3
# How patient the rounds on all rows are that follow a search on a sample.
_LAST_PATIENCE = 6
_SAME = 1e-9

_SHORT_STAGE = -1


@dataclass(frozen=True)
class Schedule:
    """How a search goes on from its short runs.

    Attributes
    ----------
    stages : tuple of (float, int)
        Share of `n_init` solutions that are refined in each stage, and the patience of their
        rounds.
    enough_alike : int
        If so many runs agree on the lowest value, a stage that finds none lower is the last.
    same_basin : float
        Of solutions that differ by less than this share, only the best is refined.
    """

    stages: tuple[tuple[float, int], ...] = ((1.0, 3), (0.5, 8), (0.3, 12))
    enough_alike: int = 3
    same_basin: float = SAME_BASIN


SCHEDULE = Schedule()


def search(
    engine: Engine,
    problem: Problem,
    init: Init,
    n_init: int,
    rng: np.random.Generator,
    *,
    begin: Begin = silently,
    stopped: Callable[[], bool] = lambda: False,
    warm: WarmStart = NO_WARM_START,
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
    # Of its own, for a search that goes on where it was interrupted.
    (later,) = rng.spawn(1)
    sample = None
    if engine.n_stored > sampling.largest_searched and not isinstance(init, tuple):
        sample = draw_sample(engine, data, problem, rng, sampling)
    if sample is None:
        whole = Sample(engine, data, problem)
        yield from _refined(whole, init, n_init, rng, begin, stopped, warm, journal, schedule)
        return
    best: Solution | None = None
    try:
        cold = NO_WARM_START
        steps = _refined(sample, init, n_init, rng, begin, stopped, cold, journal, schedule)
        for on_sample in steps:
            best = on_sample
            yield None
    except KeyboardInterrupt:
        if best is not None:
            as_is = replace(problem, max_iter=0)
            yield solve(data, as_is, extend_to_all(sample, best, data, problem))
        raise
    assert best is not None
    begin()
    pair: Pair = (None, None)
    if journal.found("run") is None:
        pair = extend_to_all(sample, best, data, problem)
    found = solve(data, problem, pair, journal=journal)
    yield found
    if not stopped():
        begin()
        yield rounds(data, problem, found, _LAST_PATIENCE, later)


def _refined(
    where: Sample,
    init: Init,
    n_init: int,
    rng: np.random.Generator,
    begin: Begin,
    stopped: Callable[[], bool],
    warm: WarmStart,
    journal: Journal,
    schedule: Schedule,
) -> Iterator[Solution]:
    """Play the tournament and search around its winner; yield the best so far after each step."""
    best: Solution | None = journal.found("refined")
    if best is not None:
        yield best
        return
    tournament = _Tournament.resumed(journal, rng, schedule)
    if tournament.pool:
        # All its steps may be done already.
        best = _ranked(tournament.pool)[0]
    for found in tournament.play(where, init, n_init, rng, begin, warm, journal):
        best = found
        yield best
        if stopped():
            return
    assert best is not None
    begin()
    best = local_search(where.data, where.problem, best)
    yield best
    journal.note(refined=best, tournament=None)


def n_search_steps(init: Init, n_init: int, schedule: Schedule = SCHEDULE) -> int:
    """Return the largest number of steps that `search` yields."""
    n_init = 1 if isinstance(init, tuple) else n_init
    return _SHORT_RUNS * n_init + sum(_kept(share, n_init) for share, _ in schedule.stages) + 4


@dataclass
class _Tournament:
    """How far a tournament has come: all that it needs to go on.

    Attributes
    ----------
    stage : int
        `_SHORT_STAGE`, that of short runs, then stages of refinement from 0.
    index : int
        Number of solutions that the stage is done with.
    pool : list of Solution
        The solutions still in it.
    bandit : Bandit
        Which perturbations have worked so far.
    agreed : bool
        Whether enough short runs ended at the lowest value.
    is_led_as_before : bool
        Whether the solution that led when the stage began is still the first in the pool.
    """

    schedule: Schedule
    stage: int = _SHORT_STAGE
    index: int = 0
    pool: list[Solution] = field(default_factory=list)
    bandit: Bandit = field(default_factory=Bandit)
    agreed: bool = False
    is_led_as_before: bool = True

    def noted(self, rng: np.random.Generator) -> dict[str, Any]:
        """Return what `resumed` needs, all of it copies or never changed."""
        return {
            **vars(self),
            "pool": list(self.pool),
            "schedule": None,
            "bandit": self.bandit.record,
            "rng": dict(rng.bit_generator.state),
        }

    @classmethod
    def resumed(cls, journal: Journal, rng: np.random.Generator, schedule: Schedule) -> _Tournament:
        """Return the tournament that a journal knows, or a new one; put the generator there."""
        noted = dict(journal.found("tournament") or {})
        if not noted:
            return cls(schedule)
        rng.bit_generator.state = noted.pop("rng")
        noted |= {"schedule": schedule, "bandit": Bandit.from_record(*noted["bandit"])}
        return cls(**noted)

    def play(
        self,
        where: Sample,
        init: Init,
        n_init: int,
        rng: np.random.Generator,
        begin: Begin,
        warm: WarmStart,
        journal: Journal,
    ) -> Iterator[Solution]:
        """Go on; yield the best so far after each step."""
        problem, data = where.problem, where.data
        n_init = 1 if isinstance(init, tuple) else n_init
        steps = self._short_runs(where, init, n_init, rng, warm)
        while self.stage < len(self.schedule.stages):
            if self.stage == _SHORT_STAGE:
                begin()
                yield next(steps)
            elif self.index == 0 and not self._entered(n_init):
                return
            elif self.index < len(self.pool):
                begin()
                yield self._round(data, problem, rng)
            elif self._finished():
                return
            else:
                continue
            journal.note(tournament=self.noted(rng))

    def _short_runs(
        self, where: Sample, init: Init, n_init: int, rng: np.random.Generator, warm: WarmStart
    ) -> Iterator[Solution]:
        """Make short runs, and carry the best on; yield the best so far after each step."""
        problem, data = where.problem, where.data
        given = isinstance(init, tuple)
        short = replace(problem, tol=max(problem.tol, _SHORT_TOL))
        every = _COSTLY_SHARE if callable(init) else _CHOSEN_SHARE
        while self.index < (1 if given else _SHORT_RUNS * n_init):
            kind: Init = init if given or self.index % every == 0 else "random"
            first = warm if self.index == 0 else NO_WARM_START
            pair = make_start(where.engine, data, problem, kind, rng, first)
            found = _short_run(data, short, pair, pressure=not given)
            self.pool = _ranked([*self.pool, found])[:n_init]
            self.index += 1
            yield self.pool[0]
        self.pool = _ranked([continued(data, problem, each) for each in self.pool])
        # Where enough runs ended at the lowest value, there is hardly one lower.
        alike = sum(_alike(self.pool[0], each) for each in self.pool)
        self.agreed = not given and alike >= self.schedule.enough_alike
        self.stage, self.index = 0, 0
        yield self.pool[0]

    def _entered(self, n_init: int) -> bool:
        """Choose the solutions of a stage; False if nothing is left to gain."""
        if self.pool[0].objective <= self.pool[0].noise:
            return False
        share, _ = self.schedule.stages[self.stage]
        self.pool = _distinct(self.pool, self.schedule.same_basin)[: _kept(share, n_init)]
        self.is_led_as_before = True
        return True

    def _round(self, data: Engine, problem: Problem, rng: np.random.Generator) -> Solution:
        """Refine the next solution of a stage."""
        i, (_, patience) = self.index, self.schedule.stages[self.stage]
        found = rounds(data, problem, self.pool[i], patience, rng, self.bandit)
        self.is_led_as_before &= i > 0 or found is self.pool[i]
        self.pool = [*self.pool[:i], found, *self.pool[i + 1 :]]
        self.index += 1
        return _ranked(self.pool)[0]

    def _finished(self) -> bool:
        """End a stage; whether it was the last."""
        leader = self.pool[0]
        self.pool = _ranked(self.pool)
        if self.agreed and self.is_led_as_before and self.pool[0] is leader:
            return True
        self.stage, self.index = self.stage + 1, 0
        return False


def _short_run(data: Engine, short: Problem, pair: Pair, *, pressure: bool) -> Solution:
    if not (pressure and short.allows_outliers):
        return solve(data, short, pair)
    start = solve(data, replace(short, max_iter=0), pair)
    found = solve(data, short, pressurised(data, short, pair))
    if start.objective >= found.history[0]:
        found = replace(found, history=np.append(start.history, found.history))
    return found


def _alike(best: Solution, other: Solution, within: float = _SAME) -> bool:
    return other.objective <= best.objective * (1.0 + within) + best.noise


def _distinct(pool: list[Solution], same_basin: float) -> list[Solution]:
    """Keep the best solution of every basin; `pool` is ranked."""
    kept = pool[:1]
    for each in pool[1:]:
        if not _alike(kept[-1], each, same_basin):
            kept.append(each)
    return kept


def _kept(share: float, n_init: int) -> int:
    return max(1, round(share * n_init))


def _ranked(pool: list[Solution]) -> list[Solution]:
    """Sort by objective; of those that differ by rounding alone the one found first leads.

    Else dense and sparse data, whose sums round differently, would number clusters differently.
    """
    order = sorted(range(len(pool)), key=lambda i: pool[i].objective)
    ranks, rank = {}, 0
    for before, i in zip([order[0], *order], order, strict=False):
        rank += not _alike(pool[before], pool[i])
        ranks[i] = rank
    return [pool[i] for i in sorted(order, key=lambda i: (ranks[i], i))]
