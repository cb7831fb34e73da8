"""The two-stage assignment: exact counts, least total distance, documented tie order."""

from __future__ import annotations

import numpy as np
import oracle
import pytest
from instances import make_counts, make_membership, members

import neocc.core.assign as assign_module
from neocc.core.assign import assign, fill_empty, smallest
from neocc.core.problem import Counts


def run(d, counts):
    d = d.astype(float)
    return assign(d, d.argmin(axis=1), d.min(axis=1), counts)


def draw(seed, tied, largest=7):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, largest + 1))
    k = int(rng.integers(1, min(n, 4) + 1))
    d = rng.integers(0, 4, size=(n, k)) if tied else rng.random((n, k))
    return d.astype(float), make_counts(rng, n, k)


# --------------------------------------------------------------------------------- two stages


@pytest.mark.parametrize("tied", [False, True], ids=["distinct", "tied"])
def test_equals_the_papers_loop(tied):
    n_without_empty = 0
    for seed in range(300):
        d, counts = draw(seed, tied)
        literal = oracle.two_stage(d, counts.n_memberships, counts.n_covered)
        found = run(d, counts).members.dense
        if literal.any(axis=0).all():
            n_without_empty += 1
            np.testing.assert_array_equal(found, literal)
        else:
            np.testing.assert_array_equal(found, fill_empty(members(literal), d).dense)
    assert n_without_empty > 100


@pytest.mark.parametrize("tied", [False, True], ids=["distinct", "tied"])
def test_reaches_the_lowest_cost_over_all_feasible_memberships(tied):
    n_compared = 0
    for seed in range(150):
        d, counts = draw(seed, tied, largest=4)
        if d.size > 12:
            continue
        literal = oracle.two_stage(d, counts.n_memberships, counts.n_covered)
        lowest = oracle.lowest_cost(d, counts.n_memberships, counts.max_outliers)
        assert d[literal].sum() == pytest.approx(lowest, rel=1e-12)
        if literal.any(axis=0).all():
            n_compared += 1
            assert d[run(d, counts).members.dense].sum() == pytest.approx(lowest, rel=1e-12)
    assert n_compared > 50


def test_counts_are_exact():
    for seed in range(300):
        d, counts = draw(seed, tied=seed % 2 == 0, largest=20)
        U = run(d, counts).members
        assert U.dense.sum() == U.n_total == counts.n_memberships
        assert (~U.dense.any(axis=1)).sum() <= counts.max_outliers


def test_ties_go_to_the_lowest_item_then_the_lowest_cluster():
    d = np.ones((3, 3))
    found = run(d, Counts(3, 3, 5, 1)).members.dense
    # Stage 1 takes items 0 and 1 in cluster 0, stage 2 the first free pairs; cluster 2 is full by
    # then.
    np.testing.assert_array_equal(found, [[1, 1, 1], [1, 1, 0], [0, 0, 0]])


def test_an_item_left_out_first_may_come_in_second():
    d = np.array([[0.0, 9.0], [9.0, 0.0], [1.0, 9.0]])
    found = run(d, Counts(3, 2, 3, 1))
    np.testing.assert_array_equal(found.members.dense, [[1, 0], [0, 1], [1, 0]])


def test_limits_are_the_largest_accepted_distances():
    d = np.array([[0.0, 2.0], [3.0, 1.0], [7.0, 8.0]])
    found = run(d, Counts(3, 2, 3, 1))
    assert found.nearest_limit == 1.0
    assert found.extra_limit == 2.0


def test_limits_without_outliers_and_extra_memberships_are_infinite():
    found = run(np.array([[0.0, 2.0], [3.0, 1.0]]), Counts(2, 2, 2, 0))
    assert found.nearest_limit == np.inf
    assert found.extra_limit == -np.inf


def test_distances_are_left_as_they_were():
    d, counts = draw(11, tied=False)
    before = d.copy()
    assign(d, d.argmin(axis=1), d.min(axis=1), counts)
    np.testing.assert_array_equal(d, before)


def test_a_cluster_at_infinite_distance_is_not_joined():
    d = np.array([[1.0, np.inf, 2.0]] * 4)
    found = run(d, Counts(4, 3, 8, 0)).members.dense
    # Eight memberships fill clusters 0 and 2; one of them then re-seeds the empty cluster.
    assert found.sum(axis=0).tolist() == [4, 1, 3]


# ---------------------------------------------------------------------------------- smallest


def reference(values, count):
    return np.sort(np.argsort(values, kind="stable")[:count])


@pytest.mark.parametrize("pilot", [2, 8, 4096])
@pytest.mark.parametrize(
    "make",
    [
        lambda rng, n: rng.random(n),
        lambda rng, n: rng.integers(0, 3, size=n).astype(float),
        lambda rng, n: np.zeros(n),
        lambda rng, n: np.sort(rng.random(n)),
        lambda rng, n: (np.arange(n) % 7).astype(float),
        lambda rng, n: np.where(rng.random(n) < 0.9, np.inf, rng.random(n)),
    ],
    ids=["random", "tied", "equal", "sorted", "periodic", "mostly infinite"],
)
def test_smallest_equals_a_stable_sort(monkeypatch, make, pilot):
    monkeypatch.setattr(assign_module, "_PILOT", pilot)
    rng = np.random.default_rng(0)
    for n in (1, 2, 30, 500, 20_000):
        values = make(rng, n)
        for count in {0, 1, n // 50, n // 3, n - 1, n}:
            indices, limit = smallest(values.copy(), count)
            expected = reference(values, count)
            np.testing.assert_array_equal(indices, expected)
            if count:
                assert limit == values[expected].max()


def test_smallest_uses_the_pilot_sample_on_large_input(monkeypatch):
    values = np.random.default_rng(1).random(20 * assign_module._PILOT)
    candidates = assign_module._candidates(values, 100)
    assert candidates is not None
    assert 100 <= len(candidates) < len(values) // 10
    np.testing.assert_array_equal(smallest(values, 100)[0], reference(values, 100))


# ------------------------------------------------------------------------------- fill_empty


def test_fill_empty_keeps_counts_and_leaves_no_cluster_empty():
    n_filled = 0
    for seed in range(300):
        d, counts = draw(seed, tied=False, largest=9)
        U = make_membership(np.random.default_rng(seed), counts)
        filled = fill_empty(members(U), d).dense
        n_filled += not np.array_equal(U, filled)
        np.testing.assert_array_equal(filled.sum(axis=1), U.sum(axis=1))
        assert filled.any(axis=0).sum() == min(counts.n_clusters, counts.n_memberships)
    assert n_filled > 30


def test_fill_empty_never_raises_the_cost():
    for seed in range(300):
        d, counts = draw(seed, tied=True, largest=9)
        U = make_membership(np.random.default_rng(seed), counts)
        filled = fill_empty(members(U), d).dense
        d[:, ~U.any(axis=0)] = 0.0  # a single member sits on its own mean
        assert d[filled].sum() <= d[U].sum()


def test_fill_empty_moves_the_worst_membership_that_can_be_spared():
    U = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0]])
    d = np.array([[1.0, 0.0, np.inf], [2.0, 0.0, np.inf], [0.0, 9.0, np.inf]])
    # Row 2 is the farthest, but the only member of its cluster.
    expected = [[1, 0, 0], [0, 0, 1], [0, 1, 0]]
    np.testing.assert_array_equal(fill_empty(members(U), d).dense, expected)


def test_fill_empty_returns_memberships_without_empty_clusters_unchanged():
    U = members([[1, 0], [0, 1]])
    assert fill_empty(U, np.zeros((2, 2))) is U
