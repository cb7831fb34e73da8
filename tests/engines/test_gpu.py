"""Rows on a card that is not there: NumPy stands in for CuPy, and the reference for its kernels.

Fits have the bits of those in memory, and nothing large crosses.
"""

from __future__ import annotations

import gc
import pickle
import sys
from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from instances import make_engine, make_instance, members
from scipy import sparse
from stand_in import CardArray, stand_in

from neocc import MSSR, NEOCC, NEOKMeans
from neocc.core.initialise import random_pair
from neocc.core.objectives import OBJECTIVES
from neocc.core.overlap import OVERLAP_MODELS, make_overlap_model
from neocc.core.problem import Counts, Problem
from neocc.core.solve import solve
from neocc.core.steps import make_features, make_terms
from neocc.engines import GpuError, GpuMemoryError, PassOptions, Workers, on_gpu
from neocc.engines.gpu import shard as gpu_shard
from neocc.engines.gpu.device import clear_errors, open_card
from neocc.engines.matrix import DenseMatrix, SparseMatrix
from neocc.engines.reading import as_matrix
from neocc.engines.shard import Shard
from neocc.estimators import _observed
from neocc.kernels import Memberships, numpy_


def on_stand_in(X, device=None):
    matrix = SparseMatrix.from_scipy(X) if sparse.issparse(X) else DenseMatrix(X)
    return on_gpu(matrix, numpy_, Workers(1), device or stand_in())


def assert_same(one, other):
    assert one.history.tobytes() == other.history.tobytes()
    assert one.thresholds == other.thresholds
    for mine, others in zip(one.pair, other.pair, strict=True):
        assert mine is others is None or np.array_equal(mine.dense, others.dense)


def fitted_twice(X, problem, start):
    for engine in (make_engine(X), on_stand_in(X)):
        yield solve(engine.centred(problem.centring), problem, start)


@pytest.mark.parametrize("seed", range(15))
@pytest.mark.parametrize("objective", ["mean", "residue", "kmeans"])
def test_fits_have_the_bits_of_those_in_memory(seed, objective):
    rng = np.random.default_rng(seed)
    case = make_instance(rng, largest=30)
    X = sparse.csr_array(case.X) if rng.random() < 0.5 else case.X
    problem = Problem(OBJECTIVES[objective], case.rows, case.columns, max_iter=5)
    assert_same(*fitted_twice(X, problem, (members(case.U), members(case.V))))


ALLOWED = [
    *(("mean", name) for name in OVERLAP_MODELS),
    *(("residue", name) for name in ("repeat", "share", "average")),
    *(("kmeans", name) for name in ("repeat", "share", "average", "sum")),
    *(("poisson", name) for name in ("repeat", "share", "average")),
]


@pytest.mark.parametrize(("objective", "name"), ALLOWED)
@pytest.mark.parametrize("seed", range(4))
def test_all_overlap_models(name, objective, seed):
    rng = np.random.default_rng(seed)
    X = rng.poisson(1.0, size=(40, 25)) + 0.1 * (objective != "poisson") * rng.random((40, 25))
    X = sparse.csr_array(np.where(X > 1.0, X, 0.0)) if seed % 2 else X.astype(float)
    blends = (objective, name) == ("poisson", "average")
    model = make_overlap_model(name, 2 + 2 * (seed > 1) * (not blends), objective)
    overlap = 0.3 if seed < 3 else -0.1  # then some are left out, and that is all
    rows = Counts.from_fractions(40, 4, overlap=overlap, outliers=0.1 * (seed % 3 or seed == 3))
    columns = Counts.from_fractions(25, 3, overlap=0.1 * model.both_sides, outliers=0.0)
    problem = Problem(OBJECTIVES[objective], rows, columns, 5, 0.0, model)
    if objective == "kmeans":
        problem = problem.one_way("rows", 5)
    assert_same(*fitted_twice(X, problem, random_pair(problem, rng)))


@pytest.mark.parametrize("objective", ["poisson", "modularity", "diagonal"])
def test_counts(objective):
    rng = np.random.default_rng(3)
    X = sparse.csr_array(rng.poisson(0.4, size=(40, 25)).astype(float))
    sides = [Counts.from_fractions(n, 3, overlap=0.0, outliers=0.0) for n in X.shape]
    problem = Problem(OBJECTIVES[objective], *sides, max_iter=5)
    assert_same(*fitted_twice(X, problem, random_pair(problem, rng)))


