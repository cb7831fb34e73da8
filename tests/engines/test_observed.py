"""Observed cells in memory, in blocks, in stores and on workers: the same answers."""

from __future__ import annotations

import numpy as np
import observed
import pytest
from scipy import sparse
from stores import MANY_BLOCKS, same_bits, same_fit

from neocc import NEOCC
from neocc.core.biases import find_biases
from neocc.core.objectives import Observed
from neocc.core.overlap import OVERLAP_MODELS
from neocc.core.problem import Counts, Problem
from neocc.core.samples import Sampling
from neocc.core.solve import solve
from neocc.core.steps import make_features
from neocc.engines import PassOptions, Workers, on_cluster, open_engine
from neocc.engines.observed import open_observed, read_observed
from neocc.engines.stored import StoredRows
from neocc.io import open_store, write_store
from neocc.kernels import Memberships, get_kernels

OPTIONS = {
    "missing": "ignore",
    "remove_effects": True,
    "overlap_model": "share",
    "row_overlap": 0.2,
    "column_overlap": 0.2,
    "row_outliers": 0.05,
    "random_state": 0,
    "n_init": 2,
}


def ratings(n=160, m=40, dtype="float64"):
    """Ratings from 0 to 5, a third of them observed; two rows were never."""
    rng = np.random.default_rng(0)
    means = rng.normal(size=(4, 3))
    level = means[rng.integers(4, size=n)][:, rng.integers(3, size=m)] + rng.normal(size=(n, 1))
    X = np.clip(np.round(2.5 + level + 0.3 * rng.normal(size=(n, m))), 0, 5).astype(dtype)
    at = np.nonzero((rng.random((n, m)) < 0.35) & ~np.isin(np.arange(n), [7, n - 1])[:, None])
    return sparse.csr_array((X[at], at), shape=X.shape)


@pytest.fixture
def X():
    return ratings()


@pytest.fixture
def store(X, tmp_path):
    return write_store(tmp_path / "matrix", X, rows_per_block=23)


