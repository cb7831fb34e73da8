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

from neocc.core.disturb import Luck
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
    seeded_start,
)
from neocc.core.lowrank.coclusters import sdp_start
from neocc.core.problem import Problem
from neocc.core.projections import sketched_start, spectral_start
from neocc.core.refine import SAME_BASIN, rounds, settle
from neocc.core.solve import Report, Solution, centring, continued, solve
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
# A search makes many runs; the sample it makes them on is that much of a start's.
_SEARCH_SHARE = 0.5
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
) -> Iterator[Solution]:
    """Solve the problem once per generator and yield each solution as it is found.

    `engine` holds the data as given; `begin` is called before each start, `report` after every
    iteration. The first one-way start begins with the `known` clusters.
    """
    data = engine.centred(centring(problem))
    for rng in rngs:
        begin()
        sample = draw_sample(engine, data, problem, rng) if init == "neo-kmeans" else None
        if sample is None:
            start = _start(engine, data, problem, init, rng, known)
        else:
            start = sampled_start(sample, data, problem, rng)
        known = NOTHING_KNOWN
        yield solve(data, problem, *start, report)


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
) -> Iterator[Solution | None]:
    """Search with the effort of `n_init` starts; yield the best solution so far after each step.

    None is yielded for steps on a sample, whose solutions are not solutions of the whole. A search
    that is stopped or interrupted there still yields one: all rows join the best clusters so far.
    `begin` is called before each step. The first one-way start begins with the `known` clusters,
    unless it is made on a sample.
    """
    data = engine.centred(centring(problem))
    sample = (
        None
        if isinstance(init, tuple)
        else draw_sample(engine, data, problem, rng, share=_SEARCH_SHARE)
    )
    if sample is None:
        whole = Sample(engine, data, problem)
        yield from _refined(whole, init, n_init, rng, begin, stopped, known)
        return
    best: Solution | None = None
    try:
        for on_sample in _refined(sample, init, n_init, rng, begin, stopped, NOTHING_KNOWN):
            best = on_sample
            yield None
    except KeyboardInterrupt:
        if best is not None:
            as_is = replace(problem, max_iter=0)
            yield solve(data, as_is, *promote(sample, best, data, problem))
        raise
    assert best is not None
    begin()
    yield solve(data, problem, *promote(sample, best, data, problem))


def _refined(
    where: Sample,
    init: Init,
    n_init: int,
    rng: np.random.Generator,
    begin: Begin,
    stopped: Callable[[], bool],
    known: Known,
) -> Iterator[Solution]:
    """Play the tournament and settle its winner; yield the best so far after each step."""
    best: Solution | None = None
    for found in _tournament(where, init, n_init, rng, begin, known):
        best = found
        yield best
        if stopped():
            return
    assert best is not None
    begin()
    yield settle(where.data, where.problem, best)


def n_search_steps(init: Init, n_init: int) -> int:
    """Return the largest number of steps that `search` yields."""
    n_init = 1 if isinstance(init, tuple) else n_init
    return _SHORT_RUNS * n_init + sum(_kept(share, n_init) for share, _ in _STAGES) + 3


def _tournament(
    where: Sample,
    init: Init,
    n_init: int,
    rng: np.random.Generator,
    begin: Begin,
    known: Known,
) -> Iterator[Solution]:
    problem, data = where.problem, where.data
    short = replace(problem, tol=max(problem.tol, _SHORT_TOL))
    given = isinstance(init, tuple)
    n_init = 1 if given else n_init
    pool: list[Solution] = []
    every = _SDP_SHARE if init == "sdp" else _CHOSEN_SHARE
    for i in range(1 if given else _SHORT_RUNS * n_init):
        begin()
        kind: Init = init if given or i % every == 0 else "random"
        U, V = _start(where.engine, data, problem, kind, rng, known if i == 0 else NOTHING_KNOWN)
        found = _short_run(data, short, U, V, pressure=not given)
        pool = _ranked([*pool, found])[:n_init]
        yield pool[0]
    begin()
    pool = _ranked([continued(each, solve(data, problem, each.U, each.V)) for each in pool])
    yield pool[0]
    agreed = not given and _agreed(pool)
    luck = Luck()
    for share, patience in _STAGES:
        if pool[0].objective <= pool[0].noise:
            break
        before = pool[0]
        pool = _distinct(pool)[: _kept(share, n_init)]
        for i, each in enumerate(pool):
            begin()
            pool[i] = rounds(data, problem, each, patience, rng, luck)
            yield _ranked(pool)[0]
        pool = _ranked(pool)
        if agreed and pool[0] is before:
            break


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
