"""`python -m benchmarks.gpu` times fits on an NVIDIA GPU, and prints them beside its limits.

Data are made on the card: rows of equally many entries, planted blocks with noise. `--entries`,
`--rows` and `--columns` say how large. Times are medians over iterations, after the first two.
"""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy import sparse

from benchmarks.pages import replace_section
from neocc import NEOCC
from neocc.core.objectives import OBJECTIVES, Observed
from neocc.core.overlap import REPEAT, bounded_model
from neocc.core.problem import Counts, Problem
from neocc.core.solve import solve
from neocc.engines import GpuError, Workers, on_gpu, open_engine
from neocc.engines.gpu import open_card
from neocc.engines.gpu.device import Device
from neocc.engines.gpu.matrix import ObservedCard, SparseCard
from neocc.engines.gpu.rows import bytes_on_card
from neocc.engines.matrix import SparseMatrix
from neocc.kernels import Memberships, get_kernels
from neocc.kernels.gpu.lines import SparseOnCard

# A hash (splitmix64) draws columns, clusters and noise.
_MAKE = r"""
__device__ unsigned long long mixed(unsigned long long z) {
    z += 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}
extern "C" __global__ void make(
    long long n, long long per_row, long long n_columns, int k, int whole, int *indices,
    float *values)
{
    long long e = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= n) return;
    const long long row = e / per_row, j = e % per_row;
    const long long from = j * n_columns / per_row, to = (j + 1) * n_columns / per_row;
    const long long column = from + (long long)(mixed(e) % (unsigned long long)(to - from));
    const int i = mixed(row * 2 + 1) % k, c = mixed(column * 2) % k;
    const float mean = (float)(mixed(977 + i * k + c) % 2000) / 500.0f - 2.0f;
    const float noise = (float)(mixed(e + (1LL << 40)) % 4000) / 1000.0f - 2.0f;
    indices[e] = (int)column;
    values[e] = whole ? 1.0f + (float)((int)(mean * mean + noise * noise)) : mean + noise;
}
"""


def held(shards: Any) -> Any:
    """Return the rows on the card, all in one piece."""
    ((_, rows),) = shards.shard._rows.parts()  # noqa: SLF001
    return rows


