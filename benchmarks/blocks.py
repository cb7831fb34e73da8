"""Fits from disk: `python -m benchmarks.blocks` measures passes, memory and what is spared.

`--write docs/disk-study.md` puts the tables there. The matrix is generated, block by block, in a
folder that is removed at the end: eight bytes per entry.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from unittest.mock import patch

import numpy as np
from scipy import sparse

from benchmarks.measure import in_fresh_process
from benchmarks.pages import Line, markdown, replace_section
from neocc import NEOCC
from neocc.core.initialise import random_start
from neocc.core.objectives import OBJECTIVES
from neocc.core.problem import Counts, Problem
from neocc.core.steps import make_features, make_terms
from neocc.datasets import fetch_movielens_1m, make_coclusters
from neocc.engines import PassOptions, Workers, open_engine
from neocc.engines.stored import open_source
from neocc.estimators import _engines
from neocc.io import BlockStore, write_store
from neocc.kernels import get_kernels

_PER_ROW, _STRIDE, _CLUSTERS = 500, 40, 10
_N_COLUMNS = _PER_ROW * _STRIDE
_FIT = """
import json, time
from pathlib import Path
from neocc import NEOCC
from neocc.io import open_store

def status(key):
    text = Path("/proc/self/status").read_text()
    return 1024 * int(text.split(key + ":")[1].split()[0])

store = open_store({folder!r})
begin = time.perf_counter()
model = NEOCC({k}, {k}, row_outliers=0.01, n_init=2, memory_limit={limit!r}, n_jobs=2,
              random_state=0, max_iter={max_iter}).fit(store)
print(json.dumps([time.perf_counter() - begin, model.n_passes_, model.n_iter_, status("VmHWM")]))
"""

_LIMITED_FIT = """
import json, sys
import neocc
from neocc._sizes import as_bytes
from neocc.io import open_store

folder, kind, arguments, options = json.loads(sys.argv[1])
Estimator, store = getattr(neocc, kind), open_store(folder)

def fit(limit):
    return Estimator(*arguments, memory_limit=limit, n_jobs=2, n_init=2, max_iter=5,
                     random_state=0, **options).fit(store)

try:
    fit(1)
except neocc.engines.MemoryLimitError as error:
    least = as_bytes(str(error).split("a fit needs ")[1].split(". Allow")[0], "limit")
