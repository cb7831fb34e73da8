"""Counts give the same memberships wherever the rows live, in however many pieces."""

from __future__ import annotations

from dataclasses import replace
from itertools import cycle

import count_oracle as literal
import numpy as np
import pytest
from instances import make_engine, members
from scipy import sparse
from stores import MANY_BLOCKS, same_bits, same_fit

from neocc import NEOCC
from neocc.core.objectives import OBJECTIVES
from neocc.core.overlap import OVERLAP_MODELS
from neocc.core.problem import Counts, Problem
from neocc.core.solve import solve
from neocc.datasets import make_count_coclusters
from neocc.engines import Workers, on_cluster
from neocc.io import write_store

pytestmark = pytest.mark.filterwarnings("ignore::neocc.RedundancyWarning")

CONTAINERS = {"dense": lambda X: X.toarray(), "sparse": lambda X: X}
CASES = [(name, model) for name in literal.NAMES for model in literal.MODELS]
each_case = pytest.mark.parametrize(("name", "model"), CASES)
OPTIONS = {"row_overlap": 0.2, "row_outliers": 0.05, "column_overlap": 0.1, "max_memberships": 3}
OPTIONS |= {"n_init": 1, "refine": False, "random_state": 0, "max_iter": 6}


def counts(n=90, m=30):
    return make_count_coclusters((n, m), 3, 3, fill=0.3, row_overlap=0.2, random_state=0)[0]


@pytest.mark.parametrize(
    ("name", "model", "container"),
    [(*case, kind) for case, kind in zip(CASES, cycle(CONTAINERS), strict=False)],
)
def test_a_fit_of_a_store_is_that_of_one_in_memory(
    set_pass_options, tmp_path, container, name, model
):
    set_pass_options(**MANY_BLOCKS)
    X = CONTAINERS[container](counts())
    options = {**OPTIONS, "overlap_model": model, "objective": name, "init": "random"}
    stores = [write_store(tmp_path / str(rows), X, rows_per_block=rows) for rows in (13, 41)]
    here = NEOCC(3, 3, n_jobs=1, **options).fit(X)
    assert (here.row_membership_.sum(axis=1) > 1).any()
    assert here.row_outliers_.any() or name == "modularity"
    there = NEOCC(3, 3, n_jobs=1, **options).fit(stores[0])
    assert same_fit(there, here)
    # Other blocks and threads change no bit.
    assert same_bits(NEOCC(3, 3, n_jobs=2, **options).fit(stores[1]), there)
    assert same_bits(NEOCC(3, 3, n_jobs=2, **options).fit(X), here)
    np.testing.assert_allclose(there.block_lifts_, here.block_lifts_, rtol=1e-12)


@each_case
def test_shards_that_update_sums_end_where_others_do(set_pass_options, tmp_path, name, model):
    X = counts(200, 30)
    options = {**OPTIONS, "overlap_model": model, "objective": name, "max_iter": 30}
    here = NEOCC(3, 3, n_jobs=1, **options).fit(X)
    set_pass_options(
        **MANY_BLOCKS, least_followed=0, least_updated=0, max_changed=0.9, entries_per_sum=0
    )
    there = NEOCC(3, 3, n_jobs=2, **options).fit(write_store(tmp_path / "s", X, rows_per_block=50))
    assert there.n_passes_ < here.n_passes_
    assert (there.row_membership_ == here.row_membership_).all()
    assert (there.column_membership_ == here.column_membership_).all()
    assert there.objective_ == pytest.approx(here.objective_, rel=1e-12)


@each_case
def test_kernels_and_containers_give_the_same_memberships(name, model):
    X = counts()
    options = {**OPTIONS, "overlap_model": model, "objective": name}
    here = NEOCC(3, 3, kernel="numpy", **options).fit(X.toarray())
    for data, kernel in ((X.toarray(), "numba"), (X, "numba"), (X, "numpy")):
        found = NEOCC(3, 3, kernel=kernel, **options).fit(data)
        assert (found.row_membership_ == here.row_membership_).all()
        assert (found.column_membership_ == here.column_membership_).all()
        assert found.objective_ == pytest.approx(here.objective_, rel=1e-9)


