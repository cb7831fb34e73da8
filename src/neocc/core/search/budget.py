"""A search with a sense of time: plain starts, then rounds for as long as these pay.

The plain starts are those of a fit without a search, so that it does not end above them. What
follows costs little more than they do: short runs from random starts, then rounds that perturb one
of the best solutions and run the alternation again. These end earlier if another one is not
expected to gain, from how long gains have taken on these data. On large matrices all of that is
done with a sample. Work is counted in what is asked of the engine (`Reads.asked`), never in
seconds: the same seed gives the same result anywhere.

Some plain starts are spared. The others are not made if the first few end alike. Unless data are
small none is made: seeds that are compared with all items would take most of the time, and tell
little where rows share few columns. Short runs from a view of the data that all share
(`neocc.core.projections`) lead as far in less time, and the best of them are carried on. The same
is done with the starts of large matrices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from neocc.core.checkpoints import NO_JOURNAL, Journal
from neocc.core.engine import Engine
from neocc.core.problem import Problem
from neocc.core.projections import View, thin_start, thin_view
from neocc.core.samples import (
    SAMPLING,
    Sample,
    Sampling,
    draw_sample,
    extend_to_all,
    side_to_sample,
)
from neocc.core.search.local import SAME_BASIN, attempt, swapped
from neocc.core.search.pool import N_STEPS, SHORT_TOL, Pool, ranked
from neocc.core.search.starts import COSTLY_SHARE, Begin, Init, make_start
from neocc.core.solve import Solution, continued, improved, solve
from neocc.core.steps import Pair, assigned, with_side

__all__ = ["budgeted_search", "n_budgeted_steps"]

# Entries that are not zero of data that starts see through a view, at least; the same, of sparse
# ones.
_LEAST = (1 << 15, 1 << 16)
# Sparse data have no more than this share of all cells filled.
_SPARSE = 0.5
# Starts from a view that are made in place of each plain one.
_THIN_SHARE = 0.8
# Of short runs so many are carried on; the same, of large matrices that are sparse.
_CARRIED_ON = (2, 1)
# What may follow the plain starts, as a multiple of their work; the same, with a sample.
_MULTIPLE = 1.3
_ON_SAMPLE = 0.5
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
    state = _State.resumed(journal.found("search"), rng)

    def ended() -> bool:
        journal.note(search=state.noted(rng))
        return stopped()

    plan = _Plan(engine, problem, init, rngs, sampling)
    for _ in plan.make_starts(state, viewer, begin):
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
        share = _SHARES[plan.is_quick]
        limit = max(_PASSES * n_starts - state.work, share * state.work)
        n_new = 0 if plan.is_quick or state.is_settled else n_new // 2
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
        return side_to_sample(self.engine, self.problem, self.sampling) is not None

    @cached_property
    def n_entries(self) -> int:
        """Entries that are not zero."""
        return self.engine.n_nonzero() if self.engine.n_stored >= min(_LEAST) else 0

    @property
    def is_thin(self) -> bool:
        """Whether starts are made from a thin view, in place of one-way starts."""
        one_way = self.init == self.problem.objective.usual_start == "neo-kmeans"
        one_way = one_way and len(self.problem.sides) == 2 and len(self.rngs) > 1
        return one_way and not self.is_large and self.n_entries >= _LEAST[self.is_sparse]

    @property
    def is_sparse(self) -> bool:
        """Whether few cells are filled."""
        return self.n_entries <= _SPARSE * float(np.prod(self.engine.shape))

    @property
    def is_quick(self) -> bool:
        """Whether an iteration takes little time next to other methods for sparse data."""
        problem = self.problem
        counts = [problem.counts(side) for side in problem.sides]
        costly = problem.needs_products or any(each.needs_distances for each in counts)
        return not costly and self.is_sparse

    def make_starts(
        self, state: _State, viewer: np.random.Generator, begin: Begin
    ) -> Iterator[None]:
        """Run the starts that are needed; yield after each."""
        engine, problem, n_starts = self.engine, self.problem, len(self.rngs)
        data, view = engine.centred(problem.centring), None
        if self.is_thin and not state.is_ready:
            asked = engine.reads.asked
            view = thin_view(data, problem, viewer)
            if not state.n_starts:  # else it is known, and made again after an interruption
                state.work += engine.reads.asked - asked
        is_short, tol = n_starts > 1 and (self.is_thin or self.is_large), problem.tol
        if self.is_thin:
            n_starts = int(np.ceil(_THIN_SHARE * n_starts))
        if is_short:
            tol = max(tol, SHORT_TOL)

        def one_start(own: Engine, i: int) -> tuple[Solution, float]:
            asked = own.reads.asked
            pair = self._start(own, i, view)
            found = solve(own.centred(problem.centring), replace(problem, tol=tol), pair)
            return found, own.reads.asked - asked

        while state.n_starts < n_starts and not state.is_settled:
            n_then = _ENOUGH_ALIKE if state.n_starts < _ENOUGH_ALIKE < n_starts else n_starts
            runs = engine.each(one_start, range(state.n_starts, n_then))
            while state.n_starts < n_then:
                begin()
                state.add_start(*next(runs))
                yield
        if is_short and not state.is_ready:
            begin()
            few = self.is_thin or self.is_sparse
            number = _CARRIED_ON[self.is_large] if few else n_starts
            state.carry_on(data, problem, number)
            yield

    def _start(self, engine: Engine, i: int, view: View | None) -> Pair:
        if view is not None:
            return thin_start(engine, self.problem, view, i, self.rngs[i])
        kind = "random" if callable(self.init) and i % COSTLY_SHARE else self.init
        data = engine.centred(self.problem.centring)
        return make_start(engine, data, self.problem, kind, self.rngs[i], self.sampling)


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

    n_starts: int = 0  # starts made
    n_alike: int = 0  # that ended where the best did
    is_settled: bool = False  # no further one is needed
    is_ready: bool = False  # the best of short runs have converged
    work: float = 0.0  # that all of it took
    starts: list[Solution] = field(default_factory=list)  # where they ended, ranked

    @property
    def best(self) -> Solution:
        return self.starts[0]

    def add_start(self, found: Solution, work: float) -> None:
        self.starts = ranked([*self.starts, found])
        self.n_starts += 1
        self.work += work
        best = self.best.objective
        near = best + SAME_BASIN * abs(best)
        self.n_alike = sum(each.objective <= near for each in self.starts)
        self.is_settled = self.n_starts == self.n_alike == _ENOUGH_ALIKE

    def carry_on(self, data: Engine, problem: Problem, number: int) -> None:
        """Let the best of short runs converge, and the next ones if they may end lower."""
        asked, (best, *others) = data.reads.asked, self.starts[:number]
        best = continued(data, problem, best)
        ends = [improved(each, attempt(data, problem, each.pair, best)) for each in others]
        self.starts, self.is_ready = ranked([best, *ends]), True
        self.work += data.reads.asked - asked

    def make_rounds(
        self, where: Sample, limit: float, rng: np.random.Generator, n_new: int = 0
    ) -> None:
        """Make rounds that begin with where the starts ended, or lead on a sample."""
        if not self.pool:
            asked = where.data.reads.asked
            self.pool = self.starts if where.items is None else self._on_sample(where)
            # Starts that agree are rounds that gained nothing.
            few = self.is_settled or self.is_ready
            self.waited = (self.n_alike - 1) * (_ALL_AGREED if few else _AGREED)
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
