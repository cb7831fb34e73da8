"""`"diagonal"`: counts of groups of rows that each have a group of columns of their own.

As `"poisson"`, with one rate for each block (i, i), and one for all others together: there are as
many row clusters as column clusters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from neocc._typing import FloatArray
from neocc.core.objectives.counts import (
    Blocks,
    CountObjective,
    Tables,
    likelihoods,
    penalties,
)

__all__ = ["DIAGONAL", "Diagonal"]


@dataclass(frozen=True)
class Diagonal(CountObjective):
    """The likelihood ratio of a rate for each diagonal block, and one elsewhere."""

    name: ClassVar[str] = "diagonal"
    likelihood_ratio: ClassVar[bool] = True
    paired: ClassVar[bool] = True

    def rates(self, blocks: Blocks) -> FloatArray:
        """Return the lift of each block, the same for all that are not on the diagonal."""
        counts = blocks.observed, blocks.expected
        elsewhere, expected = (float(each.sum() - np.trace(each)) for each in counts)
        rate = (max(elsewhere, 0.0) + self.prior) / (max(expected, 0.0) + self.prior)
        lifts = np.full(blocks.observed.shape, rate)
        np.fill_diagonal(lifts, np.diag(super().rates(blocks)))
        return lifts

    def cost_of_line(
        self, cluster: int, observed: FloatArray, expected: FloatArray, blocks: Blocks
    ) -> FloatArray:
        """Return the part in J of its own block and of all that are not on the diagonal."""
        own = likelihoods(observed[:, cluster], expected[:, cluster], self.prior)
        others = np.arange(len(blocks.observed)) != cluster

        def elsewhere(sums: FloatArray, of_all: FloatArray) -> FloatArray:
            rest = of_all[others].sum() - np.diag(of_all)[others].sum()
            found: FloatArray = np.maximum(sums[:, others].sum(axis=1) + rest, 0.0)
            return found

        counts = elsewhere(observed, blocks.observed), elsewhere(expected, blocks.expected)
        found: FloatArray = own + likelihoods(*counts, self.prior)
        return found

    def tables(self, blocks: Blocks) -> Tables:
        """Return the tables of the most likely rates."""
        lifts, k = self.rates(blocks), len(blocks.observed)
        penalty = penalties(lifts, self.prior)
        # The rate that blocks have in common has one prior, divided among them.
        penalty[~np.eye(k, dtype=bool)] /= max(1, k * (k - 1))
        return Tables(np.log(lifts), lifts - 1.0, penalty)

    def n_parameters(self, shape: tuple[int, int], n_clusters: tuple[int, int]) -> int:
        """Return the number of rates."""
        return n_clusters[0] + 1


DIAGONAL = Diagonal()
