"""The side that does not lead gets as many clusters as it takes to tell the leading ones apart."""

from __future__ import annotations

import numpy as np
import pytest
from instances import make_engine
from sklearn.datasets import load_digits

from neocc.core.objectives import MEAN
from neocc.core.problem import Counts, Problem
from neocc.core.solve import solve
from neocc.datasets import load_southern_women, make_coclusters
from neocc.kernels import Memberships
from neocc.selection import suggest_n_clusters
from neocc.selection._described import _explained


def literal_share(X, members):
    """Squares of the means of clusters about the mean of all that are in one, times their sizes."""
    centre = X[members.any(axis=1)].mean(axis=0)
    return sum(one.sum() * np.square(X[one].mean(axis=0) - centre).sum() for one in members.T)


@pytest.mark.parametrize("side", ["rows", "columns"])
@pytest.mark.parametrize("outliers", [0, 2])
def test_what_clusters_explain_is_the_literal_sum(side, outliers):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(14, 9)) + 3.0
    rows, columns = Counts(14, 3, 14 - outliers, outliers), Counts(9, 2, 9, 0)
    problem = Problem(MEAN, rows, columns)
    pair = tuple(Memberships.from_labels(np.arange(n) % k, k) for n, k in ((14, 3), (9, 2)))
    engine = make_engine(X)
    found = solve(engine.centred(problem.centring), problem, pair)
    data, members = (X, found.U) if side == "rows" else (X.T, found.V)
    assert members is not None
    expected = literal_share(data, members.dense)
    assert _explained(engine, problem, side, found) == pytest.approx(expected, rel=1e-10)


def test_planted_numbers_stay():
    X, _, _ = make_coclusters((90, 60), 4, 3, noise=0.5, random_state=0)
    found = suggest_n_clusters(X, random_state=0)
    assert found.best == (found.rows.number, found.columns.number) == (4, 3)


def test_groups_of_rows_need_columns_to_be_seen_in():
    """With one group of columns the women would be told apart by how often they went out."""
    women = load_southern_women().data
    found = suggest_n_clusters(women, random_state=0)
    assert (found.rows.number, found.columns.number) == (2, 1)
    assert found.rows.taken == 2
    assert found.columns.taken > 1
    assert f"{found.columns.taken} are taken to tell clusters of rows apart" in str(found)


def test_numbers_that_are_given_stay():
    X = load_digits().data[:300]
    found = suggest_n_clusters(X, None, [3], random_state=0)
    assert found.best[1] == 3
    assert found.columns.wanted is None
    assert suggest_n_clusters(X, [10], None, random_state=0).best[1] > 5
