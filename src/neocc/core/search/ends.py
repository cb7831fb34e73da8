"""Where the starts of the default search ended: the best are carried on, and rounds begin there."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from neocc.core.engine import Engine
from neocc.core.problem import Problem
from neocc.core.samples import Sample
from neocc.core.search.local import SAME_BASIN, Loose, carried_on, local_search
from neocc.core.search.pool import SHORT_TOL, Pool, ranked
from neocc.core.solve import Solution, continued, solve
from neocc.core.steps import assigned, with_side

__all__ = ["ENOUGH_ALIKE", "RACE", "Ends"]

ENOUGH_ALIKE = 5
"""If this many starts, made first, end alike, no more are needed."""

RACE = Loose(3e-4, 2.5e-4)
"""Where short runs of starts end, and which are not carried on."""

# So many rounds without a gain is each start worth that ended where the best did.
_AGREED = 5
# The same, of starts that decided that no more are needed.
_ALL_AGREED = 10


@dataclass
class Ends(Pool):
    """The state of a search: where its starts ended, and the rounds that followed."""

    n_starts: int = 0  # starts made
    n_alike: int = 0  # that ended where the best did
    is_settled: bool = False  # no further one is needed
    work: float = 0.0  # that all of it took
    work_of_cells: float = 0.0  # of a start from cells, once it is made; rounds have the rest
    goes_on: bool = False  # a default search has ended, and a thorough one begun
    is_polished: bool = False  # exact moves have been made
    starts: list[Solution] = field(default_factory=list)  # where they ended, ranked

    @property
    def best(self) -> Solution:
        """The lowest."""
        return self.starts[0]

    def add_start(self, found: Solution, work: float) -> None:
        """Rank the end of a start, and decide whether more are needed."""
        self.n_starts += 1
        self.work += work
        self._add(found)
        self.is_settled = self.n_starts == self.n_alike == ENOUGH_ALIKE

    def carry_on(self, data: Engine, problem: Problem) -> Solution:
        """Let the best of short runs converge, and the next ones if they may end lower."""
        begun, best = data.reads.work, continued(data, problem, self.best)
        ends = [carried_on(data, problem, each, best, RACE) for each in self.starts[1:]]
        self.starts = ranked([best, *ends])
        self.work += data.reads.work - begun
        return self.best

    def add_cells(self, found: Solution | None, work: float) -> None:
        """Rank the end of a start from cells, if there is one; its work is that of a round."""
        self.work_of_cells = work
        if found is not None:
            self._add(found)

    def _add(self, found: Solution) -> None:
        self.starts = ranked([*self.starts, found])
        near = self.best.objective + SAME_BASIN * abs(self.best.objective)
        self.n_alike = sum(each.objective <= near for each in self.starts)

    def take(self, found: Solution) -> None:
        """Have the lower of the best so far and another solution of all of the data."""
        self.starts = ranked([self.best, found])[:1]

    def go_on(self, where: Sample, patience: int) -> None:
        """Prepare for rounds that are made with more patience."""
        self.goes_on, self.is_over, self.patience = True, False, patience
        if where.items is None:
            self.pool = [self.best, *self.pool[1:]]

    def make_rounds(
        self, where: Sample, limit: float, rng: np.random.Generator, n_new: int = 0
    ) -> None:
        """Make rounds that begin with where the starts ended, or lead on a sample."""
        if not self.pool:
            begun = where.data.reads.work
            self.pool = self.starts if where.items is None else self._on_sample(where)
            # Starts that agree are rounds that gained nothing.
            self.waited = (self.n_alike - 1) * (_ALL_AGREED if self.is_settled else _AGREED)
            self.spent = self.work_of_cells + where.data.reads.work - begun
        super().make_rounds(where, limit, rng, n_new)
        if where.items is None:
            self.starts = self.pool[:1]

    def polish(self, where: Sample) -> None:
        """Make exact moves from the best."""
        best = local_search(where.data, where.problem, self.pool[0])
        self.pool, self.is_polished, self.gained = [best], True, True
        if where.items is None:
            self.take(best)

    def _on_sample(self, where: Sample) -> list[Solution]:
        """Return where the plain starts lead on a sample."""
        short = where.problem.loosened(SHORT_TOL)
        index, found = int(where.side == "columns"), []
        for each in self.starts:
            members = each.pair[index]
            assert members is not None and where.items is not None
            pair = with_side(each.pair, where.side, members.take(where.items))
            found.append(solve(where.data, short, assigned(where.data, short, where.side, pair)))
        return ranked(found)
