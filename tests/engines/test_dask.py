"""Fits on a cluster: the answers of the memory engine, for any workers and any blocks."""

from __future__ import annotations

import pickle
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from instances import make_counts, make_engine, make_membership, members, planted
from scipy import sparse

from neocc import NEOCC, NEOKMeans
from neocc.core.initialise import random_pair
from neocc.core.objectives import KMEANS, OBJECTIVES
from neocc.core.objectives.mean import residual_squares
from neocc.core.overlap import make_overlap_model
from neocc.core.problem import Counts, Problem
from neocc.core.samples import Sampling
from neocc.core.solve import solve
from neocc.core.steps import make_features, make_terms
from neocc.datasets import fetch_movielens_1m
from neocc.engines import ClusterLostError, DenseMatrix, SparseMatrix, Workers, on_cluster
from neocc.engines.cluster import remote, tasks
from neocc.io import open_store, write_store

distributed = pytest.importorskip("distributed", reason="dask and distributed are not installed")

NAMES = ("mean", "residue")


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


def both_engines(X, client, workers, shard_entries=300, kernel="numpy"):
    here = make_engine(X, kernel, workers)
    matrix = here.shards.each[0].matrix
    return here, on_cluster(matrix, client, kernel, workers, shard_entries)


def everything(engine, X, objective):
    """All that an engine computes for one problem."""
    rows, columns, U, V = sides(X)
    problem = Problem(OBJECTIVES[objective], rows, columns)
    data = engine.centred(problem.centring)
    features = data.column_features(U, V)
    terms = make_terms(problem, "rows", features, (U, V))
    step = data.assign_rows(problem, terms, U, V)
    rng = np.random.default_rng(2)
    n, m = data.shape
    some = np.array([71, 3, 3, 44])
    few = np.array([11, 3])
    means = rng.normal(size=(4, 3))
    scores = data.row_scores(terms, V)
    return {
        "shape": data.shape,
        "n_stored": data.n_stored,
        "row effects": data.effects.rows,
        "column effects": data.effects.columns,
        "sums": features.sums,
        "squares": features.squares,
        "products": features.products,
        "only squares": data.column_features(None, None).squares,
        "no squares": data.column_features(U, None, base=None).sums,
        "distances": data.row_distances(terms, V),
        "comparable distances": scores.d,
        "labels": scores.labels,
        "minima": scores.minima,
        "objective": step.objective,
        "members": step.members.dense,
        "thresholds": step.thresholds,
        "row squares": data.row_squares(),
        "weighted row squares": data.row_squares(rng.random(m)),
        "column squares": data.column_squares(),
        "weighted column squares": data.column_squares(rng.random(n)),
        "multiply": data.multiply(rng.normal(size=(m, 3))),
        "multiply_transposed": data.multiply_transposed(rng.normal(size=(n, 3))),
        "take_rows": data.take_rows(some),
        "some rows": data.sample("rows", some).row_squares(),
        "some columns": data.sample("columns", few).take_rows(some),
        "effects of some columns": data.sample("columns", few).effects.columns,
        "table": data.over_table(means).row_squares(),
        "residuals": data.sum_blocks(residual_squares, U, means, V),
        "restored vectors": data.effects.restore(features.sums.T, U, None),
        "restored means": data.effects.restore(means, U, V),
    }


@pytest.mark.parametrize("objective", NAMES)
def test_every_number_is_that_of_the_memory_engine(X, client, one_thread, objective):
    here, there = both_engines(X, client, one_thread)
    assert len(there.shards.edges) > 4
    expected, found = (everything(engine, X, objective) for engine in (here, there))
    for name, value in expected.items():
        if value is None or name in ("members", "labels", "shape", "n_stored"):
            np.testing.assert_array_equal(found[name], value, err_msg=name)
        else:
            scale = np.max(np.abs(np.where(np.isfinite(value), value, 0.0)))
            np.testing.assert_allclose(
                found[name], value, rtol=1e-12, atol=1e-12 * scale, err_msg=name
            )


