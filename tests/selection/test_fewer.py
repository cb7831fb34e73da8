"""Numbers of clusters with overlap: clusters at the means of others are not counted."""

from __future__ import annotations

import warnings

import matplotlib as mpl
import numpy as np
import pytest

from neocc import NEOCC
from neocc.datasets import make_coclusters
from neocc.selection import suggest_n_clusters

mpl.use("agg")


def suggested(X, **options):
    return suggest_n_clusters(X, random_state=0, **options)


@pytest.mark.parametrize(("overlap", "k", "l"), [(0.1, 4, 3), (0.2, 6, 4), (0.3, 4, 3)])
def test_planted_numbers_are_found_in_spite_of_overlap(overlap, k, l):  # noqa: E741
    X, _, _ = make_coclusters((200, 100), k, l, row_overlap=overlap, random_state=1)
    assert suggested(X).best[0] > k
    found = suggested(X, row_overlap="auto")
    assert found.best == (k, l)
    assert found.rows.is_clear
    assert found.columns.overlapping is None
    # A fraction that is given says as much, for prediction too.
    assert suggested(X, row_overlap=overlap, criteria="prediction").best == (k, l)
    assert suggested(X.T, column_overlap="auto").best == (l, k)


def test_both_sides_may_overlap():
    X, _, _ = make_coclusters((150, 150), 4, 4, row_overlap=0.2, column_overlap=0.2, random_state=3)
    found = suggested(X, row_overlap="auto", column_overlap="auto")
    assert found.best == (4, 4)
    assert min(each.apart for each in found.sides) > 4
    # An item in one cluster at most is in no mean.
    assert suggested(X, row_overlap="auto", max_memberships=1).rows.overlapping is None


def test_the_estimator_chooses_them_and_fits_the_overlap():
    X, U, _ = make_coclusters((200, 60), 4, 3, row_overlap=0.2, row_outliers=0.05, random_state=2)
    auto = dict.fromkeys(("row_overlap", "row_outliers"), "auto")
    model = NEOCC(overlap_model="average", n_init=3, random_state=0, **auto).fit(X)
    assert model.numbers_choice_.best == model.block_means_.shape == (4, 3)
    several = model.row_membership_.sum(axis=1) > 1
    np.testing.assert_array_equal(several, U.sum(axis=1) > 1)
    given = NEOCC(overlap_model="average", row_overlap=0.2, row_outliers=0.05, random_state=0)
    assert given.fit(X).block_means_.shape == (4, 3)
    disjoint = NEOCC(row_outliers="auto", n_init=1, random_state=0).fit(X)
    assert disjoint.block_means_.shape[0] > 4


@pytest.mark.parametrize("seed", range(6))
def test_clusters_that_do_not_overlap_are_counted_as_before(seed):
    rng = np.random.default_rng(seed)
    k, l, n, m = (int(rng.integers(*bounds)) for bounds in ((3, 8), (2, 6), (60, 300), (30, 90)))  # noqa: E741
    M = 2.0 * rng.normal(size=(k, l))
    X = M[rng.integers(k, size=n)][:, rng.integers(l, size=m)] + rng.normal(size=(n, m))
    both = {"row_overlap": "auto", "column_overlap": "auto"}
    assert suggested(X, **both).best == suggested(X).best


@pytest.mark.parametrize("n", [60, 400])
@pytest.mark.parametrize("n_levels", [3, 5])
def test_levels_in_a_line_are_no_overlap(n, n_levels):
    rng = np.random.default_rng(n)
    levels = 5.0 * rng.integers(n_levels, size=n)
    X = np.outer(levels, rng.choice([-1.0, 0.5, 1.0], size=30)) + rng.normal(size=(n, 30))
    found = suggested(X, row_overlap="auto")
    assert (found.rows.taken, found.rows.overlapping) == (n_levels, None)


def test_numbers_to_choose_from_are_kept_to():
    X, _, _ = make_coclusters((200, 100), 4, 3, row_overlap=0.2, random_state=1)
    assert suggested(X, row_clusters=[5, 7, 9], row_overlap="auto").best[0] in (5, 7, 9)
    assert suggested(X, row_clusters=[4, 9], row_overlap="auto").best[0] == 4


@pytest.mark.parametrize("options", [{"objective": "poisson"}, {"missing": "ignore"}])
def test_counts_and_observed_cells_have_none(options):
    counts = np.random.default_rng(0).poisson(3.0, size=(40, 20))
    found = suggested(counts, row_overlap="auto", **options)
    assert found.best == suggested(counts, **options).best


def test_zeros_that_tell_nothing_are_not_looked_at():
    X, _, _ = make_coclusters(
        (600, 200), 4, 3, row_overlap=0.2, noise=0.5, density=0.3, format="csr", random_state=0
    )
    found = suggested(X, row_overlap="auto")
    assert found.rows.taken <= found.rows.apart


def test_the_reason_the_record_and_the_plot_tell_the_numbers():
    X, _, _ = make_coclusters((200, 100), 4, 3, row_overlap=0.2, random_state=1)
    found = suggested(X, row_overlap="auto")
    apart = found.rows.apart
    assert (
        f"{apart} predict held-out cells best, but {apart - 4} of these are means of others: 4"
        in str(found)
    )
    assert found.rows.summary["overlapping"] is True
    assert found.rows.summary["taken"] == 4
    assert found.columns.summary["overlapping"] is False
    ax = found.plot()
    circles = [line.get_xdata()[0] for line in ax.lines if line.get_markersize() == 14]
    assert circles == [4, 3]
    mpl.pyplot.close(ax.figure)


def test_interrupted_choices_leave_overlap_out():
    X, _, _ = make_coclusters((200, 100), 4, 3, row_overlap=0.2, random_state=1)
    found = suggested(X, row_overlap="auto", callback=lambda done, total: True)
    assert found.rows.overlapping is None or found.complete


def test_nothing_is_warned_of():
    X, _, _ = make_coclusters((60, 30), 3, 2, row_overlap=0.2, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        suggested(X, row_overlap="auto", column_overlap="auto")
