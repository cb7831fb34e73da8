"""Curves of items on a card: what a price makes of them there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from neocc._typing import FloatArray, IntArray
from neocc.core.assign import Applied
from neocc.core.changes import Changes, offered
from neocc.core.histograms import Histogram, Query, Window
from neocc.core.objectives.blends import type_of
from neocc.core.overlap import OverlapModel, Scores
from neocc.core.overlap.either import stands_for
from neocc.core.overlap.sets import SetChoices
from neocc.core.sizes import Moves, Wanted
from neocc.core.thresholds import Thresholds
from neocc.engines.gpu.device import Device
from neocc.kernels import Memberships
from neocc.kernels.gpu import Lists

__all__ = ["HeldSets", "fetched", "histogram_of", "set_choices"]


def set_choices(device: Device, scores: Scores, model: OverlapModel) -> HeldSets:
    """Find the best sets of all items, given scores whose tables are on the card."""
    d, k, xp = scores.d, scores.n_clusters, device.kernels.xp
    assert d is not None
    model = model.known(scores)
    n, largest = len(d), k if model.most is None else min(k, model.most)
    curves, steps = xp.empty((n, largest)), xp.empty((n, largest - 1))
    sets = xp.empty((n, largest, largest), dtype=xp.int32)
    lists = device.lists(scores.members)
    present = None if lists is None else xp.empty(n)
    costs = None if model.blends else model.costs(np.arange(1.0, k + 1), scores.gram)
    squares = scores.squares if model.needs_squares else None
    tables = (curves, sets, steps, present)
    if scores.parts is not None:
        given = (scores.parts, scores.squares, scores.minima)
        beside = device.kernels.least_sets(*given, lists, *tables)
    else:
        beside = device.kernels.set_curves(d, squares, lists, costs, *tables)
    scores = scores._replace(objective=scores.objective + beside)
    if scores.all_zero is not None:
        at = scores.all_zero.nonzero()[0]
        curves[at, 1:] = steps[at] = np.inf
    return HeldSets(scores, model, *tables, device=device)


def histogram_of(device: Device, values: Any, window: Window, query: Query) -> Histogram:
    """Count values on the card by bin."""
    found = device.kernels.histogram(values.reshape(-1), *window, query.shift, query.most)
    return Histogram(below=found, counted=False) if isinstance(found, int) else Histogram(*found)


def fetched(device: Device, scores: Scores) -> Scores:
    """Return scores in this process."""
    fetch, parts = device.kernels.fetch, scores.parts
    if parts is not None:
        counts = parts.counts if parts.counts.ndim == 1 else fetch(parts.counts)
        parts = parts._replace(sums=fetch(parts.sums), counts=counts)
    return scores._replace(
        d=None if scores.d is None else fetch(scores.d),
        labels=fetch(scores.labels),
        minima=fetch(scores.minima),
        squares=None if scores.squares is None else fetch(scores.squares),
        all_zero=None if scores.all_zero is None else fetch(scores.all_zero),
        parts=parts,
    )


@dataclass
class HeldSets(SetChoices):
    """The curves of items on a card; see `SetChoices`."""

    device: Any = None

    def histogram(self, values: FloatArray, window: Window, query: Query) -> Histogram:
        """Count values by bin."""
        return histogram_of(self.device, values, window, query)

    def at_rank(self, values: FloatArray, rank: int) -> tuple[float, int]:
        """Return the value of a rank, and the rank among those that equal it."""
        value, below, _ = self.device.kernels.select(values.reshape(-1), rank, None)
        return value + 0.0, rank - below

    def changes(self, thresholds: Thresholds, n_items: int, gain: float) -> Changes:
        """Offer changes of single items; those that may be worth it come here."""
        xp, fetch = self.device.kernels.xp, self.device.kernels.fetch
        sizes, prices = self._sizes(thresholds), self._prices(thresholds)
        paid = self._chosen(sizes) - self.device.kernels.put(prices)[sizes]
        near = (-prices[0] - paid <= gain) & (sizes != 0)
        for size, worth in enumerate(prices[1:].tolist(), 1):
            rises = self.curves[:, size - 1] - worth - paid
            # Compared again here, where sums may round otherwise.
            near |= (rises <= gain + 1e-9 * xp.abs(paid)) & (sizes != size)
        some = xp.flatnonzero(near)
        few = HeldSets(self.scores, self.model, fetch(self.curves[some]), *(None,) * 3)  # type: ignore[arg-type]
        found = offered(few._with_nothing(), fetch(sizes[some]), n_items, prices, gain)
        return found._replace(items=fetch(some)[found.items])

    def _members(self, sizes: IntArray) -> Memberships:
        xp, k = self.device.kernels.xp, self.scores.n_clusters
        several = xp.flatnonzero(sizes > 1)
        first = xp.where(sizes > 0, self.sets[:, 0, 0], xp.int32(-1))
        items, clusters = xp.empty(0, dtype=xp.int64), xp.empty(0, dtype=xp.int32)
        virtual = None
        if len(several):
            n_extra = sizes[several] - 1
            chosen = self.sets[several, n_extra]
            first[several] = chosen[:, 0]
            at, place = xp.nonzero(xp.arange(1, chosen.shape[1]) <= n_extra[:, None])
            items, clusters = several[at], chosen[at, place + 1]
            if self.model.blends:
                types = first.copy()
                types[several] = type_of(chosen[:, 0], chosen[:, 1], k)
                none = items[:0], clusters[:0]
                virtual = Lists(types, *none, k + k * (k - 1) // 2)
        mixed = len(several) > 0 and self.model.mixed
        if self.scores.parts is not None:
            virtual, mixed = self._virtual(first, items, clusters, several), True
        before = self.device.lists(self.scores.members)
        weights = scale = None if before is None else before.item_weights
        if len(several):
            scale = self.model.scale(weights, sizes)
        if virtual is not None and weights is not None:
            virtual.scale = virtual.item_weights = weights
        lists = Lists(first, items, clusters, k, scale, mixed, virtual, item_weights=weights)
        members: Memberships = self.device.memberships(lists)
        return members

    def _virtual(self, first: Any, items: Any, clusters: Any, several: Any) -> Lists:
        """Return the virtual clusters of items, those of `several` by what they follow."""
        xp, k, scores = self.device.kernels.xp, self.scores.n_clusters, self.scores
        parts: Any = scores.parts
        l = parts.sums.shape[1]  # noqa: E741
        lists = Lists(first, items, clusters, k)
        follow = self.device.kernels.follow
        followed = follow(parts, scores.squares, scores.minima, lists, several)
        there = (k + followed * l + xp.arange(l, dtype=xp.int32)).astype(xp.int32)
        virtual = first.copy()
        virtual[several] = there[:, 0]
        rest = xp.repeat(several, l - 1), there[:, 1:].reshape(-1)
        return Lists(virtual, *rest, k + k * l, stands_for=stands_for(k, l))

    def counted(self, members: Memberships, fresh: Sequence[int] = ()) -> Memberships:
        """Return memberships that were not chosen at prices, as they count."""
        return self.model.chosen(members, fetched(self.device, self.scores), fresh)

    def costs(self, applied: Applied) -> FloatArray:
        """Return the cost of the item of each membership, item by item."""
        sizes, kernels = applied.members.numbers, self.device.kernels
        return np.repeat(kernels.fetch(self._chosen(kernels.put(sizes))), sizes)

    def moves(self, members: Memberships, wanted: Wanted) -> Moves:
        """Offer the cheapest moves of memberships to clusters that are too small."""
        present = None if self.present is None else self.device.kernels.fetch(self.present)
        nothing: Any = None
        here = SetChoices(fetched(self.device, self.scores), self.model, *(nothing,) * 3, present)
        return here.moves(members, wanted)
