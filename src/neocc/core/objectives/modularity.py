"""`"modularity"`: counts in the blocks (i, i) beyond what independence expects there.

    J = -sum_i (B_ii - E_ii)

There are as many row clusters as column clusters, and nothing to estimate: a fast start for other
models of counts. (Barber 2007, for counts and without the factor 1 / N.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from neocc._typing import FloatArray
from neocc.core.objectives.counts import Blocks, CountObjective, Tables

__all__ = ["MODULARITY", "Modularity"]


@dataclass(frozen=True)
class Modularity(CountObjective):
    """Counts on the diagonal beyond those expected."""

    name: ClassVar[str] = "modularity"
    paired: ClassVar[bool] = True

    def cost_of_line(
        self, cluster: int, observed: FloatArray, expected: FloatArray, blocks: Blocks
    ) -> FloatArray:
        """Return the counts that its own block lacks."""
        found: FloatArray = expected[:, cluster] - observed[:, cluster]
        return found

    def tables(self, blocks: Blocks) -> Tables:
        """Return ones for the diagonal."""
        ones = np.eye(len(blocks.observed))
        return Tables(ones, ones, np.zeros_like(ones))

    def n_parameters(self, shape: tuple[int, int], n_clusters: tuple[int, int]) -> int:
        """Return 0."""
        return 0


MODULARITY = Modularity()
