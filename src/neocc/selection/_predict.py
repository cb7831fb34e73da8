"""Numbers of clusters by prediction: cells are held out, and the errors of both sides judged."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from neocc.core.engine import Engine
from neocc.core.objectives import MEAN, POISSON, Objective
from neocc.core.overlap import REPEAT, OverlapModel
from neocc.core.problem import Problem
from neocc.engines import Matrix
from neocc.engines.reading import as_matrix
from neocc.engines.validation import make_counts
from neocc.selection._cells import Cells
from neocc.selection._considered import (
    Outliers,
    known_outliers,
    sampled,
    shortened,
    without_items,
)
from neocc.selection._curves import SIDES, Curve, holds_out_cells
from neocc.selection._cuts import Cuts
from neocc.selection._data import Open, opener
from neocc.selection._described import as_many, with_enough
from neocc.selection._fewer import fewer_that_overlap
from neocc.selection._heldout import Blocks
from neocc.selection._predicted import SAME, PredictedClusters, SidePrediction
from neocc.selection._together import Looks, is_estimated
from neocc.selection._verdict import Tried, judged

__all__ = ["Wanted", "choose_numbers"]

_MOST_ENTRIES = 5_000_000


@dataclass(frozen=True)
class Wanted:
    """What numbers are chosen for; of each side some to choose from, None for any.

    Outliers that are None are estimated first: a few that had to be in a cluster would ask for many
    clusters of their own. A side whose items may have several memberships gets fewer clusters where
    these explain as much.
    """

    objective: Objective
    rows: list[int] | None = None
    columns: list[int] | None = None
    outliers: tuple[float | None, float | None] = (0.0, 0.0)
    overlap_model: OverlapModel = REPEAT
    most: tuple[int, int] = (1, 1)  # memberships that an item of each side may have
    looks: Looks = field(default_factory=Looks)

    def known(self, engine: Engine, rng: np.random.Generator) -> list[Outliers]:
        """Return what is left out: nobody where cells are held out.

        Costs are then relative to a background, so that outliers ask for no clusters.
        """
        if holds_out_cells(self.objective):
            return known_outliers(engine, (0.0, 0.0), rng)
        found = known_outliers(engine, self.outliers, rng, self.looks)
        sides = zip(found, engine.shape, (self.rows, self.columns), strict=True)
        # Parts of the data have an item at least.
        return [each.if_left(n, max(2, *(some or [1]))) for each, n, some in sides]

    def said(self, known: list[Outliers]) -> list[str]:
        """Say what was found to be left out."""
        sides = zip(SIDES, self.outliers, known, strict=True)
        found = (out.said(side) for side, given, out in sides if given is None and out.share)
        return [f"numbers were chosen without {some}." for some in found]

    def problem(self, shape: tuple[int, int], known: list[Outliers]) -> Problem:
        """Return the problem of one block, of which those of more clusters are made.

        Clusters do not overlap.
        """
        rows, columns = (
            make_counts(side[:-1], n, 1, 0.0 - out.unknown, out.unknown)
            for side, n, out in zip(SIDES, shape, known, strict=True)
        )
        if not holds_out_cells(self.objective):
            return Problem(self.objective, rows, columns, overlap_model=self.overlap_model)
        # Diagonal blocks are some of those that all pairs of clusters make.
        return Problem(POISSON if self.objective.paired else self.objective, rows, columns)

    def tried(self, shape: tuple[int, int]) -> list[Tried]:
        """Return what can be tried of so many rows and columns."""
        numbers = zip((self.rows, self.columns), shape, strict=True)
        return [Tried.of(each, n, per_item=self.objective.per_item) for each, n in numbers]

    def fewer(self, found: tuple[SidePrediction, SidePrediction]) -> list[list[int]]:
        """Return smaller numbers to choose from on each side that may overlap."""
        if not is_estimated(self.objective):
            return [[], []]
        sides = zip(found, self.most, (self.rows, self.columns), strict=True)
        return [
            [k for k in range(2, each.taken) if most > 1 and (some is None or k in some)]
            for each, most, some in sides
        ]

    @property
    def given(self) -> tuple[bool, bool]:
        """Whether there is something to choose from on each side."""
        return self.rows is not None, self.columns is not None


def choose_numbers(
    matrix: Matrix,
    wanted: Wanted,
    rng: np.random.Generator,
    n_jobs: int | None = None,
    max_entries: int | None = _MOST_ENTRIES,
    n_init: int = 2,
    callback: Callable[[int, int], Any] | None = None,
) -> PredictedClusters:
    """Predict what is held out and choose; the grid grows while more clusters may be better.

    A matrix of more than `max_entries` is represented by some of its rows, a long one by some of
    its rows or columns. Outliers that are known are taken out.
    """
    largest = max((each[-1] for each in (wanted.rows, wanted.columns) if each), default=1)
    matrix, notes = sampled(matrix, max_entries, largest, rng)
    if max_entries is not None:
        matrix, of_length = shortened(matrix, largest, rng)
        notes += of_length
    if min(matrix.shape) < 2:
        tried = wanted.tried(matrix.shape)
        rows, columns = (
            judged(Curve(np.zeros((1, n)), np.ones(1)), side, each)
            for n, side, each in zip(matrix.shape, SIDES, tried, strict=True)
        )
        return PredictedClusters(rows, columns, wanted.objective.name, True, tuple(notes))
    with opener(matrix, n_jobs) as open_:
        engine = open_(matrix)
        wanted.objective.check(engine)
        known = wanted.known(engine, rng)
        notes += wanted.said(known)
        matrix = without_items(matrix, known)
        engine = open_(matrix)
        problem, tried = wanted.problem(matrix.shape, known), wanted.tried(matrix.shape)
        seed = int(rng.integers(2**31))
        held = holds_out_cells(wanted.objective)
        source = Cells(matrix, open_) if held else Blocks(matrix, open_)
        most = [each.first(source.first) for each in tried]
        found, complete = None, True
        settle = _Settled(engine, wanted, problem, [each.unknown for each in known], rng, n_init)
        try:
            while complete:
                cuts = Cuts(source, problem, most, tried, seed, n_init)
                found, complete = cuts.run(callback, settle if settle.is_final else None)
                more = [each.grown(side) for each, side in zip(tried, found, strict=True)]
                if more == most:
                    break
                most = more
            if complete and found is not None and problem.objective.needs_products:
                found = _second_opinion(matrix, open_, problem, found, tried, seed, n_init)
            if complete and found is not None and not wanted.objective.paired:
                found = settle(found)
        except KeyboardInterrupt:
            if found is None:
                raise
            complete = False
        assert found is not None
        if wanted.objective.paired:
            found = as_many(found, wanted.given)
    return PredictedClusters(*found, wanted.objective.name, complete, tuple(notes))


@dataclass
class _Settled:
    """What both sides need beside each other, and fewer clusters that overlap.

    That depends on the numbers that predict best, and on nothing else in these predictions.
    """

    engine: Engine
    wanted: Wanted
    problem: Problem
    outliers: list[float]
    rng: np.random.Generator
    n_init: int
    _known: dict[tuple[int, int], list[tuple[int | None, int | None]]] = field(default_factory=dict)

    @property
    def is_final(self) -> bool:
        """Whether overlap ends all doubt: items may share clusters, and no one else is asked."""
        wanted = self.wanted
        may = max(wanted.most) > 1 and is_estimated(wanted.objective)
        return may and not self.problem.objective.needs_products

    def __call__(
        self, found: tuple[SidePrediction, SidePrediction]
    ) -> tuple[SidePrediction, SidePrediction]:
        """Return what was found, with that."""
        numbers = found[0].number, found[1].number
        if numbers not in self._known:
            # What is drawn for some numbers does not depend on others that were asked about before.
            wanted, rng = self.wanted, deepcopy(self.rng)
            each = with_enough(self.engine, self.problem, found, rng, self.n_init, wanted.given)
            fewer, objective, most = wanted.fewer(each), wanted.objective, wanted.most
            each = fewer_that_overlap(
                self.engine, objective, each, fewer, self.outliers, most, rng, wanted.looks
            )
            self._known[numbers] = [(side.wanted, side.overlapping) for side in each]
        rows, columns = (
            replace(side, wanted=enough, overlapping=number)
            for side, (enough, number) in zip(found, self._known[numbers], strict=True)
        )
        return rows, columns


def _second_opinion(
    matrix: Matrix,
    open_: Open,
    problem: Problem,
    found: tuple[SidePrediction, SidePrediction],
    tried: list[Tried],
    seed: int,
    n_init: int,
) -> tuple[SidePrediction, SidePrediction]:
    """Ask blocks of one value, in data without levels, about sides that are not clear.

    Every cluster more has an offset for each item of the other side. Of a few dozen columns half
    tell too little of those of thousands of rows, even where the columns are of several kinds. The
    answer is taken if there was none before, or if parts of the data agree on it better.
    """
    pairs = zip(found, tried, strict=True)
    doubtful = [
        one.numbers is None and (each.number == 1 or each.agreement < SAME) for each, one in pairs
    ]
    block = matrix.block(0, matrix.shape[0])
    if not any(doubtful) or not isinstance(block, np.ndarray):
        return found
    plain = block - block.mean(axis=1, keepdims=True)
    plain -= plain.mean(axis=0)
    again = [Tried.of(None, n, per_item=False) for n in matrix.shape]
    source = Blocks(as_matrix(plain), open_)
    most = [each.first(source.first) for each in again]
    alike = replace(problem, objective=MEAN)
    others, _ = Cuts(source, alike, most, again, seed, n_init).run(None)
    # One side without clusters beside one that has some is no clear answer.
    some = any(each.number > 1 for each in (*found, *others))
    rows, columns = (
        replace(other, other_model=some)
        if is_doubtful and (own.number == 1 or other.agreement > own.agreement)
        else own
        for own, other, is_doubtful in zip(found, others, doubtful, strict=True)
    )
    return rows, columns
