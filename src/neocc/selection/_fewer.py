"""Fewer clusters that overlap: some of those that predict best may be means of others.

Clusters that predict held-out cells do not overlap, so items in two clusters make up a further one,
at the mean of both. Mixtures of fewer clusters and the means of these (`_mixture`) compete with one
of all clusters, by the Bayesian information criterion. What speaks for them is that means are where
they are expected: a coincidence in every direction in which clusters differ. Other directions are
left out: there all means are where they are expected. Three clusters in a line, the same distance
apart, are but one coincidence: these stay three.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import comb
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from neocc._typing import FloatArray, IntArray
from neocc.core.engine import Engine
from neocc.core.objectives import Objective
from neocc.selection._mixture import Mixture, Sets, best_of, bic, fitted
from neocc.selection._places import SIDES, Asked, Place, starts_of
from neocc.selection._predicted import SidePrediction
from neocc.selection._sharing import ITEMS_PER_CLUSTER, MARGIN, shared
from neocc.selection._together import Looks, places_of

__all__ = ["fewer_that_overlap"]

_SOME_ITEMS, _MOST_SETS = 500, 100
# A few steps tell which start is the best.
_FIRST, _SHORT, _SCAN, _LONG = 4, 12, 30, 150
# More clusters that overlap are not looked for; fewer are not, where two numbers lose so much for
# each item.
_MOST_CLUSTERS, _HOPELESS = 32, 0.5
_STARTS = 8
# Of more than twice so many clusters not all numbers are tried at first.
_SCANNED = 8
# Clusters differ in directions in which they vary more than their items do.
_APART = 1.0
# Clusters of equal distances are 0.87 as far from the mean of two others as from these.
_NEARER = 0.6


def fewer_that_overlap(
    engine: Engine,
    objective: Objective,
    found: tuple[SidePrediction, SidePrediction],
    numbers: list[list[int]],
    outliers: list[float],
    most: tuple[int, int],
    rng: np.random.Generator,
    looks: Looks | None = None,
) -> tuple[SidePrediction, SidePrediction]:
    """Return what was found, with fewer clusters where they and their means explain as much.

    `numbers` are those to choose from on each side; items have up to `most` memberships. The side
    with more items comes first: fewer clusters of it describe the other side with less noise.
    """
    asked = [
        Asked(each.taken, None if some else 0.0, out)
        for each, some, out in zip(found, numbers, outliers, strict=True)
    ]
    sides, places = list(found), None
    for i in sorted((0, 1), key=lambda i: -found[i].n_items):
        if numbers[i]:
            both = asked[0], asked[1]
            places = places or places_of(engine, objective, both, rng, 2, looks)
            number = _number(places[SIDES[i]], found[i].taken, numbers[i], most[i], rng)
            if number is not None:
                sides[i], places = replace(found[i], overlapping=number), None
                asked[i] = replace(asked[i], n_clusters=number)
    return sides[0], sides[1]


def _number(
    place: Place, k: int, numbers: list[int], most: int, rng: np.random.Generator
) -> int | None:
    """Return the number of clusters that, with their means, explain more than k by themselves."""
    which = np.flatnonzero(~place.outlying.items)
    which = which[np.sort(rng.permutation(len(which))[:_SOME_ITEMS])]
    if len(which) < ITEMS_PER_CLUSTER * k or numbers[0] > _MOST_CLUSTERS:
        return None
    if not _near_means(place, k, rng):
        return None
    apart = _Race(place, which, k, most, rng).alone
    basis = _directions(apart, place.items(which))
    if basis.shape[1] < 2:
        return None
    race = _Race(place.along(basis), which, k, most, rng)
    gains: dict[int, float] = {}
    for each in race.mixtures(numbers[0]):
        number = len(each.prototypes)
        gains[number] = max(race.gain(each), gains.get(number, 0.0))
    enough = max(gains.values()) - MARGIN
    number = min(number for number, gain in gains.items() if gain >= enough)
    if number not in numbers or gains[number] <= MARGIN:
        return None
    sharing = shared(place, number, most, rng)
    return number if sharing.is_shared and gains[number] > sharing.margin else None


@dataclass
class _Race:
    """Mixtures of up to k clusters and their means, against k clusters by themselves."""

    place: Place
    which: IntArray
    k: int
    most: int
    rng: np.random.Generator

    @cached_property
    def Y(self) -> Any:
        """The items."""
        return self.place.items(self.which)

    @cached_property
    def alone(self) -> Mixture:
        """The mixture of k clusters without their means."""
        return fitted(self.Y, self._short(self.k, 1, starts_of(self.place, self.k, self.rng)))

    def gain(self, mixture: Mixture) -> float:
        """Return what a mixture gains over that of k clusters (BIC)."""
        n = len(self.which)
        return bic(mixture, n) - bic(self.alone, n)

    def mixtures(self, least: int) -> Iterator[Mixture]:
        """Yield the best of short runs, of any number, then fewer clusters while these gain."""
        last, found, least_gain = self.alone, list[Mixture](), -_HOPELESS * len(self.which)
        k = min(self.k, _MOST_CLUSTERS)
        while k >= least:
            starts = starts_of(self.place, k, self.rng, n_random=0)
            if found:
                starts.append(_without(last, self.Y, len(last.prototypes) - k))
            last = self._long(self._short(k, 2, starts), _SCAN)
            found.append(last)
            if len(found) > 1 and max(map(self.gain, found[-2:])) < least_gain:
                break
            k -= max(1, k // _SCANNED)
        best = self._long(max(found, key=self.gain))
        yield best
        while (k := len(best.prototypes) - 1) >= least:
            starts = [_without(best, self.Y, 1, i) for i in range(min(_STARTS, k + 1))]
            fewer = self._long(self._short(k, 2, starts))
            yield fewer
            if self.gain(fewer) <= self.gain(best):
                break
            best = fewer

    def _short(self, k: int, most: int, starts: list[FloatArray]) -> Mixture:
        sets, width = Sets.of(k, most), self.place.widths(self.Y)[0]
        assert sets is not None
        begun = best_of(self.Y, (self.place.mixture(sets, Z, width) for Z in starts), _FIRST)
        return fitted(self.Y, begun, _SHORT - _FIRST)

    def _long(self, short: Mixture, n_steps: int = _LONG) -> Mixture:
        """Run EM on, with larger sets, if there are not too many, where these gain."""
        pairs, k = fitted(self.Y, short, n_steps), len(short.prototypes)
        most = max(m for m in range(2, self.most + 1) if m == 2 or comb(k, m) <= _MOST_SETS)
        if most == 2:
            return pairs
        larger = Sets.of(k, most)
        assert larger is not None
        return max(pairs, fitted(self.Y, pairs.like(larger, pairs), n_steps), key=self.gain)


def _directions(mixture: Mixture, Y: Any) -> FloatArray:
    """Return a basis of the directions in which clusters differ, as columns."""
    white = mixture.white(Y)
    values, vectors = np.linalg.eigh(white @ mixture.between @ white.T)
    return np.asarray(np.linalg.qr(white.T @ vectors[:, values > _APART])[0])


def _near_means(place: Place, k: int, rng: np.random.Generator) -> bool:
    """Return whether some of k prototypes is much nearer to a mean of others than to these."""
    P = starts_of(place, k, rng, n_random=0)[0]
    d = cdist(P, P)
    np.fill_diagonal(d, np.inf)
    return bool((_to_means(P) < _NEARER * d.min(axis=1)).any())


def _to_means(P: FloatArray) -> FloatArray:
    """Return the distance of every prototype to the nearest mean of two others."""
    i, j = np.triu_indices(len(P), 1)
    d = cdist(P, 0.5 * (P[i] + P[j]))
    pairs = np.arange(len(i))
    d[i, pairs] = d[j, pairs] = np.inf
    return np.asarray(d.min(axis=1, initial=np.inf))


def _without(mixture: Mixture, Y: Any, n: int, first: int = 0) -> FloatArray:
    """Return the prototypes without some of those that are nearest to a mean of others."""
    P = mixture.prototypes
    nearest = np.argsort(_to_means(P @ mixture.white(Y).T), kind="stable")
    return np.delete(P, nearest[first : first + n], axis=0)
