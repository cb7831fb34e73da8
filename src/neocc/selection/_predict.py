"""Numbers of clusters by prediction: the verdict on held-out errors, for each side by itself.

Let e_k be the held-out error with k clusters, and s the smallest number within one standard error
of the best (of the differences of all items, pairwise). If s is 1 there is no structure. If both
halves of the items give the same s clusters, s it is, as on planted clusters. Real groups are
seldom like that: finer and finer clusters predict a little better, but differ from half to half.
Then the number is the *knee*: the k up to s that lies farthest below the straight line from e_1 to
the best error, at twice as many clusters as s. Numbers that lie nearly as far below it are
plausible too; if there are any, or if halves disagree, the number is said to be unclear.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from neocc.core.engine import Engine
from neocc.core.objectives import MEAN, POISSON, Objective, Side
from neocc.core.overlap import REPEAT, OverlapModel
from neocc.core.problem import Problem
from neocc.engines import Matrix
from neocc.engines.validation import make_counts
from neocc.selection._cells import Cells
from neocc.selection._curves import SIDES, Curve, holds_out_cells, with_clusters
from neocc.selection._data import is_true, opened
from neocc.selection._described import as_many, with_enough
from neocc.selection._heldout import Blocks
from neocc.selection._predicted import PredictedClusters, SidePrediction
from neocc.selection._together import Asked, estimate_sides, other_side

__all__ = ["Wanted", "choose_numbers", "known_outliers", "sampled"]

logger = logging.getLogger("neocc")

_MOST_ENTRIES = 5_000_000
# A sample of the rows must still show clusters.
_ROWS_PER_CLUSTER = 20
_LARGEST = 32
# Outliers are far from all groups, however many there are; these many are asked first.
_SOME_CLUSTERS = 5
# Clusters found in a half of the items must be large enough to be found again.
_ITEMS_PER_CLUSTER, _FEW_ITEMS = 4, 20
_ITEMS_PER_PATTERN = 8
# Halves that agree so well have found the same clusters.
_SAME = 0.9
_NEARLY = 0.95


@dataclass(frozen=True)
class Tried:
    """Numbers to choose from on one side, None for any, and the largest that makes sense."""

    numbers: tuple[int, ...] | None
    limit: int

    @classmethod
    def of(cls, numbers: list[int] | None, n_items: int, *, per_item: bool) -> Tried:
        """Return what can be tried of so many items."""
        each = _ITEMS_PER_CLUSTER if n_items >= _FEW_ITEMS else 2
        limit = max(1, n_items // (_ITEMS_PER_PATTERN if per_item else each))
        return cls(None if numbers is None else tuple(numbers), limit)

    def first(self, most: int) -> int:
        """Return the largest number to begin with: so many, or more if these are asked for."""
        # The other side sees its items through at least some clusters.
        return min(self.limit, most if self.numbers is None else max(2 * self.numbers[-1], most))

    def grown(self, found: SidePrediction) -> int:
        """Return how many to try next: as many again if these may not be enough."""
        largest = found.largest
        stable = found.stability[found.within_error - 1] >= _SAME
        most = self.limit if stable else min(_LARGEST, self.limit)
        short = self.numbers is None and 2 * found.within_error > largest
        return min(2 * largest, most) if short and largest < most else largest


@dataclass(frozen=True)
class Wanted:
    """What numbers are chosen for; of each side some to choose from, None for any.

    Outliers that are None are estimated first: a few that had to be in a cluster would ask for many
    clusters of their own.
    """

    objective: Objective
    rows: list[int] | None = None
    columns: list[int] | None = None
    outliers: tuple[float | None, float | None] = (0.0, 0.0)
    overlap_model: OverlapModel = REPEAT

    def problem(self, engine: Engine, rng: np.random.Generator) -> Problem:
        """Return the problem of one block, of which those of more clusters are made.

        Clusters do not overlap; outliers are left out. Where cells are held out nobody is: costs
        are relative to a background, so that outliers ask for no clusters.
        """
        if holds_out_cells(self.objective):
            rows, columns = (make_counts(s[:-1], n, 1) for s, n in _sized(engine))
            # Diagonal blocks are some of those that all pairs of clusters make.
            objective = POISSON if self.objective.paired else self.objective
            return Problem(objective, rows, columns)
        found = known_outliers(engine, self.outliers, rng)
        rows, columns = (
            make_counts(side[:-1], n, 1, 0.0 - outliers, outliers)
            for (side, n), outliers in zip(_sized(engine), found, strict=True)
        )
        return Problem(self.objective, rows, columns, overlap_model=self.overlap_model)

    @property
    def given(self) -> tuple[bool, bool]:
        """Whether there is something to choose from on each side."""
        return self.rows is not None, self.columns is not None


def known_outliers(
    engine: Engine, outliers: tuple[float | None, float | None], rng: np.random.Generator
) -> list[float]:
    """Return shares of outliers, estimated where they are None: they are far from any clusters."""
    found = []
    for at, ((side, n), given) in enumerate(zip(_sized(engine), outliers, strict=True)):
        if given is None:
            own = Asked(min(_SOME_CLUSTERS, n))
            others = other_side(own.n_clusters, engine.shape[1 - at])
            asked = (own, others) if side == "rows" else (others, own)
            # What follows draws the same numbers, whether outliers were given or not.
            apart = deepcopy(rng)
            given = estimate_sides(engine, MEAN, asked, apart)[side].outliers  # noqa: PLW2901
        found.append(given)
    return found


def _sized(engine: Engine) -> Iterator[tuple[Side, int]]:
    return zip(SIDES, engine.shape, strict=True)


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

    A matrix of more than `max_entries` is represented by some of its rows.
    """
    largest = max((each[-1] for each in (wanted.rows, wanted.columns) if each), default=1)
    matrix, notes = sampled(matrix, max_entries, largest, rng)
    numbers = zip((wanted.rows, wanted.columns), matrix.shape, strict=True)
    tried = [Tried.of(each, n, per_item=wanted.objective.per_item) for each, n in numbers]
    if min(matrix.shape) < 2:
        rows, columns = (
            judged(Curve(np.zeros((1, n)), np.ones(1)), side, each)
            for n, side, each in zip(matrix.shape, SIDES, tried, strict=True)
        )
        return PredictedClusters(rows, columns, wanted.objective.name, True, tuple(notes))
    with opened(matrix, n_jobs) as engine:
        wanted.objective.check(engine)
        problem = wanted.problem(engine, rng)
        seed = int(rng.integers(2**31))
        source = Cells(matrix, n_jobs) if holds_out_cells(wanted.objective) else Blocks(engine)
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
            if complete and found is not None and not wanted.objective.paired:
                found = with_enough(engine, problem, found, rng, n_init, wanted.given)
        except KeyboardInterrupt:
            if found is None:
                raise
            complete = False
        assert found is not None
        if wanted.objective.paired:
            found = as_many(found, wanted.given)
    return PredictedClusters(*found, wanted.objective.name, complete, tuple(notes))


