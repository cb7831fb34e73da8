"""Known indices of the number of clusters, to compare our choice with.

Each is computed on clusters that `KMeans` finds in the rows (of the mixtures: `GaussianMixture`),
with 1 to 20 clusters, as published: the average silhouette (Rousseeuw, 1987), the variance ratio
(Caliński and Harabasz, 1974), the index of Davies and Bouldin (1979), the gap statistic
(Tibshirani, Walther and Hastie, 2001), prediction strength (Tibshirani and Walther, 2005), and the
BIC of Gaussian mixtures (Fraley and Raftery, 2002).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from rich.console import Console
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import calinski_harabasz_score, davies_bouldin_score, silhouette_score
from sklearn.mixture import GaussianMixture

from benchmarks.pages import Line
from benchmarks.tables import SEPARABLE, tables
from neocc.selection import suggest_n_clusters

__all__ = ["numbers_by_index", "rule_lines"]

_LARGEST, _LARGEST_MIXTURE = 20, 15
# The indices see so many rows at most, and so many dimensions; a mixture sees fewer.
_ROWS, _DIMENSIONS, _OF_MIXTURES = 1500, 50, 10
_REFERENCES, _SPLITS, _STRONG = 5, 3, 0.8

_OURS, _CONSTANT = "neocc", "always 3"
_MARKS = ("", "*", "†")


def rule_lines(n_seeds: int, console: Console) -> Iterator[Line]:
    """Compare what our rule and known indices say of the tables whose classes k-means finds."""
    said: dict[str, list[tuple[str, int, int]]] = {}
    for each in tables():
        if each.ari < SEPARABLE:
            continue
        k = len(np.unique(each.classes))
        for seed in range(n_seeds):
            ours = suggest_n_clusters(each.data, random_state=seed).rows.number
            found = {_OURS: ours, **numbers_by_index(each.data, seed), _CONSTANT: 3}
            console.print(f"{each.name} {each.mark}: {k}; {found}")
            for rule, number in found.items():
                said.setdefault(rule, []).append((each.mark, k, number))
    n_tables = [sum(mark == m for m, *_ in said[_OURS]) // n_seeds for mark in _MARKS]
    heads = [
        f"within 1, {n}{mark and f' ({mark})'}" for mark, n in zip(_MARKS, n_tables, strict=True)
    ]
    yield ["rule", *heads, f"within 1, all {sum(n_tables)}", "exactly", "off by a factor of"]
    for rule, answers in said.items():
        near = [[abs(k - number) <= 1 for m, k, number in answers if m == mark] for mark in _MARKS]
        off = np.mean([abs(np.log(number / k)) for _, k, number in answers])
        shares = [*near, np.concatenate(near), [k == number for _, k, number in answers]]
        yield [rule, *(f"{np.mean(each):.0%}" for each in shares), f"{np.exp(off):.2f}"]


def numbers_by_index(X: np.ndarray, seed: int) -> dict[str, int]:
    """Return the number of row clusters that each index chooses."""
    rng = np.random.default_rng(seed)
    if len(X) > _ROWS:
        X = X[rng.choice(len(X), _ROWS, replace=False)]
    if X.shape[1] > 2 * _DIMENSIONS:
        X = _projected(X, _DIMENSIONS)
    numbers = range(1, min(_LARGEST, len(X) // 2 - 1) + 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fits = [KMeans(k, n_init=5, random_state=seed).fit(X) for k in numbers]
        labels = [fit.labels_ for fit in fits]
        heights = np.array([fit.inertia_ for fit in fits])
        return {
            "silhouette": _best(X, labels, silhouette_score),
            "variance ratio": _best(X, labels, calinski_harabasz_score),
            "Davies-Bouldin": _best(X, labels, lambda *pair: -davies_bouldin_score(*pair)),
            "gap": _by_gap(X, heights, rng),
            "prediction strength": _by_strength(X, len(numbers), rng),
            "mixtures, BIC": _by_bic(X, len(numbers), seed),
        }


def _projected(X: np.ndarray, n_dimensions: int) -> np.ndarray:
    if min(X.shape) <= n_dimensions:
        return X
    return np.asarray(PCA(n_dimensions, random_state=0).fit_transform(X))


def _best(X: np.ndarray, labels: list[Any], score: Callable[[Any, Any], float]) -> int:
    return 2 + int(np.argmax([score(X, each) for each in labels[1:]]))


def _by_gap(X: np.ndarray, inertia: np.ndarray, rng: np.random.Generator) -> int:
    """Compare with uniform data in a box along the principal axes."""
    Z = PCA().fit_transform(X)
    low, high = Z.min(axis=0), Z.max(axis=0)
    numbers = range(1, len(inertia) + 1)
    of_chance = np.log(
        [
            [KMeans(k, n_init=1, random_state=0).fit(box).inertia_ for k in numbers]
            for box in (rng.uniform(low, high, Z.shape) for _ in range(_REFERENCES))
        ]
    )
    gap = of_chance.mean(axis=0) - np.log(inertia)
    error = of_chance.std(axis=0) * np.sqrt(1 + 1 / _REFERENCES)
    enough = gap[:-1] >= gap[1:] - error[1:]
    return int(enough.argmax()) + 1 if enough.any() else len(inertia)


def _by_strength(X: np.ndarray, largest: int, rng: np.random.Generator) -> int:
    """Return the largest number of which half of the data predicts the other half's clusters."""
    strengths = np.zeros((_SPLITS, largest + 1))
    for split in strengths:
        order = rng.permutation(len(X))
        halves = X[order[: len(X) // 2]], X[order[len(X) // 2 :]]
        for k in range(2, min(largest, len(halves[0]) - 1) + 1):
            one, other = (KMeans(k, n_init=3, random_state=0).fit(half) for half in halves)
            predicted = one.predict(halves[1])
            split[k] = min(_together(predicted[other.labels_ == i]) for i in range(k))
    strong = np.flatnonzero(strengths.mean(axis=0) >= _STRONG)
    return int(strong[-1]) if len(strong) else 1


def _together(labels: Any) -> float:
    """Return the share of pairs with the same label; of a single item nothing is asked."""
    counts, n = np.bincount(labels), len(labels)
    return float(counts @ (counts - 1)) / (n * (n - 1)) if n > 1 else 1.0


def _by_bic(X: np.ndarray, largest: int, seed: int) -> int:
    Z = _projected(X, _OF_MIXTURES)
    options = {"reg_covar": 1e-3 * Z.var(), "random_state": seed}
    tried = [
        (GaussianMixture(k, covariance_type=kind, **options).fit(Z).bic(Z), k)
        for k in range(1, min(largest, _LARGEST_MIXTURE) + 1)
        for kind in ("diag", "full", "spherical")
    ]
    return min(tried)[1]
