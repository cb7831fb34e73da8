"""What is asked for: an objective, an overlap model, and exact counts per side."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from neocc._counts import Counts, round_half_away
from neocc._typing import BoolArray, FloatArray, IntArray
from neocc.core.objectives import KMEANS, Centring, Objective, Side
from neocc.core.overlap import REPEAT, OverlapModel
from neocc.core.overlap.repeat import Repeat
from neocc.kernels import Memberships

__all__ = ["Counts", "Problem", "Side", "round_half_away"]


@dataclass(frozen=True)
class Problem:
    """An objective with the counts of both sides; None for a side that is not clustered.

    Rows and columns may count as more than one, or as less: by their weights, None for ones. Counts
    are those of items all the same. All-zero items have one membership at most; None where there
    are none, or where it takes more of them to meet the counts.
    """

    objective: Objective
    rows: Counts | None
    columns: Counts | None
    max_iter: int = 100
    tol: float = 1e-6
    overlap_model: OverlapModel = REPEAT
    row_weights: FloatArray | None = field(default=None, compare=False)
    column_weights: FloatArray | None = field(default=None, compare=False)
    row_all_zero: BoolArray | None = field(default=None, compare=False)
    column_all_zero: BoolArray | None = field(default=None, compare=False)

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

    @property
    def overlaps(self) -> bool:
        """Whether items can have several memberships; yes where counts are not known."""
        counts = [self.counts(side) for side in self.sides]
        return self.overlap_model.most != 1 and (not counts or any(one.n_extra for one in counts))

    @property
    def plainest(self) -> Problem:
        """The problem with the overlap model by which it is solved.

        Where nothing can overlap all models cost the same, but those with costs of sets do not
        search as far: small gains end their searches, and their exact gains are those of a further
        membership, not of a move. So the paper's model takes their place.
        """
        if self.overlaps:
            return self
        # With outliers to spare, memberships may still be as many as items.
        spare = any(self.counts(side).n_extra for side in self.sides)
        return replace(self, overlap_model=Repeat(1) if spare else REPEAT)

    def loosened(self, tol: float) -> Problem:
        """Return the problem of a shorter run, which ends within `tol` at the latest."""
        return replace(self, tol=max(self.tol, tol))

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

    def constant(self, engine: Any) -> float:
        """Return what the objective has beside the distances of all memberships."""
        return self.objective.constant(engine, self.weights("rows"), self.weights("columns"))

    def moved(self, U: Memberships, before: Any, V: Memberships) -> Memberships:
        """Return row memberships as they count once those of columns have changed to V."""
        return self.overlap_model.moved(U, before, V) if self.objective.reseeds else U

    def no_memberships(self, side: Side) -> Memberships | None:
        """Return items in no cluster with their weights; None if they have none."""
        weights, counts = self.weights(side), self.counts(side)
        if weights is None:
            return None
        labels = np.full(counts.n_items, -1, dtype=np.int32)
        return Memberships.from_labels(labels, counts.n_clusters).weighing(weights)

    def of_some(self, side: Side, items: IntArray) -> Problem:
        """Return the problem of some items of a side, with the same fractions."""
        smaller = self.with_counts(side, self.counts(side).resized(len(items)))
        if (all_zero := self.all_zero(side)) is not None:
            smaller = smaller.sparing(side, all_zero[items])
        weights = self.weights(side)
        return smaller if weights is None else smaller.weighing(side, weights[items])

    def all_zero(self, side: Side) -> BoolArray | None:
        """Return which items of a side have one membership at most."""
        return self.row_all_zero if side == "rows" else self.column_all_zero

    def sparing(self, side: Side, all_zero: BoolArray | None) -> Problem:
        """Return the problem with one membership at most for all-zero items.

        Further ones would cost them nothing, and be the first to go to them.
        """
        counts, most = self.counts(side), self.overlap_model.most
        if all_zero is not None:
            widest = counts.n_clusters if most is None else min(most, counts.n_clusters)
            n_all_zero = int(np.count_nonzero(all_zero))
            n_places = counts.n_items * widest - n_all_zero * (widest - 1)
            if n_all_zero == 0 or counts.n_extra <= 0 or n_places < counts.n_memberships:
                all_zero = None
        if side == "rows":
            return replace(self, row_all_zero=all_zero)
        return replace(self, column_all_zero=all_zero)

    def sparing_all_zero(self, engine: Any) -> Problem:
        """Return the problem with the all-zero items of the data."""
        found = self
        # Where items left out cost nothing, it depends on these which items are all zero.
        if self.objective.background or not self.allows_outliers:
            for side in self.sides:
                if self.counts(side).n_extra > 0:
                    found = found.sparing(side, self.objective.all_zero(engine, side))
        return found

    def weighing(self, side: Side, weights: FloatArray | None) -> Problem:
        """Return the problem with other weights of the items of a side."""
        if side == "rows":
            return replace(self, row_weights=weights)
        return replace(self, column_weights=weights)

    @property
    def centring(self) -> Centring:
        """What may be subtracted from X."""
        if self.objective.background or (self.overlap_model.adds and self.overlaps):
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
