"""`"mean"` over observed cells: blocks of constant value, where cells have weights w_pt.

    J = sum_ij sum_{p in i, t in j} w_pt (x_pt - M_ij)^2 + shrinkage sum_ij M_ij^2

Cells that were not observed weigh nothing. With S = (W o X) V and N = W V, M = U'S / (U'N +
shrinkage) and d_pq = base_p - 2 sum_j S_pj M_qj + sum_j N_pj M_qj^2: slope = -2 M, curve = M o M.
The base, sum_t w_pt x_pt^2, drops out against a background. Where rows follow one cluster or
another, blocks are made of the cells of those that follow them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from neocc._typing import BoolArray, FloatArray
from neocc.core.objectives.base import Centring, Features, Objective, Pair, Rise, Side, Terms, both
from neocc.core.objectives.blends import clusters_in_types, curvature, is_blended, mixing
from neocc.core.objectives.virtual import by_sums, gathered, gathered_lines, gathered_within
from neocc.kernels import Memberships, inverse

__all__ = ["Observed"]

# Of the largest weight, what rounding may leave where there are no observed cells; and the same of
# the normal equations of blends.
_NOTHING = 1e-12


@dataclass(frozen=True)
class Observed(Objective):
    """Weighted squared differences of observed cells from block means.

    Attributes
    ----------
    shrinkage : float
        Ridge on block means: weight of a further cell of each block, whose value is zero.
    """

    shrinkage: float = 0.0  # type: ignore[misc]

    name = "mean"
    needs_products = False
    needs_counts = True
    reseeds = False
    blended_by = ("average", "sum")
    freed_by = ("either",)
    weighs_data = True

    @property
    def kind(self) -> str:
        """Return "observed": costs of two clusters are not made of those of each."""
        return "observed"

    def centring(self, side: Side | None) -> Centring:
        """Return "none": block means are shrunk to zero."""
        return "none"

    def all_zero(self, engine: Any, side: Side) -> BoolArray:
        """Tell which items have no observed cell, or none that differs from what is expected."""
        squares = engine.row_squares() if side == "rows" else engine.column_squares()
        return np.asarray(squares == 0.0)

    def block_means(self, features: Features, U: Memberships, V: Memberships) -> FloatArray:
        """Return M; 0 for a block without observed cells.

        Where items blend clusters it solves the normal equations over blocks of types. Where rows
        follow clusters and none a certain one, any value costs the same if there is no shrinkage:
        the mean of all rows is taken, as over all cells.
        """
        sums, weights = self._blocks(features, U, V)
        if not is_blended(U) and not is_blended(V):
            weights += self.shrinkage
            weights[weights <= _NOTHING * weights.max(initial=0.0)] = 0.0
            means = sums * inverse(weights)
            if U.virtual is None:
                return means
            unfollowed = (weights == 0.0) & (U.sizes[:, None] > 0)
            return np.where(unfollowed, sums.sum(axis=0) * inverse(weights.sum(axis=0)), means)
        P, Q = mixing(U), mixing(V)
        bend = curvature(weights, P, Q)
        bend[np.diag_indices_from(bend)] += self.shrinkage
        found = np.linalg.lstsq(bend, (P.T @ sums @ Q).ravel(), rcond=_NOTHING)[0]
        return np.asarray(found).reshape(P.shape[1], Q.shape[1])

    def profiles(self, features: Features, U: Memberships, V: Memberships) -> FloatArray:
        """Return the shrunk means of observed cells; blends count in both of their clusters."""
        assert features.sums is not None and features.counts is not None
        tables = [features.sums.T, features.counts.T]
        if U.summed.stands_for is not None:
            tables = [gathered_lines(each, U, V) for each in tables]
        else:
            tables = [mixing(U).T @ each for each in tables]
        sums, weights = tables
        return sums * inverse(weights + self.shrinkage)

    def _blocks(
        self, features: Features, U: Memberships, V: Memberships
    ) -> tuple[FloatArray, FloatArray]:
        """Return sums and weights of the observed cells of blocks, of types if items blend."""
        tables = features.blocks(V.summed), features.blocks(V.summed, "counts")
        sums, weights = (gathered(each, U) for each in tables)
        return sums, weights

    def terms(self, side: Side, features: Features, pair: Pair, *, pairs: float = 0.0) -> Terms:
        """Return the terms of a half-step, with `pairs` also of all pairs of clusters."""
        U, V = both(pair)
        M, own, other = self.block_means(features, U, V), U, V
        constant = self.shrinkage * float((M * M).sum())
        if side == "columns":
            M, own, other = by_sums(M, U).T, V, U
        if pairs:
            M = clusters_in_types(len(M), pairs) @ M
        if is_blended(other):
            M = M @ mixing(other).T
        # Weights of the columns that were observed most bound those of a row, or nearly so.
        largest = features.largest("counts", U.summed.inverse_sizes)
        squared = M * M
        magnitude = largest * (squared @ other.summed.sizes)
        slope, curve = np.ascontiguousarray(-2.0 * M.T), np.ascontiguousarray(squared.T)
        terms = Terms(np.zeros(len(M)), slope, None, None, magnitude, curve=curve)
        terms.constant, terms.single = constant, own.n_clusters if pairs else 0
        return self.relative(terms) if self.background else terms

    def value(self, features: Features, U: Memberships | None, V: Memberships | None) -> float:
        """Return J."""
        assert U is not None and V is not None
        sums = mixing(U).T @ self._blocks(features, U, V)[0] @ mixing(V)
        explained = np.vdot(self.block_means(features, U, V), sums)
        return float(self.total_squares(features, V) - explained)

    def block_costs(self, engine: Any, features: Features, U: Any, V: Any) -> FloatArray:
        """Return the squared errors of each block, and its part of the ridge."""
        assert features.sums is not None
        of_rows = [engine.row_squares(weights) for weights in V.indicator.T.copy()]
        own = U if is_blended(U) else U.summed
        squares = gathered(own.indicator.T @ np.column_stack(of_rows), U)
        sums = mixing(U).T @ gathered(features.sums.T @ V.indicator, U)
        return np.maximum(squares - sums * self.block_means(features, U, V), 0.0)

    def rise(self, engine: Any, side: Side, features: Features, pair: Any) -> Rise:
        """Return how costs rise: base_q - sum_j S_qj^2 / (N_qj + shrinkage) is that of q."""
        members, other = pair if side == "rows" else pair[::-1]
        items = engine.row_features(other, self.base) if side == "rows" else features
        assert items.sums is not None and items.counts is not None
        tables = items.sums, items.counts
        blocks = [members.indicator.T @ each for each in tables]

        def rise(change: FloatArray) -> FloatArray:
            rises = np.zeros((len(items.squares), members.n_clusters))
            for q, e in enumerate(np.broadcast_to(change, rises.shape).T):
                sums, counts = (gathered_within(each, other, q) for each in tables)
                S, N = (gathered_within(each[[q]], other, q) for each in blocks)
                N = N + self.shrinkage
                weights = N + e[:, None] * counts
                explained = np.square(S + e[:, None] * sums)
                found = np.divide(
                    explained, weights, out=np.zeros_like(sums), where=weights > _NOTHING * N
                )
                rises[:, q] = (S * S * inverse(N)).sum() - found.sum(axis=1)
            return rises if self.background else rises + change * items.squares[:, None]

        return rise
