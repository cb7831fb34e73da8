"""Clusters of a small table of sums, improved by exact moves."""

from __future__ import annotations

import numpy as np
import pytest

from neocc.core.search.cells import Table
from neocc.kernels import get_kernels

KERNELS = ["numpy", "numba"]


@pytest.fixture(params=KERNELS)
def kernels(request):
    return get_kernels(request.param, 0)


def draw(seed, n=14, m=11, k=4, width=3):
    """Return means of cells, their weights and labels, and numbers of clusters."""
    rng = np.random.default_rng(seed)
    weights = [rng.integers(1, 5, size=size).astype(float) for size in (n, m)]
    labels = [(rng.permutation(size) % q).astype(np.int32) for size, q in ((n, k), (m, width))]
    return rng.normal(size=(n, m)), weights, labels, (k, width)


def settled(kernels, means, weights, labels, numbers, least, residual, goal=-np.inf):
    sums = means * weights[0][:, None] * weights[1]
    found = [each.copy() for each in labels]
    cells = [np.repeat(np.arange(len(each)), each.astype(int)) for each in weights]
    table = Table(sums, cells, kernels, residual=residual)
    table.least = least
    return table.settle(found, numbers, goal), found


def literal(means, weights, labels, residual):
    """Return J of the items: as many equal rows and columns as a cell has weight."""
    rows, columns = (each.astype(int) for each in weights)
    X = means.repeat(rows, axis=0).repeat(columns, axis=1)
    P, Q = (
        np.equal.outer(label, label) / np.bincount(label)[label]
        for label in (labels[0].repeat(rows), labels[1].repeat(columns))
    )
    both = P @ X @ Q
    return float(np.square(X - P @ X - X @ Q + both if residual else X - both).sum())


def squares(means, weights):
    return float(weights[0] @ np.square(means) @ weights[1])


@pytest.mark.parametrize("residual", [False, True])
def test_the_value_is_that_of_the_items(kernels, residual):
    for seed in range(20):
        means, weights, labels, numbers = draw(seed)
        value, found = settled(kernels, means, weights, labels, numbers, 1e-9, residual)
        constant = 0.0 if residual else squares(means, weights)
        expected = literal(means, weights, found, residual)
        np.testing.assert_allclose(constant - value, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("residual", [False, True])
def test_columns_end_where_no_move_gains_and_no_cluster_becomes_empty(kernels, residual):
    for seed in range(10):
        means, weights, labels, numbers = draw(seed)
        before = literal(means, weights, labels, residual)
        _, found = settled(kernels, means, weights, labels, numbers, 1e-9, residual)
        reached = literal(means, weights, found, residual)
        assert reached < before
        for label, k in zip(found, numbers, strict=True):
            assert np.bincount(label, minlength=k).min() > 0
        for column in range(len(found[1])):
            for target in range(numbers[1]):
                moved = found[1].copy()
                moved[column] = target
                if np.bincount(moved, minlength=numbers[1]).min() > 0:
                    assert literal(means, weights, [found[0], moved], residual) > reached - 1e-8


@pytest.mark.parametrize("residual", [False, True])
def test_both_kernels_make_the_same_moves(residual):
    for seed in range(20):
        ends = [settled(get_kernels(name, 0), *draw(seed), 1e-9, residual) for name in KERNELS]
        assert ends[0][0] == pytest.approx(ends[1][0], rel=1e-12)
        for one, other in zip(ends[0][1], ends[1][1], strict=True):
            np.testing.assert_array_equal(one, other)


def test_moves_that_gain_little_are_not_made(kernels):
    means, weights, labels, numbers = draw(0)
    _, found = settled(kernels, means, weights, labels, numbers, 1e9, residual=False)
    for one, other in zip(found, labels, strict=True):
        np.testing.assert_array_equal(one, other)


def test_an_empty_cluster_is_filled_if_that_gains(kernels):
    means = np.array([[0.0, 0.0], [1.0, 1.0], [5.0, 5.0]])
    labels = [np.array([0, 0, 1], dtype=np.int32), np.zeros(2, dtype=np.int32)]
    value, found = settled(kernels, means, [np.ones(3), np.ones(2)], labels, (3, 1), 1e-9, False)
    assert len(set(found[0])) == 3
    assert value == pytest.approx(52.0)


def test_it_ends_early_where_it_is_not_likely_to_reach_a_goal(kernels):
    """So much that a few times the last gain would not do: what it has reached by then is less."""
    earlier = 0
    for seed in range(10):
        given = draw(seed, n=60, m=50, k=6, width=5)
        value, _ = settled(kernels, *given, 1e-9, residual=False)
        near, _ = settled(kernels, *given, 1e-9, residual=False, goal=value)
        far, _ = settled(kernels, *given, 1e-9, residual=False, goal=2.0 * value)
        assert near == value or near < value
        assert far <= value
        earlier += far < value
    assert earlier >= 5
