"""Items that follow no clusters: their values are like any of the table, in random places.

Such an item need not be far from everything: it lies near the centre, where means of clusters are,
too. Where the law of the others is known, all values of an item have a density: that of the mixture
in the hull, with noise outside it, or that of values which vary around the mean of all as much as
all values do. The share of the second kind is that of largest likelihood; nothing else is adapted.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import expit

from neocc._counts import round_half_away
from neocc._typing import BoolArray, FloatArray, IntArray
from neocc.selection._mixture import Mixture, Sets, log_sums
from neocc.selection._places import Place

__all__ = ["without_strays"]

# What they must gain, in units of log-likelihood, beyond what their share is worth.
_MARGIN = 3.0
_STEPS = 50


def without_strays(place: Place, mixture: Mixture) -> Place:
    """Return a place in which items that follow no cluster of a mixture are outliers, too."""
    kept = np.flatnonzero(~place.outlying.items)
    if not place.outlying.known or place.level is None or place.noise <= 0 or len(kept) < 2:
        return place
    found = _strays(place, mixture, place.level[None], kept)
    if not found.any():
        return place
    items = place.outlying.items.copy()
    items[kept[found]] = True
    return replace(place, outlying=replace(place.outlying, items=items))


def _strays(place: Place, mixture: Mixture, centre: FloatArray, kept: IntArray) -> BoolArray:
    """Return which of the items kept are such."""
    items, outside = place.items(kept), place.outside[kept]
    room = np.broadcast_to(place.room, len(place.Y))[kept]
    total = outside + place.squares(items, centre)[:, 0]
    variance = float(total.sum() / (room.sum() + np.count_nonzero(place.Y[kept])))
    if variance <= place.noise:
        return np.zeros(len(kept), dtype=bool)
    anywhere = place.mixture(Sets(np.eye(1), np.ones(1, dtype=np.intp)), centre, variance)

    def density(of: Mixture, noise: float) -> FloatArray:
        table = of.densities(items) + np.log(of.shares[of.sets.numbers - 1] + 1e-300)
        around = outside / noise + room * np.log(noise)
        return np.asarray(log_sums(table) - 0.5 * around)

    odds = density(anywhere, variance) - density(mixture, place.noise)
    share = 0.05
    for _ in range(_STEPS):
        stray = expit(odds + np.log(share) - np.log1p(-share))
        share = float(np.clip(stray.mean(), 1e-9, 0.5))
    gain = float(np.logaddexp(np.log1p(-share), odds + np.log(share)).sum())
    found = np.zeros(len(kept), dtype=bool)
    if gain > _MARGIN + 0.5 * np.log(len(kept)):
        order = np.argsort(-odds, kind="stable")
        found[order[: round_half_away(share * len(kept))]] = True
    return found
