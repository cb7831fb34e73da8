"""Enrichment against binomial coefficients, written out."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from scipy import sparse

from neocc.metrics import enrichment


def literal(labels, found):
    """Return counts, exact p-values and their Benjamini-Hochberg adjustment, pair by pair."""
    labels, found = np.asarray(labels, dtype=bool), np.asarray(found, dtype=bool)
    known = [item for item in range(len(labels)) if labels[item].any()]
    N = len(known)
    counts, p = {}, {}
    for a in range(labels.shape[1]):
        for i in range(found.shape[1]):
            K = sum(bool(labels[item, a]) for item in known)
            n = sum(bool(found[item, i]) for item in known)
            c = sum(bool(labels[item, a] and found[item, i]) for item in known)
            ways = sum(comb(K, x) * comb(N - K, n - x) for x in range(c, min(K, n) + 1))
            counts[a, i], p[a, i] = c, Fraction(ways, comb(N, n))
    worst_first = sorted(p, key=p.get, reverse=True)
    adjusted, least = {}, Fraction(1)
    for place, pair in enumerate(worst_first):
        rank = len(p) - place
        least = min(least, p[pair] * len(p) / rank)
        adjusted[pair] = least
    shape = (labels.shape[1], found.shape[1])
    tables = np.zeros((3, *shape))
    for pair, value in p.items():
        tables[:, *pair] = counts[pair], float(value), float(adjusted[pair])
    return tables


def compare(labels, found):
    tested = enrichment(labels, found)
    counts, p, adjusted = literal(labels, found)
    assert np.array_equal(tested.counts, counts)
    np.testing.assert_allclose(tested.p_values, p, rtol=1e-9)
    np.testing.assert_allclose(tested.adjusted, adjusted, rtol=1e-9)
    return tested


@pytest.mark.parametrize("seed", range(30))
def test_random_labels_and_clusters(seed):
    rng = np.random.default_rng(seed)
    n, n_labels, n_clusters = rng.integers(1, (40, 6, 5))
    labels = rng.random((n, n_labels)) < rng.random()
    found = rng.random((n, n_clusters)) < rng.random()
    tested = compare(labels, found)
    assert tested.n_items + tested.n_unlabelled == n
    assert tested.n_unlabelled == np.count_nonzero(~labels.any(axis=1))


def test_far_in_the_tail_digits_are_kept():
    labels = np.arange(400)[:, None] // 100 == np.arange(4)
    tested = compare(labels, labels)
    assert 0 < tested.p_values.min() < 1e-80


@pytest.mark.parametrize(
    ("labels", "found"),
    [
        (np.ones((5, 1)), np.ones((5, 1))),  # everybody has the label
        (np.ones((5, 2)), np.zeros((5, 1))),  # an empty cluster
        (np.zeros((5, 2)), np.ones((5, 1))),  # no item has a label
        (np.eye(4), np.eye(4)),  # labels of one item each
    ],
)
def test_degenerate(labels, found):
    compare(labels, found)


def test_expected_counts_and_folds():
    tested = enrichment(
        [[1, 0], [1, 0], [1, 1], [0, 1], [0, 0]], [[1, 0], [1, 0], [0, 0]] + 2 * [[1, 0]]
    )
    assert tested.label_sizes.tolist() == [3, 2]
    assert tested.cluster_sizes.tolist() == [3, 0]
    np.testing.assert_allclose(tested.expected, [[9 / 4, 0], [6 / 4, 0]])
    np.testing.assert_allclose(tested.folds, [[8 / 9, np.nan], [2 / 3, np.nan]])


def test_items_in_no_cluster_count_and_items_without_a_label_do_not():
    labels, found = np.eye(2)[[0, 0, 0, 1, 1, 1]], [[1], [1], [1], [0], [0], [0]]
    alone = enrichment(labels, found)
    more = enrichment(np.vstack([labels, np.zeros((9, 2))]), found + 9 * [[1]])
    assert np.array_equal(alone.p_values, more.p_values)
    assert more.n_unlabelled == 9


def test_sparse_is_dense_and_no_labels_at_all_make_empty_tables():
    rng = np.random.default_rng(1)
    labels, found = rng.random((30, 3)) < 0.4, rng.random((30, 2)) < 0.4
    dense, thin = enrichment(labels, found), enrichment(sparse.csr_array(labels), found)
    assert np.array_equal(dense.adjusted, thin.adjusted)
    assert enrichment(np.zeros((3, 0)), np.ones((3, 2))).adjusted.shape == (0, 2)


def test_shuffled_labels_are_hardly_ever_found_enriched():
    rng = np.random.default_rng(0)
    found = np.eye(4)[np.arange(200) % 4]
    hits = sum(
        bool((enrichment(np.eye(3)[rng.integers(0, 3, 200)], found).adjusted <= 0.05).any())
        for _ in range(60)
    )
    assert hits <= 6


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="labels and found must have one row"):
        enrichment(np.eye(3), np.eye(2))
    with pytest.raises(ValueError, match="labels must be a membership matrix"):
        enrichment(["a", "b"], np.eye(2))
