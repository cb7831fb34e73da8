"""Numbers of clusters with overlap: clusters at the means of others are not counted."""

from __future__ import annotations

import warnings
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest

from neocc import NEOCC
from neocc.datasets import make_coclusters
from neocc.selection import estimate_overlap_and_outliers, suggest_n_clusters

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


def cut_by_cut(X, **options):
    """What is chosen, and after how many cuts of the data, grid by grid."""
    calls = []
    found = suggested(X, callback=lambda done, _: calls.append(done), **options)
    return found, [n for n, after in zip(calls, [*calls[1:], 0], strict=True) if after <= n]


@pytest.mark.parametrize("columns", [0.0, 0.2])
def test_overlap_ends_all_doubt(columns):
    """Cuts do not agree on how many means there are: one shows what they are means of."""
    planted = {"row_overlap": 0.2, "column_overlap": columns}
    X, _, _ = make_coclusters((300, 150), 6, 4, **planted, random_state=1)
    both = {"row_overlap": "auto", "column_overlap": "auto"}
    found, cuts = cut_by_cut(X, **both)
    assert (found.best, found.rows.overlapping, cuts) == ((6, 4), 6, [1])
    assert found.complete
    assert found.is_clear
    assert sum(cut_by_cut(X)[1]) > 5


@pytest.mark.parametrize("noise", [0.5, 6.0])
def test_where_nothing_overlaps_doubt_and_growth_stay(noise):
    X, _, _ = make_coclusters((120, 60), 9, 4, noise=noise, random_state=0)
    (found, cuts), (apart, usual) = (
        cut_by_cut(X, row_overlap=overlap, column_overlap=overlap) for overlap in ("auto", 0.0)
    )
    assert cuts == usual
    assert sum(cuts) > 1
    assert found.best == apart.best
    np.testing.assert_array_equal(found.table, apart.table)


def test_numbers_to_choose_from_are_kept_to():
    X, _, _ = make_coclusters((200, 100), 4, 3, row_overlap=0.2, random_state=1)
    assert suggested(X, row_clusters=[5, 7, 9], row_overlap="auto").best[0] in (5, 7, 9)
    assert suggested(X, row_clusters=[4, 9], row_overlap="auto").best[0] == 4


@pytest.mark.parametrize("options", [{"objective": "poisson"}, {"missing": "ignore"}])
def test_counts_and_observed_cells_have_none(options):
    counts = np.random.default_rng(0).poisson(3.0, size=(40, 20))
    found = suggested(counts, row_overlap="auto", **options)
    assert found.best == suggested(counts, **options).best


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
    assert not found.complete
    assert found.rows.overlapping is None


def test_many_clusters_that_overlap_are_not_looked_for():
    rng = np.random.default_rng(0)
    X = 9.0 * np.repeat(rng.normal(size=(45, 12)), 8, axis=0) + rng.normal(size=(360, 12))
    found = suggested(X, row_clusters=[40, 45], column_clusters=[12], row_overlap="auto")
    assert found.rows.overlapping is None


def test_nothing_is_warned_of():
    X, _, _ = make_coclusters((60, 30), 3, 2, row_overlap=0.2, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        suggested(X, row_overlap="auto", column_overlap="auto")


def test_the_order_of_rows_does_not_matter():
    rng = np.random.default_rng(1)
    M, sets = 3.0 * rng.normal(size=(3, 4)), [[0], [1], [2], [0, 1], [1, 2], [0, 2]]
    U = np.zeros((3000, 3))
    for row in range(3000):
        members = sets[row % 6]
        U[row, members] = 1 / len(members)
    X = U @ M[:, rng.integers(4, size=40)] + 0.3 * rng.normal(size=(3000, 40))
    assert suggested(X, row_overlap="auto").rows.taken == 3


def test_published_criteria_say_that_they_know_no_auto():
    X, _, _ = make_coclusters((60, 30), 3, 2, row_overlap=0.2, random_state=0)
    ranked = suggested(
        X, row_clusters=[2, 3], column_clusters=[2], criteria="icl", row_overlap="auto"
    )
    assert any('overlap "auto" is none' in note for note in ranked.notes)
    # One side that is given does not decide for the other.
    both = {"overlap_model": "average", "row_overlap": "auto", "column_overlap": 0.1}
    assert suggested(X, **both).criteria == ("prediction",)


def test_overlap_that_is_not_looked_for_is_said():
    counts = np.random.default_rng(0).poisson(3.0, size=(40, 20))
    found = suggested(counts, objective="poisson", row_overlap=0.2)
    assert any("do not overlap" in note for note in found.notes)


@pytest.mark.parametrize(
    ("number", "wanted", "said"),
    [
        (6, None, "6 predict held-out cells best, but 1 of these is a mean of others: 5 overlap"),
        (1, 7, "7 tell clusters of columns apart, but 2 of these are means of others: 5 overlap"),
    ],
)
def test_reasons_read_well(number, wanted, said):
    X, _, _ = make_coclusters((60, 30), 3, 2, random_state=0)
    rows = suggested(X).rows
    side = replace(rows, number=number, wanted=wanted, overlapping=5)
    assert side.reason == said
    assert 5 in side.shown


def test_gradual_memberships_of_most_items_are_no_overlap():
    rng = np.random.default_rng(2)
    prototypes = 1.2 * rng.normal(size=(5, 30))
    pairs = np.array([rng.choice(5, 2, replace=False) for _ in range(400)])
    weight = rng.beta(4, 4, size=400)[:, None]
    means = weight * prototypes[pairs[:, 0]] + (1 - weight) * prototypes[pairs[:, 1]]
    X = means + rng.normal(size=means.shape)
    found = estimate_overlap_and_outliers(X, 5, n_other_clusters=10, random_state=0)
    assert found.overlap == 0.0
    assert "none, for rows in several clusters would gain too little each" in str(found)


def test_as_much_overlap_as_there_is_is_found():
    X, _, _ = make_coclusters((200, 100), 4, 3, row_overlap=0.9, random_state=1)
    found = estimate_overlap_and_outliers(X, 4, n_other_clusters=3, random_state=0)
    assert found.overlap == pytest.approx(0.9, abs=0.05)
