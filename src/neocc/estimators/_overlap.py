"""Which overlap model fits the data: short runs of each, at equal counts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from neocc._typing import FloatArray
from neocc.core.engine import Engine
from neocc.core.overlap import OVERLAP_MODELS
from neocc.core.problem import Problem
from neocc.core.search import Init, run_starts
from neocc.core.search.starts import Starts
from neocc.core.solve import Solution, solve
from neocc.kernels import Memberships

__all__ = ["OverlapChoice", "choose_overlap_model"]

# Short runs: so many rounds at most, of so many seeds, each of so many starts.
_EFFORT = 3, 3, 4
# The lowest cost of all is no accident if so many seeds end below those of the other models, or
# most of a few.
_ENOUGH = 3
# By so much of its cost another model must be cheaper than the one that is taken in doubt.
_LEAST = 0.01
_MAX_ITER, _TOL = 30, 1e-4
# Data are far from centred if so much of their squares is that of what centring subtracts.
_OFF_CENTRE = 0.01


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
        "average", and "sum" would not on centred data; if not, "average" was chosen.
    centred : tuple of float
        The costs of "sum" after the mean (of `NEOKMeans` that of each column) is subtracted, the
        only model to which this matters. Empty if "sum" was surely the cheapest as it is, if the
        data are sparse or nearly centred, or if the cost of outliers depends on where zero is.
    is_complete : bool
        Whether nobody interrupted the comparison; if so, "average" was chosen.
    """

    model: str
    costs: dict[str, list[float]]
    is_sure: bool
    centred: tuple[float, ...] = ()
    is_complete: bool = True

    @property
    def why(self) -> str:
        """The reason, in words, with the cost of each model."""
        listed = ", ".join(f"{name} {min(costs):.3g}" for name, costs in self._ranked)
        for name, costs in self._of_centred:
            listed += f", {name} {min(costs):.3g}"
        several = len(self.costs) > 1 and self.is_complete
        return f"{self._verdict}; cost per cell: {listed}" if several else self._verdict

    @property
    def _ranked(self) -> list[tuple[str, list[float]]]:
        return sorted(self.costs.items(), key=lambda each: min(each[1]))

    @property
    def _of_centred(self) -> list[tuple[str, tuple[float, ...]]]:
        name = f"{_adding(self.costs)} of centred data"
        return [(name, self.centred)] if self.centred else []

    @property
    def _verdict(self) -> str:
        if not self.is_complete:
            return "the comparison was interrupted; when in doubt, the mean of the prototypes"
        if not self.costs:
            return "nothing overlaps, so all models are the same"
        if len(self.costs) == 1:
            return "for this objective there is no other to compare it with"
        ranked = [costs for _, costs in self._ranked]
        if _leads_centred(self.costs, self.centred):
            name = f'"{_adding(self.costs)}"'
            why = f"the data are not centred, and {name} costs least once their mean is subtracted"
            return f"{why}: do so and choose again; when in doubt, the mean of the prototypes"
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
            for name, costs in [*self._ranked, *self._of_centred]
        ]
        return "\n".join([f'overlap model "{self.model}": {self._verdict}', *lines])


def choose_overlap_model(
    engine: Engine,
    problems: list[Problem],
    init: Init,
    rng: np.random.Generator,
    effort: tuple[int, int, int] = _EFFORT,
) -> OverlapChoice:
    """Run short fits of problems that differ by their models; the lowest cost per cell wins.

    The first wins where nothing overlaps, and in doubt. On planted data the cost tells which model
    made them; on real data it is not known to mean more than that. The `effort` is the number of
    rounds at most (in doubt there is another), of seeds in each, and of starts for each of these.
    """
    names = [problem.overlap_model.name for problem in problems]
    in_doubt, least = names[0], names[0]
    if not problems[0].overlaps:
        return OverlapChoice(in_doubt, {}, is_sure=True)
    costs: dict[str, list[float]] = {name: [] for name in names}
    # Given memberships leave nothing to chance.
    n_rounds, n_seeds, n_starts = (1, 1, 1) if isinstance(init, tuple) else effort
    centred: list[float] = []
    try:
        for _ in range(n_rounds):
            for problem in problems:
                seeds = rng.spawn(n_seeds)
                costs[problem.overlap_model.name] += _costs(engine, problem, init, seeds, n_starts)
            least, is_sure = _leader(costs)
            if is_sure:
                break
        adding = _adding(names)
        if adding is not None and (least, is_sure) != (adding, True):
            sums, seeds = problems[names.index(adding)], rng.spawn(n_seeds)
            centred = _costs_of_centred(engine, sums, problems[0], init, seeds, n_starts)
            is_sure &= not _leads_centred(costs, centred)
    except KeyboardInterrupt:
        # As of other values that are "auto": what is open stays so, and the fit begins.
        tried = {name: each for name, each in costs.items() if each}
        return OverlapChoice(in_doubt, tried, is_sure=False, is_complete=False)
    return OverlapChoice(least if is_sure else in_doubt, costs, is_sure, tuple(centred))


