"""Degenerate data is valid data: it fits without warnings, with exact counts."""

from __future__ import annotations

import warnings

import numpy as np
import oracle
import pytest
from models import SETTINGS, column_members, fit_noticing, make_model, row_members
from scipy import sparse

from neocc import NEOCC, LowRankNEOKMeans, NEOKMeans, RedundancyWarning, SingleClusterWarning
from neocc.estimators._precision import PrecisionWarning

RNG = np.random.default_rng(0)
GAUSSIAN = RNG.normal(size=(10, 8))


def zero_rows_and_columns():
    X = GAUSSIAN.copy()
    X[[0, 4, 5]] = 0
    X[:, [1, 7]] = 0
    return X


DATA = {
    "zero rows and columns": zero_rows_and_columns(),
    "all zero": np.zeros((10, 8)),
    "constant": np.full((10, 8), 0.1),
    "one value differs": np.where(np.arange(80).reshape(10, 8) == 33, 7.0, 0.1),
    "duplicate rows": np.repeat(GAUSSIAN[:2], 5, axis=0),
    "duplicate columns": np.repeat(GAUSSIAN[:, :2], 4, axis=1),
    "one row": GAUSSIAN[:1],
    "one column": GAUSSIAN[:, :1],
    "one cell": np.array([[3.5]]),
    "two rows": GAUSSIAN[:2],
    "huge spread": GAUSSIAN * 10.0 ** np.arange(-8, 8, 2),
    "subnormal beside others": np.where(np.arange(80).reshape(10, 8) == 33, 7.0, GAUSSIAN * 1e-310),
    "largest allowed": np.sign(GAUSSIAN) * 1e140,
    "integers": np.arange(80).reshape(10, 8) % 3,
}
CLUSTERS = {"one": lambda size: 1, "a few": lambda size: min(3, size), "all": lambda size: size}


def parameters(name, X, how_many):
    n, m = X.shape
    k, n_columns = CLUSTERS[how_many](n), CLUSTERS[how_many](m)
    chosen = (
        {"n_clusters": k}
        if name.startswith("NEOK")
        else {
            "n_row_clusters": k,
            "n_column_clusters": n_columns,
        }
    )
    if "overlap" in name and k == 1:
        chosen |= {"overlap": 0.0} if name.startswith("NEOK") else {"row_overlap": 0.0}
    if "overlap" in name and n_columns == 1 and not name.startswith("NEOK"):
        chosen |= {"column_overlap": 0.0}
    return chosen


def check(model, X):
    """Exact counts, no empty cluster, the right objective; predict and transform work."""
    values = X.toarray() if sparse.issparse(X) else X
    asked = model.get_params()
    U, V = row_members(model), column_members(model)
    sides = [
        (
            U,
            asked.get("row_overlap", asked.get("overlap", 0.0)),
            asked.get("row_outliers", asked.get("outliers", 0.0)),
        )
    ]
    if V is not None:
        sides.append((V, asked.get("column_overlap", 0.0), asked.get("column_outliers", 0.0)))
    for members, alpha, beta in sides:
        n_memberships, n_outliers = oracle.counts(len(members), alpha, beta)
        assert members.sum() == n_memberships
        assert (~members.any(axis=1)).sum() <= n_outliers
        assert members.any(axis=0).sum() == min(members.shape[1], n_memberships)
    if V is None:
        expected, energy = oracle.objective_neo_kmeans(values, U), (values**2).sum() * U.shape[1]
    else:
        expected = oracle.objective(values, U, V, asked["objective"])
        energy = oracle.energy(values, U, V)
    assert model.objective_ == pytest.approx(expected, rel=1e-10, abs=1e-10 * energy)
    assert np.isfinite(model.history_).all()
    assert np.diff(model.history_).max(initial=0.0) <= 1e-9 * (values**2).sum() * U.shape[1]
    assert model.transform(X).shape == U.shape
    assert model.predict_membership(X).shape == U.shape