def test_a_search_of_dense_and_of_sparse_counts_ends_alike():
    X = counts()
    for name in literal.NAMES:
        options = {**OPTIONS, "objective": name, "overlap_model": "share", "refine": True}
        one, other = (NEOCC(3, 3, **options).fit(data) for data in (X, X.toarray()))
        assert one.objective_ == pytest.approx(other.objective_, rel=1e-9)


def test_margins_are_sums_over_the_whole_matrix():
    X = counts()
    for data in (X, X.toarray()):
        engine = make_engine(data, **MANY_BLOCKS)
        np.testing.assert_array_equal(engine.row_margins(), X.sum(axis=1))
        np.testing.assert_array_equal(engine.column_margins(), X.sum(axis=0))
        U = members(np.arange(90)[:, None] < [10])  # most rows are in no cluster
        found = engine.column_features(U, None, base="margins")
        np.testing.assert_array_equal(found.squares, X.sum(axis=0))


def test_negative_numbers_in_a_store_are_refused_by_their_cell(tmp_path):
    X = counts().toarray()
    X[77, 3] = -1.0
    for at, data in enumerate((X, sparse.csr_array(X))):
        store = write_store(tmp_path / str(at), data, rows_per_block=20)
        with pytest.raises(ValueError, match="found -1 at row 77, column 3"):
            NEOCC(3, 3, objective="poisson").fit(store)


# -------------------------------------------------------------------------------------- clusters


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed", reason="dask is not installed")
    options = {"threads_per_worker": 1, "dashboard_address": ":0", "set_as_default": False}
    with distributed.Client(processes=False, n_workers=2, **options) as client:
        yield client


@pytest.mark.parametrize(
    ("name", "model"), list(zip(literal.NAMES, cycle(literal.MODELS), strict=False))
)
def test_memberships_on_a_cluster_are_those_in_memory(client, name, model):
    X = counts()
    rows, columns = Counts(90, 3, 100, 4), Counts(30, 3, 33, 0)
    problem = Problem(
        OBJECTIVES[name], rows, columns, max_iter=3, overlap_model=OVERLAP_MODELS[model](2)
    )
    with Workers(1) as workers:
        here = make_engine(X, workers=workers)
        there = on_cluster(here.shards.each[0].matrix, client, "numpy", workers, 200)
        assert len(there.shards.edges) > 4
        labels = [np.arange(size) % 3 for size in X.shape]
        start = []
        for side, size, at in zip((rows, columns), X.shape, labels, strict=True):
            U = np.eye(3, dtype=bool)[at]
            extra = np.arange(side.n_memberships - size)
            U[extra, (at[extra] + 1) % 3] = True
            start.append(members(U))
        one, other = (solve(engine, problem, tuple(start)) for engine in (here, there))
    assert np.array_equal(one.U.dense, other.U.dense)
    assert np.array_equal(one.V.dense, other.V.dense)
    np.testing.assert_allclose(one.history, other.history, rtol=1e-12)


def test_starts_on_a_cluster_are_those_in_memory(client):
    X = counts(200, 40)
    options = {**OPTIONS, "objective": "diagonal", "overlap_model": "share"}
    here, there = (NEOCC(3, 3, engine=engine, **options).fit(X) for engine in ("auto", client))
    assert (here.row_membership_ == there.row_membership_).all()
    assert here.objective_ == pytest.approx(there.objective_, rel=1e-10)


def test_negative_numbers_on_a_cluster_are_refused_by_their_cell(client):
    X = counts().toarray()
    X[77, 3] = -1.0
    with Workers(1) as workers:
        here = make_engine(X, workers=workers)
        there = on_cluster(here.shards.each[0].matrix, client, "numpy", workers, 200)
        assert there.first_negative() == here.first_negative() == (77, 3, -1.0)
        fine = replace(here.shards.each[0].matrix, values=np.abs(X))
        assert on_cluster(fine, client, "numpy", workers, 200).first_negative() is None