@pytest.mark.parametrize(
    ("overlap", "name", "objective"),
    [
        (0.0, "repeat", "mean"),
        *((0.15, name, "mean") for name in OVERLAP_MODELS),
        (0.15, "repeat", "residue"),
        (0.15, "repeat", "poisson"),
        (0.15, "average", "poisson"),
    ],
)
def test_nothing_with_a_line_per_row_crosses(overlap, name, objective):
    rng = np.random.default_rng(0)
    X = sparse.random_array((3000, 40), density=0.2, random_state=rng, format="csr")
    device = stand_in()
    engine = on_stand_in(X, device)
    several = [overlap, 0.0 if name == "either" else overlap]
    sides = [
        Counts.from_fractions(n, 3, overlap=each, outliers=each / 3)
        for n, each in zip(X.shape, several, strict=True)
    ]
    model = make_overlap_model(name, None if name == "repeat" else 2, objective)
    problem = Problem(OBJECTIVES[objective], *sides, 2, 0.0, model)
    first = solve(engine, problem, random_pair(problem, rng))
    crossed = device.kernels.crossed

    def report(iteration, _):
        if iteration == 1:  # weights of memberships are made here
            crossed.clear()
        return False

    found = solve(engine, replace(problem, max_iter=6), first.pair, report)
    assert found.n_iter > 2
    # Counts of distances by bin, and tables with a line per column, are the largest.
    assert max(device.kernels.crossed) < 1000
    assert found.U.first.shape == (3000,)
    assert max(device.kernels.crossed) == 3000


def test_memberships_are_fetched_when_they_are_looked_at():
    device = stand_in()
    given = Memberships.from_dense(np.eye(4, dtype=bool)[[0, 1, 1, 3]])
    lists = device.lists(given)
    assert device.lists(given) is lists
    held = device.memberships(lists)
    assert held.n_items == 4
    assert held.sizes.tolist() == [1, 2, 0, 1]
    assert held.is_partition
    assert "first" not in vars(held)
    assert np.array_equal(held.dense, given.dense)
    copied = pickle.loads(pickle.dumps(held))
    assert type(copied) is Memberships
    assert np.array_equal(copied.dense, given.dense)
    device.close()
    assert "held" not in vars(held)
    assert "held" not in vars(given)
    assert held.n_items == 4


def test_the_stand_in_keeps_arrays_apart():
    there = stand_in().kernels.put(np.ones(3))
    for mix in (
        lambda: there + np.ones(3),
        lambda: np.ones(3) * there,
        lambda: np.where(np.ones(3) > 0, there, there),
        lambda: there[np.array([0])],
        lambda: there.dot(np.ones(3)),
    ):
        with pytest.raises(TypeError, match="met the card"):
            mix()
    assert isinstance(there * 2.0, CardArray)


@pytest.fixture
def card(monkeypatch):
    device = stand_in()
    monkeypatch.setattr(gpu_shard, "open_card", lambda: device)
    return device


@pytest.mark.parametrize(
    "model",
    [
        NEOCC(3, 3, n_init=2, random_state=0, kernel="numpy"),
        NEOCC(3, 3, row_overlap=0.1, row_outliers=0.1, n_init=2, random_state=0, kernel="numpy"),
        NEOCC(3, 2, objective="residue", refine=False, n_init=1, random_state=0, kernel="numpy"),
        NEOCC(3, 2, missing="ignore", n_init=1, random_state=0, kernel="numpy"),
        NEOCC(3, 2, init="spectral", refine=False, n_init=1, random_state=0, kernel="numpy"),
        MSSR(3, 2, n_init=1, random_state=0, kernel="numpy"),
        NEOKMeans(3, n_init=1, overlap=0.1, random_state=0, kernel="numpy"),
    ],
    ids=["plain", "overlap", "residue", "observed", "spectral", "mssr", "kmeans"],
)
def test_estimators(card, model, set_pass_options):
    # Samples and tables of starts are on the card too.
    set_pass_options(least_held=0)
    rng = np.random.default_rng(0)
    X = sparse.random_array((60, 40), density=0.3, random_state=rng, format="csr")
    expected = model.fit(X)
    found = type(model)(**{**model.get_params(), "engine": "gpu"}).fit(X)
    assert card.kernels.crossed
    for name, value in vars(expected).items():
        if name.endswith("_") and isinstance(value, np.ndarray) and value.dtype != object:
            assert np.array_equal(getattr(found, name), value), name
    assert found.objective_ == expected.objective_
    # Nothing is left on the card.
    assert not any(isinstance(each, CardArray) for each in _arrays(vars(found), set()))
    assert np.array_equal(found.predict(X), expected.predict(X))


def test_few_entries_stay_in_this_process():
    for options, kind in ((PassOptions(least_held=0), gpu_shard.GpuShard), (PassOptions(), Shard)):
        engine = on_gpu(as_matrix(np.eye(9)), numpy_, Workers(1), stand_in(), options=options)
        assert type(engine.sample("rows", np.arange(5)).shards.shard) is kind


