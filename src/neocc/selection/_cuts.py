"""Several cuts of the data into parts that are known and parts that are held out, while these help.

A further cut is made only if it can change the answer: not where cuts agree, nor where numbers that
they do not agree on are those of means of fewer clusters.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from neocc.core.problem import Problem
from neocc.selection._cells import Cells
from neocc.selection._curves import SIDES, Curve, with_clusters
from neocc.selection._data import is_true
from neocc.selection._heldout import Blocks
from neocc.selection._predicted import SidePrediction
from neocc.selection._verdict import Tried, judged_together

__all__ = ["Cuts"]

logger = logging.getLogger("neocc")

Sides: TypeAlias = tuple[SidePrediction, SidePrediction]

# Clusters on which parts agree so well are found again in any cut.
_EQUAL = 0.98


@dataclass(frozen=True)
class Cuts:
    """Several cuts of the data, with up to so many clusters."""

    source: Blocks | Cells
    problem: Problem
    largest: list[int]
    tried: list[Tried]
    seed: int
    n_init: int

    def run(
        self,
        callback: Callable[[int, int], Any] | None,
        settle: Callable[[Sides], Sides] | None = None,
    ) -> tuple[Sides, bool]:
        """Judge the curves of all cuts: of fewer if these leave no doubt, or if it is stopped.

        `settle` finds fewer clusters that overlap, which end any doubt. They are looked for once,
        and returned if they end the search.
        """
        rng, problem = np.random.default_rng(self.seed), self.problem
        for side, k in zip(SIDES, self.largest, strict=True):
            problem = with_clusters(problem, side, k)
        curves: list[tuple[Curve, Curve]] = []
        cuts = self.source.n_cuts
        try:
            while len(curves) < cuts:
                curves.append(self.source.curves(problem, rng, self.n_init))
                done, found = len(curves), self.judged(curves)
                logger.info("cut %d/%d: up to %d and %d clusters", done, cuts, *self.largest)
                if callback is not None and is_true(callback(done, cuts)) and done < cuts:
                    return found, False
                if self.is_short(found):
                    break
                if settle is not None and done == 1 and self.is_open(found, done):
                    settled = settle(found)
                    if not self.is_open(settled, done):
                        return settled, True
                if all(self.is_sure(each, done) for each in found):
                    break
        except KeyboardInterrupt:
            if not curves:
                raise
            return self.judged(curves), False
        return found, True

    def judged(self, curves: list[tuple[Curve, Curve]]) -> Sides:
        """Return what the cuts made so far say of both sides."""
        both = ([pair[s] for pair in curves] for s in (0, 1))
        rows, columns = (
            judged_together(*each) for each in zip(both, SIDES, self.tried, strict=True)
        )
        return rows, columns

    def is_short(self, found: Sides) -> bool:
        """Return whether the largest number of a side is the best, so that more will be tried."""
        sides = zip(found, self.tried, strict=True)
        return any(
            each.within_error == each.largest and tried.grown(each) > each.largest
            for each, tried in sides
        )

    def is_open(self, found: Sides, done: int) -> bool:
        """Return whether more cuts, or more clusters, may still change the answer."""
        sides = zip(found, self.tried, strict=True)
        return any(
            each.overlapping is None
            and (not self.is_sure(each, done) or tried.grown(each) > each.largest)
            for each, tried in sides
        )

    def is_sure(self, found: SidePrediction, done: int) -> bool:
        """Return whether no further cut is needed for a side.

        All must say the same, each by itself. One is enough if it shows clusters on which parts
        agree nearly perfectly; one less than usual, if these agree well, or show no structure.
        """
        if set(found.of_cuts) != {found.number}:
            return False
        if done >= self.source.usual:
            return True
        if not found.is_agreed:
            return False
        perfect = found.number > 1 and found.agreement >= _EQUAL
        return perfect or done >= self.source.usual - 1
