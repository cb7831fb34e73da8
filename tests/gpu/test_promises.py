"""What is promised of a card: the answers of the CPU, the same bits, and nothing left there.

Skipped where there is none.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from contextlib import suppress
from functools import cache, partial

import numpy as np
import pytest
from scipy import sparse

from neocc import NEOCC
from neocc.core.initialise import random_pair
from neocc.core.objectives import OBJECTIVES
from neocc.core.overlap import bounded_model
from neocc.core.problem import Counts, Problem
from neocc.core.solve import solve
from neocc.datasets import fetch_movielens_1m, fetch_yeast, make_coclusters
from neocc.engines import GpuError, Workers, on_gpu, open_engine
from neocc.engines.gpu import open_card
from neocc.engines.gpu.shard import GpuShard
from neocc.engines.reading import as_matrix
from neocc.estimators import _base
from neocc.io import Checkpoint, write_store
from neocc.kernels import get_kernels

try:
    open_card()
except GpuError as error:
    pytest.skip(f"no GPU: {error}", allow_module_level=True)

pytestmark = pytest.mark.filterwarnings("ignore")
MODELS = [
    *(("mean", name) for name in ("repeat", "share", "average", "sum", "either")),
    *(("residue", name) for name in ("repeat", "share", "average")),
]


@cache
def movielens():
    return sparse.csr_array(fetch_movielens_1m().data.astype(np.float32))


@cache
def yeast():
    return np.asarray(fetch_yeast().data, dtype=np.float64)


@cache
def planted():
    how = {"row_overlap": 0.1, "row_outliers": 0.02, "column_overlap": 0.2}
    return make_coclusters((3000, 400), 6, 5, random_state=0, **how)[0]


DATA = {
    "movielens": (movielens, 10, 8, 0.1),
    "yeast": (yeast, 14, 3, 3.237),
    "planted": (planted, 6, 5, 0.1),
}


@pytest.mark.parametrize(("objective", "name"), MODELS)
@pytest.mark.parametrize("which", DATA)
def test_memberships_are_those_of_the_cpu(request, which, objective, name):
    if which != "planted":
        request.getfixturevalue("data_folder")
    load, k, l, overlap = DATA[which]  # noqa: E741
    X = load()
    model = bounded_model(name, None, objective, [overlap])
    rows = Counts.from_fractions(X.shape[0], k, overlap=overlap, outliers=0.02)
    columns = Counts.from_fractions(X.shape[1], l, overlap=0.2 * model.both_sides, outliers=0.0)
    problem = Problem(OBJECTIVES[objective], rows, columns, 8, 0.0, model)
    start = random_pair(problem, np.random.default_rng(0))
    kernels = get_kernels("auto", 1 << 40)
    with Workers() as workers:
        matrix = as_matrix(X)
        here, there = (
            solve(make(matrix, kernels, workers).centred(problem.centring), problem, start)
            for make in (open_engine, on_gpu)
        )
        np.testing.assert_allclose(there.history, here.history, rtol=1e-9)
        for mine, others in zip(there.pair, here.pair, strict=True):
            assert np.array_equal(mine.dense, others.dense)


def small():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4, 3))[rng.integers(4, size=5000)][:, rng.integers(3, size=80)] * 5.0
    X = X + rng.normal(size=X.shape)
    return sparse.csr_array(np.where(rng.random(X.shape) < 0.4, X, 0.0))


def bits(model):
    parts = (model.history_, model.row_membership_, model.column_membership_, model.block_means_)
    return model.objective_, *(np.asarray(part).tobytes() for part in parts)


@pytest.mark.parametrize(("objective", "name"), MODELS)
def test_fifty_fits_have_the_same_bits(objective, name):
    X = small()
    columns = 0.0 if name == "either" else 0.1
    model = NEOCC(4, 3, objective=objective, overlap_model=name, row_overlap=0.1)
    model.set_params(column_overlap=columns, row_outliers=0.02, engine="gpu")
    model.set_params(refine=False, n_init=1, random_state=0, max_iter=10)
    assert len({bits(model.fit(X)) for _ in range(50)}) == 1


class Interrupted(Checkpoint):
    """Ends the fit as soon as a state is written."""

    def save(self, fingerprint, state):
        super().save(fingerprint, state)
        raise KeyboardInterrupt


@pytest.mark.parametrize(("objective", "name"), MODELS)
def test_a_fit_in_pieces_has_the_bits_of_one_in_one_go(tmp_path, monkeypatch, objective, name):
    from cupyx.scipy.sparse import csr_matrix

    monkeypatch.setattr(_base, "open_journal", partial(_base.open_journal, interval=2))
    X = csr_matrix(sparse.csr_matrix(small()))
    model = NEOCC(4, 3, objective=objective, overlap_model=name, row_overlap=0.1, engine="gpu")
    model.set_params(row_outliers=0.02, refine=False, n_init=2, random_state=0, max_iter=6)
    expected, path, n_fits = bits(model.fit(X)), tmp_path / "kept", 0
    model.set_params(checkpoint=Interrupted(path, every=0.0))
    while n_fits == 0 or path.exists():
        n_fits += 1
        with suppress(KeyboardInterrupt):
            model.fit(X)
    assert n_fits > 2
    assert bits(model) == expected


@pytest.mark.parametrize("source", ["memory", "store", "card"])
def test_twenty_fits_leave_nothing(tmp_path, source):
    import cupy
    from cupyx.scipy.sparse import csr_matrix

    X = small()
    if source == "store":
        X = write_store(tmp_path / "data", X, rows_per_block=1000)
    if source == "card":
        X = csr_matrix(sparse.csr_matrix(X))
    model = NEOCC(4, 3, row_overlap=0.1, engine="gpu", refine=False, n_init=1, random_state=0)
    pool, pinned = cupy.get_default_memory_pool(), cupy.get_default_pinned_memory_pool()
    left = []
    for _ in range(22):
        for name in ("repeat", "average"):
            model.set_params(overlap_model=name).fit(X)
        # What is free on the card says nothing while other processes use it.
        free = 0 if "PYTEST_XDIST_WORKER" in os.environ else cupy.cuda.runtime.memGetInfo()[0]
        left.append((pool.used_bytes(), pool.total_bytes(), pinned.n_free_blocks(), free))
    # The first fits load what they need. Data of the user are all that is there.
    assert len(set(left[2:])) == 1
    used, total, n_pinned, _ = left[-1]
    assert n_pinned == 0
    assert total == used or source == "card"


@pytest.mark.parametrize("fault", ["interrupt", "lost", "memory"])
def test_what_goes_wrong_is_named_and_leaves_nothing(monkeypatch, fault):
    import cupy

    errors = {
        "interrupt": (KeyboardInterrupt(), KeyboardInterrupt),
        "lost": (cupy.cuda.runtime.CUDARuntimeError(719), GpuError),
        "memory": (cupy.cuda.memory.OutOfMemoryError(1, 1, 1), MemoryError),
    }
    raised, expected = errors[fault]
    X, pool = small(), cupy.get_default_memory_pool()
    model = NEOCC(4, 3, row_overlap=0.1, engine="gpu", refine=False, n_init=1, random_state=0)
    before = bits(model.fit(X))
    gc.collect()
    used, calls, choices = pool.used_bytes(), [], GpuShard.choices

    def fail(*given):
        calls.append(1)
        if len(calls) == 3:
            raise raised
        return choices(*given)

    with monkeypatch.context() as patched:
        patched.setattr(GpuShard, "choices", fail)
        with pytest.raises(expected):
            model.fit(X)
    raised.__traceback__ = None
    gc.collect()
    assert pool.used_bytes() == used
    assert bits(model.fit(X)) == before


def test_a_card_that_is_lost():
    """A kernel that reads where nothing is ends the card for its process; the CPU goes on."""
    done = subprocess.run(
        [sys.executable, "-c", LOST], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout.split() == ["GpuError", "fitted"], done.stderr


LOST = """
import cupy, numpy as np
from neocc import NEOCC
X = np.random.default_rng(0).normal(size=(500, 30))
model = NEOCC(2, 2, engine="gpu", n_init=1, random_state=0).fit(X)
read = cupy.RawKernel('extern "C" __global__ void read(double *x) { x[1LL << 50] = 1.0; }', "read")
read((1,), (1,), (cupy.zeros(1),))
try:
    model.fit(X)
except Exception as error:
    print(type(error).__name__)
model.set_params(engine="auto").fit(X)
print("fitted")
"""


def test_two_workers_share_a_card(tmp_path):
    distributed = pytest.importorskip("distributed")
    X = small()
    store = write_store(tmp_path / "data", X, rows_per_block=1000)
    options = {"row_overlap": 0.1, "refine": False, "n_init": 1, "random_state": 0}
    with distributed.Client(n_workers=2, threads_per_worker=1, dashboard_address=":0") as client:
        for name in ("repeat", "average"):
            expected = NEOCC(4, 3, overlap_model=name, **options).fit(X)
            for data in (X, store):
                model = NEOCC(4, 3, overlap_model=name, engine=client, kernel="gpu", **options)
                found = model.fit(data)
                assert np.array_equal(found.row_membership_, expected.row_membership_)
                assert found.objective_ == pytest.approx(expected.objective_, rel=1e-9)
