"""Workers of a cluster are killed in the middle of fits: nothing is lost, no bit changes."""

from __future__ import annotations

import os
import signal
import threading

import numpy as np
import pytest
from instances import planted
from scipy import sparse

from neocc import NEOCC, NEOKMeans
from neocc.io import open_store, write_store

distributed = pytest.importorskip("distributed", reason="dask and distributed are not installed")

pytestmark = pytest.mark.chaos

N_WORKERS = 3
LEAST_KILLS = 20
# In one fit: it must end even where killed workers take long to return.
MOST_KILLS = 4
# Seconds between kills: from hardly any to long enough for a killed worker to come back.
PAUSES = (0.05, 1.5)
PATIENCE = {
    # A task is not to blame for the deaths of the workers that it was on.
    "distributed.scheduler.allowed-failures": 1000,
    # On a busy machine it takes a while until a killed worker is back; it is not given up.
    "distributed.deploy.lost-worker-timeout": "1h",
}


@pytest.fixture(scope="module")
def client():
    """A cluster of processes, each watched by another that starts it again."""
    import dask

    with (
        dask.config.set(PATIENCE),
        distributed.LocalCluster(
            n_workers=N_WORKERS, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Ratings in sixteen blocks."""
    rng = np.random.default_rng(0)
    X = planted(rng, 4000, 120, 6, 5, noise=2.0)
    X = sparse.csr_array(np.where(rng.random(X.shape) < 0.3, np.round(X), 0.0))
    folder = tmp_path_factory.mktemp("chaos") / "store"
    write_store(folder, X, rows_per_block=250)
    return open_store(folder)


class Killer:
    """Sends SIGKILL to a few workers, one after the other, at random moments."""

    def __init__(self, cluster, seed):
        self.n_kills = 0
        self._cluster = cluster
        self._rng = np.random.default_rng(seed)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()

    def _run(self):
        while self.n_kills < MOST_KILLS and not self._stop.wait(self._rng.uniform(*PAUSES)):
            alive = running(self._cluster)
            if alive:
                os.kill(alive[self._rng.integers(len(alive))], signal.SIGKILL)
                self.n_kills += 1


def running(cluster):
    """Return the processes of workers at work.

    One that dies while it starts is not started again: its nanny takes that for a mistake.
    """
    known = list(cluster.scheduler.workers)
    nannies = [each for each in cluster.workers.values() if each.worker_address in known]
    return [nanny.pid for nanny in nannies if nanny.pid is not None]


def results(model):
    """Everything a fit leaves behind that must not change by a bit."""
    names = ("row_membership_", "column_membership_", "membership_", "block_means_")
    kept = {name: getattr(model, name) for name in names if hasattr(model, name)}
    return {**kept, "history": model.history_, "objective": model.objective_, "n": model.n_iter_}


def make_models(engine):
    shared = {"engine": engine, "kernel": "numpy", "random_state": 0, "tol": 0.0}
    sides = {"row_overlap": 0.1, "row_outliers": 0.05, "column_overlap": 0.1}
    plain = {**shared, **sides, "init": "random", "n_init": 1, "refine": False, "max_iter": 8}
    yield NEOCC(6, 5, objective="mean", **plain)
    yield NEOCC(6, 5, objective="residue", **plain)
    yield NEOKMeans(6, overlap=0.1, outliers=0.05, n_init=1, max_iter=5, init="random", **shared)


def test_fits_end_with_the_same_bits_whichever_workers_die(client, store):
    undisturbed = [results(model.fit(store)) for model in make_models(client)]
    n_kills, seed = 0, 0
    while n_kills < LEAST_KILLS:
        for model, expected in zip(make_models(client), undisturbed, strict=True):
            seed += 1
            with Killer(client.cluster, seed) as killer:
                model.fit(store)
            n_kills += killer.n_kills
            for name, value in results(model).items():
                np.testing.assert_array_equal(value, expected[name], err_msg=f"{name}, {seed}")
    assert n_kills >= LEAST_KILLS


def test_given_rows_survive_the_death_of_all_workers(client):
    # Those that another test has killed may still be on their way back.
    client.wait_for_workers(len(client.cluster.workers), timeout=60)
    X = planted(np.random.default_rng(0), 2000, 60, 4, 3, noise=2.0)
    model = NEOCC(4, 3, init="random", n_init=1, refine=False, max_iter=8, tol=0.0)
    model.set_params(engine=client, random_state=0)
    expected = results(model.fit(X))
    n_kills = 0

    class KillAll:
        def setup(self, estimator, context): ...
        def teardown(self, estimator, context): ...
        def on_fit_task_begin(self, estimator, context): ...
        def on_fit_task_end(self, estimator, context):
            nonlocal n_kills
            if context.task_name == "iteration" and context.task_id == 4:
                for pid in running(client.cluster):
                    os.kill(pid, signal.SIGKILL)
                    n_kills += 1
            return False

    pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9")
    model.set_callbacks(KillAll()).fit(X)
    assert n_kills > 0
    for name, value in results(model).items():
        np.testing.assert_array_equal(value, expected[name], err_msg=name)
