"""Several starts of one problem, from first to last of them reproducible from a single seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias

import numpy as np

from neocc.core.engine import Engine
from neocc.core.initialise import one_way_start, random_start, sampled_start, seeded_start
from neocc.core.problem import Problem
from neocc.core.solve import Report, Solution, centring, solve
from neocc.kernels import Memberships

Pair: TypeAlias = tuple[Memberships | None, Memberships | None]
Init: TypeAlias = Literal["neo-kmeans", "random"] | Pair


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
        U, V = _start(engine, data, problem, init, rng)
        yield solve(data, problem, U, V, reports(i))


def _start(
    engine: Engine, data: Engine, problem: Problem, init: Init, rng: np.random.Generator
) -> Pair:
    if isinstance(init, tuple):
        return init
    if init == "random":
        rows = None if problem.rows is None else random_start(problem.rows, rng)
        columns = None if problem.columns is None else random_start(problem.columns, rng)
        return rows, columns
    if problem.objective == "vectors":
        seeds = seeded_start(data, problem, rng)
        return (seeds, None) if problem.rows is not None else (None, seeds)
    return sampled_start(engine, data, problem, rng) or one_way_start(engine, problem, rng)
