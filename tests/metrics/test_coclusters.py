"""Recovery and relevance of co-clusters against sets of cells."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import consensus_score

from neocc import NEOCC
from neocc.datasets import make_coclusters
from neocc.metrics import _coclusters, recovery, relevance

SEEDS = st.integers(0, 2**32 - 1)


def random_pair(rng, shape, *n_clusters):
    U, V = (rng.random(size) < 0.4 for size in zip(shape, n_clusters, strict=True))
    return U, V


def cells(pair, pairing):
    """Sets of cells of all co-clusters."""
    U, V = pair
    if pairing == "paired":
        return [np.outer(u, v) for u, v in zip(U.T, V.T, strict=True)]
    return [np.outer(u, v) for u in U.T for v in V.T]


def mean_best(scored, others):
    def jaccard(a, b):
        return (a & b).sum() / (a | b).sum() if (a | b).any() else 0.0

    return np.mean([max(jaccard(a, b) for b in others) for a in scored])


@pytest.mark.parametrize("pairing", ["grid", "paired"])
@given(SEEDS, st.integers(1, 3), st.integers(1, 3), st.integers(1, 8), st.integers(1, 8))
def test_definition(pairing, seed, k, m, n_rows, n_columns):
    rng = np.random.default_rng(seed)
    true = random_pair(rng, (n_rows, n_columns), k, m)
    found = random_pair(rng, (n_rows, n_columns), k, k if pairing == "paired" else m)
    a, b = cells(true, "grid"), cells(found, pairing)
    assert recovery(true, found, found_pairing=pairing) == pytest.approx(mean_best(a, b))
    assert relevance(true, found, found_pairing=pairing) == pytest.approx(mean_best(b, a))
    assert recovery(found, true, true_pairing=pairing) == pytest.approx(mean_best(b, a))


def test_by_hand():
    true = np.array([[1], [1], [0], [0]]), np.array([[1], [1], [0]])
    found = np.array([[1, 0], [1, 0], [1, 0], [0, 1]]), np.array([[1], [0], [0]])
    # True cells 2 x 2. Found 3 x 1, of which 2 are true: 2 / 5; and 1 x 1, not true.
    assert recovery(true, found) == pytest.approx(2 / 5)
    assert relevance(true, found) == pytest.approx(1 / 5)


def test_many_co_clusters_are_compared_in_parts():
    rng = np.random.default_rng(0)
    true, found = random_pair(rng, (20, 15), 4, 3), random_pair(rng, (20, 15), 3, 4)
    sides = _coclusters._read_sides(true, found)
    pairs = _coclusters._pairs(4, 3, "grid", "true"), _coclusters._pairs(3, 4, "grid", "found")
    in_parts = _coclusters._best_jaccard(*sides, *pairs, table_size=30)
    assert len(in_parts) == 12
    assert in_parts.mean() == recovery(true, found)


def test_the_truth_scores_one():
    U, V = np.repeat(np.eye(3), 4, axis=0), np.repeat(np.eye(2), 5, axis=0)
    shuffled = U[:, [2, 0, 1]], V[:, ::-1]
    assert recovery((U, V), shuffled) == 1.0
    assert relevance([U, V], shuffled) == 1.0


def test_paired_co_clusters_and_the_consensus_score_agree_on_the_truth():
    rng = np.random.default_rng(3)
    U, V = random_pair(rng, (20, 15), 3, 3)
    order = [1, 2, 0]
    found = U[:, order], V[:, order]
    assert recovery((U, V), found, true_pairing="paired", found_pairing="paired") == 1.0
    assert consensus_score((U.T, V.T), (found[0].T, found[1].T)) == pytest.approx(1)


def test_empty_co_clusters_score_nothing():
    U, V = np.array([[1, 0], [1, 0]]), np.array([[1], [1]])
    assert recovery((U, V), (U, V)) == 0.5
    assert relevance((U, V), (U, V)) == 0.5
    assert recovery((U, V), (np.zeros((2, 0)), V)) == 0.0
    assert relevance((U, V), (np.zeros((2, 0)), V)) == 0.0


def test_bad_input():
    U, V = np.eye(2), np.eye(3)
    with pytest.raises(ValueError, match="found must be a pair"):
        recovery((U, V), U)
    with pytest.raises(ValueError, match=r"true\[1\] and found\[1\] .* 3 and 2 rows"):
        recovery((U, V), (U, U))
    with pytest.raises(ValueError, match=r"true\[0\] \(row memberships\) has no clusters"):
        relevance((U[:, :0], V), (U, V))
    with pytest.raises(ValueError, match="as many row clusters as column clusters; got 2 and 3"):
        recovery((U, V), (U, V), found_pairing="paired")
    with pytest.raises(ValueError, match='true_pairing must be "grid" or "paired"'):
        recovery((U, V), (U, V), true_pairing="all")


def test_the_consensus_score_takes_the_co_clusters_of_an_estimator():
    X, _, _ = make_coclusters((40, 30), 3, 2, row_overlap=0.1, column_outliers=0.1, random_state=0)
    model = NEOCC(3, 2, row_overlap=0.1, column_outliers=0.1, n_init=1, random_state=0).fit(X)
    assert consensus_score(model.biclusters_, model.biclusters_) == pytest.approx(1)
    memberships = model.row_membership_, model.column_membership_
    as_pairs = tuple(np.asarray(side).T for side in model.biclusters_)
    assert recovery(memberships, as_pairs, found_pairing="paired") == 1.0
