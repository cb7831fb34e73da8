"""Overlap as a mixture: items in one cluster, and items at the mean of several, with normal noise.

Every set A of clusters is a component at the mean of its prototypes, sets of one size are equally
likely (but for a mean that is where another cluster is: items there are of that cluster), and the
share of every size is that of largest likelihood (EM). The expected number of
memberships is then right even where single items cannot be decided.

Is there overlap at all? Other explanations of items between prototypes compete, each with the
Bayesian information criterion (BIC, as a gain in log-likelihood):

* `disjoint`: there are none;
* `one more cluster`: a cluster was missing (it might be anywhere, not just at the mean of others);
* `clusters of any shape`: a normal distribution of its own for each cluster;
* `gradual`: items lie anywhere between two prototypes, not just in the middle.

Where shapes explain more than overlap does, all of them may have covariances of their own: a set of
clusters has the mean of theirs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any, Self

import numpy as np
from scipy.spatial.distance import cdist

from neocc._typing import FloatArray, IntArray

__all__ = ["Mixture", "Sets", "best_of", "bic", "fitted", "likelihood_of", "log_sums"]

_STEPS = 150
_TOL = 1e-2
_FLOOR = 1e-8
_TINY = 1e-300
_GRADES = (1 / 6, 2 / 6, 3 / 6, 4 / 6, 5 / 6)
_MOST_SETS = 2000


@dataclass(frozen=True)
class Sets:
    """Components: a line of weights of prototypes each, and the number of clusters in it."""

    weights: FloatArray
    numbers: IntArray

    @classmethod
    def of(cls, k: int, most: int) -> Sets | None:
        """Return the means of up to `most` of k clusters; None if there are too many pairs."""
        weights = [np.eye(k)]
        for size in range(2, min(k, most) + 1):
            chosen = list(combinations(range(k), size))
            if sum(map(len, weights)) + len(chosen) > _MOST_SETS:
                if size == 2:
                    return None
                break
            table = np.zeros((len(chosen), k))
            np.put_along_axis(table, np.array(chosen), 1.0 / size, axis=1)
            weights.append(table)
        return cls._stacked(weights)

    @classmethod
    def gradual(cls, k: int) -> Sets:
        """Return points between two clusters, in several proportions."""
        table = [
            (1.0 - grade) * np.eye(k)[i] + grade * np.eye(k)[j]
            for i, j in combinations(range(k), 2)
            for grade in _GRADES
        ]
        return cls._stacked([np.eye(k), np.array(table).reshape(-1, k)])

    @classmethod
    def _stacked(cls, tables: list[FloatArray]) -> Sets:
        weights = np.concatenate(tables)
        return cls(weights, np.count_nonzero(weights, axis=1))

    @cached_property
    def most(self) -> int:
        """The largest number of clusters in a set."""
        return int(self.numbers.max())

    @cached_property
    def equally(self) -> FloatArray:
        """Log-probability of each set among those of its size."""
        return -np.log(np.bincount(self.numbers)[self.numbers])

    def by_number(self, values: FloatArray) -> FloatArray:
        """Add up values of sets by size, from 1."""
        sums = np.bincount(self.numbers, weights=values, minlength=self.most + 1)[1:]
        return np.asarray(sums, dtype=np.float64)


@dataclass(frozen=True)
class Mixture:
    """Prototypes, the covariance of noise, shares of sizes, and those of single clusters.

    The covariance is common, of shape (n_dimensions, n_dimensions), or there is one per cluster.
    """

    sets: Sets
    prototypes: FloatArray
    covariance: FloatArray
    shares: FloatArray
    single: FloatArray
    likelihood: float = -np.inf

    @classmethod
    def start(cls, sets: Sets, prototypes: FloatArray, covariance: FloatArray) -> Self:
        """Begin with a quarter of the items in several clusters, if there are such sets."""
        shares = np.full(sets.most, 0.25 / max(sets.most - 1, 1))
        shares[0] = 1.0 - shares[1:].sum()
        k = len(prototypes)
        return cls(sets, prototypes, covariance, shares, np.full(k, 1.0 / k))

    def like(self, sets: Sets, other: Mixture) -> Self:
        """Begin with other sets, and the prototypes and covariances of another mixture."""
        return self.start(sets, other.prototypes, other.covariance)

    @property
    def common(self) -> FloatArray:
        """The covariance of all clusters, or the mean of theirs."""
        C = self.covariance
        return C if C.ndim == 2 else np.tensordot(self.single, C, axes=1)

    @property
    def between(self) -> FloatArray:
        """The covariance of prototypes."""
        away = self.prototypes - self.single @ self.prototypes
        return np.asarray(away.T @ (self.single[:, None] * away))

    @property
    def variance(self) -> float:
        """The mean variance of a coordinate around a prototype, where prototypes differ."""
        between = self.between
        total = float(np.trace(between))
        if total <= 0:
            return float(np.trace(self.common) / len(self.common))
        return float((self.common * between).sum()) / total

    @property
    def n_variances(self) -> float:
        """The number of parameters that tell the noise."""
        r = self.prototypes.shape[1]
        n_shapes = 1 if self.covariance.ndim == 2 else len(self.prototypes)
        return float(n_shapes * r * (r + 1) / 2)

    @property
    def shaped(self) -> Self:
        """The same mixture with a covariance for each cluster, to begin with."""
        each = np.repeat(self.common[None], len(self.prototypes), axis=0)
        return replace(self, covariance=each)

    def white(self, Y: Any) -> FloatArray:  # noqa: ARG002
        """Return what turns the noise of items into that of variance 1."""
        return whitening(self.common)

    def within(self, white: FloatArray) -> FloatArray:
        """Return the log-probability of each set, given its size and what whitens noise."""
        W, P = self.sets.weights, self.prototypes
        within = self.sets.equally.copy()
        # A set whose mean is that of a cluster outside it explains nothing that this one does not.
        apart = cdist(W @ P @ white.T, P @ white.T)
        within[((apart < 1.0) & (W == 0.0)).any(axis=1)] = -np.inf
        within[: len(P)] = np.log(self.single)
        return within

    def densities(self, Y: Any) -> FloatArray:
        """Return the log-density of items at each set, given its size."""
        W, white = self.sets.weights, self.white(Y)
        centres, within = W @ self.prototypes, self.within(white)
        if self.covariance.ndim == 2:
            return normal(Y, centres, white, within)
        of_sets = zip(centres, np.tensordot(W, self.covariance, axes=1), strict=True)
        each = [normal(Y, centre[None], whitening(C)) for centre, C in of_sets]
        return np.hstack(each) + within

    def step(self, Y: Any) -> Self:
        """Take one step of EM; the new mixture knows the likelihood of the old one."""
        sets, n, k = self.sets, len(Y), len(self.prototypes)
        parts = self.densities(Y)
        parts += np.log(self.shares[sets.numbers - 1] + _TINY)
        total = to_parts(parts)
        mass = parts.sum(axis=0)
        prototypes, covariance = self.learned(Y, parts)
        single = (mass[:k] + 1.0) / (mass[:k].sum() + k)
        shares = sets.by_number(mass) / n
        return type(self)(sets, prototypes, covariance, shares, single, float(total.sum()))

    def learned(self, Y: Any, parts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return prototypes and covariances, given the parts of items in sets."""
        sets, n, k = self.sets, len(Y), len(self.prototypes)
        mass, sums = parts.sum(axis=0), parts.T @ Y
        gram = sets.weights.T @ (mass[:, None] * sets.weights)
        gram += _FLOOR * np.trace(gram) / k * np.eye(k)
        prototypes = np.linalg.solve(gram, sets.weights.T @ sums)
        centres = sets.weights @ prototypes
        if self.covariance.ndim == 2:
            cross = sums.T @ centres
            scatter = Y.T @ Y - cross - cross.T + centres.T @ (mass[:, None] * centres)
            covariance = regular(scatter, n, np.diag(np.diag(scatter)) / n, np.square(Y))
        else:
            covariance = self._of_clusters(Y, parts, centres)
        return prototypes, covariance

    def _of_clusters(self, Y: FloatArray, parts: FloatArray, centres: FloatArray) -> FloatArray:
        """Return the covariance of each cluster: items in several count for each of them."""
        W, r = self.sets.weights, Y.shape[1]
        scatters = np.zeros((W.shape[1], r, r))
        for part, centre, weights in zip(parts.T, centres, W, strict=True):
            away = Y - centre
            scatters += weights[:, None, None] * (away.T @ (part[:, None] * away))
        usual, mass = scatters.sum(axis=0) / len(Y), parts.sum(axis=0) @ W
        each = zip(scatters, mass, strict=True)
        return np.array([regular(scatter, n, usual, np.square(Y)) for scatter, n in each])


