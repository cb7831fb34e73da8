"""Overlap as a mixture: items in one cluster, and items at the mean of several, with normal noise.

Every set A of clusters is a component at the mean of its prototypes, sets of one size are equally
likely (but for a mean that is where another cluster is: items there are of that cluster), and the
share of every size is that of largest likelihood (EM). The expected number of
memberships is then right even where single items cannot be decided.

Is there overlap at all? Other explanations of items between prototypes compete, each with the
Bayesian information criterion (BIC, as a gain in log-likelihood):

* `disjoint`: there are none;
* `one more cluster`: a cluster was missing;
* `clusters of any shape`: a normal distribution of its own for each cluster;
* `gradual`: items lie anywhere between two prototypes, not just in the middle.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from scipy.spatial.distance import cdist

from neocc._typing import FloatArray, IntArray

__all__ = ["Mixture", "Sets", "any_shape", "bic", "fitted", "log_sums"]

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
    """Prototypes, the covariance of noise, shares of sizes, and those of single clusters."""

    sets: Sets
    prototypes: FloatArray
    covariance: FloatArray
    shares: FloatArray
    single: FloatArray
    likelihood: float = -np.inf

    @classmethod
    def start(cls, sets: Sets, prototypes: FloatArray, covariance: FloatArray) -> Mixture:
        """Begin with a quarter of the items in several clusters, if there are such sets."""
        shares = np.full(sets.most, 0.25 / max(sets.most - 1, 1))
        shares[0] = 1.0 - shares[1:].sum()
        k = len(prototypes)
        return cls(sets, prototypes, covariance, shares, np.full(k, 1.0 / k))

    def densities(self, Y: FloatArray) -> FloatArray:
        """Return the log-density of items at each set, given its size."""
        k, white = len(self.prototypes), whitening(self.covariance)
        centres = self.sets.weights @ self.prototypes
        within = self.sets.equally.copy()
        # A set whose mean is that of a cluster outside it explains nothing that this one does not.
        apart = cdist(centres @ white.T, self.prototypes @ white.T)
        within[((apart < 1.0) & (self.sets.weights == 0.0)).any(axis=1)] = -np.inf
        within[:k] = np.log(self.single)
        return normal(Y, centres, white) + within

    def step(self, Y: FloatArray) -> Mixture:
        """Take one step of EM; the new mixture knows the likelihood of the old one."""
        sets, n, k = self.sets, len(Y), len(self.prototypes)
        density = self.densities(Y) + np.log(self.shares[sets.numbers - 1] + _TINY)
        total = log_sums(density)
        parts = np.exp(density - total[:, None])
        mass, sums = parts.sum(axis=0), parts.T @ Y
        gram = sets.weights.T @ (mass[:, None] * sets.weights)
        gram += _FLOOR * np.trace(gram) / k * np.eye(k)
        prototypes = np.linalg.solve(gram, sets.weights.T @ sums)
        centres = sets.weights @ prototypes
        cross = sums.T @ centres
        scatter = Y.T @ Y - cross - cross.T + centres.T @ (mass[:, None] * centres)
        covariance = regular(scatter, n, np.diag(np.diag(scatter)) / n, np.square(Y))
        single = (mass[:k] + 1.0) / (mass[:k].sum() + k)
        shares = sets.by_number(mass) / n
        return Mixture(sets, prototypes, covariance, shares, single, float(total.sum()))


def log_sums(values: FloatArray) -> FloatArray:
    """Return the logarithm of the sum of exponentials of each line, of which one is finite."""
    largest = values.max(axis=1)
    return np.asarray(largest + np.log(np.exp(values - largest[:, None]).sum(axis=1)))


def whitening(covariance: FloatArray) -> FloatArray:
    """Return what turns noise into that of variance 1."""
    return np.asarray(np.linalg.inv(np.linalg.cholesky(covariance)), dtype=np.float64)


def normal(Y: FloatArray, centres: FloatArray, white: FloatArray) -> FloatArray:
    """Return the log-density of every item under a normal around every centre."""
    A, B = Y @ white.T, centres @ white.T
    squares = np.einsum("pi,pi->p", A, A)[:, None] - 2.0 * A @ B.T + np.einsum("qi,qi->q", B, B)
    constant = np.log(np.diag(white)).sum() - 0.5 * Y.shape[1] * np.log(2.0 * np.pi)
    density: FloatArray = constant - 0.5 * np.maximum(squares, 0.0)
    return density


def regular(scatter: FloatArray, n: float, usual: FloatArray, squares: FloatArray) -> FloatArray:
    """Return a covariance, drawn towards a usual one as by as many items as there are dimensions.

    It is never singular: `squares` of coordinates tell what is next to nothing.
    """
    prior = len(scatter) + 1.0
    floor = np.diag(_FLOOR * squares.mean(axis=0) + _TINY)
    return (scatter + prior * usual) / (n + prior) + floor


def fitted(Y: FloatArray, mixture: Mixture, n_steps: int = _STEPS) -> Mixture:
    """Run EM until the likelihood stands."""
    likelihood = -np.inf
    for _ in range(n_steps):
        after = mixture.step(Y)
        if after.likelihood - likelihood < _TOL:
            break
        mixture, likelihood = after, after.likelihood
    return after


def bic(mixture: Mixture, n: int) -> float:
    """Return the log-likelihood less what its parameters are worth."""
    return mixture.likelihood - 0.5 * _n_parameters(mixture) * float(np.log(n))


def _n_parameters(mixture: Mixture) -> float:
    k, r = mixture.prototypes.shape
    return float(k * r + r * (r + 1) / 2 + (k - 1) + (mixture.sets.most - 1))


def any_shape(Y: FloatArray, disjoint: Mixture) -> float:
    """Return the BIC of clusters with covariances of their own, from those with a common one."""
    (n, r), k = Y.shape, len(disjoint.prototypes)
    density = disjoint.densities(Y)
    likelihood = -np.inf
    for _ in range(_STEPS):
        total = log_sums(density)
        before, likelihood = likelihood, float(total.sum())
        if likelihood - before < _TOL:
            break
        parts = np.exp(density - total[:, None])
        mass = parts.sum(axis=0) + _TINY
        centres = (parts.T @ Y) / mass[:, None]
        scatters = [
            (Y - c).T @ (p[:, None] * (Y - c)) for c, p in zip(centres, parts.T, strict=True)
        ]
        common = np.sum(scatters, axis=0) / n
        for i in range(k):
            covariance = regular(scatters[i], mass[i], common, np.square(Y))
            share = (mass[i] + 1.0) / (n + k)
            density[:, [i]] = normal(Y, centres[[i]], whitening(covariance)) + np.log(share)
    more = float((k - 1) * r * (r + 1) / 2)
    return likelihood - 0.5 * (_n_parameters(disjoint) + more) * float(np.log(n))
