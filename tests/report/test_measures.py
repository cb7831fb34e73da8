"""Pages about counts and about observed cells: lifts and deviations, against their definitions."""

from __future__ import annotations

import re

import numpy as np
import pages
import pytest
from measures import COUNT_OBJECTIVES, counts, ratings
from scipy import sparse

from neocc import NEOCC
from neocc.plot._measure import LEVEL, LIFT, MEAN, OBSERVED, RESIDUAL
from neocc.report import render_report
from neocc.report._cells import associate, root_mean_squares
from neocc.report._explained import explained_share, trust
from neocc.report._facts import group_facts, outlier_facts
from neocc.report._result import read_result

NOUNS = ("users", "films")


def result_of(fit):
    return read_result(*fit, None, None, NOUNS)


def page_of(fit, **options):
    model, X = fit
    return pages.read(
        render_report(model, matrix=X, row_noun=NOUNS[0], column_noun=NOUNS[1], **options)
    )


def words(page):
    """All text of the page but its settings and its script."""
    return " ".join(tag.text for tag in page.all("section") if tag.attributes["id"] != "settings")


# --------------------------------------------------------------------------------------- counts


@pytest.mark.parametrize("objective", COUNT_OBJECTIVES)
def test_blocks_of_counts_are_told_by_lifts(objective):
    model, _ = fit = counts(objective)
    page = page_of(fit)
    found = [
        tag for tag in page.all("td") if re.fullmatch(r"t\d+", tag.attributes.get("class", ""))
    ]
    lifts = model.block_lifts_.ravel()
    assert [tag.text for tag in found] == [LIFT.figure(lift) for lift in lifts]
    assert [tag.attributes["title"] for tag in found] == [LIFT.in_words(lift) for lift in lifts]
    about = page.by_id("blocks").text
    assert f"{lifts.max():.2g} times as often as expected" in about
    is_common = objective == "diagonal"
    assert ("one lift in common" in about) == is_common
    assert ("The lowest is" in about) != is_common
    text = words(page)
    for wrong in ("squared", "distance", "mean of all groups", "explain 0", "% of"):
        assert wrong not in text, wrong
    assert "At 0 groups explain no more than independence of users and films" in text


def test_lifts_below_one_have_the_colours_below_the_middle():
    model, _ = fit = counts()
    found = [tag for tag in page_of(fit).all("td") if "title" in tag.attributes]
    levels = [int(tag.attributes["class"][1:]) for tag in found]
    lifts = np.log(model.block_lifts_.ravel())
    expected = 5 + 5 * lifts / np.abs(lifts).max()
    assert np.abs(np.array(levels) - expected).max() <= 0.5 + 1e-9


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_terms_of_groups_by_definition(kind):
    model, X = counts()
    side = result_of((model, kind(X))).rows
    N, prior = X.sum(), model.prior
    for cluster in range(3):
        members = np.flatnonzero(model.row_membership_[:, cluster])
        expected = []
        for t in range(X.shape[1]):
            O = sum(X[p, t] for p in members)  # noqa: E741
            E = sum(X[p].sum() * X[:, t].sum() / N for p in members)
            lift = (O + prior) / (E + prior)
            gain = (O + prior) * np.log(lift) - (O - E)
            if lift > 1:
                expected.append((-gain, t, lift))
        expected.sort()
        found = group_facts(side, cluster, 8, np.ones(3)).frequent
        assert [t for t, _ in found] == [t for _, t, _ in expected[:8]]
        assert [x for _, x in found] == pytest.approx([x for *_, x in expected[:8]])
        assert found


def test_terms_are_listed_with_their_lifts_on_both_sides():
    fit = counts()
    page = page_of(fit, column_names=[f"term {t}" for t in range(30)])
    result = result_of(fit)
    for key, side, name in (("rows", result.rows, "term"), ("columns", result.columns, "row")):
        for cluster in range(3):
            item, lift = group_facts(side, cluster, 1, np.ones(3)).frequent[0]
            at = item if key == "rows" else item + 1
            assert f"{name} {at} {LIFT.figure(lift)}" in page.by_id(f"{key}-{cluster + 1}").text
    assert "Films most beyond expectation, with lift" in page.by_id("groups-rows").text
    empty = associate(np.zeros((4, 3)), np.ones((4, 1), dtype=bool), 1.0)
    assert empty.strongest(0, 5) == ()


