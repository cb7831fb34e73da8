"""The systems that predict ratings run, on data so small that they take no time."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from benchmarks.genres import classified, film_features
from benchmarks.predictors import GOALS, LARGE, LARGE_GOALS, OURS, PAIRED
from benchmarks.ratings import folds, held_out


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
    found = [OURS[name](pairs[train], values[train], 3)(pairs[~train]) for _ in range(2)]
    assert np.array_equal(*found)
    rest, mean = values[~train], values[train].mean()
    assert np.mean((found[0] - rest) ** 2) < np.mean((mean - rest) ** 2)


def test_cells_held_out_are_predicted_and_others_learnt_from() -> None:
    pairs, values = cells()
    test = folds(len(values), 0)[1]
    seen = []

    def mean(cells: np.ndarray, known: np.ndarray, seed: int):
        seen.append((cells, seed))
        return lambda asked: np.full(len(asked), known.mean())

    found = held_out(mean, pairs, values, test, 7)
    (learnt, seed), rest = seen[0], np.delete(values, test)
    assert seed == 7
    np.testing.assert_array_equal(learnt, np.delete(pairs, test, axis=0))
    assert np.isclose(found.rmse, np.sqrt(np.mean((values[test] - rest.mean()) ** 2)))
    assert np.isclose(found.mae, np.abs(values[test] - rest.mean()).mean())


def test_an_id_that_was_not_learnt_is_predicted_by_the_mean() -> None:
    pairs, values = cells()
    predict = OURS["George and Merugu, 3 x 3"](pairs, values, 0)
    np.testing.assert_allclose(predict(np.array([[0, 99], [99, 0]])), values.mean())


def test_goals_are_those_of_systems() -> None:
    assert set(GOALS) <= set(OURS)
    assert set(LARGE_GOALS) < set(LARGE)
    assert not set(GOALS) & set(PAIRED)


def test_genres_that_ratings_show_are_learnt() -> None:
    rng = np.random.default_rng(0)
    genres = np.eye(2, dtype=bool)[np.arange(60) % 2]
    genres[:6] = True
    liking = np.where(rng.random((40, 1)) < 0.5, genres[:, 0], genres[:, 1])
    ratings = sparse.csr_array(np.where(rng.random(liking.shape) < 0.5, 1 + 4 * liking, 0))
    shapes, scores = [], []
    for features in film_features(ratings.astype(float)):
        found = classified(features, genres, 0)
        assert found.any(axis=1).all()
        shapes.append(features.shape)
        scores.append((found == genres).mean())
    assert shapes == [(60, 40)] * 3
    assert scores[0] > 0.8
    assert scores[2] > 0.8
