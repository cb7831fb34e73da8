"""Cards of the workers of a cluster, which are not there (`stand_in`): the answers of the CPU."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from instances import make_engine
from scipy import sparse
from stand_in import CardArray, stand_in

from neocc import NEOCC
from neocc.core.initialise import random_pair
from neocc.core.objectives import OBJECTIVES
from neocc.core.overlap import make_overlap_model
from neocc.core.problem import Counts, Problem
from neocc.core.solve import solve
from neocc.engines import Workers, on_cluster
from neocc.engines.gpu import WorkerShard, device
from neocc.engines.reading import as_matrix
from neocc.io import write_store

distributed = pytest.importorskip("distributed", reason="dask and distributed are not installed")
DEVICE = stand_in()


@pytest.fixture(scope="module")
def client():
    """Two workers in this process, whose card is the same."""
    with distributed.Client(
        processes=False,
        n_workers=2,
        threads_per_worker=1,
        dashboard_address=":0",
        set_as_default=False,
    ) as client:
        yield client


@pytest.fixture
def card(monkeypatch):
    device.card_of_worker.cache_clear()
    monkeypatch.setattr(device, "open_card", lambda: DEVICE)
    DEVICE.kernels.crossed.clear()
    yield DEVICE
    assert DEVICE.kernels.crossed
    device.card_of_worker.cache_clear()


def data():
    rng = np.random.default_rng(0)
    return sparse.random_array((90, 20), density=0.5, random_state=rng, format="csr")


@pytest.mark.parametrize(
    ("objective", "name"),
    [
        ("mean", "average"),
        pytest.param("mean", "repeat", marks=pytest.mark.slow),
        pytest.param("mean", "either", marks=pytest.mark.slow),
        pytest.param("residue", "share", marks=pytest.mark.slow),
    ],
)
def test_fits(client, card, objective, name):
    X, rng = data(), np.random.default_rng(1)
    model = make_overlap_model(name, None if name == "repeat" else 3, objective)
    rows = Counts.from_fractions(90, 4, overlap=0.2, outliers=0.1)
    columns = Counts.from_fractions(20, 3, overlap=0.1 * model.both_sides, outliers=0.0)
    problem = Problem(OBJECTIVES[objective], rows, columns, 3, 0.0, model)
    start = random_pair(problem, rng)
    with Workers(1) as workers:
        there = solve(on_cluster(as_matrix(X), client, "gpu", workers, 300), problem, start)
        here = solve(make_engine(X), problem, start)
    np.testing.assert_allclose(there.history, here.history, rtol=1e-12)
    for mine, others in zip(there.pair, here.pair, strict=True):
        assert np.array_equal(mine.dense, others.dense)


def test_an_estimator_with_a_store(client, card, tmp_path):
    X = data()
    store = write_store(tmp_path / "data", X, rows_per_block=23)
    options = {"refine": False, "n_init": 1, "random_state": 0, "row_overlap": 0.1}
    found = NEOCC(3, 3, engine=client, kernel="gpu", **options).fit(store)
    expected = NEOCC(3, 3, kernel="numpy", **options).fit(X)
    assert np.array_equal(found.row_membership_, expected.row_membership_)
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-12)


def test_what_workers_hold_travels(card):
    X, rng = data(), np.random.default_rng(1)
    shard = WorkerShard(as_matrix(X), make_engine(X).kernels, Workers(1))
    V = random_pair_of(20, rng)
    features = shard.column_features(random_pair_of(90, rng), None)
    assert not isinstance(features.sums, CardArray)
    assert features.sums.shape == (20, 3)
    assert pickle.loads(pickle.dumps(shard.device)) is card
    assert shard.multiply(V.indicator).shape == (90, 3)


def random_pair_of(n, rng):
    from neocc.kernels import Memberships

    return Memberships.partition(rng.integers(3, size=n).astype(np.int32), 3)


def test_only_clusters_have_such_kernels():
    with pytest.raises(ValueError, match='On this machine use engine="gpu"'):
        NEOCC(2, 2, kernel="gpu").fit(np.eye(6))
