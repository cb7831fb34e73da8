"""What membership matrices may be, for all measures alike."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from neocc import metrics
from neocc.metrics import best_match_f1, matched_f1, omega_index, overlapping_nmi, trivial_baseline

OF_ITEMS = [best_match_f1, matched_f1, omega_index, overlapping_nmi]
TRUE = np.array([[1, 0], [1, 0], [1, 1], [0, 1], [0, 0]])
FOUND = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 1, 0], [0, 1, 0]])


def test_public_names():
    assert sorted(metrics.__all__) == metrics.__all__
    for name in metrics.__all__:
        assert callable(getattr(metrics, name))


@pytest.mark.parametrize("measure", OF_ITEMS)
@pytest.mark.parametrize(
    "form",
    [
        np.ndarray.tolist,
        lambda a: a.astype(bool),
        lambda a: a.astype(np.float32),
        np.asfortranarray,
        pd.DataFrame,
        sparse.csr_array,
        sparse.csc_matrix,
        lambda a: sparse.coo_array(a.astype(bool)),
    ],
)
def test_all_forms_give_the_same(measure, form):
    assert measure(form(TRUE), form(FOUND)) == measure(TRUE, FOUND)
    assert trivial_baseline(form(TRUE)) == trivial_baseline(TRUE)


@pytest.mark.parametrize("measure", OF_ITEMS)
def test_sparse_input_with_stored_zeros_is_read_and_left_as_it_is(measure):
    true = sparse.csr_array(([1.0, 0.0, 1.0], [1, 0, 0], [0, 2, 3]), shape=(2, 2))
    before = [array.copy() for array in (true.data, true.indices, true.indptr)]
    assert measure(true, [[0, 1], [1, 0]]) == measure([[0, 1], [1, 0]], [[0, 1], [1, 0]])
    for was, now in zip(before, (true.data, true.indices, true.indptr), strict=True):
        np.testing.assert_array_equal(was, now)


@pytest.mark.parametrize("measure", OF_ITEMS)
@pytest.mark.parametrize(
    ("found", "message"),
    [
        (np.eye(3), "true and found must have one row for each .* 5 and 3 rows"),
        (np.zeros(5), r"found must be a membership matrix .* got shape \(5,\).*Labels become"),
        (np.zeros((5, 2, 2)), "found must be a membership matrix"),
        (np.zeros((0, 2)), "found has no items"),
        (TRUE * 2, "found must hold only 0 and 1; found 2 at item 0, cluster 0"),
        (np.where(TRUE, 1.0, np.nan), "found must hold only 0 and 1; found nan at item 0, clus"),
        (TRUE - 1, "found must hold only 0 and 1; found -1 at item 0, cluster 1"),
        (TRUE.astype(str), "found must hold booleans or 0 and 1; got dtype"),
        (TRUE.astype(object), "found must hold booleans or 0 and 1; got dtype object"),
        (sparse.csr_array(TRUE * 0.5), "found must hold only 0 and 1; found 0.5 at item 0, clus"),
        (
            sparse.coo_array(([1, 1, 1], ([3, 4, 4], [0, 1, 1])), shape=(5, 2)),
            "found must hold only 0 and 1; found 2 at item 4, cluster 1",
        ),
    ],
)
def test_bad_input(measure, found, message):
    with pytest.raises(ValueError, match=message):
        measure(TRUE, found)


@pytest.mark.parametrize("measure", [best_match_f1, matched_f1, lambda t, _: trivial_baseline(t)])
def test_a_mean_over_no_true_cluster_is_refused(measure):
    with pytest.raises(ValueError, match=r"true has no clusters \(shape \(5, 0\)\)"):
        measure(TRUE[:, :0], FOUND)


@pytest.mark.parametrize("measure", OF_ITEMS)
def test_scores_are_python_floats(measure):
    assert type(measure(TRUE, FOUND)) is float
    assert type(measure(TRUE, TRUE)) is float
    assert type(trivial_baseline(TRUE)) is float
