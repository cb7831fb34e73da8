"""Weights, stores and observed cells on a card that is not there (`stand_in`)."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from instances import make_engine
from scipy import sparse
from stand_in import CardArray, Module, foreign, stand_in
from stores import planted, same_bits, same_fit

from neocc import NEOCC, NEOKMeans
from neocc.core.initialise import random_pair
from neocc.core.objectives import OBJECTIVES
from neocc.core.overlap import bounded_model
from neocc.core.problem import Counts, Problem
from neocc.core.solve import solve
from neocc.engines import GpuMemoryError, PassOptions, Workers, on_gpu
from neocc.engines.gpu import shard as gpu_shard
from neocc.engines.gpu.rows import HeldRows, bytes_of_tables, bytes_on_card
from neocc.engines.matrix import SparseMatrix
from neocc.engines.reading import as_matrix
from neocc.engines.stored import StoredRows, open_source
from neocc.io import write_store
from neocc.kernels import numpy_

pytestmark = pytest.mark.filterwarnings("ignore::neocc.estimators._redundancy.RedundancyWarning")
OPTIONS = {"n_init": 1, "refine": False, "max_iter": 4, "random_state": 0, "kernel": "numpy"}
OPTIONS |= {"row_overlap": 0.2, "row_outliers": 0.05}
CASES = {
    "mean": {},
    "average": {"overlap_model": "average"},
    "either": {"overlap_model": "either"},
    "background": {"outlier_cost": "background", "overlap_model": "sum"},
    "residue": {"objective": "residue", "overlap_model": "share"},
    "poisson": {"objective": "poisson"},
    "observed": {"missing": "ignore", "remove_effects": True},
    "observed either": {"missing": "ignore", "overlap_model": "either"},
}


def data(case, container="sparse"):
    X = planted(container)
    return abs(X.astype(int)).astype(float) if case == "poisson" else X


def weights(case):
    rng = np.random.default_rng(2)
    found = {"row_weight": rng.random(96) + 0.5, "column_weight": rng.random(30) + 0.5}
    if case == "observed":
        found["cell_weight"] = rng.random((96, 30)) + 0.5
    return found


@pytest.fixture
def use(monkeypatch, set_pass_options):
    """Let fits take a card with so much free memory."""

    def run(free=None, **options):
        device = stand_in(None if free is None else lambda: free)
        monkeypatch.setattr(gpu_shard, "open_card", lambda: device)
        set_pass_options(least_held=0, **options)
        return device

    return run


BOTH = [(case, "sparse") for case in CASES] + [("mean", "dense"), ("observed", "dense")]


@pytest.mark.parametrize(("case", "container"), BOTH)
def test_weights(use, case, container):
    card = use()
    X, model = data(case, container), NEOCC(4, 3, **OPTIONS, **CASES[case])
    expected = model.fit(X, **weights(case))
    found = NEOCC(**{**model.get_params(), "engine": "gpu"}).fit(X, **weights(case))
    assert card.kernels.crossed
    assert same_bits(found, expected)
    unweighted = NEOCC(**model.get_params()).fit(X)
    assert unweighted.objective_ != expected.objective_


def test_weights_of_one_side(use):
    use()
    X, model = planted("sparse"), NEOKMeans(4, n_init=1, overlap=0.1, random_state=0)
    weight = weights("mean")["row_weight"]
    found = NEOKMeans(**{**model.get_params(), "engine": "gpu"}).fit(X, row_weight=weight)
    assert np.array_equal(found.membership_, model.fit(X, row_weight=weight).membership_)


@pytest.mark.parametrize(
    ("case", "container", "kept"),
    [(*both, "some") for both in BOTH] + [("average", "sparse", kept) for kept in ("all", "none")],
)
def test_stores_pass_through_a_card_that_is_too_small(
    use, monkeypatch, tmp_path, case, container, kept
):
    X, model = data(case, container), NEOCC(4, 3, **OPTIONS, **CASES[case])
    store = write_store(tmp_path / "data", X, rows_per_block=23)
    monkeypatch.setattr(gpu_shard, "bytes_of_tables", lambda *_: 0)
    share = {"all": 3.0, "some": 1.0, "none": 0.25}[kept]
    use(int(share * bytes_on_card(as_matrix(X))), part_entries=100)
    staying, passing = note_parts(monkeypatch)
    # The same on a card that has room for all.
    assert same_fit(NEOCC(**{**model.get_params(), "engine": "gpu"}).fit(store), model.fit(X))
    assert any(passing) == (kept != "all")
    assert any(staying) or kept == "none"


def test_rows_of_a_store_come_in_parts(tmp_path):
    matrix = open_source(write_store(tmp_path / "data", planted("sparse"), rows_per_block=23))
    for options, are_several in ((PassOptions(part_entries=100), True), (PassOptions(), False)):
        parts = list(HeldRows(matrix, stand_in(), options=options).parts())
        assert (len(parts) > 1) == are_several
        assert parts[-1][0].stop == 96


def note_parts(monkeypatch):
    """Note how many parts of the rows stay on the card, and how many pass through it."""
    staying, passing, parts = [], [], HeldRows.parts

    def noted(rows):
        for each in parts(rows):
            staying.append(len(rows._kept))
            passing.append(len(rows._passing))
            yield each

    monkeypatch.setattr(HeldRows, "parts", noted)
    return staying, passing


def test_data_in_memory_that_do_not_fit_pass_through_too():
    rng = np.random.default_rng(0)
    X = sparse.csr_array(planted("sparse"))
    sides = [Counts.from_fractions(n, 3, overlap=0.2, outliers=0.1) for n in X.shape]
    problem = Problem(OBJECTIVES["residue"], *sides, 6)
    start = random_pair(problem, rng)
    expected = solve(make_engine(X), problem, start)
    small = stand_in(lambda: 20_000)
    found = solve(on_gpu(as_matrix(X), numpy_, Workers(1), small), problem, start)
    np.testing.assert_allclose(found.history, expected.history, rtol=1e-12)
    assert np.array_equal(found.U.dense, expected.U.dense)


@pytest.mark.parametrize("container", ["sparse", "dense"])
def test_room_is_left_for_tables(container):
    matrix = as_matrix(planted(container))
    sorting = HeldRows(matrix, stand_in())._sorted_at_once()
    needed, tables = bytes_on_card(matrix) + sorting, 50_000
    for free, kept, fits in (
        (needed * 4 // 3 + 2, 0, True),
        (needed * 4 // 3 - 2, 0, False),
        (needed * 3 + tables, needed * 2 + tables, True),
        (needed * 3 + tables - 1, needed * 2 + tables, False),
    ):
        rows = HeldRows(matrix, stand_in(lambda free=free: free), kept)
        assert (len(list(rows.parts())) == 1) == fits
    with pytest.raises(GpuMemoryError, match="with its tables") as error:
        list(HeldRows(matrix, stand_in(lambda: tables), tables).parts())
    assert error.value.needed > tables


def test_what_cannot_fit_is_refused_before_it_is_cut(monkeypatch):
    X = sparse.csr_array((50_000, 20_000))
    rows = HeldRows(as_matrix(X), stand_in(lambda: 1000), tables=2000)
    monkeypatch.setattr(SparseMatrix, "partition", None)
    with pytest.raises(GpuMemoryError, match="with its tables"):
        list(rows.parts())


def test_samples_of_a_store_may_stay_there(use, tmp_path):
    card = use(10_000_000)
    store = write_store(tmp_path / "data", planted("sparse"), rows_per_block=23)
    matrix = open_source(store, copied_bytes=0).take(np.arange(0, 96, 2))
    assert isinstance(matrix.values, StoredRows)
    assert len(list(HeldRows(matrix, card).parts())) >= 1


def test_tables_of_a_problem():
    sides = [Counts.from_fractions(n, 3, overlap=0.2, outliers=0.0) for n in (100, 10)]
    plain = Problem(OBJECTIVES["mean"], *sides)
    # Sums and distances; memberships and what else has a line per item.
    assert bytes_of_tables((100, 10), plain) == 110 * (8 * 6 + 64)
    residue = Problem(OBJECTIVES["residue"], *sides)
    assert bytes_of_tables((100, 10), residue) == 110 * (8 * 12 + 64)
    model = bounded_model("average", 2, "mean", [0.2, 0.2])
    sets = Problem(OBJECTIVES["mean"], *sides, overlap_model=model)
    assert bytes_of_tables((100, 10), sets) == 110 * (8 * 6 + 64 + 32 + 16)
    one_way = Problem(OBJECTIVES["kmeans"], sides[0], None)
    # Distances and products of rows, sums of columns; not a table as large as the data.
    assert bytes_of_tables((100, 10), one_way) == 100 * (8 * 6 + 64) + 10 * (8 * 3 + 64)


def test_even_parts_may_be_too_large(use, tmp_path):
    use(1500)
    store = write_store(tmp_path / "data", planted("sparse"), rows_per_block=23)
    with pytest.raises(GpuMemoryError, match="the longest part of a matrix of 96 rows") as error:
        NEOCC(2, 2, engine="gpu", refine=False).fit(store)
    assert error.value.needed > 1500


class csr_matrix:  # noqa: N801
    """What cupyx has, as far as it is needed."""

    format, has_canonical_format, ndim = "csr", True, 2

    def __init__(self, arrays, shape):
        self.data, self.indices, self.indptr = arrays
        self.shape, self.nnz, self.dtype = shape, len(self.data), self.data.dtype

    def get(self):
        arrays = (each.get() for each in (self.data, self.indices, self.indptr))
        return sparse.csr_matrix(tuple(arrays), shape=self.shape)


csr_matrix.__module__ = "cupyx.scipy.sparse"


class Given(CardArray):
    """An array that users have."""

    device = SimpleNamespace(id=0)


Given.__module__ = "cupy"


class Cupy(Module):
    """What stands for the module; hosts' arrays may be put there."""

    current = 0

    @property
    def cuda(self):
        return SimpleNamespace(Device=lambda: SimpleNamespace(id=self.current))

    def asarray(self, array):
        return np.array(array).view(Given)

    def __getattr__(self, name):
        found = super().__getattr__(name)
        if not callable(found):
            return found
        return lambda *args, **options: foreign(found(*args, **options)).view(Given)


