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
from neocc.core.initialise import COLD
from neocc.core.problem import Problem
from neocc.core.samples import (
    SAMPLING,
    Sample,
    Sampling,
    draw_sample,
    extend_to_all,
    side_to_sample,
)
from neocc.core.search.contest import ENOUGH, RIVALS, is_contested, is_decided, run_rivals
from neocc.core.search.local import SAME_BASIN, Loose, attempt, swapped
from neocc.core.search.pool import N_STEPS, SHORT_TOL, Pool, ranked
from neocc.core.search.starts import COSTLY_SHARE, Begin, Init, make_start
from neocc.core.solve import Solution, solve
from neocc.core.steps import Pair, assigned, with_side

__all__ = ["budgeted_search", "n_budgeted_steps"]

# On large matrices a start that is so far behind when it has nearly converged is abandoned.
_FAR_BEHIND = Loose(1e-3, 1e-2)
# What may follow the plain starts, as a multiple of their work; the same, with a sample.
_MULTIPLE = 1.3
_ON_SAMPLE = 0.3
# Of it, the share that is left for swaps at the end.
_CLOSING = 0.1
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
        state.make_rounds(where, limit * (1.0 - _CLOSING), rng, n_new)
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
    return (1 if isinstance(init, tuple) else n_init) + N_STEPS + 2


@dataclass
class _State(Pool):
    """The state of a search."""

    n_starts: int = 0  # plain starts made
    rivals: list[Solution] = field(default_factory=list)  # where their rivals ended, ranked
    is_settled: bool = False  # no further plain start is needed
    work: float = 0.0  # that these took
    starts: list[Solution] = field(default_factory=list)  # where they ended, ranked

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
        self, where: Sample, limit: float, rng: np.random.Generator, n_new: int = 0
    ) -> None:
        """Make rounds that begin with where the starts ended, or lead on a sample."""
        if not self.pool:
            asked = where.data.reads.asked
            self.pool = self.starts if where.items is None else self._on_sample(where)
            # Starts that agree are rounds that gained nothing.
            self.waited = (self._n_alike() - 1) * (_ALL_AGREED if self.is_settled else _AGREED)
            self.spent = where.data.reads.asked - asked
        super().make_rounds(where, limit, rng, n_new)
        if where.items is None:
            self.starts = self.pool[:1]

    def _on_sample(self, where: Sample) -> list[Solution]:
        """Return where the plain starts lead on a sample."""
        short = replace(where.problem, tol=max(where.problem.tol, SHORT_TOL))
        index, found = int(where.side == "columns"), []
        for each in self.starts:
            members = each.pair[index]
            assert members is not None and where.items is not None
            pair = with_side(each.pair, where.side, members.take(where.items))
            found.append(solve(where.data, short, assigned(where.data, short, where.side, pair)))
        return ranked(found)
