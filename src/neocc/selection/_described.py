"""How many clusters of one side it takes to tell the clusters of the other apart.

Clusters of columns are the words in which rows are described: with too few, rows that differ look
alike. Rows lead, unless they have no clusters, or only the number of column clusters is given. The
other side gets the smallest number with which the leading clusters, found by a fit of both sides,
explain as much of the data in full as they do with many.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from neocc.core.engine import Engine
from neocc.core.objectives import Side
from neocc.core.problem import Problem
from neocc.core.search import run_starts
from neocc.core.solve import Solution, solve
from neocc.core.steps import make_features, with_side
from neocc.kernels import Memberships
from neocc.selection._curves import SIDES, holds_out_cells, with_clusters
from neocc.selection._grid import merged
from neocc.selection._predicted import SidePrediction

__all__ = ["with_enough"]

_MOST = 16
_ENOUGH = 0.99
_TOL = 1e-3


def with_enough(
    engine: Engine,
    problem: Problem,
    found: tuple[SidePrediction, SidePrediction],
    rng: np.random.Generator,
    n_init: int,
    given: tuple[bool, bool],
) -> tuple[SidePrediction, SidePrediction]:
    """Return what was found, with more clusters on the side that does not lead if it needs them.

    A side whose number was `given` keeps it. Offsets of single items, as "residue" has, tell items
    apart however few clusters there are. Where cells are held out, a side that shows no structure
    by itself gets as many as the leading one.
    """
    lead = _leading(found, given)
    other, number = 1 - lead, found[lead].number
    most = min(_MOST, found[other].n_items)
    if number == 1 or given[other] or problem.objective.per_item:
        return found
    least = found[other].number
    if holds_out_cells(problem.objective):
        # Noise would ask for more and more of them.
        wanted = min(number, most) if least == 1 else least
    else:
        problem = with_clusters(problem, SIDES[lead], number)
        wanted = _enough(engine, problem, SIDES[lead], SIDES[other], least, most, rng, n_init)
    return _with(found, other, replace(found[other], wanted=max(wanted, least)))


def as_many(
    found: tuple[SidePrediction, SidePrediction], given: tuple[bool, bool]
) -> tuple[SidePrediction, SidePrediction]:
    """Return what was found, with as many clusters on both sides as the leading one has."""
    lead = _leading(found, given)
    other = found[1 - lead]
    number = min(found[lead].number, other.n_items)
    found = _with(found, lead, replace(found[lead], number=number))
    return _with(found, 1 - lead, replace(other, wanted=number, paired=True))


def _leading(found: tuple[SidePrediction, SidePrediction], given: tuple[bool, bool]) -> int:
    return int(found[0].number == 1 or (given[1] and not given[0]))


def _with(
    found: tuple[SidePrediction, SidePrediction], at: int, side: SidePrediction
) -> tuple[SidePrediction, SidePrediction]:
    return (found[0], side) if at else (side, found[1])


def _enough(
    engine: Engine,
    problem: Problem,
    lead: Side,
    other: Side,
    least: int,
    most: int,
    rng: np.random.Generator,
    n_init: int,
) -> int:
    """Merge clusters of the other side while those of the leading one explain enough."""
    data, problem = engine.centred(problem.centring), replace(problem, tol=_TOL)
    many = with_clusters(problem, other, most)
    runs = run_starts(engine, many, "neo-kmeans", rng.spawn(n_init))
    found = min(runs, key=lambda run: run.objective)
    needed, number = _ENOUGH * _explained(engine, many, lead, found), most

    def with_fewer(number: int) -> Solution | None:
        fewer = with_clusters(problem, other, number)
        solution = solve(data, fewer, merged(data, fewer, found))
        return solution if _explained(engine, fewer, lead, solution) >= needed else None

    if with_fewer(least) is not None:
        return least
    while number > least and (solution := with_fewer(number - 1)) is not None:
        found, number = solution, number - 1
    return number


def _explained(engine: Engine, problem: Problem, side: Side, found: Solution) -> float:
    """Return the squares that the clusters of one side alone explain, of those inside them."""
    alone = problem.one_way(side, problem.max_iter)
    data, members = engine.centred(alone.centring), found.pair[SIDES.index(side)]
    assert members is not None
    at_once = np.where(members.numbers > 0, 0, -1).astype(np.int32)
    costs = []
    for each in (members, Memberships.from_labels(at_once, 1)):
        pair = with_side((None, None), side, alone.weighted(side, each))
        costs.append(alone.objective.value(make_features(data, alone, pair), *pair))
    return costs[1] - costs[0]