def assert_same_bits(found, expected):
    for name in ("U", "V"):
        one, other = getattr(found, name), getattr(expected, name)
        assert (one is None) == (other is None)
        if one is not None:
            np.testing.assert_array_equal(one.dense, other.dense)
    np.testing.assert_array_equal(found.history, expected.history)
    for one, other in zip(found.features.tables(), expected.features.tables(), strict=True):
        np.testing.assert_array_equal(one, other)
    assert (found.objective, found.thresholds) == (expected.objective, expected.thresholds)


@pytest.mark.parametrize(
    ("objective", "kind"), [("mean", "sparse"), ("residue", "dense"), ("kmeans", "sparse")]
)
def test_same_bits_for_any_number_of_workers(one_thread, kind, objective):
    """Shards are the same for all; which of them share a task and a worker is not."""
    X = planted(np.random.default_rng(0), 60, 20)
    X = sparse.csr_array(X) if kind == "sparse" else X
    rows, columns, U, V = sides(X)
    if objective == "kmeans":
        problem, pair = Problem(KMEANS, rows, None, max_iter=4), (U, None)
    else:
        problem, pair = Problem(OBJECTIVES[objective], rows, columns, max_iter=4), (U, V)
    here = solve(make_engine(X, workers=one_thread), problem, pair)
    results = []
    for n_workers in (1, 4):
        with in_process(n_workers) as client:
            _, engine = both_engines(X, client, one_thread, 400 if kind == "sparse" else 100)
            results.append((len(engine.shards.tasks.units), solve(engine, problem, pair)))
    assert len({n_units for n_units, _ in results}) == 2
    _, first = results[0]
    np.testing.assert_array_equal(first.U.dense, here.U.dense)
    if here.V is not None:
        np.testing.assert_array_equal(first.V.dense, here.V.dense)
    np.testing.assert_allclose(first.history, here.history, rtol=1e-12)
    for _, other in results[1:]:
        assert_same_bits(other, first)


def test_an_empty_cluster_is_seeded_as_in_memory(client, one_thread):
    X = planted(np.random.default_rng(3), 40, 12)
    counts, columns = Counts(40, 3, 44, 2), Counts(12, 2, 12, 0)
    U, V = np.zeros((40, 3), dtype=bool), np.zeros((12, 2), dtype=bool)
    U[:38, 0] = U[:6, 1] = V[:5, 0] = V[5:, 1] = True  # cluster 2 is empty
    problem, pair = Problem(OBJECTIVES["mean"], counts, columns), (members(U), members(V))
    steps, sums = [], []
    for engine in both_engines(X, client, one_thread, 100):
        terms = make_terms(problem, "rows", engine.column_features(pair[0], None), pair)
        steps.append(engine.assign_rows(problem, terms, *pair))
        # What the workers hold is not what was decided: the next pass must be told.
        sums.append(engine.column_features(steps[-1].members, None).sums)
    assert steps[0].members.sizes[2] == 1
    np.testing.assert_array_equal(steps[1].members.dense, steps[0].members.dense)
    for found in sums:
        np.testing.assert_allclose(found, X.T @ steps[0].members.indicator, atol=1e-11)


def full_sides(n, m):
    """Overlapping clusters, none of them empty: a row step has none to fill."""
    U, V = np.arange(n)[:, None] % 4 == np.arange(4), np.arange(m)[:, None] % 3 == np.arange(3)
    U[:6] |= np.roll(U[:6], 1, axis=1)
    return Counts(n, 4, n + 6, 3), Counts(m, 3, m, 0), members(U), members(V)


def row_step(engine, problem, pair):
    terms = make_terms(problem, "rows", make_features(engine, problem, (pair[0], None)), pair)
    return engine.assign_rows(problem, terms, *pair).members


ASKED = {
    "the same": lambda U, V: (U, V),
    "a copy": lambda U, V: (members(U.dense), V),
    "other rows": lambda U, V: (members(np.roll(U.dense, 1, axis=1)), V),
    "other columns": lambda U, V: (U, members(np.roll(V.dense, 1, axis=1))),
    "no columns": lambda U, V: (U, None),
}