@pytest.mark.parametrize("how_many", CLUSTERS)
@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("name", SETTINGS)
def test_degenerate_data_fit(name, data, how_many):
    X = DATA[data]
    if data == "huge spread" and "residue" in name:
        # Columns of 1e-8 beside those of 1e6: rounding does hide the residues, and the fit says so.
        warnings.simplefilter("ignore", PrecisionWarning)  # undone by pytest after the test
    chosen = parameters(name, X, how_many)
    check(fit_noticing(make_model(name, n_init=1, **chosen), X), X)
    if how_many == next(iter(CLUSTERS)):
        check(fit_noticing(make_model(name, init="random", n_init=1, **chosen), X), X)
    if how_many == "a few":
        stored = sparse.csr_array(X)
        check(fit_noticing(make_model(name, n_init=1, **chosen), stored), stored)


@pytest.mark.parametrize("name", ["NEOCC mean", "NEOCC residue"])
@pytest.mark.parametrize("init", ["neo-kmeans", "random"])
def test_fewer_memberships_than_clusters(name, init):
    sides = {"n_row_clusters": 6, "row_overlap": -0.6, "row_outliers": 0.6, "column_overlap": -0.5}
    model = make_model(name, init=init, **sides, column_outliers=0.5).fit(GAUSSIAN)
    assert model.row_membership_.sum() == 4
    assert model.row_outliers_.sum() == 6
    check(model, GAUSSIAN)
    assert np.isinf(model.transform(GAUSSIAN)[:, ~model.row_membership_.any(axis=0)]).all()


@pytest.mark.parametrize("init", ["k-means++", "random"])
def test_fewer_memberships_than_clusters_of_neokmeans(init):
    model = make_model("NEOKMeans", n_clusters=6, overlap=-0.6, outliers=0.6, init=init)
    check(model.fit(GAUSSIAN), GAUSSIAN)
    assert model.membership_.sum() == 4


@pytest.mark.parametrize("name", ["NEOCC mean", "NEOCC residue", "MSSR mean", "MSSR residue"])
@pytest.mark.parametrize("X", [GAUSSIAN, np.full((10, 8), 0.1)], ids=["gaussian", "constant"])
def test_every_row_and_column_its_own_cluster_costs_nothing(name, X):
    model = make_model(name, n_row_clusters=10, n_column_clusters=8).fit(X)
    assert model.objective_ == pytest.approx(0.0, abs=1e-12)
    assert (row_members(model).sum(axis=0) == 1).all()


@pytest.mark.parametrize("name", ["NEOCC mean", "NEOCC residue"])
def test_everything_in_every_cluster(name):
    with pytest.warns(RedundancyWarning, match="clusters 0, 1 and 2 nearly coincide") as told:
        model = make_model(name, row_overlap=2.0, column_overlap=2.0).fit(GAUSSIAN)
    assert len(told) == 2
    assert model.row_membership_.all()
    assert model.column_membership_.all()
    one = make_model(name, n_row_clusters=1, n_column_clusters=1).fit(GAUSSIAN)
    assert model.objective_ == pytest.approx(9 * one.objective_, rel=1e-10)


@pytest.mark.parametrize(
    ("kind", "one", "overlap"),
    [
        (NEOKMeans, {"n_clusters": 1}, "overlap"),
        (LowRankNEOKMeans, {"n_clusters": 1}, "overlap"),
        (NEOCC, {"n_row_clusters": 1, "n_column_clusters": 2}, "row_overlap"),
        (NEOCC, {"n_row_clusters": 2, "n_column_clusters": 1}, "column_overlap"),
    ],
)
def test_a_single_cluster_has_nothing_to_overlap_with(kind, one, overlap):
    asked = {**one, "random_state": 0}
    found = rf"^{overlap}=0\.5 has no meaning with n_\w*clusters=1: .* as with {overlap}=0\. Ask"
    with pytest.warns(SingleClusterWarning, match=found) as told:
        model = kind(**asked, **{overlap: 0.5}).fit(GAUSSIAN)
    assert len(told) == 1
    assert model.objective_ == kind(**asked).fit(GAUSSIAN).objective_
    kind(**asked, **{overlap: 0.01}).fit(GAUSSIAN)  # rounds to no membership


@pytest.mark.parametrize("name", ["NEOCC mean", "NEOCC residue", "NEOKMeans", "MSSR mean"])
def test_a_sparse_matrix_without_entries(name):
    X = sparse.csr_array((10, 8))
    check(make_model(name).fit(X), X)
