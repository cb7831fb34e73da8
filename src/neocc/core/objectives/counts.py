"""What models of counts share: blocks against independence, J linear in sums and margins.

With margins r_p and c_t over the whole matrix, N their total, B = U'XV, and r_i, c_j the margins of
clusters, independence expects E_ij = r_i c_j / N in block (i, j). An objective chooses two tables,

    J = -sum_ij B_ij gain_ij + sum_ij E_ij rate_ij + penalty
    d_pq = -sum_j S_pj gain_qj + (r_p / N) sum_j c_j rate_qj

An item in no cluster follows independence, at no cost. All margins come from the column features:
X'U summed over all columns are those of row clusters, and the base of a column is its margin.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from neocc._typing import BoolArray, FloatArray
from neocc.core.objectives.base import Centring, Features, Objective, Pair, Rise, Side, Terms, both
from neocc.core.objectives.blends import mixing
from neocc.kernels import Base, Memberships

__all__ = [
    "Blocks",
    "CountObjective",
    "Tables",
    "count_terms",
    "lifts_of",
    "likelihoods",
    "penalties",
]


class Blocks(NamedTuple):
    """Sums over blocks, what independence expects of them, and shares of the total by cluster."""

    observed: FloatArray
    expected: FloatArray
    row_shares: FloatArray
    column_shares: FloatArray


class Tables(NamedTuple):
    """What an objective chooses for each block; `penalty` is the part of J beside the data."""

    gain: FloatArray
    rate: FloatArray
    penalty: FloatArray


def lifts_of(observed: FloatArray, expected: FloatArray, prior: float) -> FloatArray:
    """Return how many times as many counts there are as independence expects, given a prior."""
    found: FloatArray = (observed + prior) / (expected + prior)
    return found


def likelihoods(observed: FloatArray, expected: FloatArray, prior: float) -> FloatArray:
    """Return the parts of J of blocks with the most likely rates."""
    lifts = lifts_of(observed, expected, prior)
    found: FloatArray = observed - expected - (observed + prior) * np.log(lifts)
    return found


def penalties(lifts: FloatArray, prior: float) -> FloatArray:
    """Return what a prior takes for lifts other than one: its counts, observed as expected."""
    found: FloatArray = prior * (lifts - 1.0 - np.log(lifts))
    return found


@dataclass(frozen=True)
class CountObjective(Objective):
    """A likelihood (or another gain) of counts over that of independent rows and columns.

    Attributes
    ----------
    prior : float
        Counts that are added to the observed and to the expected ones of a block: they keep the
        rates of small blocks near independence.
    """

    background: bool = True
    base: Base = field(init=False, default="margins")
    prior: float = 1.0

    needs_products: ClassVar[bool] = False
    reseeds: ClassVar[bool] = False
    usual_start: ClassVar[str] = "spectral"
    weighs_data: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Costs are relative to independence, whatever is asked for."""

    @abstractmethod
    def cost_of_line(
        self, cluster: int, observed: FloatArray, expected: FloatArray, blocks: Blocks
    ) -> FloatArray:
        """Return the part in J of row cluster `cluster`, were these its sums (one set a row).

        All other clusters keep the sums in `blocks`. A constant may be left out.
        """

    @abstractmethod
    def tables(self, blocks: Blocks) -> Tables:
        """Return the tables that minimise J."""

    def rates(self, blocks: Blocks) -> FloatArray:
        """Return the lift of each block: its rate over that of independence."""
        return lifts_of(blocks.observed, blocks.expected, self.prior)

    def check(
        self,
        engine: Any,
        weights: tuple[FloatArray | None, FloatArray | None] = (None, None),
        column_names: Any = None,
    ) -> None:
        """Refuse negative numbers."""
        found = engine.first_negative()
        if found is not None:
            row, column, value = found
            for weight, item in zip(weights, (row, column), strict=True):
                value = value if weight is None else value / weight[item]
            name = "" if column_names is None else f" ({str(column_names[column])!r})"
            raise ValueError(
                f"Negative values in data: found {value:g} at row {row}, column {column}{name}. "
                f"objective={self.name!r} is for counts; use objective='mean' for data that may "
                "be negative."
            )

    def refusal(self, overlap_model: Any) -> str | None:
        """Refuse those that combine rates, unless they are blended."""
        if not overlap_model.combines or overlap_model.name in self.blended_by:
            return None
        return f"for objective={self.name!r}, whose blocks have rates"

    def all_zero(self, engine: Any, side: Side) -> BoolArray:
        """Tell which items have no counts."""
        margins = engine.row_margins() if side == "rows" else engine.column_margins()
        return np.asarray(margins == 0.0)

    def constant(
        self, engine: Any, rows: FloatArray | None = None, columns: FloatArray | None = None
    ) -> float:
        """Return 0: terms know all of J."""
        return 0.0

    def centring(self, side: Side | None) -> Centring:
        """Return "none": counts begin at zero."""
        return "none"

    def blocks(self, features: Features, V: Memberships) -> Blocks:
        """Return the sums over blocks, observed and expected."""
        total = float(features.squares.sum())
        per_count = 1.0 / total if total > 0 else 0.0
        members = V if V.virtual is None else V.virtual
        rows, columns = features.totals("sums"), features.blocks(members, "squares")
        expected = np.multiply.outer(rows, columns * per_count)
        observed = features.blocks(members)
        return Blocks(observed, expected, rows * per_count, columns * per_count)

    def terms(self, side: Side, features: Features, pair: Pair, *, pairs: float = 0.0) -> Terms:
        """Return the terms of a half-step."""
        assert not pairs
        blocks = self.blocks(features, both(pair)[1])
        found = self.tables(blocks)
        if side == "rows":
            return count_terms(found.gain.T, found.rate.dot(blocks.column_shares), found)
        return count_terms(found.gain, blocks.row_shares.dot(found.rate), found)

    def value(self, features: Features, U: Memberships | None, V: Memberships | None) -> float:
        """Return J."""
        assert U is not None and V is not None
        return float(self.block_costs(None, features, U, V).sum())

    def block_costs(self, engine: Any, features: Features, U: Any, V: Any) -> FloatArray:
        """Return the part of each block in J."""
        blocks = self.blocks(features, V)
        gain, rate, penalty = self.tables(blocks)
        found: FloatArray = blocks.expected * rate - blocks.observed * gain + penalty
        return found

    def rise(self, engine: Any, side: Side, features: Features, pair: Any) -> Rise:
        """Return what changes of weights add to each cluster's cost, with rates fitted again."""
        _, V = pair
        blocks = self.blocks(features, V)
        if side == "rows":
            sums, margins = engine.multiply(V.indicator), engine.row_margins()
            shares = blocks.column_shares
        else:
            assert features.sums is not None
            sums, margins, shares = features.sums, features.squares, blocks.row_shares
            blocks = Blocks(blocks.observed.T, blocks.expected.T, *blocks[:1:-1])

        def found(change: FloatArray) -> FloatArray:
            rises = np.empty((len(sums), len(blocks.observed)))
            for q, weights in enumerate(np.broadcast_to(change, rises.shape).T):
                observed = np.maximum(blocks.observed[q] + weights[:, None] * sums, 0.0)
                own = np.multiply.outer(weights * margins, shares)
                expected = np.maximum(blocks.expected[q] + own, 0.0)
                now = self.cost_of_line(q, blocks.observed[[q]], blocks.expected[[q]], blocks)
                rises[:, q] = self.cost_of_line(q, observed, expected, blocks) - now
            return rises

        return found

    def block_means(self, features: Features, U: Memberships, V: Memberships) -> FloatArray:
        """Return the mean count of each block, blends counted in halves."""
        sums = mixing(U).T @ self.blocks(features, V).observed @ mixing(V)
        return sums * np.multiply.outer(U.inverse_sizes, V.inverse_sizes)

    def profiles(self, features: Features, U: Memberships, V: Memberships) -> FloatArray:
        """Return the counts that row clusters have in each column, blends counted in halves."""
        assert features.sums is not None
        return mixing(U).T @ features.sums.T

    def lifts(self, features: Features, U: Memberships, V: Memberships) -> FloatArray:
        """Return the lift of each block."""
        return self.rates(self.blocks(features, V))


def count_terms(gain: FloatArray, rate: FloatArray, found: Tables, single: int = 0) -> Terms:
    """Terms of distances; the base of an item, its margin, bounds what cancels in them."""
    slope, nothing = np.negative(gain, order="C"), np.zeros(len(rate))
    constant = float(found.penalty.sum())
    terms = Terms(nothing, slope, None, None, nothing, rate=rate, base="margins")
    terms.constant, terms.single = constant, single
    return terms
