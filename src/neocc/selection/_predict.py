"""Numbers of clusters by prediction: cells are held out, and the errors of both sides judged."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
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
from neocc.selection._curves import SIDES, Curve, holds_out_cells, with_clusters
from neocc.selection._data import Open, is_true, opener
from neocc.selection._described import as_many, with_enough
from neocc.selection._fewer import fewer_that_overlap
from neocc.selection._heldout import Blocks
from neocc.selection._predicted import SAME, PredictedClusters, SidePrediction
from neocc.selection._together import is_estimated
from neocc.selection._verdict import Tried, judged, judged_together

__all__ = ["Wanted", "choose_numbers"]

logger = logging.getLogger("neocc")

_MOST_ENTRIES = 5_000_000
# Clusters on which parts agree so well are found again in any cut.
_EQUAL = 0.98


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

    def known(self, engine: Engine, rng: np.random.Generator) -> list[Outliers]:
        """Return what is left out: nobody where cells are held out.

        Costs are then relative to a background, so that outliers ask for no clusters.
        """
        if holds_out_cells(self.objective):
            return known_outliers(engine, (0.0, 0.0), rng)
        found = known_outliers(engine, self.outliers, rng)
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
        try:
            while complete:
                search = _Search(source, problem, most, tried, seed, n_init)
                found, complete = search.run(callback)
                more = [each.grown(side) for each, side in zip(tried, found, strict=True)]
                if more == most:
                    break
                most = more
            if complete and found is not None and problem.objective.needs_products:
                found = _second_opinion(matrix, open_, problem, found, tried, seed, n_init)
            if complete and found is not None and not wanted.objective.paired:
                found = with_enough(engine, problem, found, rng, n_init, wanted.given)
                out = [each.unknown for each in known]
                fewer = wanted.fewer(found)
                found = fewer_that_overlap(
                    engine, wanted.objective, found, fewer, out, wanted.most, rng
                )
        except KeyboardInterrupt:
            if found is None:
                raise
            complete = False
        assert found is not None
        if wanted.objective.paired:
            found = as_many(found, wanted.given)
    return PredictedClusters(*found, wanted.objective.name, complete, tuple(notes))


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
    others, _ = _Search(source, alike, most, again, seed, n_init).run(None)
    # One side without clusters beside one that has some is no clear answer.
    some = any(each.number > 1 for each in (*found, *others))
    rows, columns = (
        replace(other, other_model=some)
        if is_doubtful and (own.number == 1 or other.agreement > own.agreement)
        else own
        for own, other, is_doubtful in zip(found, others, doubtful, strict=True)
    )
    return rows, columns


@dataclass(frozen=True)
class _Search:
    """Several cuts of the data, with up to so many clusters."""

    source: Blocks | Cells
    problem: Problem
    largest: list[int]
    tried: list[Tried]
    seed: int
    n_init: int

    def run(
        self, callback: Callable[[int, int], Any] | None
    ) -> tuple[tuple[SidePrediction, SidePrediction], bool]:
        """Judge the curves of all cuts: of fewer if these leave no doubt, or if it is stopped."""
        rng, problem = np.random.default_rng(self.seed), self.problem
        for side, k in zip(SIDES, self.largest, strict=True):
            problem = with_clusters(problem, side, k)
        curves: list[tuple[Curve, Curve]] = []
        cuts, complete = self.source.n_cuts, True
        try:
            while len(curves) < cuts and not self.is_sure(curves):
                curves.append(self.source.curves(problem, rng, self.n_init))
                done = len(curves)
                logger.info("cut %d/%d: up to %d and %d clusters", done, cuts, *self.largest)
                if callback is not None and is_true(callback(done, cuts)) and done < cuts:
                    complete = False
                    break
        except KeyboardInterrupt:
            if not curves:
                raise
            complete = False
        rows, columns = self.judged(curves)
        return (rows, columns), complete

    def judged(self, curves: list[tuple[Curve, Curve]]) -> list[SidePrediction]:
        """Return what the cuts made so far say of both sides."""
        both = ([pair[s] for pair in curves] for s in (0, 1))
        return [judged_together(*each) for each in zip(both, SIDES, self.tried, strict=True)]

    def is_sure(self, curves: list[tuple[Curve, Curve]]) -> bool:
        """Return whether no further cut is needed.

        All must say the same, each by itself. One is enough if it shows clusters on both sides on
        which parts agree nearly perfectly; one less than usual, if these agree well, or show no
        structure.
        """
        if not curves:
            return False
        found, done = self.judged(curves), len(curves)
        if any(set(each.of_cuts) != {each.number} for each in found):
            return False
        if not all(each.is_agreed for each in found):
            return done >= self.source.usual
        return done >= self.source.usual - 1 or all(
            each.number > 1 and each.agreement >= _EQUAL for each in found
        )
