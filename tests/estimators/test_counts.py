"""Estimators of counts: attributes, predictions, model files, starts."""

from __future__ import annotations

import numpy as np
import pytest

from neocc import NEOCC, objective_value
from neocc.datasets import load_southern_women, make_count_coclusters
from neocc.io import Matrix, load_model, save_model
from neocc.io._tidy import column_distances, result_tables
from neocc.metrics import omega_index
from neocc.report import render_report
from neocc.selection import stability

NAMES = ("poisson", "diagonal", "modularity")
each_name = pytest.mark.parametrize("name", NAMES)


@pytest.fixture(scope="module")
def planted():
    return make_count_coclusters(
        (200, 120), 3, 3, fill=0.3, row_overlap=0.1, row_outliers=0.05, random_state=0
    )


def fitted(name, X, **options):
    options = {"row_overlap": 0.1, "row_outliers": 0.05, "n_init": 2, **options}
    return NEOCC(3, 3, objective=name, overlap_model="share", random_state=0, **options).fit(X)


@each_name
def test_blocks_have_means_and_lifts(name, planted):
    X = planted[0].toarray()
    model = fitted(name, X, row_overlap=-0.05)
    U, V = model.row_membership_, model.column_membership_
    means = [[X[np.ix_(u, v)].mean() for v in V.T] for u in U.T]
    np.testing.assert_allclose(model.block_means_, means)
    expected = np.outer(U.T @ X.sum(axis=1), X.sum(axis=0) @ V) / X.sum()
    lifts = (U.T @ X @ V + 1.0) / (expected + 1.0)
    if name == "diagonal":
        np.testing.assert_allclose(np.diag(model.block_lifts_), np.diag(lifts))
    else:
        np.testing.assert_allclose(model.block_lifts_, lifts)


def test_other_objectives_have_no_lifts(planted):
    assert NEOCC(2, 2, n_init=1, random_state=0).fit(planted[0]).block_lifts_ is None


@each_name
def test_predictions_are_those_of_the_fit_and_depend_on_proportions(name, planted):
    X = planted[0]
    model = fitted(name, X)
    found = model.predict_membership(X)
    assert (found != model.row_membership_).mean() < 0.01
    # A document twice as long, in the same proportions, is as near to its cluster, twice over.
    np.testing.assert_allclose(model.transform(2.0 * X), 2.0 * model.transform(X), rtol=1e-9)
    assert model.transform(X).min() < 0


@each_name
def test_a_model_file_keeps_everything(name, planted, tmp_path):
    X = planted[0]
    model = fitted(name, X, prior=3.0)
    save_model(model, tmp_path / "model.neocc")
    again = load_model(tmp_path / "model.neocc")
    assert again.prior == 3.0
    np.testing.assert_array_equal(again.block_lifts_, model.block_lifts_)
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    np.testing.assert_array_equal(again.predict_membership(X), model.predict_membership(X))


@each_name
def test_errors_of_blocks_add_up_to_the_objective(name, planted):
    X = planted[0]
    model = fitted(name, X)
    tables = result_tables(model, Matrix(X))
    assert tables.blocks["error"].sum() == pytest.approx(model.objective_, rel=1e-9)
    np.testing.assert_array_equal(tables.blocks["lift"], model.block_lifts_.ravel())
    d = column_distances(model, X)
    assert d.min() < 0
    assert d[model.column_membership_].sum() == pytest.approx(model.objective_, rel=0.1)


@each_name
def test_a_report_is_written(name, planted):
    page = render_report(fitted(name, planted[0]), matrix=planted[0])
    assert "of the squared differences" not in page


@each_name
@pytest.mark.parametrize("init", ["neo-kmeans", "spectral"])
def test_usual_starts_are_better_than_random_ones(name, init):
    J = {}
    structure = "blocks" if name == "poisson" else "diagonal"
    X, *_ = make_count_coclusters((600, 300), 6, 6, fill=0.03, structure=structure, random_state=0)
    for way in (init, "random"):
        options = {"init": way, "refine": False, "n_init": 1}
        J[way] = np.mean(
            [
                NEOCC(6, 6, objective=name, random_state=seed, **options).fit(X).objective_
                for seed in range(4)
            ]
        )
    assert J[init] < 1.1 * J["random"] < 0


