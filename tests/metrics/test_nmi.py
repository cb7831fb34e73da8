"""Overlapping mutual information against hand-computed values and the definitions."""

from __future__ import annotations

from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neocc.metrics import overlapping_nmi

SEEDS = st.integers(0, 2**32 - 1)
VARIANTS = ["max", "lfk"]


def h(p):
    return -p * log2(p) if p > 0 else 0.0


def entropy(cluster):
    return h(cluster.mean()) + h(1 - cluster.mean())


def conditional(x, y):
    """H*(x | y) of two clusters."""
    p11, p10 = (x & y).mean(), (x & ~y).mean()
    p01, p00 = (~x & y).mean(), (~x & ~y).mean()
    if h(p11) + h(p00) <= h(p01) + h(p10):
        return entropy(x)
    return h(p11) + h(p10) + h(p01) + h(p00) - entropy(y)


def by_definition(X, Y, variant):
    x, y = ([entropy(c) for c in cover.T] for cover in (X, Y))
    x_given_y = [min(conditional(c, d) for d in Y.T) for c in X.T]
    y_given_x = [min(conditional(d, c) for c in X.T) for d in Y.T]
    if variant == "max":
        return (sum(x) - sum(x_given_y) + sum(y) - sum(y_given_x)) / 2 / max(sum(x), sum(y))
    return 1 - (np.mean(np.divide(x_given_y, x)) + np.mean(np.divide(y_given_x, y))) / 2


def random_cover(rng, n_items, n_clusters, fraction=0.4):
    """Draw clusters of which none is empty and none holds everything."""
    cover = rng.random((n_items, n_clusters)) < fraction
    cover[0], cover[1] = True, False
    return cover


def test_half_of_the_truth():
    # Two of four disjoint clusters of equal size are found exactly, the others not at all.
    true = np.repeat(np.eye(4, dtype=bool), 10, axis=0)
    found = true[:, :2]
    assert overlapping_nmi(true, found) == pytest.approx(0.5)
    left = conditional(true[:, 3], true[:, 0]) / entropy(true[:, 3])
    assert overlapping_nmi(true, found, variant="lfk") == pytest.approx(1 - left / 4)


def test_one_cluster_by_hand():
    x, y = np.zeros((8, 1), dtype=bool), np.zeros((8, 1), dtype=bool)
    x[:4] = y[1:5] = True
    # Three items in both, one in either only, three in neither: 3/8, 1/8, 1/8, 3/8.
    joint = 2 * h(3 / 8) + 2 * h(1 / 8)
    assert overlapping_nmi(x, y) == pytest.approx(2 - joint)
    assert overlapping_nmi(x, y, variant="lfk") == pytest.approx(2 - joint)


@pytest.mark.parametrize("variant", VARIANTS)
def test_complements_tell_nothing(variant):
    x = np.arange(10)[:, None] < 3
    assert overlapping_nmi(x, ~x, variant=variant) == 0.0


@pytest.mark.parametrize("variant", VARIANTS)
@given(SEEDS, st.integers(3, 40), st.integers(1, 5), st.integers(1, 5), st.floats(0, 1))
def test_equals_the_definition(variant, seed, n_items, n_true, n_found, fraction):
    rng = np.random.default_rng(seed)
    true, found = (random_cover(rng, n_items, k, fraction) for k in (n_true, n_found))
    value = overlapping_nmi(true, found, variant=variant)
    assert value == pytest.approx(by_definition(true, found, variant), abs=1e-12)
    assert value == pytest.approx(overlapping_nmi(found, true, variant=variant), abs=1e-12)
    assert 0 <= value <= 1


@pytest.mark.parametrize("variant", VARIANTS)
@given(SEEDS, st.integers(1, 30), st.integers(0, 5), st.floats(0, 1))
def test_equal_covers_in_any_order_score_one(variant, seed, n_items, n_clusters, fraction):
    rng = np.random.default_rng(seed)
    true = rng.random((n_items, n_clusters)) < fraction  # empty and full clusters included
    order, names = rng.permutation(n_items), rng.permutation(n_clusters)
    value = overlapping_nmi(true[order], true[order][:, names], variant=variant)
    assert value == pytest.approx(1)


def test_values_of_cdlib():
    # cdlib 0.4.1: overlapping_normalized_mutual_information_LFK and _MGH (max), on these clusters.
    true = np.zeros((12, 3), dtype=bool)
    found = np.zeros((12, 3), dtype=bool)
    for cover, clusters in (
        (true, ([0, 1, 2, 3, 4], [4, 5, 6, 7], [7, 8, 9, 10, 11])),
        (found, ([0, 1, 2, 3], [3, 4, 5, 6, 7, 8], [8, 9, 10, 11])),
    ):
        for cluster, items in enumerate(clusters):
            cover[items, cluster] = True
    assert overlapping_nmi(true, found, variant="lfk") == pytest.approx(
        0.5940619144539595, abs=1e-9
    )
    assert overlapping_nmi(true, found) == pytest.approx(0.5886425329131983, abs=1e-9)


@pytest.mark.parametrize("variant", VARIANTS)
def test_one_cluster_of_everything_scores_nothing(variant):
    true = random_cover(np.random.default_rng(0), 20, 3)
    for nothing_said in (np.ones((20, 1)), np.zeros((20, 2)), np.zeros((20, 0))):
        assert overlapping_nmi(true, nothing_said, variant=variant) == 0.0
        assert overlapping_nmi(nothing_said, true, variant=variant) == 0.0


@pytest.mark.parametrize("variant", VARIANTS)
def test_clusters_without_information_change_nothing(variant):
    rng = np.random.default_rng(1)
    true, found = random_cover(rng, 20, 3), random_cover(rng, 20, 2)
    more = np.hstack([found, np.zeros((20, 1), dtype=bool), np.ones((20, 1), dtype=bool)])
    value = overlapping_nmi(true, found, variant=variant)
    assert overlapping_nmi(true, more, variant=variant) == pytest.approx(value)


def test_two_covers_without_information():
    everything, nothing = np.ones((4, 1)), np.zeros((4, 1))
    assert overlapping_nmi(everything, everything) == 1.0
    assert overlapping_nmi(nothing, np.zeros((4, 0))) == 1.0
    assert overlapping_nmi(everything, nothing) == 0.0


def test_unknown_variant():
    with pytest.raises(ValueError, match=r'variant must be "max" or "lfk", got \'min\'\.'):
        overlapping_nmi([[1]], [[1]], variant="min")
