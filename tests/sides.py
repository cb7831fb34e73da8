"""One side of a co-clustering as an optimisation problem, and what must hold for every half-step.

`Setting` is an instance under one objective. `watched` notes the half-steps that the loop makes,
wherever it is called from, and `check_half_steps` compares each of them with the literal formulas.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from unittest import mock

import numpy as np
import oracle
from instances import Instance, make_engine, members
from scipy import sparse

import neocc.core.solve as loop
from neocc.core.objectives import KMEANS, OBJECTIVES
from neocc.core.overlap import followed_clusters
from neocc.core.problem import Problem
from neocc.core.search.local import OneSide
from neocc.core.solve import solve
from neocc.core.steps import make_features, with_side

# "rows" and "columns" are the one-way problems.
CASES = ("mean", "residue", "rows", "columns")
CASES_AND_SIDES = (
    ("mean", "rows"),
    ("mean", "columns"),
    ("residue", "rows"),
    ("residue", "columns"),
    ("rows", "rows"),
    ("columns", "columns"),
)

ROUNDING = 1e-9
"""Of the largest term of an objective, f'(X o X)w, the share that rounding may change it by.

An objective is this term less what the clusters explain, so that no more than the digits of this
term can be asked for. Sums of a few hundred numbers lose three of sixteen digits, and data far from
zero (which are centred by medians first) some more. Where outliers leave little of it, the sum of
all squares counts instead: what is subtracted from the data comes from all of them.
"""


class Setting:
    """An instance under one objective, with the literal objective of any memberships."""

    def __init__(
        self, case: str, instance: Instance, stored: bool = False, objective=None, **options
    ):
        self.case, self.X = case, instance.X
        self.counts = {"rows": instance.rows, "columns": instance.columns}
        self.given = {"rows": instance.U, "columns": instance.V}
        self.problem = make_problem(case, instance.rows, instance.columns, objective, **options)
        engine = make_engine(sparse.csr_array(self.X) if stored else self.X)
        self.engine = engine.centred(self.problem.centring)

    @property
    def sides(self):
        return self.problem.sides

    @property
    def pair(self):
        """The given memberships, None for a side that is not clustered."""
        return tuple(
            members(self.given[side]) if side in self.sides else None
            for side in ("rows", "columns")
        )

    def solve(self):
        return solve(self.engine, self.problem, self.pair)

    def checked_solve(self):
        """Solve, and check every half-step on the way."""
        with watched() as steps:
            solution = self.solve()
        check_run(self.X, solution, steps)
        return solution

    def exchange(self, side, U=None, V=None):
        pair = self.pair if U is None and V is None else (U, V)
        features = make_features(self.engine, self.problem, pair)
        return OneSide(self.engine, self.problem, side).exchange(pair, features)

    def objective(self, U, V) -> float:
        """The literal objective; sides that are not clustered are not looked at."""
        return literal_objective(self.case, self.X, U, V, self.problem.overlap_model.name)

    def of_side(self, side, members) -> float:
        """The literal objective where only one side differs from the given memberships."""
        changed = {**self.given, side: members}
        return self.objective(changed["rows"], changed["columns"])

    def of_solution(self, solution) -> float:
        return self.objective(*dense(solution.pair))

    @property
    def scale(self) -> float:
        """Sum of squares, against which objectives are compared."""
        return max(1e-300, float((self.X**2).sum()))

    def assert_feasible(self, solution):
        for side, found in zip(("rows", "columns"), solution.pair, strict=True):
            if side in self.sides:
                assert_feasible(found, self.counts[side], self.problem.overlap_model.most)


def make_problem(case, rows, columns, objective=None, **options) -> Problem:
    """The problem of a case; `objective` may stand in for the one that the case names."""
    if case in ("mean", "residue"):
        return Problem(objective or OBJECTIVES[case], rows, columns, **options)
    one_way = {"rows": None, "columns": None, case: rows if case == "rows" else columns}
    return Problem(objective or KMEANS, one_way["rows"], one_way["columns"], **options)


def case_of(problem: Problem) -> str:
    """The case that a problem belongs to."""
    return problem.sides[0] if len(problem.sides) == 1 else problem.objective.name


def dense(pair):
    return tuple(None if each is None else each.dense for each in pair)


def assert_feasible(found, counts, most=None) -> None:
    """Counts are exact, no item is in more than `most` clusters, and no cluster is empty where the
    number of memberships allows."""
    U = found.dense
    assert U.shape == (counts.n_items, counts.n_clusters)
    assert U.sum() == found.n_total == counts.n_memberships
    assert (~U.any(axis=1)).sum() <= counts.max_outliers
    assert most is None or U.sum(axis=1).max() <= most
    assert U.any(axis=0).sum() == min(counts.n_clusters, counts.n_memberships)


# -------------------------------------------------------------------------- literal formulas


def literal_objective(case: str, X, U, V, model: str = "repeat") -> float:
    """The objective of an overlap model; sides that are not clustered are not looked at."""
    if model != "repeat":
        if case in ("rows", "columns"):
            X, U = (X, U) if case == "rows" else (X.T, V)
            return oracle.overlap_objective(X, U, None, "kmeans", model)
        return oracle.overlap_objective(X, U, V, case, model)
    if case == "rows":
        return oracle.objective_neo_kmeans(X, U)
    if case == "columns":
        return oracle.objective_neo_kmeans(X.T, V)
    return oracle.objective(X, U, V, case)


def objective_of_pair(case: str, X, pair, model: str) -> float:
    """The objective of memberships, with what their rows follow."""
    if model == "either":
        U, V = pair
        columns = np.eye(X.shape[1], dtype=bool) if V is None else V.dense
        followed = followed_clusters(U, columns.shape[1])
        return oracle.followed_objective(X, followed, columns, U.n_clusters)
    return literal_objective(case, X, *dense(pair), model)


def literal_distances(case: str, side: str, X, U, V) -> np.ndarray:
    """The paper's distances of the items of one side."""
    if case == "rows":
        return oracle.distances_neo_kmeans(X, U)
    if case == "columns":
        return oracle.distances_neo_kmeans(X.T, V)
    by_side = {"rows": oracle.distances_rows, "columns": oracle.distances_columns}
    return by_side[side](X, U, V, case)


