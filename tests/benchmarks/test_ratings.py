"""The systems that predict ratings run, on data so small that they take no time."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.ratings import GOALS, OURS, iteration_times
from neocc.core.overlap import REPEAT
from neocc.core.problem import Counts


def cells() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    level = np.array([[1.5, -1.5], [-1.5, 1.5]])[np.arange(40) % 2][:, np.arange(30) % 2]
    X = np.clip(3.0 + level + rng.normal(size=(40, 1)) + 0.2 * rng.normal(size=(40, 30)), 1, 5)
    pairs = np.argwhere(rng.random(X.shape) < 0.6)
    return pairs, X[tuple(pairs.T)]


@pytest.mark.parametrize("name", OURS)
def test_every_system_predicts_better_than_the_mean(name: str) -> None:
    pairs, values = cells()
    train = np.random.default_rng(1).random(len(values)) < 0.8
    found = [OURS[name](pairs[train], values[train], pairs[~train], 3) for _ in range(2)]
    assert np.array_equal(*found)
    rest, mean = values[~train], values[train].mean()
    assert np.mean((found[0] - rest) ** 2) < np.mean((mean - rest) ** 2)


def test_goals_are_those_of_systems() -> None:
    assert set(GOALS) <= set(OURS)


def test_iterations_are_timed() -> None:
    X = np.random.default_rng(0).random((40, 30))
    times = iteration_times(X, [Counts(n, 2, n, 0) for n in X.shape], REPEAT, 1, 1, 2)
    assert len(times) == 2