def problem_of(X, model="share"):
    counts = (Counts(n, 3, n + n // 5, n // 20) for n in X.shape)
    objective = Observed(background=True, shrinkage=2.0)
    return Problem(objective, *counts, 8, 0.0, OVERLAP_MODELS[model]())


def pair_of(X, problem):
    rng = np.random.default_rng(1)
    return tuple(
        Memberships.from_labels(rng.integers(3, size=n).astype(np.int32), 3) for n in X.shape
    )


def run(matrix, kernel="numpy", n_jobs=1, model="share", **options):
    problem = problem_of(matrix.values, model)
    pair = pair_of(matrix.values, problem)
    with Workers(n_jobs) as workers:
        passes = PassOptions(**options)
        engine = open_engine(matrix, get_kernels(kernel, 0), workers, options=passes)
        biases = find_biases(engine)
        rest = matrix.without(biases.mean + biases.rows, biases.columns)
        engine = open_engine(rest, get_kernels(kernel, 0), workers, options=passes)
        return biases, solve(engine, problem, pair)


def assert_same(one, other):
    for mine, others in zip(one[0], other[0], strict=True):
        assert (np.asarray(mine) == others).all()
    assert (one[1].history == other[1].history).all()
    for mine, others in zip(one[1].pair, other[1].pair, strict=True):
        assert (mine.dense == others.dense).all()


@pytest.mark.parametrize(
    ("model", "kernel", "dtype"),
    list(zip(observed.MODELS, ("numpy", "numba"), ("float64", "float32"), strict=True)),
)
def test_rows_in_a_store_give_the_bits_of_rows_in_memory(tmp_path, kernel, model, dtype):
    X = ratings(dtype=dtype)
    here = run(read_observed(X), kernel, model=model, **MANY_BLOCKS)
    for rows_per_block in (7, 160):
        store = write_store(tmp_path / str(rows_per_block), X, rows_per_block=rows_per_block)
        assert_same(run(open_observed(store, 2), kernel, model=model, **MANY_BLOCKS), here)
        assert_same(run(open_observed(store, 3), kernel, 3, model, **MANY_BLOCKS), here)
    assert_same(run(read_observed(X), kernel, 3, model, **MANY_BLOCKS), here)


def test_a_shard_that_follows_changes_gives_nearly_the_same(X, store):
    here = run(read_observed(X), **MANY_BLOCKS)
    follows = run(
        open_observed(store, 2),
        **{
            **MANY_BLOCKS,
            "least_followed": 0,
            "least_updated": 0,
            "entries_per_sum": 0,
            "max_changed": 0.9,
        },
    )
    np.testing.assert_allclose(follows[1].history, here[1].history, rtol=1e-12)
    for mine, others in zip(follows[1].pair, here[1].pair, strict=True):
        assert (mine.dense == others.dense).all()


def test_a_shard_that_follows_changes_counts_when_asked(store):
    U = Memberships.from_labels(np.zeros(160, dtype=np.int32), 2)
    with Workers(1) as workers:
        options = PassOptions(least_followed=0, least_updated=0)
        kernels = get_kernels("numpy", 0)
        engine = open_engine(open_observed(store, 2), kernels, workers, options=options)
        assert engine.column_features(U, None).counts is None
        assert engine.column_features(U, None, counts=True).counts.sum() == store.n_stored


def test_kernels_agree(X):
    numpy, numba = (run(read_observed(X), kernel) for kernel in ("numpy", "numba"))
    np.testing.assert_allclose(numpy[1].history, numba[1].history, rtol=1e-12)
    for mine, others in zip(numpy[1].pair, numba[1].pair, strict=True):
        assert (mine.dense == others.dense).all()


@pytest.mark.parametrize("refine", [False, True])
def test_fits_of_stores_are_those_of_data_in_memory(X, store, refine):
    model = NEOCC(4, 3, refine=refine, **OPTIONS)
    here = model.fit(X)
    there = NEOCC(4, 3, refine=refine, **OPTIONS).fit(open_store(store.path))
    assert same_bits(there, here)
    assert (there.row_effects_ == here.row_effects_).all()
    loaded = NEOCC(4, 3, refine=refine, engine="memory", **OPTIONS).fit(store)
    assert same_bits(loaded, here)
    assert (there.predict_membership(store) == here.predict_membership(X)).all()


def test_a_dense_store_has_observed_all(tmp_path):
    X = np.random.default_rng(0).normal(size=(30, 20))
    store = write_store(tmp_path / "dense", X, rows_per_block=7)
    assert same_bits(NEOCC(3, 2, **OPTIONS).fit(store), NEOCC(3, 2, **OPTIONS).fit(X))


def test_samples_of_a_store_are_those_of_data_in_memory(X, store):
    biases = np.arange(160.0), np.arange(40.0)
    here, there = read_observed(X).without(*biases), open_observed(store, 2).without(*biases)
    rows, columns = np.array([3, 7, 150]), np.array([30, 2])
    full = here.block(0, 160).matrix().toarray()
    for matrix in (here, there):
        assert (matrix.take(rows).block(0, 3).matrix().toarray() == full[rows]).all()
        some = matrix.take_columns(columns)
        assert (some.block(0, 160).matrix().toarray() == full[:, columns]).all()
        assert some.n_stored == X[:, columns].nnz
    lazy = open_observed(store, 2)
    lazy.values.copied_bytes = 0
    for taken in (
        lazy.without(*biases).take(rows),
        lazy.take(rows).without(biases[0][rows], biases[1]),
    ):
        assert isinstance(taken.values, StoredRows)
        assert (taken.block(0, 3).matrix().toarray() == full[rows]).all()


def test_weights_stay_with_their_cells(X):
    rng = np.random.default_rng(0)
    W = X.copy()
    W.data = rng.random(X.nnz)
    matrix = read_observed(X, weights=W).without(np.arange(160.0), np.arange(40.0))
    rows, columns = np.array([3, 5, 150]), np.array([30, 2])
    assert (matrix.take(rows).weights == W[rows].data).all()
    some = matrix.take_columns(columns)
    assert (some.weights == W[:, columns].data).all()
    block = some.block(2, 9)
    at = block.stored()
    values = block.data[at] / np.sqrt(block.weights[at])
    expected = X[2:9][:, columns]
    effects = np.repeat(np.arange(2.0, 9.0), np.diff(expected.indptr)) + columns[expected.indices]
    np.testing.assert_allclose(values, expected.data - effects, rtol=1e-12)


def test_starts_on_samples_are_of_observed_cells(X, store, monkeypatch):
    sampling = Sampling(entries=(100, 200), items_per_cluster=5, largest_searched=500)
    monkeypatch.setattr(NEOCC, "_sampling", sampling)
    here = NEOCC(3, 3, **OPTIONS).fit(X)
    assert same_bits(NEOCC(3, 3, **OPTIONS).fit(store), here)
    assert np.diff(here.history_).max() <= 1e-9 * here.objective_


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


def test_workers_give_the_answers_of_one_machine(client, X, store):
    options = {**OPTIONS, "refine": False, "init": "random", "n_init": 1, "max_iter": 8}
    here = NEOCC(4, 3, **options).fit(X)
    for data in (X, store):
        there = NEOCC(4, 3, engine=client, **options).fit(data)
        assert same_fit(there, here)
        np.testing.assert_allclose(there.row_effects_, here.row_effects_, rtol=1e-9, atol=1e-12)


def test_features_on_workers_are_those_of_one_machine(client, X):
    problem = problem_of(X)
    pair = pair_of(X, problem)
    matrix = read_observed(X).without(np.arange(160.0), np.arange(40.0))
    with Workers(1) as workers:
        here = open_engine(matrix, get_kernels("numpy", 0), workers)
        there = on_cluster(matrix, client, "numpy", workers, 300)
        one, other = (make_features(engine, problem, pair) for engine in (here, there))
        np.testing.assert_allclose(one.counts, other.counts, rtol=1e-12)
        np.testing.assert_allclose(one.sums, other.sums, rtol=1e-12)
        rows = np.array([4, 90])
        some = there.sample("rows", rows)
        assert (some.take_rows(np.arange(2)) == here.take_rows(rows)).all()
