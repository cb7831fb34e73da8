"""`python -m benchmarks.gpu` times fits on an NVIDIA GPU, and prints them beside its limits.

Data are made on the card: rows of equally many entries, planted blocks with noise. `--entries`,
`--rows` and `--columns` say how large. Times are medians over iterations, after the first two.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from statistics import median
from typing import Any

import numpy as np
from scipy import sparse

from neocc import NEOCC
from neocc.core.objectives import OBJECTIVES
from neocc.core.overlap import REPEAT, bounded_model
from neocc.core.problem import Counts, Problem
from neocc.core.solve import solve
from neocc.engines import Workers, on_gpu, open_engine
from neocc.engines.gpu import open_card
from neocc.engines.gpu.matrix import SparseCard
from neocc.engines.matrix import SparseMatrix
from neocc.kernels import Memberships, get_kernels

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


class Clock:
    """The times at which iterations end."""

    def __init__(self, synchronize: Any = lambda: None) -> None:
        self.times: list[float] = []
        self._synchronize = synchronize

    def __call__(self, *_: object) -> bool:
        self._synchronize()
        self.times.append(time.perf_counter())
        return False

    @property
    def milliseconds(self) -> float:
        """Median time of an iteration but for the first two."""
        return 1e3 * median(np.diff(self.times)[2:])


@contextmanager
def timed(seconds: dict[str, float], name: str, synchronize: Any) -> Iterator[None]:
    synchronize()
    start = time.perf_counter()
    yield
    synchronize()
    seconds[name] = time.perf_counter() - start


def device_line(cupy: Any) -> str:
    """Describe the card."""
    runtime, properties = cupy.cuda.runtime, cupy.cuda.runtime.getDeviceProperties(0)
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


def least_bytes(n: int, m: int, entries: int, k: int, *, distances: bool, products: bool) -> float:
    """Return what an iteration has to move: entries, and tables with a line per item."""
    by_row, by_column = 8 * entries, 6 * entries
    sums = 8 * k * (n + m) * 2 + (n + m) * (8 + 4 + 8)
    moved = by_row + by_column + sums
    if distances:
        moved += 8 * k * (n + m) * 4
    if products:
        # Read again, with a line of a table for each entry.
        moved += by_row + by_column + 2 * entries * 8 * k
    return moved


def iterations(engine: Any, problem: Problem, pair: Any, n_iter: int, clock: Clock) -> float:
    solve(
        engine.centred(problem.centring), replace(problem, max_iter=n_iter, tol=-1.0), pair, clock
    )
    return clock.milliseconds


def cases(n: int, m: int, k: int) -> Iterator[tuple[str, Problem, Any, float | None]]:
    """Yield problems with starts, and the milliseconds an iteration may take at 10^9 entries."""
    average = bounded_model("average", 2, "mean", [0.1, 0.1])
    for name, objective, model, overlap, outliers, goal in (
        ("NEO-CC-M, disjoint", "mean", REPEAT, 0.0, 0.0, 10.0),
        ("NEO-CC-M, overlap 0.1, outliers 0.05", "mean", REPEAT, 0.1, 0.05, 15.0),
        ("NEO-CC-RCM, disjoint", "residue", REPEAT, 0.0, 0.0, 60.0),
        ("poisson, disjoint", "poisson", REPEAT, 0.0, 0.0, None),
        ('"average", overlap 0.1', "mean", average, 0.1, 0.0, None),
    ):
        (rows, U), (columns, V) = (start_of(size, k, overlap, outliers) for size in (n, m))
        yield name, Problem(OBJECTIVES[objective], rows, columns, 1, 0.0, model), (U, V), goal


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=float, default=1e9)
    parser.add_argument("--rows", type=float, default=5e6)
    parser.add_argument("--columns", type=float, default=1e5)
    parser.add_argument("--clusters", type=int, default=20)
    parser.add_argument("--only", default="", help="cases whose names contain this text")
    parser.add_argument("--parts", action="store_true", help="also time kernels one by one")
    parser.add_argument("--cpu", type=float, default=1e7, help="entries of the comparison with it")
    given = parser.parse_args()
    import cupy

    n, m, k = int(given.rows), int(given.columns), given.clusters
    wait = cupy.cuda.Device().synchronize
    speed = bandwidth(cupy)
    cupy.get_default_memory_pool().free_all_blocks()
    print(device_line(cupy))
    print(f"Copies within the card: {speed / 1e12:.2f} TB/s.")
    seconds: dict[str, float] = {}
    with timed(seconds, "made", wait):
        X = planted(cupy, n, m, int(given.entries), k)
    print(f"{X.nnz} entries of {n} x {m}, float32; {k} x {k} clusters.")
    with Workers() as workers:
        engine = on_gpu(SparseCard.from_cupy(X), get_kernels("numpy", 0), workers)
        held = engine.shards.shard.held
        with timed(seconds, "transposed", wait):
            _ = held.columns
        print(f"Transposed copy: {seconds['transposed']:.2f} s.")
        if given.parts:
            parts(cupy, engine, n, m, k)
        print("| iteration | ms | limit of the memory, ms | goal, ms |\n| --- | --- | --- | --- |")
        for name, problem, pair, goal in cases(n, m, k):
            if given.only not in name or problem.objective.of_counts:
                continue
            n_iter = 12 if problem.overlap_model is REPEAT else 4
            ms = iterations(engine, problem, pair, n_iter, Clock(wait))
            moved = least_bytes(
                n,
                m,
                X.nnz,
                k,
                distances=not problem.rows.is_partition,
                products=problem.needs_products,
            )
            wanted = "" if goal is None else f"{goal:g}"
            print(f"| {name} | {ms:.2f} | {1e3 * moved / speed:.2f} | {wanted} |", flush=True)
        del engine, held
    fits(cupy, X, k, wait)
    products(cupy, X, k, wait)
    if given.cpu:
        beside_cpu(cupy, int(given.cpu), k, wait)


def parts(cupy: Any, engine: Any, n: int, m: int, k: int) -> None:
    """Time the kernels of an iteration one by one."""
    shard = engine.shards.shard
    device, kernels = shard.device, shard.device.kernels
    for overlap, outliers in ((0.0, 0.0), (0.1, 0.05)):
        (_, U), (_, V) = (start_of(size, k, overlap, outliers) for size in (n, m))
        rows, columns = device.lists(U), device.lists(V)
        by_rows, by_columns = cupy.empty((n, k)), cupy.zeros((m, k))
        squares, down = cupy.empty(n), cupy.zeros(m)
        weighted = overlap > 0
        ends: dict[str, Any] = {
            "gather": (columns, None, by_rows, None),
            "scatter": (rows, None, by_columns, None),
        }
        if weighted:
            ends["gather"] = (columns, columns.weights, by_rows, squares)
            ends["scatter"] = (rows, rows.weights, by_columns, down)
        calls = {
            name: partial(getattr(kernels, name), shard.held, *end) for name, end in ends.items()
        }
        for name, call in calls.items():
            times = []
            for _ in range(6):
                begin, end = cupy.cuda.Event(), cupy.cuda.Event()
                begin.record()
                call()
                end.record()
                end.synchronize()
                times.append(cupy.cuda.get_elapsed_time(begin, end))
            print(f"{name}, overlap {overlap}: {median(times[2:]):.2f} ms", flush=True)


def fits(cupy: Any, X: Any, k: int, wait: Any) -> None:
    """Time whole fits of data that are on the card."""
    for name, data in (("all", X), ("10 million entries", planted(cupy, 50_000, 5_000, 10**7, k))):
        for turn in ("first", "second"):
            seconds: dict[str, float] = {}
            with timed(seconds, "fit", wait):
                model = NEOCC(
                    k, k, engine="gpu", kernel="numpy", refine=False, n_init=1, random_state=0
                ).fit(data)
            print(
                f"Plain fit, {name}, {turn}: {seconds['fit']:.3f} s, {model.n_iter_} iterations.",
                flush=True,
            )


def products(cupy: Any, X: Any, k: int, wait: Any) -> None:
    """Time the two products alone, by cuSPARSE, on a tenth of the rows."""
    some = X[: X.shape[0] // 10]
    V, U = (cupy.ones((size, k), dtype=np.float32) for size in some.shape[::-1])
    for name, call in (("X @ V", lambda: some @ V), ("X.T @ U", lambda: some.T @ U)):
        times: list[float] = []
        for _ in range(4):
            seconds: dict[str, float] = {}
            with timed(seconds, "one", wait):
                call()
            times.append(seconds["one"])
        print(f"cuSPARSE {name}, {some.nnz} entries: {1e3 * median(times[1:]):.1f} ms.")


def beside_cpu(cupy: Any, entries: int, k: int, wait: Any) -> None:
    """Time iterations of both engines on the same data."""
    n, m = max(100, entries // 200), max(200, entries // 2000)
    X = planted(cupy, n, m, entries, k)
    here = sparse.csr_array(X.get())
    problem, pair = next((problem, pair) for _, problem, pair, _ in cases(n, m, k))
    with Workers() as workers:
        engine = open_engine(SparseMatrix.from_scipy(here), get_kernels("auto", here.nnz), workers)
        there = on_gpu(SparseCard.from_cupy(X), get_kernels("numpy", 0), workers)
        slow = iterations(engine, problem, pair, 8, Clock())
        fast = iterations(there, problem, pair, 8, Clock(wait))
        print(
            f"One disjoint iteration of {entries} entries: CPU ({workers.n_jobs} threads) "
            f"{slow:.1f} ms, GPU {fast:.2f} ms, {slow / fast:.0f} times."
        )


if __name__ == "__main__":
    open_card()
    main()