def sampled(
    matrix: Matrix, max_entries: int | None, n_clusters: int, rng: np.random.Generator
) -> tuple[Matrix, list[str]]:
    """Return some rows of a matrix that has too many entries, and a note that says so."""
    n = matrix.shape[0]
    if max_entries is None or matrix.n_stored <= max_entries:
        return matrix, []
    wanted = int(n * (max_entries / matrix.n_stored))
    size = min(n, max(wanted, _ROWS_PER_CLUSTER * n_clusters))
    rows = np.sort(rng.choice(n, size=size, replace=False))
    return matrix.take(rows), [f"computed from a random sample of {size} of the {n} rows."]


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
            while len(curves) < cuts and not (len(curves) == cuts - 1 and self.is_sure(curves)):
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
        means = (_mean([pair[s] for pair in curves]) for s in (0, 1))
        return [judged(*each) for each in zip(means, SIDES, self.tried, strict=True)]

    def is_sure(self, curves: list[tuple[Curve, Curve]]) -> bool:
        """Return whether both sides show no structure, or clusters that halves agree on."""
        return all(
            each.number == each.within_error and each.agreement >= _SAME
            for each in self.judged(curves)
        )


def _mean(curves: list[Curve]) -> Curve:
    errors = np.mean([each.errors for each in curves], axis=0)
    return Curve(errors, np.mean([each.stability for each in curves], axis=0))


def judged(curve: Curve, side: Side, tried: Tried) -> SidePrediction:
    """Choose a number of clusters of one side, and say how sure that is."""
    errors = curve.errors
    n_numbers, n = errors.shape
    mean = errors.mean(axis=1)
    best = int(mean.argmin())
    away = (errors - errors[best]).std(axis=1, ddof=1 if n > 1 else 0) / np.sqrt(n)
    within = int(np.argmax(mean <= mean[best] + away))
    found = SidePrediction(
        number=within + 1,
        plausible=(within + 1,),
        side=side,
        n_items=n,
        errors=mean,
        standard_errors=away,
        stability=curve.stability,
        within_error=within + 1,
        at_limit=2 * (within + 1) > n_numbers and n_numbers < tried.limit,
    )
    allowed = np.arange(1, n_numbers + 1)
    if tried.numbers is not None:
        allowed = np.intersect1d(allowed, tried.numbers)
        if not len(allowed):
            number = tried.numbers[0]
            return replace(found, number=number, plausible=(number,))
    if found.number in allowed and (within == 0 or curve.stability[within] >= _SAME):
        return found
    depth = _depth(mean, within)[: within + 1]
    usable = allowed[allowed <= within + 1]
    if not len(usable):
        return replace(found, number=int(allowed[0]), plausible=(int(allowed[0]),))
    number = int(usable[depth[usable - 1].argmax()])
    near = usable[depth[usable - 1] >= _NEARLY * depth[number - 1]]
    return replace(found, number=number, plausible=tuple(near.tolist()))


def _depth(mean: Any, within: int) -> Any:
    """Return how far errors lie below the line to the best one, at twice as many clusters."""
    end = max(min(2 * (within + 1), len(mean)) - 1, 1)
    lowest = np.minimum.accumulate(mean)
    line = lowest[0] + (lowest[min(end, len(mean) - 1)] - lowest[0]) * np.arange(len(mean)) / end
    return line - lowest
