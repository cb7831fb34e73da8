"""The loop: alternate row and column steps until the objective stops falling.

One iteration scores the rows and assigns them, then sums the columns over the new row clusters,
scores these and assigns them: two passes over the data at most. The sums of the column step also
give the block means of the next row step, so none is ever computed twice. NEO-CC with any
objective, MSSR, and NEO-K-Means on rows or on columns are this loop with different problems.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from neocc._typing import FloatArray
from neocc.core.checkpoints import NO_JOURNAL, Journal
from neocc.core.engine import Engine
from neocc.core.objectives import Features, Objective
from neocc.core.problem import Problem
from neocc.core.steps import Pair, counted, half_step, make_features
from neocc.kernels import Memberships

__all__ = ["Report", "Solution", "checked", "checked_value", "continued", "improved", "solve"]

# Of the sum of all squares, the part that rounding may add to or take from the objective.
_ROUNDING = 1e-13
# An objective is computed again, term by term, if rounding may reach this share of it.
_DOUBTFUL = 1e-10

Report = Callable[[int, float], bool]
"""Called after each iteration with its number and the objective; returning True ends the run."""

# The next iteration, memberships, history, and the last objective.
_Reached: TypeAlias = tuple[int, Pair, list[float], float]


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
        Objective of the start and after every half-step (and, refined, after every improvement), as
        it was computed: it falls, but for rounding.
    n_iter : int
        Number of iterations that changed memberships.
    converged : bool
        False when `max_iter` or the caller ended the run.
    features : Features
        Column features of the final U; products, if any, may be those of an earlier V.
    noise : float
        Differences between objectives that rounding alone can make.
    thresholds : pair of float
        Largest distances that the last assignment accepted, as first and as extra memberships.
    """

    U: Memberships | None
    V: Memberships | None
    objective: float
    history: FloatArray
    n_iter: int
    converged: bool
    features: Features
    noise: float
    thresholds: tuple[float, float]

    @property
    def pair(self) -> Pair:
        """Memberships of both sides."""
        return self.U, self.V

    def fetch(self) -> None:
        """Copy to this process what is on a GPU, which may be lost."""
        for members in self.pair:
            if members is not None and hasattr(members, "fetch"):
                members.fetch()


def solve(
    engine: Engine,
    problem: Problem,
    pair: Pair,
    report: Report | None = None,
    journal: Journal = NO_JOURNAL,
) -> Solution:
    """Minimise the objective from feasible memberships.

    `engine` should be centred as `problem.centring` says. The objective does not rise from one
    half-step to the next, but for rounding. The run ends when one iteration lowers it by no more
    than `tol` times its value, or after `max_iter` iterations. A run that `journal` knows goes on
    where it was.
    """
    (lead, *others), converged = problem.sides, False
    constant = problem.constant(engine)
    run: _Reached = journal.found("run") or (0, counted(engine, problem, pair), [], np.inf)
    first, pair, history, previous = run
    if first == 0:  # a row step needs no products
        features = make_features(engine, problem, (pair[0], None) if lead == "rows" else pair)
    else:
        with engine.refreshed():
            features = make_features(engine, problem, pair)
    for iteration in range(first, problem.max_iter + 1):
        if iteration > first and iteration % journal.interval == 0:
            with engine.refreshed() as is_lost:
                if is_lost:
                    features = make_features(engine, problem, pair)
            journal.note(run=(iteration, pair, list(history), previous))
        step = half_step(engine, problem, lead, features, pair)
        history.append(step.objective + constant)
        stop = iteration == problem.max_iter
        if iteration > 0:
            fall = previous - history[-1]
            converged = fall <= problem.tol * abs(previous) + _noise(features, pair)
            stop |= report is not None and report(iteration, history[-1])
        if converged or stop:
            break
        previous, new = history[-1], step.members
        pair = (new, pair[1]) if lead == "rows" else (pair[0], new)
        features = make_features(engine, problem, pair)
        if others:
            other = half_step(engine, problem, "columns", features, pair)
            history.append(other.objective + constant)
            rows = new if new.virtual is None else problem.moved(new, pair[1], other.members)
            pair = rows, other.members
            if rows is not new:
                features = make_features(engine, problem, pair)
    with engine.refreshed() as is_lost:
        if is_lost:
            features = make_features(engine, problem, pair)
            step = half_step(engine, problem, lead, features, pair)
            history[-1] = step.objective + constant
    reached = history[-1] if problem.objective.background else max(history[-1], 0.0)
    noise, past = _noise(features, pair), np.array(history)
    # Features in this process, also after a checkpoint or on a GPU.
    return Solution(
        *pair, reached, past, iteration, converged, features.here, noise, step.thresholds
    )


def _noise(features: Features, pair: Pair) -> float:
    """Return how accurate the objective is: it is a difference of sums of squares."""
    V = pair[1]
    if V is None:
        return 0.0
    squares = features.squares.sum() if V.is_partition else features.weighed(V)
    return _ROUNDING * float(squares)


def checked(engine: Engine, problem: Problem, solution: Solution) -> tuple[Solution, float]:
    """Return the solution with an objective computed term by term if rounding may have spoilt it.

    The second result is the share by which the objective was off.
    """
    U, V = solution.pair
    if U is None or V is None:
        return solution, 0.0
    exact, off = checked_value(
        engine, problem.objective, solution.objective, solution.features, U, V
    )
    return replace(solution, objective=exact), off


def checked_value(
    engine: Engine,
    objective: Objective,
    value: float,
    features: Features,
    U: Memberships,
    V: Memberships,
) -> tuple[float, float]:
    """Return the value of (U, V), computed term by term if rounding may have spoilt it.

    That is so where clusters of NEO-CC-M lie at levels far apart against the spread within them:
    the sums of squares cancel then. The second result is the share by which the value was off.
    """
    noise = _noise(features, (U, V))
    if noise <= _DOUBTFUL * value:
        return value, 0.0
    exact = objective.exact_value(engine, features, U, V)
    if exact is None:
        return value, 0.0
    # Of a perfect fit only the rounding of the data is left: the square of a relative 1e-16.
    perfect = exact <= _ROUNDING * noise
    return exact, 0.0 if perfect else abs(exact - value) / exact


def improved(old: Solution, new: Solution) -> Solution:
    """Return `new`, reached from `old` by a jump."""
    history = np.append(old.history, new.objective)
    return replace(new, history=history, n_iter=old.n_iter + new.n_iter)


def continued(engine: Engine, problem: Problem, old: Solution) -> Solution:
    """Run on from a solution, with its history before the new one."""
    new = solve(engine, problem, old.pair)
    history = np.concatenate([old.history, new.history[1:]])
    return replace(new, history=history, n_iter=old.n_iter + new.n_iter)
