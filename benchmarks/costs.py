"""An iteration of "poisson" and one over observed cells, against one of "mean".

Part of `python -m benchmarks iterations`. All sum the same entries, in one process, on one thread,
and take turns; the best processor time of all turns counts. "mean" has a pass over sums alone,
"poisson" adds margins and logarithms of rates, observed cells are summed and counted. Sums without
rounding are updated from what changed: of whole numbers, and of ratings of which the effects of
rows and columns are removed, as in fits that predict.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from benchmarks import data
from benchmarks.iterations import FEW, in_words, interleaved, judged, long_run
from benchmarks.pages import Line
from neocc.core.biases import find_biases
from neocc.core.engine import Engine
from neocc.core.objectives import Objective, make_objective
from neocc.core.overlap import bounded_model
from neocc.core.problem import Counts, Problem
from neocc.core.solve import Solution, solve
from neocc.core.steps import Pair
from neocc.engines import Workers, open_engine
from neocc.engines.observed import ObservedMatrix, read_observed
from neocc.engines.reading import as_matrix
from neocc.kernels import get_kernels

_REST = "observed, effects removed"
GOALS = {"poisson": 2.0, "observed": 2.5, _REST: 2.5}
KINDS = (("repeat", 0.0), ("repeat", 0.2), ("share", 0.2))


def _without_effects(X: Any) -> ObservedMatrix:
    """Return the observed cells, without what the estimator removes from them."""
    matrix = read_observed(X)
    with Workers(1) as workers:
        found = find_biases(open_engine(matrix, get_kernels("numba", 0), workers))
    return matrix.without(found.mean + found.rows, found.columns)


# What each objective is, and how it reads a matrix.
_OBSERVED = make_objective("mean", missing="ignore", shrinkage=10.0)
_OBJECTIVES = {
    "mean": (make_objective("mean"), as_matrix),
    "poisson": (make_objective("poisson"), as_matrix),
    "observed": (_OBSERVED, read_observed),
    _REST: (_OBSERVED, _without_effects),
}


@dataclass(frozen=True)
class Case:
    """A matrix, if it is there, and the number of clusters on each side."""

    name: str
    make: Callable[[], Any]
    n_clusters: int


CASES = (
    Case("MovieLens 1M, 10 x 10", data.movielens_1m, 10),
    Case("10 million entries, 20 x 20", data.planted, 20),
)


def lines(repeats: int, cases: tuple[Case, ...] = CASES) -> Iterator[Line]:
    """Measure all cases, without overlap and with it."""
    header = ["matrix, clusters", "overlap", "overlap model", *_OBJECTIVES]
    yield [*header, *(f"{name} / mean, goal" for name in GOALS)]
    for case in cases:
        X = case.make()
        if X is None:
            continue
        for model, overlap in KINDS:
            times = iteration_times(X, case.n_clusters, model, overlap, repeats)
            line = [case.name, f"{overlap:g}", model, *map(in_words, times.values())]
            for name, goal in GOALS.items():
                ratio = times[name] / times["mean"]
                line.append(f"{ratio:.2f}, {judged(ratio, goal)}")
            yield line


def iteration_times(
    X: Any, n_clusters: int, model: str, overlap: float, repeats: int
) -> dict[str, float]:
    """Return the seconds of an iteration of each objective."""
    counts = tuple(Counts.from_fractions(size, n_clusters, overlap, 0.0) for size in X.shape)
    kernels = get_kernels("numba", 0)
    calls, numbers = [], []
    with Workers(1) as workers:
        for objective, read in _OBJECTIVES.values():
            engine = open_engine(read(X), kernels, workers)
            run = partial(_run, engine, objective, counts, model)
            pair, many = long_run(counts, run)
            calls += [partial(run, pair, FEW), partial(run, pair, many)]
            numbers.append(many - FEW)
        found = interleaved(*calls, repeats=repeats, clock=time.process_time)
    times = zip(found[::2], found[1::2], numbers, strict=True)
    seconds = [(long - short) / n for short, long, n in times]
    return dict(zip(_OBJECTIVES, seconds, strict=True))


def _run(
    engine: Engine,
    objective: Objective,
    counts: tuple[Counts, ...],
    model: str,
    pair: Pair,
    n_iter: int,
) -> Solution:
    rule = bounded_model(model, None, objective.kind)
    problem = Problem(objective, *counts, max_iter=n_iter, tol=0.0, overlap_model=rule)
    return solve(engine.centred(problem.centring), problem, pair)
