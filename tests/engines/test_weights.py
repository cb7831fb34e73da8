"""Weights in stores and on workers: the same answers as in memory."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from stores import MANY_BLOCKS, planted, same_bits, same_fit

from neocc import NEOCC, NEOKMeans
from neocc.core.initialise import random_pair
from neocc.core.objectives import MEAN
from neocc.core.overlap import OVERLAP_MODELS
from neocc.core.problem import Counts, Problem
from neocc.core.samples import Sampling
from neocc.core.solve import solve
from neocc.engines import PassOptions, Workers, open_engine
from neocc.engines.reading import as_matrix
from neocc.engines.stored import StoredRows, open_source
from neocc.engines.weighing import weighed
from neocc.io import write_store
from neocc.kernels import get_kernels

N, M = 96, 30
OPTIONS = {"row_overlap": 0.2, "row_outliers": 0.05, "random_state": 0}
OPTIONS |= {"n_init": 1, "refine": False, "max_iter": 10}
FOLLOWS = {"least_followed": 0, "least_updated": 0, "entries_per_sum": 0, "max_changed": 0.9}
CASES = ["mean", "residue", "poisson", "observed"]


def data(case, container="sparse"):
    if case != "poisson":
        return planted(container)
    X = np.random.default_rng(0).poisson(planted("dense", seed=1) ** 2 / 400.0)
    return sparse.csr_array(X.astype(float)) if container == "sparse" else X.astype(float)


def options(case, model="share"):
    found = {"overlap_model": model, "objective": case, **OPTIONS}
    if case == "observed":
        found |= {"objective": "mean", "missing": "ignore", "remove_effects": True}
    return found


def weights():
    rng = np.random.default_rng(2)
    return {"row_weight": rng.random(N) + 0.5, "column_weight": rng.random(M) + 0.5}


def store_of(tmp_path, X, name="data", rows_per_block=23):
    return write_store(tmp_path / name, X, rows_per_block=rows_per_block)


@pytest.mark.parametrize("container", ["dense", "sparse"])
@pytest.mark.parametrize("case", CASES)
def test_fits_of_stores_are_those_of_data_in_memory(tmp_path, case, container):
    X = data(case, container)
    store = store_of(tmp_path, X)
    model = "repeat" if container == "dense" else "average"
    here = NEOCC(4, 3, **options(case, model)).fit(X, **weights())
    there = NEOCC(4, 3, **options(case, model)).fit(store, **weights())
    assert same_bits(there, here)
    assert (there.predict_membership(store) == here.predict_membership(X)).all()


def cell_weights(X):
    W = X.copy()
    W.data = np.random.default_rng(4).random(X.nnz)
    return W


def test_weights_of_cells_may_be_in_a_store(tmp_path):
    X = data("observed")
    W, store = cell_weights(X), store_of(tmp_path, X)
    here = NEOCC(4, 3, **options("observed")).fit(X, cell_weight=W, **weights())
    stored = store_of(tmp_path, W, "weights", 31)
    dense = np.where(W.toarray() > 0, W.toarray(), 7.0)
    for given in (stored, W, dense):
        there = NEOCC(4, 3, **options("observed")).fit(store, cell_weight=given, **weights())
        assert same_bits(there, here)
    loaded = NEOCC(4, 3, engine="memory", **options("observed"))
    assert same_bits(loaded.fit(store, cell_weight=stored, **weights()), here)


def test_weights_of_other_cells_are_refused(tmp_path):
    X = data("observed")
    store = store_of(tmp_path, X)
    model = NEOCC(4, 3, **options("observed"))
    with pytest.raises(ValueError, match=r"cell_weight must have the shape of X, \(96, 30\)"):
        model.fit(store, cell_weight=np.ones((3, 40)))
    with pytest.raises(ValueError, match="cell_weight must store the same cells as X"):
        model.fit(store, cell_weight=store_of(tmp_path, planted("sparse", seed=9), "others"))
    with pytest.raises(ValueError, match=r"cell_weight must be 0, or from 1e-100 to 1e\+100"):
        model.fit(store, cell_weight=-cell_weights(X))


def test_starts_on_samples_have_the_weights_of_their_rows(tmp_path, monkeypatch):
    sampling = Sampling(entries=(100, 200), items_per_cluster=5, largest_searched=500)
    monkeypatch.setattr(NEOCC, "_sampling", sampling)
    for case in ("mean", "observed"):
        X, given = data(case), options(case)
        here = NEOCC(3, 3, **given).fit(X, **weights())
        store = store_of(tmp_path, X, case)
        assert same_bits(NEOCC(3, 3, **given).fit(store, **weights()), here)
        assert np.diff(here.history_).max() <= 1e-9 * abs(here.objective_)


@pytest.mark.parametrize("container", ["dense", "sparse"])
def test_blocks_of_a_store_are_weighed_when_they_are_read(tmp_path, container):
    X = data("poisson", container)
    a, b = weights().values()
    matrix = weighed(open_source(store_of(tmp_path, X)), a, b)
    expected = (X.toarray() if container == "sparse" else X) * a[:, None] * b

    def dense(block):
        return block.toarray() if sparse.issparse(block) else np.asarray(block)

    rows = np.array([90, 3, 60])
    np.testing.assert_allclose(dense(matrix.values[5:90]), expected[5:90], rtol=1e-15)
    np.testing.assert_allclose(dense(matrix.values[rows]), expected[rows], rtol=1e-15)
    source = matrix.values.source
    assert source.digest != weighed(open_source(source.source), a, None).values.source.digest
    assert isinstance(matrix.values, StoredRows)


@pytest.mark.parametrize("model", ["repeat", "share", "average", "either"])
def test_a_shard_that_follows_changes_gives_nearly_the_same(tmp_path, model):
    X = data("mean")
    store, rng = store_of(tmp_path, X), np.random.default_rng(1)
    given = dict(zip(("row_weights", "column_weights"), weights().values(), strict=True))
    rows, columns = Counts(N, 4, N + 20, 5), Counts(M, 3, M, 0)
    problem = Problem(MEAN, rows, columns, 12, 0.0, OVERLAP_MODELS[model](3), **given)
    pair = random_pair(problem, rng)
    found = []
    with Workers(1) as workers:
        for matrix, options in ((as_matrix(X), {}), (open_source(store), FOLLOWS)):
            passes = PassOptions(**{**MANY_BLOCKS, **options})
            engine = open_engine(matrix, get_kernels("numpy", 0), workers, options=passes)
            found.append(solve(engine, problem, pair))
    np.testing.assert_allclose(found[0].history, found[1].history, rtol=1e-12)
    assert (found[0].U.dense == found[1].U.dense).all()


def test_one_way_clusters_of_a_store(tmp_path):
    X, a = data("mean", "dense"), weights()["row_weight"]
    store = store_of(tmp_path, X)
    here, there = (
        NEOKMeans(4, overlap=0.2, random_state=0, n_init=2).fit(each, row_weight=a)
        for each in (X, store)
    )
    assert (here.history_ == there.history_).all()


# ----------------------------------------------------------------------------------------- Dask


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed", reason="dask and distributed are missing")
    with distributed.Client(
        processes=False,
        n_workers=2,
        threads_per_worker=1,
        dashboard_address=":0",
        set_as_default=False,
    ) as client:
        yield client


@pytest.mark.parametrize("case", ["mean", "poisson", "observed"])
def test_workers_give_the_answers_of_one_machine(client, tmp_path, case):
    X = data(case)
    store = store_of(tmp_path, X, rows_per_block=90)
    more = {"init": "random", "max_iter": 4}
    given = weights()
    if case == "observed":
        given["cell_weight"] = cell_weights(X)
    here = NEOCC(4, 3, **options(case) | more).fit(X, **given)
    for each in (X, store):
        there = NEOCC(4, 3, engine=client, **options(case) | more).fit(each, **given)
        assert same_fit(there, here)