def test_modularity_is_a_start(planted):
    model = fitted("poisson", planted[0], init="modularity", refine=False)
    assert omega_index(planted[1], model.row_membership_) > 0.3


def test_planted_clusters_are_found():
    X, U, V = make_count_coclusters((400, 200), 4, 4, fill=0.3, contrast=1.5, random_state=1)
    model = NEOCC(4, 4, objective="poisson", n_init=3, random_state=0).fit(X)
    assert omega_index(U, model.row_membership_) > 0.95
    assert omega_index(V, model.column_membership_) > 0.95


def test_two_groups_of_southern_women_are_those_that_others_found():
    women = load_southern_women()
    for name in ("diagonal", "modularity"):
        found = NEOCC(2, 2, objective=name, random_state=0).fit(women.data).row_membership_
        first = found[:, found[0].argmax()]
        assert np.count_nonzero(first ^ (np.arange(18) < 9)) <= 2


def test_a_bound_and_a_least_size_hold(planted):
    for name in NAMES:
        model = fitted(name, planted[0], min_cluster_size=38, max_memberships=2)
        assert model.row_membership_.sum(axis=0).min() >= 38
        assert model.column_membership_.sum(axis=0).min() >= 38
        assert model.row_membership_.sum(axis=1).max() <= 2
        assert np.diff(model.history_).max() <= 1e-9


@pytest.mark.parametrize(("name", "expected"), [("poisson", "average"), ("diagonal", "share")])
def test_auto_is_a_model_in_which_a_row_pays_once(name, expected, planted):
    for overlap in (0.0, 0.1):
        options = {"overlap_model": "auto", "row_overlap": overlap, "n_init": 1}
        model = NEOCC(3, 3, objective=name, random_state=0, **options).fit(planted[0])
        assert model.overlap_choice_.model == expected


def test_stability_is_measured(planted):
    options = {"n_runs": 2, "n_init": 1, "random_state": 0}
    for method in ("restarts", "bootstrap"):
        found = stability(planted[0], 3, 3, objective="poisson", method=method, **options)
        assert (found.objectives < 0).all()
    with pytest.raises(ValueError, match="must be equal"):
        stability(planted[0], 3, 2, objective="diagonal", **options)
    with pytest.raises(ValueError, match="found -"):
        stability(-planted[0], 3, 3, objective="poisson", **options)


def test_a_checkpointed_fit_ends_with_the_same_bits(planted, tmp_path):
    from neocc.io import Checkpoint

    X = planted[0]
    plain = fitted("poisson", X)
    kept = fitted("poisson", X, checkpoint=Checkpoint(tmp_path / "c", every=0))
    assert plain.objective_ == kept.objective_
    np.testing.assert_array_equal(plain.row_membership_, kept.row_membership_)


@each_name
def test_a_negative_number_is_named_as_its_column_is(name):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    X = pandas.DataFrame(np.eye(4), columns=list("abcd"))
    model = NEOCC(2, 2, objective=name, n_init=1, random_state=0).fit(X)
    X.iloc[2, 1] = -0.5
    for method in (NEOCC(2, 2, objective=name).fit, model.predict):
        with pytest.raises(ValueError, match=r"found -0\.5 at row 2, column 1 \('b'\)"):
            method(X)
    weights = {"row_weight": [1, 1, 3, 1], "column_weight": [1, 7, 1, 1]}
    model.fit(X.abs(), **weights)
    refused = [lambda: NEOCC(2, 2, objective=name).fit(X, **weights), lambda: model.predict(X)]
    refused += [lambda: model.predict_membership(X, axis="columns")]
    refused += [lambda: objective_value(X, np.eye(4), np.eye(4), name, **weights)]
    for call in refused:
        with pytest.raises(ValueError, match=r"found -0\.5 at row 2, column 1"):
            call()


def test_negative_numbers_are_refused_before_overlap_models_are_compared():
    X = np.random.default_rng(981).normal(size=(13, 12))
    model = NEOCC(3, 2, objective="poisson", overlap_model="auto", column_overlap=0.3)
    # Rates of negative counts have no logarithms, and some comparisons of them did not end.
    with pytest.raises(ValueError, match="Negative values in data"):
        model.set_params(random_state=0).fit(X)
