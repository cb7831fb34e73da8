"""Overlap and outliers by the published rules: literal loops, both sides, degenerate data.

The rule of "auto" is in test_mixture.py.
"""

from __future__ import annotations

import csv
import gzip

import numpy as np
import pytest
from scipy import sparse

from neocc.selection import estimate_overlap_and_outliers


def literal(X, centers, strategy, delta_overlap, delta_outliers, count_home):
    """The rules of methods.md 2.4, item by item."""
    n, k = len(X), len(centers)
    D = [[float(np.sqrt(((x - c) ** 2).sum())) for c in centers] for x in X]
    home = [min(range(k), key=row.__getitem__) for row in D]
    r = [row[h] for row, h in zip(D, home, strict=True)]
    beyond = np.mean(r) + delta_outliers * np.std(r, ddof=1)
    n_outliers = sum(value > beyond for value in r)
    count = 0
    for j in range(k):
        own = [r[i] for i in range(n) if home[i] == j]
        if not own:
            continue
        limit = np.mean(own) + delta_overlap * (np.std(own, ddof=1) if len(own) > 1 else 0.0)
        for i in range(n):
            if strategy == "first":
                count += home[i] != j and D[i][j] <= limit
            else:
                count += D[i][j] / sum(D[i]) < 1 / (k + 1) and (count_home or home[i] != j)
    return min(count / n, k - 1), n_outliers / n


@pytest.mark.parametrize("side", ["rows", "columns"])
@pytest.mark.parametrize(
    ("strategy", "count_home"), [("second", True), ("second", False), ("first", True)]
)
def test_rules_agree_with_literal_loops(side, strategy, count_home):
    rng = np.random.default_rng(1)
    for offset in (0.0, 1e4):
        X = rng.normal(size=(40, 6)) + offset
        X[rng.integers(40, size=3)] += 5.0
        centers = X[rng.choice(40, size=4, replace=False)] + 0.1
        for deltas in ((1.9, 6.0), (0.5, 1.0), (-1.0, 0.0)):
            found = estimate_overlap_and_outliers(
                X if side == "rows" else X.T,
                4,
                axis=side,
                strategy=strategy,
                delta_overlap=deltas[0],
                delta_outliers=deltas[1],
                count_home=count_home,
                centers=centers,
            )
            expected = literal(X, centers, strategy, *deltas, count_home)
            assert (found.overlap, found.outliers) == pytest.approx(expected)
            assert found.item_pairs.sum() == found.cluster_pairs.sum() == found.n_pairs


@pytest.mark.parametrize("k", [1, 3])
def test_columns_are_the_rows_of_the_transpose(k):
    rng = np.random.default_rng(2)
    X = np.where(rng.random((30, 20)) < 0.4, rng.normal(size=(30, 20)), 0.0)
    options = {"strategy": "second", "n_init": 2, "random_state": 4}
    rows = estimate_overlap_and_outliers(X.T, k, axis=0, **options)
    for same in (X, sparse.csr_array(X), sparse.csc_matrix(X)):
        columns = estimate_overlap_and_outliers(same, k, axis=1, **options)
        assert (columns.overlap, columns.outliers) == (rows.overlap, rows.outliers)
        np.testing.assert_allclose(columns.nearest, rows.nearest, atol=1e-5)


def test_k_means_is_the_usual_one():
    rng = np.random.default_rng(3)
    X = np.repeat(np.eye(3) * 10, 10, axis=0) + rng.normal(size=(30, 3)) * 0.1
    X[0] = 40.0
    found = estimate_overlap_and_outliers(X, 4, random_state=0, strategy="first", n_init=5)
    assert sorted(found.cluster_sizes) == [1, 9, 10, 10]
    found = estimate_overlap_and_outliers(
        X, 3, strategy="second", delta_outliers=2.0, centers=np.eye(3) * 10
    )
    assert found.n_outliers == 1
    assert found.outliers == 1 / 30


def test_the_home_cluster_is_counted_as_the_authors_do():
    X = np.repeat(np.eye(3), 5, axis=0)
    options = {"strategy": "second", "random_state": 0}
    with_home = estimate_overlap_and_outliers(X, 3, **options)
    without = estimate_overlap_and_outliers(X, 3, **options, count_home=False)
    assert (with_home.overlap, without.overlap) == (1.0, 0.0)
    assert with_home.n_home == 15


def test_overlap_is_cut_at_the_most_that_memberships_allow():
    options = {"strategy": "second", "random_state": 0}
    found = estimate_overlap_and_outliers([[0.0], [1.0], [10.0], [11.0]], 2, **options)
    assert found.overlap == 1.0
    one = estimate_overlap_and_outliers([[0.0], [1.0], [10.0]], 1, **options)
    assert (one.overlap, one.outliers) == (0.0, 0.0)


