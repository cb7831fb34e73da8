"""Rounds: perturb one of the best solutions, run the alternation again, and keep what is lower.

They end when another one is not expected to gain, from how long gains have taken on these data, or
when a limit of work is reached.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from neocc.core.engine import Engine
from neocc.core.initialise import pressurised, random_pair
from neocc.core.problem import Problem
from neocc.core.samples import Sample
from neocc.core.search.local import SAME_BASIN, Loose, attempt, least_gain
from neocc.core.search.perturb import Resumable, perturb
from neocc.core.solve import Solution, continued, improved, solve
from neocc.core.steps import Pair

__all__ = ["LOOSE", "N_STEPS", "SHORT_TOL", "Pool", "ranked"]

LOOSE = Loose(1e-3, 2e-3)
"""When trials of rounds are abandoned."""

N_STEPS = 10
"""Rounds are reported in so many steps."""

SHORT_TOL = 1e-3
"""Where short runs end."""

# Rounds go on twice as long without a gain as one has ever taken, and some.
_LONGER = 2
# Solutions this near, as a share, are not kept twice.
_KEPT_ONCE = 1e-7
_SAME = 1e-9
# Of so many that are drawn from the pool, a round perturbs the best.
_DRAWN = 8


@dataclass
class Pool(Resumable):
    """Solutions that rounds begin with, and what rounds have cost and gained so far."""

    pool: list[Solution] = field(default_factory=list)  # ranked
    patience: int = 40  # rounds without a gain that are made at least
    n_rounds: int = 0
    n_new: int = 0  # of these, that began anew
    spent: float = 0.0  # work of the rounds
    waited: int = 0  # rounds since the last gain
    longest: int = 0  # that a gain has taken
    gained: bool = False  # some round has ended lower
    is_over: bool = False

    def make_rounds(
        self, where: Sample, limit: float, rng: np.random.Generator, n_new: int = 0
    ) -> None:
        """Make a tenth of the rounds that the limit allows; the first `n_new` begin anew."""
        data = where.data
        begun, before = data.reads.work, self.spent
        goal = limit * (np.floor(N_STEPS * self.spent / limit) + 1) / N_STEPS
        while not self._is_enough(limit) and self.spent < goal:
            step = self._new_start if self.n_new < n_new else self._round
            step(where, rng)
            self.spent = before + data.reads.work - begun
        self.is_over = self._is_enough(limit)

    def _is_enough(self, limit: float) -> bool:
        """Whether another round would cost too much, or is not expected to gain."""
        best = self.pool[0]
        is_patient = self.waited < self.patience + _LONGER * self.longest
        is_perfect = abs(best.objective) <= best.noise
        return self.spent >= limit or is_perfect or not is_patient

    def _count(self, found: Solution) -> None:
        """Count a round, and how long a gain has taken."""
        self.n_rounds, self.waited, best = self.n_rounds + 1, self.waited + 1, self.pool[0]
        if found.objective < best.objective - SAME_BASIN * abs(best.objective):
            self.longest, self.waited = max(self.longest, self.waited), 0

    def _new_start(self, where: Sample, rng: np.random.Generator) -> None:
        """Make a short run from a random start, and go on with it if it is among the best.

        Where single rows carry little information, it may reach basins that no one-way start leads
        to.
        """
        problem, data, worst = where.problem, where.data, self.pool[-1]
        short = problem.loosened(SHORT_TOL)
        pair = random_pair(problem, rng)
        self.n_new += 1
        found = _short_run(data, short, pair)
        lower = worst.objective - least_gain(worst)
        if found.objective < lower:
            found = continued(data, problem, found)
        self._count(found)
        if found.objective < lower:
            self.pool, self.gained = ranked([*self.pool[:-1], found]), True

    def _round(self, where: Sample, rng: np.random.Generator) -> None:
        """Perturb one of the best solutions, run the alternation again, and keep what is lower."""
        problem, data, pool, best = where.problem, where.data, self.pool, self.pool[0]
        begun, bandit = data.reads.work, self.bandit
        way = bandit.choose(problem, rng)
        rank = int(rng.integers(len(pool), size=_DRAWN).min())
        parent = pool[rank]
        found = attempt(data, problem, perturb(data, problem, parent, way, rng), parent, LOOSE)
        success = found.objective < parent.objective - least_gain(parent)
        self._count(found)
        cost = data.reads.work - begun
        mean = (self.spent + cost) / self.n_rounds
        bandit.learn(way, success=success, cost=cost / mean)
        near = _KEPT_ONCE * abs(best.objective)
        if success and all(abs(found.objective - each.objective) > near for each in pool):
            self.pool = ranked([*pool[:rank], improved(parent, found), *pool[rank + 1 :]])
            self.gained = True


def _short_run(data: Engine, short: Problem, pair: Pair) -> Solution:
    """Run a start; outliers are admitted gradually."""
    if not short.allows_outliers:
        return solve(data, short, pair)
    start = solve(data, replace(short, max_iter=0), pair)
    found = solve(data, short, pressurised(data, short, pair))
    if start.objective >= found.history[0]:
        found = replace(found, history=np.append(start.history, found.history))
    return found


def _alike(best: Solution, objective: float) -> bool:
    """Whether an objective is that of the best solution, or lower, but for a share of it."""
    return objective <= best.objective + _SAME * abs(best.objective) + best.noise


def ranked(pool: list[Solution]) -> list[Solution]:
    """Sort by objective; of solutions that differ by rounding alone, the first found comes first.

    Otherwise dense and sparse data, whose sums round differently, would number clusters
    differently.
    """
    order = sorted(range(len(pool)), key=lambda i: pool[i].objective)
    ranks, rank = {}, 0
    for before, i in zip([order[0], *order], order, strict=False):
        rank += not _alike(pool[before], pool[i].objective)
        ranks[i] = rank
    return [pool[i] for i in sorted(order, key=lambda i: (ranks[i], i))]
