"""The method of multipliers: minimise an augmented Lagrangian, move its multipliers, repeat."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from neocc.core.solve import Report
from neocc.rivals.lowrank.lagrangians import FullLagrangian, Lagrangian, SplitLagrangian
from neocc.rivals.lowrank.relaxation import Point, Relaxation

Solver: TypeAlias = Literal["admm", "alm"]

HISTORY = np.dtype([("objective", np.float64), ("infeasibility", np.float64)])
"""What is kept of every update of the multipliers."""

_LAGRANGIANS: dict[Solver, Callable[[Relaxation, int], Lagrangian]] = {
    "admm": SplitLagrangian,
    "alm": FullLagrangian,
}
# The search for all variables at once needs more steps than that for Y alone.
_INNER_STEPS: dict[Solver, int] = {"admm": 200, "alm": 500}
_INNER_TOL = 1e-10
_GRADIENT_TOL = 1e-5
# The penalty doubles where violations have not at least halved.
_GROWTH = 2.0
_ENOUGH = 0.5
# Beyond this penalty rounding dominates: the run has ended where no feasible point is near.
_STIFFEST = 1e8
_STEPS_SPENT = 1


@dataclass(frozen=True)
class Relaxed:
    """Where the method of multipliers ended.

    Attributes
    ----------
    point : pair of arrays
        Y and f.
    objective : float
        Its objective, in the units of the data.
    infeasibility : float
        Its largest violation of a constraint: of the trace and the totals relative to these, of
        numbers of memberships relative to these or to 1.
    history : structured array
        Objective and infeasibility after every update of the multipliers.
    converged : bool
        False when `max_iter` or the caller ended the run.
    """

    point: Point
    objective: float
    infeasibility: float
    history: NDArray[Any]
    converged: bool


def relax(
    relaxation: Relaxation,
    start: Point,
    *,
    solver: Solver = "admm",
    max_iter: int = 50,
    tol: float = 1e-4,
    report: Report | None = None,
) -> Relaxed:
    """Solve the relaxed problem up to a largest violation below `tol`."""
    lagrangian = _LAGRANGIANS[solver](relaxation, start[0].shape[1])
    bounds = optimize.Bounds(*lagrangian.bounds())
    options = {
        "maxiter": _INNER_STEPS[solver],
        "maxfun": 10 * _INNER_STEPS[solver],
        "ftol": _INNER_TOL,
        "gtol": _GRADIENT_TOL,
    }
    x = lagrangian.pack(*start)
    history: list[tuple[float, float]] = []
    converged, previous = False, np.inf
    for iteration in range(1, max_iter + 1):
        found = optimize.minimize(
            lagrangian.evaluate, x, jac=True, method="L-BFGS-B", bounds=bounds, options=options
        )
        x = found.x
        point = lagrangian.unpack(x)
        infeasibility = lagrangian.update(x)
        history.append((relaxation.objective(point), infeasibility))
        converged = infeasibility < tol and found.status != _STEPS_SPENT
        if (report is not None and report(iteration, history[-1][0])) or converged:
            break
        if infeasibility > _ENOUGH * previous:
            lagrangian.penalty *= _GROWTH
        if lagrangian.penalty > _STIFFEST:
            break
        previous = infeasibility
    return Relaxed(point, *history[-1], np.array(history, dtype=HISTORY), converged)
