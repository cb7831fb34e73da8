"""F1 of clusters against values computed by hand and by the definition."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neocc.metrics import best_match_f1, matched_f1, trivial_baseline

SEEDS = st.integers(0, 2**32 - 1)


def random_cover(rng, n_items, n_clusters, fraction=0.4):
    return rng.random((n_items, n_clusters)) < fraction


def f1(a, b):
    return 2 * (a & b).sum() / (a.sum() + b.sum()) if a.any() or b.any() else 0.0


def test_best_match_by_hand():
    true = [[1, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]]
    found = [[1, 0], [1, 0], [0, 0], [0, 1], [0, 1], [0, 1]]
    # {0,1,2} with {0,1}: 4/5; {2,3} with {3,4,5}: 2/5; {4} with {3,4,5}: 2/4.
    assert best_match_f1(true, found) == pytest.approx((4 / 5 + 2 / 5 + 2 / 4) / 3)
    # One to one, {3,4,5} can serve only one of the last two.
    assert matched_f1(true, found) == pytest.approx((4 / 5 + 2 / 4) / 3)


def test_one_found_cluster_may_serve_all_in_the_best_match_only():
    true = np.repeat(np.eye(2, dtype=bool), 3, axis=0)
    everything = np.ones((6, 1), dtype=bool)
    assert best_match_f1(true, everything) == pytest.approx(2 / 3)
    assert matched_f1(true, everything) == pytest.approx(1 / 3)


def test_one_to_one_match_is_the_best_of_all_not_greedy():
    true = np.arange(7)[:, None] < [4, 7]
    found = np.arange(7)[:, None] < [5, 3]
    # Greedy takes the 8/9 of the first with the first and is left with 6/10.
    assert matched_f1(true, found) == pytest.approx((6 / 7 + 10 / 12) / 2)


@given(SEEDS, st.integers(1, 12), st.integers(1, 4), st.integers(1, 4))
def test_definitions(seed, n_items, n_true, n_found):
    rng = np.random.default_rng(seed)
    true, found = random_cover(rng, n_items, n_true), random_cover(rng, n_items, n_found)
    table = np.array([[f1(a, b) for b in found.T] for a in true.T])
    assert best_match_f1(true, found) == pytest.approx(table.max(axis=1).mean())
    wide = np.hstack([table, np.zeros((n_true, n_true))])  # a true cluster may stay alone
    best = max(
        sum(wide[i, j] for i, j in enumerate(choice))
        for choice in permutations(range(wide.shape[1]), n_true)
    )
    assert matched_f1(true, found) == pytest.approx(best / n_true)
    assert matched_f1(true, found) <= best_match_f1(true, found) + 1e-12


@given(SEEDS, st.integers(1, 20), st.integers(1, 5))
def test_equal_covers_in_any_order_score_one(seed, n_items, n_clusters):
    rng = np.random.default_rng(seed)
    true = random_cover(rng, n_items, n_clusters)
    true[rng.integers(n_items, size=n_clusters), np.arange(n_clusters)] = True  # none is empty
    found = true[:, rng.permutation(n_clusters)]
    order = rng.permutation(n_items)
    assert best_match_f1(true[order], found[order]) == pytest.approx(1)
    assert matched_f1(true[order], found[order]) == pytest.approx(1)


@given(SEEDS, st.integers(1, 20), st.integers(1, 5))
def test_trivial_baseline_is_the_score_of_one_cluster_of_everything(seed, n_items, n_clusters):
    true = random_cover(np.random.default_rng(seed), n_items, n_clusters)
    everything = np.ones((n_items, 1), dtype=bool)
    assert trivial_baseline(true) == pytest.approx(best_match_f1(true, everything))
    fractions = true.mean(axis=0)
    assert trivial_baseline(true) == pytest.approx(np.mean(2 * fractions / (1 + fractions)))


def test_empty_clusters_score_nothing():
    true = np.array([[1, 0], [1, 0]], dtype=bool)
    assert best_match_f1(true, true) == 0.5
    assert matched_f1(true, true) == 0.5
    assert trivial_baseline(true) == 0.5
    assert best_match_f1(true[:, :1], np.zeros((2, 3))) == 0.0


def test_finding_no_cluster_scores_nothing():
    true, nothing = np.eye(3), np.zeros((3, 0))
    assert best_match_f1(true, nothing) == 0.0
    assert matched_f1(true, nothing) == 0.0


def test_yeast_baseline():
    # The baseline depends on the sizes of the classes only: these are the 14 of yeast.
    sizes = [762, 1038, 983, 862, 722, 597, 428, 480, 178, 253, 289, 1816, 1799, 34]
    true = np.arange(2417)[:, None] < sizes
    assert true.sum() == 2417 + 7824
    assert round(100 * trivial_baseline(true), 1) == 42.5
