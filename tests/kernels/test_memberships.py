"""The short lists behind a membership matrix say the same as the matrix."""

from __future__ import annotations

import pickle
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from instances import any_membership

from neocc.engines.following import changed_items
from neocc.kernels import Memberships, inverse


@pytest.fixture(params=range(8))
def matrix(request):
    rng = np.random.default_rng(request.param)
    return any_membership(rng, int(rng.integers(1, 12)), int(rng.integers(1, 5)))


def test_dense_form_survives_the_round_trip(matrix):
    members = Memberships.from_dense(matrix)
    np.testing.assert_array_equal(members.dense, matrix)
    np.testing.assert_array_equal(members.indicator, matrix.astype(float))
    assert (members.n_items, members.n_clusters) == matrix.shape


def test_derived_numbers(matrix):
    members = Memberships.from_dense(matrix)
    np.testing.assert_array_equal(members.sizes, matrix.sum(axis=0))
    np.testing.assert_array_equal(members.weights, matrix.sum(axis=1))
    np.testing.assert_array_equal(members.outliers, ~matrix.any(axis=1))
    assert members.n_total == matrix.sum()
    assert members.has_empty == (not matrix.any(axis=0).all())


def test_no_pair_is_stored_twice(matrix):
    members = Memberships.from_dense(matrix)
    at = np.flatnonzero(members.first >= 0)
    pairs = list(zip(at, members.first[at], strict=True))
    pairs += list(zip(members.extra_items, members.extra_clusters, strict=True))
    assert len(pairs) == len(set(pairs)) == matrix.sum()
    assert (np.diff(members.extra_items) >= 0).all()


def test_slices_are_the_rows_of_the_matrix(matrix):
    members = Memberships.from_dense(matrix)
    n = len(matrix)
    for start, stop in ((0, n), (0, n // 2), (n // 2, n), (n // 3, n // 3 + 1)):
        part = members.slice(start, stop)
        np.testing.assert_array_equal(part.dense, matrix[start:stop])
        np.testing.assert_array_equal(part.weights, matrix[start:stop].sum(axis=1))


def test_extra_memberships_without_a_first_one_count():
    # The second stage of the assignment may take up an item that the first left out.
    members = Memberships(
        np.array([-1, 0, -1], dtype=np.int32), np.array([0, 1]), np.array([1, 1], dtype=np.int32), 2
    )
    np.testing.assert_array_equal(members.dense, [[0, 1], [1, 1], [0, 0]])
    np.testing.assert_array_equal(members.sizes, [1, 2])
    np.testing.assert_array_equal(members.outliers, [False, False, True])
    assert members.n_total == 3


def test_labels_may_leave_items_out():
    members = Memberships.from_labels(np.array([1, -1, 0], dtype=np.int32), 3)
    np.testing.assert_array_equal(members.dense, [[0, 1, 0], [0, 0, 0], [1, 0, 0]])


@pytest.mark.parametrize("scaled", [False, True])
def test_parts_are_put_together_again(matrix, scaled):
    members = Memberships.from_dense(matrix)
    scale = np.random.default_rng(0).random(len(matrix))
    members = replace(members, scale=scale) if scaled else members
    n = len(matrix)
    for cuts in ((0, n), (0, n // 2, n), (0, 0, n // 3, n // 3, n, n)):
        parts = [members.slice(a, b) for a, b in pairwise(cuts)]
        joined = Memberships.joined(parts)
        np.testing.assert_array_equal(joined.indicator, members.indicator)
        np.testing.assert_array_equal(joined.first, members.first)
        np.testing.assert_array_equal(joined.extra_items, members.extra_items)


def test_a_partition_is_known_as_one(matrix):
    members = Memberships.from_dense(matrix)
    assert members.is_partition == bool((matrix.sum(axis=1) == 1).all())
    labels = np.arange(len(matrix), dtype=np.int32) % 2
    for one_each in (Memberships.from_labels(labels, 2), Memberships.partition(labels, 2)):
        assert one_each.is_partition
        np.testing.assert_array_equal(one_each.dense.argmax(axis=1), labels)
        np.testing.assert_array_equal(one_each.indicator, one_each.dense.astype(float))
        np.testing.assert_array_equal(one_each.sizes, np.bincount(labels, minlength=2))
        assert not replace(one_each, scale=np.ones(len(matrix))).is_partition


# ------------------------------------------------------------------------------- real weights


def test_weights_count_in_all_that_is_derived(matrix):
    scale = np.random.default_rng(1).random(len(matrix)) + 0.5
    members = replace(Memberships.from_dense(matrix), scale=scale)
    table = matrix * scale[:, None]
    np.testing.assert_array_equal(members.indicator, table)
    np.testing.assert_allclose(members.sizes, table.sum(axis=0), rtol=1e-14)
    np.testing.assert_allclose(members.weights, table.sum(axis=1), rtol=1e-14)
    np.testing.assert_allclose(members.inverse_sizes * members.sizes, matrix.any(axis=0))
    # Who belongs where does not depend on weights.
    np.testing.assert_array_equal(members.dense, matrix)
    np.testing.assert_array_equal(members.outliers, ~matrix.any(axis=1))
    assert members.n_total == matrix.sum()


def test_sums_of_a_number_per_item_are_those_over_the_members(matrix):
    values = np.random.default_rng(2).normal(size=len(matrix))
    members = Memberships.from_dense(matrix)
    np.testing.assert_allclose(members.sums_of(values), values @ matrix, rtol=1e-12, atol=1e-13)
    np.testing.assert_array_equal(members.sums_of(None), matrix.sum(axis=0))


def test_the_inverse_of_an_empty_cluster_is_nothing():
    np.testing.assert_array_equal(inverse(np.array([2.0, 0.0, 4.0])), [0.5, 0.0, 0.25])
    np.testing.assert_array_equal(inverse(np.array([2.0, 4.0])), [0.5, 0.25])


# ------------------------------------------------------------------------------ what changed


@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 4), st.booleans())
def test_changed_items_are_those_whose_rows_differ(seed, n, k, scaled):
    rng = np.random.default_rng(seed)
    one = rng.random((n, k)) < 0.5
    other = np.where(rng.random((n, 1)) < 0.5, one, rng.random((n, k)) < 0.5)
    members = Memberships.from_dense(one)
    others = Memberships.from_dense(other)
    found = changed_items(members, others)
    assert found.tolist() == (one != other).any(axis=1).tolist()
    # Weights count too, but for items without memberships; those of one are the same as none.
    weights = rng.choice([0.25, 0.5, 1.0], size=(2, n))
    for a, b in ((weights[0], weights[1]), (weights[0], None), (None, weights[1])):
        mine, theirs = replace(members, scale=a), replace(others, scale=b)
        differs = (mine.indicator != theirs.indicator).any(axis=1)
        assert changed_items(mine, theirs).tolist() == differs.tolist()
    some = np.flatnonzero(rng.random(n) < 0.5)
    scale = rng.random(n)
    taken = (replace(members, scale=scale) if scaled else members).take(some)
    expected = one[some] * (scale[some, None] if scaled else 1.0)
    np.testing.assert_array_equal(taken.indicator, expected)
    np.testing.assert_array_equal(taken.dense, one[some])


def test_memberships_count_whatever_list_they_are_in():
    nothing = np.empty(0, dtype=np.intp)
    first = Memberships(np.array([1], np.int32), nothing, nothing.astype(np.int32), 2)
    extra = Memberships(np.array([-1], np.int32), np.array([0]), np.array([1], np.int32), 2)
    assert not changed_items(first, extra).any()


def test_only_the_lists_travel(matrix):
    members = replace(Memberships.from_dense(matrix), scale=np.ones(len(matrix)))
    before = len(pickle.dumps(members))
    _ = members.dense, members.indicator, members.sizes, members.weights, members.has_extra
    assert len(pickle.dumps(members)) == before
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(members)).indicator, members.indicator)