def test_a_part_of_the_rows_has_no_terms():
    model, X = counts()
    part = NEOCC(3, 3, objective="poisson")
    part.__dict__.update(model.__dict__)
    part.row_membership_ = model.row_membership_[:40]
    page = words(page_of((part, X[:40])))
    assert "beyond expectation" not in page
    assert "times as often as expected" in page


@pytest.mark.parametrize(("lift", "said"), [(1, "from chance"), (2.5, "a wrong group"), (9, "")])
def test_groups_of_few_counts_are_called_doubtful(lift, said):
    """Counts of two groups on each side; the rate of their own blocks is so many times as high."""
    rates = 0.2 * np.kron(np.array([[lift, 1], [1, lift]]), np.ones((40, 20)))
    X = np.random.default_rng(0).poisson(rates).astype(float)
    model = NEOCC(2, 2, objective="poisson", n_init=2, random_state=0).fit(X)
    found = trust(result_of((model, X)), binary=False)
    assert said in found
    assert bool(said) == bool(found)
    assert found in words(page_of((model, X)))
    # Fractions may have any unit.
    assert not trust(result_of((model.fit(X / 8), X / 8)), binary=False)


# ------------------------------------------------------------------------------ gains, outliers


@pytest.mark.parametrize("fit", [counts, ratings])
def test_outliers_gain_least_and_are_told_why(fit):
    model, X = fit()
    result = result_of((model, X))
    gains = -model.transform(X)
    alone = model.row_membership_.sum(axis=1) == 1
    for side in result.sides:
        assert side.gains
    if not result.rows.repeats:
        assert -result.rows.limit == gains[alone].max(axis=1).min()
    found = outlier_facts(result.rows, 9)
    assert {one.item for one in found} == set(np.flatnonzero(model.row_outliers_))
    assert [-one.distance for one in found] == sorted(gains[model.row_outliers_].max(axis=1))
    page = page_of((model, X))
    text = page.by_id("outliers").text
    assert f"explain little better than {result.background}" in text
    assert "nothing to gain" in text  # the row without anything
    for one in found:
        if one.distance < 0:
            assert f"gains {-one.distance:#.3g}" in text
        elif one.distance > 0:
            assert f"group {one.nearest + 1} by {one.distance:#.3g}, the least" in text
    assert "farther" not in text
    assert "Most typical, with gain" in page.by_id("groups-rows").text


def test_squares_over_observed_cells_are_no_distances():
    fit = ratings(outlier_cost="zero")
    assert result_of(fit).rows.distances is None
    assert "Members, the first in the data" in words(page_of(fit))


def test_costs_against_a_background_are_gains_too():
    X = np.random.default_rng(0).normal(size=(30, 12))
    model = NEOCC(
        2, 2, outlier_cost="background", row_outliers=0.1, row_overlap=-0.1, random_state=0
    ).fit(X)
    text = words(page_of((model, X)))
    assert "better than a level of zero" in text
    assert "distance" not in text
    assert explained_share(result_of((model, X))) is None


# ------------------------------------------------------------------------------- observed cells


def test_blocks_of_observed_cells_are_deviations_with_counts():
    model, X = fit = ratings()
    page = page_of(fit)
    U, V, seen = model.row_membership_, model.column_membership_, ~np.isnan(X)
    found = [
        tag for tag in page.all("td") if re.fullmatch(r"t\d+", tag.attributes.get("class", ""))
    ]
    for tag, (i, j) in zip(found, np.ndindex(3, 3), strict=True):
        mean = model.block_means_[i, j]
        inside = np.outer(U[:, i], V[:, j])
        side = "above" if mean > 0 else "below"
        assert tag.attributes["title"] == f"{abs(mean):.2g} {side} expectation"
        counted = f"{seen[inside].sum()} of {inside.sum()}"
        assert tag.text == f"{RESIDUAL.figure(mean)}{counted}".replace("-", "−")
        assert counted in page.by_id(f"rows-{i + 1}").text
        assert counted in page.by_id(f"columns-{j + 1}").text
    text = words(page)
    assert "blank where nothing was observed" in text
    for wrong in ("squared", "distance", "zero", "mean of all groups", "%", "Levels"):
        assert wrong not in text, wrong


