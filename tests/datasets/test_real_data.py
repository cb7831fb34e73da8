"""The real data sets have the published sizes; skipped where there is no copy of them."""

from __future__ import annotations

import numpy as np
import pytest

from neocc.datasets import (
    fetch_movielens_1m,
    fetch_movielens_100k,
    fetch_yeast,
    load_movielens_subset,
)
from neocc.metrics import trivial_baseline


@pytest.fixture
def yeast(data_folder):
    return fetch_yeast(data_home=data_folder)


def test_yeast(yeast):
    assert yeast.data.shape == (2417, 103)
    assert yeast.row_membership.shape == (2417, 14)
    per_class = [762, 1038, 983, 862, 722, 597, 428, 480, 178, 253, 289, 1816, 1799, 34]
    assert yeast.row_membership.sum(axis=0).tolist() == per_class
    assert yeast.row_membership.any(axis=1).all()
    assert len(np.unique(yeast.row_membership, axis=0)) == 198
    assert np.isfinite(yeast.data).all()
    assert trivial_baseline(yeast.row_membership) == pytest.approx(0.425, abs=5e-4)


@pytest.mark.parametrize(
    ("fetch", "shape", "histogram", "n_genres"),
    [
        (fetch_movielens_100k, (943, 1682), [6110, 11370, 27145, 34174, 21201], 19),
        (fetch_movielens_1m, (6040, 3706), [56174, 107557, 261197, 348971, 226310], 18),
    ],
)
def test_movielens(data_folder, fetch, shape, histogram, n_genres):
    movies = fetch(data_home=data_folder)
    assert movies.data.shape == shape
    assert np.bincount(movies.data.data.astype(int)).tolist() == [0, *histogram]
    assert movies.data.nnz == sum(histogram)
    assert np.diff(movies.data.indptr).min() == 20
    assert movies.column_membership.shape == (shape[1], n_genres)
    assert movies.column_membership.any(axis=1).all()
    assert len(movies.column_names) == len(set(movies.column_ids.tolist())) == shape[1]


@pytest.mark.parametrize(
    ("name", "shape", "n_ratings", "overlap", "baseline"),
    [
        ("ml-a", (943, 531), 44_337, 0.175, 0.553),
        ("ml-b", (940, 302), 28_340, 0.142, 0.550),
        ("ml-c", (942, 335), 30_770, 0.224, 0.522),
        ("ml-d", (943, 368), 30_790, 0.038, 0.670),
    ],
)
def test_subsets(data_folder, name, shape, n_ratings, overlap, baseline):
    movies = load_movielens_subset(name, data_home=data_folder)
    assert movies.data.shape == shape
    assert movies.data.nnz == n_ratings
    assert round(movies.column_membership.sum() / shape[1] - 1, 3) == overlap
    assert trivial_baseline(movies.column_membership) == pytest.approx(baseline, abs=5e-4)
    assert movies.column_membership.any(axis=1).all()
    assert np.diff(movies.data.indptr).min() >= 1
    assert f"{n_ratings:,} ratings" in movies.DESCR
