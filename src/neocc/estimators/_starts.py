"""Plain starts that something else carries on from: chains of moves, or a rising pressure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from neocc.core.problem import Problem
from neocc.core.restarts import Init, run_starts
from neocc.core.solve import Solution, centring
from neocc.engines import AnyEngine
from neocc.estimators._progress import Progress

Finish = Callable[[AnyEngine, Solution], Solution]
"""Carries a solution on, given the data centred for its problem."""


def finished_starts(
    estimator: Any,
    engine: AnyEngine,
    problem: Problem,
    init: Init,
    rng: np.random.Generator,
    finish: Finish,
) -> Iterator[Solution]:
    """Run the starts of an estimator and yield what `finish` makes of each: one step of progress.

    Given memberships leave nothing to chance, and are run once.
    """
    n_starts = 1 if isinstance(init, tuple) else estimator.n_init
    progress = Progress(estimator, "start", n_starts, problem.max_iter, estimator.verbose)
    data = engine.centred(centring(problem))
    starts = run_starts(
        engine, problem, init, rng.spawn(n_starts), progress.iteration, begin=progress.begin
    )
    yield from progress.around(finish(data, each) for each in starts)
    progress.end()