print(least, flush=True)
fit(least)
"""
_LOOSE = {"row_overlap": 0.1, "row_outliers": 0.02, "refine": False}


class Clock:
    """Seconds on the wall, and of all threads on the processors."""

    def __init__(self) -> None:
        self.wall, self.processors = time.perf_counter(), time.process_time()

    def stopped(self) -> Clock:
        self.wall = time.perf_counter() - self.wall
        self.processors = time.process_time() - self.processors
        return self

    def in_words(self) -> tuple[str, str]:
        return f"{self.wall:.1f} s", f"{self.processors:.1f} s"


def generated(n_entries: int) -> Iterator[sparse.csr_array]:
    """Yield blocks of planted co-clusters: one entry in every forty columns of each row."""
    return planted_blocks(n_entries // _PER_ROW, _N_COLUMNS, _PER_ROW)


def planted_blocks(n_rows: int, m: int, per_row: int, seed: int = 0) -> Iterator[sparse.csr_array]:
    """Yield blocks of planted co-clusters, with entries in random columns at even distances."""
    rng = np.random.default_rng(seed)
    means = rng.normal(scale=2.0, size=(_CLUSTERS, _CLUSTERS)).astype(np.float32)
    step, stride = max(1, 5_000_000 // per_row), m // per_row
    groups = (np.arange(m) * _CLUSTERS // m).astype(np.intp)
    for start in range(0, n_rows, step):
        n = min(step, n_rows - start)
        jitter = rng.integers(stride, size=(n, per_row), dtype=np.uint8)
        columns = jitter + np.arange(per_row, dtype=np.int32) * stride
        own = rng.integers(_CLUSTERS, size=n)
        values = means[own[:, None], groups[columns]]
        values += rng.standard_normal((n, per_row), dtype=np.float32)
        indptr = np.arange(n + 1, dtype=np.int32) * per_row
        parts = (values.ravel(), columns.ravel(), indptr)
        yield sparse.csr_array(parts, shape=(n, m))


def forget(store: BlockStore) -> None:
    """Ask the system to drop what it has cached of a store."""
    for path in store.path.glob("block-*.npy"):
        with path.open("rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def reading_time(store: BlockStore, n_threads: int) -> Clock:
    """Time the reading of all files of a store, and doing nothing with them."""
    files = sorted(store.path.glob("block-*.npy"))

    def read(path: Path) -> None:
        buffer = bytearray(1 << 22)
        with path.open("rb", buffering=0) as file:
            while file.readinto(buffer):
                pass

    clock = Clock()
    with ThreadPoolExecutor(n_threads) as pool:
        list(pool.map(read, files))
    return clock.stopped()


def pass_times(store: BlockStore, n_jobs: int, *, cold: bool) -> dict[str, Clock]:
    """Time a pass for the column step and one for the row step, by name."""

    def begun() -> Clock:
        if cold:
            forget(store)
        return Clock()

    rng = np.random.default_rng(0)
    rows, columns = (Counts.from_fractions(n, _CLUSTERS, 0.0, 0.01) for n in store.shape)
    pair = U, V = random_start(rows, rng), random_start(columns, rng)
    found: dict[str, Clock] = {}
    with Workers(n_jobs) as workers:
        kernels = get_kernels("auto", store.n_stored)
        matrix = open_source(store, n_jobs + 1)
        open_engine(matrix, kernels, workers).column_features(
            U, None
        )  # compiles, compares checksums
        for objective in ("mean", "residue"):
            problem = Problem(OBJECTIVES[objective], rows, columns)
            engine = open_engine(open_source(store, n_jobs + 1), kernels, workers)
            clock = begun()
            features = make_features(engine, problem, pair)
            found[f"{objective}, column step"] = clock.stopped()
            terms = make_terms(problem, "rows", features, pair)
            clock = begun()
            engine.assign_rows(problem, terms, U, V)
            found[f"{objective}, row step"] = clock.stopped()
    return found


@contextmanager
def every_sum_anew() -> Iterator[None]:
    """Let fits make all their sums from all rows."""
    options = PassOptions(max_changed=-1.0, entries_per_sum=np.inf)
    with patch.object(_engines, "open_engine", partial(open_engine, options=options)):
        yield


def spared_passes(folder: Path) -> Iterator[Line]:
    """Count passes over stores with and without sums that are kept or follow changes."""
    yield ["data", "objective", "passes", "all sums from all rows", "spared"]
    planted, _, _ = make_coclusters(
        (20_000, 500), 8, 8, row_overlap=0.1, separation=1.0, random_state=0
    )
    cases = [("planted, 20,000 x 500", planted)]
    if os.environ.get("NEOCC_DATA"):
        cases.insert(0, ("MovieLens 1M", fetch_movielens_1m().data))
    for name, X in cases:
        store = write_store(folder / name.split(",")[0], X)
        for objective in ("mean", "residue"):
            counts = []
            for sparing in (nullcontext(), every_sum_anew()):
                options = {"row_overlap": 0.1, "row_outliers": 0.02, "n_init": 4}
                options["refine"] = "thorough"
                with sparing:
                    model = NEOCC(8, 8, objective=objective, random_state=0, **options).fit(store)
                counts.append(model.n_passes_)
            share = 1.0 - counts[0] / counts[1]
            yield [name, objective, *(f"{one:.1f}" for one in counts), f"{share:.0%}"]


def from_disk(n_entries: int, folder: Path, limit: str, max_iter: int) -> Iterator[Line]:
    """Write a store, time passes over it, and fit it in a fresh process."""
    yield ["what", "wall clock", "processors", "against reading the files alone"]
    begin = time.perf_counter()
    store = write_store(folder / "generated", generated(n_entries), dtype="float32")
    size = sum(path.stat().st_size for path in store.path.iterdir())
    yield [f"writing {store.n_stored:,} entries", f"{time.perf_counter() - begin:.0f} s", "", ""]
    for cold, where in ((True, "disk"), (False, "the system's cache")):
        if cold:
            forget(store)
        alone = reading_time(store, 2)
        yield [f"reading {size / 1e9:.1f} GB from {where}, two threads", *alone.in_words(), "1"]
        for name, each in pass_times(store, 2, cold=cold).items():
            yield [
                f"a pass from {where}: {name}",
                *each.in_words(),
                f"{each.wall / alone.wall:.1f}",
            ]
    code = _FIT.format(folder=str(store.path), k=_CLUSTERS, limit=limit, max_iter=max_iter)
    seconds, passes, n_iter, peak = json.loads(in_fresh_process(code))
    yield [f"a fit of {n_iter} iterations, {passes:.1f} passes", f"{seconds:.0f} s", "", ""]
    yield [f"its peak memory (limit {limit})", f"{peak / 1e9:.2f} GB", "", ""]


def kept_limits(folder: Path) -> Iterator[Line]:
    """Fit stores with the least limit that is allowed; compare it with the peak of memory."""
    yield ["data", "fit", "least limit", "peak", "share"]
    residue = {**_LOOSE, "objective": "residue"}
    cases: list[tuple[str, tuple[int, int, int], str, list[int], dict[str, object]]] = [
        ("many rows", (2_000_000, 100, 10), "NEOCC", [50, 8], _LOOSE),
        ("many rows", (2_000_000, 100, 10), "NEOCC", [50, 8], residue),
        ("many rows", (2_000_000, 100, 10), "NEOKMeans", [50], {"overlap": 0.1, "outliers": 0.02}),
        ("many columns", (4_000, 400_000, 2000), "NEOCC", [20, 20], _LOOSE),
        ("many columns", (4_000, 400_000, 2000), "NEOCC", [20, 20], residue),
        ("dense", (400_000, 100, 100), "NEOCC", [20, 10], _LOOSE),
    ]
    for name, (n, m, per_row), kind, arguments, options in cases:
        path = folder / name
        if not path.exists():
            blocks = planted_blocks(n, m, per_row)
            made = blocks if per_row < m else (block.toarray() for block in blocks)
            write_store(path, made, dtype="float32", block_size="16MB")
        limit, peak = limited_fit([str(path), kind, arguments, options])
        what = f"{name}: {n:,} x {m:,}, {n * per_row:,} entries"
        clusters = " x ".join(str(each) for each in arguments)
        words = f"`{kind}`, {options.get('objective', 'mean') + ', ' if kind == 'NEOCC' else ''}"
        sizes = (f"{each / 1e6:,.0f} MB" for each in (limit, peak))
        yield [what, f"{words}{clusters} clusters", *sizes, f"{peak / limit:.0%}"]


def limited_fit(asked: list[object]) -> tuple[int, int]:
    """Fit in a fresh process; return the least limit and the peak of what is no mapped file."""
    command = [sys.executable, "-c", _LIMITED_FIT, json.dumps(asked)]
    peak = 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            while process.poll() is None:
                with suppress(OSError, IndexError):  # it may have ended
                    status = Path(f"/proc/{process.pid}/status").read_text()
                    peak = max(peak, 1024 * int(status.split("RssAnon:")[1].split()[0]))
                time.sleep(0.003)
            printed = process.communicate()[0]
        finally:
            process.kill()
    if process.returncode:
        raise RuntimeError(f"the fit ended with {process.returncode}")
    return int(printed), peak


def main() -> None:
    """Measure, print, and write if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=float, default=1e9)
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--limit", default="4GB")
    parser.add_argument("--max-iter", type=int, default=20)
    parser.add_argument("--write", type=Path, default=None)
    parser.add_argument("only", nargs="?", choices=("disk", "passes", "memory"))
    given = parser.parse_args()
    if given.only in (None, "disk"):
        with tempfile.TemporaryDirectory(dir=given.folder) as folder:
            _show(
                "disk",
                from_disk(int(given.entries), Path(folder), given.limit, given.max_iter),
                given.write,
            )
    if given.only in (None, "passes"):
        with tempfile.TemporaryDirectory(dir=given.folder) as folder:
            _show("passes", spared_passes(Path(folder)), given.write)
    if given.only in (None, "memory"):
        with tempfile.TemporaryDirectory(dir=given.folder) as folder:
            _show("memory", kept_limits(Path(folder)), given.write)


def _show(name: str, lines: Iterator[Line], page: Path | None) -> None:
    kept = []
    for line in lines:
        print(" | ".join(line), flush=True)
        kept.append(line)
    if page is not None:
        replace_section(page, name, markdown(kept))


if __name__ == "__main__":
    main()
