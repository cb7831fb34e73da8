"""Stability: sure rows are sure, doubtful ones are not, clusters keep their numbers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from neocc import NEOCC
from neocc.datasets import make_coclusters
from neocc.io import write_store
from neocc.selection import stability
from neocc.selection._agreement import SideAgreement, item_agreement, jaccard, matched


@pytest.fixture
def planted():
    X, U, V = make_coclusters((90, 50), 3, 2, noise=0.5, random_state=0)
    return X, U, V


@pytest.mark.parametrize("method", ["restarts", "bootstrap"])
@pytest.mark.parametrize("objective", ["mean", "residue"])
def test_clear_clusters_are_certain(method, objective):
    effects = 2.0 if objective == "residue" else 0.0
    X, U, _ = make_coclusters((90, 50), 2, 2, noise=0.2, effects=effects, random_state=0)
    found = stability(
        X, 2, 2, method=method, objective=objective, n_runs=5, n_init=3, random_state=0
    )
    assert found.row_confidence.min() > 0.95
    assert found.column_confidence.min() > 0.95
    assert found.row_cluster_confidence.min() > 0.95
    assert found.column_cluster_confidence.min() > 0.95
    together = (U.astype(int) @ U.T.astype(int)) > 0
    assert ((found.co_association > 0.5) == together).all()
    assert found.objectives.shape == (5,)


def test_a_row_between_two_clusters_is_doubtful(planted):
    X, U, _ = planted
    first, second = np.flatnonzero(U[:, 0])[0], np.flatnonzero(U[:, 1])[0]
    X[first] = 0.5 * (X[first] + X[second])
    found = stability(X, 3, 2, method="bootstrap", n_runs=10, random_state=0)
    others = np.delete(found.row_confidence, first)
    assert found.row_confidence[first] <= others.min()
    assert others.mean() > 0.95


def test_too_many_clusters_are_unstable():
    X = np.random.default_rng(0).normal(size=(80, 40))
    found = stability(X, 4, 4, method="bootstrap", n_runs=5, random_state=0)
    assert found.row_cluster_confidence.max() < 0.75
    assert "dissolves" in str(found)


def test_a_given_reference_keeps_its_numbers(planted):
    X = planted[0]
    model = NEOCC(3, 2, random_state=0).fit(X)
    by_model = stability(X, 3, 2, n_runs=3, n_init=5, reference=model, random_state=0)
    by_pair = stability(
        sparse.csr_array(X),
        3,
        2,
        n_runs=3,
        n_init=5,
        reference=(model.row_membership_.astype(int), model.column_membership_),
        random_state=0,
    )
    assert np.array_equal(by_model.row_membership, model.row_membership_)
    assert by_model.reference_objective == pytest.approx(model.objective_)
    np.testing.assert_array_equal(by_model.row_confidence, by_pair.row_confidence)


def test_overlap_and_outliers_keep_their_counts():
    X, _, _ = make_coclusters((60, 40), 3, 2, row_overlap=0.2, row_outliers=0.05, random_state=0)
    for method in ("restarts", "bootstrap"):
        found = stability(
            X, 3, 2, method=method, n_runs=2, row_overlap=0.2, row_outliers=0.05, random_state=0
        )
        assert found.row_membership.sum() == 72
        assert (found.row_confidence <= 1).all()


def test_runs_of_the_same_seed_are_the_same(planted):
    X = planted[0]
    options = {"n_runs": 3, "method": "bootstrap", "random_state": 7}
    one, two = (stability(X, 3, 2, n_jobs=n_jobs, **options) for n_jobs in (1, 2))
    assert np.array_equal(one.objectives, two.objectives)
    assert np.array_equal(one.co_association, two.co_association)


@pytest.mark.parametrize(
    ("n", "asked", "counted"),
    [(2000, None, True), (2000, False, False), (2001, None, False), (2001, True, True)],
)
def test_pairs_are_counted_on_request_or_up_to_a_size(n, asked, counted):
    labels = np.arange(n) % 2
    X = np.array([[0.0, 5.0], [5.0, 0.0]])[labels]
    reference = np.eye(2)[labels], np.eye(2)
    table = stability(
        X, 2, 2, n_runs=1, reference=reference, co_association=asked, random_state=0
    ).co_association
    assert (table is not None) == counted
    if counted:
        assert table.shape == (n, n)
        assert (np.diagonal(table) == 1).all()


def test_agreement_by_hand():
    reference = np.array([[1, 0], [1, 0], [0, 1], [1, 1], [0, 0]], dtype=bool)
    found = reference[:, ::-1].copy()
    found[1] = [True, False]
    found[4] = [False, False]
    assert jaccard(reference, found)[0, 1] == pytest.approx(2 / 3)
    renumbered, index = matched(reference, found)
    assert index == pytest.approx([2 / 3, 2 / 3])
    assert item_agreement(reference, renumbered).tolist() == [1.0, 0.0, 1.0, 1.0, 1.0]
    side = SideAgreement.empty(reference, with_pairs=True)
    side.add(found)
    assert side.together[0, 3] == 1.0
    assert side.together[0, 2] == 0.0
    assert jaccard(np.zeros((2, 1), bool), np.zeros((2, 1), bool)) == 1.0


def interrupt(done, total):
    if done == 2:
        raise KeyboardInterrupt


@pytest.mark.parametrize("stop", [interrupt, lambda done, total: done == 2])
def test_an_interrupt_keeps_the_runs_made(planted, stop):
    found = stability(planted[0], 3, 2, n_runs=9, random_state=0, callback=stop)
    assert len(found.objectives) == 2
    assert not found.complete
    assert "2 of 9 restarts" in str(found)


@pytest.mark.parametrize("value", [0.0, 3.0])
def test_constant_data_ends(value):
    found = stability(np.full((8, 6), value), 2, 2, n_runs=2, random_state=0)
    assert found.reference_objective == 0.0
    assert np.isfinite(found.row_confidence).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"method": "jackknife"}, "method must be one of 'restarts', 'bootstrap'"),
        ({"objective": "kmeans"}, "objective must be one of 'mean', 'residue'"),
        ({"n_runs": 0}, "n_runs must be an integer"),
        ({"n_row_clusters": 7}, r"n_row_clusters=7 is more than .* rows \(n_samples=6\). Ask .* 6"),
        ({"n_column_clusters": 6}, r"n_column_clusters=6 is more than .* columns"),
        ({"row_overlap": 1.5}, "row_overlap=1.5 is above n_row_clusters - 1 = 1: 6 rows"),
        ({"column_overlap": -0.5}, "column_overlap=-0.5 is below -column_outliers"),
        ({"column_outliers": 1.0}, "column_outliers=1.0 would leave out all 5 columns"),
        ({"row_overlap": np.nan}, "overlap must be a finite number; got nan"),
        ({"reference": 3}, "reference must be a fitted estimator or a pair"),
        ({"reference": (np.ones((6, 2)), np.ones((5, 3)))}, r"V of reference.*\(5, 2\)"),
        ({"reference": (np.full((6, 2), 2), np.ones((5, 2)))}, "U of reference must hold 0 and 1"),
    ],
)
def test_wrong_arguments_are_named(change, message):
    arguments = {"X": np.eye(6, 5), "n_row_clusters": 2, "n_column_clusters": 2, **change}
    with pytest.raises(ValueError, match=message):
        stability(**arguments)


@pytest.mark.parametrize(
    "options",
    [{}, {"remove_effects": True, "shrinkage": 0.0}, {"row_overlap": 0.1}, {"row_outliers": 0.1}],
)
@pytest.mark.parametrize("method", ["restarts", "bootstrap"])
def test_observed_cells(planted, method, options):
    X, U, _ = planted
    X[np.random.default_rng(1).random(X.shape) < 0.5] = np.nan
    at = np.nonzero(~np.isnan(X))
    given = {"missing": "ignore", "random_state": 0, **options}
    found, other = (
        stability(data, 3, 2, method=method, n_runs=2, n_init=3, **given)
        for data in (X, sparse.csr_array((X[at], at), shape=X.shape))
    )
    np.testing.assert_array_equal(found.row_confidence, other.row_confidence)
    assert found.row_confidence.mean() > 0.9
    # The same problem as that of NEOCC, effects, shrinkage and cost of outliers included.
    model = NEOCC(3, 2, **given).fit(X)
    judged = stability(X, 3, 2, method=method, n_runs=1, reference=model, **given)
    assert judged.reference_objective == pytest.approx(model.objective_, rel=1e-12)
    if not set(options) & {"row_overlap", "row_outliers"}:
        together = (U.astype(int) @ U.T.astype(int)) > 0
        assert ((found.co_association > 0.5) == together).all()


def test_observed_cells_of_a_store(planted, tmp_path):
    X = planted[0]
    X[np.random.default_rng(1).random(X.shape) < 0.5] = np.nan
    store = write_store(tmp_path / "X", X, missing="ignore", rows_per_block=20)
    options = {"missing": "ignore", "remove_effects": True, "n_runs": 2, "random_state": 0}
    for method in ("restarts", "bootstrap"):
        one, other = (stability(data, 3, 2, method=method, **options) for data in (X, store))
        np.testing.assert_array_equal(one.row_confidence, other.row_confidence)
        np.testing.assert_array_equal(one.objectives, other.objectives)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"missing": "drop"}, "missing must be one of 'zero', 'ignore'"),
        ({"remove_effects": True}, 'give missing="ignore"'),
        ({"missing": "ignore", "shrinkage": -1.0}, "shrinkage must be a number"),
        ({"missing": "ignore", "objective": "residue"}, "is known for objective='mean' only"),
    ],
)
def test_what_makes_no_sense_of_observed_cells(options, message):
    with pytest.raises(ValueError, match=message):
        stability(np.eye(6), 2, 2, **options)
