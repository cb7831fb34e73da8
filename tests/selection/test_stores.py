"""Rows on disk get the answers of the same rows in memory."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from stores import CONTAINERS, planted

from neocc.engines.stored import source_of
from neocc.io import write_store
from neocc.selection import estimate_overlap_and_outliers, stability, suggest_n_clusters
from neocc.selection._data import read


@pytest.fixture(params=CONTAINERS)
def X(request):
    return planted(request.param, n=90, m=24)


@pytest.fixture(params=[7, 90])
def store(request, X, tmp_path):
    return write_store(tmp_path / "store", X, rows_per_block=request.param)


@pytest.mark.parametrize("objective", ["mean", "residue"])
def test_numbers_of_clusters(store, X, objective):
    options = {"row_clusters": [2, 4], "column_clusters": [2, 3], "random_state": 0, "n_init": 2}
    options["criteria"] = ("icl", "hull", "pseudo_f")
    found, wanted = (suggest_n_clusters(D, objective=objective, **options) for D in (store, X))
    assert found.best == wanted.best
    assert found.complete
    for name in wanted.table.dtype.names:
        np.testing.assert_array_equal(found.table[name], wanted.table[name], err_msg=name)


def test_numbers_of_clusters_by_default(X, tmp_path):
    X = X[:30, :5]
    store = write_store(tmp_path / "store", X, rows_per_block=9)
    found, wanted = (suggest_n_clusters(D, n_init=1, random_state=0) for D in (store, X))
    assert (found.best, found.notes) == (wanted.best, wanted.notes)


@pytest.mark.parametrize("kind", ["dense", "sparse", "counts", "observed"])
def test_suggestions_from_stores_of_all_kinds_print_alike(kind, tmp_path):
    rng = np.random.default_rng(0)
    data = np.rint(3 * np.kron([[0, 2], [2, 0]], np.ones((15, 6))) + rng.poisson(0.5, (30, 12)))
    options = {"counts": {"objective": "poisson"}, "observed": {"missing": "ignore"}}.get(kind, {})
    given = data if kind == "dense" else sparse.csr_array(data)
    if kind == "observed":
        given = np.where(rng.random(data.shape) < 0.7, data, np.nan)
    store = write_store(tmp_path / "store", given, rows_per_block=9, **{
        name: one for name, one in options.items() if name == "missing"
    })  # fmt: skip
    options |= {"row_clusters": [1, 2, 3], "column_clusters": [1, 2], "n_init": 1}
    found, wanted = (suggest_n_clusters(D, random_state=0, **options) for D in (store, given))
    assert found.best == (2, 2)
    assert str(found).startswith("row clusters: 2, column clusters: 2, by prediction")
    assert str(found) == str(wanted)


def test_numbers_of_clusters_of_a_sample(X, tmp_path):
    """More entries than are to be looked at: the same rows are drawn and read."""
    store = write_store(tmp_path / "store", X, rows_per_block=40)
    options = {"row_clusters": [2, 3], "column_clusters": [2], "max_entries": 200, "n_init": 1}
    found, wanted = (suggest_n_clusters(D, random_state=0, **options) for D in (store, X))
    assert "random sample" in str(found)
    assert str(found) == str(wanted)


@pytest.mark.parametrize("axis", ["rows", "columns"])
@pytest.mark.parametrize("strategy", ["first", "second"])
def test_overlap_and_outliers(store, X, axis, strategy):
    options = {"axis": axis, "strategy": strategy, "random_state": 0}
    found, wanted = (estimate_overlap_and_outliers(D, 3, **options) for D in (store, X))
    assert (found.overlap, found.outliers) == (wanted.overlap, wanted.outliers)
    np.testing.assert_array_equal(found.nearest, wanted.nearest)
    np.testing.assert_array_equal(found.item_pairs, wanted.item_pairs)


@pytest.mark.parametrize("axis", ["rows", "columns"])
def test_overlap_and_outliers_by_the_mixture(X, tmp_path, axis):
    store = write_store(tmp_path / "store", X[:60], rows_per_block=25)
    options = {"axis": axis, "n_other_clusters": 2, "n_init": 1, "random_state": 0}
    found, wanted = (estimate_overlap_and_outliers(D, 2, **options) for D in (store, X[:60]))
    assert (found.overlap, found.outliers) == (wanted.overlap, wanted.outliers)
    np.testing.assert_allclose(found.nearest, wanted.nearest)
    np.testing.assert_array_equal(found.item_pairs, wanted.item_pairs)


def test_overlap_around_given_centres(store, X):
    centers = np.random.default_rng(0).normal(size=(3, 24))
    found, wanted = (
        estimate_overlap_and_outliers(D, 3, strategy="second", centers=centers) for D in (store, X)
    )
    assert (found.overlap, found.outliers) == (wanted.overlap, wanted.outliers)


@pytest.mark.parametrize(("method", "objective"), [("restarts", "residue"), ("bootstrap", "mean")])
def test_stability(store, X, method, objective):
    options = {"method": method, "objective": objective, "n_runs": 2, "random_state": 0}
    options |= {"row_overlap": 0.1, "row_outliers": 0.05}
    U = np.arange(90)[:, None] % 3 == np.arange(3)
    U[:9] |= np.roll(U[:9], 1, axis=1)
    reference = U, np.arange(24)[:, None] % 2 == np.arange(2)
    found, wanted = (stability(D, 3, 2, reference=reference, **options) for D in (store, X))
    np.testing.assert_array_equal(found.objectives, wanted.objectives)
    np.testing.assert_array_equal(found.row_confidence, wanted.row_confidence)
    np.testing.assert_array_equal(found.column_confidence, wanted.column_confidence)


def test_stability_of_the_solution_that_it_finds(X, tmp_path):
    store = write_store(tmp_path / "store", X[:40], rows_per_block=9)
    found, wanted = (stability(D, 2, 2, n_runs=2, random_state=0) for D in (store, X[:40]))
    assert found.reference_objective == wanted.reference_objective
    np.testing.assert_array_equal(found.row_confidence, wanted.row_confidence)


def test_rows_stay_on_disk(store):
    assert source_of(read(store)) is store


def test_a_path_is_refused_with_the_remedy(tmp_path):
    for analyse in (
        lambda: suggest_n_clusters(tmp_path),
        lambda: estimate_overlap_and_outliers(tmp_path, 2),
        lambda: stability(str(tmp_path), 2, 2),
    ):
        with pytest.raises(TypeError, match=r"open_store\(path\)"):
            analyse()
