"""Features of columns that stay on a card, and the choices of items that are scored there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from neocc._typing import FloatArray
from neocc.core.assign import Applied, Choices
from neocc.core.histograms import BlockCounts, Histogram, Query, Window
from neocc.core.objectives.blends import in_types
from neocc.core.overlap import OverlapModel, Scores
from neocc.core.overlap.distances import DistanceChoices
from neocc.core.overlap.scores import Spread, at_once
from neocc.core.sizes import Moves, Wanted
from neocc.core.thresholds import ANY, Thresholds
from neocc.engines.gpu.device import Device
from neocc.kernels import Features, Kernels, Memberships, Parts, Terms
from neocc.kernels.gpu import Lists

__all__ = ["HeldFeatures", "scored_choices"]


class HeldFeatures(Features):
    """Features on a card; tables are fetched when somebody looks at them."""

    __slots__ = ("device", "held", "kernels")

    def __init__(self, device: Device, held: Features, kernels: Kernels) -> None:
        self.device, self.held, self.kernels = device, held, kernels

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
        """Where they are."""
        return self

    def blocks(self, V: Memberships) -> FloatArray:
        """Return S' V."""
        lists = self.device.lists(V)
        assert lists is not None and self.held.sums is not None
        found: FloatArray = self.device.kernels.fetch(self.held.sums.T.dot(lists.indicator))
        return found

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

    Where each membership has a price of its own, distances stay there; other models are given them.
    """
    scores = scored(device, features, terms, members, distances=distances)
    if not model.prices_first:
        return HeldChoices(device, scores)
    parts = None
    if model.needs_sums and other is not None:
        sums = device.kernels.fetch(features.sums)
        parts = Parts.of(sums, terms, other.sizes)
    return model.choices(fetched(device, scores, features, terms, parts), kernels, spread)


def scored(
    device: Device,
    features: Features,
    terms: Terms,
    members: Memberships | None,
    *,
    distances: bool,
) -> Scores:
    """Return scores whose tables are on the card."""
    xp, n, k = device.kernels.xp, len(features.squares), terms.n_clusters
    labels, minima = xp.empty(n, dtype=xp.int32), xp.empty(n)
    d = xp.empty((n, k)) if distances else None
    compared = in_types(members, k) if terms.single and members is not None else members
    lists = device.lists(compared)
    total = device.kernels.score(features, terms, lists, d, labels, minima)
    return Scores(d, labels, minima, terms.single or k, total, members, gram=terms.gram)


def fetched(
    device: Device, scores: Scores, features: Features, terms: Terms, parts: Parts | None = None
) -> Scores:
    """Return scores in this process, with the squares of the items."""
    fetch = device.kernels.fetch
    squares = fetch(features.squares) if terms.rate is None else np.zeros(len(scores.labels))
    return scores._replace(
        d=None if scores.d is None else fetch(scores.d),
        labels=fetch(scores.labels),
        minima=fetch(scores.minima),
        squares=squares,
        parts=parts,
    )


@dataclass(frozen=True)
class HeldChoices:
    """The distances of items on a card; see `DistanceChoices`."""

    device: Device
    scores: Scores

    def count(self, query: Query) -> BlockCounts:
        """Count distances by bin."""
        minima: Any = self.scores.minima
        nearest = extra_nearest = extra_all = Histogram()
        if query.nearest is not None:
            nearest = self._histogram(minima, query.nearest, query)
        if query.extra is not None:
            extra_nearest = nearest
            if query.extra != query.nearest:
                extra_nearest = self._histogram(minima, query.extra, query)
            extra_all = self._histogram(self.scores.d, query.extra, query)
        return BlockCounts(nearest, extra_nearest, extra_all)

    def _histogram(self, values: Any, window: Window, query: Query) -> Histogram:
        flat = values.reshape(-1)
        found = self.device.kernels.histogram(flat, *window, query.shift, query.most)
        if isinstance(found, int):
            return Histogram(below=found, counted=False)
        return Histogram(*found)

    def apply(self, thresholds: Thresholds) -> Applied:
        """Return the memberships that thresholds allow."""
        labels, minima, k = self.scores.labels, self.scores.minima, self.scores.n_clusters
        xp = self.device.kernels.xp
        nothing = xp.empty(0, dtype=xp.int64)
        first, places = labels, nothing
        if thresholds != ANY:
            kept = self._taken(minima, thresholds.nearest, thresholds.n_nearest_ties)
            first = xp.where(kept, labels, xp.int32(-1))
            if thresholds.extra > -np.inf:
                extra = thresholds.extra
                d: Any = self.scores.d
                places = self.device.kernels.near(d, labels, kept, extra)
                costs = d.reshape(-1)[places]
                places = places[self._taken(costs, extra, thresholds.n_extra_ties)]
        items = places // k
        lists = Lists(xp, first, items, (places - items * k).astype(xp.int32), k)
        return Applied(self.device.memberships(lists), self.scores.objective)

    def _taken(self, values: Any, threshold: float, n_ties: int) -> Any:
        """Tell which values are below a threshold, or among the first few that equal it."""
        below = values < threshold
        below[self.device.kernels.xp.flatnonzero(values == threshold)[:n_ties]] = True
        return below

    def _here(self) -> DistanceChoices:
        """Return the same in this process."""
        scores, fetch = self.scores, self.device.kernels.fetch
        d = None if scores.d is None else fetch(scores.d)
        return DistanceChoices(
            scores._replace(d=d, labels=fetch(scores.labels), minima=fetch(scores.minima))
        )

    def costs(self, applied: Applied) -> FloatArray:
        """Return the distance of each membership, item by item."""
        return self._here().costs(applied)

    def moves(self, members: Memberships, wanted: Wanted) -> Moves:
        """Offer the cheapest moves of memberships to clusters that are too small."""
        return self._here().moves(members, wanted)
