"""Fits on a cluster: the answers of the memory engine, for any workers and any blocks."""

from __future__ import annotations

import pickle
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from instances import make_counts, make_engine, make_membership, members, planted
from scipy import sparse

from neocc import NEOCC, NEOKMeans
from neocc.core import incremental, initialise
from neocc.core.problem import Counts, Problem
from neocc.core.solve import centring, solve
from neocc.core.tables import row_tables
from neocc.datasets import fetch_movielens_1m
from neocc.engines import ClusterLostError, DaskEngine, Workers
from neocc.engines.cluster import rows as on_worker
from neocc.engines.cluster import tasks
from neocc.io import open_store, write_store

distributed = pytest.importorskip("distributed", reason="dask and distributed are not installed")

OBJECTIVES = ("mean", "residue")


@pytest.fixture(scope="module")
def client():
    """Two workers in this process."""
    with in_process(2) as client:
        yield client


def in_process(n_workers):
    return distributed.Client(
        processes=False,
        n_workers=n_workers,
        threads_per_worker=1,
        dashboard_address=":0",
        set_as_default=False,
    )


@pytest.fixture(scope="module")
def one_thread():
    with Workers(1) as workers:
        yield workers


@pytest.fixture(params=["dense", "far off", "sparse"])
def X(request):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 20)) * (rng.random((90, 20)) < 0.5)
    if request.param == "sparse":
        return sparse.csr_array(X)
    return X + 1e3 * rng.random((90, 1)) + 1e3 if request.param == "far off" else X


def sides(X):
    rng = np.random.default_rng(1)
    rows, columns = make_counts(rng, X.shape[0], 4), make_counts(rng, X.shape[1], 3)
    U, V = make_membership(rng, rows), make_membership(rng, columns)
    return rows, columns, members(U), members(V)


def both_engines(X, client, workers, block_entries=300, kernel="numpy"):
    here = make_engine(X, kernel, workers)
    return here, DaskEngine.of_matrix(here.matrix, client, kernel, workers, block_entries)


def everything(engine, X, objective):
    """All that an engine computes for one problem."""
    rows, columns, U, V = sides(X)
    problem = Problem(objective, rows, columns)
    data = engine.centred(centring(problem))
    sums = data.column_sums(U, V)
    tables = row_tables(problem, sums, U, V)
    step = data.reassign_rows(tables, U, V, rows)
    rng = np.random.default_rng(2)
    n, m = data.shape
    some, changed = np.array([71, 3, 3, 44]), np.array([0, 7, 8, 60])
    other = members(np.roll(U.dense, 1, axis=1))
    means = rng.normal(size=(4, 3))
    distances, labels, minima = data.nearest_rows(tables, V)
    return {
        "shape": data.shape,
        "n_stored": data.n_stored,
        "column effects": data.column_effects,
        "by_cluster": sums.by_cluster,
        "squares": sums.squares,
        "products": sums.products,
        "energy": sums.energy,
        "only squares": data.column_sums(None, None).squares,
        "no squares": data.column_sums(U, None, squares=False).by_cluster,
        "changed": data.changed_sums(changed, U.take(changed), other.take(changed), V).products,
        "distances": data.row_distances(tables, V),
        "comparable distances": distances,
        "labels": labels,
        "minima": minima,
        "objective": step.objective,
        "members": step.assignment.members.dense,
        "limits": (step.assignment.nearest_limit, step.assignment.extra_limit),
        "row squares": data.row_squares(),
        "multiply": data.multiply(rng.normal(size=(m, 3))),
        "multiply_transposed": data.multiply_transposed(rng.normal(size=(n, 3))),
        "take_rows": data.take_rows(some),
        "sample": data.sample_rows(some).row_squares(),
        "table": data.over_table(means).row_squares(),
        "residuals": data.residual_squares(means, U, V),
        "restored vectors": data.effects.restore_vectors(sums.by_cluster.T, U),
        "restored means": data.effects.restore_means(means, U, V),
    }


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_every_number_is_that_of_the_memory_engine(X, client, one_thread, objective):
    here, there = both_engines(X, client, one_thread)
    assert len(there.layout.edges) > 4
    expected, found = (everything(engine, X, objective) for engine in (here, there))
    for name, value in expected.items():
        if name in ("members", "labels", "shape", "n_stored"):
            np.testing.assert_array_equal(found[name], value, err_msg=name)
        else:
            scale = np.max(np.abs(np.where(np.isfinite(value), value, 0.0)))
            np.testing.assert_allclose(
                found[name], value, rtol=1e-12, atol=1e-12 * scale, err_msg=name
            )


