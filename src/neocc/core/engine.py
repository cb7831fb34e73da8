"""The engine: what the solver asks of the data, put to all shards of rows.

Answers are put together in the order of the shards, so that a fit does not depend on where they
are, nor on when each of them answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from neocc._typing import FloatArray, IntArray
from neocc.core.assign import Applied, Step, settled
from neocc.core.objectives import Centring, Side
from neocc.core.overlap import OverlapModel, Scores
from neocc.core.prices import find_thresholds
from neocc.core.problem import Problem
from neocc.core.shards import Effects, Reads, Result, Shards, Task
from neocc.core.thresholds import Guess
from neocc.kernels import Base, Features, Kernels, Memberships, Terms

__all__ = ["Engine"]

# Memberships that shards hold were made from distances, these from earlier memberships, and so on:
# all of it is made again when a worker is lost. After so many steps memberships are sent instead.
_MOST_LINKS = 8


@dataclass
class Engine:
    """Access to a matrix through sums over clusters."""

    shards: Shards
    _centred: dict[Centring, Engine] = field(default_factory=dict)
    # Of the last row step, where there are several shards: its memberships, and where they are.
    _guess: Guess | None = None
    _held: tuple[Memberships, Any] | None = None
    _n_links: int = 0

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return int(self.shards.edges[-1]), self.shards.n_columns

    @property
    def n_stored(self) -> int:
        """Number of stored entries."""
        return self.shards.n_stored

    @property
    def kernels(self) -> Kernels:
        """The kernels by which this process scores columns."""
        return self.shards.kernels

    @property
    def reads(self) -> Reads:
        """How often the data were read so far."""
        return self.shards.reads

    @property
    def effects(self) -> Effects:
        """What is subtracted from the rows and the columns."""
        return self.shards.effects

    def centred(self, centring: Centring, column_effects: FloatArray | None = None) -> Engine:
        """Return an engine over X with effects subtracted on the fly.

        Each kind is made once. `column_effects` replaces those of the data: new rows are
        compared with clusters of old ones.
        """
        if column_effects is not None:
            return Engine(self.shards.centred(centring, column_effects))
        if centring not in self._centred:
            self._centred[centring] = Engine(self.shards.centred(centring, None))
        return self._centred[centring]

    def sample(self, side: Side, items: IntArray) -> Engine:
        """Return an engine over a copy of some of the rows or columns, in this process."""
        return Engine(self.shards.sample(side, items))

    def each(
        self, function: Callable[[Engine, Task], Result], tasks: Sequence[Task]
    ) -> Iterator[Result]:
        """Yield a function of an engine and each task, in order; several are made at a time."""

        def run(shards: Shards, task: Task) -> Result:
            return function(self if shards is self.shards else Engine(shards), task)

        return self.shards.run_each(run, tasks)

    def take_rows(self, rows: IntArray) -> FloatArray:
        """Return a few rows, centred, as a dense table."""
        return self.shards.dense_rows(rows)

    def over_table(self, table: FloatArray) -> Engine:
        """Return an engine over a dense table, in this process."""
        return Engine(self.shards.over_table(table))

    def row_squares(self, weights: FloatArray | None = None) -> FloatArray:
        """Return the squared norm of every row, with a weight for each column."""
        return self._stacked("row_squares", weights)

    def column_squares(self, weights: FloatArray | None = None) -> FloatArray:
        """Return the squared norm of every column, with a weight for each row."""
        squares: FloatArray = self._added("column_squares", weights)
        return squares

    def row_margins(self) -> FloatArray:
        """Return the sum of every row."""
        return self._stacked("base_of", "rows", "margins")

    def column_margins(self) -> FloatArray:
        """Return the sum of every column."""
        shards = self.shards
        margins: FloatArray = shards.total("base_of", shards.each, common=("columns", "margins"))
        return margins

    def n_nonzero(self) -> int:
        """Return how many entries are not zero."""
        return int(sum(self._each("n_nonzero")))

    def first_negative(self) -> tuple[int, int, float] | None:
        """Return row, column and value of the first negative entry; None if there is none."""
        found = self._each("first_negative")
        for each, start in zip(found, self.shards.edges.tolist(), strict=False):
            if each is not None:
                return each[0] + start, each[1], each[2]
        return None

    def value_range(self) -> tuple[float, float]:
        """Return the least and the largest value of observed cells."""
        found = self._each("value_range")
        return min(low for low, _ in found), max(high for _, high in found)

    def multiply(self, table: FloatArray) -> FloatArray:
        """Return X times a thin table."""
        self.reads.work += 1
        return self._stacked("multiply", table)

    def multiply_transposed(self, table: FloatArray) -> FloatArray:
        """Return X' times a thin table."""
        self.reads.work += 1
        products: FloatArray = self._added("multiply_transposed", table)
        return products

    def column_features(
        self,
        U: Memberships | None,
        V: Memberships | None,
        *,
        base: Base | None = "weighted",
        counts: bool = False,
    ) -> Features:
        """Return the features of all columns, given row memberships U; with V also products.

        With `counts` only observed cells are summed, and counted.
        """
        # Products take about as long as sums.
        self.shards.reads.work += 1 if U is None or V is None else 2
        found: Features = self._added("column_features", U, V, base, counts)
        return found

    def row_distances(self, terms: Terms, V: Memberships | None) -> FloatArray:
        """Return the distance of every row to every row cluster, not rounded."""
        self.reads.work += 1
        return self._stacked("row_distances", terms, V)

    def row_features(self, V: Memberships, base: Base) -> Features:
        """Return the features of all rows over observed cells, given column memberships V."""
        l = V.n_clusters  # noqa: E741
        nothing, eye, zeros = np.zeros((l, l)), np.eye(l), np.zeros(2 * l)
        slope, curve = np.hstack([eye, nothing]), np.hstack([nothing, eye])
        terms = Terms(zeros, slope, None, None, zeros, rate=zeros, base="plain", curve=curve)
        both = self.row_distances(terms, V)
        squares = self.row_squares(None if base == "plain" else V.weights)
        return Features(both[:, :l], squares, None, both[:, l:])

    def row_scores(self, terms: Terms, V: Memberships | None, *, sums: bool = False) -> Scores:
        """Return comparable distances of all rows, with their nearest clusters.

        With `sums` also the parts of distances, by column clusters.
        """
        return Scores.joined(self._asked("score", None, terms, V, sums))

    def followed_rows(
        self, model: OverlapModel, terms: Terms, U: Memberships, V: Memberships | None
    ) -> Memberships:
        """Return row memberships in which each row follows the clusters that fit it best."""
        return Memberships.joined(self._asked("followed", U, terms, V, model))

    def nearest_rows(self, terms: Terms, U: Memberships, V: Memberships | None) -> IntArray:
        """Return the nearest cluster of every row among its own, -1 for a row in none."""
        return np.concatenate(self._asked("nearest", U, terms, V))

    def assign_rows(
        self, problem: Problem, terms: Terms, U: Memberships | None, V: Memberships | None
    ) -> Step:
        """Return the objective of U and the assignment of all rows."""
        shards, counts, model = self.shards, problem.rows, problem.overlap_model
        shards.reads.work += 1
        assert counts is not None
        given = problem.no_memberships("rows") if U is None else U
        before = self._parts(given) if self._n_links else self._cut(given)
        common = (terms, V, model, counts.needs_distances)
        choices = shards.call("choices", shards.each, before, common=common)

        def ask(method: str, given: list[Any], *common: Any) -> list[Any]:
            return shards.gather(shards.call(method, choices, given, common=common))

        n_shards, first = len(shards.edges) - 1, model.prices_first
        thresholds = find_thresholds(ask, counts, n_shards, self._guess, prices_first=first)
        applied = shards.call("apply", choices, thresholds)
        found: list[Applied] = shards.gather(applied)
        objective, gain = found[0].objective, found[0].gain
        for each in found[1:]:
            objective, gain = objective + each.objective, gain + each.gain
        assigned = found[0].members
        if len(found) > 1:
            assigned = Memberships.joined([each.members for each in found])
        whole = Applied(assigned, objective, gain)
        filled = settled(whole, applied, counts, model, U, ask, self._cut)
        if n_shards > 1 and U is not None:
            self._guess = self._guess or Guess()
            self._guess.learn(thresholds[0].pair)
            self._n_links = (self._n_links + 1) % _MOST_LINKS
            # Shards without pairs of clusters do not sum over these, unless all are told to.
            alike = len({each.members.summed.n_clusters for each in found}) == 1
            self._held = (filled, applied) if filled is assigned and alike else None
        return Step(objective, filled, thresholds[0].pair)

    def sum_blocks(self, function: Callable[..., Any], U: Memberships, *common: Any) -> Any:
        """Return the sum of a function of blocks of rows, their memberships and what is common."""
        return sum(self._each("sum_blocks", self._cut(U), common=(function, *common)))

    @contextmanager
    def refreshed(self) -> Iterator[bool]:
        """Drop what was kept to spare passes, and count no work in the `with` block.

        Yields whether features may have rounded differently, so that they have to be made again.
        """
        self._guess = self._held = None
        work, is_lost = self.reads.work, self.shards.refresh()
        yield is_lost
        self.reads.work = work

    def _parts(self, of_rows: Any) -> Any:
        """Cut what has an entry per row; shards have memberships that they have just assigned."""
        if self._held is not None and self._held[0] is of_rows:
            return self._held[1]
        return self._cut(of_rows)

    def _cut(self, of_rows: Any) -> list[Any]:
        """Cut what has an entry per row (or nothing) at the edges of the shards."""
        n_shards = len(self.shards.edges) - 1
        if of_rows is None or n_shards == 1:
            return [of_rows] * n_shards
        edges = self.shards.edges.tolist()
        if isinstance(of_rows, Memberships):
            return [of_rows.slice(*rows) for rows in pairwise(edges)]
        return [of_rows[slice(*rows)].copy() for rows in pairwise(edges)]

    def _each(self, method: str, *parts: Any, common: Sequence[Any] = ()) -> list[Any]:
        """Return the results of all shards."""
        return self.shards.gather(self.shards.call(method, self.shards.each, *parts, common=common))

    def _asked(self, method: str, of_rows: Any, *common: Any) -> list[Any]:
        """Return the results of all shards, and count a pass; `of_rows` has an entry per row."""
        self.reads.work += 1
        return self._each(method, self._cut(of_rows), common=common)

    def _stacked(self, method: str, *common: Any) -> FloatArray:
        """Return the results of all shards, one below the other."""
        parts = self._each(method, common=common)
        table: FloatArray = parts[0] if len(parts) == 1 else np.concatenate(parts)
        return table

    def _added(self, method: str, of_rows: Any, *common: Any) -> Any:
        """Return the sum of the results of all shards, given what has an entry per row."""
        parts = self._cut(of_rows) if self._held is None else self._parts(of_rows)
        each = self.shards.each
        return self.shards.total(method, each, parts, common=common)
