"""`"poisson"`: counts whose rates differ from independence by a factor for each block.

    x_pt ~ Poisson(r_p c_t / N gamma_ij),   gamma_ij = (B_ij + prior) / (E_ij + prior)

J is minus the logarithm of the likelihood over that of independence (gamma = 1), with `prior`
counts in each block that were observed as expected: gain = log gamma, rate = gamma - 1.
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

__all__ = ["POISSON", "Poisson"]


@dataclass(frozen=True)
class Poisson(CountObjective):
    """The likelihood ratio of a rate for each block against independence."""

    name: ClassVar[str] = "poisson"

    def cost_of_line(
        self, cluster: int, observed: FloatArray, expected: FloatArray, blocks: Blocks
    ) -> FloatArray:
        """Return the part in J of a row cluster with these sums."""
        found: FloatArray = likelihoods(observed, expected, self.prior).sum(axis=1)
        return found

    def tables(self, blocks: Blocks) -> Tables:
        """Return the tables of the most likely rates."""
        lifts = self.rates(blocks)
        return Tables(np.log(lifts), lifts - 1.0, penalties(lifts, self.prior))

    def n_parameters(self, shape: tuple[int, int], n_clusters: tuple[int, int]) -> int:
        """Return the number of rates."""
        return n_clusters[0] * n_clusters[1]


POISSON = Poisson()