@pytest.mark.parametrize("kind", [np.asarray, "csr"])
def test_the_picture_has_the_observed_cells_and_no_others(kind):
    model, X = ratings()
    given = X
    if kind == "csr":
        # A stored zero is observed.
        X = np.where(np.isclose(X, X[~np.isnan(X)].max()), 0.0, X)
        p, t = np.nonzero(~np.isnan(X))
        given = sparse.csr_array((X[p, t], (p, t)), shape=X.shape)
    data = page_of((model, given)).data
    order = [int(name.split()[1]) - 1 for name in data["rows"]["names"]]
    across = [int(name.split()[1]) - 1 for name in data["columns"]["names"]]
    found = pages.cells(data)[np.ix_(data["rows"]["at"], data["columns"]["at"])]
    np.testing.assert_allclose(found, X[np.ix_(order, across)], rtol=1e-4, atol=1e-6)


def test_errors_are_those_of_predictions():
    model, X = fit = ratings()
    seen = ~np.isnan(X)
    p, t = np.nonzero(seen)
    effects = model.overall_mean_ + model.row_effects_[p] + model.column_effects_[t]
    groups = model.predict_cells(p, t, clip=False)
    expected = [np.sqrt(np.mean(np.square(X[seen] - by))) for by in (groups, effects)]
    cells = result_of(fit).matrix.data
    assert root_mean_squares(model, cells, cells_at_once=7) == pytest.approx(expected)
    told = page_of(fit).by_id("convergence").text
    assert f"off by {expected[0]:.3g}" in told
    assert f"the effects of users and films alone it would be {expected[1]:.3g}" in told
    assert explained_share(result_of(fit)) is None


def test_a_block_without_observed_cells_is_said_to_be():
    nan = np.nan
    X = np.array([[5, 4, nan, nan], [4, 5, nan, nan], [nan, nan, 1, 2], [nan, nan, 2, 1]])
    members = np.repeat(np.eye(2, dtype=bool), 2, axis=0)
    model = NEOCC(2, 2, missing="ignore", init=(members, members), refine=False).fit(X)
    page = page_of((model, X))
    unseen = [tag.text for tag in page.all("td") if tag.text.startswith("not observed")]
    assert unseen == ["not observed0 of 4"] * 2
    side = result_of((model, X)).rows
    assert [one.other for one in group_facts(side, 0, 1, np.array([2, 2])).differences] == [0]


def test_without_effects_blocks_are_means_of_observed_cells():
    model, _ = fit = ratings(remove_effects=False)
    result = result_of(fit)
    assert result.measure is OBSERVED
    n = result.rows.cells.observed
    expected = (n * model.block_means_).sum(axis=0) / n.sum(axis=0)
    np.testing.assert_allclose(result.rows.overall, expected)
    assert "The level of the observed cells of every block" in words(page_of(fit))
    assert "kept near 0" in words(page_of(fit))
    assert "kept near 0" not in words(page_of(ratings(shrinkage=0.0)))
    blended = ratings(remove_effects=False, overlap_model="average", overlap=0.1)
    assert result_of(blended).measure is LEVEL


def test_measures_follow_the_fit():
    assert result_of(counts()).measure is LIFT
    assert result_of(ratings()).measure is RESIDUAL
    X = np.random.default_rng(0).normal(size=(20, 9))
    assert result_of((NEOCC(2, 2, n_init=1, random_state=0).fit(X), X)).measure is MEAN
    # Without a matrix there is less to say, and it is still right.
    for model, _ in (counts(), ratings()):
        page = pages.read(render_report(model))
        assert "expect" in page.by_id("blocks").text
        assert "distance" not in words(page)


def test_a_part_of_the_rows_of_ratings_is_described_by_its_own_cells():
    model, X = ratings()
    part = NEOCC(3, 3, missing="ignore", remove_effects=True)
    part.__dict__.update(model.__dict__)
    part.row_membership_ = model.row_membership_[:40]
    page = page_of((part, X[:40]))
    assert "root mean square" not in words(page)
    inside = np.outer(part.row_membership_[:, 0], model.column_membership_[:, 0])
    counted = f"{(~np.isnan(X[:40]))[inside].sum()} of {inside.sum()}"
    assert counted in page.by_id("blocks").text


@pytest.mark.filterwarnings("ignore::neocc.RedundancyWarning")
def test_what_is_advised_against_twins_makes_sense():
    assert result_of(counts()).can_average
    assert not result_of(counts("diagonal")).can_average
    assert result_of(ratings()).can_average
