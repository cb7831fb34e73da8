"""`min_cluster_size`: no cluster is smaller, whatever else is asked for, wherever rows live."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse

from neocc import NEOCC, NEOKMeans, RedundancyWarning
from neocc.io import open_store, write_store

FRACTIONS = {"row_overlap": 0.1, "row_outliers": 0.1, "column_overlap": 0.1}


def make_table(n=90, m=60, seed=0):
    """Rows that follow a few patterns, with much noise."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)) @ rng.normal(size=(3, m)) + 2.0 * rng.normal(size=(n, m))


def smallest(model):
    return [int(U.sum(axis=0).min()) for U in (model.row_membership_, model.column_membership_)]


def check(model, X, n_memberships):
    """Sizes and counts; the history is as computed."""
    for U, n in zip((model.row_membership_, model.column_membership_), n_memberships, strict=True):
        assert U.sum(axis=0).min() >= model.min_cluster_size
        assert U.sum() == n
    assert np.diff(model.history_).max(initial=0.0) <= 1e-9 * (X**2).sum() * 16


@pytest.mark.parametrize("refine", [False, True])
def test_residues_end_without_clusters_of_one_column(refine):
    X = make_table()
    options = {"objective": "residue", "refine": refine, "n_init": 2, "random_state": 0}
    free = NEOCC(3, 20, **options).fit(X)
    assert smallest(free)[1] == 1  # one column costs nothing
    model = NEOCC(3, 20, min_cluster_size=3, **options).fit(X)
    check(model, X, X.shape)
    assert model.objective_ > 0.0


@pytest.mark.parametrize("overlap_model", ["repeat", "share", "average", "sum"])
def test_every_overlap_model_keeps_to_it(overlap_model):
    X = make_table(40, 30)
    model = NEOCC(
        5,
        4,
        overlap_model=overlap_model,
        min_cluster_size=6,
        n_init=2,
        refine=False,
        random_state=0,
        **FRACTIONS,
    ).fit(X)
    check(model, X, (44, 33))
    assert model.row_outliers_.sum() <= 4


@pytest.mark.parametrize("init", ["neo-kmeans", "random", "spectral", "sketch", "sdp"])
def test_every_start_keeps_to_it(init):
    X = make_table(30, 24)
    options = {"init": init, "n_init": 1, "max_iter": 1, "refine": False, "random_state": 0}
    check(NEOCC(3, 3, min_cluster_size=8, **options).fit(X), X, X.shape)


def test_points_outside_are_not_clusters_of_their_own():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(40, 2)), [[40.0, 0.0], [0.0, 40.0]]])
    assert sorted(NEOKMeans(3, random_state=0).fit(X).membership_.sum(axis=0))[:2] == [1, 1]
    model = NEOKMeans(3, min_cluster_size=10, random_state=0).fit(X)
    assert model.membership_.sum(axis=0).min() >= 10
    assert (model.membership_.sum(axis=1) == 1).all()


@pytest.mark.parametrize("objective", ["mean", "residue"])
@pytest.mark.parametrize("is_sparse", [False, True], ids=["dense", "sparse"])
def test_rows_on_disk_give_the_clusters_of_rows_in_memory(tmp_path, objective, is_sparse):
    X = make_table(90, 25)
    X = sparse.csr_array(np.where(X > 1, X, 0.0)) if is_sparse else X
    write_store(tmp_path / "rows", X, rows_per_block=17)
    model = NEOCC(
        4,
        3,
        objective=objective,
        min_cluster_size=8,
        n_init=3,
        refine=False,
        random_state=0,
        **FRACTIONS,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RedundancyWarning)
        here = model.fit(X).row_membership_, model.column_membership_
        model.fit(open_store(tmp_path / "rows"))
    assert min(smallest(model)) >= 8
    np.testing.assert_array_equal(model.row_membership_, here[0])
    np.testing.assert_array_equal(model.column_membership_, here[1])


# ------------------------------------------------------------------------------------- mistakes


def test_what_cannot_be_is_refused_in_one_sentence():
    X = make_table(12, 10)
    with pytest.raises(ValueError, match="min_cluster_size=5") as told:
        NEOCC(3, 2, min_cluster_size=5).fit(X)
    said = str(told.value)
    for part in ("15 memberships", "n_row_clusters=3", "12 rows", "row_overlap=0.0", "at most 4"):
        assert part in said
    with pytest.raises(ValueError, match=r"n_column_clusters=3.*10 columns.*column_overlap"):
        NEOCC(3, 3, min_cluster_size=4).fit(X)
    with pytest.raises(ValueError, match=r"n_clusters=3 clusters.*overlap=0.0"):
        NEOKMeans(3, min_cluster_size=5).fit(X)
    assert NEOKMeans(3, min_cluster_size=4, random_state=0).fit(X).membership_.sum() == 12


@pytest.mark.parametrize("size", [0, -1, 2.5, None])
def test_sizes_are_positive_whole_numbers(size):
    with pytest.raises(ValueError, match="min_cluster_size"):
        NEOCC(min_cluster_size=size).fit(make_table(12, 10))


def test_given_memberships_must_keep_to_it():
    X = make_table(6, 4)
    U, V = np.eye(2, dtype=bool)[[0, 0, 0, 0, 0, 1]], np.eye(2, dtype=bool)[[0, 0, 1, 1]]
    assert NEOCC(2, 2, init=(U, V)).fit(X).row_membership_.shape == (6, 2)
    with pytest.raises(ValueError, match=r"U has a cluster of 1 members.*min_cluster_size.* 2"):
        NEOCC(2, 2, init=(U, V), min_cluster_size=2).fit(X)
