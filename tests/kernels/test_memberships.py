"""The short lists behind a membership matrix say the same as the matrix."""

from __future__ import annotations

import numpy as np
import pytest
from instances import any_membership

from neocc.kernels import Memberships


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


def test_total_sums_a_table_over_the_memberships(matrix):
    table = np.random.default_rng(0).normal(size=matrix.shape)
    members = Memberships.from_dense(matrix)
    assert members.total(table) == pytest.approx(table[matrix].sum(), rel=1e-12, abs=1e-12)


def test_labels_may_leave_items_out():
    members = Memberships.from_labels(np.array([1, -1, 0], dtype=np.int32), 3)
    np.testing.assert_array_equal(members.dense, [[0, 1, 0], [0, 0, 0], [1, 0, 0]])
