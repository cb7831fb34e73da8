"""The process that coordinates a fit on a cluster is killed: the next one goes on where it was."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from instances import planted
from scipy import sparse

from neocc.io import write_store

distributed = pytest.importorskip("distributed", reason="dask and distributed are not installed")

pytestmark = pytest.mark.chaos

N_KILLS = 3
COORDINATOR = """
import sys
import numpy as np
from distributed import Client
from neocc import NEOCC
from neocc.io import Checkpoint, open_store

address, store, checkpoint, result = sys.argv[1:]
with Client(address) as client:
    model = NEOCC(4, 3, objective="residue", row_overlap=0.1, row_outliers=0.05, init="random",
                  n_init=3, refine=False, max_iter=10, tol=0.0, engine=client, kernel="numpy",
                  random_state=0, checkpoint=Checkpoint(checkpoint, every=0.0))
    model.fit(open_store(store))
np.savez(result, U=model.row_membership_, V=model.column_membership_, history=model.history_)
"""


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    rng = np.random.default_rng(0)
    X = planted(rng, 2000, 60, 4, 3, noise=2.0)
    folder = tmp_path_factory.mktemp("chaos") / "store"
    write_store(folder, sparse.csr_array(X * (rng.random(X.shape) < 0.5)), rows_per_block=250)
    return folder


def start(cluster, store, checkpoint, result):
    arguments = [cluster.scheduler_address, str(store), str(checkpoint), str(result)]
    return subprocess.Popen([sys.executable, "-c", COORDINATOR, *arguments])


def test_a_killed_coordinator_is_resumed_to_the_same_bits(cluster, store, tmp_path):
    assert start(cluster, store, tmp_path / "first", tmp_path / "undisturbed.npz").wait() == 0
    rng = np.random.default_rng(0)
    kept, result = tmp_path / "kept", tmp_path / "resumed.npz"
    n_kills = 0
    while not result.exists():
        process = start(cluster, store, kept, result)
        before = kept.stat().st_mtime_ns if kept.exists() else None
        while n_kills < N_KILLS and process.poll() is None:
            if kept.exists() and kept.stat().st_mtime_ns != before:
                time.sleep(rng.uniform(0.0, 0.3))
                process.send_signal(signal.SIGKILL)
                n_kills += 1
                break
            time.sleep(0.01)
        code = process.wait()
        assert code in (0, -signal.SIGKILL)
    assert n_kills > 0
    with np.load(tmp_path / "undisturbed.npz") as expected, np.load(result) as found:
        for name in ("U", "V", "history"):
            np.testing.assert_array_equal(found[name], expected[name])
    assert not kept.exists()
