"""How many memberships the items of a side have: mixtures compared, and the one kept counted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from neocc._counts import round_half_away
from neocc._typing import BoolArray, FloatArray, IntArray
from neocc.selection._mixture import Mixture, Sets, best_of, bic, fitted, likelihood_of, log_sums
from neocc.selection._moves import is_noisy, searched
from neocc.selection._places import Place, starts_of

__all__ = ["ITEMS_PER_CLUSTER", "MARGIN", "Sharing", "shared"]

ITEMS_PER_CLUSTER = 5
"""Means of prototypes can only be told from others with so many items of each."""

MARGIN = 3.0
"""Overlap must gain so much over other explanations, in units of log-likelihood.

It is more where clusters vary more than noise makes them.
"""

# Items in three or more clusters, as a share of those in two, that are few.
_FEW_MORE = 0.25
# If fewer items are in one cluster only, pairs may just be finer clusters: unless overlap gains so
# many times what other explanations do.
_MOSTLY_SINGLE, _CLEARLY = 0.5, 2.0
# An item in several clusters must be so much likelier there, on average and as a logarithm: many
# that are hardly likelier show clusters that differ in noise.
_EACH = 0.12
# So few items in several clusters are none, and no other explanation is needed.
_NOBODY = 0.5
_MOST_ITEMS, _FEW_ITEMS = 2000, 500
_SHORT, _SHAPED = 12, 60
_CHUNK, _TINY = 1 << 22, 1e-300
_POINTS, _LARGEST = 41, 0.98
_ANY_SHAPE, _MORE = "clusters of any shape", "one more cluster"


@dataclass(frozen=True)
class Sharing:
    """Memberships of the items that are not outliers.

    Attributes
    ----------
    prototypes : array of shape (n_clusters, n_dimensions)
        Where they are in the hull.
    members : array of bool, shape (n_items, n_clusters)
        Clusters of every item; none of an outlier.
    references : dict
        What every other explanation gains over disjoint clusters (BIC).
    gain, margin : float
        What overlap gains over disjoint clusters, and must gain over the best reference; gradual
        memberships must gain as much over it.
    path : array of shape (2, n_points)
        Numbers of further memberships per item, and what they gain; empty if nothing was compared.
    mixture : Mixture or None
        The explanation kept; None if nothing was compared.
    """

    prototypes: FloatArray
    members: BoolArray
    references: dict[str, float]
    gain: float
    margin: float
    path: FloatArray
    mixture: Mixture | None = None

    @property
    def is_shared(self) -> bool:
        """Whether some items are in several clusters."""
        return bool((self.members.sum(axis=1) > 1).any())


def _convinces(gain: float, references: dict[str, float], margin: float) -> bool:
    """Return whether overlap explains more than anything else.

    Gradual memberships hold those of the middle: it is these that need a margin.
    """
    leads = {"gradual": -margin}
    return gain > max(value + leads.get(name, margin) for name, value in references.items())


def shared(place: Place, n_clusters: int, most: int, rng: np.random.Generator) -> Sharing:
    """Find out how many clusters items share, up to `most` each."""
    kept = np.flatnonzero(~place.outlying.items)
    Y = place.items(kept)
    starts = starts_of(place, n_clusters, rng)
    sets = Sets.of(n_clusters, min(2, most))
    # Of few columns, some items are near the middle of two clusters anyway.
    enough = len(kept) >= ITEMS_PER_CLUSTER * n_clusters and np.mean(place.room) >= n_clusters
    if sets is None or sets.most < 2 or place.Y.shape[1] == 0 or not enough:
        return _disjoint(place, starts[0], {}, 0.0, 0.0, np.zeros((2, 0)))
    sample = np.sort(rng.permutation(len(Y))[:_MOST_ITEMS])
    return _Comparison(place, Y, Y[sample], starts, rng).decided(kept, sets, most)


@dataclass
class _Comparison:
    """Explanations of the same items; `some` of these tell the parameters."""

    place: Place
    Y: Any
    some: Any
    starts: list[FloatArray]
    rng: np.random.Generator

    def decided(self, kept: IntArray, sets: Sets, most: int) -> Sharing:
        n, k = len(self.some), len(self.starts[0])
        width = self.place.widths(self.some)[0]
        pairs = searched(self.place, self.some, self._few, sets, self.starts, self.rng)
        singles = Sets(np.eye(k), np.ones(k, dtype=np.intp))
        if n * (1.0 - pairs.shares[0]) < _NOBODY:
            disjoint = fitted(self.some, pairs.like(singles, pairs))
            return self._apart(pairs, disjoint, {"disjoint": 0.0}, bic(pairs, n) - bic(disjoint, n))
        disjoint = self._best(singles, [*self.starts, pairs.prototypes], width)
        gradual = fitted(self.some, pairs.like(Sets.gradual(k), pairs))
        # Prototypes that serve another explanation better may serve this one better too.
        pairs = max(pairs, fitted(self.some, pairs.like(sets, gradual)), key=likelihood_of)
        others = {"disjoint": disjoint, "gradual": gradual}
        others[_ANY_SHAPE] = fitted(self.some, disjoint.shaped)
        if len(self.place.prototypes) > k:
            more = Sets(np.eye(k + 1), np.ones(k + 1, dtype=np.intp))
            starts = starts_of(self.place, k + 1, self.rng)
            others[_MORE] = self._best(more, starts, width)
        zero, margin = bic(disjoint, n), MARGIN * self._unruly(pairs)
        references = {name: bic(each, n) - zero for name, each in others.items()}
        if _MORE in others:
            references[_MORE] -= _luck(others[_MORE], self.some)
        # A few items in three clusters are no reason to doubt those in two. If there were many,
        # sets would be so many that they explain gradual memberships just as well.
        whole = self._with_more(pairs, most)
        best = whole if whole.shares[2:].sum() < _FEW_MORE * whole.shares[1] else pairs
        if references[_ANY_SHAPE] + margin >= bic(best, n) - zero:
            # There is more that chance can explain: every cluster has a shape of its own.
            margin *= k
            best, begun = self._shaped(pairs, others)
            for name, each in begun.items():
                if not _convinces(bic(best, n) - zero, references, margin):
                    break
                other = fitted(self.some, each, _SHAPED)
                references[name] = max(references[name], bic(other, n) - zero)
        gain = bic(best, n) - zero
        convinces = _convinces(gain, references, margin)
        if convinces and best is not whole:
            best = self._with_more(best, most)
            gain = bic(best, n) - zero
        if not (convinces and self._is_clear(best, gain, references)):
            return self._apart(best, disjoint, references, gain, margin)
        return self._counted(kept, best, references, gain, margin)

    def _is_clear(self, mixture: Mixture, gain: float, references: dict[str, float]) -> bool:
        """Return whether neither finer clusters nor uneven noise could explain as much."""
        single, known = mixture.shares[0], self.place.outlying.known
        if single < _MOSTLY_SINGLE and gain <= _CLEARLY * max(references.values()):
            return False
        even = known and not is_noisy(self.place, mixture)
        return even or gain > _EACH * len(self.some) * (1.0 - single)

    def _with_more(self, pairs: Mixture, most: int) -> Mixture:
        """Let items be in more than two clusters, if that gains as much as overlap must."""
        larger, n = Sets.of(len(pairs.prototypes), most), len(self.some)
        if larger is None or larger.most <= 2:
            return pairs
        whole = fitted(self.some, pairs.like(larger, pairs))
        return whole if bic(whole, n) > bic(pairs, n) + MARGIN else pairs

    def _apart(
        self,
        pairs: Mixture,
        disjoint: Mixture,
        references: dict[str, float],
        gain: float,
        margin: float = MARGIN,
    ) -> Sharing:
        """Give every item its nearest cluster; what overlap would gain is told."""
        density, _ = _by_number(self.Y, pairs)
        path = _path(density, pairs.shares, gain)
        found = _disjoint(self.place, disjoint.prototypes, references, gain, margin, path)
        return replace(found, mixture=disjoint)

    def _shaped(
        self, pairs: Mixture, others: dict[str, Mixture]
    ) -> tuple[Mixture, dict[str, Mixture]]:
        """Return overlap with covariances of its clusters' own, and how others may begin."""
        n, disjoint = len(self.some), others[_ANY_SHAPE]
        again = pairs.like(pairs.sets, disjoint)
        both = (fitted(self.some, each, _SHAPED) for each in (pairs.shaped, again))
        best = max(both, key=likelihood_of)
        starts = {_ANY_SHAPE: best.like(disjoint.sets, best)}
        if (more := others.get(_MORE)) is not None:
            starts[_MORE] = more.shaped
        starts["gradual"] = best.like(others["gradual"].sets, best)
        return max(pairs, best, key=lambda each: bic(each, n)), starts

    def _unruly(self, mixture: Mixture) -> float:
        """Return how much more items vary within clusters than noise makes them; at least 1."""
        noise = self.place.noise
        return max(1.0, mixture.variance / noise) if noise > 0 else 1.0

    def _best(self, sets: Sets, starts: list[FloatArray], width: float) -> Mixture:
        mixtures = (self.place.mixture(sets, Z, width) for Z in starts)
        return fitted(self.some, best_of(self._few, mixtures, _SHORT))

    @property
    def _few(self) -> Any:
        return self.some[:: -(-len(self.some) // _FEW_ITEMS)]

    def _counted(
        self,
        kept: IntArray,
        mixture: Mixture,
        references: dict[str, float],
        gain: float,
        margin: float,
    ) -> Sharing:
        """Count memberships of all items, and give them to the likeliest."""
        density, best = _by_number(self.Y, mixture)
        shares = mixture.shares
        for _ in range(20):
            parts = _parts(density, shares)
            shares = parts.mean(axis=0)
        further = np.cumsum(_parts(density, shares)[:, ::-1], axis=1)[:, ::-1][:, 1:]
        n_further = round_half_away(float(further.sum()))
        order = np.argsort(-further, axis=None, kind="stable")[:n_further]
        numbers = np.bincount(order // further.shape[1], minlength=len(self.Y))
        chosen = best[np.arange(len(self.Y)), numbers]
        members = np.zeros((len(self.place.Y), len(mixture.prototypes)), dtype=bool)
        members[kept] = mixture.sets.weights[chosen] > 0
        path = _path(density, shares, gain)
        return Sharing(mixture.prototypes, members, references, gain, margin, path, mixture)


def _luck(more: Mixture, items: Any) -> float:
    """Return what a further cluster loses in addition to BIC, since it might be anywhere.

    Clusters that are far apart are told to a small part of the distance between them: it would be
    by chance that one is at the mean of two others.
    """
    white = more.white(items)
    spread = np.linalg.eigvalsh(white @ more.between @ white.T)
    return 0.5 * float(np.log(np.maximum(spread * more.single.min(), 1.0)).sum())


def _by_number(Y: Any, mixture: Mixture) -> tuple[FloatArray, IntArray]:
    """Return the log-density of items given their number of clusters, and the likeliest set."""
    sets = mixture.sets
    density = np.empty((len(Y), sets.most))
    best = np.empty((len(Y), sets.most), dtype=np.intp)
    step = max(1, _CHUNK // len(sets.numbers))
    for begin in range(0, len(Y), step):
        rows = slice(begin, begin + step)
        table = mixture.densities(Y[rows])
        for size in range(1, sets.most + 1):
            at = np.flatnonzero(sets.numbers == size)
            density[rows, size - 1] = log_sums(table[:, at])
            best[rows, size - 1] = at[table[:, at].argmax(axis=1)]
    return density, best


def _parts(density: FloatArray, shares: FloatArray) -> FloatArray:
    joint = density + np.log(shares + _TINY)
    parts: FloatArray = np.exp(joint - log_sums(joint)[:, None])
    return parts


def _path(density: FloatArray, shares: FloatArray, gain: float) -> FloatArray:
    """Return what more or fewer items in several clusters would gain; at the shares, `gain`."""
    several = float(shares[1:].sum())
    within = shares[1:] / max(several, _TINY)
    together = log_sums(density[:, 1:] + np.log(within + _TINY))

    def likelihood(share: float) -> float:
        joint = np.logaddexp(density[:, 0] + np.log1p(-share), together + np.log(share + _TINY))
        return float(joint.sum())

    several = min(several, _LARGEST)
    grid = np.linspace(0.0, min(_LARGEST, max(2.0 * several, 0.1)), _POINTS)
    grid = np.union1d(grid, several)
    gains = np.array([likelihood(share) for share in grid])
    each = float(within @ np.arange(1, len(shares)))
    return np.array([grid * each, gains - likelihood(several) + gain])


def _disjoint(
    place: Place,
    prototypes: FloatArray,
    references: dict[str, float],
    gain: float,
    margin: float,
    path: FloatArray,
) -> Sharing:
    """Give every item its nearest cluster."""
    members = np.eye(len(prototypes), dtype=bool)[place.to(prototypes).argmin(axis=1)]
    members[place.outlying.items] = False
    return Sharing(prototypes, members, references, gain, margin, path)
