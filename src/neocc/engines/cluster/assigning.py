"""The row step on a cluster: two messages to the scheduler, whatever the number of rows.

The first has the workers measure all distances and answer where the limits of the assignment are
thought to be; distances never leave the worker that measured them. The second tells them the limits
and, in the same breath, has them sum the columns for the new memberships.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from neocc._typing import FloatArray
from neocc.core.assign import Assignment, reseeded
from neocc.core.counting import Answer, Cut, Question
from neocc.core.cuts import Drift, find_cuts
from neocc.core.engine import Hints, RowStep
from neocc.core.objectives import Tables
from neocc.core.problem import Counts
from neocc.engines.cluster import rows as on_worker
from neocc.engines.cluster.held import Common
from neocc.kernels import Memberships

if TYPE_CHECKING:
    from neocc.engines.cluster.engine import DaskEngine

__all__ = ["Assigning"]

# Memberships that workers hold were made from distances, these from earlier memberships, and so on:
# all of it is made again when a worker is lost. After so many steps memberships are sent instead.
_MOST_LINKS = 8


class Assigning:
    """Row steps of an engine, and what the workers hold of the last one."""

    def __init__(self) -> None:
        self._settled: tuple[Memberships, list[Any]] | None = None
        self._n_links = 0
        self._drift = Drift()

    def held(self, U: Memberships | None) -> list[Any] | None:
        """Return futures of memberships that the workers have just assigned; None for others."""
        return self._settled[1] if self._settled is not None and self._settled[0] is U else None

    def step(
        self,
        engine: DaskEngine,
        tables: Tables,
        U: Memberships | None,
        V: Memberships | None,
        counts: Counts,
        hints: Hints,
    ) -> RowStep:
        """Return the objective of U and the two-stage assignment of all rows."""
        tasks = engine.tasks
        common = engine.for_each(tasks.share(Common(tables, V)))
        scores = tasks.each("row-step", on_worker.score, engine.units, engine.members(U), common)

        def ask(question: Question) -> list[Answer]:
            nonlocal scores
            answers = tasks.each("count", on_worker.answer, scores, question=question)
            scores, answers = tasks.submit([scores, answers])
            return [each for unit in tasks.gather(answers) for each in unit]

        near = self._drift.near(hints.limits)
        cuts, *limits = find_cuts(ask, counts, len(engine.layout.ranges), near)
        self._drift.learn(hints.limits, (limits[0], limits[1]))
        by_unit = engine.by_unit(cuts)
        settled = tasks.each("settle", on_worker.settle, scores, by_unit)
        total = _sum_columns(engine, scores, by_unit, V, hints) if hints.wants_sums else None
        scores, settled, total = tasks.submit([scores, settled, total])
        # Memberships come while the columns are summed.
        found = tasks.gather(settled)
        members = Memberships.joined([part for unit in found for part in unit.members])

        def costs() -> FloatArray:
            parts = tasks.each("costs", on_worker.costs, scores, settled)
            return np.concatenate(tasks.gather(parts))

        kept = reseeded(members, costs)
        objective = float(sum(each for unit in found for each in unit.objectives))
        sums = tasks.gather(total) if kept is members and total is not None else None
        tasks.let_go(scores, total, self._settled)
        self._remember(settled, kept if kept is members else None)
        return RowStep(objective, Assignment(kept, *limits), sums)

    def _remember(self, settled: list[Any], members: Memberships | None) -> None:
        """Note that workers hold memberships, unless too much would be lost with one of them."""
        self._n_links += 1
        self._settled = None if members is None else (members, settled)
        if self._n_links == _MOST_LINKS:
            self._settled, self._n_links = None, 0


def _sum_columns(
    engine: DaskEngine,
    scores: list[Any],
    cuts: list[list[Cut]],
    V: Memberships | None,
    hints: Hints,
) -> Any:
    """Let the workers sum their rows for the new memberships; return a key."""
    sums = engine.tasks.each(
        "column-step",
        on_worker.settle_and_sum,
        engine.units,
        scores,
        cuts,
        engine.for_each(engine.columns(V if hints.products else None)),
        squares=hints.squares,
    )
    return engine.tasks.total(on_worker.add_sums, sums)
