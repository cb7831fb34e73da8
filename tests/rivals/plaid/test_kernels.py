"""Gibbs visits of the plaid sampler: the literal conditional, and two kernels that agree."""

from __future__ import annotations

import math

import numpy as np
import pytest

from neocc.rivals.plaid import kernels
from neocc.rivals.plaid.kernels import numba_, numpy_

KERNELS = (numpy_, numba_)
TAU0 = 1.7


@pytest.fixture(params=KERNELS, ids=lambda kernel: kernel.__name__.rsplit(".", 1)[1])
def kernel(request):
    return request.param


def make_problem(seed, shape=(6, 5), K=3, missing=False):
    """Return data, rows (K, N1), columns (K, N2), effects and what was observed."""
    rng = np.random.default_rng(seed)
    rows, columns = (rng.random((K, n)) < 0.5 for n in shape)
    for members in (rows, columns):
        for k in range(K):
            members[k, rng.integers(members.shape[1])] = True
    observed = (rng.random(shape) < 0.6).astype(float) if missing else None
    X = rng.normal(size=shape) * 2
    return X if observed is None else X * observed, rows, columns, rng.normal(size=K), observed


def residual_of(X, rows, columns, theta, observed):
    residual = X - (rows.T * theta) @ columns
    return residual if observed is None else residual * observed


def visit(kernel, residual, observed, members, others, theta, order, thresholds):
    sizes = members.sum(axis=1)
    starts = np.concatenate([[0], np.cumsum(others.sum(axis=1))])
    items = np.nonzero(others)[1]
    kernel.visit_items(
        residual, observed, members, sizes, starts, items, theta, TAU0, order, thresholds
    )
    np.testing.assert_array_equal(sizes, members.sum(axis=1))


def log_joint(X, rows, columns, theta, observed):
    """Log density of data and rows, from the formulas: normal entries, buffet weights."""
    N = rows.shape[1]
    residual = residual_of(X, rows, columns, theta, observed)
    prior = sum(
        math.log(math.factorial(N - s) * math.factorial(s - 1) / math.factorial(N))
        for s in map(int, rows.sum(axis=1))
    )
    return prior - TAU0 / 2 * (residual**2).sum()


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_memberships_follow_the_literal_conditional(kernel, seed, missing):
    X, rows, columns, theta, observed = make_problem(seed, missing=missing)
    for item in range(rows.shape[1]):
        for k in range(len(theta)):
            if rows[k].sum() == rows[k, item]:
                continue
            both = []
            for value in (True, False):
                changed = rows.copy()
                changed[k, item] = value
                both.append(log_joint(X, changed, columns, theta, observed))
            odds = both[0] - both[1]
            for threshold, expected in ((odds - 1e-6, True), (odds + 1e-6, False)):
                members = rows.copy()
                # Memberships in the other sub-matrices stay what they are.
                thresholds = np.where(rows[:, item], -np.inf, np.inf)[None]
                thresholds[0, k] = threshold
                residual = residual_of(X, rows, columns, theta, observed)
                order = np.array([item])
                visit(kernel, residual, observed, members, columns, theta, order, thresholds)
                assert members[k, item] == expected
                members[k, item] = rows[k, item]
                np.testing.assert_array_equal(members, rows)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("turned", [False, True], ids=["rows", "columns"])
def test_the_residual_follows(kernel, turned, missing):
    X, rows, columns, theta, observed = make_problem(7, shape=(30, 20), K=5, missing=missing)
    residual = residual_of(X, rows, columns, theta, observed)
    rng = np.random.default_rng(0)
    members, others = (columns, rows) if turned else (rows, columns)
    before = members.copy()
    n_items = members.shape[1]
    visit(
        kernel,
        residual.T if turned else residual,
        observed.T if turned and missing else observed,
        members,
        others,
        theta,
        rng.permutation(n_items),
        rng.logistic(size=(n_items, 5)),
    )
    assert (members != before).any()
    assert members.any(axis=1).all()
    expected = residual_of(X, rows, columns, theta, observed)
    np.testing.assert_allclose(residual, expected, atol=1e-12)


def test_the_only_member_stays(kernel):
    X, _, columns, theta, _ = make_problem(1, K=1)
    rows = np.array([[True] + 5 * [False]])
    residual = residual_of(X, rows, columns, theta, None)
    never = np.full((1, 1), np.inf)
    visit(kernel, residual, None, rows, columns, theta, np.array([0]), never)
    assert rows[0, 0]


def test_visits_without_sub_matrices(kernel):
    residual = np.ones((3, 2))
    members, others = np.zeros((0, 3), dtype=bool), np.zeros((0, 2), dtype=bool)
    visit(kernel, residual, None, members, others, np.zeros(0), np.arange(3), np.zeros((3, 0)))
    np.testing.assert_array_equal(residual, 1)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (9, 1), (40, 25)])
@pytest.mark.parametrize("turned", [False, True], ids=["rows", "columns"])
def test_both_kernels_make_the_same_draws(shape, turned, missing):
    results = []
    for kernel in KERNELS:
        X, rows, columns, theta, observed = make_problem(3, shape, K=6, missing=missing)
        residual = residual_of(X, rows, columns, theta, observed)
        rng = np.random.default_rng(5)
        members, others = (columns, rows) if turned else (rows, columns)
        n_items = members.shape[1]
        visit(
            kernel,
            residual.T if turned else residual,
            observed.T if turned and missing else observed,
            members,
            others,
            theta,
            rng.permutation(n_items),
            rng.logistic(size=(n_items, 6)),
        )
        results.append((members, residual))
    np.testing.assert_array_equal(results[0][0], results[1][0])
    np.testing.assert_allclose(results[0][1], results[1][1], atol=1e-12)


def test_kernels_by_name_and_size():
    assert kernels.get_plaid_kernels("numpy", 10**9) is numpy_
    assert kernels.get_plaid_kernels("numba", 1) is numba_
    assert kernels.get_plaid_kernels("auto", 1) is numpy_
    assert kernels.get_plaid_kernels("auto", kernels.COMPILE_THRESHOLD) is numba_
