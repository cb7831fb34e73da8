"""A search with a sense of time: plain starts, then rounds for as long as these pay.

The plain starts are those of a fit without a search, so that it does not end above them. What
follows costs little more than they do: short runs from random starts, then rounds that perturb one
of the best solutions and run the alternation again. These end earlier if another one is not
expected to gain, from how long gains have taken on these data. On large matrices all of that is
done with a sample. Work is counted in what is asked of the engine (`Reads.asked`), never in
seconds: the same seed gives the same result anywhere.

Some plain starts are spared. The others are not made if the first few end alike, or if they lose to
starts of other kinds on sparse data (`neocc.core.search.contest`): rounds then have a fixed number
of passes for each start. On large matrices those that are far behind are not carried to the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from neocc.core.checkpoints import NO_JOURNAL, Journal
from neocc.core.engine import Engine
from neocc.core.initialise import COLD, random_pair
from neocc.core.problem import Problem
from neocc.core.samples import (
    SAMPLING,
    Sample,
    Sampling,
    draw_sample,
    extend_to_all,
    side_to_sample,
)
from neocc.core.search.contest import ENOUGH, LOOSE, RIVALS, is_contested, is_decided, run_rivals
from neocc.core.search.local import SAME_BASIN, Loose, attempt, least_gain, swapped
from neocc.core.search.perturb import Resumable, perturb
from neocc.core.search.starts import COSTLY_SHARE, Begin, Init, make_start
from neocc.core.search.tournament import ranked, short_run
from neocc.core.solve import Solution, continued, improved, solve
from neocc.core.steps import Pair, assigned, with_side

__all__ = ["budgeted_search", "n_budgeted_steps"]

# On large matrices a start that is so far behind when it has nearly converged is abandoned.
_FAR_BEHIND = Loose(1e-3, 1e-2)
# What may follow the plain starts, as a multiple of their work; the same, with a sample.
_MULTIPLE = 1.3
_ON_SAMPLE = 0.3
# Of it, the share that is left for swaps at the end; the rounds are reported in so many steps.
_CLOSING = 0.1
_N_STEPS = 10
# Rounds go on for at least so many without a gain, and twice as long as a gain has ever taken.
_PATIENCE = 40
_LONGER = 2
_SHORT_TOL = 1e-3
# Solutions this near, as a share, are not kept twice.
_SAME = 1e-7
# Of so many that are drawn from the pool, a round perturbs the best.
_DRAWN = 8
# So many rounds without a gain is each start worth that ended where the best did.
_AGREED = 5
# The same, of starts that decided that no more are needed.
_ALL_AGREED = 10
# If this many, made first, end alike, they do.
_ENOUGH_ALIKE = 5
# So many terms of a distance take as long as an entry.
_COMPARED = 4
# Passes of a search for each of its starts, where most of them are not made.
_PASSES = 20
# What may follow these starts at least, as a multiple of their work.
_LEAST_SHARE = 0.7


def budgeted_search(
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
) -> Iterator[Solution]:
    """Search with at most three times the work of `n_init` plain starts; yield the best so far.

    `begin` is called before each step. Steps that `journal` knows to be done are not made again.
    """
    data = engine.centred(problem.centring)
    n_starts = 1 if isinstance(init, tuple) else n_init
    # Spawned before anything is drawn, so that a resumed search gets the same ones.
    rngs, (sampler, *others) = rng.spawn(n_starts), rng.spawn(1 + len(RIVALS))
    state = _State.resumed(journal.found("search"), rng)

    def ended() -> bool:
        journal.note(search=state.noted(rng))
        return stopped()

    for _ in _make_starts(engine, problem, init, (rngs, others), warm, sampling, begin, state):
        yield state.best
        if ended():
            return
    sample = None
    if engine.n_stored > sampling.largest_searched and not isinstance(init, tuple):
        sample = draw_sample(engine, data, problem, sampler, sampling)
    where = sample or Sample(engine, data, problem)
    multiple = _MULTIPLE if sample is None else _ON_SAMPLE
    # In questions about the sample.
    limit = multiple * state.work * _cost(engine, problem) / _cost(where.engine, problem)
    n_new = 0 if isinstance(init, tuple) else n_starts
    if state.is_settled:
        limit, n_new = max(_PASSES * n_starts - state.work, _LEAST_SHARE * state.work), 0
    while not state.is_over:
        begin()
        state.make_rounds(where, limit, n_new, rng)
        yield state.best
        if ended():
            return
    begin()
    if sample is None:
        yield swapped(data, problem, state.best, limit - state.spent)
    elif state.gained:
        pair = extend_to_all(sample, state.pool[0].pair, data, problem)
        yield solve(data, problem, pair, journal=journal)
    else:
        yield state.best


def _make_starts(
    engine: Engine,
    problem: Problem,
    init: Init,
    rngs: tuple[list[np.random.Generator], list[np.random.Generator]],
    warm: Pair,
    sampling: Sampling,
    begin: Begin,
    state: _State,
) -> Iterator[None]:
    """Run the plain starts that are needed, on sparse data after their rivals; yield after each."""
    own, others = rngs
    is_large = side_to_sample(engine, problem, sampling) is not None
    begins = not (state.n_starts or state.rivals) and len(own) > 1
    if begins and is_contested(engine, problem, init, sampling):
        begin()
        asked = engine.reads.asked
        state.rivals = run_rivals(engine, problem, others)
        state.starts, state.work = state.rivals, engine.reads.asked - asked
        yield

    def one_start(engine: Engine, i: int) -> tuple[Solution, float]:
        asked, data = engine.reads.asked, engine.centred(problem.centring)
        kind = "random" if callable(init) and i % COSTLY_SHARE else init
        pair = make_start(engine, data, problem, kind, own[i], COLD if i else warm, sampling)
        if is_large and i:
            found = attempt(data, problem, pair, state.best, _FAR_BEHIND)
        else:
            found = solve(data, problem, pair)
        return found, engine.reads.asked - asked

    while state.n_starts < len(own) and not state.is_settled:
        n_next = 1 if is_large else state.n_certain(len(own))
        runs = engine.each(one_start, range(state.n_starts, state.n_starts + n_next))
        for _ in range(n_next):
            begin()
            state.add_start(*next(runs))
            yield


def _cost(engine: Engine, problem: Problem) -> float:
    """Return what a question costs, about: entries are read, and items compared with clusters."""
    n_blocks = np.prod([problem.counts(side).n_clusters for side in problem.sides])
    return engine.n_stored + sum(engine.shape) * float(n_blocks) / _COMPARED


def n_budgeted_steps(init: Init, n_init: int) -> int:
    """Return the largest number of steps that `budgeted_search` yields."""
    return (1 if isinstance(init, tuple) else n_init) + _N_STEPS + 2


@dataclass
class _State(Resumable):
    """The state of a search."""

    n_starts: int = 0  # plain starts made
    rivals: list[Solution] = field(default_factory=list)  # where their rivals ended, ranked
    is_settled: bool = False  # no further plain start is needed
    work: float = 0.0  # that these took
    starts: list[Solution] = field(default_factory=list)  # where they ended, ranked
    pool: list[Solution] = field(default_factory=list)  # what rounds begin with, ranked
    n_rounds: int = 0
    spent: float = 0.0  # work of the rounds
    waited: int = 0  # rounds since the last gain
    longest: int = 0  # that a gain has taken
    gained: bool = False  # some round has ended lower
    is_over: bool = False

    @property
    def best(self) -> Solution:
        return self.starts[0]

    def add_start(self, found: Solution, work: float) -> None:
        self.starts = ranked([*self.starts, found])
        self.n_starts += 1
        self.work += work
        if len(self.rivals) > 1:
            self.is_settled = is_decided(self.rivals[0], self.best, found, self.n_starts)
        elif self.n_starts == _ENOUGH_ALIKE:
            self.is_settled = self._n_alike() == _ENOUGH_ALIKE

    def n_certain(self, n_starts: int) -> int:
        """Return how many of the starts that are left are made whatever the next ones find."""
        decisive = range(1, ENOUGH + 1) if len(self.rivals) > 1 else (_ENOUGH_ALIKE,)
        then = next((number for number in decisive if number > self.n_starts), n_starts)
        return min(then, n_starts) - self.n_starts

    def _n_alike(self) -> int:
        """Return how many starts ended where the best did."""
        best = self.best.objective
        return sum(each.objective <= best + SAME_BASIN * abs(best) for each in self.starts)

    def make_rounds(
        self, where: Sample, limit: float, n_new: int, rng: np.random.Generator
    ) -> None:
        """Make a tenth of the rounds that the limit allows; the first `n_new` begin anew."""
        data, limit = where.data, limit * (1.0 - _CLOSING)
        asked, before = data.reads.asked, self.spent
        if not self.pool:
            self.pool = self.starts if where.items is None else self._on_sample(where)
            # Starts that agree are rounds that gained nothing.
            worth = _ALL_AGREED if self.is_settled else _AGREED
            self.waited = (self._n_alike() - 1) * worth
            self.spent = before + data.reads.asked - asked
        goal = limit * (np.floor(_N_STEPS * self.spent / limit) + 1) / _N_STEPS
        while not self._is_enough(limit) and self.spent < goal:
            step = self._new_start if self.n_rounds < n_new else self._round
            step(where, rng)
            self.spent = before + data.reads.asked - asked
        self.is_over = self._is_enough(limit)
        if where.items is None:
            self.starts = [self.pool[0]]

    def _is_enough(self, limit: float) -> bool:
        """Whether another round would cost too much, or is not expected to gain."""
        best = self.pool[0]
        is_patient = self.waited < _PATIENCE + _LONGER * self.longest
        is_perfect = abs(best.objective) <= best.noise
        return self.spent >= limit or is_perfect or not is_patient

    def _on_sample(self, where: Sample) -> list[Solution]:
        """Return where the plain starts lead on a sample."""
        short = replace(where.problem, tol=max(where.problem.tol, _SHORT_TOL))
        index, found = int(where.side == "columns"), []
        for each in self.starts:
            members = each.pair[index]
            assert members is not None and where.items is not None
            pair = with_side(each.pair, where.side, members.take(where.items))
            found.append(solve(where.data, short, assigned(where.data, short, where.side, pair)))
        return ranked(found)

    def _count(self, found: Solution) -> None:
        """Count a round, and how long a gain has taken."""
        self.n_rounds, self.waited, best = self.n_rounds + 1, self.waited + 1, self.pool[0]
        if found.objective < best.objective - SAME_BASIN * abs(best.objective):
            self.longest, self.waited = max(self.longest, self.waited), 0

    def _new_start(self, where: Sample, rng: np.random.Generator) -> None:
        """Make a short run from a random start, and go on with it if it is among the best.

        Where single rows tell little, it may reach basins that no one-way start leads to.
        """
        problem, data, worst = where.problem, where.data, self.pool[-1]
        short = replace(problem, tol=max(problem.tol, _SHORT_TOL))
        pair = random_pair(problem, rng)
        found = short_run(data, short, pair, pressure=True)
        if found.objective < worst.objective:
            found = continued(data, problem, found)
        self._count(found)
        if found.objective < worst.objective:
            self.pool, self.gained = ranked([*self.pool[:-1], found]), True

    def _round(self, where: Sample, rng: np.random.Generator) -> None:
        """Perturb one of the best solutions, run the alternation again, and keep what is lower."""
        problem, data, pool, best = where.problem, where.data, self.pool, self.pool[0]
        asked, bandit = data.reads.asked, self.bandit
        way = bandit.choose(problem, rng)
        rank = int(rng.integers(len(pool), size=_DRAWN).min())
        parent = pool[rank]
        found = attempt(data, problem, perturb(data, problem, parent, way, rng), parent, LOOSE)
        success = found.objective < parent.objective - least_gain(parent)
        self._count(found)
        cost = data.reads.asked - asked
        mean = (self.spent + cost) / self.n_rounds
        bandit.learn(way, success=success, cost=cost / mean)
        if success and not any(
            abs(found.objective - each.objective) <= _SAME * abs(best.objective) for each in pool
        ):
            self.pool = ranked([*pool[:rank], improved(parent, found), *pool[rank + 1 :]])
            self.gained = True