def energy(case: str, X, U, V) -> float:
    """f'(X o X)w of the memberships that the case clusters, at least the sum of squares."""
    n, m = X.shape
    U, V = np.eye(n) if case == "columns" else U, np.eye(m) if case == "rows" else V
    return max(float((X**2).sum()), oracle.energy(X, U, V))


# --------------------------------------------------------------------------------- half-steps


@dataclass(frozen=True)
class HalfStep:
    """What a half-step was given, the objective it computed of that, and what it answered."""

    problem: Problem
    side: str
    before: tuple
    objective: float
    after: tuple
    shape: tuple


@contextmanager
def watched() -> Iterator[list[HalfStep]]:
    """Note every half-step that the loop makes meanwhile."""
    steps: list[HalfStep] = []
    half_step = loop.half_step

    def spy(engine, problem, side, features, pair):
        step = half_step(engine, problem, side, features, pair)
        after = with_side(pair, side, step.members)
        steps.append(HalfStep(problem, side, pair, step.objective, after, engine.shape))
        return step

    with mock.patch.object(loop, "half_step", spy):
        yield steps


def check_half_steps(X, steps: list[HalfStep]) -> float:
    """Assert that every half-step does as it should, and return the largest energy of all.

    * The objective is the literal one, of the overlap model, of the memberships at that moment.
    * The memberships after it have exactly the counts asked for, none of an item more than allowed.
    * Their literal objective is no higher, but for `ROUNDING`. (Only a half-step that is to change
      the counts may raise it: runs under pressure begin with fewer memberships than they end with.)
    * For the paper's model, they are those of the paper's loop, where no two distances tie and no
      cluster is left empty.
    """
    assert steps
    largest = 0.0
    for at, step in enumerate(steps):
        assert step.shape == X.shape, "a half-step on other data, of a sample or a projection"
        case, counts = case_of(step.problem), step.problem.counts(step.side)
        model, most = step.problem.overlap_model.name, step.problem.overlap_model.most
        place = 0 if step.side == "rows" else 1
        U, V = dense(step.before)
        before, after = (
            objective_of_pair(case, X, pair, model) for pair in (step.before, step.after)
        )
        size = max(energy(case, X, *dense(pair)) for pair in (step.before, step.after))
        largest = max(largest, size)
        where = f"half-step {at}, of {step.side} in {case}, {model}"
        error = abs(step.objective - before)
        assert error <= ROUNDING * size, f"{where}: {step.objective} for {before}"
        assert_feasible(step.after[place], counts, most)
        if _is_feasible(step.before[place], counts, most):
            assert after <= before + ROUNDING * size, f"{where} rises from {before} to {after}"
        if model != "repeat" or most is not None:
            continue
        d = literal_distances(case, step.side, X, U, V)
        if _no_ties(d, ROUNDING * size):
            expected = oracle.two_stage(d, counts.n_memberships, counts.n_covered)
            if expected.any(axis=0).all():
                found = step.after[place].dense
                assert np.array_equal(found, expected), f"{where} is not the paper's"
    return largest


def _is_feasible(found, counts, most) -> bool:
    numbers = found.dense.sum(axis=1)
    return (
        numbers.sum() == counts.n_memberships
        and (numbers == 0).sum() <= counts.max_outliers
        and (most is None or numbers.max() <= most)
    )


def _no_ties(d: np.ndarray, gap: float) -> bool:
    """Whether all distances are clearly different; there is none to an empty cluster."""
    return bool(np.isfinite(d).all() and (np.diff(np.sort(d, axis=None)) > gap).all())


def check_run(X, solution, steps: list[HalfStep]) -> None:
    """Assert that one run of the loop was a chain of right half-steps, told as it was."""
    largest = check_half_steps(X, steps)
    for one, other in pairwise(steps):
        # Rows may follow others of their clusters once a column cluster was re-seeded.
        assert all(
            a is b or (a.virtual is not None and np.array_equal(a.dense, b.dense))
            for a, b in zip(one.after, other.before, strict=True)
        )
    assert solution.history.tolist() == [step.objective for step in steps]
    assert all(a is b for a, b in zip(solution.pair, steps[-1].before, strict=True))
    assert solution.objective == max(steps[-1].objective, 0.0)
    check_history(solution.history, largest)


def check_history(history, largest: float) -> None:
    """Assert that a history of objectives falls; `largest` is the energy it is judged by."""
    rise = np.diff(history).max(initial=0.0)
    assert rise <= ROUNDING * largest, f"an objective rises by {rise}, of terms of {largest}"


def check_refined_history(X, history, steps: list[HalfStep]) -> None:
    """Assert that a search, which tells only of its best run, tells what half-steps computed."""
    largest = check_half_steps(X, steps)
    computed = {step.objective for step in steps} | {0.0}
    assert set(np.asarray(history).tolist()) <= computed
    check_history(history, largest)
