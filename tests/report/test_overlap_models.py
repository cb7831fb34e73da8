"""The page by overlap model: what it means, what it explains, and who is said to be far."""

from __future__ import annotations

from copy import copy

import numpy as np
import oracle
import pages
import pytest
from models import make_model
from scipy import sparse

from neocc import NEOCC, objective_value, plot
from neocc.core.objectives.virtual import lines_of
from neocc.datasets import make_coclusters
from neocc.estimators._fitted import weigh
from neocc.report import render_report
from neocc.report._explained import (
    by_models,
    explained_share,
    shares_by_model,
    squares_about_mean,
)
from neocc.report._facts import outlier_facts
from neocc.report._result import read_result

SETTINGS = {"row_overlap": 0.2, "row_outliers": 0.1, "column_overlap": 0.1}


def data(kind=np.asarray, seed=3):
    X, _, _ = make_coclusters((40, 20), 3, 3, **SETTINGS, noise=0.5, random_state=seed)
    return kind(np.where(np.abs(X) < 0.4, 0.0, X))


def fit(X, name, objective="mean", **options):
    model = make_model("NEOCC mean overlap", overlap_model=name, objective=objective, **options)
    disjoint = {"column_overlap": 0.0} if name == "either" else {}
    return model.set_params(**{**SETTINGS, **disjoint}, column_outliers=0.0).fit(X)


def literal_squares(X, U, V, *, counts):
    """Squares about the mean of all covered cells, each as often as it counts."""
    weights = np.outer(U.sum(axis=1), V.sum(axis=1)).astype(float)
    if not counts:
        weights = (weights > 0).astype(float)
    mean = (weights * X).sum() / weights.sum()
    return (weights * (X - mean) ** 2).sum()


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("objective", ["mean", "residue"])
@pytest.mark.parametrize("name", [*oracle.OVERLAP_MODELS, "either"])
def test_what_is_explained_is_the_literal_formula(name, objective, kind):
    if (objective, name) in (("residue", "sum"), ("residue", "either")):
        return
    X = data(kind)
    model = fit(X, name, objective)
    result = read_result(model, X, None, None, ("genes", "conditions"))
    U, V = model.row_membership_, model.column_membership_
    if name == "either":
        J = oracle.followed_objective(data(), model.followed_, V, U.shape[1])
    else:
        J = oracle.overlap_objective(data(), U, V, objective, name)
    expected = 1 - J / literal_squares(data(), U, V, counts=name == "repeat")
    assert 0.3 < expected < 1
    assert explained_share(result) == pytest.approx(expected, abs=1e-9)
    page = pages.read(render_report(model, matrix=X, row_noun="genes"))
    note = next(t for t in page.all("p") if t.text.startswith(f"Overlap model {name}: "))
    assert f"explain {expected:.1%} of the squared differences" in note.text
    assert "over genes and columns in any group" in note.text
    assert "may be in more than" not in note.text  # of three groups, 4 are no limit
    assert ("as often as it is in a block" in note.text) == (name == "repeat")
    assert ("offsets of rows and columns" in note.text) == (objective == "residue")


def test_the_largest_number_of_groups_is_named_where_it_is_a_limit():
    X = data()
    model = fit(X, "average", max_memberships=2)
    assert model.row_membership_.sum(axis=1).max() == 2
    page = pages.read(render_report(model, matrix=X, row_noun="genes"))
    note = next(t for t in page.all("p") if t.text.startswith("Overlap model average: "))
    assert "; none of the genes or columns may be in more than 2 groups. " in note.text


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("name", oracle.OVERLAP_MODELS)
def test_centres_are_compared_with_the_mean_row(name, kind):
    X = data(kind)
    model = make_model("NEOKMeans overlap", overlap_model=name).fit(X)
    U = model.membership_
    counts = U.sum(axis=1) if name == "repeat" else U.any(axis=1).astype(int)
    rows = np.repeat(data(), counts, axis=0)
    squares = np.square(rows - rows.mean(axis=0)).sum()
    expected = 1 - oracle.overlap_objective(data(), U, None, "kmeans", name) / squares
    found = explained_share(read_result(model, X, None, None, ("rows", "columns")))
    assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("name", ["repeat", "average", "either"])
def test_the_same_memberships_are_read_under_other_models(name):
    X = data()
    model = fit(X, name)
    U, V = model.row_membership_, model.column_membership_
    result = read_result(model, X, None, None, ("rows", "columns"))
    shares = shares_by_model(result)
    comparable = ["average", "sum", *(["either"] if name == "either" else [])]  # disjoint columns
    assert list(shares) == [name, *(each for each in comparable if each != name)]
    assert shares.pop(name) == explained_share(result)
    for other, share in shares.items():
        J = oracle.overlap_objective(X, U, V, "mean", other)
        expected = 1 - J / literal_squares(X, U, V, counts=False)
        assert share == pytest.approx(expected, abs=1e-9)
        assert f"{share:.1%} ({other})" in by_models(result)
    assert ("counts once" in by_models(result)) == (name == "repeat")
    assert by_models(result) in render_report(model, matrix=X)


