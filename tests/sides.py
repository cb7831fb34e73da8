"""One side of a co-clustering as an optimisation problem: for the tests of moves and refinement."""

from __future__ import annotations

import oracle
from instances import Instance, make_engine, members
from scipy import sparse

from neocc.core.incremental import sums_of
from neocc.core.problem import Problem
from neocc.core.refine import _exchange
from neocc.core.solve import centring, solve

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


class Setting:
    """An instance under one objective, with the literal objective of any memberships."""

    def __init__(self, case: str, instance: Instance, stored: bool = False, **options):
        self.case, self.X = case, instance.X
        self.counts = {"rows": instance.rows, "columns": instance.columns}
        self.given = {"rows": instance.U, "columns": instance.V}
        if case in ("mean", "residue"):
            self.problem = Problem(case, instance.rows, instance.columns, **options)
        else:
            one_way = {"rows": None, "columns": None, case: self.counts[case]}
            self.problem = Problem("vectors", one_way["rows"], one_way["columns"], **options)
        engine = make_engine(sparse.csr_array(self.X) if stored else self.X)
        self.engine = engine.centred(centring(self.problem))

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
        return solve(self.engine, self.problem, *self.pair)

    def exchange(self, side, U=None, V=None):
        U, V = self.pair if U is None and V is None else (U, V)
        return _exchange(
            self.engine, self.problem, U, V, sums_of(self.engine, self.problem, U, V), side
        )

    def objective(self, U, V) -> float:
        """The literal objective; sides that are not clustered are not looked at."""
        if self.case == "rows":
            return oracle.objective_neo_kmeans(self.X, U)
        if self.case == "columns":
            return oracle.objective_neo_kmeans(self.X.T, V)
        return oracle.objective(self.X, U, V, self.case)

    def of_side(self, side, members) -> float:
        """The literal objective where only one side differs from the given memberships."""
        changed = {**self.given, side: members}
        return self.objective(changed["rows"], changed["columns"])

    def of_solution(self, solution) -> float:
        return self.objective(
            *(None if each is None else each.dense for each in (solution.U, solution.V))
        )

    @property
    def scale(self) -> float:
        """Sum of squares, against which objectives are compared."""
        return max(1e-300, float((self.X**2).sum()))

    def assert_feasible(self, solution):
        for side, found in (("rows", solution.U), ("columns", solution.V)):
            if side in self.sides:
                counts = self.counts[side]
                assert found.dense.sum() == counts.n_memberships
                assert (~found.dense.any(axis=1)).sum() <= counts.max_outliers
                assert found.dense.any(axis=0).sum() == min(counts.n_clusters, counts.n_memberships)