def to_parts(values: FloatArray) -> FloatArray:
    """Turn log-densities, in place, into the parts of each line's sum; return its logarithm."""
    largest = values.max(axis=1)
    values -= largest[:, None]
    np.exp(values, out=values)
    sums = values.sum(axis=1)
    values /= sums[:, None]
    return np.asarray(largest + np.log(sums))


def log_sums(values: FloatArray) -> FloatArray:
    """Return the logarithm of the sum of exponentials of each line, of which one is finite."""
    largest = values.max(axis=1)
    return np.asarray(largest + np.log(np.exp(values - largest[:, None]).sum(axis=1)))


def whitening(covariance: FloatArray) -> FloatArray:
    """Return what turns noise into that of variance 1."""
    return np.asarray(np.linalg.inv(np.linalg.cholesky(covariance)), dtype=np.float64)


def normal(
    Y: FloatArray, centres: FloatArray, white: FloatArray, within: FloatArray | float = 0.0
) -> FloatArray:
    """Return the log-density of every item under a normal around every centre.

    `within` is added to those of a centre.
    """
    A, B = Y @ white.T, centres @ white.T
    constant = np.log(np.diag(white)).sum() - 0.5 * Y.shape[1] * np.log(2.0 * np.pi)
    # In place, and a line per centre: tables of all items and sets are large.
    density: FloatArray = (B @ A.T).T
    density -= 0.5 * np.einsum("pi,pi->p", A, A)[:, None]
    density += within + constant - 0.5 * np.einsum("qi,qi->q", B, B)
    return density