@pytest.mark.parametrize("model", ["repeat", "share", "average", "sum"])
def test_small_clusters_are_enlarged_as_in_memory(client, one_thread, model):
    """With every overlap model: weights of memberships come back whole from all shards."""
    rng = np.random.default_rng(0)
    X = planted(rng, 60, 20, noise=2.0)
    rows, columns = Counts(60, 4, 64, 3, 14), Counts(20, 3, 20, 0, 6)
    overlap_model = make_overlap_model(model, 3, "mean")
    problem = Problem(OBJECTIVES["mean"], rows, columns, 4, overlap_model=overlap_model)
    pair = random_pair(problem, rng)
    one, other = (
        solve(each.centred(problem.centring), problem, pair)
        for each in both_engines(X, client, one_thread)
    )
    np.testing.assert_array_equal(one.U.dense, other.U.dense)
    np.testing.assert_array_equal(one.V.dense, other.V.dense)
    np.testing.assert_allclose(one.history, other.history, rtol=1e-11)
    assert one.U.dense.sum(axis=0).min() >= 14
    assert one.V.dense.sum(axis=0).min() >= 6


def test_memberships_that_workers_hold_serve_no_others(client, one_thread):
    """What workers have assigned is not sent to them again; other memberships are."""
    X = planted(np.random.default_rng(3), 60, 20, noise=3.0)
    rows, columns, U, V = full_sides(60, 20)
    problem = Problem(OBJECTIVES["residue"], rows, columns)
    engines = both_engines(X, client, one_thread)
    found = [row_step(engine, problem, (U, V)) for engine in engines]
    np.testing.assert_array_equal(found[1].dense, found[0].dense)
    for asked, make in ASKED.items():
        wanted, given = (
            engine.column_features(*make(each, V))
            for engine, each in zip(engines, found, strict=True)
        )
        for one, two in zip(given.tables(), wanted.tables(), strict=True):
            np.testing.assert_allclose(one, two, rtol=1e-11, atol=1e-9, err_msg=asked)


def test_few_steps_send_memberships(client, one_thread, monkeypatch):
    """Workers know the rows that they have assigned; once in a while they are told again.

    All that such memberships were made of would have to be made again if a worker was lost.
    """
    sent, real = [], tasks.Tasks.by_unit
    monkeypatch.setattr(tasks.Tasks, "by_unit", lambda *a: sent.append(a[1][0]) or real(*a))
    X = planted(np.random.default_rng(4), 80, 20, noise=3.0)
    rows, columns, U, V = full_sides(80, 20)
    problem = Problem(OBJECTIVES["mean"], rows, columns)
    _, engine = both_engines(X, client, one_thread)
    n_sent = []
    for _ in range(20):
        sent.clear()
        U = row_step(engine, problem, (U, V))
        n_sent.append(sum(hasattr(part, "first") for part in sent))
    # In the features before the first step, and in the step itself; then once in eight.
    assert n_sent[0] == 2
    assert set(n_sent[1:8]) == {0}
    assert sum(each > 0 for each in n_sent[1:]) == 2


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
@pytest.mark.parametrize("objective", NAMES)
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


@pytest.mark.parametrize("objective", NAMES)
def test_a_search_on_a_sample_ends_on_the_cluster(client, objective):
    class Sampled(NEOCC):
        _sampling = Sampling(entries=(100, 1000), largest_searched=0)

    X = sparse.csr_array(planted(np.random.default_rng(0), 700, 8, 2, 2))
    model = Sampled(2, 2, objective=objective, n_init=1, max_iter=4).set_params(**SETTINGS)
    model.set_params(init="random")
    expected = model.fit(X)
    found = Sampled(**{**model.get_params(), "engine": client}).fit(X)
    assert_same_fit(found, expected)


