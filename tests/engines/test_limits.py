"""Fits at the least memory they ask for, on disks without room, of stores that change meanwhile."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from stores import CONTAINERS, planted

from neocc import NEOCC
from neocc.core.objectives import OBJECTIVES
from neocc.core.overlap import OVERLAP_MODELS
from neocc.core.problem import Counts, Problem
from neocc.engines import MemoryLimitError, space
from neocc.io import FormatError, open_store, write_store
from neocc.io.blocks import _store

# Fits a store with the least limit that is allowed. First a small one, which loads all there is.
FIT = """
import json, sys
from pathlib import Path
import numpy as np
import neocc
from neocc.io import open_store, write_store

path, kind, arguments, options = json.loads(sys.argv[1])
Estimator, store = getattr(neocc, kind), open_store(path)
options = dict(options, random_state=0, n_jobs=2, n_init=2, max_iter=3)

def least():
    try:
        Estimator(*arguments, memory_limit=1, **options).fit(store)
    except neocc.engines.MemoryLimitError as error:
        return str(error).split("a fit needs ")[1].split(". Allow")[0]

small = write_store(path + "-small", store.load(0)[:3000])
Estimator(*arguments, **options).fit(small)
print(json.dumps(neocc._sizes.as_bytes(least(), "limit")), flush=True)
sys.stdin.readline()
Estimator(*arguments, memory_limit=least(), **options).fit(store)
"""


def anonymous_memory(pid):
    """Return the bytes that a process holds for itself; pages of files are not among them."""
    try:
        text = Path(f"/proc/{pid}/status").read_text()
        return 1024 * int(text.split("RssAnon:")[1].split()[0])
    except (OSError, IndexError):  # it has ended
        return 0


def generated(n, m, per_row):
    """Yield blocks of sparse rows, or of dense ones where a row has no number of entries."""
    rng = np.random.default_rng(0)
    means = rng.normal(size=(8, m)).astype(np.float32)
    step = max(1, 1_000_000 // (per_row or m))
    for start in range(0, n, step):
        n_rows = min(step, n - start)
        rows = means[rng.integers(8, size=n_rows)]
        rows = rows + rng.standard_normal((n_rows, per_row or m), dtype=np.float32).mean(
            axis=1, keepdims=True
        )
        if per_row is None:
            yield rows
            continue
        stride = m // per_row
        columns = rng.integers(stride, size=(n_rows, per_row)) + np.arange(per_row) * stride
        indptr = np.arange(n_rows + 1) * per_row
        values = np.take_along_axis(rows, columns, axis=1).ravel()
        yield sparse.csr_array((values, columns.ravel(), indptr), shape=(n_rows, m))


MANY_ROWS = (800_000, 40, 8)
MANY_COLUMNS = (2_000, 200_000, 800)
DENSE = (200_000, 60, None)
OVERLAP = {"row_overlap": 0.1, "row_outliers": 0.02, "refine": False}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is looked up in /proc")
@pytest.mark.parametrize(
    ("shape", "kind", "arguments", "options"),
    [
        (MANY_ROWS, "NEOCC", [60, 8], OVERLAP),
        (MANY_ROWS, "NEOCC", [60, 8], {**OVERLAP, "objective": "residue", "row_overlap": 1.0}),
        (MANY_ROWS, "NEOCC", [20, 8], {**OVERLAP, "overlap_model": "average"}),
        (MANY_ROWS, "NEOKMeans", [60], {"overlap": 0.1, "outliers": 0.02}),
        (MANY_COLUMNS, "NEOCC", [20, 20], {"objective": "residue", "refine": False}),
        (MANY_COLUMNS, "NEOCC", [20, 20], OVERLAP),
        (DENSE, "NEOCC", [10, 10], OVERLAP),
    ],
    ids=["rows", "overlap", "sets", "one-way", "columns-residue", "columns-mean", "dense"],
)
def test_a_fit_keeps_its_limit(tmp_path, shape, kind, arguments, options):
    write_store(tmp_path / "store", generated(*shape), block_size="8MB", dtype="float32")
    asked = json.dumps([str(tmp_path / "store"), kind, arguments, options])
    process = subprocess.Popen(
        [sys.executable, "-c", FIT, asked], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    limit = json.loads(process.stdout.readline())
    program = anonymous_memory(process.pid)
    process.stdin.write("\n")
    process.stdin.flush()
    peak = program
    while process.poll() is None:
        peak = max(peak, anonymous_memory(process.pid))
        time.sleep(0.002)
    process.communicate()
    assert process.returncode == 0
    # Libraries differ from machine to machine; what is measured is what the fit adds to them.
    assert peak - program <= limit - space._PROGRAM


MEAN = OBJECTIVES["mean"]


def least_of(problem, source, n_jobs=2, **options):
    with pytest.raises(MemoryLimitError) as refused:
        space.plan_space(source, problem, n_jobs, 1, **options)
    return refused.value.needed


def test_what_a_fit_needs_grows_with_all_that_takes_room(tmp_path):
    store = write_store(
        tmp_path / "a",
        sparse.random_array((40_000, 500), density=0.01, random_state=np.random.default_rng(0)),
    )
    rows, columns = Counts(40_000, 20, 40_000, 0), Counts(500, 10, 500, 0)
    plain = least_of(Problem(MEAN, rows, columns), store)
    assert least_of(Problem(MEAN, Counts(40_000, 40, 40_000, 0), columns), store) > plain
    assert least_of(Problem(MEAN, Counts(40_000, 20, 60_000, 0), columns), store) > plain
    assert least_of(Problem(MEAN, Counts(40_000, 20, 440_000, 0), columns), store) > plain
    sets = OVERLAP_MODELS["average"]
    overlapping = Counts(40_000, 20, 60_000, 0)
    by_sets = [
        least_of(Problem(MEAN, overlapping, columns, overlap_model=model), store)
        for model in (OVERLAP_MODELS["repeat"](), sets(2), sets(4))
    ]
    # Of each row the best sets of up to two clusters, or four, with their costs.
    assert by_sets[1] - by_sets[0] >= 40_000 * (2 * 8 + 4 * 4)
    assert by_sets[2] - by_sets[0] >= 40_000 * (4 * 8 + 16 * 4)
    assert least_of(Problem(MEAN, rows, columns), store, n_jobs=4) > plain
    assert least_of(Problem(MEAN, rows, columns), store, n_held=100) > plain


# ------------------------------------------------------------------------------- full disks


def test_no_room_for_a_table_is_an_error_and_no_signal(tmp_path):
    """A table that is mapped from a file without blocks of its own would end the process."""
    pytest.importorskip("resource", reason="no limits on files there")
    code = (
        "import resource, signal\n"
        "from neocc.engines.space import TableSpace\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "TableSpace(0).empty(100, 100).fill(1.0)\n"
        "try:\n"
        "    TableSpace(0).empty(1000, 100).fill(1.0)\n"
        "except OSError as error:\n"
        "    print(error)\n"
    )
    environment = {"TMPDIR": str(tmp_path), "NUMBA_DISABLE_JIT": "1"}
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    for words in ("A table of 800KB", f"put into {tmp_path} (File too large)", "TMPDIR"):
        assert words in ran.stdout
    assert not list(tmp_path.iterdir())


def test_a_folder_for_tables_that_is_not_there(monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", "/not/there")
    with pytest.raises(space.NoRoomError, match=r"put into /not/there \(No such file .*TMPDIR"):
        space.TableSpace(0).empty(10, 10)


# ------------------------------------------------------------------- stores that change


@pytest.fixture
def small_cache(set_store_options, set_pass_options):
    """Read blocks again, instead of caching all of a small store."""
    set_store_options(cached_bytes=1)
    set_pass_options(cached=0)


def removed(store):
    (store.path / "block-000003.data.npy").unlink()


def deleted(store):
    shutil.rmtree(store.path)


def exchanged(store):
    (store.path / "block-000002.data.npy").replace(store.path / "block-000003.data.npy")


def replaced(store):
    other = store.load(0)
    write_store(store.path, [other] * store.n_blocks, rows_per_block=20, force=True)


@pytest.mark.usefixtures("small_cache")
@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("spoil", [removed, deleted, exchanged, replaced])
def test_a_store_that_is_spoilt_during_a_fit(tmp_path, monkeypatch, container, spoil):
    write_store(tmp_path / "store", planted(container), rows_per_block=20)
    store = open_store(tmp_path / "store")
    model = NEOCC(3, 3, n_init=2, refine=False, random_state=0, n_jobs=2).fit(planted("dense", 30))
    before = dict(vars(model))
    loads, real = [], _store.BlockStore._load

    def load(self, index, get):
        loads.append(index)
        if len(loads) == 30:
            spoil(store)
        return real(self, index, get)

    monkeypatch.setattr(_store.BlockStore, "_load", load)
    with pytest.raises(FormatError, match=r"block-00000\d\.\w+\.npy: .*copy the store again"):
        model.fit(store)
    assert len(loads) >= 30
    assert vars(model) == before


@pytest.mark.parametrize("refine", [True, "thorough", False])
def test_tables_of_a_view_are_counted(tmp_path, refine):
    """Plain starts and searches see data that they do not sample through one."""
    X = sparse.random_array((4_000, 300), density=0.1, random_state=np.random.default_rng(0))
    store = write_store(tmp_path / "a", X)
    needed = []
    for init in ("neo-kmeans", "random"):
        with pytest.raises(MemoryLimitError) as refused:
            NEOCC(5, 3, init=init, refine=refine, memory_limit=1, n_jobs=2).fit(store)
        needed.append(refused.value.needed)
    assert needed[0] - needed[1] == 6 * 8 * 4_300 * (5 + 8)
