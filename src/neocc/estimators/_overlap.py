"""Which overlap model fits the data: short runs of each, at equal counts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from neocc.core.engine import Engine
from neocc.core.problem import Problem
from neocc.core.search import Init, run_starts
from neocc.core.solve import Solution

__all__ = ["OverlapChoice", "choose_overlap_model"]

# Short runs: so many starts for each of so many seeds, and in doubt as many again.
_N_SEEDS, _N_STARTS, _ROUNDS = 3, 4, 3
# The lowest cost of all is no accident if so many seeds end below those of the other models, or
# most of a few.
_ENOUGH = 3
# By so much of its cost another model must be cheaper than the one that is taken in doubt.
_LEAST = 0.01
_MAX_ITER, _TOL = 30, 1e-4
_IN_DOUBT = "average"


@dataclass(frozen=True)
class OverlapChoice:
    """Which overlap model was chosen, and why.

    Attributes
    ----------
    model : str
        Name of the model chosen.
    costs : dict of str to list of float
        Lowest cost per covered cell under each model that was tried, one for each seed.
    is_sure : bool
        Whether several seeds of the cheapest model ended below all of the others, and by 1 % below
        "average"; if not, that was chosen.
    """

    model: str
    costs: dict[str, list[float]]
    is_sure: bool

    @property
    def why(self) -> str:
        """The reason, in words, with the cost of each model."""
        listed = ", ".join(f"{name} {min(costs):.3g}" for name, costs in self._ranked)
        return f"{self._verdict}; cost per cell: {listed}" if len(self.costs) > 1 else self._verdict

    @property
    def _ranked(self) -> list[tuple[str, list[float]]]:
        return sorted(self.costs.items(), key=lambda each: min(each[1]))

    @property
    def _verdict(self) -> str:
        if not self.costs:
            return "nothing overlaps, so all models are the same"
        if len(self.costs) == 1:
            return "for this objective there is no other to compare it with"
        ranked = [costs for _, costs in self._ranked]
        if not self.is_sure:
            own = min(self.costs[self.model])
            near = min(ranked[0]) >= (1.0 - _LEAST) * own
            why = "it costs hardly more" if near else "seeds differ more than models do"
            return f"{why}; when in doubt, the mean of the prototypes"
        first, second = min(ranked[0]), min(ranked[1])
        saved = 1.0 - first / second if second > 0 else 0.0
        seeds = "every seed ends" if max(ranked[0]) < second else "several seeds end"
        return f"{seeds} lower than with any other, the best by {saved:.2%}"

    def __str__(self) -> str:
        lines = [
            f'  "{name}": {min(costs):.6g} per cell (up to {max(costs):.6g} over seeds)'
            for name, costs in self._ranked
        ]
        return "\n".join([f'overlap model "{self.model}": {self._verdict}', *lines])


def choose_overlap_model(
    engine: Engine, problems: list[Problem], init: Init, rng: np.random.Generator
) -> OverlapChoice:
    """Run short fits of problems that differ by their models; the lowest cost per cell wins.

    "average" wins where nothing overlaps, and in doubt. On planted data the cost tells which model
    made them; on real data it is not known to mean more than that.
    """
    sides = (problems[0].rows, problems[0].columns)
    names = [problem.overlap_model.name for problem in problems]
    in_doubt = _IN_DOUBT if _IN_DOUBT in names else names[0]
    if all(side is None or side.is_partition for side in sides):
        return OverlapChoice(in_doubt, {}, is_sure=True)
    costs: dict[str, list[float]] = {name: [] for name in names}
    n_columns = engine.shape[1] if sides[1] is None else 1  # all count where none are clustered
    # Given memberships leave nothing to chance.
    given = isinstance(init, tuple)
    n_rounds, n_seeds, n_starts = (1, 1, 1) if given else (_ROUNDS, _N_SEEDS, _N_STARTS)
    for _ in range(n_rounds):
        for problem in problems:
            max_iter, tol = min(problem.max_iter, _MAX_ITER), max(problem.tol, _TOL)
            short = replace(problem, max_iter=max_iter, tol=tol)
            costs[problem.overlap_model.name] += [
                _least_cost(run_starts(engine, short, init, seed.spawn(n_starts))) / n_columns
                for seed in rng.spawn(n_seeds)
            ]
        ranked = sorted(names, key=lambda name: min(costs[name]))
        least = {name: (1.0 - _LEAST * (name == in_doubt)) * min(costs[name]) for name in names}
        others = min((least[name] for name in ranked[1:]), default=np.inf)
        # A seed whose starts all ended in poor places does not speak against a model.
        below = sum(cost < others for cost in costs[ranked[0]])
        if is_sure := below >= min(_ENOUGH, len(costs[ranked[0]]) // 2 + 1):
            break
    return OverlapChoice(ranked[0] if is_sure else in_doubt, costs, is_sure)


def _least_cost(solutions: Iterator[Solution]) -> float:
    """Return the lowest cost per covered cell, of a side alone per covered item."""
    best = min(solutions, key=lambda solution: solution.objective)
    n_cells = 1.0
    for members in best.pair:
        n_cells *= 1.0 if members is None else float(np.count_nonzero(members.numbers))
    return best.objective / n_cells