@pytest.fixture
def cupy(monkeypatch):
    found = Cupy()
    monkeypatch.setitem(sys.modules, "cupy", found)
    monkeypatch.setitem(sys.modules, "cupyx", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "cupyx.scipy", SimpleNamespace())
    names = SimpleNamespace(csr_matrix=csr_matrix)
    monkeypatch.setitem(sys.modules, "cupyx.scipy.sparse", names)
    return found


@pytest.mark.parametrize(
    ("case", "kind", "weighs"),
    [
        ("mean", "sparse", True),
        ("mean", "dense", True),
        ("poisson", "sparse", True),
        ("poisson", "dense", True),
        ("observed", "sparse", False),
        ("effects", "sparse", True),
        ("effects", "dense", True),
        ("effects", "nan", False),
        ("effects", "nan", True),
    ],
)
def test_input_on_the_card(use, cupy, case, kind, weighs):
    use()
    how = {"effects": CASES["observed"], "observed": {"missing": "ignore"}}.get(case) or CASES[case]
    X = data(case, "dense" if kind == "dense" else "sparse")
    if kind == "nan":
        X.data[::7] = np.nan
    if kind == "dense":
        there = cupy.asarray(X)
    else:
        there = csr_matrix([cupy.asarray(each) for each in (X.data, X.indices, X.indptr)], X.shape)
    given = weights("observed" if "missing" in how else case) if weighs else {}
    model = NEOCC(4, 3, **OPTIONS, **how)
    expected = model.fit(X, **given)
    found = NEOCC(**{**model.get_params(), "engine": "gpu"}).fit(there, **given)
    assert same_fit(found, expected)


