"""Where noise is uneven, nothing overlaps, and items of a noisy cluster are no outliers."""

from __future__ import annotations

import numpy as np
import pytest

from neocc import NEOCC
from neocc.core.objectives import OBJECTIVES
from neocc.datasets import load_leukemia
from neocc.selection import estimate_overlap_and_outliers
from neocc.selection._data import opened, read
from neocc.selection._outlying import levels_of, outlying
from neocc.selection._together import Asked, estimate_sides

K, L = 5, 4


def blocks(seed, shape=(300, 60)):
    """Means of all cells, and the clusters of rows and columns."""
    rng = np.random.default_rng(seed)
    rows, columns = (
        np.append(np.arange(k), rng.integers(k, size=n - k))
        for k, n in ((K, shape[0]), (L, shape[1]))
    )
    return (2.0 * rng.normal(size=(K, L)))[rows][:, columns], rows, columns, rng


def uneven(kind, seed):
    means, rows, columns, rng = blocks(seed)
    if kind == "zeros and ones":
        return np.asarray(rng.random(means.shape) < 0.5 + 0.45 * np.tanh(means), dtype=float)
    widths = {
        "of rows": rng.uniform(0.5, 2.0, (K, 1))[rows],
        "of columns": rng.uniform(0.5, 2.0, (1, L))[:, columns],
        "of blocks": rng.uniform(0.5, 2.0, (K, L))[rows][:, columns],
        "of every row": np.exp(0.3 * rng.normal(size=(len(rows), 1))),
    }[kind]
    return means + widths * rng.normal(size=means.shape)


def estimated(X, k=K, l=L):  # noqa: E741
    with opened(read(X), 1) as engine:
        asked = Asked(k), Asked(l)
        return estimate_sides(engine, OBJECTIVES["mean"], asked, np.random.default_rng(0))


@pytest.mark.parametrize(
    "kind", ["of rows", "of columns", "of blocks", "of every row", "zeros and ones"]
)
def test_next_to_nothing_is_found_where_only_noise_differs(kind):
    found = [estimated(uneven(kind, seed)) for seed in range(40, 45)]
    outliers = np.array([[each[side].outliers for side in ("rows", "columns")] for each in found])
    assert np.count_nonzero(outliers) <= 1
    assert outliers.max() < 0.05
    assert all(each["rows"].overlap == -each["rows"].outliers for each in found)


def test_far_rows_are_found_among_noisy_clusters():
    means, rows, _, rng = blocks(3, (300, 80))
    X = means + rng.uniform(0.5, 1.5, (K, 1))[rows] * rng.normal(size=means.shape)
    X[:15] = 8.0 * rng.choice([-1.0, 1.0], (15, 80))
    found = estimated(X)["rows"]
    assert np.flatnonzero(found.item_pairs == 0).tolist() == list(range(15))


def test_scrambled_rows_of_few_columns_are_found():
    rng = np.random.default_rng(1)
    means, *_ = blocks(1, (400, 26))
    X = means + 0.5 * rng.normal(size=means.shape)
    X[:20] = rng.permuted(X[:20], axis=1)
    assert estimated(X)["rows"].outliers == pytest.approx(0.05, abs=0.02)


@pytest.mark.parametrize("n_genes", [500, 1000])
def test_genes_vary_by_degrees_and_none_is_an_outlier(n_genes):
    table = np.log2(load_leukemia().data.astype(float))
    table -= table.mean(axis=1, keepdims=True)
    table = table[np.argsort(-table.var(axis=1))[:n_genes]]
    found = estimated(table, 4, 3)
    assert (found["rows"].outliers, found["columns"].outliers) == (0.0, 0.0)


def test_noise_that_cannot_be_pure_has_outliers_only_far_away():
    left = np.random.default_rng(4).chisquare(44, size=1500)
    left[:150] *= 1.9
    assert outlying(left, 44).items.sum() > 100
    assert not outlying(left, 44, pure=False).items.any()


def test_levels_are_those_of_clusters_that_differ():
    rng = np.random.default_rng(0)
    left = rng.chisquare(50, size=300)
    clusters = np.arange(300) % 3
    np.testing.assert_array_equal(levels_of(left, 50, clusters, 4), 1.0)
    left[clusters == 1] *= 3.0
    np.testing.assert_allclose(levels_of(left, 50, clusters, 4), [1.0, 3.0, 1.0, 1.0], rtol=0.1)
    # A fifth of outliers raises no level, and items of no cluster have none.
    left[clusters == 2] *= np.where(rng.random(100) < 0.2, 50.0, 1.0)
    assert levels_of(left, 50, clusters, 4)[2] == 1.0
    assert levels_of(left, 50, np.full(300, -1), 2).tolist() == [1.0, 1.0]


def with_strays():
    """Rows, some of them between two clusters and 15 scrambled ones, which are not all far."""
    rng = np.random.default_rng(10)
    means, U = 2.0 * rng.normal(size=(4, 4)), np.eye(4)[rng.integers(4, size=300)]
    some = rng.permutation(300)[:30]
    U[some] = 0.5 * U[some] + 0.5 * np.roll(U[some], 1, axis=1)
    X = (U @ means)[:, rng.integers(4, size=100)] + 0.5 * rng.normal(size=(300, 100))
    for row in rng.permutation(300)[:15]:
        X[row] = rng.permutation(X[row])
    return X


def test_reasons_count_outliers_only():
    found = estimate_overlap_and_outliers(with_strays(), 4, n_other_clusters=4, random_state=0)
    assert found.n_outliers == 15
    out = found.item_pairs == 0
    assert out.sum() == 15
    n_far = int(np.count_nonzero(out & (found.left > found.outlier_threshold)))
    told = str(found).splitlines()[1]
    assert (f"{n_far} rows farther than" in told) == (n_far > 0)
    assert (f"{15 - n_far} rows that follow no cluster" in told) == (n_far < 15)
    assert f"{300} rows" not in told
    assert "inf" not in found.why_outliers


def test_a_fit_says_how_many_follow_no_group():
    model = NEOCC(4, 4, row_outliers="auto", random_state=0).fit(with_strays())
    estimate = model.row_estimate_
    for threshold, expected in (
        (np.inf, "15 follow none of them"),
        (0.0, "15 are farther than 0 "),
    ):
        object.__setattr__(estimate, "outlier_threshold", threshold)
        assert expected in estimate.why_outliers