@pytest.mark.parametrize("least_entries", [0, incremental.LEAST_ENTRIES])
def test_same_bits_for_any_number_of_workers(one_thread, monkeypatch, least_entries):
    monkeypatch.setattr(incremental, "LEAST_ENTRIES", least_entries)
    monkeypatch.setattr(incremental, "_MOST_CHANGED", 1.0)
    X = sparse.csr_array(planted(np.random.default_rng(0), 60, 20))
    rows, columns, U, V = sides(X)
    problem = Problem("mean", rows, columns, max_iter=4)
    here = solve(make_engine(X, workers=one_thread), problem, U, V)
    results = []
    for n_workers in (1, 2, 4):
        with in_process(n_workers) as client:
            _, engine = both_engines(X, client, one_thread, 400)
            results.append((len(engine.units), solve(engine, problem, U, V)))
    assert len({n_units for n_units, _ in results}) == 3
    _, first = results[0]
    np.testing.assert_array_equal(first.U.dense, here.U.dense)
    np.testing.assert_allclose(first.history, here.history, rtol=1e-12)
    for _, other in results[1:]:
        np.testing.assert_array_equal(other.U.dense, first.U.dense)
        np.testing.assert_array_equal(other.V.dense, first.V.dense)
        np.testing.assert_array_equal(other.history, first.history)
        np.testing.assert_array_equal(other.sums.by_cluster, first.sums.by_cluster)


def test_an_empty_cluster_is_seeded_as_in_memory(client, one_thread):
    X = planted(np.random.default_rng(3), 40, 12)
    counts, columns = Counts(40, 3, 44, 2), Counts(12, 2, 12, 0)
    U, V = np.zeros((40, 3), dtype=bool), np.zeros((12, 2), dtype=bool)
    U[:38, 0] = U[:6, 1] = V[:5, 0] = V[5:, 1] = True  # cluster 2 is empty
    problem = Problem("mean", counts, columns)
    steps = []
    for engine in both_engines(X, client, one_thread, 100):
        sums = engine.column_sums(members(U), None)
        tables = row_tables(problem, sums, members(U), members(V))
        steps.append(engine.reassign_rows(tables, members(U), members(V), counts).assignment)
    assert steps[0].members.sizes[2] == 1
    np.testing.assert_array_equal(steps[1].members.dense, steps[0].members.dense)
    # What the workers hold is not what was decided: the next pass must be told.
    for engine, step in zip(both_engines(X, client, one_thread, 100), steps, strict=True):
        sums = engine.column_sums(step.members, None)
        np.testing.assert_allclose(sums.by_cluster, X.T @ step.members.indicator, atol=1e-11)


# -------------------------------------------------------------------------------- estimators


def assert_same_fit(found, expected):
    for name in ("row_membership_", "column_membership_", "membership_"):
        if hasattr(expected, name):
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-12)
    for name in ("block_means_", "cluster_centers_"):
        if hasattr(expected, name):
            np.testing.assert_allclose(
                getattr(found, name), getattr(expected, name), rtol=1e-9, atol=1e-12
            )


SETTINGS = {"row_overlap": 0.1, "row_outliers": 0.05, "column_overlap": 0.1, "random_state": 0}


@pytest.mark.parametrize("init", ["neo-kmeans", "random", "spectral", "sketch"])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_starts_run_on_the_cluster(client, objective, init):
    X = planted(np.random.default_rng(0), 60, 20)
    model = NEOCC(3, 2, objective=objective, init=init, n_init=1, refine=False, max_iter=3)
    model.set_params(**SETTINGS)
    expected = model.fit(X)
    found = NEOCC(**{**model.get_params(), "engine": client}).fit(X)
    assert_same_fit(found, expected)