def regular(scatter: FloatArray, n: float, usual: FloatArray, squares: FloatArray) -> FloatArray:
    """Return a covariance, drawn towards a usual one as by as many items as there are dimensions.

    It is never singular: `squares` of coordinates tell what is next to nothing.
    """
    prior = len(scatter) + 1.0
    floor = np.diag(_FLOOR * squares.mean(axis=0) + _TINY)
    return (scatter + prior * usual) / (n + prior) + floor


def fitted(Y: Any, mixture: Mixture, n_steps: int = _STEPS) -> Mixture:
    """Run EM until the likelihood stands."""
    likelihood = -np.inf
    for _ in range(n_steps):
        after = mixture.step(Y)
        if after.likelihood - likelihood < _TOL:
            break
        mixture, likelihood = after, after.likelihood
    return after


def best_of(Y: Any, mixtures: Iterable[Mixture], n_steps: int) -> Mixture:
    """Run EM from several starts, and return the likeliest."""
    return max((fitted(Y, each, n_steps) for each in mixtures), key=likelihood_of)


def likelihood_of(mixture: Mixture) -> float:
    """Return the likelihood of a mixture, to compare it with others."""
    return mixture.likelihood


def bic(mixture: Mixture, n: int) -> float:
    """Return the log-likelihood less what its parameters are worth."""
    return mixture.likelihood - 0.5 * _n_parameters(mixture) * float(np.log(n))


def _n_parameters(mixture: Mixture) -> float:
    k, r = mixture.prototypes.shape
    return float(k * r + mixture.n_variances + (k - 1) + (mixture.sets.most - 1))
