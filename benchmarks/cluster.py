"""What a cluster costs: time against the same rows in memory, bytes against a model.

    python -m benchmarks.cluster                         # measure, print
    python -m benchmarks.cluster --write docs/cluster-study.md # and put the tables into the page

Ten million entries lie in a store of sixteen blocks; two workers of one thread each run the same
iterations as two threads of one process, with the rows in memory. Bytes are counted where Dask
hands them to the network, in every process. Processor time is shown beside wall time, which a busy
machine disturbs more.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import data
from benchmarks.cluster_model import (
    CLUSTERS,
    N_BLOCKS,
    N_WORKERS,
    OUTLIERS,
    OVERLAP,
    RESENT_AFTER,
    Model,
)
from benchmarks.pages import markdown, replace_section
from neocc.core.engine import Engine
from neocc.core.objectives import OBJECTIVES
from neocc.core.problem import Counts, Problem
from neocc.core.solve import solve
from neocc.engines import SparseMatrix, Workers, on_cluster, open_engine
from neocc.engines.stored import open_source
from neocc.io import open_store, write_store
from neocc.kernels import Memberships, get_kernels

# The difference holds one step that sends memberships again.
FEW, MANY = 2, 2 + RESENT_AFTER
NAMES = ("mean", "residue")
GOAL_TIME, GOAL_BYTES = 1.5, 0.2


# ------------------------------------------------------------------------------------ measurement


def count_writes() -> None:
    """Let Dask's connections of this process count the bytes that they write."""
    from distributed.comm.tcp import TCP

    if hasattr(TCP, "neocc_bytes"):
        return
    write = TCP.write

    async def counted(self: Any, *arguments: Any, **options: Any) -> Any:
        n_bytes = await write(self, *arguments, **options)
        TCP.neocc_bytes += n_bytes
        return n_bytes

    TCP.neocc_bytes = 0
    TCP.write = counted


def spent() -> np.ndarray:
    """Return bytes written and processor seconds used by this process so far."""
    from distributed.comm.tcp import TCP

    return np.array([TCP.neocc_bytes, time.process_time()], dtype=float)


def load_kernels(X: Any, U: Memberships, V: Memberships) -> None:
    """Sum a few rows, for what that loads into memory."""
    with Workers(1) as workers:
        engine = open_engine(SparseMatrix.from_scipy(X), get_kernels("numba", 0), workers)
        engine.column_features(U, V)


def resident(*, begin: bool) -> float:
    """Return the resident bytes of this process; or, after the beginning, the most there were."""
    if begin:
        Path("/proc/self/clear_refs").write_text("5")
    key = "VmRSS" if begin else "VmHWM"
    text = Path("/proc/self/status").read_text()
    return 1024.0 * int(text.split(f"{key}:")[1].split()[0])


@dataclass(frozen=True)
class Cost:
    """Wall seconds, bytes written and processor seconds, of this process and of the workers."""

    wall: float
    sent: float
    processor: float


@dataclass
class Setting:
    """The same matrix in both engines, and a start for both."""

    memory: Engine
    cluster: Engine
    client: Any
    problem: Problem
    U: Memberships
    V: Memberships
    memory_before: float

    def worker_memory(self) -> float:
        """Return what the worker that has used most has used since the rows were sent to it."""
        return max(self.client.run(resident, begin=False).values()) - self.memory_before

    def run(self, engine: Engine, objective: str, n_iterations: int) -> Cost:
        """Run some iterations and return what they took."""
        problem = replace(self.problem, objective=OBJECTIVES[objective], max_iter=n_iterations)
        engine = Engine(engine.shards)  # that knows nothing of earlier runs
        before = spent() + sum(self.client.run(spent).values())
        start = time.perf_counter()
        solve(engine, problem, (self.U, self.V))
        wall = time.perf_counter() - start
        n_bytes, processor = spent() + sum(self.client.run(spent).values()) - before
        return Cost(wall, n_bytes, processor)

    def one_iteration(self, objective: str, repeats: int) -> tuple[Cost, Cost]:
        """Return the cost of one iteration in memory and on the cluster, the best of several."""
        found: dict[tuple[str, int], list[Cost]] = {}
        engines = {"memory": self.memory, "cluster": self.cluster}
        for name, engine in engines.items():
            self.run(engine, objective, 1)
            found |= {(name, FEW): [], (name, MANY): []}
        for _ in range(repeats):
            for n_iterations in (FEW, MANY):
                for name, engine in engines.items():
                    found[name, n_iterations].append(self.run(engine, objective, n_iterations))

        def each(name: str) -> Cost:
            few, many = (
                [
                    best([getattr(cost, part) for cost in found[name, count]])
                    for part, best in _PARTS
                ]
                for count in (FEW, MANY)
            )
            return Cost(*((b - a) / (MANY - FEW) for a, b in zip(few, many, strict=True)))

        return each("memory"), each("cluster")


_PARTS = (("wall", min), ("sent", np.median), ("processor", min))