@pytest.mark.parametrize("strategy", ["first", "second", "mixture"])
@pytest.mark.parametrize("value", [0.0, 0.1, -1e6])
def test_equal_rows_give_numbers_not_warnings(strategy, value):
    found = estimate_overlap_and_outliers(
        np.full((9, 4), value), 3, strategy=strategy, random_state=0
    )
    assert 0.0 <= found.overlap <= 2.0
    assert found.outliers == 0.0
    assert found.nearest.max() == 0.0
    single = estimate_overlap_and_outliers([[value, 1.0]], 1, strategy=strategy)
    assert (single.overlap, single.outliers) == (0.0, 0.0)


def test_a_centre_without_items_gets_none_from_the_first_rule():
    X = np.array([[0.0], [1.0], [10.0], [11.0]])
    found = estimate_overlap_and_outliers(
        X, 3, strategy="first", centers=[[0.5], [10.5], [99.0]], random_state=0
    )
    assert np.isnan(found.overlap_thresholds[2])
    assert found.overlap == 0.0
    assert "first rule" in str(found)


def test_reasons_are_readable():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    text = str(estimate_overlap_and_outliers(X, 4, strategy="second", random_state=0))
    assert text.startswith("overlap ")
    for words in ("50 rows", "4 k-means clusters", "1/5 of the sum", "mean + 6 standard"):
        assert words in text
    assert max(len(line) for line in text.splitlines()) <= 100


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"axis": 2}, "axis must be"),
        ({"axis": None}, "axis must be"),
        ({"strategy": "third"}, "strategy must be one of 'mixture', 'second', 'first'"),
        ({"n_clusters": 6}, "n_clusters=6 is more than the 5 rows"),
        ({"n_clusters": 0}, "n_clusters must be an integer of at least 1"),
        ({"delta_outliers": -1.0}, "delta_outliers finite and at least 0"),
        ({"delta_overlap": np.nan}, "delta_overlap must be finite"),
        ({"centers": np.ones((2, 3))}, "centers are for the published rules"),
        (
            {"centers": np.ones((2, 4)), "strategy": "first"},
            r"centers must have shape \(2, 3\)",
        ),
        ({"n_other_clusters": 0}, "n_other_clusters must be an integer of at least 1"),
        ({"n_init": 0}, "n_init must be an integer of at least 1"),
        ({"X": [[1.0, np.nan]]}, "contains NaN.*row 0, column 1"),
    ],
)
def test_wrong_arguments_are_named(change, message):
    arguments = {"X": np.eye(5, 3), "n_clusters": 2, **change}
    with pytest.raises(ValueError, match=message):
        estimate_overlap_and_outliers(**arguments)


def test_same_seed_same_numbers_for_any_number_of_threads():
    X = np.random.default_rng(5).normal(size=(200, 10))
    for strategy in ("second", "mixture"):
        options = {"strategy": strategy, "random_state": 1}
        found = [estimate_overlap_and_outliers(X, 5, **options, n_jobs=n) for n in (1, 2)]
        assert np.array_equal(found[0].nearest, found[1].nearest)


def test_yeast_has_the_overlap_that_reproduces_the_published_numbers(data_folder):
    with gzip.open(data_folder / "yeast" / "yeast.csv.gz", "rt") as file:
        lines = csv.reader(file)
        features = [name.startswith("Att") for name in next(lines)]
        X = np.array(list(lines))[:, features].astype(float)
    for seed in range(3):
        found = estimate_overlap_and_outliers(X, 14, strategy="second", random_state=seed)
        assert 3.4 <= found.overlap <= 3.8
        assert found.outliers == 0.0


def test_in_a_few_columns_nothing_is_said_to_overlap():
    """Of any items there are some near the middle of two clusters: noise must be told as well."""
    rng = np.random.default_rng(0)
    whole = rng.normal(scale=3, size=(4, 24))
    home = np.eye(4)[rng.integers(4, size=200)]
    other = np.eye(4)[rng.integers(4, size=200)]
    middle = np.where(np.arange(200)[:, None] < 60, (home + other) / 2, home)
    noise = rng.normal(scale=0.3, size=(200, 24))
    several = int((np.count_nonzero(middle, axis=1) > 1).sum())
    found = estimate_overlap_and_outliers(middle @ whole + noise, 4, random_state=0)
    assert found.overlap == several / 200
    few = (middle @ whole + noise)[:, :5]
    found = estimate_overlap_and_outliers(few, 4, random_state=0)
    assert found.overlap == 0.0
    assert "too few items, values of each, or clusters to tell" in str(found)
    assert found.why_overlap == "too few rows, values of each, or groups to tell"