# ------------------------------------------------------------------- weighted and mixed memberships


def weighted(matrix, mixed, divided=True):
    members = Memberships.from_dense(matrix)
    scale = 1.0 / np.maximum(matrix.sum(axis=1), 1) if divided else None
    return replace(members, scale=scale, mixed=mixed)


@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize("divided", [False, True])
def test_tables_of_weighted_memberships_are_those_of_the_weighted_matrix(matrix, mixed, divided):
    members = weighted(matrix, mixed, divided)
    W = matrix / np.maximum(matrix.sum(axis=1, keepdims=True), 1) if divided else matrix * 1.0
    np.testing.assert_array_equal(members.indicator, W)
    np.testing.assert_allclose(members.sizes, W.sum(axis=0), rtol=1e-14)
    np.testing.assert_allclose(members.gram, W.T @ W, rtol=1e-14, atol=1e-14)
    once = matrix.any(axis=1).astype(float)
    np.testing.assert_allclose(members.weights, once if mixed else W.sum(axis=1), rtol=1e-14)
    rng = np.random.default_rng(0)
    values = rng.normal(size=(3, matrix.shape[1]))
    inner = W.T @ W if mixed else np.diag(W.sum(axis=0))
    np.testing.assert_allclose(members.inner(values, values), values @ inner @ values.T)
    np.testing.assert_allclose(members.norms(values), np.diag(values @ inner @ values.T))
    data = rng.normal(size=(len(matrix), 4))
    wanted = np.linalg.lstsq(W, data, rcond=1e-10)[0]
    if not mixed:
        wanted = W.T @ data / np.where(W.any(axis=0), W.sum(axis=0), 1.0)[:, None]
    np.testing.assert_allclose(members.fitted(W.T @ data), wanted, rtol=1e-9, atol=1e-12)


def test_clusters_that_say_the_same_share_what_they_explain():
    """Equal clusters, and one that is the sum of two others: the shortest of all solutions."""
    matrix = np.array([[1, 1, 0, 1], [1, 1, 0, 1], [0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 0]]) > 0
    data = np.random.default_rng(0).normal(size=(5, 3))
    for divided in (False, True):
        members = weighted(matrix, True, divided)
        W = members.indicator
        wanted = np.linalg.lstsq(W, data, rcond=1e-10)[0]
        np.testing.assert_allclose(members.fitted(W.T @ data), wanted, atol=1e-12)


@pytest.mark.parametrize("divided", [False, True])
def test_parts_of_which_some_have_no_extra_memberships_are_joined(divided):
    matrix = np.array([[1, 0], [0, 1], [1, 1], [0, 0], [1, 1], [1, 0]]) > 0
    whole = weighted(matrix, True, divided)
    for cut in range(1, 6):
        parts = [weighted(matrix[at], True, divided) for at in (slice(0, cut), slice(cut, 6))]
        # As an overlap model leaves them.
        parts = [
            part if len(part.extra_items) else replace(part, scale=None, mixed=False)
            for part in parts
        ]
        joined = Memberships.joined(parts)
        assert joined.mixed
        np.testing.assert_array_equal(joined.indicator, whole.indicator)
        np.testing.assert_array_equal(joined.weights, whole.weights)
