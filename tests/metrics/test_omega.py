"""The omega index against hand-computed values and a count over all pairs."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from neocc.metrics import _shared, omega_index

SEEDS = st.integers(0, 2**32 - 1)


def table_over_all_pairs(true, found):
    """Number of pairs by the clusters they share, one pair after the other."""
    table = np.zeros((true.shape[1] + 1, found.shape[1] + 1), dtype=int)
    for p, q in combinations(range(len(true)), 2):
        table[(true[p] & true[q]).sum(), (found[p] & found[q]).sum()] += 1
    return table


def omega_over_all_pairs(true, found):
    table = table_over_all_pairs(true, found)
    n_pairs, size = table.sum(), min(table.shape)
    observed = np.trace(table) / n_pairs
    expected = (table.sum(axis=1)[:size] * table.sum(axis=0)[:size]).sum() / n_pairs**2
    return (observed - expected) / (1 - expected)


def same_table(counted, wanted):
    """Compare tables that may differ in rows and columns of zeros at their ends."""
    whole = np.zeros_like(wanted)
    whole[: counted.shape[0], : counted.shape[1]] = counted
    np.testing.assert_array_equal(whole, wanted)


def random_covers(seed, n_items, n_true, n_found, fraction):
    rng = np.random.default_rng(seed)
    return (rng.random((n_items, k)) < fraction for k in (n_true, n_found))


def profiles_of(*covers):
    return _shared.Profiles.of(*(sparse.csr_array(cover.astype(int)) for cover in covers))


def test_by_hand():
    true = [[1, 0], [1, 0], [1, 1], [0, 1]]
    found = [[1, 0], [1, 0], [0, 1], [0, 1]]
    # Shared by the pairs 01 02 03 12 13 23: 1 1 0 1 0 1 and 1 0 0 0 0 1. Four of six agree;
    # by chance (4 * 2 + 2 * 4) / 36.
    assert omega_index(true, found) == pytest.approx((4 / 6 - 16 / 36) / (1 - 16 / 36))


def test_pairs_that_share_two_clusters_differ_from_pairs_that_share_one():
    twice, once = np.ones((4, 2)), np.ones((4, 1))
    twice[0] = once[0] = 0
    # The covers agree on the three pairs of item 0 (nothing shared), on no other; by chance 9 / 36.
    assert omega_index(twice, once) == pytest.approx((3 / 6 - 9 / 36) / (1 - 9 / 36))


def test_value_of_cdlib():
    # cdlib 0.4.1: omega, on these clusters.
    true, found = np.zeros((12, 3)), np.zeros((12, 3))
    for cover, clusters in (
        (true, ([0, 1, 2, 3, 4], [4, 5, 6, 7], [7, 8, 9, 10, 11])),
        (found, ([0, 1, 2, 3], [3, 4, 5, 6, 7, 8], [8, 9, 10, 11])),
    ):
        for cluster, items in enumerate(clusters):
            cover[items, cluster] = 1
    assert omega_index(true, found) == pytest.approx(0.5902578796561604, abs=1e-12)


@given(SEEDS, st.integers(2, 25), st.integers(0, 5), st.integers(0, 5), st.floats(0, 1))
def test_tables_equal_a_count_over_all_pairs(seed, n_items, n_true, n_found, fraction):
    true, found = random_covers(seed, n_items, n_true, n_found, fraction)
    wanted = table_over_all_pairs(true, found)
    profiles = profiles_of(true, found)
    same_table(_shared.count_by_subsets(profiles, np.inf), wanted)
    same_table(_shared.count_by_blocks(profiles), wanted)
    same_table(_shared.count_by_bits(profiles), wanted)


@given(SEEDS, st.integers(2, 30), st.integers(1, 6), st.integers(1, 6), st.floats(0.05, 0.95))
def test_equals_the_definition(seed, n_items, n_true, n_found, fraction):
    true, found = random_covers(seed, n_items, n_true, n_found, fraction)
    sums = table_over_all_pairs(true, found)
    if sums.max() == sums.sum():
        return  # all pairs alike in both covers: 0 / 0, see below
    assert omega_index(true, found) == pytest.approx(omega_over_all_pairs(true, found), abs=1e-12)
    assert omega_index(found, true) == pytest.approx(omega_index(true, found), abs=1e-12)


@given(SEEDS, st.integers(1, 30), st.integers(0, 6))
def test_equal_covers_in_any_order_score_one(seed, n_items, n_clusters):
    rng = np.random.default_rng(seed)
    true = rng.random((n_items, n_clusters)) < 0.3
    order = rng.permutation(n_items)
    assert omega_index(true[order], true[order][:, rng.permutation(n_clusters)]) == 1.0


@given(SEEDS, st.integers(2, 60))
def test_disjoint_clusters_give_the_adjusted_rand_index(seed, n_items):
    rng = np.random.default_rng(seed)
    labels = rng.integers(4, size=(2, n_items))
    covers = (row[:, None] == np.arange(4) for row in labels)
    assert omega_index(*covers) == pytest.approx(adjusted_rand_score(*labels), abs=1e-12)


def test_small_blocks_meet_without_gaps():
    true, found = random_covers(0, 60, 5, 6, 0.5)
    profiles = profiles_of(true, found)
    counted = _shared.count_by_blocks(profiles, block=(7, 5), cached=11)
    same_table(counted, table_over_all_pairs(true, found))


@pytest.mark.parametrize("n_clusters", [(3, 70), (64, 65), (128, 1), (130, 200)])
@pytest.mark.parametrize("fraction", [0.01, 0.5, 1.0])
def test_more_clusters_than_bits_in_a_word(n_clusters, fraction):
    true, found = random_covers(3, 50, *n_clusters, fraction)
    profiles = profiles_of(true, found)
    counted = _shared.count_by_bits(profiles, rows_of_a_task=16)
    same_table(counted, table_over_all_pairs(true, found))


@pytest.mark.parametrize("n_items", [1024, 1025, 1026, 2600])
def test_many_items_by_bits_and_by_blocks(n_items):
    profiles = profiles_of(*random_covers(n_items, n_items, 9, 8, 0.4))
    same_table(_shared.count_by_bits(profiles), _shared.count_by_blocks(profiles))


@pytest.mark.parametrize(
    ("fraction", "many_pairs", "way"),
    [(0.03, 1, "subsets"), (0.03, np.inf, "subsets"), (0.5, 1, "bits"), (0.5, np.inf, "blocks")],
)
def test_all_ways_of_counting_are_used(monkeypatch, fraction, many_pairs, way):
    used = []

    def noted(name):
        count = getattr(_shared, f"count_by_{name}")
        return lambda profiles: used.append(name) or count(profiles)

    for name in ("bits", "blocks"):
        monkeypatch.setattr(_shared, f"count_by_{name}", noted(name))
    true, found = random_covers(1, 2000, 20, 20, fraction)
    covers = (sparse.csr_array(cover.astype(int)) for cover in (true, found))
    table = _shared.shared_clusters(*covers, many_pairs, subset_cost=15)
    assert used == ([] if way == "subsets" else [way])
    T, F = true.astype(int) @ true.T, found.astype(int) @ found.T
    upper = np.triu_indices(2000, 1)
    wanted = np.bincount(21 * T[upper] + F[upper], minlength=21 * 21).reshape(21, 21)
    same_table(table, wanted)


def test_a_small_index_compiles_nothing():
    code = (
        "import sys, numpy as np; from neocc.metrics import omega_index; "
        "omega_index(*(np.random.default_rng(0).random((2, 3000, 20)) < 0.5)); "
        "print('numba' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


def test_too_many_subsets_are_refused():
    profiles = profiles_of(np.ones((5, 3), dtype=bool), np.ones((5, 3), dtype=bool))
    assert _shared.count_by_subsets(profiles, budget=10) is None


def test_too_many_subsets_are_refused_before_they_are_formed():
    profiles = profiles_of(*random_covers(4, 2000, 40, 40, 0.5))
    n_memberships = profiles.members.nnz
    tracemalloc.start()
    try:
        assert _shared.count_by_subsets(profiles, budget=n_memberships + 1) is None
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # A dozen numbers for each membership; pairs of them would be twenty times as many.
    assert peak < 15 * 8 * n_memberships


def test_a_hundred_thousand_items():
    rng = np.random.default_rng(0)
    labels = rng.integers(50, size=100_000)
    true = labels[:, None] == np.arange(50)
    mixed = np.where(rng.random(labels.size) < 0.5, rng.permutation(labels), labels)
    found = mixed[:, None] == np.arange(50)
    assert omega_index(true, found) == pytest.approx(adjusted_rand_score(labels, mixed), abs=1e-12)
    true[np.arange(100_000), rng.integers(50, size=100_000)] = True
    assert 0 < omega_index(true, found) < omega_index(true, true) == 1.0


def test_one_cluster_of_everything_scores_nothing():
    true, _ = random_covers(2, 30, 4, 1, 0.3)
    assert omega_index(true, np.ones((30, 1))) == pytest.approx(0, abs=1e-12)


def test_nothing_to_tell_apart():
    assert omega_index(np.ones((5, 1)), np.ones((5, 1))) == 1.0
    assert omega_index(np.zeros((5, 2)), np.zeros((5, 0))) == 1.0
    assert omega_index(np.ones((5, 2)), np.ones((5, 1))) == 0.0
    assert omega_index([[1]], [[0]]) == 1.0  # one item, no pairs