def _adding(names: Collection[str]) -> str | None:
    """Return which model adds prototypes up, the only one to which a constant matters."""
    models = OVERLAP_MODELS.items()
    return next((name for name, model in models if name in names and model().adds), None)


def _leads_centred(costs: dict[str, list[float]], centred: Sequence[float]) -> bool:
    """Return whether the model that adds is surely the cheapest of all at its `centred` costs."""
    adding = _adding(costs)
    if adding is None or not centred:
        return False
    return _leader({**costs, adding: [*centred]}) == (adding, True)


def _leader(costs: dict[str, list[float]]) -> tuple[str, bool]:
    """Return the model of the lowest cost, and whether that is no accident."""
    names = list(costs)
    in_doubt = names[0]
    ranked = sorted(names, key=lambda name: min(costs[name]))
    least = {name: (1.0 - _LEAST * (name == in_doubt)) * min(costs[name]) for name in names}
    others = min((least[name] for name in ranked[1:]), default=np.inf)
    # A seed whose starts all ended in poor places does not speak against a model.
    below = sum(cost < others for cost in costs[ranked[0]])
    return ranked[0], below >= min(_ENOUGH, len(costs[ranked[0]]) // 2 + 1)


def _costs(
    engine: Engine, problem: Problem, init: Init, seeds: list[np.random.Generator], n_starts: int
) -> list[float]:
    """Return the lowest cost per covered cell of short runs, for each seed."""
    short = _short(problem)
    return [
        _least_cost(run_starts(engine, short, init, seed.spawn(n_starts)), engine, problem)
        for seed in seeds
    ]


def _costs_of_centred(
    engine: Engine,
    sums: Problem,
    average: Problem,
    init: Init,
    seeds: list[np.random.Generator],
    n_starts: int,
) -> list[float]:
    """Return the costs of "sum" after the mean is subtracted; none where that changes little.

    A constant that was added to sums is twice in rows of two clusters, so that "sum" is not what
    fits them best. The costs of other models stay as they are, and so do starts of "average".
    """
    means = None if average.centring == "none" else _means(engine, average)
    # Sparse data cannot be centred: their zeros mean nothing.
    if means is None or engine.centred("none", means).effects.columns is None:
        return []
    short = _short(sums)

    def runs(seed: np.random.Generator) -> Iterator[Solution]:
        rngs = seed.spawn(n_starts)
        starts = Starts(engine, _short(average), init, rngs)

        def one_start(own: Engine, i: int) -> Solution:
            return solve(own.centred("none", means), short, starts.make(own, i, None))

        return engine.each(one_start, range(n_starts))

    return [_least_cost(runs(seed), engine, sums) for seed in seeds]


def _means(engine: Engine, problem: Problem) -> FloatArray | None:
    """Return what centring subtracts from each column; None if that is little of the data.

    It is the mean of all entries, or, where only rows are clustered, that of each column.
    """
    n_rows = engine.shape[0]
    everyone = Memberships.from_labels(np.zeros(n_rows, dtype=np.int32), 1)
    features = engine.column_features(everyone, None)
    assert features.sums is not None
    means: FloatArray = features.sums[:, 0] / n_rows
    if problem.columns is not None:
        means = np.full_like(means, means.mean())
    total = float(features.squares.sum())
    return means if n_rows * float(means @ means) > _OFF_CENTRE * total else None


def _short(problem: Problem) -> Problem:
    max_iter, tol = min(problem.max_iter, _MAX_ITER), max(problem.tol, _TOL)
    return replace(problem, max_iter=max_iter, tol=tol)


def _least_cost(solutions: Iterator[Solution], engine: Engine, problem: Problem) -> float:
    """Return the lowest cost per covered cell; all columns count where none are clustered."""
    best = min(solutions, key=lambda solution: solution.objective)
    n_cells = engine.shape[1] if problem.columns is None else 1.0
    for members in best.pair:
        n_cells *= 1.0 if members is None else float(np.count_nonzero(members.numbers))
    return best.objective / n_cells
