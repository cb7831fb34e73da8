"""How well overlap can be estimated at all: by Bayes' rule, told everything but who is where.

It knows the prototypes, the column clusters, the noise, which cells are missing, and the laws of
both kinds of outliers; shares of rows in one cluster, in two, and of outliers are those of largest
likelihood (EM). No rule that has to find these things can be expected to do better.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product
from typing import Any

import numpy as np
from rich.console import Console
from scipy import sparse
from scipy.special import logsumexp

from benchmarks.pages import Line
from benchmarks.quality.overlap import (
    NEAR_OUTLIERS,
    NEAR_OVERLAP,
    NOISES,
    OUTLIERS,
    OVERLAPS,
    SHAPES,
    Shape,
    errors,
    seed_of,
)

_STEPS = 200


def lines(n_seeds: int, console: Console) -> Iterator[Line]:
    """Compare both on the rows of data in which rows are means of two prototypes."""
    yield [
        "data",
        "noise",
        "runs",
        "overlap of rows within 0.05: told",
        "estimated",
        "outliers within 0.02: told",
        "estimated",
    ]
    for shape, noise in product(SHAPES, NOISES):
        if shape.both or (noise < max(NOISES) and shape.density == 1.0):
            continue
        told, found = [], []
        for seed, (place, overlap) in product(range(n_seeds), enumerate(OVERLAPS)):
            outliers = OUTLIERS[(seed + place) % len(OUTLIERS)]
            told.append(_told(shape, overlap, noise, outliers, seed_of(seed, overlap, noise)))
            found.append(errors(shape, overlap, noise, outliers, seed)[0, :2])
        line = [shape.name, str(noise), str(len(told))]
        for column, near in ((0, NEAR_OVERLAP), (1, NEAR_OUTLIERS)):
            for each in (told, found):
                share = np.mean(np.abs(np.array(each)[:, column]) <= near + 1e-9)
                line.append(f"{share:.1%}")
        console.print(" | ".join(line))
        yield line


def _told(
    shape: Shape, overlap: float, noise: float, outliers: tuple[float, bool], seed: int
) -> tuple[float, float]:
    """Return errors of the overlap and of the outliers of the rows."""
    X, U, V = shape.make(overlap, noise, outliers, seed)
    prototypes = 2.0 * np.random.default_rng(seed).normal(size=(shape.k, shape.l))
    observed = np.ones(X.shape, dtype=bool)
    if sparse.issparse(X):
        X = X.toarray()
        observed = X != 0.0
    density = _log_densities(X, observed, prototypes, V, noise)
    shares = np.full(density.shape[1], 1.0 / density.shape[1])
    for _ in range(_STEPS):
        joint = density + np.log(shares + 1e-300)
        shares = np.exp(joint - logsumexp(joint, axis=1, keepdims=True)).mean(axis=0)
    _, two, far, scrambled = shares
    n, share = len(U), np.mean(~U.any(axis=1))
    return (
        two - far - scrambled - (U.sum() - n) / n,
        far + scrambled - share,
    )


def _log_densities(X: Any, observed: Any, prototypes: Any, V: Any, noise: float) -> np.ndarray:
    """Return those of rows in one cluster, at the mean of two, far away, and scrambled."""
    pairs = [
        (prototypes[i] + prototypes[j]) / 2 for i, j in combinations(range(len(prototypes)), 2)
    ]
    largest = np.abs(prototypes).max() + 3
    values, weights = np.unique(np.concatenate([prototypes, pairs]), return_counts=True)

    def cells(level: Any) -> Any:
        return np.where(observed, -0.5 * ((X - level) / noise) ** 2, 0.0)

    def of_centres(centres: Any) -> Any:
        each = [cells((V @ centre)[None]).sum(axis=1) for centre in centres]
        return logsumexp(each, axis=0) - np.log(len(each))

    def of_cells(levels: Any, shares: Any) -> Any:
        each = [cells(level) + np.log(share) for level, share in zip(levels, shares, strict=True)]
        return np.where(observed, logsumexp(each, axis=0), 0.0).sum(axis=1)

    far = of_cells([-largest, largest], [0.5, 0.5])
    scrambled = of_cells(values, weights / weights.sum())
    return np.column_stack([of_centres(prototypes), of_centres(pairs), far, scrambled])