def test_nothing_to_compare_with_is_not_compared():
    X = data()
    disjoint = NEOCC(3, 3, random_state=0, n_init=1).fit(X)
    for model in (fit(X, "average", "residue"), disjoint, make_model("NEOKMeans overlap").fit(X)):
        assert by_models(read_result(model, X, None, None, ("rows", "columns"))) == ""


def test_weighted_rows_count_as_often_under_every_model():
    X, weights = data(), np.arange(1.0, 41.0)
    asked = {"row_overlap": 0.2, "random_state": 0, "n_init": 1}
    model = NEOCC(3, 3, overlap_model="average", **asked).fit(X, row_weight=weights)
    shares = shares_by_model(read_result(model, X, None, None, ("rows", "columns")))
    U, V = model.row_membership_, model.column_membership_
    squares = squares_about_mean(X, weights, np.ones(20))
    for name in ("sum", "either"):
        J = objective_value(X, U, V, overlap_model=name, row_weight=weights)
        assert shares[name] == pytest.approx(1 - J / squares)


def test_squares_in_parts_and_of_nothing():
    X = data()
    rows, columns = np.arange(40.0), np.ones(20)
    whole = squares_about_mean(X, rows, columns)
    assert squares_about_mean(X, rows, columns, cells_at_once=50) == pytest.approx(whole)
    assert squares_about_mean(X + 1e6, rows, columns) == pytest.approx(whole, rel=1e-6)
    assert squares_about_mean(X, np.zeros(40), columns) == 0.0
    assert squares_about_mean(X, rows, np.zeros(20)) == 0.0


def test_a_cell_is_explained_by_all_clusters_of_its_row_and_column():
    U = np.array([[1, 0], [1, 1], [0, 0]], dtype=bool)
    V = np.array([[1, 0], [0, 1], [1, 1]], dtype=bool)
    M = np.array([[1.0, 2.0], [5.0, 10.0]])
    expected = {
        "average": [[1, 2, 1.5], [3, 6, 4.5], [0, 0, 0]],
        "sum": [[1, 2, 3], [6, 12, 18], [0, 0, 0]],
    }
    for name, table in expected.items():
        model = fit(data(), name)
        found = lines_of(M, weigh(model, U)) @ weigh(model, V).shares.T
        assert np.array_equal(found, table)
    model.followed_ = np.array([[0, 0], [1, 0], [-1, -1]], dtype=np.int32)
    V[2, 1] = False
    found = lines_of(M, weigh(model, U)) @ weigh(model, V).shares.T
    assert np.array_equal(found, [[1, 2, 1], [5, 2, 5], [0, 0, 0]])


@pytest.mark.parametrize("name", ["share", "average", "sum"])
def test_nobody_outside_is_nearer_than_the_limit(name):
    n_seen = 0
    for seed in range(5):
        X = data(seed=seed)
        model = fit(X, name, refine=True, n_init=1)
        result = read_result(model, X, None, None, ("rows", "columns"))
        alone = model.row_membership_.sum(axis=1) == 1
        assert result.rows.limit == model.transform(X)[alone].min(axis=1).max()
        for one in outlier_facts(result.rows, 100):
            assert one.distance >= result.rows.limit * (1 - 1e-9)
            n_seen += 1
    assert n_seen >= 5


def test_the_page_speaks_of_levels_where_members_are_combinations():
    X = data()
    average, repeat = fit(X, "average"), fit(X, "repeat")
    assert "The level of every block" in render_report(average, matrix=X)
    assert "a member of this group alone adds" in render_report(average, matrix=X)
    assert "no member of one group alone is farther" in render_report(average, matrix=X)
    assert "The mean of every block" in render_report(repeat, matrix=X)
    assert "a membership adds" in render_report(repeat, matrix=X)
    disjoint = NEOCC(3, 3, overlap_model="average", random_state=0, n_init=1).fit(X)
    page = render_report(disjoint, matrix=X)
    assert "The mean of every block" in page
    assert "Overlap model" not in page
    assert "explain " in pages.read(page).by_id("convergence").text
    assert plot.blocks(average).get_title(loc="left").startswith("Block levels: highest")
    assert plot.blocks(repeat).get_title(loc="left").startswith("Block means: highest")


def test_members_of_two_groups_are_listed_with_both_and_the_settings_name_the_model():
    X = data()
    model = fit(X, "average", max_memberships=2)
    page = pages.read(render_report(model, matrix=X, row_names=[f"gene {i}" for i in range(40)]))
    listed = page.by_id("overlaps").text
    for row in np.flatnonzero(model.row_membership_.sum(axis=1) == 2)[:3]:
        one, other = np.flatnonzero(model.row_membership_[row]) + 1
        assert f"groups {one} and {other}" in listed
    settings = page.by_id("settings").text
    assert "overlap_modelaverage" in settings
    assert "max_memberships2" in settings


def test_a_page_of_some_rows_says_nothing_of_what_all_explain():
    X = data()
    model = fit(X, "average")
    part = copy(model)
    part.row_membership_ = model.row_membership_[:30]
    part.row_outliers_ = model.row_outliers_[:30]
    page = render_report(part, matrix=X[:30])
    assert "Overlap model" in page
    assert "explain " not in page.replace("also explain", "")
    assert "explain " not in render_report(model).replace("also explain", "")
