"""A search with a sense of time: plain starts, then rounds for as long as these pay.

The plain starts are those of a fit without a search, so that it does not end above them. What
follows costs little more than they do: short runs from random starts, then rounds that perturb one
of the best solutions and run the alternation again. These end earlier if another one is not
expected to gain, from how long gains have taken on these data. On large matrices all of that is
done with a sample. Work is counted in what is asked of the engine (`Reads.asked`), never in
seconds: the same seed gives the same result anywhere.

Some plain starts are spared. The others are not made if the first few end alike. Data that are not
small begin with short runs from a view that all share (`neocc.core.projections`), the best of which
are carried on: on sparse data, seeds that are compared with all items would take most of the time,
and tell little where rows share few columns. Where iterations are quick, starts are recombined
(`neocc.core.search.pieces`) in place of rounds; where they are costly, the plain starts are made
too. The starts of large matrices are short runs as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

import numpy as np

from neocc.core.checkpoints import NO_JOURNAL, Journal
from neocc.core.engine import Engine
from neocc.core.problem import Problem
from neocc.core.projections import thin_start, thin_view
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
from neocc.core.search.pieces import can_recombine
from neocc.core.search.pool import N_STEPS, SHORT_TOL, ranked
from neocc.core.search.starts import COSTLY_SHARE, Begin, Init, make_start
from neocc.core.solve import Solution, solve
from neocc.core.steps import Pair

__all__ = ["budgeted_search", "may_see_all", "n_budgeted_steps"]

# Entries that are not zero of data that starts see through a view, at least; the same, of sparse
# ones.
_LEAST = (1 << 15, 1 << 16)
# Sparse data have no more than this share of all cells filled.
_SPARSE = 0.5
# Larger data than this multiple of those that are searched without a sample are seen through one
# only if they cannot be sampled.
_LARGEST_SEEN = 4.0
# Dense data with so many cells are given the plain starts too, beside those from a view.
_MANY = 1 << 18
# Starts from a view that are made in place of each plain one.
_THIN_SHARE = 0.7
# Of short runs so many are carried on; the same, of large matrices that are sparse.
_CARRIED_ON = (2, 1)
# What may follow the plain starts, as a multiple of their work; the same, with a sample.
_MULTIPLE = 1.3
_ON_SAMPLE = 0.5
# Of it, the share that is left for swaps at the end.
_CLOSING = 0.1
# So many terms of a distance take as long as an entry.
_COMPARED = 4
# Passes of a search for each of its starts, where most of them are not made.
_PASSES = 15
# What may follow these starts at least, as a multiple of their work; the same, where iterations
# are quick, and other methods are too.
_SHARES = (1.8, 0.4)


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
    rngs, (sampler, viewer) = rng.spawn(n_starts), rng.spawn(2)
    state = Ends.resumed(journal.found("search"), rng)

    def ended() -> bool:
        journal.note(search=state.noted(rng))
        return stopped()

    plan = _Plan(engine, problem, init, rngs, sampling)
    for _ in chain(plan.make_starts(state, viewer, begin), plan.add_plain_starts(state, begin)):
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
    if state.is_settled or plan.is_thin:
        share = _MULTIPLE if state.n_plain else _SHARES[plan.is_quick]
        limit = max(_PASSES * n_starts - state.work, share * state.work)
        n_new = 0
    while not state.is_over:
        begin()
        state.make_rounds(where, limit * (1.0 - _CLOSING), rng, n_new)
        yield state.best
        if ended():
            return
    begin()
    if sample is None:
        left = _CLOSING * limit if state.is_recombined else limit - state.spent
        yield swapped(data, problem, state.best, left)
    elif state.gained:
        pair = extend_to_all(sample, state.pool[0].pair, data, problem)
        yield solve(data, problem, pair, journal=journal)
    else:
        yield state.best


@dataclass(frozen=True)
class _Plan:
    """How starts are made."""

    engine: Engine
    problem: Problem
    init: Init
    rngs: list[np.random.Generator]
    sampling: Sampling

    @cached_property
    def is_large(self) -> bool:
        """Whether starts are made on samples."""
        return side_to_sample(self.engine.n_stored, self.problem, self.sampling) is not None

    @cached_property
    def n_entries(self) -> int:
        """Entries that are not zero."""
        return self.engine.n_nonzero() if self.engine.n_stored >= min(_LEAST) else 0

    @property
    def is_thin(self) -> bool:
        """Whether starts are made from a thin view, in place of one-way starts."""
        how = self.engine.n_stored, self.problem, self.init, len(self.rngs), self.sampling
        return may_see_all(*how) and self.n_entries >= _LEAST[self.is_sparse]

    @property
    def is_sparse(self) -> bool:
        """Whether few cells are filled."""
        return self.n_entries <= _SPARSE * float(np.prod(self.engine.shape))

    @cached_property
    def is_costly(self) -> bool:
        """Whether an iteration takes more than sums of disjoint clusters do."""
        counts = [self.problem.counts(side) for side in self.problem.sides]
        return self.problem.needs_products or any(each.needs_distances for each in counts)

    @property
    def is_quick(self) -> bool:
        """Whether an iteration takes little time next to other methods for sparse data."""
        return not self.is_costly and self.is_sparse

    @property
    def recombines(self) -> bool:
        """Whether starts are recombined, in place of rounds that need no sample."""
        is_small = self.engine.n_stored <= self.sampling.largest_searched
        return is_small and self.is_thin and self.is_quick and can_recombine(self.problem)

    def make_starts(self, state: Ends, viewer: np.random.Generator, begin: Begin) -> Iterator[None]:
        """Run the starts that are needed; yield after each."""
        engine, problem, n_starts = self.engine, self.problem, len(self.rngs)
        data, view = engine.centred(problem.centring), None
        if self.is_thin and not state.is_ready:
            asked = engine.reads.asked
            view = thin_view(data, problem, viewer)
            if not state.n_starts:  # else it is known, and made again after an interruption
                state.work += engine.reads.asked - asked
        is_short = n_starts > 1 and (self.is_thin or self.is_large)
        tol = max(problem.tol, SHORT_TOL) if is_short else problem.tol
        rngs = self.rngs
        if self.is_thin:
            n_starts = int(np.ceil(_THIN_SHARE * n_starts))
            rngs = viewer.spawn(n_starts)

        def one_start(own: Engine, i: int) -> tuple[Solution, float]:
            asked = own.reads.asked
            if view is None:
                pair = self._plain_start(own, i)
            else:
                pair = thin_start(own, problem, view, i, rngs[i])
            found = solve(own.centred(problem.centring), replace(problem, tol=tol), pair)
            return found, own.reads.asked - asked

        while not state.is_ready and state.n_starts < n_starts and not state.is_settled:
            n_then = ENOUGH_ALIKE if state.n_starts < ENOUGH_ALIKE < n_starts else n_starts
            runs = engine.each(one_start, range(state.n_starts, n_then))
            while state.n_starts < n_then:
                begin()
                state.add_start(*next(runs))
                yield
        if is_short and not state.is_ready:
            begin()
            few = self.is_thin or self.is_sparse
            number = _CARRIED_ON[not self.is_thin] if few else n_starts
            rest = state.carry_on(data, problem, number)
            if self.recombines and not state.is_settled:
                state.recombine(data, problem, rest, self.n_entries, viewer.spawn(1)[0])
            yield

    def add_plain_starts(self, state: Ends, begin: Begin) -> Iterator[None]:
        """Make the plain starts too, if these are not much of the time; yield after each."""
        many = not self.is_sparse and self.engine.n_stored >= _MANY
        n_starts = len(self.rngs) if self.is_thin and (self.is_costly or many) else 0
        if state.is_settled:
            return

        def one_start(own: Engine, i: int) -> Solution:
            data = own.centred(self.problem.centring)
            return solve(data, self.problem, self._plain_start(own, i))

        runs = self.engine.each(one_start, range(state.n_plain, n_starts))
        while state.n_plain < n_starts:
            begin()
            state.starts = ranked([*state.starts, next(runs)])
            state.n_plain += 1
            yield

    def _plain_start(self, engine: Engine, i: int) -> Pair:
        kind = "random" if callable(self.init) and i % COSTLY_SHARE else self.init
        data = engine.centred(self.problem.centring)
        return make_start(engine, data, self.problem, kind, self.rngs[i], self.sampling)


def may_see_all(
    n_stored: int, problem: Problem, init: Init, n_init: int, sampling: Sampling = SAMPLING
) -> bool:
    """Whether starts may be made from a view, which has a line for each row and each column."""
    one_way = init == problem.objective.usual_start == "neo-kmeans" and len(problem.sides) == 2
    is_small = n_stored <= _LARGEST_SEEN * sampling.largest_searched
    is_large = not is_small and side_to_sample(n_stored, problem, sampling) is not None
    return one_way and n_init > 1 and n_stored >= min(_LEAST) and not is_large


def _cost(engine: Engine, problem: Problem) -> float:
    """Return what a question costs, about: entries are read, and items compared with clusters."""
    n_blocks = np.prod([problem.counts(side).n_clusters for side in problem.sides])
    return engine.n_stored + sum(engine.shape) * float(n_blocks) / _COMPARED


def n_budgeted_steps(init: Init, n_init: int) -> int:
    """Return the largest number of steps that `budgeted_search` yields."""
    return (1 if isinstance(init, tuple) else 2 * n_init) + N_STEPS + 2
