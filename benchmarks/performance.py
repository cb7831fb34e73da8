"""`python -m benchmarks.performance` prints the tables of docs/performance.md, or one of them.

`--write docs/performance.md` also puts them there. Times are processor seconds on one thread, the
best of several interleaved runs (`neocc._bench`); only `threads` has wall time, and tells something
on an idle machine alone.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from benchmarks import data
from benchmarks.__main__ import machine
from benchmarks.measure import in_fresh_process
from benchmarks.pages import Line, markdown, replace_section
from neocc import NEOCC
from neocc._bench import Case, compared, few_cases, fit_of, planted_case, sparse_blocks, timed
from neocc.datasets import fetch_movielens_1m, fetch_movielens_100k


def cases() -> Iterator[Case]:
    """Yield data of many kinds, from small to 10 million entries."""

    def sizes(k: int, l: int) -> dict[str, Any]:  # noqa: E741
        return {"n_row_clusters": k, "n_column_clusters": l}

    few = {each.name: each for each in few_cases()}
    noise = np.random.default_rng(0).normal(size=(2000, 100))
    for k, l in ((3, 3), (8, 5), (20, 10)):  # noqa: E741
        yield planted_case("dense", "KMeans", (2000, 100), k, l)
        yield Case("dense, no structure", noise, sizes(k, l), "KMeans")
    rival = "SpectralBiclustering"
    yield few["dense, digits"]
    yield planted_case("dense, wide", rival, (100, 2000), 5, 8)
    yield few["dense, tall"]
    yield planted_case("dense, overlap", rival, (500, 200), 5, 5, row_overlap=0.3)
    yield few['dense, overlap, "average"']
    yield planted_case("dense, many outliers", rival, (500, 200), 5, 5, row_outliers=0.3)
    for name, (n, m), per_row, k, counts in (
        ("sparse counts", (2000, 1000), 60, 8, True),
        ("sparse, binary", (2000, 1000), 60, 8, False),
        ("sparse counts, wide", (600, 10_000), 200, 6, True),
        ("sparse counts, tall", (10_000, 600), 12, 6, True),
        ("sparse counts, many clusters", (4000, 2000), 60, 40, True),
    ):
        X, truth = sparse_blocks(n, m, per_row, k, counts=counts)
        yield Case(name, X, sizes(k, k), "SpectralCoclustering", truth)
    if os.environ.get("NEOCC_DATA"):
        for name, fetch, k in (
            ("ratings, MovieLens 100K", fetch_movielens_100k, 5),
            ("ratings, MovieLens 1M", fetch_movielens_1m, 10),
        ):
            yield Case(name, fetch().data, sizes(k, k), "SpectralCoclustering")
    for entries in (10**5, 3 * 10**5, 10**6, 10**7):
        for k in (3, 8, 20):
            X = data.planted(entries // 100, max(entries // 1000, 500), entries, k)
            yield Case("sparse, planted", X, sizes(k, k), "SpectralCoclustering")


def rival_lines(repeats: int) -> Iterator[Line]:
    """Compare default fits with those of others, in time and in what they find."""
    yield ["data", "rows x columns", "entries", "k, l", "against", "NEOCC", "rival", "ratio"] + [
        "over ten plain starts",
        "J below that of its clusters",
        "omega of rows",
        "of the rival's",
    ]
    for case in cases():
        found = compared(case, repeats, with_plain=True)
        k, l = case.sizes  # noqa: E741
        name, size, _, _, *omegas, lower = found.cells
        times = [f"{1e3 * found.ours:,.0f} ms", f"{1e3 * found.rival:,.0f} ms"]
        ratios = [f"{found.ours / found.rival:.1f}", f"{found.ours / (found.plain or np.nan):.1f}"]
        line = [name, size, f"{case.n_entries:,}", f"{k}, {l}", case.rival, *times, *ratios]
        yield [*line, lower, *omegas]


def short_lines(repeats: int) -> Iterator[Line]:
    """Compare default fits with those of scikit-learn on a few data sets."""
    yield (
        ["data", "rows x columns", "other method"]
        + [f"{measure}, {whose}" for measure in ("time", "omega") for whose in ("neocc", "other")]
        + ["J lower by"]
    )
    for case in few_cases():
        name, size, *cells = compared(case, repeats).cells
        yield [name, size, case.rival, *cells]


def growth_lines(repeats: int) -> Iterator[Line]:
    """Double one size of a sparse table at a time; tell how default fits and iterations grow."""
    yield [
        "what doubles",
        "to",
        "a default fit",
        "against half",
        "passes",
        "an iteration",
        "against half",
    ]
    base = {"n": 20_000, "m": 2_000, "entries": 10**6, "k": 10, "l": 10}

    def times(n: int, m: int, entries: int, k: int, l: int) -> tuple[float, float, float]:  # noqa: E741
        X = data.planted(n, m, entries, 10)
        case = Case("", X, {"n_row_clusters": k, "n_column_clusters": l})
        start = data.memberships(n, k, 0, 0), data.memberships(m, l, 0, 0)
        long, short = (
            fit_of(case, init=start, refine=False, tol=0, max_iter=number) for number in (12, 2)
        )
        (model, _, _), (whole, many, few) = timed([fit_of(case), long, short], repeats)
        return whole, (many - few) / 10, model.n_passes_

    whole, each, passes = times(**base)
    yield ["", "", f"{whole:.2f} s", "", f"{passes:.0f}", f"{1e3 * each:.1f} ms", ""]
    for name, size in base.items():
        more = times(**{**base, name: 2 * size})
        line = [name, f"{2 * size:,}", f"{more[0]:.2f} s", f"{more[0] / whole:.1f}"]
        yield [*line, f"{more[2]:.0f}", f"{1e3 * more[1]:.1f} ms", f"{more[1] / each:.1f}"]


def cluster_lines(repeats: int) -> Iterator[Line]:
    """Time an iteration of 20,000 x 2,000 with more and more clusters."""
    yield [
        "k = l",
        "k l against the line before",
        "an iteration of mean",
        "against the line before",
    ] + [
        "an iteration of residue",
        "against the line before",
    ]
    X, before = data.planted(20_000, 2_000, 10**6, 10), [np.nan, np.nan]
    for k in (25, 50, 100):
        now = []
        for objective in ("mean", "residue"):
            start = data.memberships(20_000, k, 0, 0), data.memberships(2_000, k, 0, 0)
            options = {"n_row_clusters": k, "n_column_clusters": k, "objective": objective}
            case = Case("", X, {**options, "init": start, "refine": False, "tol": 0})
            runs = [fit_of(case, max_iter=number) for number in (6, 1)]
            _, (many, few) = timed(runs, repeats)
            now.append((many - few) / 5)
        ratios = ["" if np.isnan(b) else f"{a / b:.1f}" for a, b in zip(now, before, strict=True)]
        cells = [f"{1e3 * now[0]:.1f} ms", ratios[0], f"{1e3 * now[1]:.1f} ms", ratios[1]]
        yield [str(k), "" if k == 25 else "4", *cells]
        before = now


def objective_lines(repeats: int) -> Iterator[Line]:
    """Compare default fits of both objectives on 10 million entries."""
    yield ["objective", "a default fit", "against mean", "passes"]
    sizes, X = {"n_row_clusters": 20, "n_column_clusters": 20}, data.planted()
    names = ("mean", "residue")
    runs = [fit_of(Case("", X, {**sizes, "objective": name})) for name in names]
    models, seconds = timed(runs, max(2, repeats // 2))
    for name, model, each in zip(names, models, seconds, strict=True):
        yield [name, f"{each:.1f} s", f"{each / seconds[0]:.1f}", f"{model.n_passes_:.0f}"]


def thread_lines(repeats: int) -> Iterator[Line]:
    """Compare wall time of default fits on one thread and on two, each of which makes starts."""
    yield ["data", "entries", "k, l", "one thread", "two threads", "ratio", "same J"]
    for (n, m), per_row, k in (
        ((2000, 1000), 20, 5),
        ((2000, 1000), 60, 8),
        ((4000, 2000), 60, 20),
    ):
        X, _ = sparse_blocks(n, m, per_row, k)
        seconds, J = np.full((max(repeats, 2), 2), np.inf), [0.0, 0.0]
        for turn in seconds:  # the first, which may compile, is seldom the least
            for i, n_jobs in enumerate((1, 2)):
                model = NEOCC(k, k, kernel="numba", random_state=0, n_jobs=n_jobs)
                begin = time.perf_counter()
                J[i] = model.fit(X).objective_
                turn[i] = time.perf_counter() - begin
        one, two = seconds.min(axis=0)
        times = [f"{1e3 * one:,.0f} ms", f"{1e3 * two:,.0f} ms", f"{one / two:.2f}"]
        same = "yes" if J[0] == J[1] else "no"
        yield [f"{n:,} x {X.shape[1]:,}", f"{X.nnz:,}", f"{k}, {k}", *times, same]


_MEMORY = """
from pathlib import Path
from benchmarks import data
from neocc import NEOCC
def status(key):
    return 1024 * int(Path("/proc/self/status").read_text().split(key + ":")[1].split()[0])
