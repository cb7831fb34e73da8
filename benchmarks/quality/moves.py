"""What each move of a search gains in the same time, on data of many kinds."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from rich.console import Console

from benchmarks.pages import Line
from benchmarks.quality.search import cases
from benchmarks.quality.starts import Case
from neocc.core.engine import Engine
from neocc.core.initialise import random_pair
from neocc.core.objectives import OBJECTIVES
from neocc.core.problem import Counts, Problem
from neocc.core.search.local import OneSide, attempt
from neocc.core.search.perturb import perturb
from neocc.core.search.starts import run_starts
from neocc.core.solve import Solution, solve
from neocc.engines import Workers, open_engine
from neocc.engines.reading import as_matrix
from neocc.kernels import get_kernels

_N_STARTS = 10
_EXACT = {"swap": "swaps", "chain": "chains", "probe": "probes"}

Move = Callable[[Solution, np.random.Generator], Solution]


def lines(n_seeds: int, console: Console) -> Iterator[Line]:
    """Repeat each kind of move for as long as ten plain starts take, from the best of these."""
    gains = []
    for case in cases():
        found = [_gains(case, np.random.default_rng(seed)) for seed in range(n_seeds)]
        if not gains:
            yield ["data", *found[0]]
        shares = [float(np.mean([each[name] for each in found])) for name in found[0]]
        best = max(shares)
        gains.append([share / best if best > 0.0 else 0.0 for share in shares])
        line = [case.name, *(_told(share, best) for share in shares)]
        console.print(" | ".join(line))
        yield line
    yield [
        "**mean share of the largest gain**",
        *(f"{mean:.2f}" for mean in np.mean(gains, axis=0)),
    ]


def _told(share: float, best: float) -> str:
    text = f"{100 * share:.3f} %"
    return f"**{text}**" if share == best > 0.0 else text


def _gains(case: Case, rng: np.random.Generator) -> dict[str, float]:
    """Return by what share of J each kind of move lowers the best of ten plain starts."""
    matrix, options = as_matrix(case.X, None), case.options
    counts = [
        Counts.from_fractions(
            n,
            options[f"n_{side}_clusters"],
            options.get(f"{side}_overlap", 0.0),
            options.get(f"{side}_outliers", 0.0),
        )
        for side, n in zip(("row", "column"), matrix.shape, strict=True)
    ]
    problem = Problem(OBJECTIVES[options.get("objective", "mean")], *counts)
    with Workers(1) as workers:
        engine = open_engine(matrix, get_kernels("numba", matrix.n_stored), workers)
        data = engine.centred(problem.centring)
        first = run_starts(engine, problem, "neo-kmeans", rng.spawn(1))
        next(iter(first))  # which may compile
        begin = time.process_time()
        starts = list(run_starts(engine, problem, "neo-kmeans", rng.spawn(_N_STARTS)))
        limit = time.process_time() - begin
        best = min(starts, key=lambda found: found.objective)
        found = {
            name: _repeated(move, best, limit, rng)
            for name, move in _moves(engine, data, problem).items()
        }
    return {name: max(0.0, 1.0 - value / best.objective) for name, value in found.items()}


def _repeated(move: Move, best: Solution, limit: float, rng: np.random.Generator) -> float:
    """Make moves of a kind from the lowest solution so far; return the objective of the last."""
    move(best, rng)  # which may compile
    begin = time.process_time()
    while time.process_time() - begin < limit:
        found = move(best, rng)
        best = min(best, found, key=lambda each: each.objective)
    return best.objective


def _moves(engine: Engine, data: Engine, problem: Problem) -> dict[str, Move]:
    """Return all kinds of moves by name."""

    def restart(_: Solution, rng: np.random.Generator) -> Solution:
        return next(iter(run_starts(engine, problem, "neo-kmeans", rng.spawn(1))))

    def random(_: Solution, rng: np.random.Generator) -> Solution:
        return solve(data, problem, random_pair(problem, rng))

    def perturbed(way: int, best: Solution, rng: np.random.Generator) -> Solution:
        return attempt(data, problem, perturb(data, problem, best, way, rng), best)

    def exact(kind: str, best: Solution, _: np.random.Generator) -> Solution:
        for side in reversed(problem.sides):
            best = getattr(OneSide(data, problem, side), kind)(best)
        return best

    ways = (
        "shake 10 %, 30 %",
        "shake 10 %, 10 %",
        "shake 3 %, 30 %",
        "move a row cluster",
        "move a column cluster",
    )
    return {
        "another start": restart,
        "a random start": random,
        **{name: partial(perturbed, way) for way, name in enumerate(ways)},
        **{name: partial(exact, kind) for kind, name in _EXACT.items()},
    }
