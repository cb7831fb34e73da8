"""What is asked for: an objective, an overlap model, and exact counts per side."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from neocc._counts import Counts, round_half_away
from neocc._typing import BoolArray, FloatArray, IntArray
from neocc.core.objectives import KMEANS, Centring, Objective, Side
from neocc.core.overlap import REPEAT, OverlapModel
from neocc.kernels import Memberships

__all__ = ["Counts", "Problem", "Side", "round_half_away"]


@dataclass(frozen=True)
class Problem:
    """An objective with the counts of both sides; None for a side that is not clustered.

    Rows and columns may count as more than one, or as less: by their weights, None for ones. Counts
    are those of items all the same. Items that say nothing have one membership at most; None where
    there are none, or where it takes more of them to meet the counts.
    """

    objective: Objective
    rows: Counts | None
    columns: Counts | None
    max_iter: int = 100
    tol: float = 1e-6
    overlap_model: OverlapModel = REPEAT
    row_weights: FloatArray | None = field(default=None, compare=False)
    column_weights: FloatArray | None = field(default=None, compare=False)
    row_silent: BoolArray | None = field(default=None, compare=False)
    column_silent: BoolArray | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        for side in ("rows", "columns"):
            counts, reseeds = getattr(self, side), self.objective.reseeds
            if counts is not None and counts.reseeds != reseeds:
                object.__setattr__(self, side, replace(counts, reseeds=reseeds))

    @property
    def sides(self) -> list[Side]:
        """The sides that are clustered."""
        given: tuple[tuple[Side, Counts | None], ...] = (
            ("rows", self.rows),
            ("columns", self.columns),
        )
        return [side for side, counts in given if counts is not None]

    def counts(self, side: Side) -> Counts:
        """Return the counts of a side that is clustered."""
        counts = self.rows if side == "rows" else self.columns
        assert counts is not None
        return counts

    def with_counts(self, side: Side, counts: Counts) -> Problem:
        """Return the problem with other counts on one side."""
        return replace(self, rows=counts) if side == "rows" else replace(self, columns=counts)

    def weights(self, side: Side) -> FloatArray | None:
        """Return how many items each item of a side counts as, unless the data have it already."""
        if self.objective.weighs_data:
            return None
        return self.row_weights if side == "rows" else self.column_weights

    def weighted(self, side: Side, members: Memberships) -> Memberships:
        """Return memberships with the weights by which they count in sums over clusters."""
        if members.item_weights is None:
            members = members.weighing(self.weights(side))
        return self.overlap_model.weighted(members)

    def nobody(self, side: Side) -> Memberships | None:
        """Return items in no cluster with their weights; None if they have none."""
        weights, counts = self.weights(side), self.counts(side)
        if weights is None:
            return None
        labels = np.full(counts.n_items, -1, dtype=np.int32)
        return Memberships.from_labels(labels, counts.n_clusters).weighing(weights)

    def of_some(self, side: Side, items: IntArray) -> Problem:
        """Return the problem of some items of a side, with the same fractions."""
        smaller = self.with_counts(side, self.counts(side).resized(len(items)))
        if (silent := self.silent(side)) is not None:
            smaller = smaller.sparing(side, silent[items])
        weights = self.weights(side)
        return smaller if weights is None else smaller.weighing(side, weights[items])

    def silent(self, side: Side) -> BoolArray | None:
        """Return which items of a side have one membership at most."""
        return self.row_silent if side == "rows" else self.column_silent

    def sparing(self, side: Side, silent: BoolArray | None) -> Problem:
        """Return the problem with one membership at most for items that say nothing.

        Further ones would cost them nothing, and be the first to go to them.
        """
        counts, most = self.counts(side), self.overlap_model.most
        if silent is not None:
            widest = counts.n_clusters if most is None else min(most, counts.n_clusters)
            n_silent = int(np.count_nonzero(silent))
            n_places = counts.n_items * widest - n_silent * (widest - 1)
            if n_silent == 0 or counts.n_extra <= 0 or n_places < counts.n_memberships:
                silent = None
        if side == "rows":
            return replace(self, row_silent=silent)
        return replace(self, column_silent=silent)

    def sparing_silent(self, engine: Any) -> Problem:
        """Return the problem with items that say nothing as the data have them."""
        found = self
        # Where items left out cost nothing, it depends on these who says something.
        if self.objective.background or not self.allows_outliers:
            for side in self.sides:
                if self.counts(side).n_extra > 0:
                    found = found.sparing(side, self.objective.silent(engine, side))
        return found

    def weighing(self, side: Side, weights: FloatArray | None) -> Problem:
        """Return the problem with other weights of the items of a side."""
        if side == "rows":
            return replace(self, row_weights=weights)
        return replace(self, column_weights=weights)

    @property
    def centring(self) -> Centring:
        """What may be subtracted from X."""
        if self.objective.background or not self.overlap_model.keeps_shifts:
            return "none"
        sides = self.sides
        return self.objective.centring(sides[0] if len(sides) == 1 else None)

    @property
    def needs_products(self) -> bool:
        """Whether the column step needs products with the column clusters."""
        return self.objective.needs_products and self.columns is not None

    @property
    def n_sums(self) -> int:
        """How many sums the reference makes of an entry, for each that "mean" makes of it.

        Observed cells are counted too, and where two clusters blend every pair has sums of its own.
        """
        widest = max(self.counts(side).n_clusters for side in self.sides)
        n_blends = (widest + 1) // 2 if self.overlap_model.blends else 1
        return n_blends * (2 if self.objective.needs_counts else 1)

    @property
    def allows_outliers(self) -> bool:
        """Whether some items may stay outside."""
        return any(side.max_outliers > 0 for side in (self.rows, self.columns) if side)

    def one_way(self, side: Side, max_iter: int) -> Problem:
        """Return the NEO-K-Means problem of one side."""
        rows = self.rows if side == "rows" else None
        columns = self.columns if side == "columns" else None
        objective = KMEANS.against_background() if self.objective.background else KMEANS
        found = Problem(objective, rows, columns, max_iter, self.tol, self.overlap_model.one_way)
        return found.weighing(side, self.weights(side))
