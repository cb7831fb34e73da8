"""Items that follow no clusters: their values are like those of others, in random places.

Such an item need not be far from everything: it lies near the centre, where means of clusters are,
too. Where the law of the others is known, all values of an item have a density: that of the mixture
in the hull, with noise outside it, or that of values which vary around one mean as much as all
values of some cluster do, or of the table. The share of the second kind is that of largest
likelihood; nothing else is adapted.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import expit

from neocc._counts import round_half_away
from neocc._typing import BoolArray, IntArray
from neocc.selection._mixture import Mixture, Sets, fitted, log_sums
from neocc.selection._places import Place, Values

__all__ = ["followers", "rough_mixture", "without_strays"]

# What they must gain, in units of log-likelihood, beyond what their share is worth.
_MARGIN = 3.0
_STEPS = 50
# A mixture need not be the best there is: a few steps with some of the items will do.
_ROUNDS, _SHORT, _SOME_ITEMS = 4, 12, 500
# Prototypes of fewer items follow these.
_ITEMS_PER_CLUSTER = 5


def rough_mixture(place: Place, most: int, rng: np.random.Generator) -> Mixture | None:
    """Return one of all prototypes, of which items share up to two; None if items are too few."""
    P, kept = place.prototypes, np.flatnonzero(~place.outlying.items)
    sets = Sets.of(len(P), min(2, most))
    if sets is None or P.shape[1] == 0 or len(kept) < _ITEMS_PER_CLUSTER * len(P):
        return None
    width = place.widths(place.items(kept))[0]
    return _adapted(place, place.mixture(sets, P, width), rng)


def followers(place: Place, mixture: Mixture, rng: np.random.Generator) -> Place:
    """Return a place in which items that follow no clusters are outliers, too.

    Clusters are those of a mixture, and adapt to the items that follow them.
    """
    found = place
    for _ in range(_ROUNDS):
        before, found = found, without_strays(place, mixture)
        if np.array_equal(before.outlying.items, found.outlying.items):
            break
        mixture = _adapted(found, mixture, rng)
    return found


def _adapted(place: Place, mixture: Mixture, rng: np.random.Generator) -> Mixture:
    kept = rng.permutation(np.flatnonzero(~place.outlying.items))
    return fitted(place.items(np.sort(kept[:_SOME_ITEMS])), mixture, _SHORT)


def without_strays(place: Place, mixture: Mixture) -> Place:
    """Return a place in which items that follow no cluster of a mixture are outliers, too."""
    kept = np.flatnonzero(~place.outlying.items)
    if not place.outlying.known or place.values is None or place.noise <= 0 or len(kept) < 2:
        return place
    found = _strays(place, place.values.of(kept), mixture, kept)
    if not found.any():
        return place
    items = place.outlying.items.copy()
    items[kept[found]] = True
    return replace(place, outlying=replace(place.outlying, items=items))


def _strays(place: Place, values: Values, mixture: Mixture, kept: IntArray) -> BoolArray:
    """Return which of the items kept are such."""
    table, weights = place.densities(kept, mixture), mixture.sets.weights
    parts = np.exp(table - log_sums(table)[:, None]) @ weights
    # Items of a noisy cluster vary more than others, and yet follow it.
    noises = weights @ place.noises(kept, parts.argmax(axis=1), parts.shape[1])
    inside = log_sums(table + place.around(kept, noises))
    means, variances = values.laws(np.column_stack([parts, np.ones(len(kept))]))
    if variances[-1] <= place.noise:
        return np.zeros(len(kept), dtype=bool)
    anywhere = values.densities(means, np.maximum(variances, place.noise))
    # That of the table is as likely as those of all clusters together.
    laws = np.append(np.full(len(means) - 1, 0.5 / (len(means) - 1)), 0.5)
    odds = log_sums(anywhere + np.log(laws)) - inside
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
