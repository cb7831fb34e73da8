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
    Sample,
    draw_sample,
    one_way_start,
    pressurised,
    promote,
    random_start,
    sampled_start,
    seeded_start,
)
from neocc.core.problem import Problem
from neocc.core.projections import sketched_start, spectral_start
from neocc.core.refine import rounds, settle
from neocc.core.solve import Report, Solution, centring, continued, solve
from neocc.kernels import Memberships

Pair: TypeAlias = tuple[Memberships | None, Memberships | None]
Init: TypeAlias = Literal["neo-kmeans", "random", "spectral", "sketch"] | Pair

# How `search` spends n_init starts: short runs per start, one in so many of them one-way; then
# stages of (share of n_init that is kept, rounds of refinement for each).
_SHORT_RUNS = 5
_CHOSEN_SHARE = 2
_SHORT_TOL = 1e-3
_STAGES = ((1.0, 10), (0.5, 20), (0.2, 20))
# Where so many runs agree on the lowest value, one stage that finds none lower ends the search.
_ENOUGH_ALIKE = 3
_SAME = 1e-9


def run_starts(
    engine: Engine,
    problem: Problem,
    init: Init,
    rngs: list[np.random.Generator],
    reports: Callable[[int], Report | None],
) -> Iterator[Solution]:
    """Solve the problem once per generator and yield each solution as it is found.

    `engine` holds the data as given; `reports(i)` supplies the progress report of start i.
    """
    data = engine.centred(centring(problem))
    for i, rng in enumerate(rngs):
        report = reports(i)
        sample = None if init != "neo-kmeans" else draw_sample(engine, data, problem, rng)
        if sample is None:
            U, V = _start(engine, data, problem, init, rng)
        else:
            U, V = sampled_start(sample, data, problem, rng)
        yield solve(data, problem, U, V, report)


def search(
    engine: Engine, problem: Problem, init: Init, n_init: int, rng: np.random.Generator
) -> Iterator[Solution | None]:
    """Search with the effort of `n_init` starts; yield the best solution so far after each step.

    None is yielded for steps on a sample, whose solutions are not solutions of the whole.
    """
    data = engine.centred(centring(problem))
    sample = None if isinstance(init, tuple) else draw_sample(engine, data, problem, rng)
    best: Solution | None = None
    if sample is None:
        for found in _tournament(Sample(engine, data, problem), init, n_init, rng):
            best = found
            yield best
    else:
        for on_sample in _tournament(sample, init, n_init, rng):
            best = on_sample
            yield None
        assert best is not None
        best = solve(data, problem, *promote(sample, best, data, problem))
        yield best
    assert best is not None
    yield settle(data, problem, best)


def n_search_steps(init: Init, n_init: int) -> int:
    """Return the largest number of steps that `search` yields."""
    n_init = 1 if isinstance(init, tuple) else n_init
    return _SHORT_RUNS * n_init + sum(_kept(share, n_init) for share, _ in _STAGES) + 3


def _tournament(
    where: Sample, init: Init, n_init: int, rng: np.random.Generator
) -> Iterator[Solution]:
    problem, data = where.problem, where.data
    short = replace(problem, tol=max(problem.tol, _SHORT_TOL))
    given = isinstance(init, tuple)
    n_init = 1 if given else n_init
    pool: list[Solution] = []
    for i in range(1 if given else _SHORT_RUNS * n_init):
        kind: Init = init if given or i % _CHOSEN_SHARE == 0 else "random"
        U, V = _start(where.engine, data, problem, kind, rng)
        if not given and problem.allows_outliers:
            U, V = pressurised(data, problem, U, V)
        pool = _ranked([*pool, solve(data, short, U, V)])[:n_init]
        yield pool[0]
    pool = _ranked([continued(each, solve(data, problem, each.U, each.V)) for each in pool])
    yield pool[0]
    agreed = not given and _agreed(pool)
    for share, n_rounds in _STAGES:
        if pool[0].objective <= pool[0].noise:
            break
        before = pool[0]
        pool = _distinct(pool)[: _kept(share, n_init)]
        for i, each in enumerate(pool):
            pool[i] = rounds(data, problem, each, n_rounds, rng)
            yield _ranked(pool)[0]
        pool = _ranked(pool)
        if agreed and pool[0] is before:
            break


def _agreed(pool: list[Solution]) -> bool:
    """Tell whether enough runs ended at the lowest value to believe that there is none lower."""
    return sum(_alike(pool[0], each) for each in pool) >= _ENOUGH_ALIKE


def _alike(best: Solution, other: Solution) -> bool:
    return other.objective <= best.objective * (1.0 + _SAME) + best.noise


def _distinct(pool: list[Solution]) -> list[Solution]:
    """Keep one of all solutions of equal objective; `pool` is ranked."""
    return [each for i, each in enumerate(pool) if i == 0 or not _alike(pool[i - 1], each)]


def _kept(share: float, n_init: int) -> int:
    return max(1, round(share * n_init))


def _ranked(pool: list[Solution]) -> list[Solution]:
    return sorted(pool, key=lambda solution: solution.objective)


def _start(
    engine: Engine, data: Engine, problem: Problem, init: Init, rng: np.random.Generator
) -> Pair:
    if isinstance(init, tuple):
        return init
    if init == "random":
        rows = None if problem.rows is None else random_start(problem.rows, rng)
        columns = None if problem.columns is None else random_start(problem.columns, rng)
        return rows, columns
    if init == "spectral":
        return spectral_start(data, problem, rng)
    if init == "sketch":
        return sketched_start(data, problem, rng)
    if problem.objective == "vectors":
        seeds = seeded_start(data, problem, rng)
        return (seeds, None) if problem.rows is not None else (None, seeds)
    return one_way_start(engine, problem, rng)