def planted(cupy: Any, n: int, m: int, n_entries: int, k: int, *, whole: bool = False) -> Any:
    """Return a CSR matrix on the card; of counts if they are to be `whole` numbers."""
    per_row = n_entries // n
    total = per_row * n
    indices, values = cupy.empty(total, dtype=np.int32), cupy.empty(total, dtype=np.float32)
    make = cupy.RawKernel(_MAKE, "make")
    sizes = (np.int64(total), np.int64(per_row), np.int64(m), np.int32(k), np.int32(whole))
    make((-(-total // 256),), (256,), (*sizes, indices, values))
    indptr = cupy.arange(0, total + 1, per_row, dtype=np.int32)
    from cupyx.scipy.sparse import csr_matrix

    return csr_matrix((values, indices, indptr), shape=(n, m))


def start_of(n: int, k: int, overlap: float, outliers: float) -> tuple[Counts, Memberships]:
    """Return counts and memberships that meet them, spread evenly."""
    counts = Counts.from_fractions(n, k, overlap=overlap, outliers=outliers)
    first = (np.arange(n) * 7919 % k).astype(np.int32)
    if counts.is_partition:
        return counts, Memberships.partition(first, k)
    n_out = counts.n_items - counts.n_covered
    first[np.linspace(0, n - 1, n_out).astype(np.int64)] = -1
    items = np.flatnonzero(first >= 0)[: counts.n_extra]
    return counts, Memberships(first, items, ((first[items] + 1) % k).astype(np.int32), k)


def device_line(cupy: Any) -> str:
    """Describe the card."""
    runtime = cupy.cuda.runtime
    properties = runtime.getDeviceProperties(cupy.cuda.Device().id)
    driver = runtime.driverGetVersion()
    version = runtime.runtimeGetVersion()
    return (
        f"{properties['name'].decode()}, {properties['totalGlobalMem'] / 2**30:.0f} GiB, "
        f"{properties['multiProcessorCount']} multiprocessors; driver for CUDA "
        f"{driver // 1000}.{driver % 1000 // 10}, runtime {version // 1000}."
        f"{version % 1000 // 10}, CuPy {cupy.__version__}"
    )


def bandwidth(cupy: Any) -> float:
    """Return the bytes per second of a large copy, those read and those written."""
    one = cupy.ones(1 << 29, dtype=np.float64)
    other = cupy.empty_like(one)
    times = []
    for _ in range(8):
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        cupy.copyto(other, one)
        end.record()
        end.synchronize()
        times.append(cupy.cuda.get_elapsed_time(begin, end))
    return 2 * one.nbytes / (1e-3 * median(times[2:]))


def least_bytes(n: int, m: int, entries: int, k: int, problem: Problem) -> float:
    """Return what an iteration has to move: entries, and tables with a line per item."""
    assert problem.rows is not None
    by_row, by_column = 8 * entries, 6 * entries
    moved = by_row + by_column + 8 * k * (n + m) * 2 + (n + m) * (8 + 4 + 8)
    if not problem.rows.is_partition:
        # Distances are written, counted a few times and compared with thresholds.
        moved += 8 * k * (n + m) * 8
    if problem.needs_products:
        # Read again; the lines of a table that entries ask for come from the cache of the card.
        moved += by_row + by_column + 2 * 8 * k * (n + m)
    if problem.objective.needs_counts:
        moved += by_row + by_column
    model = problem.overlap_model
    if model.prices_first:
        # Distances are read again; curves, sets and steps are written, and read a few times.
        largest = k if model.most is None else min(k, model.most)
        moved += (n + m) * (8 * k + 4 * largest**2 + 8 * largest * 6)
    return moved


def per_iteration(engine: Any, problem: Problem, pair: Any, n_iter: int, wait: Any = None) -> float:
    """Return the milliseconds of an iteration, but for the first two."""
    times: list[float] = []

    def report(*_: object) -> bool:
        if wait is not None:
            wait()
        times.append(time.perf_counter())
        return False

    data = engine.centred(problem.centring)
    solve(data, replace(problem, max_iter=n_iter, tol=-1.0), pair, report)
    return 1e3 * median(np.diff(times)[1:])


def problem_of(
    name: str,
    n: int,
    m: int,
    k: int,
    overlap: float = 0.0,
    outliers: float = 0.0,
    model: Any = REPEAT,
) -> tuple[Problem, Any]:
    """Return a problem and a start."""
    (rows, U), (columns, V) = (start_of(size, k, overlap, outliers) for size in (n, m))
    objective = OBJECTIVES[name] if name in OBJECTIVES else Observed()
    return Problem(objective, rows, columns, 1, 0.0, model), (U, V)


class Page:
    """The lines of the page, printed as they come."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.n_failed = 0

    def say(self, line: str) -> None:
        print(line, flush=True)
        self.lines.append(line)


class Bench:
    """A card, the sizes asked for, and where lines go."""

    def __init__(self, given: argparse.Namespace, page: Page) -> None:
        import cupy

        self.given, self.page, self.cupy = given, page, cupy
        self.wait = cupy.cuda.Device().synchronize
        self.n, self.m, self.k = int(given.rows), int(given.columns), int(given.clusters)
        self.speed = bandwidth(cupy)
        cupy.get_default_memory_pool().free_all_blocks()

    def seconds(self, run: Any) -> float:
        """Time one run."""
        self.wait()
        start = time.perf_counter()
        run()
        self.wait()
        return time.perf_counter() - start

    def run(self) -> None:
        """Run all."""
        say, given, size = self.page.say, self.given, (self.n, self.m)
        say(f"{device_line(self.cupy)}. Copies within the card: {self.speed / 1e12:.2f} TB/s.")
        say("")
        X = planted(self.cupy, *size, int(given.entries), self.k)
        say(f"{X.nnz} entries of {self.n} x {self.m}, float32; {self.k} x {self.k} clusters.")
        say("")
        say("| one iteration | ms | GB moved | limit of the memory, ms | goal, ms |")
        say("| --- | --- | --- | --- | --- |")
        with Workers() as workers:
            engine = on_gpu(SparseCard.from_cupy(X), get_kernels("numpy", 0), workers)
            few = SparseCard.from_cupy(planted(self.cupy, 1000, 100, 10_000, self.k))
            with Workers() as others:
                # What it takes is compiled first.
                _ = held(on_gpu(few, get_kernels("numpy", 0), others).shards).columns
            copied = self.seconds(partial(getattr, held(engine.shards), "columns"))
            self.iteration(engine, "NEO-CC-M, disjoint", "mean", 10.0)
            overlap = "NEO-CC-M, overlap 0.1, outliers 0.05"
            self.iteration(engine, overlap, "mean", 15.0, overlap=0.1, outliers=0.05)
            self.iteration(engine, "NEO-CC-RCM, disjoint", "residue", 60.0)
            if given.all:
                average = bounded_model("average", 2, "mean", [0.1, 0.1])
                how: dict[str, Any] = {"overlap": 0.1, "model": average}
                self.iteration(engine, '"average", overlap 0.1', "mean", None, **how)
            if given.parts:
                self.parts(engine)
            del engine
        if given.all:
            self.counts_and_cells(X)
        say("")
        say(f"The transposed copy takes {copied:.2f} s.")
        self.fit("all entries", X)
        self.fit("10 million entries", planted(self.cupy, 50_000, 5_000, 10**7, self.k))
        if given.cpu:
            self.beside_cpu(int(given.cpu))
            self.passing(int(given.cpu))
        self.products(X)
        self.upload(X)

    def iteration(
        self, engine: Any, title: str, name: str, goal: float | None, n_iter: int = 12, **how: Any
    ) -> None:
        """Time iterations of one kind."""
        n, m = engine.shape
        problem, pair = problem_of(name, n, m, self.k, **how)
        try:
            ms = per_iteration(engine, problem, pair, n_iter, self.wait)
        except Exception as error:  # the others are worth their time on the card
            self.page.say(f"| {title} | {type(error).__name__}: {error} | | | |")
            self.page.n_failed += 1
            return
        moved = least_bytes(n, m, engine.n_stored, self.k, problem)
        wanted = "" if goal is None else f"{goal:g}"
        limit = f"{moved / 1e9:.1f} | {1e3 * moved / self.speed:.2f}"
        self.page.say(f"| {title} | {ms:.2f} | {limit} | {wanted} |")

    def counts_and_cells(self, X: Any) -> None:
        """Time observed cells, and counts."""
        kernels = get_kernels("numba", 0)
        with Workers() as workers:
            engine = on_gpu(ObservedCard.from_cupy(X), kernels, workers)
            self.iteration(engine, "observed cells, disjoint", "observed", None)
            del engine
        with Workers() as workers:
            counted = planted(self.cupy, self.n, self.m, X.nnz, self.k, whole=True)
            engine = on_gpu(SparseCard.from_cupy(counted), kernels, workers)
            self.iteration(engine, "poisson, disjoint", "poisson", None)

    def passing(self, entries: int) -> None:
        """Time iterations of data in memory that are held, and that pass through the card."""
        n, m = max(100, entries // 200), max(200, entries // 2000)
        here = SparseMatrix.from_scipy(
            sparse.csr_array(planted(self.cupy, n, m, entries, self.k).get())
        )
        problem, pair = problem_of("mean", n, m, self.k)
        kernels, known = get_kernels("numba", 0), open_card()
        # Too little for any of them to stay.
        free = bytes_on_card(here) * 8 // 15
        times = []
        for device in (known, Device(known.kernels, lambda: free)):
            with Workers() as workers:
                engine = on_gpu(here, kernels, workers, device)
                times.append(per_iteration(engine, problem, pair, 8, self.wait))
        self.page.say(
            f"One disjoint iteration of {here.n_stored} entries: {times[0]:.2f} ms where all stay "
            f"on the card, {times[1]:.1f} ms where they pass through it twice, from memory."
        )

    def parts(self, engine: Any) -> None:
        """Time the kernels of an iteration one by one."""
        shard, cupy = engine.shards.shard, self.cupy
        device, kernels = shard.device, shard.device.kernels
        for overlap, outliers in ((0.0, 0.0), (0.1, 0.05)):
            (_, U), (_, V) = (start_of(n, self.k, overlap, outliers) for n in (self.n, self.m))
            rows, columns = device.lists(U), device.lists(V)
            by_rows, by_columns = cupy.empty((self.n, self.k)), cupy.zeros((self.m, self.k))
            squares, down = cupy.empty(self.n), cupy.zeros(self.m)
            ends: dict[str, Any] = {
                "gather": (columns, None, by_rows, None),
                "scatter": (rows, None, by_columns, None),
            }
            if overlap:
                ends["gather"] = (columns, columns.weights, by_rows, squares)
                ends["scatter"] = (rows, rows.weights, by_columns, down)
            if not overlap:
                ends["multiply"] = (cupy.ones((self.m, self.k)), by_rows)
                ends["multiply_transposed"] = (cupy.ones((self.n, self.k)), by_columns)
            for name, end in ends.items():
                call = partial(getattr(kernels, name), held(engine.shards), *end)
                times = [self.seconds(call) for _ in range(6)]
                print(f"{name}, overlap {overlap}: {1e3 * median(times[2:]):.2f} ms", flush=True)

    def fit(self, name: str, X: Any) -> None:
        """Time whole plain fits of data on the card, after one that compiles what it needs."""
        copying: list[float] = []
        transposed = SparseOnCard._transposed  # noqa: SLF001

        def timed(held: SparseOnCard, data: Any) -> Any:
            found: list[Any] = []
            copying.append(self.seconds(lambda: found.append(transposed(held, data))))
            return found[0]

        model = NEOCC(self.k, self.k, engine="gpu", refine=False, n_init=1, random_state=0)
        with patch.object(SparseOnCard, "_transposed", timed):
            model.fit(X)
            times = []
            for _ in range(5):
                copying.clear()
                times.append((self.seconds(lambda: model.fit(X)), sum(copying)))
        total, copied = sorted(times)[len(times) // 2]
        self.page.say(
            f"A plain fit of {name} on the card: {total - copied:.3f} s and {copied:.3f} s for "
            f"transposed copies, {model.n_iter_} iterations (the median of five)."
        )

    def products(self, X: Any) -> None:
        """Time the two products alone, by cuSPARSE, beside whole iterations on the same rows."""
        some = X[: X.shape[0] // 10]
        V, U = (self.cupy.ones((size, self.k), dtype=np.float32) for size in some.shape[::-1])
        calls = {"X @ V": lambda: some @ V, "X.T @ U": lambda: some.T @ U}
        times = {name: median(self.seconds(call) for _ in range(3)) for name, call in calls.items()}
        said = ", ".join(f"{name} {1e3 * each:.1f} ms" for name, each in times.items())
        problem, pair = problem_of("mean", *some.shape, self.k)
        with Workers() as workers:
            engine = on_gpu(SparseCard.from_cupy(some), get_kernels("numpy", 0), workers)
            ours = per_iteration(engine, problem, pair, 12, self.wait)
        ratio = 1e3 * sum(times.values()) / ours
        self.page.say(
            f"cuSPARSE, {some.nnz} entries, float32: {said}. A whole disjoint iteration over the "
            f"same rows: {ours:.2f} ms; the two products alone take {ratio:.1f} times as long."
        )

    def upload(self, X: Any) -> None:
        """Time the way of all entries to the card, if this machine has the memory for them."""
        needed, free = bytes_of(X), os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        if 1.5 * needed > free:
            self.page.say(
                f"All {X.nnz} entries were not put there from memory: they take "
                f"{needed / 1e9:.1f} GB, and {free / 1e9:.1f} are free here."
            )
            return
        matrix = SparseMatrix.from_scipy(sparse.csr_array(X.get()))
        with Workers() as workers:
            there = on_gpu(matrix, get_kernels("numpy", 0), workers)
            put = self.seconds(lambda: held(there.shards))
        self.page.say(
            f"Putting all {X.nnz} entries there, from memory: {put:.2f} s, "
            f"{needed / put / 1e9:.1f} GB/s."
        )

    def beside_cpu(self, entries: int) -> None:
        """Time iterations of both engines on the same data, and the way to the card."""
        n, m = max(100, entries // 200), max(200, entries // 2000)
        here = sparse.csr_array(planted(self.cupy, n, m, entries, self.k).get())
        problem, pair = problem_of("mean", n, m, self.k)
        kernels = get_kernels("auto", 10 * here.nnz)
        with Workers() as workers:
            matrix = SparseMatrix.from_scipy(here)
            there = on_gpu(matrix, kernels, workers)
            put = self.seconds(lambda: held(there.shards))
            fast = per_iteration(there, problem, pair, 12, self.wait)
            slow = per_iteration(open_engine(matrix, kernels, workers), problem, pair, 8)
        self.page.say(
            f"One disjoint iteration of {here.nnz} entries: CPU ({workers.n_jobs} threads) "
            f"{slow:.1f} ms, GPU {fast:.2f} ms, {slow / fast:.1f} times. Putting the data there: "
            f"{1e3 * put:.0f} ms, {bytes_of(here) / put / 1e9:.1f} GB/s."
        )


def bytes_of(X: Any) -> int:
    """Return the bytes of a CSR matrix."""
    return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=float, default=1e9, help="fewer than 2**31")
    parser.add_argument("--rows", type=float, default=5e6)
    parser.add_argument("--columns", type=float, default=1e5)
    parser.add_argument("--clusters", type=int, default=20)
    parser.add_argument("--all", action="store_true", help="average, counts, observed cells too")
    parser.add_argument("--parts", action="store_true", help="also time kernels one by one")
    parser.add_argument("--cpu", type=float, default=1e8, help="entries of the comparison with it")
    parser.add_argument("--write", type=Path, help="the page to put the lines into")
    given = parser.parse_args()
    if max(given.entries, given.cpu) >= 2**31:
        parser.error("so many entries: matrices made here have indices of four bytes, below 2**31.")
    try:
        open_card()
    except GpuError as error:
        parser.exit(1, f"{error}\n")
    page = Page()
    Bench(given, page).run()
    if page.n_failed:
        parser.exit(1, f"{page.n_failed} of the fits failed: nothing is written.\n")
    if given.write is not None:
        replace_section(given.write, "gpu", "\n".join(page.lines))


if __name__ == "__main__":
    main()
