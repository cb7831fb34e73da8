"""The loop: alternate row and column steps until the objective stops falling.

One iteration computes row distances and new row memberships, then column sums, column distances
and new column memberships: two passes over the data at most, and one or less where sums and
distances can follow the memberships (`neocc.core.incremental`; what an engine keeps besides is its
own affair). The sums U' X of the column step also give the block means of the next row step, so
none is ever computed twice. NEO-CC (both objectives), MSSR, and NEO-K-Means on rows or on columns
are this loop with different problems.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from neocc._typing import FloatArray
from neocc.core import incremental
from neocc.core.assign import Assignment, assign
from neocc.core.engine import Centring, Engine, KeepingEngine
from neocc.core.incremental import RunningSums, column_margins
from neocc.core.keeping import NOT_KEPT, Keeper
from neocc.core.objectives import Sums, cross_terms, find_nearest
from neocc.core.problem import Problem
from neocc.core.tables import cocluster_means, column_tables, row_tables
from neocc.kernels import Memberships, numpy_

__all__ = [
    "Report",
    "Solution",
    "centring",
    "checked",
    "continued",
    "improved",
    "never_rising",
    "solve",
]

# Of the sum of all squares, the part that rounding may add to or take from the objective.
_ROUNDING = 1e-13
# An objective is computed again, term by term, if rounding may reach this share of it.
_DOUBTFUL = 1e-10

# Columns are watched from when no larger share of them changes clusters.
_FEW_COLUMNS = 0.05
# Iterations after which an engine forgets what it has kept.
_KEPT_ITERATIONS = 10

Report = Callable[[int, float], bool]
"""Called after each iteration with its number and the objective; returning True ends the run."""


@dataclass(frozen=True)
class Solution:
    """Where a run of the loop ended.

    Attributes
    ----------
    U, V : Memberships or None
        Memberships of the clustered sides.
    objective : float
        Objective of (U, V).
    history : array
        Objective of the start and after every half-step (and, refined, after every improvement); it
        never rises, and its last entry is `objective`.
    n_iter : int
        Number of iterations that changed memberships.
    converged : bool
        False when `max_iter` or the caller ended the run.
    sums : Sums
        Column sums over the final U; products, if any, may be those of an earlier V.
    noise : float
        Differences between objectives that rounding alone can make.
    limits : pair of float
        Largest distances that the two stages of the last assignment accepted.
    n_updates : int
        How often the sums were updated since they were made from all rows.
    """

    U: Memberships | None
    V: Memberships | None
    objective: float
    history: FloatArray
    n_iter: int
    converged: bool
    sums: Sums
    noise: float
    limits: tuple[float, float]
    n_updates: int


def never_rising(values: Sequence[float]) -> FloatArray:
    """Clear a history of rounding, which may take a perfect fit below 0 and the end of a run up."""
    backwards = np.maximum.accumulate(np.maximum(values, 0.0)[::-1])
    return backwards[::-1].copy()


def checked(engine: Engine, problem: Problem, solution: Solution) -> tuple[Solution, float]:
    """Return the solution with an objective computed term by term if rounding may have spoilt it.

    That is so where clusters of NEO-CC-M lie at levels far apart against the spread within them:
    the sums of squares cancel then. The second result is the share by which the objective was off.
    """
    doubtful = solution.noise > _DOUBTFUL * solution.objective
    if problem.objective != "mean" or solution.U is None or solution.V is None or not doubtful:
        return solution, 0.0
    means = cocluster_means(solution.sums, solution.U, solution.V)
    exact = engine.residual_squares(means, solution.U, solution.V)
    # Of a perfect fit only the rounding of the data is left: the square of a relative 1e-16.
    perfect = exact <= _ROUNDING * solution.noise
    off = 0.0 if perfect else abs(exact - solution.objective) / exact
    history = never_rising([*solution.history[:-1], exact])
    return replace(solution, objective=exact, history=history), off


def improved(old: Solution, new: Solution) -> Solution:
    """Return `new`, reached from `old` by a jump, with a history that never rises."""
    history = never_rising([*old.history, new.objective])
    return replace(new, history=history, n_iter=old.n_iter + new.n_iter)


@dataclass
class _Run:
    """The state of one run."""

    engine: Engine
    problem: Problem
    U: Memberships | None
    V: Memberships | None
    running: RunningSums | None = None
    history: list[float] = field(default_factory=list)
    # Of the assignment that made U; infinite from the start where all rows get one cluster each.
    limits: tuple[float, float] | None = None
    ahead: Sums | None = None

    def update_sums(self) -> None:
        """Column sums for the current memberships."""
        assert self.running is not None
        self.running = self.running.following(
            self.engine, self.problem, self.U, self.V, ahead=self.ahead
        )
        self.ahead = None

    def start(self, since: Solution | None) -> None:
        """Take from an earlier solution what spares passes over the data."""
        sums = None
        if since is not None and since.U is not None:
            sums = (since.U, since.sums, since.n_updates)
        self.running = RunningSums.at_start(self.engine, self.problem, self.U, self.V, sums)

    @property
    def sums(self) -> Sums | None:
        """Column sums of the memberships at the last update."""
        return None if self.running is None else self.running.sums

    @property
    def keeper(self) -> KeepingEngine | None:
        """The engine, if it spares passes by what it keeps from one row step to the next."""
        worth_it = self.engine.n_stored >= incremental.LEAST_ENTRIES
        return self.engine if worth_it and isinstance(self.engine, KeepingEngine) else None

    def begin(self, iteration: int) -> bool:
        """Begin an iteration; whether another process could begin it with the same bits."""
        if self.keeper is None:
            return True
        if iteration % _KEPT_ITERATIONS == 0:
            self.keeper.forget()
            return True
        return False

    def reached(self, iteration: int, previous: float) -> dict[str, Any]:
        """Return what `resume` needs to begin the iteration."""
        return {
            "iteration": iteration,
            "previous": previous,
            "U": self.U,
            "V": self.V,
            "history": np.array(self.history),
            "running": self.running,
            "limits": self.limits,
        }

    def resume(self, reached: dict[str, Any]) -> tuple[int, float]:
        """Take up a run; return the iteration to begin and the objective before it."""
        self.U, self.V, self.running = reached["U"], reached["V"], reached["running"]
        self.history = reached["history"].tolist()
        self.limits = reached["limits"]
        return reached["iteration"], reached["previous"]

    @property
    def noise(self) -> float:
        """The objective is a difference of sums of squares, and no more accurate than these."""
        if self.V is None or self.sums is None:
            return 0.0
        return _ROUNDING * float(self.V.weights @ self.sums.squares)

    def row_step(self) -> Assignment:
        """Record the objective and return the best memberships of the rows."""
        counts = self.problem.rows
        assert self.running is not None and self.U is not None and counts is not None
        if counts.n_covered == counts.n_items and counts.n_extra == 0:
            self.limits = (np.inf, -np.inf)
        tables = row_tables(self.problem, self.running.sums, self.U, self.V)
        hints = self.running.hints(self.engine, self.problem, self.V, self.limits)
        step = self.engine.reassign_rows(tables, self.U, self.V, counts, hints)
        self.history.append(step.objective)
        self.ahead = step.sums
        self.limits = (step.assignment.nearest_limit, step.assignment.extra_limit)
        return step.assignment

    def column_step(self) -> Assignment:
        """Record the objective and return the best memberships of the columns."""
        assert self.sums is not None and self.V is not None and self.problem.columns is not None
        tables = column_tables(self.problem, self.sums, self.U, self.V)
        d = cross_terms(self.sums, tables)
        labels, minima, objective = find_nearest(numpy_, d, self.sums, tables, self.V)
        self.history.append(objective)
        assignment = assign(d, labels, minima, self.problem.columns)
        if self.keeper is not None and self.problem.objective == "mean":
            # Only where some columns stayed is it likely that others will.
            few = len(self.V.changed_items(assignment.members)) <= _FEW_COLUMNS * self.V.n_items
            if few:
                margins = column_margins(d, labels, minima, assignment, self.sums.squares)
                self.keeper.watch_columns(margins)
        return assignment


def centring(problem: Problem) -> Centring:
    """Return what may be subtracted from X for this problem."""
    if problem.objective == "residue":
        return "double"
    if problem.objective == "mean":
        return "global"
    return "columns" if problem.columns is None else "rows"


def solve(
    engine: Engine,
    problem: Problem,
    U: Memberships | None,
    V: Memberships | None,
    report: Report | None = None,
    keeper: Keeper = NOT_KEPT,
    since: Solution | None = None,
) -> Solution:
    """Minimise the objective from feasible memberships U and V.

    `engine` should be centred as `centring(problem)` says. The objective never rises from one
    half-step to the next. The run ends when one iteration lowers it by no more than `tol` times
    its value, or after `max_iter` iterations. A run that `keeper` knows goes on where it was. An
    earlier solution of the same problem that (U, V) is near to, `since`, spares passes.
    """
    run = _Run(engine, problem, U, V)
    rows_lead = problem.rows is not None
    converged, previous, first = False, np.inf, 0
    if keeper.found("run") is not None:
        first, previous = run.resume(keeper.found("run"))
    else:
        run.start(since)
    for iteration in range(first, problem.max_iter + 1):
        if run.begin(iteration) and iteration > first:
            keeper.note(run=run.reached(iteration, previous))
        assignment = run.row_step() if rows_lead else run.column_step()
        current = run.history[-1]
        stop = iteration == problem.max_iter
        if iteration > 0:
            converged = previous - current <= problem.tol * previous + run.noise
            stop |= report is not None and report(iteration, current)
        if converged or stop:
            break
        previous = current
        if rows_lead:
            run.U = assignment.members
        else:
            run.V = assignment.members
        run.update_sums()
        if rows_lead and problem.columns is not None:
            run.V = run.column_step().members
    assert run.sums is not None
    if run.keeper is not None:
        run.keeper.forget()
    history = never_rising(run.history)
    return Solution(
        run.U,
        run.V,
        float(history[-1]),
        history,
        iteration,
        converged,
        run.sums,
        run.noise,
        (assignment.nearest_limit, assignment.extra_limit),
        0 if run.running is None else run.running.n_updates,
    )


def continued(engine: Engine, problem: Problem, old: Solution) -> Solution:
    """Run on from a solution, with its history before the new one."""
    new = solve(engine, problem, old.U, old.V, since=old)
    history = never_rising([*old.history, *new.history[1:]])
    return replace(new, history=history, n_iter=old.n_iter + new.n_iter)
