"""Prototypes of a mixture that EM cannot move far enough are moved at once.

EM ends where two clusters have one prototype, and another one is superfluous: means of prototypes
then explain what they can, and seem to be overlap. Such a mixture gives itself away: items vary
more around it than noise does outside the hull.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator

from neocc._typing import FloatArray
from neocc.selection._mixture import Mixture, Sets, fitted, likelihood_of, log_sums
from neocc.selection._places import Place

__all__ = ["is_noisy", "searched"]

_NOISY = 1.1
# So many moves that gain nothing are tried.
_MOVES = 3
_SHORT = 12
_TINY = 1e-300


def is_noisy(place: Place, mixture: Mixture) -> bool:
    """Return whether items vary more around their clusters than noise makes them."""
    return mixture.variance > _NOISY * place.noise


def searched(
    place: Place, items: Any, few: Any, sets: Sets, starts: list[FloatArray], rng: Generator
) -> Mixture:
    """Return the likeliest mixture from any start; narrow ones are tried where wide ones fail.

    The best start of each width is mended. A `few` of the items show what gains.
    """
    found = []
    for width in place.widths(items):
        begun = [fitted(few, place.mixture(sets, Z, width), _SHORT) for Z in starts]
        mended = _moved(place, few, max(begun, key=likelihood_of), rng)
        found.append(fitted(items, mended))
        if not is_noisy(place, found[-1]):
            break
    return max(found, key=likelihood_of)


def _moved(place: Place, few: Any, mixture: Mixture, rng: Generator) -> Mixture:
    """Move the prototype that is worth least to an item far from all, while that gains."""
    W, n_left, found = mixture.sets.weights, _MOVES, mixture
    while n_left and is_noisy(place, found):
        away = place.squares(few, W @ found.prototypes).min(axis=1)
        if not away.any():
            break
        density = found.densities(few) + np.log(found.shares[found.sets.numbers - 1] + _TINY)
        without = [log_sums(density[:, weights == 0]).sum() for weights in W.T]
        item = rng.choice(len(few), p=away / away.sum())
        prototypes = found.prototypes.copy()
        prototypes[np.argmax(without)] = place.points(few)[item]
        start = place.mixture(found.sets, prototypes, found.variance)
        moved, n_left = fitted(few, start, _SHORT), n_left - 1
        if moved.likelihood > found.likelihood:
            found, n_left = moved, _MOVES
    return found
