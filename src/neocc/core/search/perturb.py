"""Ways to leave a basin: shake memberships, or move a whole cluster.

Which of them works depends on the data. Slightly misplaced borders call for a shake; a cluster in
the wrong place has to be dissolved and begun elsewhere. A `Bandit` learns it during a search.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from neocc._typing import BoolArray, FloatArray
from neocc.core.engine import Engine
from neocc.core.objectives import Side
from neocc.core.problem import Problem
from neocc.core.solve import Solution
from neocc.core.steps import Pair, assigned, distances, with_side
from neocc.kernels import Memberships

__all__ = ["Bandit", "Resumable", "perturb", "relocate", "replaced", "shake"]

# Fractions of row and column memberships that a round moves at random.
_SHAKES = ((0.1, 0.3), (0.1, 0.1), (0.03, 0.3))
_N_WAYS = len(_SHAKES) + 2
# The item that begins a cluster is drawn in proportion to a power of its distance: a high one takes
# nearly the worst item, which may be alone of its kind.
_POWERS = (1.0, 4.0)
# Numbers of similar items that join it.
_GROUPS = (0, 4, 16)
# Bounds the odds: a cluster that costs nothing to dissolve is a thousand times as likely to be
# dissolved as the most expensive one.
_LEAST_COST = 1e-3
# Cells of a table that are copied at a time: a copy of all rows is significant next to X.
_CHUNK = 1 << 20
# Cosines are compared to this many digits: dense and sparse data round them differently.
_DIGITS = 10
_TINY = np.finfo(float).tiny


@dataclass
class Bandit:
    """Chooses among the ways by how often each has led to a lower solution.

    Ways are numbered: the fractions of `_SHAKES`, then the relocation of a cluster of rows and of
    columns. A way is chosen in proportion to its rate of success so far; tries may count by what
    they cost. The arrays are replaced, never modified.
    """

    tries: FloatArray = field(default_factory=lambda: np.full(_N_WAYS, 2.0))
    successes: FloatArray = field(default_factory=lambda: np.ones(_N_WAYS))

    def choose(self, problem: Problem, rng: np.random.Generator) -> int:
        """Draw one of the ways that the problem allows."""
        moved = [len(_SHAKES) + int(side == "columns") for side in problem.sides]
        ways: list[int] = [*range(len(_SHAKES)), *moved]
        rates = (self.successes / self.tries)[ways]
        return ways[int(rng.choice(len(ways), p=rates / rates.sum()))]

    def learn(self, way: int, *, success: bool, cost: float = 1.0) -> None:
        """Count a try."""
        tried = np.arange(_N_WAYS) == way
        self.tries = self.tries + cost * tried
        self.successes = self.successes + (tried & success)


@dataclass
class Resumable:
    """The state of a search that perturbs: all that another process needs to resume it.

    Lists and arrays are replaced, never modified.
    """

    bandit: Bandit = field(default_factory=Bandit, kw_only=True)

    def noted(self, rng: np.random.Generator) -> dict[str, Any]:
        """Return what `resumed` needs."""
        state = dict(rng.bit_generator.state)
        return {**vars(self), "bandit": dict(vars(self.bandit)), "rng": state}

    @classmethod
    def resumed(cls, noted: dict[str, Any] | None, rng: np.random.Generator) -> Self:
        """Return the noted search with the generator where it was, or a new one."""
        if noted is None:
            return cls()
        state = dict(noted)
        rng.bit_generator.state = state.pop("rng")
        return cls(**{**state, "bandit": Bandit(**state["bandit"])})


def perturb(
    engine: Engine, problem: Problem, best: Solution, way: int, rng: np.random.Generator
) -> Pair:
    """Return feasible memberships near a solution, made in one of the ways of a `Bandit`."""
    if way >= len(_SHAKES):
        side: Side = "rows" if way == len(_SHAKES) else "columns"
        return relocate(engine, problem, best, side, rng)
    U, V = (
        None if members is None else shake(members, fraction, rng)
        for members, fraction in zip(best.pair, _SHAKES[way], strict=True)
    )
    return U, V


def replaced(problem: Problem, pair: Pair, side: Side, members: BoolArray) -> Pair:
    """Return a pair with other memberships on one side, weighted as the overlap model has it."""
    weighted = problem.weighted(side, Memberships.from_dense(members))
    return with_side(pair, side, weighted)


def shake(members: Memberships, fraction: float, rng: np.random.Generator) -> Memberships:
    """Move about a fraction of the memberships to random clusters, item by item.

    An item keeps its number of memberships, so counts and outliers stay as they are.
    """
    matrix = members.dense.copy()
    items, clusters = np.nonzero(matrix)
    chosen = rng.random(len(items)) < fraction
    targets = rng.integers(members.n_clusters, size=len(items))
    items, clusters, targets = items[chosen], clusters[chosen], targets[chosen]
    # Memberships of one item are moved one after the other, those of different items at once.
    place = np.arange(len(items)) - np.searchsorted(items, items)
    for each in range(int(place.max(initial=-1)) + 1):
        some = place == each
        some[some] = ~matrix[items[some], targets[some]]
        matrix[items[some], clusters[some]] = False
        matrix[items[some], targets[some]] = True
    return Memberships.from_dense(matrix)


def relocate(
    engine: Engine, problem: Problem, best: Solution, side: Side, rng: np.random.Generator
) -> Pair:
    """Dissolve a cluster that others can replace, and begin one with items that fit badly.

    Shaking moves the borders of clusters; this moves a whole cluster to where one is missing (as
    the random swaps of Fränti, 2018, do). A single item is a poor centre where items are mostly
    noise, so a cluster often begins with a few that resemble it.
    """
    # Products of a solution may be those of an earlier V; rows do without them.
    features = best.features if side == "rows" else None
    d = distances(engine, problem, side, best.pair, features)
    if not problem.objective.background:
        np.maximum(d, 0.0, out=d)
    members = best.pair[0 if side == "rows" else 1]
    assert members is not None
    if members.item_weights is not None:
        d *= members.item_weights[:, None]
    matrix = members.dense.copy()
    costs = _costs_of_dissolving(matrix, d)
    cluster = _draw(1.0 / (_LEAST_COST + costs / max(float(costs.max()), _TINY)), rng)
    power = _POWERS[int(rng.integers(len(_POWERS)))]
    worst = np.maximum(d.min(axis=1), 0.0)
    item = _draw((worst / max(float(worst.max()), _TINY)) ** power, rng)
    matrix[:, cluster] = False
    matrix[item, cluster] = True
    n_alike = _GROUPS[int(rng.integers(len(_GROUPS)))]
    if n_alike > 0:
        alike = np.argsort(-_cosines(engine, side, item), kind="stable")[:n_alike]
        matrix[alike, cluster] = True
    return assigned(engine, problem, side, replaced(problem, best.pair, side, matrix))


def _cosines(engine: Engine, side: Side, item: int) -> FloatArray:
    """Return the cosine of the angle between every item of a side and one of them."""
    if side == "rows":
        products = engine.multiply(engine.take_rows(np.array([item])).T)[:, 0]
        squares = engine.row_squares()
    else:
        unit = np.zeros((engine.shape[1], 1))
        unit[item] = 1.0
        products = engine.multiply_transposed(engine.multiply(unit))[:, 0]
        squares = engine.column_squares()
    norms = np.sqrt(np.maximum(squares, _TINY))
    cosines: FloatArray = np.round(products / norms / norms[item], _DIGITS)
    return cosines


def _costs_of_dissolving(members: BoolArray, d: FloatArray) -> FloatArray:
    """Return what each cluster's members would cost in the nearest cluster they are not in."""
    costs = np.zeros(d.shape[1])
    step = max(1, _CHUNK // d.shape[1])
    for start in range(0, len(d), step):
        inside, part = members[start : start + step], d[start : start + step]
        elsewhere = np.where(inside, np.inf, part).min(axis=1, keepdims=True)
        extra = np.where(inside & np.isfinite(elsewhere), np.maximum(elsewhere - part, 0.0), 0.0)
        costs += extra.sum(axis=0)
    return costs


def _draw(weights: FloatArray, rng: np.random.Generator) -> int:
    """Draw an index in proportion to weights, evenly where there are none."""
    total = weights.sum()
    even = np.full(len(weights), 1.0 / len(weights))
    return int(rng.choice(len(weights), p=weights / total if total > 0 else even))
