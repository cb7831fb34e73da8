"""`"mean"` over observed cells: blocks of constant value, where cells have weights w_pt.

    J = sum_ij sum_{p in i, t in j} w_pt (x_pt - M_ij)^2 + shrinkage sum_ij M_ij^2

Cells that were not observed weigh nothing. With S = (W o X) V and N = W V, M = U'S / (U'N +
shrinkage) and d_pq = base_p - 2 sum_j S_pj M_qj + sum_j N_pj M_qj^2: slope = -2 M, curve = M o M.
The base, sum_t w_pt x_pt^2, drops out against a background.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neocc._typing import FloatArray
from neocc.core.objectives.base import Centring, Features, Objective, Rise, Side, Terms, bound
from neocc.core.objectives.mean import block_sums
from neocc.kernels import Memberships, inverse

__all__ = ["Observed"]

# Of the largest weight, what rounding may leave where there are no observed cells.
_NOTHING = 1e-12


@dataclass(frozen=True)
class Observed(Objective):
    """Weighted squared differences of observed cells from block means.

    Attributes
    ----------
    shrinkage : float
        Ridge on block means: weight of a further cell of each block, whose value is zero.
    """

    shrinkage: float = 0.0

    name = "mean"
    needs_products = False
    needs_counts = True
    shrinks = True
    per_item = False

    def centring(self, side: Side | None) -> Centring:
        """Return "none": block means are shrunk to zero."""
        return "none"

    def block_means(self, features: Features, U: Memberships, V: Memberships) -> FloatArray:
        """Return M; 0 for a block without observed cells."""
        assert features.counts is not None
        weights = features.counts.T @ V.indicator + self.shrinkage
        weights[weights <= _NOTHING * weights.max(initial=0.0)] = 0.0
        return block_sums(features, V) * inverse(weights)

    def row_terms(
        self, features: Features, U: Memberships, V: Memberships | None, *, pairs: bool = False
    ) -> Terms:
        """Return the terms of the row step."""
        assert V is not None and not pairs
        return self._terms(self.block_means(features, U, V), features, U, V, U)

    def column_terms(
        self, features: Features, U: Memberships | None, V: Memberships, *, pairs: bool = False
    ) -> Terms:
        """Return the terms of the column step: the same, with the roles exchanged."""
        assert U is not None and not pairs
        return self._terms(self.block_means(features, U, V).T, features, V, U, U)

    def _terms(
        self,
        M: FloatArray,
        features: Features,
        own: Memberships,
        other: Memberships,
        U: Memberships,
    ) -> Terms:
        assert features.counts is not None
        # Weights of the columns that were observed most bound those of a row, or nearly so.
        largest = float((features.counts * U.inverse_sizes).max(initial=0.0))
        squared = M * M
        magnitude = bound(largest * (squared @ other.sizes), own)
        constant = self.shrinkage * float(squared.sum())
        slope, curve = np.ascontiguousarray(-2.0 * M.T), np.ascontiguousarray(squared.T)
        zeros = np.zeros(len(M))
        terms = Terms(zeros, slope, None, None, magnitude, curve=curve, constant=constant)
        return self.relative(terms) if self.background else terms

    def value(self, features: Features, U: Memberships | None, V: Memberships | None) -> float:
        """Return J."""
        assert U is not None and V is not None
        explained = np.vdot(self.block_means(features, U, V), block_sums(features, V))
        return float(self.total_squares(features, V) - explained)

    def rise(self, items: Features, members: Memberships, other: Memberships) -> Rise:
        """Return how costs rise: base_q - sum_j S_qj^2 / (N_qj + shrinkage) is that of q."""
        sums, counts = items.sums, items.counts
        assert sums is not None and counts is not None
        S, N = members.indicator.T @ sums, members.indicator.T @ counts + self.shrinkage
        least = _NOTHING * N
        before = (S * S * inverse(N)).sum(axis=1)

        def rise(change: FloatArray) -> FloatArray:
            rises = np.zeros((len(sums), len(S)))
            for q, e in enumerate(np.broadcast_to(change, rises.shape).T):
                weights = N[q] + e[:, None] * counts
                explained = np.square(S[q] + e[:, None] * sums)
                found = np.divide(
                    explained, weights, out=np.zeros_like(sums), where=weights > least[q]
                )
                rises[:, q] = before[q] - found.sum(axis=1)
            return rises if self.background else rises + change * items.squares[:, None]

        return rise

    def n_parameters(self, shape: tuple[int, int], n_clusters: tuple[int, int]) -> int:
        """Return the number of block means."""
        return n_clusters[0] * n_clusters[1]
