"""Observed cells in tests: the literal objective, slow and obvious, and random problems."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from instances import make_counts, make_membership, members
from scipy import sparse

from neocc.core.objectives import Observed
from neocc.core.overlap import OVERLAP_MODELS
from neocc.core.problem import Problem
from neocc.engines import PassOptions, Workers, open_engine
from neocc.engines.observed import ObservedMatrix
from neocc.kernels import get_kernels

MODELS = ("repeat", "share")


def shares(members, model):
    """How much each membership of an item counts."""
    numbers = np.maximum(members.sum(axis=1, keepdims=True), 1)
    return members / numbers if model == "share" else members.astype(float)


def literal_table(X, W, U, V, model, shrinkage):
    """Block means over observed cells, with a further cell of value zero in each block."""
    A, B = shares(U, model), shares(V, model)
    M = np.zeros((U.shape[1], V.shape[1]))
    for i, j in np.ndindex(M.shape):
        total = weight = 0.0
        for p, t in np.ndindex(W.shape):
            if W[p, t] > 0:
                total += A[p, i] * B[t, j] * W[p, t] * X[p, t]
                weight += A[p, i] * B[t, j] * W[p, t]
        M[i, j] = total / (weight + shrinkage) if weight + shrinkage > 0 else 0.0
    return M


def literal_distance(p, q, X, W, V, M, model, background):
    """What a row pays in a cluster: its squared errors, less its squares against a background."""
    B, total = shares(V, model), 0.0
    for t, j in np.ndindex(V.shape):
        if W[p, t] > 0:
            error = (X[p, t] - M[q, j]) ** 2 - (X[p, t] ** 2 if background else 0.0)
            total += B[t, j] * W[p, t] * error
    return total


def literal_objective(X, W, U, V, model, shrinkage, background, M=None):
    """J: weighted squared errors over observed cells, and the ridge on block means."""
    M = literal_table(X, W, U, V, model, shrinkage) if M is None else M
    A = shares(U, model)
    J = shrinkage * (M**2).sum()
    if background:
        J += (W * np.where(W > 0, X, 0.0) ** 2).sum()
    for p, q in zip(*np.nonzero(U), strict=True):
        J += A[p, q] * literal_distance(p, q, X, W, V, M, model, background)
    return J


def observed_matrix(X, W):
    """The cells of positive weight; no list of weights if all are one."""
    at = np.nonzero(W)
    csr = sparse.csr_array((X[at], at), shape=X.shape)
    csr.sort_indices()
    weights = sparse.csr_array((W[at], at), shape=X.shape)
    weights.sort_indices()
    return ObservedMatrix.from_scipy(csr, None if (W[at] == 1).all() else weights.data)


def make_engine(X, W, kernel="numpy", **options):
    options = PassOptions(**options)
    return open_engine(observed_matrix(X, W), get_kernels(kernel, 0), Workers(1), options=options)


class Case(NamedTuple):
    """A problem over observed cells with feasible memberships."""

    X: np.ndarray
    W: np.ndarray
    U: np.ndarray
    V: np.ndarray
    problem: Problem

    @property
    def pair(self):
        weighted = self.problem.overlap_model.weighted
        return weighted(members(self.U)), weighted(members(self.V))

    def literal(self, U, V):
        of = self.problem.objective
        name = self.problem.overlap_model.name
        return literal_objective(self.X, self.W, U, V, name, of.shrinkage, of.background)


def draw_case(seed, model, largest=7):
    """Cells missing at random, whole rows and columns among them; weights, ties, outliers."""
    rng = np.random.default_rng(seed)
    n, m = rng.integers(1, largest + 1, size=2)
    X = rng.normal(size=(n, m)) * rng.choice([1e-3, 1.0, 1e3])
    if seed % 3 == 0:
        X = rng.integers(0, 3, size=(n, m)).astype(float)
    W = (rng.random((n, m)) < rng.choice([0.2, 0.6, 1.0])).astype(float)
    if seed % 2:
        W *= rng.uniform(0.1, 3.0, size=W.shape)
    if seed % 5 == 0:
        W[rng.random(n) < 0.3] = 0.0
        W[:, rng.random(m) < 0.3] = 0.0
    if not W.any():
        W[0, 0] = 1.0
    most = (None, 2)[seed % 4 == 1]
    sizes = [int(rng.integers(1, min(size, 4) + 1)) for size in (n, m)]
    rows, columns = (make_counts(rng, *each, most) for each in zip((n, m), sizes, strict=True))
    U, V = make_membership(rng, rows, most), make_membership(rng, columns, most)
    objective = Observed(background=seed % 4 != 0, shrinkage=float(rng.choice([0.0, 0.5, 10.0])))
    problem = Problem(objective, rows, columns, 30, 0.0, OVERLAP_MODELS[model](most))
    return Case(X, W, U, V, problem)


def check_run(steps, solution, history, problem, constant, limit, seed):
    """Steps know their literal objectives, none raises it, counts are met; return how many fell."""
    n_lower = 0
    for step, literal in zip(steps, history, strict=True):
        assert abs(step.objective + constant - literal) <= limit, f"seed {seed}"
    # An empty cluster of the start gets a member, whatever that costs.
    full = [not any(each.has_empty for each in step.before) for step in steps]
    for is_full, (before, after) in zip(full, pairwise(history), strict=False):
        assert not is_full or after <= before + limit, f"seed {seed}: {before} to {after}"
        n_lower += after < before - limit
    np.testing.assert_allclose(solution.history, history, rtol=1e-9, atol=limit)
    for found, counts in zip(solution.pair, (problem.rows, problem.columns), strict=True):
        assert found.n_total == counts.n_memberships
        assert found.outliers.sum() <= counts.max_outliers
    return n_lower
