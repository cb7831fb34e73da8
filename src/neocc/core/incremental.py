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
from neocc.core.engine import Engine, Hints
from neocc.core.objectives import Sums, mean_vectors
from neocc.core.problem import Problem
from neocc.kernels import Memberships

__all__ = ["LEAST_ENTRIES", "RunningSums", "column_margins", "same_members", "sums_of"]

# Updates before the sums are made anew.
_MOST_UPDATES = 20
# Rows that changed are copied and summed twice; beyond this share all of them are summed instead.
_MOST_CHANGED = 0.1
# Where a larger share has changed, the limits of the assignment will move too.
_MANY_CHANGED = 0.25
# Passes over less data cost no more than finding out what changed.
LEAST_ENTRIES = 1 << 19


@dataclass
class RunningSums:
    """The column sums of one run, and the memberships that they belong to."""

    sums: Sums
    U: Memberships | None
    V: Memberships | None
    n_updates: int = 0
    # About how many rows changed clusters in the last row step, if that was looked at.
    n_changed: int | None = None

    @classmethod
    def of(
        cls, engine: Engine, problem: Problem, U: Memberships | None, V: Memberships | None
    ) -> RunningSums:
        """Make the sums from all rows."""
        return cls(sums_of(engine, problem, U, V), _bare(U), V)

    @classmethod
    def at_start(
        cls,
        engine: Engine,
        problem: Problem,
        U: Memberships | None,
        V: Memberships | None,
        since: tuple[Memberships, Sums, int] | None,
    ) -> RunningSums:
        """Return the sums that a run begins with.

        A row step needs none but those over the row clusters: neither products, nor a pass where
        there are sums of nearly the same memberships: `since`, with the number of updates that have
        led to them.
        """
        if U is None or problem.rows is None:
            return cls.of(engine, problem, U, V)
        by_rows = replace(problem, objective="mean")
        if since is None or U.n_clusters != since[0].n_clusters:
            return cls.of(engine, by_rows, U, None)
        earlier, sums, n_updates = since
        old = cls(replace(sums, products=None, energy=None), _bare(earlier), None, n_updates)
        if not len(earlier.changed_items(U)):
            return old
        return old.following(engine, by_rows, U, None)

    def hints(
        self,
        engine: Engine,
        problem: Problem,
        V: Memberships | None,
        limits: tuple[float, float] | None,
    ) -> Hints:
        """Return what a row step is to know.

        If the sums will have to be made from all rows, they had better be made along with it.
        """
        assert self.U is not None and self.sums.by_cluster is not None
        if engine.n_stored < LEAST_ENTRIES:
            return Hints(limits)
        means = None
        if problem.objective != "mean":
            means = mean_vectors(self.sums.by_cluster.T, self.U.sizes)
        if self.n_changed is not None and self._can_follow(problem, V, 2 * self.n_changed):
            return Hints(limits, means=means)
        if self.n_changed is not None and self.n_changed > _MANY_CHANGED * self.U.n_items:
            limits = None
        return Hints(
            limits,
            wants_sums=True,
            products=_needs_products(problem),
            squares=problem.columns is not None,
            means=means,
        )

    def following(
        self,
        engine: Engine,
        problem: Problem,
        U: Memberships | None,
        V: Memberships | None,
        ahead: Sums | None = None,
    ) -> RunningSums:
        """Return the sums for other memberships.

        They are those made `ahead`, if there are any; made from the rows that changed, if these
        are few; else from all rows.
        """
        if U is None or self.U is None or engine.n_stored < LEAST_ENTRIES:
            return RunningSums.of(engine, problem, U, V)
        n_changed = int(np.count_nonzero(self.U.first != U.first))
        if ahead is not None:
            return RunningSums(ahead, _bare(U), V, 0, n_changed)
        if self._can_follow(problem, V, n_changed):
            changed = self.U.changed_items(U)
            n_changed = len(changed)
        if not self._can_follow(problem, V, n_changed):
            return replace(RunningSums.of(engine, problem, U, V), n_changed=n_changed)
        if not n_changed:
            return RunningSums(self.sums, _bare(U), V, self.n_updates, 0)
        change = engine.changed_sums(
            changed,
            self.U.take(changed),
            U.take(changed),
            V if _needs_products(problem) else None,
            squares=problem.columns is not None,
        )
        sums = change.combined(np.add, self.sums)
        return RunningSums(sums, _bare(U), V, self.n_updates + 1, n_changed)

    def _can_follow(self, problem: Problem, V: Memberships | None, n_changed: int) -> bool:
        """Whether the sums need not be made anew when so many rows change."""
        same = not _needs_products(problem) or same_members(self.V, V)
        assert self.U is not None
        few = n_changed <= _MOST_CHANGED * self.U.n_items
        return same and few and self.n_updates < _MOST_UPDATES


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
