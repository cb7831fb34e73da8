"""Fits over observed cells whose rows follow one cluster here and another there."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from stores import MANY_BLOCKS, same_bits, same_fit

from neocc import NEOCC, CellPredictor, objective_value
from neocc.io import load_model, save_model, write_result, write_store
from neocc.metrics import omega_index

pytestmark = pytest.mark.filterwarnings("ignore::neocc.RedundancyWarning")

OPTIONS = {"overlap_model": "either", "missing": "ignore", "row_overlap": 0.2, "random_state": 0}
SHORT = {"init": "random", "n_init": 1, "refine": False}


def planted(seed, n=90, m=40, share=0.5, noise=0.2):
    """Rows of two clusters that follow both of them, with effects of rows and columns."""
    rng = np.random.default_rng(seed)
    M, U = 3 * rng.normal(size=(3, 3)), np.eye(3, dtype=bool)[np.arange(n) % 3]
    V, followed = (
        np.eye(3, dtype=bool)[np.arange(m) % 3],
        np.repeat(U.argmax(axis=1)[:, None], 3, 1),
    )
    for p in range(0, n, 5):
        U[p, (p + 1) % 3] = True
        followed[p, rng.integers(3)] = (p + 1) % 3
    X = M[followed, np.arange(3)] @ V.T + noise * rng.normal(size=(n, m))
    return np.where(rng.random((n, m)) < share, X, np.nan), U


def as_sparse(X):
    at = np.nonzero(~np.isnan(X))
    return sparse.csr_array((X[at], at), shape=X.shape)


@pytest.fixture(scope="module")
def data():
    return planted(0)[0]


@pytest.fixture(scope="module")
def fitted(data):
    options = {"remove_effects": True, "row_outliers": 0.1, "shrinkage": 2.0}
    options = {**OPTIONS, **options, "row_overlap": 0.05}
    return NEOCC(3, 3, n_init=2, **options).fit(data)


def test_planted_rows_are_found_though_half_of_the_cells_are_missing():
    X, U = planted(2)
    fit = NEOCC(3, 3, shrinkage=0.0, n_init=4, **OPTIONS).fit(X)
    assert omega_index(U, fit.row_membership_) >= 0.95
    assert (fit.predict_membership(X) == fit.row_membership_).all()
    assert (fit.predict_membership(X, axis="columns") == fit.column_membership_).all()
    assert fit.score(X) == pytest.approx(-fit.objective_ / np.isfinite(X).sum(), rel=1e-9)


def test_new_columns_where_every_row_has_one_cluster(data):
    fit = NEOCC(3, 3, **{**OPTIONS, "row_overlap": 0.0}).fit(data)
    assert (fit.predict_membership(data, axis="columns") == fit.column_membership_).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_the_objective_and_the_blocks_of_a_fit_are_the_literal_ones(data, weighted):
    W = np.where(np.isnan(data), 0.0, np.random.default_rng(1).uniform(0.5, 2.0, data.shape))
    options = {**OPTIONS, **SHORT, "remove_effects": True, "row_outliers": 0.1, "row_overlap": 0.0}
    fit = NEOCC(3, 3, column_outliers=0.05, column_overlap=-0.05, shrinkage=3.0, **options)
    fit.fit(data, cell_weight=W if weighted else None)
    if not weighted:
        W = (~np.isnan(data)).astype(float)
    E = np.nan_to_num(data - fit.overall_mean_ - fit.row_effects_[:, None] - fit.column_effects_)
    assert fit.row_outliers_.any()
    assert fit.column_outliers_.any()
    assert (fit.row_membership_.sum(axis=1) > 1).any()
    M, J = np.zeros((3, 3)), (W * E**2).sum()
    for i, j in np.ndindex(M.shape):
        rows, columns = fit.followed_[:, j] == i, fit.column_membership_[:, j]
        w, e = W[rows][:, columns], E[rows][:, columns]
        M[i, j] = (w * e).sum() / (w.sum() + 3.0)
        J += (w * ((e - M[i, j]) ** 2 - e**2)).sum() + 3.0 * M[i, j] ** 2
    np.testing.assert_allclose(fit.block_means_, M, rtol=1e-9)
    assert fit.objective_ == pytest.approx(J, rel=1e-10)
    assert np.diff(fit.history_).max() <= 1e-9 * fit.objective_


def test_cells_are_predicted_by_the_cluster_that_a_row_follows_there(fitted, data):
    found = fitted.predict_cells(np.arange(90)[:, None], np.arange(40), clip=False)
    assert fitted.row_outliers_.any()
    for p, t in np.ndindex(data.shape):
        value = fitted.overall_mean_ + fitted.row_effects_[p] + fitted.column_effects_[t]
        j = int(fitted.column_membership_[t].argmax())
        if fitted.followed_[p, j] >= 0:
            value += fitted.block_means_[fitted.followed_[p, j], j]
        assert found[p, t] == pytest.approx(value, rel=1e-12)


def test_new_rows_are_decided_by_their_observed_cells():
    X, _ = planted(3, n=120)
    fit = NEOCC(3, 3, n_init=4, shrinkage=0.0, **OPTIONS).fit(X)
    new, U = planted(3, n=120, share=0.7, noise=0.1)
    match = (U.T.astype(int) @ fit.row_membership_).argmax(axis=1)
    found = fit.predict_membership(as_sparse(new))[:, match]
    assert (found == U).all(axis=1).mean() > 0.9
    assert (fit.predict_membership(new)[:, match] == found).all()
    assert fit.predict_membership(np.full((1, 40), np.nan)).sum() == 1


def test_containers_stores_threads_and_kernels_give_one_fit(set_pass_options, tmp_path, data):
    set_pass_options(**MANY_BLOCKS)
    options = {**OPTIONS, **SHORT, "remove_effects": True, "row_outliers": 0.05, "n_jobs": 1}
    model = NEOCC(3, 3, kernel="numpy", **options)
    here = clone(model).fit(data)
    assert (here.row_membership_.sum(axis=1) > 1).any()
    assert same_bits(clone(model).fit(as_sparse(data)), here)
    assert same_bits(clone(model).set_params(n_jobs=2).fit(data), here)
    assert same_fit(clone(model).set_params(kernel="numba").fit(data), here)
    for rows in (13, 41):
        store = write_store(tmp_path / str(rows), as_sparse(data), rows_per_block=rows)
        there = clone(model).set_params(n_jobs=2).fit(store)
        assert same_bits(there, here)
        assert (there.followed_ == here.followed_).all()


def test_workers_give_the_answers_of_one_machine(data):
    distributed = pytest.importorskip("distributed", reason="dask and distributed are missing")
    options = {**OPTIONS, **SHORT, "remove_effects": True, "max_iter": 6}
    here = NEOCC(3, 3, **options).fit(data)
    settings = {"threads_per_worker": 1, "dashboard_address": ":0", "set_as_default": False}
    with distributed.Client(processes=False, n_workers=2, **settings) as client:
        there = NEOCC(3, 3, engine=client, **options).fit(as_sparse(data))
    assert same_fit(there, here)
    assert (there.followed_ == here.followed_).all()


def test_a_weight_of_two_is_a_row_given_twice():
    twice = np.repeat([1, 2], 45)
    X = planted(0)[0]
    U, V = np.eye(3, dtype=bool)[np.arange(90) % 3], np.eye(3, dtype=bool)[np.arange(40) % 3]
    U[:9] |= np.eye(3, dtype=bool)[(np.arange(9) + 1) % 3]
    options = {**OPTIONS, "row_overlap": 0.1, "refine": False, "max_iter": 1, "tol": 0.0}
    one = NEOCC(3, 3, init=(U, V), **options).fit(X, row_weight=twice)
    options["row_overlap"] = 9 / 135
    other = NEOCC(3, 3, init=(np.repeat(U, twice, axis=0), V), **options)
    other.fit(np.repeat(X, twice, axis=0))
    assert one.history_[0] == pytest.approx(other.history_[0], rel=1e-10)


def test_a_model_file_predicts_to_the_bit(tmp_path, fitted, data):
    save_model(fitted, tmp_path / "model.neocc")
    again = load_model(tmp_path / "model.neocc")
    assert (again.followed_ == fitted.followed_).all()
    assert (again.predict_membership(data) == fitted.predict_membership(data)).all()
    cells = np.arange(90)[:, None], np.arange(40)
    assert (again.predict_cells(*cells) == fitted.predict_cells(*cells)).all()


def test_tables_of_blocks_know_what_is_followed(tmp_path, fitted, data):
    write_result(fitted, tmp_path / "out", matrix=as_sparse(data))
    with (tmp_path / "out" / "blocks.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    E = data - fitted.overall_mean_ - fitted.row_effects_[:, None] - fitted.column_effects_
    for line in lines:
        i, j = int(line["row_cluster"]) - 1, int(line["column_cluster"]) - 1
        cells = E[fitted.followed_[:, j] == i][:, fitted.column_membership_[:, j]]
        mean = fitted.block_means_[i, j]
        error = np.nansum(np.square(cells - mean)) + 2.0 * mean**2
        assert float(line["error"]) == pytest.approx(error, rel=1e-9)
    assert len(lines) == 9


def test_means_of_several_fits_give_the_block_that_is_followed_as_the_reason(data):
    rows, columns = np.nonzero(~np.isnan(data))
    model = CellPredictor(NEOCC(3, 3, **OPTIONS, **SHORT), n_models=2, random_state=0)
    model.fit(np.column_stack([rows, columns]), data[rows, columns])
    first = model.models_[0]
    shared = np.flatnonzero(first.row_membership_.sum(axis=1) > 1)
    for row in shared[:5]:
        (best,) = model.recommend(model.row_ids_[row], n=1, unseen=False)
        (reason,) = best.reasons
        j = int(first.column_membership_[model.column_ids_.index(best.column)].argmax())
        assert (reason.row_cluster, reason.column_cluster) == (first.followed_[row, j], j)


@pytest.mark.parametrize("remove_effects", [False, True])
def test_one_observed_cell(remove_effects):
    X = np.full((4, 3), np.nan)
    X[1, 2] = 5.0
    options = {**OPTIONS, "row_overlap": 0.5, "remove_effects": remove_effects}
    fit = NEOCC(2, 2, **options).fit(X)
    assert fit.row_membership_.sum() == 6
    assert np.isfinite(fit.objective_)
    assert np.isfinite(fit.predict_cells(1, 2))


def test_rows_of_which_nothing_was_observed_have_one_cluster(data):
    X = data.copy()
    X[[4, 17]] = np.nan
    fit = NEOCC(3, 3, **OPTIONS, **SHORT).fit(X)
    assert (fit.row_membership_[[4, 17]].sum(axis=1) == 1).all()
    assert fit.row_membership_.sum() == 108


def test_with_all_cells_observed_a_fit_is_the_plain_one():
    """From starts that leave no cluster empty, which is begun in another way."""
    for seed in range(4):
        X, U = planted(seed, share=1.1, noise=1.0)
        rng, columns = np.random.default_rng(seed), np.arange(40) % 3
        U[:30], columns[:12] = U[rng.permutation(30)], rng.integers(3, size=12)
        options = {**OPTIONS, "init": (U, np.eye(3, dtype=bool)[columns]), "refine": False}
        plain = NEOCC(3, 3, **{**options, "missing": "zero"}).fit(X)
        found = NEOCC(3, 3, shrinkage=0.0, **options).fit(X)
        np.testing.assert_allclose(found.history_, plain.history_, rtol=1e-9)
        assert found.objective_ == pytest.approx(plain.objective_, rel=1e-9)
        assert (found.row_membership_ == plain.row_membership_).all()
        assert (found.followed_ == plain.followed_).all()
        np.testing.assert_allclose(found.block_means_, plain.block_means_, rtol=1e-9)


@pytest.mark.parametrize(
    ("model", "cost"),
    [
        ("repeat", "background"),
        ("repeat", "auto"),  # "zero", for nobody is left out
        ("share", "auto"),
        ("average", "auto"),
        ("sum", "auto"),
        ("either", "auto"),
    ],
)
def test_the_objective_of_a_fit_is_that_of_its_memberships(model, cost):
    """Rows of one cluster each tell what others follow, if the fit has found what was planted."""
    data = planted(2)[0]
    options = {"missing": "ignore", "remove_effects": True, "shrinkage": 2.0}
    settings = {"overlap_model": model, "outlier_cost": cost}
    W = np.random.default_rng(1).uniform(0.5, 2.0, data.shape)
    weights = {"cell_weight": W, "row_weight": np.repeat([1.0, 2.0], 45)}
    fit = NEOCC(3, 3, row_overlap=0.2, random_state=0, n_init=3, **options, **settings)
    fit.set_params(max_iter=300, tol=0.0, refine=False).fit(data, **weights)
    members = fit.row_membership_, fit.column_membership_
    found = objective_value(data, *members, **options, **settings, **weights)
    assert found == pytest.approx(fit.objective_, rel=1e-9)
    other = objective_value(as_sparse(data), *members, **options, **settings)
    assert other != pytest.approx(found, rel=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"missing": "drop"}, "missing must be"),
        ({"missing": "ignore", "shrinkage": -1.0}, "shrinkage must be finite and not negative"),
        ({"objective": "poisson", "prior": np.inf}, "prior must be positive and finite"),
        ({"remove_effects": True}, "are for missing"),
        ({"missing": "ignore", "objective": "residue"}, "objective='mean' only"),
        ({"missing": "ignore", "overlap_model": "sum"}, "at most 2 memberships"),
    ],
)
def test_bad_settings_of_objective_value(options, message):
    with pytest.raises(ValueError, match=message):
        objective_value(np.eye(4), np.ones((4, 3)), np.eye(4), **options)
    with pytest.raises(ValueError, match="has no observed cell"):
        objective_value(np.full((2, 2), np.nan), np.eye(2), np.eye(2), missing="ignore")
