"""A contest of starts: on sparse data one-way starts have to show that they are worth their time.

They take most of it there, for every seed is compared with all items, and tell little where rows
share few columns. So a spectral start and a few random ones compete with the first of them. If that
ends well above these, further ones are not expected to win either; if it ends where these do, there
is little left to find. Where a spectral start begins far above its end, the data have no blocks
that it sees, and there is no contest.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from neocc.core.engine import Engine
from neocc.core.problem import Problem
from neocc.core.samples import Sampling, side_to_sample
from neocc.core.search.local import SAME_BASIN, attempt
from neocc.core.search.pool import LOOSE, ranked
from neocc.core.search.starts import Init, make_start
from neocc.core.solve import Solution, solve

__all__ = ["ENOUGH", "RIVALS", "is_contested", "is_decided", "run_rivals"]

RIVALS: tuple[Init, ...] = ("spectral", "random", "random", "random")
"""The starts that compete with a one-way start."""

ENOUGH = 3
"""So many one-way starts are enough if none of them has won."""

# Numbers of entries that are not zero, at least, and their share of all cells, at most.
_LEAST_ENTRIES = 1 << 16
_SPARSE = 0.25
# A start has lost if it ends this share above the best of its rivals.
_BEHIND = 5e-3
# A spectral start that sees blocks begins at most this share above where it ends.
_NEAR = 1e-2


def is_contested(engine: Engine, problem: Problem, init: Init, sampling: Sampling) -> bool:
    """Whether other starts compete with one-way ones: on sparse data, if these need no sample."""
    one_way = init == problem.objective.usual_start == "neo-kmeans" and len(problem.sides) == 2
    if not one_way or engine.n_stored < _LEAST_ENTRIES:
        return False
    if side_to_sample(engine, problem, sampling) is not None:
        return False
    return _LEAST_ENTRIES <= engine.n_nonzero() <= _SPARSE * float(np.prod(engine.shape))


def run_rivals(
    engine: Engine, problem: Problem, rngs: Sequence[np.random.Generator]
) -> list[Solution]:
    """Run starts, ranked by where they end; those that are clearly behind are abandoned.

    If the first, the spectral one, begins far above its end, it is the only one.
    """
    data, found = engine.centred(problem.centring), list[Solution]()
    for kind, rng in zip(RIVALS, rngs, strict=True):
        pair = make_start(engine, data, problem, kind, rng)
        if found:
            found = ranked([*found, attempt(data, problem, pair, found[0], LOOSE)])
            continue
        found = [solve(data, problem, pair)]
        end = found[0].objective
        if found[0].history[0] > end + _NEAR * abs(end):
            break
    return found


def is_decided(rival: Solution, best: Solution, last: Solution, n_starts: int) -> bool:
    """Whether no further one-way start is needed, from the best rival, the best and the last start.

    None may have ended below the rival. One that ends well above it, or in the same place, is
    enough; otherwise a few are.
    """
    scale, gap = abs(rival.objective), last.objective - rival.objective
    if best.objective < rival.objective - SAME_BASIN * scale:
        return False
    return abs(gap) <= SAME_BASIN * scale or gap > _BEHIND * scale or n_starts >= ENOUGH