@pytest.mark.parametrize("fails", ["", "_publish", "scatter", "interrupt"])
@pytest.mark.parametrize("name", ["repeat", "average"])
def test_memory_is_free_at_the_end(card, monkeypatch, set_pass_options, name, fails):
    set_pass_options(least_held=0)
    X, left = sparse.random_array((60, 40), density=0.3, random_state=0, format="csr"), []

    def free_all_blocks():
        # The frames of the fit are still there.
        alive = gc.get_objects()
        left.append([each.shape for each in alive if isinstance(each, CardArray)])
        shards = [each for each in alive if isinstance(each, gpu_shard.GpuShard)]
        left[-1] += [each for each in shards if each._rows._kept]

    for pool in ("get_default_memory_pool", "get_default_pinned_memory_pool"):
        there = SimpleNamespace(free_all_blocks=free_all_blocks)
        setattr(card.kernels.xp, pool, lambda there=there: there)
    model = NEOCC(3, 3, row_overlap=0.2, overlap_model=name, engine="gpu", random_state=0)
    model.fit(X)  # where lines are counted, a first fit leaves references behind
    left.clear()
    gc.collect()
    gc.disable()
    try:
        if fails == "_publish":
            monkeypatch.setattr(type(model), "_publish", lambda *_: 1 / 0)
        elif fails:
            raised = KeyboardInterrupt if fails == "interrupt" else ZeroDivisionError
            scatter, calls = card.kernels.scatter, []

            def fail(*given):
                scatter(*given)
                calls.append(1)
                if len(calls) > 4:
                    raise raised

            monkeypatch.setattr(card.kernels, "scatter", fail)
        expected = (ZeroDivisionError, KeyboardInterrupt)
        with pytest.raises(expected) if fails else nullcontext():
            model.fit(X)
    finally:
        gc.enable()
    assert left == [[], []]


def test_nearest_of_items_without_a_first_cluster():
    X = sparse.random_array((40, 12), density=0.4, random_state=0, format="csr")
    sides = [Counts.from_fractions(n, 4, overlap=0.5, outliers=0.0) for n in X.shape]
    problem = Problem(OBJECTIVES["mean"], *sides)
    U, V = random_pair(problem, np.random.default_rng(0))
    none_first = np.where(U.has_extra, -1, U.first).astype(np.int32)
    members = Memberships(none_first, U.extra_items, U.extra_clusters, 4)
    found = []
    for engine in (make_engine(X), on_stand_in(X, stand_in())):
        terms = make_terms(problem, "rows", make_features(engine, problem, (U, V)), (U, V))
        found.append(engine.shards.shard.nearest(members, terms, V))
    assert np.array_equal(*found)


def _arrays(value, seen):
    """Yield all arrays that hang on to an object."""
    if id(value) in seen or value is None or isinstance(value, str | int | float):
        return
    seen.add(id(value))
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _arrays(each, seen)
    elif isinstance(value, list | tuple | set):
        for each in value:
            yield from _arrays(each, seen)
    else:
        yield from _arrays(getattr(value, "__dict__", None), seen)
        for name in getattr(type(value), "__slots__", ()):
            yield from _arrays(getattr(value, name, None), seen)


class DriverError(Exception):
    """What a runtime without a driver raises."""


def cupy_of(count):
    def count_cards():
        if count is None:
            raise DriverError("cudaErrorInsufficientDriver")
        return count

    runtime = SimpleNamespace(getDeviceCount=count_cards, CUDARuntimeError=DriverError)
    return SimpleNamespace(cuda=SimpleNamespace(runtime=runtime))


@pytest.mark.parametrize(
    ("cupy", "message"),
    [(None, r"neocc\[gpu\]"), (cupy_of(None), "driver for CUDA 12"), (cupy_of(0), "shows none")],
)
def test_what_is_missing_is_named(monkeypatch, cupy, message):
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    with pytest.raises(GpuError, match=message):
        NEOCC(2, 2, engine="gpu").fit(np.eye(6))
    with pytest.raises(GpuError, match=message):
        open_card()


def test_too_little_memory(monkeypatch):
    monkeypatch.setattr(gpu_shard, "open_card", lambda: stand_in(free=lambda: 100))
    X = sparse.csr_array(np.tri(20))
    model = NEOCC(2, 2, engine="gpu")
    with pytest.raises(
        GpuMemoryError, match="20 rows, 20 columns and 210 entries, with its"
    ) as error:
        model.fit(X)
    # Of its longest row, twice and while it is sorted.
    assert error.value.needed > 20 * (2 * 22 + 40)
    assert not hasattr(model, "objective_")
    assert model.set_params(engine="auto").fit(X).objective_ >= 0