def test_a_default_fit_on_the_cluster_begins_with_the_plain_starts(client):
    """It never ends above them, also where these are short runs at first."""

    class Raced(NEOCC):
        _sampling = Sampling(entries=(100, 1000), largest_searched=0, embedded=(0, 0))

    X = sparse.csr_array(planted(np.random.default_rng(0), 700, 8, 2, 2))
    lowest = np.inf
    for refine in (False, True):
        options = {"objective": "residue", "refine": refine, "max_iter": 4, "random_state": 0}
        model = Raced(2, 2, n_init=3, **options)
        expected = model.fit(X)
        found = Raced(**{**model.get_params(), "engine": client}).fit(X)
        assert_same_fit(found, expected)
        assert found.objective_ <= lowest
        lowest = found.objective_


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
    X = sparse.random_array(
        (2000, 50), density=0.5, random_state=np.random.default_rng(0), format="csr"
    )
    write_store(tmp_path / "store", X, rows_per_block=500)
    store = open_store(tmp_path / "store")
    [held] = remote.hold([2], store, kernel="numpy", kind=SparseMatrix)
    squares = held.shard.row_squares()
    assert sys.getsizeof(held) > 100_000
    sent = pickle.dumps(held)
    assert len(sent) < 5_000
    arrived = pickle.loads(sent)
    np.testing.assert_array_equal(arrived.matrix.values.toarray(), X[1000:1500].toarray())
    np.testing.assert_array_equal(arrived.shard.row_squares(), squares)


def test_a_damaged_block_is_named(client, tmp_path):
    X = sparse.random_array(
        (60, 20), density=0.5, random_state=np.random.default_rng(0), format="csr"
    )
    write_store(tmp_path / "store", X, rows_per_block=20)
    store = open_store(tmp_path / "store")
    damaged = next(path for path in sorted((tmp_path / "store").rglob("*data*")) if path.is_file())
    content = bytearray(damaged.read_bytes())
    content[-1] ^= 1
    damaged.write_bytes(content)
    with pytest.raises(Exception, match=r"(?i)checksum|damaged|changed"):
        NEOCC(2, 2, engine=client, init="random", n_init=1, refine=False).fit(store)


@pytest.mark.slow
@pytest.mark.parametrize("objective", NAMES)
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
    assert {key_split(future.key) for future in engine.shards.each.keys} == {"neocc-load"}


def test_nothing_is_kept_after_a_fit(client):
    X = planted(np.random.default_rng(0), 60, 20)
    # What tests that failed a fit on purpose left in a traceback is none of this fit's.
    before = set(client.futures)
    NEOCC(2, 2, engine=client, init="random", n_init=1, refine=False, max_iter=2).fit(X)
    end = time.monotonic() + 60.0
    while kept := set(client.futures) - before:
        # They are released in the background, late if the machine is busy.
        assert time.monotonic() < end, kept
        client.sync(client.scheduler.identity)


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
    flat = remote.add(parts)
    for size in (2, 4, 8, 16, 32):
        units = [remote.add(parts[at : at + size]) for at in range(0, len(parts), size)]
        np.testing.assert_array_equal(remote.add(units), flat)


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


def test_choices_of_workers_outlive_the_next_row_step():
    """Dask may ask for an earlier result again, or make it again on top of a later one."""
    from neocc.core.overlap import REPEAT

    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 12))
    [held] = remote.hold([X], None, "numpy", kind=DenseMatrix)
    U, V = (members(np.eye(3, dtype=bool)[rng.integers(3, size=n)]) for n in (30, 12))
    model = OBJECTIVES["mean"]
    terms = model.terms("rows", held.shard.column_features(U, None), (U, V))
    first = held.shard.choices(U, terms, V, REPEAT, True)
    kept = first.scores.d.copy()
    other = members(np.roll(U.dense, 1, axis=0))
    terms = model.terms("rows", held.shard.column_features(other, None), (other, V))
    held.shard.choices(other, terms, V, REPEAT, True)
    np.testing.assert_array_equal(first.scores.d, kept)