def test_neokmeans_runs_on_the_current_client(client):
    with client.as_current():
        X = sparse.csr_array(planted(np.random.default_rng(0), 60, 20))
        model = NEOKMeans(3, overlap=0.1, outliers=0.05, n_init=1, max_iter=3, random_state=0)
        expected = model.fit(X)
        found = NEOKMeans(**{**model.get_params(), "engine": "dask"}).fit(X)
    assert_same_fit(found, expected)
    np.testing.assert_array_equal(found.predict(X), expected.predict(X))


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_search_on_a_sample_ends_on_the_cluster(client, objective, monkeypatch):
    monkeypatch.setattr(initialise, "_SAMPLE_ENTRIES", (100, 1000))
    monkeypatch.setattr(initialise, "_LARGEST_SEARCHED", 0)
    X = sparse.csr_array(planted(np.random.default_rng(0), 700, 8, 2, 2))
    model = NEOCC(2, 2, objective=objective, n_init=1, max_iter=4).set_params(**SETTINGS)
    model.set_params(init="random")
    expected = model.fit(X)
    found = NEOCC(**{**model.get_params(), "engine": client}).fit(X)
    assert_same_fit(found, expected)


def test_overlap_can_be_estimated_on_the_cluster(client):
    X = planted(np.random.default_rng(0), 40, 20)
    model = NEOCC(2, 2, row_overlap="auto", row_outliers="auto", n_init=1, refine=False, max_iter=2)
    model.set_params(init="random", random_state=0)
    expected = model.fit(X)
    found = NEOCC(**{**model.get_params(), "engine": client}).fit(X)
    assert_same_fit(found, expected)
    assert found.row_estimate_.overlap == expected.row_estimate_.overlap


# ------------------------------------------------------------------------------------ stores


@pytest.mark.parametrize("kind", ["sparse", "dense"])
@pytest.mark.parametrize("rows_per_block", [7, 25, 100])
def test_blocks_of_a_store_are_read_by_the_workers(client, tmp_path, kind, rows_per_block):
    X = planted(np.random.default_rng(0), 60, 20)
    X = sparse.csr_array(X * (X > 0)) if kind == "sparse" else X
    store = write_store(tmp_path / "store", X, rows_per_block=rows_per_block)
    model = NEOCC(3, 2, init="random", n_init=1, refine=False, max_iter=3).set_params(**SETTINGS)
    expected = model.fit(X)
    found = NEOCC(**{**model.get_params(), "engine": client}).fit(store)
    assert_same_fit(found, expected)


def test_rows_of_a_store_travel_as_the_way_to_get_them(tmp_path):
    X = sparse.random_array((2000, 50), density=0.5, rng=0, format="csr")
    write_store(tmp_path / "store", X, rows_per_block=500)
    store = open_store(tmp_path / "store")
    [held] = on_worker.hold(store, [2], kernel="numpy", is_dense=False)
    held.norms  # noqa: B018
    assert sys.getsizeof(held) > 100_000
    sent = pickle.dumps(held)
    assert len(sent) < 5_000
    arrived = pickle.loads(sent)
    np.testing.assert_array_equal(arrived.matrix.scipy().toarray(), X[1000:1500].toarray())
    np.testing.assert_array_equal(arrived.norms, held.norms)


def test_a_damaged_block_is_named(client, tmp_path):
    X = sparse.random_array((60, 20), density=0.5, rng=0, format="csr")
    write_store(tmp_path / "store", X, rows_per_block=20)
    store = open_store(tmp_path / "store")
    damaged = next(path for path in sorted((tmp_path / "store").rglob("*data*")) if path.is_file())
    content = bytearray(damaged.read_bytes())
    content[-1] ^= 1
    damaged.write_bytes(content)
    with pytest.raises(Exception, match=r"(?i)checksum|damaged|changed"):
        NEOCC(2, 2, engine=client, init="random", n_init=1, refine=False).fit(store)


@pytest.mark.slow
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_ratings_give_the_same_answer(client, data_folder, tmp_path, objective):
    X = fetch_movielens_1m(data_home=data_folder).data
    model = NEOCC(8, 6, objective=objective, init="random", n_init=1, refine=False, max_iter=15)
    model.set_params(**SETTINGS)
    expected = model.fit(X)
    on_cluster = {**model.get_params(), "engine": client}
    for rows_per_block in (500, 2500):
        store = write_store(tmp_path / str(rows_per_block), X, rows_per_block=rows_per_block)
        assert_same_fit(NEOCC(**on_cluster).fit(store), expected)
    assert_same_fit(NEOCC(**on_cluster).fit(X), expected)