def error_of(module, name):
    return type(name, (Exception,), {"__module__": module})


@pytest.mark.parametrize(
    ("error", "expected", "message"),
    [
        (error_of("cupy.cuda.memory", "OutOfMemoryError")("1 byte"), GpuMemoryError, "enough"),
        (
            error_of("cupy_backends.cuda.api.runtime", "CUDARuntimeError")("719"),
            GpuError,
            "stopped",
        ),
        (error_of("cupy_backends.cuda.libs.cublas", "CUBLASError")("13"), GpuError, "CUBLASError"),
        (error_of("cupy_backends.cuda.libs.nvrtc", "NVRTCError")("5"), GpuError, "compile for"),
        (error_of("cupy.cuda.compiler", "CompileException")("sm_9"), GpuError, "show_config"),
        (
            RuntimeError("CuPy failed to load libnvrtc.so.12: OSError: no such file"),
            GpuError,
            r"no CUDA .* libnvrtc.so.12: .*neocc\[gpu\]",
        ),
        (KeyError("ours"), KeyError, "ours"),
        (error_of("torch.cuda", "OutOfMemoryError")("theirs"), Exception, "^theirs$"),
    ],
    ids=lambda each: type(each).__name__ if isinstance(each, Exception) else "",
)
def test_errors_of_the_card_are_those_of_the_package(error, expected, message):
    with pytest.raises(expected, match=message) as raised, clear_errors():
        raise error
    if expected in (GpuError, GpuMemoryError):
        assert "fits the data on the CPU." in str(raised.value)


def test_a_compiler_is_looked_for_before_anything_is_read(monkeypatch):
    def compile_nothing(*_):
        raise RuntimeError("CuPy failed to load libnvrtc.so.12: OSError: no such file")

    cupy = cupy_of(1)
    cupy.RawKernel = lambda *_: SimpleNamespace(compile=compile_nothing)
    cupy.cuda.Device = lambda: SimpleNamespace(id=object())
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    with pytest.raises(GpuError, match="finds no CUDA on this machine"):
        open_card()


@pytest.mark.parametrize("chained", [False, True])
def test_a_cupy_that_is_broken_is_not_called_missing(monkeypatch, tmp_path, chained):
    lines = "raise ImportError('libcudart.so.12: cannot open')"
    if chained:  # as CuPy does
        lines = f"try:\n    {lines}\nexcept ImportError as e:\n    raise ImportError('====') from e"
    (tmp_path / "cupy.py").write_text(lines)
    monkeypatch.delitem(sys.modules, "cupy", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(GpuError, match=r"cannot be imported \(libcudart.so.12: cannot open\)"):
        open_card()


@pytest.mark.parametrize("model", [NEOCC(2, 2), NEOKMeans(2), MSSR(2, 2)])
def test_too_little_memory_for_reading_is_named_too(monkeypatch, model):
    def read(*_, **__):
        raise error_of("cupy.cuda.memory", "OutOfMemoryError")("1 byte")

    module = sys.modules[type(model).__module__]
    where = module if hasattr(module, "read_matrix") else _observed
    monkeypatch.setattr(where, "read_matrix", read)
    with pytest.raises(GpuMemoryError):
        model.set_params(engine="gpu").fit(np.eye(6))


@pytest.mark.parametrize("fault", [GpuError, GpuMemoryError])
@pytest.mark.parametrize("name", ["repeat", "average", "either"])
def test_a_card_that_is_lost_leaves_the_best_start_so_far(card, monkeypatch, fault, name):
    rng = np.random.default_rng(0)
    X = sparse.random_array((60, 40), density=0.3, random_state=rng, format="csr")
    how = {"init": "random", "refine": False, "max_iter": 3, "row_overlap": 0.2}
    how |= {"overlap_model": name, "engine": "gpu", "random_state": 0, "kernel": "numpy"}
    first = NEOCC(3, 2, n_init=1, **how).fit(X)

    def lost(*_, **__):
        raise fault("gone")

    model = NEOCC(3, 2, n_init=3, **how)
    solutions = model._solutions

    def one_then_none(*given):
        for found in solutions(*given):
            yield found
            for what in ("fetch", "gather", "scatter", "gram", "sizes", "blocks"):
                monkeypatch.setattr(card.kernels, what, lost)

    monkeypatch.setattr(model, "_solutions", one_then_none)
    with pytest.raises(fault, match="gone"):
        model.fit(X)
    assert np.array_equal(model.row_membership_, first.row_membership_)
    assert np.array_equal(model.column_membership_, first.column_membership_)
    assert model.objective_ == first.objective_
    np.testing.assert_allclose(model.block_means_, first.block_means_, rtol=1e-12)
