"""`"poisson"`: counts whose rates differ from independence by a factor for each block.

    x_pt ~ Poisson(r_p c_t / N gamma_ij),   gamma_ij = (B_ij + prior) / (E_ij + prior)

J is minus the logarithm of the likelihood over that of independence (gamma = 1), with `prior`
counts in each block that were observed as expected: gain = log gamma, rate = gamma - 1.

Where items blend clusters, the rate of a cell is that of the mean of gamma over the blocks it is
in: P gamma Q' by types of rows and columns. These gamma minimise J, which is convex in them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from neocc._typing import FloatArray
from neocc.core.objectives.base import Features, Pair, Side, Terms, both
from neocc.core.objectives.blends import clusters_in_types, curvature, mixing
from neocc.core.objectives.counts import (
    Blocks,
    CountObjective,
    Tables,
    count_terms,
    likelihoods,
    penalties,
)
from neocc.kernels import Memberships

__all__ = ["POISSON", "Poisson"]

_NEWTON_STEPS = 50
_CONVERGED = 1e-13
_SMALLEST_STEP = 1e-6


@dataclass(frozen=True)
class Poisson(CountObjective):
    """The likelihood ratio of a rate for each block against independence."""

    name: ClassVar[str] = "poisson"
    blended_by: ClassVar[tuple[str, ...]] = ("average",)
    likelihood_ratio: ClassVar[bool] = True

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

    def terms(self, side: Side, features: Features, pair: Pair, *, pairs: float = 0.0) -> Terms:
        """Return the terms of a half-step, with `pairs` also of all pairs of clusters."""
        U, V = both(pair)
        if not pairs and U.virtual is None and V.virtual is None:
            return super().terms(side, features, pair)
        blocks, P, Q = self.blocks(features, V), mixing(U), mixing(V)
        lifts = self._fitted(blocks, P, Q)
        # Rates of clusters, by types of the other side.
        if side == "rows":
            rates, shares = lifts @ Q.T, blocks.column_shares
        else:
            rates, shares = lifts.T @ P.T, blocks.row_shares
        single = len(rates) if pairs else 0
        rates = clusters_in_types(single) @ rates if pairs else rates
        found = Tables(np.log(rates), rates - 1.0, penalties(lifts, self.prior))
        return count_terms(found.gain.T, found.rate.dot(shares), found, single)

    def block_costs(self, engine: Any, features: Features, U: Any, V: Any) -> FloatArray:
        """Return the part of each block in J; that of blends is shared among their clusters."""
        if U.virtual is None and V.virtual is None:
            return super().block_costs(engine, features, U, V)
        blocks, P, Q = self.blocks(features, V), mixing(U), mixing(V)
        lifts = self._fitted(blocks, P, Q)
        rates = P @ lifts @ Q.T
        costs = blocks.expected * (rates - 1.0) - blocks.observed * np.log(rates)
        found: FloatArray = P.T @ costs @ Q + penalties(lifts, self.prior)
        return found

    def lifts(self, features: Features, U: Memberships, V: Memberships) -> FloatArray:
        """Return the lift of each block, or of each that blends are made of."""
        blocks = self.blocks(features, V)
        if U.virtual is None and V.virtual is None:
            return self.rates(blocks)
        return self._fitted(blocks, mixing(U), mixing(V))

    def _fitted(self, blocks: Blocks, P: FloatArray, Q: FloatArray) -> FloatArray:
        """Return the lifts that minimise J, by Newton's method with steps that stay positive."""
        observed, expected, prior = blocks.observed, blocks.expected, self.prior

        def value(lifts: FloatArray) -> float:
            rates = P @ lifts @ Q.T
            costs = expected * (rates - 1.0) - observed * np.log(rates)
            return float(costs.sum() + penalties(lifts, prior).sum())

        shared = Blocks(P.T @ observed @ Q, P.T @ expected @ Q, *blocks[2:])
        lifts = self.rates(shared)
        now = value(lifts)
        for _ in range(_NEWTON_STEPS):
            rates = P @ lifts @ Q.T
            slope = P.T @ (expected - observed / rates) @ Q + prior * (1.0 - 1.0 / lifts)
            bend = curvature(observed / (rates * rates), P, Q)
            bend[np.diag_indices_from(bend)] += (prior / (lifts * lifts)).ravel()
            step = np.linalg.solve(bend, slope.ravel()).reshape(lifts.shape)
            gain = 0.5 * float(slope.ravel() @ step.ravel())
            if gain <= _CONVERGED * max(1.0, abs(now)):
                break
            length = min(1.0, 0.9 / max(float((step / lifts).max()), 0.9))
            while (after := value(lifts - length * step)) > now and length > _SMALLEST_STEP:
                length *= 0.5
            if after > now:
                break
            lifts, now = lifts - length * step, after
        return lifts


POISSON = Poisson()
