"""A search with a sense of time: plain starts, then rounds for as long as these pay.

The plain starts are those of a fit without a search, so that it does not end above them. What
follows costs little more than they do: short runs from random starts, then rounds that perturb one
of the best solutions and run the alternation again. These end earlier if another one is not
expected to gain, from how long gains have taken on these data. Work is counted in what is asked of
the engine (`Reads.asked`), never in seconds: the same seed gives the same result anywhere.

Less is done where that pays. Further starts are not made if the first few end alike. Few rounds
follow starts from a view, which are good ones. The starts of large matrices are short runs, the
best of which are carried on, and rounds are made with a sample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from neocc.core.checkpoints import NO_JOURNAL, Journal
from neocc.core.engine import Engine
from neocc.core.problem import Problem
from neocc.core.samples import (
    SAMPLING,
    Sample,
    Sampling,
    draw_sample,
    extend_to_all,
    side_to_sample,
)
from neocc.core.search.ends import ENOUGH_ALIKE, Ends
from neocc.core.search.local import swapped
from neocc.core.search.pool import N_STEPS, SHORT_TOL
from neocc.core.search.starts import COSTLY_SHARE, Begin, Init, Starts, make_start
from neocc.core.solve import Solution, solve

__all__ = ["budgeted_search", "n_budgeted_steps"]

# What may follow the plain starts, as a multiple of their work; the same, with a sample.
_MULTIPLE = 1.3
_ON_SAMPLE = 0.5
# Of it, the share that is left for swaps at the end.
_CLOSING = 0.1
# So many terms of a distance take as long as an entry.
_COMPARED = 4
# Passes of a search for each of its starts, where most of them are not made.
_PASSES = 15
# What may follow starts from a view where iterations are quick, and other methods are too.
_QUICK = 0.15


def budgeted_search(
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
) -> Iterator[Solution]:
    """Search with at most three times the work of `n_init` plain starts; yield the best so far.

    `begin` is called before each step. Steps that `journal` knows to be done are not made again.
    """
    data = engine.centred(problem.centring)
    n_starts = 1 if isinstance(init, tuple) else n_init
    # Spawned before anything is drawn, so that a resumed search gets the same ones.
    rngs, (sampler,) = rng.spawn(n_starts), rng.spawn(1)
    state = Ends.resumed(journal.found("search"), rng)

    def ended() -> bool:
        journal.note(search=state.noted(rng))
        return stopped()

    plan = _Plan(engine, problem, init, rngs, sampling)
    for _ in plan.run(state, begin):
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
    if state.is_settled or plan.are_seen:
        limit = max(_PASSES * n_starts - state.work, _QUICK * state.work)
        n_new = 0
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


@dataclass(frozen=True)
class _Plan(Starts):
    """How starts are made, and what follows."""

    @property
    def is_large(self) -> bool:
        """Whether starts are short runs, most of which are not carried on."""
        sampled = side_to_sample(self.engine.n_stored, self.problem, self.sampling) is not None
        return sampled and len(self.rngs) > 1

    def run(self, state: Ends, begin: Begin) -> Iterator[None]:
        """Run the starts that are needed; yield after each."""
        engine, problem, n_starts = self.engine, self.problem, len(self.rngs)
        data, asked = engine.centred(problem.centring), engine.reads.asked
        view = None if state.is_ready else self.view()
        if not state.n_starts:  # else it is known, and made again after an interruption
            state.work += engine.reads.asked - asked
        tol = max(problem.tol, SHORT_TOL) if self.is_large else problem.tol

        def one_start(own: Engine, i: int) -> tuple[Solution, float]:
            asked, own_data = own.reads.asked, own.centred(problem.centring)
            if callable(self.init) and i % COSTLY_SHARE:
                pair = make_start(own, own_data, problem, "random", self.rngs[i])
            else:
                pair = self.make(own, i, view)
            found = solve(own_data, replace(problem, tol=tol), pair)
            return found, own.reads.asked - asked

        while not state.is_ready and state.n_starts < n_starts and not state.is_settled:
            n_then = ENOUGH_ALIKE if state.n_starts < ENOUGH_ALIKE < n_starts else n_starts
            runs = engine.each(one_start, range(state.n_starts, n_then))
            while state.n_starts < n_then:
                begin()
                state.add_start(*next(runs))
                yield
        if self.is_large and not state.is_ready:
            begin()
            sampled = self.is_sparse and not self.are_seen
            state.carry_on(data, problem, 1 if sampled else n_starts)
            yield


def _cost(engine: Engine, problem: Problem) -> float:
    """Return what a question costs, about: entries are read, and items compared with clusters."""
    n_blocks = np.prod([problem.counts(side).n_clusters for side in problem.sides])
    return engine.n_stored + sum(engine.shape) * float(n_blocks) / _COMPARED


def n_budgeted_steps(init: Init, n_init: int) -> int:
    """Return the largest number of steps that `budgeted_search` yields."""
    return (1 if isinstance(init, tuple) else n_init + 1) + N_STEPS + 2
