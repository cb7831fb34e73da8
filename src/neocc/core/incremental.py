"""Column sums that follow the memberships: only rows that changed clusters are read again.

All column sums are linear in the memberships of the rows (methods 7.5): a row p that enters
cluster q adds x_p to the sums of q, one that leaves takes it away. Few rows change in most
iterations, so most passes over the data are spared. Sums are made anew every so often, for each
update adds a little rounding.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from neocc._typing import FloatArray, IntArray
from neocc.core.assign import Assignment
from neocc.core.engine import Engine
from neocc.core.objectives import Sums
from neocc.core.problem import Problem
from neocc.kernels import Memberships

__all__ = ["LEAST_ENTRIES", "RunningSums", "column_margins", "same_members", "sums_of"]

# Updates before the sums are made anew.
_MOST_UPDATES = 20
# Rows that changed are copied to be summed; a copy of more of them would be felt in memory.
_MOST_CHANGED = 0.1
_MOST_CHANGED_WITH_PRODUCTS = 0.02
# Passes over less data cost no more than finding out what changed.
LEAST_ENTRIES = 1 << 19


@dataclass
class RunningSums:
    """The column sums of one run, and the memberships that they belong to."""

    sums: Sums
    U: Memberships | None
    V: Memberships | None
    n_updates: int = 0

    @classmethod
    def of(
        cls, engine: Engine, problem: Problem, U: Memberships | None, V: Memberships | None
    ) -> RunningSums:
        """Make the sums from all rows."""
        return cls(sums_of(engine, problem, U, V), _bare(U), V)

    def following(
        self, engine: Engine, problem: Problem, U: Memberships | None, V: Memberships | None
    ) -> RunningSums:
        """Return the sums for other memberships, from the rows that changed if these are few."""
        changed = self._changed(engine, problem, U, V)
        if changed is None or U is None or self.U is None:
            return RunningSums.of(engine, problem, U, V)
        if not len(changed):
            return RunningSums(self.sums, _bare(U), V, self.n_updates)
        change = engine.changed_sums(
            changed,
            self.U.take(changed),
            U.take(changed),
            V if _needs_products(problem) else None,
            squares=problem.columns is not None,
        )
        sums = self.sums.plus(change, in_place=True)
        return RunningSums(sums, _bare(U), V, self.n_updates + 1)

    def _changed(
        self, engine: Engine, problem: Problem, U: Memberships | None, V: Memberships | None
    ) -> IntArray | None:
        """Return the rows that changed clusters; None if the sums should be made anew."""
        if U is None or self.U is None or engine.n_stored < LEAST_ENTRIES:
            return None
        if self.n_updates >= _MOST_UPDATES:
            return None
        most = _MOST_CHANGED
        if _needs_products(problem):
            if not same_members(self.V, V):
                return None
            most = min(most, _MOST_CHANGED_WITH_PRODUCTS)
        changed = self.U.changed_items(U)
        return changed if len(changed) <= most * U.n_items else None


def sums_of(engine: Engine, problem: Problem, U: Memberships | None, V: Memberships | None) -> Sums:
    """Return the column sums that a problem needs; the row step uses only those over U."""
    V = V if _needs_products(problem) else None
    return engine.column_sums(U, V, squares=problem.columns is not None)


def column_margins(
    d: FloatArray,
    labels: IntArray,
    minima: FloatArray,
    assignment: Assignment,
    squares: FloatArray,
) -> FloatArray:
    """Return how far each column is from a change of its clusters, against the size of its entries.

    A column changes when another cluster becomes its nearest, or when a distance crosses one of the
    limits of the assignment.
    """
    others = d.copy()
    others[np.arange(len(d)), labels] = np.inf
    with np.errstate(invalid="ignore"):
        margins = others.min(axis=1) - minima
        for distances, limit in (
            (minima[:, None], assignment.nearest_limit),
            (others, assignment.extra_limit),
        ):
            if np.isfinite(limit):
                margins = np.fmin(margins, np.abs(distances - limit).min(axis=1))
        return np.asarray(margins / np.sqrt(np.maximum(squares, np.finfo(float).tiny)))


def same_members(one: Memberships | None, other: Memberships | None) -> bool:
    """Whether two sides have the same clusters."""
    if one is None or other is None:
        return one is other
    return one is other or not len(one.changed_items(other))


def _bare(members: Memberships | None) -> Memberships | None:
    """Return the same memberships without what has been computed from them, which takes room."""
    return None if members is None else replace(members)


def _needs_products(problem: Problem) -> bool:
    """Whether the sums hold products with the column clusters, and so depend on V."""
    clusters_columns = problem.columns is not None
    return problem.objective == "residue" or (problem.objective == "vectors" and clusters_columns)
