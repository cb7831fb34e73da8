"""Clusters that nearly coincide are noticed: table by definition, warning by its words."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from instances import any_membership
from sklearn.exceptions import NotFittedError

import neocc
from neocc import NEOCC, NEOKMeans, RedundancyWarning
from neocc.estimators._redundancy import (
    ALIKE,
    Redundancy,
    alike_groups,
    alike_pairs,
    member_jaccard,
)


def light_rows(n_light=60):
    """A few heavy rows of three kinds, and many light ones, which fit any cluster alike."""
    rng = np.random.default_rng(0)
    heavy = np.kron(np.eye(3), np.ones((2, 4))) * 20.0
    light = 0.01 * rng.normal(size=(n_light, 12))
    return np.vstack([heavy, light])


def redundant(kind=NEOCC, **options):
    """A fit in which light rows are in both of two clusters, as genes of yeast are in seven."""
    X = light_rows()
    overlap = 60 / len(X)
    settings = {"n_init": 2, "random_state": 0, **options}
    if kind is NEOKMeans:
        return NEOKMeans(2, overlap=overlap, **settings), X
    return NEOCC(2, 2, row_overlap=overlap, refine=False, **settings), X


# ---------------------------------------------------------------------------------- the table


@pytest.mark.parametrize("seed", range(60))
def test_jaccard_by_definition(seed):
    rng = np.random.default_rng(seed)
    members = any_membership(rng, int(rng.integers(1, 12)), int(rng.integers(1, 7)))
    sets = [set(np.flatnonzero(column)) for column in members.T]
    wanted = [[len(a & b) / len(a | b) if a | b else 0.0 for b in sets] for a in sets]
    np.testing.assert_array_equal(member_jaccard(members), wanted)


def test_many_items_are_counted_in_parts():
    members = np.random.default_rng(0).random((150_000, 4)) < 0.5
    both = members[:, 0] & members[:, 2]
    either = members[:, 0] | members[:, 2]
    table = member_jaccard(members)
    assert table[0, 2] == table[2, 0] == both.sum() / either.sum()
    assert table.diagonal().tolist() == [1.0] * 4


def test_pairs_are_those_above_the_limit_and_groups_are_chains_of_them():
    table = np.eye(5)
    for one, other, value in ((0, 3, 0.95), (3, 4, 0.99), (1, 2, ALIKE), (0, 4, 0.5)):
        table[one, other] = table[other, one] = value
    assert alike_pairs(table) == [(3, 4, 0.99), (0, 3, 0.95)]
    assert alike_groups(table) == [(0, 3, 4)]
    assert [pair[:2] for pair in alike_pairs(table, 0.4)] == [(3, 4), (0, 3), (1, 2), (0, 4)]
    found = Redundancy(table, np.eye(2))
    assert found.pairs(0.97) == {"rows": [(3, 4, 0.99)], "columns": []}
    assert str(found).splitlines() == [
        "rows: 5 clusters; nearly the same: 0, 3 and 4",
        "  3 and 4: 0.990",
        "  0 and 3: 0.950",
        "columns: 2 clusters, no two share a member",
    ]


def test_long_lists_are_cut():
    lines = str(Redundancy(np.ones((30, 30)))).splitlines()
    assert lines[0].endswith("18, 19 and 10 more")
    assert len(lines) == 12
    assert lines[-1] == "  and 425 more pairs above 0.9"


# ------------------------------------------------------------------------------------ the fit


def test_a_fit_warns_of_clusters_that_nearly_coincide():
    model, X = redundant()
    with pytest.warns(RedundancyWarning) as told:
        model.fit(X)
    assert len(told) == 1  # the columns are fine
    said = str(told[0].message)
    assert said.startswith("Row clusters 0 and 1 nearly coincide")
    assert "fewer clusters" in said
    assert 'overlap_model="average"' in said
    assert told[0].filename == __file__  # the user's line
    U = model.row_membership_
    both, either = (U[:, 0] & U[:, 1]).sum(), (U[:, 0] | U[:, 1]).sum()
    assert model.redundancy_.rows[0, 1] == both / either > ALIKE
    assert model.redundancy_.pairs()["rows"][0][:2] == (0, 1)
    np.testing.assert_array_equal(model.redundancy_.columns, np.eye(2))


def test_one_way_clusters_are_compared_too():
    model, X = redundant(NEOKMeans)
    with pytest.warns(RedundancyWarning, match="^Clusters 0 and 1 nearly coincide") as told:
        model.fit(X)
    assert told[0].filename == __file__
    assert model.redundancy_.rows[0, 1] > ALIKE
    assert model.redundancy_.columns is None


def test_both_sides_are_told_of_once_each():
    X = light_rows()
    X = X @ X.T
    share = 60 / len(X)
    with pytest.warns(RedundancyWarning) as told:
        NEOCC(
            2, 2, row_overlap=share, column_overlap=share, refine=False, n_init=2, random_state=0
        ).fit(X)
    assert [str(each.message).split()[0] for each in told] == ["Row", "Column"]


def test_advice_that_was_taken_is_not_given_again():
    model, X = redundant(overlap_model="average")
    with pytest.warns(RedundancyWarning, match="or for less overlap; redundancy_ has") as told:
        model.fit(X)  # so many memberships leave no choice
    assert "overlap_model" not in str(told[0].message)


def test_advice_that_would_be_refused_is_not_given():
    """Rates of counts of diagonal blocks cannot be averaged."""
    X = np.random.default_rng(0).poisson(1.0, size=(12, 8))
    options = {"objective": "diagonal", "row_overlap": 0.9, "n_init": 2, "refine": False}
    with pytest.warns(RedundancyWarning, match="or for less overlap; redundancy_ has"):
        NEOCC(2, 2, **options, random_state=0).fit(X)


def test_a_warning_that_is_an_error_leaves_a_whole_fit():
    model, X = redundant()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RedundancyWarning):
            model.fit(X)
    assert model.predict_membership(X).shape == (len(X), 2)
    assert model.row_labels_.shape == (len(X),)
    assert model.row_estimate_ is None


def test_only_a_fit_has_redundancy():
    for model in (NEOCC(), NEOKMeans()):
        assert not hasattr(model, "redundancy_")
        with pytest.raises(NotFittedError):
            model.redundancy_  # noqa: B018


def test_the_warning_is_public():
    assert issubclass(neocc.RedundancyWarning, UserWarning)
    assert "RedundancyWarning" in neocc.__all__
