"""From several starts to one solution, reproducible from a single generator.

`run_starts` carries every start to convergence. `search` spends the same number of starts better:
many short runs, of which the best few are refined, of which the best is carried to convergence. On
large matrices the search runs on a sample of the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np

from neocc.core.engine import Engine
from neocc.core.initialise import (
    NOTHING_KNOWN,
    Known,
    Sample,
    draw_sample,
    one_way_start,
    pressurised,
    promote,
    random_start,
    sampled_start,
    searched_sample,
    seeded_start,
)
from neocc.core.keeping import NOT_KEPT, Keeper
from neocc.core.lowrank.coclusters import sdp_start
from neocc.core.problem import Problem
from neocc.core.projections import sketched_start, spectral_start
from neocc.core.refine import SAME_BASIN, rounds, settle
from neocc.core.solve import Report, Solution, centring, continued, solve
from neocc.core.tournament import SHORT_STAGE, Tournament
from neocc.kernels import Memberships

Pair: TypeAlias = tuple[Memberships | None, Memberships | None]
Init: TypeAlias = Literal["neo-kmeans", "random", "spectral", "sketch", "sdp"] | Pair

# Starts that look at both sides at once.
_VIEWS = {"spectral": spectral_start, "sketch": sketched_start, "sdp": sdp_start}
# How `search` spends n_init starts: short runs per start, one in so many of them one-way; then
# stages of (share of n_init that is kept, patience of the rounds of each).
_SHORT_RUNS = 5
_CHOSEN_SHARE = 2
# Semidefinite starts take as long as hundreds of others, and hardly differ among themselves.
_SDP_SHARE = 50
_SHORT_TOL = 1e-3
# How patient the rounds on all rows are that follow a search on a sample.
_LAST_PATIENCE = 6
_STAGES = ((1.0, 3), (0.5, 8), (0.3, 12))
# Where so many runs agree on the lowest value, one stage that finds none lower ends the search.
_ENOUGH_ALIKE = 3
_SAME = 1e-9


Begin: TypeAlias = Callable[[], None]


def _silently() -> None:
    """Begin a step without telling anyone."""


def run_starts(
    engine: Engine,
    problem: Problem,
    init: Init,
    rngs: list[np.random.Generator],
    report: Report | None = None,
    *,
    begin: Begin = _silently,
    known: Known = NOTHING_KNOWN,
    keeper: Keeper = NOT_KEPT,
) -> Iterator[Solution]:
    """Solve the problem once per generator and yield each solution as it is found.

    `engine` holds the data as given; `begin` is called before each start, `report` after every
    iteration. The first one-way start begins with the `known` clusters. Starts that `keeper` knows
    to be done are not made again.
    """
    data = engine.centred(centring(problem))
    n_done = keeper.found("n_starts") or 0
    for i, rng in enumerate(rngs[n_done:], start=n_done):
        begin()
        start: Pair = (None, None)
        if keeper.found("run") is None:
            sample = draw_sample(engine, data, problem, rng) if init == "neo-kmeans" else None
            if sample is None:
                known = known if i == 0 else NOTHING_KNOWN
                start = _start(engine, data, problem, init, rng, known)
            else:
                start = sampled_start(sample, data, problem, rng)
        found = solve(data, problem, *start, report, keeper)
        keeper.hold(run=None)
        yield found
        keeper.note(n_starts=i + 1)


def search(
    engine: Engine,
    problem: Problem,
    init: Init,
    n_init: int,
    rng: np.random.Generator,
    *,
    begin: Begin = _silently,
    stopped: Callable[[], bool] = lambda: False,
    known: Known = NOTHING_KNOWN,
    keeper: Keeper = NOT_KEPT,
) -> Iterator[Solution | None]:
    """Search with the effort of `n_init` starts; yield the best solution so far after each step.

    None is yielded for steps on a sample, whose solutions are not solutions of the whole. A search
    that is stopped or interrupted there still yields one: all rows join the best clusters so far.
    `begin` is called before each step. The first one-way start begins with the `known` clusters,
    unless it is made on a sample. Steps that `keeper` knows to be done are not made again.
    """
    data = engine.centred(centring(problem))
    # Of its own, for a search that goes on where it was interrupted.
    (later,) = rng.spawn(1)
    sample = None if isinstance(init, tuple) else searched_sample(engine, data, problem, rng)
    if sample is None:
        whole = Sample(engine, data, problem)
        yield from _refined(whole, init, n_init, rng, begin, stopped, known, keeper)
        return
    best: Solution | None = None
    try:
        steps = _refined(sample, init, n_init, rng, begin, stopped, NOTHING_KNOWN, keeper)
        for on_sample in steps:
            best = on_sample
            yield None
    except KeyboardInterrupt:
        if best is not None:
            as_is = replace(problem, max_iter=0)
            yield solve(data, as_is, *promote(sample, best, data, problem))
        raise
    assert best is not None
    begin()
    start: Pair = (None, None)
    if keeper.found("run") is None:
        start = promote(sample, best, data, problem)
    found = solve(data, problem, *start, keeper=keeper)
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
    known: Known,
    keeper: Keeper,
) -> Iterator[Solution]:
    """Play the tournament and settle its winner; yield the best so far after each step."""
    best: Solution | None = keeper.found("settled")
    if best is not None:
        yield best
        return
    if keeper.found("tournament") is not None:
        # All its steps may be done already.
        best = _ranked(keeper.found("tournament")["pool"])[0]
    for found in _tournament(where, init, n_init, rng, begin, known, keeper):
        best = found
        yield best
        if stopped():
            return
    assert best is not None
    begin()
    best = settle(where.data, where.problem, best)
    yield best
    keeper.note(settled=best, tournament=None)


def n_search_steps(init: Init, n_init: int) -> int:
    """Return the largest number of steps that `search` yields."""
    n_init = 1 if isinstance(init, tuple) else n_init
    return _SHORT_RUNS * n_init + sum(_kept(share, n_init) for share, _ in _STAGES) + 4


def _tournament(
    where: Sample,
    init: Init,
    n_init: int,
    rng: np.random.Generator,
    begin: Begin,
    known: Known,
    keeper: Keeper,
) -> Iterator[Solution]:
    problem, data = where.problem, where.data
    state = Tournament.resumed(keeper, rng) or Tournament()
    short = replace(problem, tol=max(problem.tol, _SHORT_TOL))
    given = isinstance(init, tuple)
    n_init = 1 if given else n_init
    every = _SDP_SHARE if init == "sdp" else _CHOSEN_SHARE
    while state.stage == SHORT_STAGE and state.index < (1 if given else _SHORT_RUNS * n_init):
        begin()
        kind: Init = init if given or state.index % every == 0 else "random"
        first = known if state.index == 0 else NOTHING_KNOWN
        U, V = _start(where.engine, data, problem, kind, rng, first)
        found = _short_run(data, short, U, V, pressure=not given)
        state.pool = _ranked([*state.pool, found])[:n_init]
        state.index += 1
        yield state.pool[0]
        keeper.note(tournament=state.noted(rng))
    if state.stage == SHORT_STAGE:
        begin()
        longer = [continued(data, problem, each) for each in state.pool]
        state.pool = _ranked(longer)
        state.agreed = not given and _agreed(state.pool)
        state.enter(0)
        yield state.pool[0]
        keeper.note(tournament=state.noted(rng))
    while state.stage < len(_STAGES):
        share, n_rounds = _STAGES[state.stage]
        if state.index == 0:
            if state.pool[0].objective <= state.pool[0].noise:
                break
            state.pool = _distinct(state.pool)[: _kept(share, n_init)]
            state.is_led_as_before = True
        i = state.index
        if i < len(state.pool):
            begin()
            found = rounds(data, problem, state.pool[i], n_rounds, rng, state.luck)
            state.is_led_as_before &= i > 0 or found is state.pool[i]
            state.pool = [*state.pool[:i], found, *state.pool[i + 1 :]]
            state.index += 1
            yield _ranked(state.pool)[0]
            keeper.note(tournament=state.noted(rng))
            continue
        leader = state.pool[0]
        state.pool = _ranked(state.pool)
        if state.agreed and state.is_led_as_before and state.pool[0] is leader:
            break
        state.enter(state.stage + 1)


def _short_run(
    data: Engine, short: Problem, U: Memberships | None, V: Memberships | None, *, pressure: bool
) -> Solution:
    if not (pressure and short.allows_outliers):
        return solve(data, short, U, V)
    start = solve(data, replace(short, max_iter=0), U, V)
    found = solve(data, short, *pressurised(data, short, U, V))
    if start.objective >= found.history[0]:
        found = replace(found, history=np.append(start.history, found.history))
    return found


def _agreed(pool: list[Solution]) -> bool:
    """Tell whether enough runs ended at the lowest value to believe that there is none lower."""
    return sum(_alike(pool[0], each) for each in pool) >= _ENOUGH_ALIKE


def _alike(best: Solution, other: Solution, within: float = _SAME) -> bool:
    return other.objective <= best.objective * (1.0 + within) + best.noise


def _distinct(pool: list[Solution]) -> list[Solution]:
    """Keep the best solution of every basin; `pool` is ranked."""
    kept = pool[:1]
    for each in pool[1:]:
        if not _alike(kept[-1], each, SAME_BASIN):
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


def _start(
    engine: Engine,
    data: Engine,
    problem: Problem,
    init: Init,
    rng: np.random.Generator,
    known: Known,
) -> Pair:
    if isinstance(init, tuple):
        return init
    if init == "random":
        rows = None if problem.rows is None else random_start(problem.rows, rng)
        columns = None if problem.columns is None else random_start(problem.columns, rng)
        return rows, columns
    if init in _VIEWS:
        return _VIEWS[init](data, problem, rng)
    if problem.objective == "vectors":
        seeds = seeded_start(data, problem, rng)
        return (seeds, None) if problem.rows is not None else (None, seeds)
    return one_way_start(engine, problem, rng, known)