@contextmanager
def open_setting() -> Iterator[Setting]:
    """Write the store, start the workers, open both engines."""
    import dask
    import distributed

    X = data.planted()
    sides = [Counts.from_fractions(size, 20, OVERLAP, OUTLIERS) for size in X.shape]
    U, V = (
        Memberships.from_dense(data.memberships(size, 20, OVERLAP, OUTLIERS)) for size in X.shape
    )
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "store"
        write_store(folder, X, rows_per_block=-(-X.shape[0] // N_BLOCKS))
        stack.enter_context(dask.config.set({"distributed.worker.profile.enabled": False}))
        cluster = stack.enter_context(
            distributed.LocalCluster(
                n_workers=N_WORKERS, threads_per_worker=1, processes=True, dashboard_address=":0"
            )
        )
        client = stack.enter_context(distributed.Client(cluster, set_as_default=False))
        count_writes()
        client.run(count_writes)
        workers = stack.enter_context(Workers(N_WORKERS))
        # Workers load libraries and compiled kernels before their memory is watched.
        client.run(load_kernels, X[:1000], U.slice(0, 1000), V)
        before = min(client.run(resident, begin=True).values())
        there = on_cluster(open_source(open_store(folder)), client, "numba", workers)
        here = open_engine(SparseMatrix.from_scipy(X), get_kernels("numba", 0), workers)
        problem = Problem(OBJECTIVES["mean"], *sides, tol=0.0)
        yield Setting(here, there, client, problem, U, V, before)


# ------------------------------------------------------------------------------------------ tables


def measured_tables(repeats: int) -> tuple[str, dict[str, float]]:
    """Measure both objectives; return the page's section and processor seconds per entry."""
    lines = [["objective", "memory", "cluster", "ratio", "processor time: ratio"]]
    sizes = [["objective", "what", "model, MB"]]
    totals = [["objective", "model, MB", "measured, MB", "measured / model"]]
    held = [["objective", "model, MB", "measured, MB", "measured / model"]]
    per_entry = {}
    with open_setting() as setting:
        n, m = setting.memory.shape
        for objective in NAMES:
            memory, cluster = setting.one_iteration(objective, repeats)
            model = Model(objective, n, m, setting.memory.n_stored, *CLUSTERS, N_WORKERS)
            lines.append(
                [
                    objective,
                    f"{1e3 * memory.wall:.0f} ms",
                    f"{1e3 * cluster.wall:.0f} ms",
                    f"{cluster.wall / memory.wall:.2f}",
                    f"{cluster.processor / memory.processor:.2f}",
                ]
            )
            sent = model.sent()
            sizes += [[objective, what, f"{size / 1e6:.2f}"] for what, size in sent.items()]
            total = sum(sent.values())
            totals.append(
                [
                    objective,
                    f"{total / 1e6:.2f}",
                    f"{cluster.sent / 1e6:.2f}",
                    f"{cluster.sent / total:.2f}",
                ]
            )
            per_entry[objective] = memory.processor / setting.memory.n_stored
            modelled, found = sum(model.memory_per_worker().values()), setting.worker_memory()
            held.append(
                [
                    objective,
                    f"{modelled / 1e6:.0f}",
                    f"{found / 1e6:.0f}",
                    f"{found / modelled:.2f}",
                ]
            )
        title = (
            f"One iteration, {n:,} x {m:,} with {setting.memory.n_stored:,} entries in {N_BLOCKS} "
            f"blocks, {CLUSTERS[0]} x {CLUSTERS[1]} clusters, {N_WORKERS} workers of one thread "
            f"against {N_WORKERS} threads; best of {repeats}, load average "
            f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} cores. Goal: a ratio of at most "
            f"{GOAL_TIME}."
        )
    text = "\n\n".join(
        [
            title,
            markdown(lines),
            "Bytes sent in one iteration, by the model:",
            markdown(sizes),
            f"and in all, against what was counted (goal: within {GOAL_BYTES:.0%}):",
            markdown(totals),
            "The most memory that a worker used, beyond what it used before it had rows:",
            markdown(held),
        ]
    )
    return text, per_entry


def extrapolated(per_entry: dict[str, float]) -> str:
    """Tell what the model says of 10^11 entries on 100 workers."""
    network, disk, n_cores = 1.25e9, 1e9, 16
    lines = [["objective", "", "amount", "seconds"]]
    for objective in NAMES:
        model = Model(objective, 10**9, 10**6, 10**11, 100, 100, 100, n_cores, 100 * n_cores)
        sent = model.sent()
        through_one = (
            sent["new memberships back"] / 2
            + sent["column sums back"] / 2
            + sent["tables to the workers"] / (model.n_workers + 1)
        )
        between = np.ceil(np.log2(model.n_workers)) * model.column_sums
        memory = model.memory_per_worker()
        work = 2 * per_entry[objective] * model.n_stored / model.n_workers / n_cores
        rows = memory["rows"]
        lines += [
            [objective, "rows of one worker, read once", _size(rows), f"{rows / disk:.0f}"],
            [objective, "work of one worker", f"{n_cores} cores", f"{work:.1f}"],
            [
                objective,
                "through the coordinator",
                _size(through_one),
                f"{through_one / network:.1f}",
            ],
            [objective, "column sums up the tree", _size(between), f"{between / network:.1f}"],
            [objective, "sent in all", _size(sum(sent.values())), ""],
            [objective, "memory of one worker", _size(sum(memory.values())), ""],
            *([objective, f"- {what}", _size(size), ""] for what, size in memory.items()),
        ]
    return (
        "10^11 float32 entries in 10^9 rows and 10^6 columns, 100 x 100 clusters, 100 workers of "
        f"{n_cores} cores, {network / 1e9:g} GB/s between machines, {disk / 1e9:g} GB/s from disk "
        "(both assumed); work per entry as measured above, doubled for rows too wide for caches "
        f"(assumed).\n\n{markdown(lines)}"
    )


def _size(n_bytes: float) -> str:
    for unit, scale in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if n_bytes >= scale:
            return f"{n_bytes / scale:.1f} {unit}"
    return f"{n_bytes / 1e3:.0f} kB"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--write", type=Path, help="page to put the tables into")
    options = parser.parse_args()
    text, per_entry = measured_tables(options.repeats)
    sections: dict[str, str] = {"measured": text, "extrapolated": extrapolated(per_entry)}
    show: Callable[[str], None] = print
    for name, section in sections.items():
        show(section + "\n")
        if options.write is not None:
            replace_section(options.write, name, section)


if __name__ == "__main__":
    main()