@pytest.mark.parametrize(
    ("case", "kind"), [("residue", "sparse"), ("observed", "sparse"), ("mean", "dense")]
)
def test_columns_of_data_on_the_card_may_pass_through(use, cupy, monkeypatch, case, kind):
    X, model = data(case, kind), NEOCC(4, 3, **OPTIONS, **CASES[case])
    monkeypatch.setattr(gpu_shard, "bytes_of_tables", lambda *_: 0)
    # Rows are there already; of sparse ones columns are made, dense ones are converted.
    if kind == "dense":
        there = cupy.asarray(X.T).T
    else:
        there = csr_matrix([cupy.asarray(each) for each in (X.data, X.indices, X.indptr)], X.shape)
    use(30_000, part_entries=100)
    _, passing = note_parts(monkeypatch)
    found = NEOCC(**{**model.get_params(), "engine": "gpu"}).fit(there)
    assert max(passing) > 1
    assert same_fit(found, model.fit(X))


@pytest.mark.parametrize("kind", ["sparse", "dense"])
def test_another_card_than_the_current_one_is_refused(use, cupy, kind):
    use()
    X = planted(kind)
    there = cupy.asarray(X if kind == "dense" else X.data)
    if kind == "sparse":
        there = csr_matrix([there, *map(cupy.asarray, (X.indices, X.indptr))], X.shape)
    cupy.current = 1
    model = NEOCC(4, 3, **OPTIONS, engine="gpu")
    with pytest.raises(ValueError, match=r"on GPU 0, and the current one is 1.*Device\(0\)"):
        model.fit(there)
    cupy.current = 0
    assert model.fit(there).objective_ > 0


class Weights:
    """An array of CuPy, which does not become one of NumPy unasked."""

    def __array__(self, *_, **__):
        raise TypeError("Implicit conversion to a NumPy array is not allowed")

    def get(self):
        return weights("mean")["row_weight"]


Weights.__module__ = "cupy"


def test_weights_on_the_card(use):
    use()
    model = NEOCC(4, 3, **OPTIONS, engine="gpu")
    expected = NEOCC(**model.get_params()).fit(planted("sparse"), row_weight=Weights().get())
    assert same_bits(model.fit(planted("sparse"), row_weight=Weights()), expected)