fit = lambda X: NEOCC(20, 20, random_state=0, kernel="numba").fit(X)
fit(data.planted(2000, 500, 50_000, 20))
X = data.planted({n}, {m}, {entries}, 20)
Path("/proc/self/clear_refs").write_text("5")
before = status("VmRSS")
fit(X)
print(status("VmHWM") - before, X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)
"""


def memory_lines(_: int) -> Iterator[Line]:
    """Measure the peak memory of default fits beyond their input, each in a fresh process."""
    yield ["rows x columns", "entries", "input", "peak beyond it", "ratio"]
    for n, m, entries in (
        (10_000, 1_000, 10**6),
        (30_000, 3_000, 3 * 10**6),
        (10**5, 10**4, 10**7),
    ):
        code = _MEMORY.format(n=n, m=m, entries=entries)
        peak, size = (int(each) / 2**20 for each in in_fresh_process(code).split())
        sizes = [f"{size:.0f} MiB", f"{peak:.0f} MiB", f"{peak / size:.2f}"]
        yield [f"{n:,} x {m:,}", f"{entries:,}", *sizes]


TABLES = {
    "rivals": rival_lines,
    "short": short_lines,
    "growth": growth_lines,
    "clusters": cluster_lines,
    "objectives": objective_lines,
    "threads": thread_lines,
    "memory": memory_lines,
}


def main() -> None:
    """Make the tables asked for; print them and, if asked, write them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.performance", description=__doc__)
    parser.add_argument(
        "table", nargs="*", choices=[*TABLES, []], help="all, unless some are named"
    )
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--write", type=Path, help="file whose sections are replaced")
    options = parser.parse_args()
    console = Console()
    for name in options.table or TABLES:
        found: list[Line] = []
        for line in TABLES[name](options.repeats):
            found.append(line)
            console.print(" | ".join(line), highlight=False, soft_wrap=True)
        command = f"`python -m benchmarks.performance {name}`, load {os.getloadavg()[0]:.1f}."
        if options.write is not None:
            text = f"{markdown(found)}\n\n{command} {machine()}"
            replace_section(options.write, name, text)


if __name__ == "__main__":
    main()
