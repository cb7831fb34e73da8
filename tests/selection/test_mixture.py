"""Overlap and outliers by comparison of explanations: planted ones, none where there are none."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from benchmarks.quality.overlap import SHAPES
from neocc import NEOCC
from neocc.core.objectives import OBJECTIVES
from neocc.datasets import make_coclusters
from neocc.selection import estimate_overlap_and_outliers, suggest_n_clusters
from neocc.selection._considered import Outliers, known_outliers, without_items
from neocc.selection._data import opened, read
from neocc.selection._mixture import Mixture, Sets, fitted
from neocc.selection._moves import is_noisy, searched
from neocc.selection._outlying import farthest, outlying
from neocc.selection._places import Place, starts_of
from neocc.selection._predict import Wanted, choose_numbers
from neocc.selection._sharing import shared
from neocc.selection._space import _coclustered, find_places, hull
from neocc.selection._together import Asked, estimate_sides

AUTO = dict.fromkeys(("row_overlap", "row_outliers", "column_overlap", "column_outliers"), "auto")
QUICK = {"overlap_model": "average", "n_init": 1, "refine": False, "random_state": 0}
CORNERS = np.array([[0.0, 0.0], [12.0, 0.0], [0.0, 12.0]])
MIDDLES = 0.5 * (CORNERS + np.roll(CORNERS, 1, axis=0))


def noisy(rng, prototypes, numbers, noise=1.0):
    """Items around prototypes, so many around each."""
    Z = np.repeat(prototypes, numbers, axis=0)
    return Z + noise * rng.normal(size=Z.shape)


# ---------------------------------------------------------------------------------- the space


def test_coordinates_and_distances_are_those_of_the_hull():
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(20, 7)) + 5.0, rng.normal(size=(4, 7)) + 5.0
    d = np.square(X[:, None] - Z).sum(axis=2)
    Y, points, outside = hull(d, Z @ Z.T)
    assert Y.shape == (20, 3)
    np.testing.assert_allclose(np.square(Y[:, None] - points).sum(axis=2) + outside[:, None], d)
    basis = np.linalg.qr((Z - Z.mean(axis=0)).T)[0][:, :3]
    centred = X - Z.mean(axis=0)
    expected = np.square(centred - centred @ basis @ basis.T).sum(axis=1)
    np.testing.assert_allclose(outside, expected)


# --------------------------------------------------------------------------------- the mixture


def test_a_step_of_em_never_lowers_the_likelihood():
    rng = np.random.default_rng(1)
    Z = 4.0 * rng.normal(size=(3, 2))
    Y = noisy(rng, np.vstack([Z, 0.5 * (Z[0] + Z[1])]), 40)
    mixture = Mixture.start(Sets.of(3, 3), Z + rng.normal(size=Z.shape), 9.0 * np.eye(2))
    steps = [mixture.step(Y)]
    for _ in range(30):
        steps.append(steps[-1].step(Y))
    likelihoods = [each.likelihood for each in steps]
    # The prior on the covariance takes a little.
    assert np.diff(likelihoods).min() > -1e-2
    assert likelihoods[-1] > likelihoods[0] + 10.0


def test_likelihood_is_the_literal_one():
    rng = np.random.default_rng(2)
    Y, Z = rng.normal(size=(5, 2)), CORNERS / 4.0
    sets = Sets.of(3, 2)
    mixture = Mixture.start(sets, Z, 2.0 * np.eye(2))
    total = 0.0
    for y in Y:
        parts = [0.75 / 3 * _density(y, z) for z in Z]
        parts += [0.25 / 3 * _density(y, 0.5 * (Z[i] + Z[j])) for i, j in ((0, 1), (0, 2), (1, 2))]
        total += np.log(sum(parts))
    assert mixture.step(Y).likelihood == pytest.approx(total)


def _density(y, z):
    return np.exp(-np.square(y - z).sum() / 4.0) / (4.0 * np.pi)


def test_clusters_may_have_covariances_of_their_own_and_sets_the_mean_of_these():
    rng = np.random.default_rng(2)
    Y, Z, variances = rng.normal(size=(5, 2)), CORNERS / 4.0, np.array([1.0, 2.0, 5.0])
    each = variances[:, None, None] * np.eye(2)
    total = 0.0
    for y in Y:
        parts = [0.75 / 3 * _round(y, z, v) for z, v in zip(Z, variances, strict=True)]
        for i, j in ((0, 1), (0, 2), (1, 2)):
            variance = (variances[i] + variances[j]) / 2
            parts.append(0.25 / 3 * _round(y, 0.5 * (Z[i] + Z[j]), variance))
        total += np.log(sum(parts))
    mixture = Mixture.start(Sets.of(3, 2), Z, each)
    assert mixture.step(Y).likelihood == pytest.approx(total)


def _round(y, z, variance):
    return np.exp(-np.square(y - z).sum() / 2.0 / variance) / (2.0 * np.pi * variance)


def test_a_step_with_covariances_of_clusters_never_lowers_the_likelihood():
    rng = np.random.default_rng(1)
    Z = 6.0 * rng.normal(size=(3, 2))
    Y = np.vstack([noisy(rng, Z[:1], 80), 3.0 * noisy(rng, Z[1:] / 3.0, 40)])
    steps = [Mixture.start(Sets.of(3, 2), Z, 4.0 * np.eye(2)).shaped.step(Y)]
    for _ in range(30):
        steps.append(steps[-1].step(Y))
    likelihoods = [each.likelihood for each in steps]
    # Priors on the covariances, and prototypes as if these were equal, take a little.
    assert np.diff(likelihoods).min() > -0.1
    assert likelihoods[-1] > likelihoods[0] + 10.0
    spread = np.sqrt(np.linalg.det(steps[-1].covariance))
    assert spread[1] / spread[0] == pytest.approx(9.0, rel=0.3)


def seen(Y, prototypes):
    """Items in the plane, as if seen from given prototypes in a space of 50 dimensions."""
    rng = np.random.default_rng(9)
    outside = rng.chisquare(48, size=len(Y))
    sizes = np.full(len(prototypes), len(Y) / len(prototypes))
    return Place(Y, prototypes, sizes, outside, outside, 48, farthest(outside, 0.0), None)


def found_in(Y, prototypes, k):
    found = shared(seen(Y, prototypes), k, 4, np.random.default_rng(0))
    return found, found.members.sum() / len(Y) - 1.0


@pytest.mark.parametrize("share", [0.0, 0.1, 0.3])
def test_means_of_two_are_counted(share):
    rng = np.random.default_rng(3)
    n = round(share * 100)
    Y = noisy(rng, np.vstack([CORNERS, MIDDLES]), [100 - n] * 3 + [n] * 3)
    found, overlap = found_in(Y, np.vstack([CORNERS, MIDDLES]), 3)
    assert overlap == pytest.approx(share, abs=0.02)
    assert found.is_shared == (share > 0)
    if share:
        assert found.members[-1].sum() == 2
        assert found.path[0, found.path[1].argmax()] == pytest.approx(share, abs=0.03)


@pytest.mark.parametrize("share", [0.0, 0.2])
def test_means_of_two_are_counted_beside_clusters_of_different_shape(share):
    """As in sparse data, where the zeros make items vary more the farther they are from zero."""
    rng = np.random.default_rng(3)
    n, points = round(share * 200), np.vstack([CORNERS, MIDDLES])
    widths = [0.5, 1.0, 2.0, 0.8, 1.2, 1.6]
    sizes = [200 - n] * 3 + [n] * 3
    parts = zip(points, widths, sizes, strict=True)
    Y = np.vstack([width * noisy(rng, z[None] / width, size) for z, width, size in parts])
    found, overlap = found_in(Y, points, 3)
    assert found.is_shared == (share > 0)
    assert overlap == pytest.approx(share, abs=0.03)


def test_the_count_is_right_where_items_cannot_be_told_apart():
    rng = np.random.default_rng(4)
    Y = noisy(rng, np.vstack([CORNERS, MIDDLES]), [560] * 3 + [140] * 3, noise=2.2)
    found, overlap = found_in(Y, np.vstack([CORNERS, MIDDLES]), 3)
    assert found.is_shared
    assert overlap == pytest.approx(0.2, abs=0.05)


def test_a_cluster_halfway_between_others_is_no_overlap():
    rng = np.random.default_rng(5)
    prototypes = np.vstack([CORNERS, MIDDLES[:1]])
    Y = noisy(rng, prototypes, 80)
    for extra in (np.zeros((0, 2)), MIDDLES[1:]):
        found, overlap = found_in(Y, np.vstack([prototypes, extra]), 4)
        assert not found.is_shared
        assert overlap == 0.0
    Y = np.vstack([Y, noisy(rng, MIDDLES[1:], 16)])
    found, overlap = found_in(Y, np.vstack([prototypes, MIDDLES[1:]]), 4)
    assert overlap == pytest.approx(32 / 352, abs=0.04)


def test_items_all_along_the_way_are_no_overlap():
    rng = np.random.default_rng(6)
    ways = rng.random((90, 1))
    between = CORNERS[0] + ways * (CORNERS[1] - CORNERS[0])
    Y = np.vstack([noisy(rng, CORNERS, 100), between + rng.normal(size=between.shape)])
    found, overlap = found_in(Y, np.vstack([CORNERS, MIDDLES]), 3)
    assert overlap == 0.0
    assert max(found.references, key=found.references.get) != "disjoint"


def test_long_clusters_are_no_overlap():
    rng = np.random.default_rng(7)
    Y = noisy(rng, CORNERS, 150)
    towards = CORNERS[1] - CORNERS[0]
    Y[:150] += 3.0 * rng.normal(size=(150, 1)) * towards / np.linalg.norm(towards)
    found, overlap = found_in(Y, np.vstack([CORNERS, MIDDLES]), 3)
    assert overlap == 0.0
    assert max(found.references, key=found.references.get) == "clusters of any shape"


def test_where_nobody_lies_between_clusters_nothing_else_is_compared():
    found, overlap = found_in(noisy(np.random.default_rng(3), CORNERS, 150), CORNERS, 3)
    assert (overlap, found.references, found.is_shared) == (0.0, {"disjoint": 0.0}, False)
    assert found.gain == pytest.approx(-0.5 * np.log(450), abs=0.01)


def test_too_few_items_and_too_many_clusters_are_not_judged():
    rng = np.random.default_rng(8)
    found, overlap = found_in(noisy(rng, CORNERS, 4), CORNERS, 3)
    assert (overlap, found.references) == (0.0, {})
    assert Sets.of(70, 2) is None


def test_larger_sets_are_left_out_where_there_are_too_many():
    assert Sets.of(4, 4).most == 4
    assert Sets.of(30, 4).most == 2
    mixture = Mixture.start(Sets.of(2, 4), CORNERS[:2], np.eye(2))
    assert len(fitted(noisy(np.random.default_rng(0), CORNERS[:2], 20), mixture).shares) == 2


def test_items_vary_as_much_as_they_do_where_prototypes_differ():
    rng = np.random.default_rng(12)
    Z = np.array([[0.0, 0.0], [20.0, 0.0]])
    Y = np.repeat(Z, 300, axis=0) + rng.normal(size=(600, 2)) * [1.0, 5.0]
    singles = Sets(np.eye(2), np.ones(2, dtype=np.intp))
    found = fitted(Y, Mixture.start(singles, Z, np.eye(2)))
    assert found.variance == pytest.approx(1.0, rel=0.15)


def test_a_prototype_moves_from_where_there_are_two_to_where_there_is_none():
    rng = np.random.default_rng(13)
    Z = np.array([[0.0, 0.0], [12.0, 0.0], [0.0, 200.0], [200.0, 0.0]])
    Y = noisy(rng, Z, 60)
    place = seen(Y, Z)
    stuck = np.concatenate([Z[2:] + 0.5, [Z[3], Z[:2].mean(axis=0)]])
    sets = Sets(np.eye(4), np.ones(4, dtype=np.intp))
    before = fitted(Y, place.mixture(sets, stuck, 1.0))
    assert is_noisy(place, before)
    after = searched(place, Y, Y, sets, [stuck], np.random.default_rng(0))
    assert after.variance == pytest.approx(1.0, rel=0.2)
    assert np.sqrt(np.square(after.prototypes[:, None] - Z).sum(axis=2)).min(axis=0).max() < 1.0


@pytest.mark.parametrize("seed", range(3))
def test_prototypes_may_begin_where_none_was_found(seed):
    """Two clusters have one prototype; items far from each other are in all of them."""
    rng = np.random.default_rng(seed)
    Z = 12.0 * rng.normal(size=(8, 5))
    place = seen(noisy(rng, Z, 40), np.concatenate([Z[:6], [Z[6:].mean(axis=0)], Z[:3] + 0.1]))
    starts = starts_of(place, 8, rng, n_random=4)[-4:]
    apart = [np.square(each[:, None] - Z).sum(axis=2).argmin(axis=1) for each in starts]
    assert max(len(np.unique(each)) for each in apart) == 8


def planted_rows(place, overlap, noise, seed, outliers=(0.0, True)):
    """What is estimated of the rows of a data set of docs/quality.md."""
    X, _, _ = SHAPES[place].make(overlap, noise, outliers, seed)
    asked = Asked(SHAPES[place].k), Asked(SHAPES[place].l)
    with opened(read(X), 1) as engine:
        return estimate_sides(engine, OBJECTIVES["mean"], asked, np.random.default_rng(seed))[
            "rows"
        ]


def test_sets_of_many_clusters_must_gain_more_than_chance_does():
    """The mean of all four clusters is near that of two of them."""
    found = planted_rows(0, 0.4, 2.0, 31_060)
    assert found.overlap == pytest.approx(0.4, abs=0.02)
    assert found.item_pairs.max() == 2


@pytest.mark.parametrize(("overlap", "noise", "seed"), [(0.0, 0.5, 5705), (0.1, 1.0, 5220)])
def test_clusters_that_have_one_prototype_are_no_overlap(overlap, noise, seed):
    found = planted_rows(4, overlap, noise, seed)
    assert found.overlap == pytest.approx(overlap, abs=0.01)


def test_few_rows_are_seen_through_the_clusters_of_many_columns():
    """More clusters of columns than there are follow the noise of single rows."""
    assert planted_rows(3, 0.4, 1.0, 200_350).overlap == pytest.approx(0.4, abs=0.01)


def test_a_further_cluster_at_the_mean_of_two_would_be_by_chance():
    assert planted_rows(3, 0.1, 0.5, 210_215).overlap == pytest.approx(0.1, abs=0.01)


def test_overlap_may_gain_little_for_each_row_where_noise_is_even():
    found = planted_rows(0, 0.4, 2.0, 212_260, (0.05, True))
    assert found.overlap + found.outliers == pytest.approx(0.4, abs=0.05)


# --------------------------------------------------------------------------------- the outliers


@pytest.mark.parametrize(
    ("place", "overlap", "noise", "seed", "share"),
    [
        pytest.param(3, 0.1, 0.5, 210_715, 0.1, id="the middle of few prototypes varies, too"),
        pytest.param(0, 0.0, 2.0, 230_520, 0.05, id="outliers raise the median of distances"),
    ],
)
def test_scrambled_rows_are_found(place, overlap, noise, seed, share):
    found = planted_rows(place, overlap, noise, seed, (share, False))
    assert found.outliers == pytest.approx(share, abs=0.02)
    assert found.overlap + found.outliers == pytest.approx(overlap, abs=0.02)


@pytest.mark.parametrize("share", [0.0, 0.02, 0.1])
def test_outliers_of_pure_noise(share):
    rng = np.random.default_rng(10)
    left = rng.chisquare(100, size=500)
    n = round(share * 500)
    left[:n] *= 2.5
    found = outlying(left, 100)
    assert found.items.mean() == pytest.approx(share, abs=0.005)
    assert ((left > found.threshold**2) == found.items).all()


def test_heavy_tails_are_no_outliers_but_a_gap_is():
    rng = np.random.default_rng(11)
    left = np.exp(0.8 * rng.standard_t(3, size=400))
    assert not outlying(left, 100).items.any()
    assert not outlying(left, 5).items.any()
    left = np.exp(0.3 * rng.normal(size=400))
    left[:20] *= 1e4
    assert np.flatnonzero(outlying(left, 100).items).tolist() == list(range(20))
    strays = np.arange(400) >= 10
    assert np.flatnonzero(outlying(left, 100, strays).items).tolist() == list(range(10, 20))


@pytest.mark.parametrize("n_outliers", [0, 150])
def test_outliers_that_are_hardly_farther_than_others_are_counted(n_outliers):
    """A fifth of them are no farther than three widths, as some of the others are."""
    rng = np.random.default_rng(4)
    left = rng.chisquare(44, size=1500)
    left[:n_outliers] *= 1.9
    assert outlying(left, 44).items.sum() == pytest.approx(n_outliers, abs=0.01 * len(left))


def test_of_many_values_next_to_nothing_makes_no_outliers():
    """Noise of 1500 values varies by 4 %: a tenth more is seen, and is no outlier."""
    rng = np.random.default_rng(14)
    left = rng.chisquare(1500, size=60).astype(float)
    left[:6] *= 1.15
    assert not outlying(left, 1500).items.any()
    left[:6] *= 1.5 / 1.15
    assert np.flatnonzero(outlying(left, 1500).items).tolist() == list(range(6))


def test_given_outliers_are_the_farthest():
    left = np.array([1.0, 5.0, 2.0, 4.0, 3.0])
    assert np.flatnonzero(farthest(left, 0.4).items).tolist() == [1, 3]
    assert not farthest(left, 0.0).items.any()
    assert not outlying(np.zeros(9), 4).items.any()


# ------------------------------------------------------------------------------------- together


@pytest.mark.parametrize(("overlap", "outliers"), [(0.0, 0.0), (0.0, 0.08), (0.2, 0.08)])
def test_planted_overlap_and_outliers_of_both_sides(overlap, outliers):
    planted = {"row_overlap": overlap - outliers, "row_outliers": outliers}
    planted |= {"column_overlap": overlap / 2}
    X, _, _ = make_coclusters((150, 60), 3, 3, **planted, random_state=1)
    model = NEOCC(3, 3, **QUICK, **AUTO).fit(X)
    assert model.row_estimate_.overlap == pytest.approx(overlap - outliers, abs=0.02)
    assert model.row_estimate_.outliers == pytest.approx(outliers, abs=0.01)
    assert model.column_estimate_.overlap == pytest.approx(overlap / 2, abs=0.02)
    assert model.column_estimate_.outliers == 0.0
    if overlap == 0:
        assert model.row_estimate_.overlap == -model.row_estimate_.outliers
    for side in ("row", "column"):
        estimate, members = (getattr(model, f"{side}_{x}") for x in ("estimate_", "membership_"))
        assert members.sum() == estimate.n_pairs


@pytest.mark.parametrize(("axis", "n_other_clusters"), [("rows", None), ("columns", 3)])
def test_one_side_alone(axis, n_other_clusters):
    X, U, _ = make_coclusters((160, 40), 3, 3, row_overlap=0.15, row_outliers=0.05, random_state=2)
    X = X if axis == "rows" else X.T
    options = {"axis": axis, "n_other_clusters": n_other_clusters, "n_init": 1, "random_state": 0}
    found = estimate_overlap_and_outliers(X, 3, **options)
    assert (found.overlap, found.outliers) == pytest.approx((0.15, 0.05), abs=0.01)
    assert (found.item_pairs == U.sum(axis=1)).mean() > 0.98
    same = estimate_overlap_and_outliers(sparse.csr_array(X), 3, **options)
    assert (same.item_pairs == found.item_pairs).all()
    text = str(found)
    for words in ("overlap 0.15, outliers 0.05", "160 " + axis, "one more cluster", "gradual"):
        assert words in text
    assert max(map(len, text.splitlines())) <= 100


def test_what_is_given_stays():
    X, _, _ = make_coclusters((150, 80), 3, 3, row_overlap=0.2, row_outliers=0.1, random_state=3)
    model = NEOCC(3, 3, **QUICK, row_overlap="auto", column_overlap=0.05).fit(X)
    assert model.column_estimate_ is None
    assert model.column_membership_.sum() == 84
    assert model.row_estimate_.outliers == 0.0
    model = NEOCC(3, 3, **QUICK, row_overlap=0.1, row_outliers="auto").fit(X)
    assert model.row_membership_.sum() == 165
    assert model.row_estimate_.outliers == pytest.approx(0.1, abs=0.01)
    model = NEOCC(3, 3, **QUICK, row_overlap="auto", row_outliers=0.1).fit(X)
    assert model.row_estimate_.overlap == pytest.approx(0.2, abs=0.02)
    model = NEOCC(3, 3, **QUICK, max_memberships=1, row_overlap="auto", row_outliers="auto").fit(X)
    assert model.row_membership_.sum(axis=1).max() == 1
    assert Asked(3, overlap=0.0).is_open


@pytest.mark.parametrize("standardised", [True, False])
def test_wine_has_no_overlap(standardised):
    X = load_wine().data
    model = NEOCC(3, 3, **QUICK, **AUTO).fit(scale(X) if standardised else X)
    assert (model.row_estimate_.overlap, model.column_estimate_.overlap) == (0.0, 0.0)
    assert model.row_outliers_.sum() == 0


def test_an_interrupt_ends_the_estimate_but_not_the_fit(monkeypatch):
    def estimate(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("neocc.estimators._fractions.estimate_sides", estimate)
    with pytest.warns(UserWarning, match=r'\(interrupted\): "auto" means none for row_overlap'):
        model = NEOCC(2, 2, **QUICK, row_overlap="auto").fit(np.kron(np.eye(2), np.ones((3, 3))))
    assert model.row_estimate_ is None
    assert model.row_membership_.sum() == 6


def test_residues_overlap_too():
    planted = {"row_overlap": 0.2, "effects": 3.0, "noise": 0.5}
    X, _, _ = make_coclusters((200, 60), 3, 2, **planted, random_state=0)
    options = {**QUICK, "objective": "residue", "n_init": 3}
    model = NEOCC(3, 2, **options, row_overlap="auto").fit(X)
    assert model.row_estimate_.overlap == pytest.approx(0.2, abs=0.05)


def test_degenerate_data_have_none():
    for X in (np.ones((6, 4)), np.eye(5), np.zeros((1, 3)), np.arange(12.0).reshape(12, 1)):
        model = NEOCC(1 if len(X) == 1 else 2, 1, **QUICK, **AUTO).fit(X)
        assert model.row_estimate_.overlap == -model.row_estimate_.outliers


def test_groups_that_were_left_out_are_no_outliers():
    """Eight groups seen through the clusters of two: the smallest are far from all, but groups."""
    rng = np.random.default_rng(0)
    means = 3.0 * rng.normal(size=(8, 4))
    labels = rng.choice(8, 300, p=[0.3, 0.3, 0.1, 0.08, 0.07, 0.05, 0.05, 0.05])
    X = means[labels][:, np.arange(60) % 4] + rng.normal(size=(300, 60))
    with opened(read(X), 1) as engine:
        rng = np.random.default_rng(0)
        found = estimate_sides(engine, OBJECTIVES["mean"], (Asked(2), Asked(3)), rng)
    assert found["rows"].outliers == 0.0


def test_scrambled_rows_ask_for_no_group_of_their_own():
    X, _, _ = make_coclusters((400, 80), 4, 3, noise=0.5, random_state=0)
    X[:20] = np.random.default_rng(0).permuted(X[:20], axis=1)
    model = NEOCC(random_state=0, **AUTO).fit(X)
    assert model.numbers_choice_.best == (4, 3)
    assert model.numbers_choice_.is_clear
    assert model.numbers_choice_.notes == (
        "numbers were chosen without 20 rows that look like outliers.",
    )
    np.testing.assert_array_equal(np.flatnonzero(model.row_outliers_), np.arange(20))


def test_more_groups_than_rows_that_are_no_outliers_can_be_given():
    X = np.random.default_rng(0).normal(size=(12, 30))
    X[:2] *= 100.0
    model = NEOCC(11, "auto", **QUICK, row_outliers="auto").fit(X)
    assert model.row_membership_.shape == (12, 11)
    assert np.count_nonzero(model.row_outliers_) == 2


@pytest.mark.parametrize("n_left", [1, 2])
def test_numbers_are_chosen_where_nearly_all_columns_are_outliers(n_left, monkeypatch):
    X, _, _ = make_coclusters((60, 6), 3, 2, noise=0.1, random_state=0)
    found = [Outliers(0.0, np.empty(0, int)), Outliers(1 - n_left / 6, np.arange(n_left, 6))]
    monkeypatch.setattr("neocc.selection._predict.known_outliers", lambda *_: found)
    wanted = Wanted(OBJECTIVES["mean"], outliers=(None, None))
    with opened(read(X), 1) as engine:
        known = wanted.known(engine, np.random.default_rng(0))
    assert without_items(read(X), known).shape == (60, 6 if n_left == 1 else 2)
    numbers = choose_numbers(read(X), wanted, np.random.default_rng(0), 1)
    assert numbers.best[0] > 1


def test_outliers_of_many_rows_are_left_out_by_their_share():
    """A sample tells how many there may be, not which: fits have to leave them out."""
    X, _, _ = make_coclusters((300, 60), 3, 3, row_overlap=-0.1, row_outliers=0.1, random_state=0)
    wanted = Wanted(OBJECTIVES["mean"], outliers=(None, 0.0))
    with opened(read(X), 1) as engine:
        known = known_outliers(engine, wanted.outliers, np.random.default_rng(0), n_some=150)
    problem = wanted.problem(X.shape, known)
    assert 30 <= problem.rows.max_outliers < 60
    assert problem.columns.max_outliers == 0
    (note,) = wanted.said(known)
    share = re.search(r"without (.*)% of the rows that look like outliers", note)
    assert problem.rows.max_outliers == round(3 * float(share[1]))


def test_outliers_that_are_given_are_left_out_without_a_word():
    X, _, _ = make_coclusters((200, 60), 3, 3, row_overlap=-0.1, row_outliers=0.1, random_state=0)
    found = suggest_n_clusters(X, row_outliers=0.1, random_state=0)
    assert (found.best, found.notes) == ((3, 3), ())


def test_rows_that_follow_no_cluster_are_found_where_overlap_is_given():
    """Most of them are no farther away than others are."""
    X, _, _ = make_coclusters((400, 80), 4, 3, noise=0.5, random_state=0)
    X[:20] = np.random.default_rng(0).permuted(X[:20], axis=1)
    with opened(read(X), 1) as engine:
        rng, asked = np.random.default_rng(0), (Asked(8, 0.0), Asked(8, 0.0))
        found = estimate_sides(engine, OBJECTIVES["mean"], asked, rng)
    np.testing.assert_array_equal(np.flatnonzero(found["rows"].item_pairs == 0), np.arange(20))
    assert found["columns"].outliers == 0.0


def test_rows_that_follow_no_cluster_vary_as_the_table_does():
    """Not as one of its clusters, the more of which there are."""
    assert planted_rows(0, 0.1, 2.0, 5130, (0.1, False)).outliers == pytest.approx(0.1, abs=0.02)


def test_places_of_many_rows_are_found_from_some():
    X, U, _ = make_coclusters((300, 60), 3, 3, row_overlap=-0.1, row_outliers=0.1, random_state=0)
    mean, asked = OBJECTIVES["mean"], (Asked(3, 0.0), Asked(3, 0.0, 0.0))
    with opened(read(X), 1) as engine:
        for many in (300, 40, 150):
            rng, again = np.random.default_rng(0), np.random.default_rng(0)
            members = _coclustered(engine, mean, asked, rng, 4, many)[1][0]
            assert 0.8 * many <= np.count_nonzero(~members.outliers) <= many
            # No cluster has rows of two, besides those that are in none.
            together = U[~members.outliers].T @ members.dense[~members.outliers]
            assert np.count_nonzero(together, axis=0).max() == 1
            rows = find_places(engine, mean, asked, again, 4, many=many)["rows"]
            np.testing.assert_array_equal(rows.outlying.items, ~U.any(axis=1))


def test_what_outliers_leave_free_is_no_overlap():
    X, _, _ = make_coclusters((100, 60), 3, 3, row_overlap=-0.05, row_outliers=0.05, random_state=0)
    model = NEOCC(3, 3, row_outliers="auto", random_state=0).fit(X)
    assert model.row_outliers_.sum() == 5
    assert model.row_membership_.sum(axis=1).max() == 1


def test_the_estimate_is_that_of_the_estimator():
    X, _, _ = make_coclusters((100, 60), 3, 3, row_overlap=0.1, column_overlap=0.1, random_state=0)
    model = NEOCC(3, 3, random_state=0, refine=False, n_init=1, **AUTO).fit(X)
    for axis, estimate in (("rows", model.row_estimate_), ("columns", model.column_estimate_)):
        found = estimate_overlap_and_outliers(X, 3, axis=axis, n_other_clusters=3, random_state=0)
        assert (found.overlap, found.outliers) == (estimate.overlap, estimate.outliers)
