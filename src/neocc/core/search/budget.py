"""A search with a sense of time: plain starts, then rounds for as long as these pay.

The plain starts are those of a fit without a search, so that it does not end above them. What
follows costs little more than they do: of disjoint clusters a start from cells, which no seed
changes, short runs from random starts, and rounds that perturb one of the best solutions and run
the alternation again. These end earlier if another one is not expected to gain, from how long gains
have taken on these data. Work is counted in passes over the data (`Reads.work`), never in seconds:
the same seed gives the same result anywhere.

Less is done where that pays, with rounds and without. Further starts are not made if the first few
end alike. Where iterations take long, starts are short runs, the best of which are carried on. Few
rounds follow starts from an embedding, and those of large matrices have a sample.

A thorough search goes on from there, with more patience, and ends with exact moves of single
memberships. It has found all that the default search of the same seed finds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from neocc.core.checkpoints import NO_JOURNAL, Journal
from neocc.core.engine import Engine
from neocc.core.initialise import COLD, random_pair
from neocc.core.problem import Problem
from neocc.core.samples import SAMPLING, Sample, Sampling, draw_sample, extend_to_all
from neocc.core.search.cells import pass_cost, start_from_cells
from neocc.core.search.ends import ENOUGH_ALIKE, RACE, Ends
from neocc.core.search.local import rounds, swapped
from neocc.core.search.pool import N_STEPS
from neocc.core.search.starts import COSTLY_SHARE, Begin, Init, Starts
from neocc.core.solve import Report, Solution, solve

__all__ = ["n_search_steps", "search"]

# What may follow the plain starts, as a multiple of their work; the same, with a sample.
_MULTIPLE = 1.3
_ON_SAMPLE = 0.5
# Of it, the share that is left for swaps at the end.
_CLOSING = 0.1
# Passes of a search for each of its starts, where most of them are not made.
_PASSES = 15
# What may follow a default search, as a multiple of the work of the starts (of starts from an
# embedding), or so many passes, and rounds without a gain that are made at least then.
_FURTHER, _FURTHER_EMBEDDED = 1.75, 7.0
_FURTHER_PASSES = 1300
_PATIENCE = 60
# Patience of the rounds on all of the data that follow those on a sample.
_LAST_PATIENCE = 6
# What may follow starts from an embedding where iterations are quick, and other methods are too.
_QUICK = 0.15


def search(
    engine: Engine,
    problem: Problem,
    init: Init,
    n_init: int,
    rng: np.random.Generator,
    *,
    plain: bool = False,
    thorough: bool = False,
    begin: Begin = lambda: None,
    stopped: Callable[[], bool] = lambda: False,
    report: Report | None = None,
    journal: Journal = NO_JOURNAL,
    sampling: Sampling = SAMPLING,
) -> Iterator[Solution]:
    """Search with at most three times the work of `n_init` plain starts; yield the best so far.

    A `plain` search ends where rounds would begin, and yields the solution of each start; a
    `thorough` one yields those of the default search first: no longer search ends higher, but for
    rounding. `begin` is called before each step, and `report` after every iteration of starts.
    Steps that `journal` knows to be done are not made again. A search that is stopped or
    interrupted on a sample yields a solution of the whole: all items join the best clusters so far.
    """
    n_starts = 1 if isinstance(init, tuple) else n_init
    # Spawned before anything is drawn, so that a resumed search gets the same ones.
    rngs, (sampler, later) = rng.spawn(n_starts), rng.spawn(2)
    state = Ends.resumed(journal.found("search"), rng)
    own = _Search(
        engine,
        problem,
        init,
        rngs,
        sampling,
        state=state,
        rng=rng,
        sampler=sampler,
        begin=begin,
        stopped=stopped,
        report=report,
        journal=journal,
    )
    if plain:
        yield from own.plain()
        return
    if not state.goes_on:
        yield from own.default()
    if thorough and not stopped():
        yield from own.thorough(later)


@dataclass(frozen=True, kw_only=True)
class _Search(Starts):
    """A search under way, as far as its state says."""

    state: Ends
    rng: np.random.Generator
    sampler: np.random.Generator
    begin: Begin
    stopped: Callable[[], bool]
    report: Report | None
    journal: Journal

    @cached_property
    def data(self) -> Engine:
        """The data as they are compared."""
        return self.engine.centred(self.problem.centring)

    @cached_property
    def where(self) -> Sample:
        """What rounds are made with: all of the data, or a sample."""
        engine, problem, sampling = self.engine, self.problem, self.sampling
        sample = None
        if engine.n_stored > sampling.largest_searched and not isinstance(self.init, tuple):
            sample = draw_sample(engine, self.data, problem, self.sampler, sampling)
        return sample or Sample(engine, self.data, problem)

    @property
    def is_sampled(self) -> bool:
        """Whether rounds are made with a sample."""
        return self.where.items is not None

    @property
    def work(self) -> float:
        """What the starts took, in passes over what rounds are made with."""
        return self.state.work * self.pass_on_sample

    @cached_property
    def pass_on_sample(self) -> float:
        """What a pass over the data is, in passes over what rounds are made with."""
        return pass_cost(self.engine, self.problem) / pass_cost(self.where.engine, self.problem)

    @property
    def limit(self) -> float:
        """What the rounds of a default search and its last swaps may take."""
        if self.state.is_settled or self.are_embedded:
            return max(_PASSES * len(self.rngs) - self.state.work, _QUICK * self.state.work)
        return (_ON_SAMPLE if self.is_sampled else _MULTIPLE) * self.work

    @property
    def begins_from_cells(self) -> bool:
        """Whether a start from cells follows the plain ones: if these disagree, and took longer."""
        most = 0.0 if self.state.is_settled else _MULTIPLE * self.state.work
        return most > 0.0 and self.are_divided and self.work_on_cells <= most

    @property
    def n_new(self) -> int:
        """Rounds that may begin anew, at random."""
        return 0 if isinstance(self.init, tuple) else len(self.rngs)

    def plain(self) -> Iterator[Solution]:
        """Make the starts that are needed; yield the solution of each.

        The best of short runs are carried on in the step of the last one.
        """
        engine, problem, state, journal = self.engine, self.problem, self.state, self.journal
        begun, n_starts = engine.reads.work, len(self.rngs)
        is_over = state.is_settled or state.n_starts == n_starts
        embedding = None if is_over else self.embedding()
        if not state.n_starts:  # else it is known, and made again after an interruption
            state.work += engine.reads.work - begun
        short = problem.loosened(RACE.tol) if self.are_raced else problem

        def one_start(own: Engine, i: int) -> tuple[Solution, float]:
            begun, own_data = own.reads.work, own.centred(problem.centring)
            if journal.found("run") is not None:
                pair, own.reads.work = COLD, begun + journal.found("made")
            elif callable(self.init) and i % COSTLY_SHARE:
                pair = random_pair(problem, self.rngs[i])
            else:
                pair = self.make(own, i, embedding)
            measured = replace(journal, measure=lambda: {"made": own.reads.work - begun})
            found = solve(own_data, short, pair, self.report, measured)
            return found, own.reads.work - begun

        # Iterations are reported and noted one by one, by one thread.
        is_watched = self.report is not None or journal.is_kept
        while not is_over:
            n_then = ENOUGH_ALIKE if state.n_starts < ENOUGH_ALIKE < n_starts else n_starts
            left = range(state.n_starts, n_then)
            one_by_one = map(partial(one_start, engine), left)
            runs = one_by_one if is_watched else engine.each(one_start, left)
            for _ in left:
                self.begin()
                found, work = next(runs)
                state.add_start(found, work)
                is_over = state.is_settled or state.n_starts == n_starts
                if is_over and self.are_raced:
                    found = state.carry_on(self.data, problem)
                journal.hold(run=None)
                yield found
                if self.ended():
                    return

    def from_cells(self) -> tuple[Solution | None, float]:
        """Return where a start from cells ends, and what it took."""
        begun = self.engine.reads.work
        pair = start_from_cells(self.data, self.problem)
        self.engine.reads.work += self.work_on_cells
        found = None if pair is None else solve(self.data, self.problem, pair)
        return found, (self.engine.reads.work - begun) * self.pass_on_sample

    def default(self) -> Iterator[Solution]:
        """Make starts, rounds for as long as these pay, and the last swaps."""
        state = self.state
        for _ in self.plain():
            yield state.best
        if self.stopped():
            return
        if self.begins_from_cells and not state.work_of_cells:
            self.begin()
            state.add_cells(*self.from_cells())
            yield state.best
            if self.ended():
                return
        n_new = 0 if state.is_settled or self.are_embedded else self.n_new
        yield from self.rounds(self.limit * (1.0 - _CLOSING), n_new)
        if self.stopped():
            return
        self.begin()
        if not self.is_sampled:
            left = self.limit - state.spent
            state.take(swapped(self.data, self.problem, state.best, left))
        elif state.gained:
            state.take(self.extended(self.problem, self.journal))
        yield state.best

    def thorough(self, later: np.random.Generator) -> Iterator[Solution]:
        """Make further rounds, and exact moves from the best; after a sample, more on the whole."""
        state = self.state
        if not state.goes_on:
            state.go_on(self.where, _PATIENCE)
            self.journal.hold(run=None)
            self.journal.note(search=state.noted(self.rng))
        further = (_FURTHER_EMBEDDED if self.are_embedded else _FURTHER) * self.work
        limit = self.limit + max(further, _FURTHER_PASSES)
        yield from self.rounds(limit, 2 * self.n_new, polished=True)
        if self.stopped() or not self.is_sampled:
            return
        self.begin()
        state.take(self.extended(self.problem, self.journal))
        yield state.best
        if not self.stopped():
            self.begin()
            yield rounds(self.data, self.problem, state.best, _LAST_PATIENCE, later)

    def rounds(self, limit: float, n_new: int, *, polished: bool = False) -> Iterator[Solution]:
        """Make rounds up to a limit; the first `n_new` begin anew. Then exact moves, if wanted."""
        state = self.state
        try:
            while not state.is_over or (polished and not state.is_polished):
                self.begin()
                if state.is_over:
                    state.polish(self.where)
                else:
                    state.make_rounds(self.where, limit, self.rng, n_new)
                yield state.best
                if self.ended():
                    yield from self.cut_short()
                    return
        except KeyboardInterrupt:
            yield from self.cut_short()
            raise

    def cut_short(self) -> Iterator[Solution]:
        """Yield what a sample has led to so far on the whole, if to anything."""
        if self.is_sampled and self.state.gained:
            yield self.extended(replace(self.problem, max_iter=0))

    def extended(self, problem: Problem, journal: Journal = NO_JOURNAL) -> Solution:
        """Return where the best clusters of a sample lead."""
        pair = extend_to_all(self.where, self.state.pool[0].pair, self.data, problem)
        return solve(self.data, problem, pair, journal=journal)

    def ended(self) -> bool:
        """Note the state; whether the caller asks for an end."""
        self.journal.note(search=self.state.noted(self.rng))
        return self.stopped()


def n_search_steps(init: Init, n_init: int, *, plain: bool = False, thorough: bool = False) -> int:
    """Return the largest number of steps that `search` yields."""
    n_starts = 1 if isinstance(init, tuple) else n_init
    return n_starts if plain else n_starts + N_STEPS + 3 + thorough * (N_STEPS + 3)
