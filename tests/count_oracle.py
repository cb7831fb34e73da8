"""Objectives of counts, cell by cell: slow and obvious."""

from __future__ import annotations

import numpy as np

MODELS = ("repeat", "share")
NAMES = ("poisson", "diagonal", "modularity")


def draw_counts(kind, rng, n, m) -> np.ndarray:
    """Draw counts of a kind."""
    n, m = (1 if kind == "one_row" else n), (1 if kind == "one_column" else m)
    X = rng.poisson(rng.choice([0.3, 3.0, 50.0]), size=(n, m)).astype(float)
    if kind == "tied":
        return rng.integers(0, 2, size=(n, m)).astype(float)
    if kind == "fractions":
        return X * rng.random((n, m))
    if kind == "sparse":
        X[rng.random((n, m)) < 0.8] = 0.0
    if kind == "empty":
        X[rng.random(n) < 0.5] = 0.0
        X[:, rng.random(m) < 0.5] = 0.0
    return np.zeros((n, m)) if kind == "zeros" else X


def expected(X) -> np.ndarray:
    """What independence expects of every cell."""
    total = X.sum()
    return np.outer(X.sum(axis=1), X.sum(axis=0)) / total if total > 0 else np.zeros(X.shape)


def weights(U, model) -> np.ndarray:
    """How much each membership counts."""
    U = np.asarray(U, dtype=float)
    if model == "repeat":
        return U
    return np.array([u / u.sum() if u.any() else u for u in U])


def sums(X, U, V, model) -> tuple[np.ndarray, np.ndarray]:
    """Observed and expected counts of all blocks."""
    E, A, B = expected(X), weights(U, model), weights(V, model)
    observed, wanted = np.zeros((2, A.shape[1], B.shape[1]))
    for i, u in enumerate(A.T):
        for j, v in enumerate(B.T):
            for p in range(len(X)):
                for t in range(X.shape[1]):
                    observed[i, j] += u[p] * v[t] * X[p, t]
                    wanted[i, j] += u[p] * v[t] * E[p, t]
    return observed, wanted


def lifts(X, U, V, name, model, prior) -> np.ndarray:
    """The lifts that an objective gives blocks."""
    observed, wanted = sums(X, U, V, model)
    found = (observed + prior) / (wanted + prior)
    if name == "diagonal":
        away = ~np.eye(len(found), dtype=bool)
        found[away] = (observed[away].sum() + prior) / (wanted[away].sum() + prior)
    return found


def cell_cost(x, e, gamma, name, same) -> float:
    """What one cell costs in one block."""
    if name == "modularity":
        return -(x - e) if same else 0.0
    return -x * np.log(gamma) + e * (gamma - 1.0)


def penalty(gamma, name, prior) -> float:
    """What J has beside the cells: counts of the prior, each rate its own."""
    if name == "modularity":
        return 0.0
    rates = gamma.ravel()
    if name == "diagonal":
        away = ~np.eye(len(gamma), dtype=bool)
        rates = np.concatenate([np.diag(gamma), gamma[away][:1]])
    return float((prior * (rates - 1.0 - np.log(rates))).sum())


def table_cost(X, U, V, gamma, name, model="repeat", prior=1.0) -> float:
    """J with given lifts."""
    E, A, B = expected(X), weights(U, model), weights(V, model)
    total = penalty(gamma, name, prior)
    for p, t in np.ndindex(X.shape):
        for i, j in np.ndindex(gamma.shape):
            weight = A[p, i] * B[t, j]
            if weight:
                total += weight * cell_cost(X[p, t], E[p, t], gamma[i, j], name, i == j)
    return float(total)


def objective(X, U, V, name, model="repeat", prior=1.0) -> float:
    """J with the best lifts."""
    return table_cost(X, U, V, lifts(X, U, V, name, model, prior), name, model, prior)


def row_distances(X, U, V, name, model="repeat", prior=1.0) -> np.ndarray:
    """What each row would cost in each row cluster, as the clusters are."""
    gamma, E, B = lifts(X, U, V, name, model, prior), expected(X), weights(V, model)
    d = np.zeros((len(X), gamma.shape[0]))
    for p, t in np.ndindex(X.shape):
        for q, j in np.ndindex(gamma.shape):
            d[p, q] += B[t, j] * cell_cost(X[p, t], E[p, t], gamma[q, j], name, q == j)
    return d


def column_distances(X, U, V, name, model="repeat", prior=1.0) -> np.ndarray:
    """What each column would cost in each column cluster."""
    return row_distances(X.T, V, U, name, model, prior)


def scale(X, U, V) -> float:
    """What J is compared with: all counts, as often as they are in a block, and the prior."""
    rows, columns = (max(1, int(np.asarray(each).sum(axis=1).max(initial=0))) for each in (U, V))
    return 1.0 + float(X.sum()) * rows * columns
