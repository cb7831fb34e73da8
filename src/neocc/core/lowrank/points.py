"""NEO-K-Means through its relaxation: solve it, round the result, refine what was rounded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from neocc.core.engine import Engine
from neocc.core.lowrank.multipliers import Relaxed, Solver, relax
from neocc.core.lowrank.relaxation import Relaxation, average, check_size, point_of
from neocc.core.lowrank.rounding import round_clusters, round_counts
from neocc.core.lowrank.sides import of_points
from neocc.core.problem import Problem
from neocc.core.refine import settle
from neocc.core.solve import Report, Solution, solve
from neocc.kernels import Memberships

Rounding: TypeAlias = Literal["clusters", "counts"]

_ROUNDINGS: dict[Rounding, Callable[[Relaxed, Relaxation], Memberships]] = {
    "clusters": round_clusters,
    "counts": lambda relaxed, relaxation: round_counts(relaxed, relaxation.counts),
}


@dataclass(frozen=True)
class RoundedSolution(Solution):
    """A solution together with the relaxed point that it was rounded from."""

    relaxed: Relaxed


def solve_relaxed(
    data: Engine,
    problem: Problem,
    starts: Sequence[Memberships],
    *,
    solver: Solver,
    rounding: Rounding,
    refine: bool,
    max_iter: int,
    tol: float,
    report: Report | None = None,
) -> RoundedSolution:
    """Minimise a one-way problem over the rows of `data` from the average of feasible memberships.

    Each of `starts` adds as many columns to Y as there are clusters. `max_iter` and `tol` are those
    of the relaxation; refinement has the problem's own.
    """
    assert problem.rows is not None
    check_size(problem.rows, len(starts) * problem.rows.n_clusters, "rows")
    relaxation = of_points(data, problem.rows)
    start = average([point_of(U) for U in starts])
    relaxed = relax(relaxation, start, solver=solver, max_iter=max_iter, tol=tol, report=report)
    members = _ROUNDINGS[rounding](relaxed, relaxation)
    if refine:
        found = settle(data, problem, solve(data, problem, members, None))
    else:
        found = solve(data, replace(problem, max_iter=0), members, None)
    return RoundedSolution(**vars(found), relaxed=relaxed)
