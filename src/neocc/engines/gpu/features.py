"""Features of columns that stay on a card, and the choices of items that are scored there."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from neocc._typing import FloatArray
from neocc.core.assign import Applied, Choices
from neocc.core.histograms import Histogram, Query, Window
from neocc.core.overlap import OverlapModel, Scores
from neocc.core.overlap.distances import DistanceChoices
from neocc.core.overlap.scores import Spread, at_once
from neocc.core.sizes import Moves, Wanted
from neocc.core.steps import score
from neocc.core.thresholds import ANY, EVERY, Thresholds, taken
from neocc.engines.gpu.device import Device
from neocc.engines.gpu.sets import fetched, histogram_of, set_choices
from neocc.kernels import Features, Kernels, Memberships, Parts, Terms
from neocc.kernels.gpu import Lists

__all__ = ["HeldFeatures", "scored_choices"]


class HeldFeatures(Features):
    """Features on a card; tables are fetched on first access."""

    __slots__ = ("__weakref__", "device", "held", "kernels")

    def __init__(self, device: Device, held: Features, kernels: Kernels) -> None:
        self.device, self.held, self.kernels = device, held, kernels
        device.holds(self)

    def __getattr__(self, name: str) -> Any:
        # Slots of the base class stay empty until their tables are fetched.
        if name not in ("sums", "squares", "products", "counts"):
            raise AttributeError(name)
        held = getattr(self.held, name)
        found = None if held is None else self.device.kernels.fetch(held)
        setattr(self, name, found)
        return found

    @property
    def place(self) -> HeldFeatures:
        """The object itself: the tables are on the card."""
        return self

    def blocks(self, V: Memberships, name: str = "sums") -> FloatArray:
        """Return T' V of one of the tables."""
        return self.device.kernels.blocks(getattr(self.held, name), self._lists(V))

    def diagonal(self, V: Memberships, name: str) -> FloatArray:
        """Return the diagonal of T' V."""
        return self.device.kernels.diagonal(getattr(self.held, name), self._lists(V))

    @property
    def here(self) -> Features:
        """The features with all tables in the memory of this process."""
        return Features(self.sums, self.squares, self.products, self.counts)

    def let_go(self) -> None:
        """Fetch all tables; a card that is lost has lost them."""
        with suppress(Exception):
            self.held = self.here

    def kept(self, name: str) -> Any:
        """Return a table on the card."""
        return getattr(self.held, name)

    def fetched(self, found: Any) -> FloatArray:
        """Return what was computed from such a table, in the memory of this process."""
        here: FloatArray = self.device.kernels.fetch(found)
        return here

    def largest(self, name: str, scale: FloatArray) -> float:
        """Return the largest number of a table whose columns are scaled."""
        scaled = getattr(self.held, name) * self.device.kernels.put(scale)
        return max(0.0, float(scaled.max())) if scaled.size else 0.0

    def weighed(self, V: Memberships) -> float:
        """Return the base of all items, each as often as it counts."""
        return float(self._lists(V).weights.dot(self.held.squares))

    def _lists(self, V: Memberships) -> Lists:
        lists = self.device.lists(V)
        assert lists is not None
        return lists

    def choices(
        self, terms: Terms, members: Memberships | None, model: OverlapModel, distances: bool
    ) -> Choices:
        """Return the choices of the columns."""
        return scored_choices(
            self.device, self.held, terms, members, model, self.kernels, distances=distances
        )


def scored_choices(
    device: Device,
    features: Features,
    terms: Terms,
    members: Memberships | None,
    model: OverlapModel,
    kernels: Kernels,
    spread: Spread = at_once,
    other: Memberships | None = None,
    *,
    distances: bool,
) -> Choices:
    """Return the choices of items whose features are on a card.

    What they are made of stays there.
    """
    scores = scored(device, features, terms, members, distances=distances)
    lists = device.lists(members)
    several = lists is not None and lists.n_extra > 0
    if not model.prices_first or not (distances or several):
        weights = None if lists is None else lists.item_weights
        return HeldChoices(scores.weighed(weights), device=device)
    if model.needs_sums and other is not None:
        assert features.sums is not None
        parts = Parts.of(features.sums, features.counts, terms, other.sizes)
        scores = scores._replace(parts=parts)
    if distances:
        return set_choices(device, scores, model)
    return model.choices(fetched(device, scores), kernels, spread)


def scored(
    device: Device,
    features: Features,
    terms: Terms,
    members: Memberships | None,
    *,
    distances: bool,
) -> Scores:
    """Return scores whose tables are on the card."""
    kernels: Any = device.kernels
    scores = score(kernels, features, terms, device.lists(members), distances=distances)
    return scores._replace(members=members)


@dataclass(frozen=True)
class HeldChoices(DistanceChoices):
    """The distances of items on a card."""

    most_selected: float = np.inf
    device: Device = field(kw_only=True)

    def _histogram(self, values: FloatArray, window: Window, query: Query) -> Histogram:
        return histogram_of(self.device, values, window, query)

    def _at_rank(self, values: Any, rank: int, first: Any) -> tuple[float, int]:
        """Return the value of a rank, and how many that equal it are taken."""
        value, n_below, n_equal = self.device.kernels.select(values, rank, first)
        return value, EVERY if rank - n_below == n_equal else rank - n_below

    def _first(self, thresholds: Thresholds) -> Any:
        """Return the first membership of each item, -1 for none."""
        xp = self.device.kernels.xp
        kept = taken(self.scores.minima, thresholds.nearest, thresholds.n_nearest_ties)
        return xp.where(kept, self.scores.labels, xp.int32(-1))

    def apply(self, thresholds: Thresholds) -> Applied:
        """Return the memberships that thresholds allow."""
        xp, kernels = self.device.kernels.xp, self.device.kernels
        first: Any = self.scores.labels
        items, clusters = xp.empty(0, dtype=xp.int64), xp.empty(0, dtype=xp.int32)
        ends = None
        if thresholds != ANY:
            first = self._first(thresholds)
            if thresholds.extra > -np.inf:
                d: Any = self._offered
                items, clusters, ends = kernels.near(d, first, thresholds.extra)
                if thresholds.n_extra_ties < EVERY:
                    kept = taken(d[items, clusters], thresholds.extra, thresholds.n_extra_ties)
                    items, clusters, ends = items[kept], clusters[kept], None
        before = self.device.lists(self.scores.members)
        weights = None if before is None else before.item_weights
        k = self.scores.n_clusters
        lists = Lists(first, items, clusters, k, weights, item_weights=weights)
        if ends is not None:
            lists.extra_ptr = ends
        return Applied(self.device.memberships(lists), self.scores.objective)

    def _here(self) -> DistanceChoices:
        """Return the same in this process."""
        return DistanceChoices(fetched(self.device, self.scores))

    def costs(self, applied: Applied) -> FloatArray:
        """Return the distance of each membership, item by item."""
        return self._here().costs(applied)

    def moves(self, members: Memberships, wanted: Wanted) -> Moves:
        """Offer the cheapest moves of memberships to clusters that are too small."""
        return self._here().moves(members, wanted)