# ------------------------------------------------------------------------------------- tasks


def test_tasks_have_names_that_can_be_read(client, one_thread):
    from dask.utils import key_split

    X = planted(np.random.default_rng(0), 60, 20)
    _, engine = both_engines(X, client, one_thread)
    assert {key_split(future.key) for future in engine.units} == {"neocc-load"}


def test_nothing_is_kept_after_a_fit(client):
    X = planted(np.random.default_rng(0), 60, 20)
    NEOCC(2, 2, engine=client, init="random", n_init=1, refine=False, max_iter=2).fit(X)
    client.sync(client.scheduler.identity)
    assert not [key for key in client.futures if "neocc" in str(key)]


@pytest.mark.parametrize("n_blocks", [1, 2, 5, 9, 12, 16, 33])
@pytest.mark.parametrize("n_threads", [1, 2, 4, 100])
def test_units_keep_the_tree_and_spread_evenly(n_blocks, n_threads):
    units = tasks.cut_units(n_blocks, n_threads)
    assert [block for unit in units for block in unit] == list(range(n_blocks))
    sizes = {len(unit) for unit in units[:-1]} or {1}
    assert len(sizes) == 1
    size = sizes.pop()
    assert size & (size - 1) == 0
    busiest = size * -(-len(units) // n_threads)
    assert busiest <= 1.25 * -(-n_blocks // n_threads)


def test_units_are_few_where_blocks_are_many():
    assert len(tasks.cut_units(16, 2)) == 2
    assert len(tasks.cut_units(1000, 8)) < 100


def test_the_tree_of_sums_does_not_depend_on_units():
    rng = np.random.default_rng(0)
    parts = [rng.normal(size=5) * 10.0 ** rng.integers(-9, 9) for _ in range(23)]
    flat = on_worker.add(parts)
    for size in (2, 4, 8, 16, 32):
        units = [on_worker.add(parts[at : at + size]) for at in range(0, len(parts), size)]
        np.testing.assert_array_equal(on_worker.add(units), flat)


# -------------------------------------------------------------------------------- what fails


def test_a_client_that_closes_ends_the_fit_and_keeps_the_best_start():
    callback = pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9")
    assert callback

    class Closer:
        def setup(self, estimator, context): ...
        def teardown(self, estimator, context): ...
        def on_fit_task_begin(self, estimator, context):
            if context.task_name == "start" and context.task_id == 1:
                client.close()

        def on_fit_task_end(self, estimator, context):
            return False

    X = planted(np.random.default_rng(0), 60, 20)
    model = NEOCC(3, 2, init="random", n_init=2, refine=False, max_iter=2, random_state=0)
    first = NEOCC(**{**model.get_params(), "n_init": 1}).fit(X)
    with in_process(1) as client:
        model.set_params(engine=client).set_callbacks(Closer())
        with pytest.raises(ClusterLostError, match=r"connection to the cluster .* ended"):
            model.fit(X)
    np.testing.assert_array_equal(model.row_membership_, first.row_membership_)


def test_no_client_is_a_clear_error():
    with pytest.raises(ValueError, match=r"there is none. Make one first"):
        NEOCC(2, 2, engine="dask").fit(np.eye(4))


def test_something_else_than_a_client_is_refused():
    with pytest.raises(ValueError, match="'engine' parameter"):
        NEOCC(2, 2, engine=object()).fit(np.eye(4))


def test_no_workers_is_a_clear_error(one_thread):
    with (
        in_process(0) as client,
        pytest.raises(ClusterLostError, match=r"has no workers. Start some"),
    ):
        NEOCC(2, 2, engine=client).fit(np.eye(4))


def test_dask_is_named_where_it_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r'pip install "neocc\[dask\]"'):
        NEOCC(2, 2, engine="dask").fit(np.eye(4))


def test_neocc_does_not_import_dask_by_itself():
    code = "import sys, neocc; neocc.NEOCC; print('dask' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"


def test_memberships_travel_without_tables_made_on_demand():
    U = members(np.eye(50, dtype=bool))
    small = len(pickle.dumps(U))
    assert U.indicator.shape == (50, 50)
    assert len(pickle.dumps(U)) == small
    assert replace(U) is not U
