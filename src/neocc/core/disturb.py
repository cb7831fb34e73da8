"""Ways to leave a basin: shake memberships, or move a whole cluster.

Which way works depends on the data. Borders that are a little off want a shake; a cluster in the
wrong place wants to be dissolved and begun elsewhere. `Luck` finds out during a search.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from neocc._typing import BoolArray, FloatArray
from neocc.core.engine import Engine
from neocc.core.incremental import sums_of
from neocc.core.initialise import joined
from neocc.core.objectives import distances
from neocc.core.problem import Problem, Side
from neocc.core.solve import Solution
from neocc.core.tables import column_tables, row_tables
from neocc.kernels import Memberships

# Fractions of row and column memberships that a round moves at random.
_SHAKES = ((0.1, 0.3), (0.1, 0.1), (0.03, 0.3))
# Powers of the distance that an item is drawn by to begin a cluster.
_POWERS = (1.0, 4.0)
# Numbers of similar items that may join it there.
_GROUPS = (0, 4, 16)
# A cluster that costs nothing to dissolve is so much likelier to be than the dearest one.
_LEAST_COST = 1e-3
# Cells of a table that are copied at a time: all rows at once would be felt beside the data.
_CHUNK = 1 << 20
_TINY = np.finfo(float).tiny


class Luck:
    """How often each way has led to a lower solution, to choose the next one by.

    Ways are numbered: the fractions of `_SHAKES`, then the relocation of a cluster of rows and of
    columns. A way is chosen in proportion to its rate of success so far.
    """

    def __init__(self) -> None:
        n_ways = len(_SHAKES) + 2
        self.n_tries = 0
        self._tries: FloatArray = np.full(n_ways, 2.0)
        self._successes: FloatArray = np.ones(n_ways)

    @property
    def record(self) -> tuple[FloatArray, FloatArray]:
        """Copies of all tries and successes."""
        return self._tries.copy(), self._successes.copy()

    @classmethod
    def from_record(cls, tries: FloatArray, successes: FloatArray) -> Luck:
        """Go on from a record."""
        luck = cls()
        luck._tries, luck._successes = tries.copy(), successes.copy()
        return luck

    def choose(self, problem: Problem, rng: np.random.Generator) -> int:
        """Draw one of the ways that the problem allows."""
        moved = [len(_SHAKES) + int(side == "columns") for side in problem.sides]
        ways: list[int] = [*range(len(_SHAKES)), *moved]
        rates = (self._successes / self._tries)[ways]
        return ways[int(rng.choice(len(ways), p=rates / rates.sum()))]

    def learn(self, way: int, *, success: bool) -> None:
        """Count a try."""
        self.n_tries += 1
        self._tries[way] += 1.0
        self._successes[way] += success


def disturbed(
    engine: Engine, problem: Problem, best: Solution, way: int, rng: np.random.Generator
) -> tuple[Memberships | None, Memberships | None]:
    """Return feasible memberships near a solution, made in one of the ways of `Luck`."""
    if way >= len(_SHAKES):
        side: Side = "rows" if way == len(_SHAKES) else "columns"
        return relocate(engine, problem, best, side, rng)
    U, V = (
        None if side is None else shake(side, fraction, rng)
        for side, fraction in zip((best.U, best.V), _SHAKES[way], strict=True)
    )
    return U, V


def shake(members: Memberships, fraction: float, rng: np.random.Generator) -> Memberships:
    """Move about a fraction of the memberships to random clusters, item by item.

    An item keeps its number of memberships, so counts and outliers stay as they are.
    """
    matrix = members.dense.copy()
    items, clusters = np.nonzero(matrix)
    chosen = rng.random(len(items)) < fraction
    targets = rng.integers(members.n_clusters, size=len(items))
    for item, source, target in zip(
        items[chosen].tolist(), clusters[chosen].tolist(), targets[chosen].tolist(), strict=True
    ):
        if not matrix[item, target]:
            matrix[item, source] = False
            matrix[item, target] = True
    return Memberships.from_dense(matrix)


def relocate(
    engine: Engine, problem: Problem, best: Solution, side: Side, rng: np.random.Generator
) -> tuple[Memberships | None, Memberships | None]:
    """Dissolve a cluster that others can replace, and begin one with items that fit badly.

    Shaking moves the borders of clusters; this moves a whole cluster to where one is missing (as
    the random swaps of Fraenti, 2018, do). A single item is a poor centre where items are mostly
    noise, so that a cluster is begun with a few that resemble it as often as with one.
    """
    U, V = best.U, best.V
    if side == "rows":
        assert U is not None and problem.rows is not None
        d = engine.row_distances(row_tables(problem, best.sums, U, V), V)
        U = _moved(U, d, partial(_resemblance_of_rows, engine), rng)
        tables = row_tables(problem, sums_of(engine, problem, U, V), U, V)
        return engine.reassign_rows(tables, None, V, problem.rows).assignment.members, V
    assert V is not None and problem.columns is not None
    sums = sums_of(engine, problem, U, V)
    d = distances(sums, column_tables(problem, sums, U, V))
    V = _moved(V, d, partial(_resemblance_of_columns, engine), rng)
    sums = sums_of(engine, problem, U, V)
    return U, joined(sums, column_tables(problem, sums, U, V), problem.columns)


def _moved(
    members: Memberships,
    d: FloatArray,
    resemblance: Callable[[int], FloatArray],
    rng: np.random.Generator,
) -> Memberships:
    """Let a cluster that can be spared consist of an item that fits badly, or of some like it.

    Distances below 0 are changed to 0 in `d`.
    """
    matrix = members.dense.copy()
    np.maximum(d, 0.0, out=d)
    costs = _costs_of_dissolving(matrix, d)
    cluster = _draw(1.0 / (_LEAST_COST + costs / max(float(costs.max()), _TINY)), rng)
    # Sometimes nearly the worst, sometimes any: an item that costs much may stand for many or none.
    power = _POWERS[int(rng.integers(len(_POWERS)))]
    worst = d.min(axis=1)
    item = _draw((worst / max(float(worst.max()), _TINY)) ** power, rng)
    matrix[:, cluster] = False
    matrix[item, cluster] = True
    n_alike = _GROUPS[int(rng.integers(len(_GROUPS)))]
    if n_alike > 0:
        alike = np.argsort(-resemblance(item), kind="stable")[:n_alike]
        matrix[alike, cluster] = True
    return Memberships.from_dense(matrix)


def _resemblance_of_rows(engine: Engine, item: int) -> FloatArray:
    """Return the cosine of the angle between every row and one of them."""
    products = engine.multiply(engine.take_rows(np.array([item])).T)[:, 0]
    return _cosines(products, engine.row_squares(), item)


def _resemblance_of_columns(engine: Engine, item: int) -> FloatArray:
    """Return the cosine of the angle between every column and one of them."""
    unit = np.zeros((engine.shape[1], 1))
    unit[item] = 1.0
    products = engine.multiply_transposed(engine.multiply(unit))[:, 0]
    return _cosines(products, engine.column_sums(None, None).squares, item)


def _cosines(products: FloatArray, squares: FloatArray, item: int) -> FloatArray:
    norms = np.sqrt(np.maximum(squares, _TINY))
    cosines: FloatArray = products / norms / norms[item]
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
