"""Assignment: exact counts, at the smallest total cost.

Every item has a curve, the costs of its best set of one cluster, of two, and so on (the overlap
model's, `neocc.core.overlap`). Two prices turn curves into counts: a threshold of first
memberships, above which an item is left out, and one of extra memberships. For NEO-CC this is the
paper's two-stage rule. Stage 1 gives the N1 = n - b items with the smallest row minima to their
nearest cluster; stage 2 hands out the a + b memberships still missing to the smallest distances not
used yet, whoever they belong to. Together they minimise the sum of the chosen distances over all
feasible memberships.

Prices are found by counting. Blocks of items are asked how many of their distances fall into which
bin, and the bins are narrowed around the thresholds until they hold single numbers. Then every
block is told the thresholds, and how many of the distances that equal one it may take: blocks are
in the order of their items, so the lowest come first. Ties go to the smallest distance, then the
lowest item, then the lowest cluster. Data in memory are one block.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from neocc._counts import Counts
from neocc._typing import FloatArray
from neocc.core.histograms import (
    EVERYTHING,
    BlockCounts,
    Histogram,
    Keys,
    Query,
    Window,
    value_of,
)
from neocc.kernels import Memberships

__all__ = [
    "ANY",
    "Applied",
    "Assignment",
    "Choices",
    "Guess",
    "Thresholds",
    "assign",
    "fill_empty",
    "find_thresholds",
]

# Bits of a key that the first bins leave open: of a float64, sign, exponent and 8 bits of the
# fraction number the bin.
_FIRST_SHIFT = 44
_NARROWING = 20
# So few distances are told apart at once.
_FEW = 1 << 15
# Of so few all are: sorting them takes less time than another query.
_SORTED = 1 << 10
# A guess that fails, bins of 2**44 keys, and of 2**20 times fewer until they are single keys.
_MOST_QUERIES = 8
# Of a threshold, the shares by which it may move from one step to the next.
_FIRST_SHARE, _LEAST_SHARE = 2.0**-5, 2.0**-10
EVERY = int(np.iinfo(np.int64).max)


@dataclass(frozen=True)
class Thresholds:
    """What a block may take: all below each threshold, and the first few that equal it.

    `nearest` is infinite where no item may be left out, `extra` is -inf where there are no extra
    memberships.
    """

    nearest: float = np.inf
    extra: float = -np.inf
    n_nearest_ties: int = EVERY
    n_extra_ties: int = EVERY

    @property
    def pair(self) -> tuple[float, float]:
        """Both thresholds."""
        return self.nearest, self.extra


ANY = Thresholds()
"""Every item takes its nearest cluster, and nothing else."""


class Applied(NamedTuple):
    """New memberships of a block of items, and the objective of those before."""

    members: Memberships
    objective: float


class Choices(Protocol):
    """What a block of items can choose from: their curves."""

    def count(self, query: Query) -> BlockCounts:
        """Count costs by bin."""

    def apply(self, thresholds: Thresholds) -> Applied:
        """Return the memberships that thresholds allow."""

    def costs(self, applied: Applied) -> FloatArray:
        """Return the cost of each membership, item by item."""


class Assignment(NamedTuple):
    """New memberships, and the largest costs accepted; predicting new items reuses these."""

    members: Memberships
    thresholds: tuple[float, float]


def assign(
    choices: Choices, counts: Counts, weigh: Callable[[Memberships], Memberships] = lambda it: it
) -> Assignment:
    """Assign the items of one block; `weigh` weighs memberships in clusters that were filled."""
    (thresholds,) = find_thresholds(lambda query: [choices.count(query)], counts, 1)
    applied = choices.apply(thresholds)
    members = applied.members
    if members.has_empty:
        members = weigh(fill_empty(members, choices.costs(applied)))
    return Assignment(members, (thresholds.nearest, thresholds.extra))


@dataclass
class Guess:
    """Where thresholds are thought to be: near those of the step before, if there was one."""

    thresholds: tuple[float, float] | None = None
    share: float = _FIRST_SHARE

    def learn(self, found: tuple[float, float]) -> None:
        """Remember thresholds, and judge by how far they moved how far the next ones may."""
        if self.thresholds is not None:
            moved = [
                abs(new - old) / max(abs(old), np.finfo(float).tiny)
                for old, new in zip(self.thresholds, found, strict=True)
                if np.isfinite([old, new]).all()
            ]
            self.share = float(np.clip(2.0 * max(moved, default=0.0), _LEAST_SHARE, _FIRST_SHARE))
        self.thresholds = found


def find_thresholds(
    ask: Callable[[Query], list[BlockCounts]],
    counts: Counts,
    n_blocks: int,
    guess: Guess | None = None,
) -> list[Thresholds]:
    """Return what every block may take.

    `ask` puts a query to all blocks and returns their counts in the order of their items.
    """
    if counts.is_partition:
        return [ANY] * n_blocks
    search = _Search(counts)
    query = first_query(counts, guess)
    for _ in range(_MOST_QUERIES):
        answers = ask(query)
        narrower = search.narrowed(query, answers)
        if narrower is None:
            return search.shared(answers, n_blocks)
        query = narrower
    raise RuntimeError("Blocks of items contradict themselves: their counts lead to no threshold.")


def first_query(counts: Counts, guess: Guess | None = None) -> Query:
    """Return the query to begin with."""
    asked = (counts.n_covered < counts.n_items, counts.n_extra > 0)
    if guess is not None and guess.thresholds is not None:
        pairs = list(zip(guess.thresholds, asked, strict=True))
        if all(np.isfinite(value) for value, yes in pairs if yes):
            near = [Window.around(value, guess.share) if yes else None for value, yes in pairs]
            return Query(near[0], near[1], 0, _FEW)
    nearest, extra = (EVERYTHING if yes else None for yes in asked)
    few = counts.n_items * counts.n_clusters <= _SORTED
    return Query(nearest, extra, 0 if few else _FIRST_SHIFT)


class _Search:
    """The bins that both thresholds were found in, and their ranks among the keys of the bins.

    Extra memberships are chosen among all distances but those that first memberships took.
    """

    def __init__(self, counts: Counts) -> None:
        self.counts = counts
        self.nearest_bin: int | None = None
        self.extra_bin: int | None = None
        self.nearest_within = self.extra_within = 0

    def narrowed(self, asked: Query, answers: list[BlockCounts]) -> Query | None:
        """Find the bins of the thresholds; return the next query, None when they are numbers."""
        nearest = extra = None
        size = 0
        if asked.nearest is not None:
            found = Histogram.merged([each.nearest for each in answers]).rank(self.counts.n_covered)
            if found is None:
                return first_query(self.counts)
            self.nearest_bin, self.nearest_within, size = found
            nearest = Window.of_bin(self.nearest_bin, asked.shift)
        if asked.extra is not None:
            every = Histogram.merged([each.extra_all for each in answers])
            smallest = Histogram.merged([each.extra_nearest for each in answers])
            used = self._used(every.bins, smallest.at(every.bins), self.nearest_within)
            used_below = smallest.below
            if nearest is not None and nearest.high < asked.extra.low:
                used_below = self.counts.n_covered
            counted = every.counted and smallest.counted
            left = Histogram(every.bins, every.counts - used, every.below - used_below, counted)
            found = left.rank(self.counts.n_extra)
            if found is None:
                return first_query(self.counts)
            self.extra_bin, self.extra_within, extra_size = found
            extra, size = Window.of_bin(self.extra_bin, asked.shift), max(size, extra_size)
        if asked.shift == 0:
            return None
        return Query(nearest, extra, 0 if size <= _FEW else max(0, asked.shift - _NARROWING))

    def _used(self, bins: Keys, smallest: Keys, within: int | Keys) -> Keys:
        """Return how many of the smallest distances in each bin first memberships have taken."""
        if self.nearest_bin is None:
            return smallest
        used: Keys = np.where(bins < self.nearest_bin, smallest, 0)
        return np.where(bins == self.nearest_bin, within, used)

    def shared(self, answers: list[BlockCounts], n_blocks: int) -> list[Thresholds]:
        """Share out the distances that equal a threshold among the blocks."""
        first, further = self.nearest_bin, self.extra_bin
        nearest = np.inf if first is None else value_of(first)
        extra = -np.inf if further is None else value_of(further)
        if n_blocks == 1:
            ties = EVERY if first is None else self.nearest_within
            return [Thresholds(nearest, extra, ties, self.extra_within)]
        nearest_ties, extra_ties = np.full(n_blocks, EVERY), np.zeros(n_blocks, dtype=np.int64)
        if first is not None:
            available = np.array([each.nearest.at(np.array([first]))[0] for each in answers])
            nearest_ties = _share_out(available, self.nearest_within)
        if further is not None:
            at = np.full(n_blocks, further)
            every = np.array([each.extra_all.at(at[:1])[0] for each in answers])
            smallest = np.array([each.extra_nearest.at(at[:1])[0] for each in answers])
            left = every - self._used(at, smallest, nearest_ties)
            extra_ties = _share_out(left, self.extra_within)
        pairs = zip(nearest_ties.tolist(), extra_ties.tolist(), strict=True)
        return [Thresholds(nearest, extra, *ties) for ties in pairs]


def _share_out(available: Keys, wanted: int) -> Keys:
    """Take what is wanted from the first blocks that have any."""
    shares: Keys = np.diff(np.minimum(np.cumsum(available), wanted), prepend=0)
    return shares


def fill_empty(members: Memberships, costs: FloatArray) -> Memberships:
    """Re-seed each empty cluster with the dearest membership that can be spared.

    The moved item becomes the only member of the empty cluster, which costs it at most its old
    distance: the objective does not rise, and all counts stay as they were. With fewer memberships
    than clusters some stay empty. `costs` are those of all memberships, item by item.
    """
    sizes = members.sizes.copy()
    empty = np.flatnonzero(sizes == 0)
    matrix = members.dense.copy()
    items, clusters = np.nonzero(matrix)
    spare = iter(np.lexsort((clusters, items, -costs)))
    for target in empty:
        source = next((i for i in spare if sizes[clusters[i]] > 1), None)
        if source is None:
            break
        matrix[items[source], clusters[source]] = False
        matrix[items[source], target] = True
        sizes[clusters[source]] -= 1
        sizes[target] += 1
    return Memberships.from_dense(matrix)
