"""`python -m benchmarks.performance` prints the tables of docs/performance.md, or one of them.

`--write docs/performance.md` also puts them there. Times are processor seconds on one thread, the
best of several interleaved runs, so that a busy machine disturbs both sides alike; only `threads`
has wall time, and tells something on an idle machine alone. All fits have compiled kernels, which
"auto" might choose for the longer of two fits alone; an untimed run before the others loads them.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from scipy import sparse
from sklearn.cluster import KMeans, SpectralBiclustering, SpectralCoclustering
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_limits

from benchmarks import data
from benchmarks.__main__ import machine
from benchmarks.measure import in_fresh_process
from benchmarks.pages import Line, markdown, replace_section
from neocc import NEOCC, objective_value
from neocc.datasets import fetch_movielens_1m, fetch_movielens_100k, make_coclusters
from neocc.metrics import omega_index

Truth = np.ndarray | None


class Case(NamedTuple):
    """Data, how NEOCC is told to fit them, whom it is compared with, and the true row clusters."""

    name: str
    X: Any
    options: dict[str, Any]
    rival: str
    truth: Truth = None


def _labels(n: int, k: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    labels = rng.integers(k, size=n)
    return labels, np.eye(k, dtype=bool)[labels]


def sparse_blocks(n: int, m: int, per_row: int, k: int, *, counts: bool = True) -> tuple[Any, Any]:
    """Draw rows of `per_row` entries in k x k blocks of different density, with their clusters."""
    rng = np.random.default_rng(0)
    (rows, truth), columns = _labels(n, k, rng), np.sort(rng.integers(k, size=m))
    starts = np.searchsorted(columns, np.arange(k + 1))
    share = rng.gamma(0.5, size=(k, k)) * np.diff(starts)
    cumulative = np.cumsum(share / share.sum(axis=1, keepdims=True), axis=1)[rows]
    cells = (rng.random((n, per_row, 1)) > cumulative[:, None, :-1]).sum(axis=2)
    places = starts[cells] + (rng.random((n, per_row)) * np.diff(starts)[cells]).astype(int)
    indices, indptr = places.ravel(), np.arange(0, n * per_row + 1, per_row)
    X = sparse.csr_array((np.ones(n * per_row), indices, indptr), shape=(n, m))
    X.sum_duplicates()
    if not counts:
        X.data[:] = 1.0
    # The rival refuses rows and columns without entries.
    some = np.asarray(X.sum(axis=0)).ravel() > 0
    return X[:, some], truth


def cases() -> Iterator[Case]:
    """Yield data of many kinds, from small to 10 million entries."""

    def sizes(k: int, l: int, **more: Any) -> dict[str, Any]:  # noqa: E741
        return {"n_row_clusters": k, "n_column_clusters": l, **more}

    def dense(name: str, rival: str, shape: tuple[int, int], k: int, l: int, **more: Any) -> Case:  # noqa: E741
        X, rows, _ = make_coclusters(shape, k, l, noise=1.0, random_state=0, **more)
        return Case(name, X, sizes(k, l, **more), rival, rows)

    noise = np.random.default_rng(0).normal(size=(2000, 100))
    for k, l in ((3, 3), (8, 5), (20, 10)):  # noqa: E741
        yield dense("dense", "KMeans", (2000, 100), k, l)
        yield Case("dense, no structure", noise, sizes(k, l), "KMeans")
    digits = load_digits()
    yield Case("dense, digits", digits.data, sizes(10, 6), "KMeans", np.eye(10)[digits.target] > 0)
    yield dense("dense, wide", "SpectralBiclustering", (100, 2000), 5, 8)
    yield dense("dense, tall", "SpectralBiclustering", (2000, 100), 8, 5)
    overlap = dense("dense, overlap", "SpectralBiclustering", (500, 200), 5, 5, row_overlap=0.3)
    yield overlap
    averages = {**overlap.options, "overlap_model": "average"}
    yield overlap._replace(name='dense, overlap, "average"', options=averages)
    yield dense("dense, many outliers", "SpectralBiclustering", (500, 200), 5, 5, row_outliers=0.3)
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


def _rival(case: Case) -> Any:
    k, l = (case.options[f"n_{side}_clusters"] for side in ("row", "column"))  # noqa: E741
    if case.rival == "KMeans":
        return KMeans(k, n_init=10, random_state=0)
    if case.rival == "SpectralBiclustering":
        return SpectralBiclustering((k, l), random_state=0)
    return SpectralCoclustering(k, random_state=0)


def timed(runs: list[Callable[[], Any]], repeats: int) -> tuple[list[Any], list[float]]:
    """Make all runs in turn; return what each returns, and its least processor seconds.

    The first turn is not timed: it may compile.
    """
    seconds = np.full((repeats, len(runs)), np.inf)
    found: list[Any] = []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for turn in range(-1, repeats):
            found = []
            for i, run in enumerate(runs):
                begin = time.process_time()
                found.append(run())
                if turn >= 0:
                    seconds[turn, i] = time.process_time() - begin
    return found, seconds.min(axis=0).tolist()


def _fit(case: Case, **more: Any) -> Callable[[], Any]:
    given = {**case.options, **more, "kernel": "numba"}
    return lambda: NEOCC(**given, random_state=0, n_jobs=1).fit(case.X)


class Compared(NamedTuple):
    """Seconds of a default fit, of the rival and of ten plain starts, and what was found."""

    ours: float
    rival: float
    plain: float
    below: float | None
    omegas: tuple[float, float] | None


def compared(case: Case, repeats: int) -> Compared:
    """Time a default fit and its rival in turn, and judge both by J and by the true clusters."""
    runs = [_fit(case), lambda: _rival(case).fit(case.X), _fit(case, refine=False)]
    turns = repeats if _entries(case) < 10**6 else max(2, repeats // 2)
    (ours, theirs, _), seconds = timed(runs, turns)
    k, l = (case.options[f"n_{side}_clusters"] for side in ("row", "column"))  # noqa: E741
    rows = theirs.labels_ if case.rival == "KMeans" else theirs.row_labels_
    U, below, omegas = np.eye(k, dtype=bool)[rows], None, None
    if case.rival != "KMeans" and not {"row_overlap", "row_outliers"} & set(case.options):
        J = objective_value(case.X, U, np.eye(l, dtype=bool)[theirs.column_labels_])
        below = 100 * (1 - ours.objective_ / J) + 0.0
    if case.truth is not None:
        omegas = omega_index(case.truth, ours.row_membership_), omega_index(case.truth, U)
    return Compared(*seconds, below, omegas)


def _entries(case: Case) -> int:
    return int(case.X.nnz if sparse.issparse(case.X) else case.X.size)


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.2f} %".replace("-0.00", "0.00")


def rival_lines(repeats: int) -> Iterator[Line]:
    """Compare default fits with those of others, in time and in what they find."""
    yield ["data", "rows x columns", "entries", "k, l", "against", "NEOCC", "rival", "ratio"] + [
        "over ten plain starts",
        "J below that of its clusters",
        "omega of rows",
        "of the rival's",
    ]
    for case in cases():
        found = compared(case, repeats)
        k, l = (case.options[f"n_{side}_clusters"] for side in ("row", "column"))  # noqa: E741
        shape = " x ".join(f"{n:,}" for n in case.X.shape)
        times = [f"{1e3 * found.ours:,.0f} ms", f"{1e3 * found.rival:,.0f} ms"]
        ratios = [f"{found.ours / found.rival:.1f}", f"{found.ours / found.plain:.1f}"]
        omegas = [f"{each:.2f}" for each in found.omegas] if found.omegas else ["", ""]
        line = [case.name, shape, f"{_entries(case):,}", f"{k}, {l}", case.rival, *times, *ratios]
        yield [*line, _percent(found.below), *omegas]


# Lines of the table of rivals, by name and entries, that stand in the README.
_SHORT = {
    ("dense, digits", 115_008),
    ("dense, tall", 200_000),
    ('dense, overlap, "average"', 100_000),
    ("sparse counts", 112_134),
    ("sparse counts, many clusters", 230_172),
    ("sparse, planted", 9_894_183),
}


def short_lines(repeats: int) -> Iterator[Line]:
    """Compare default fits with those of scikit-learn on a few data sets."""
    yield (
        ["data", "rows x columns", "other method"]
        + [f"{measure}, {whose}" for measure in ("time", "omega") for whose in ("neocc", "other")]
        + ["J lower by"]
    )
    for case in cases():
        if (case.name, _entries(case)) not in _SHORT:
            continue
        found = compared(case, repeats)
        shape = " x ".join(f"{n:,}" for n in case.X.shape)
        times = [f"{found.ours:.2f} s", f"{found.rival:.2f} s"]
        omegas = [f"{each:.2f}" for each in found.omegas] if found.omegas else ["", ""]
        yield [case.name, shape, case.rival, *times, *omegas, _percent(found.below)]


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
        case = Case("", X, {"n_row_clusters": k, "n_column_clusters": l}, "")
        start = data.memberships(n, k, 0, 0), data.memberships(m, l, 0, 0)
        long, short = (
            _fit(case, init=start, refine=False, tol=0, max_iter=number) for number in (12, 2)
        )
        (model, _, _), (whole, many, few) = timed([_fit(case), long, short], repeats)
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
            case = Case("", X, {**options, "init": start, "refine": False, "tol": 0}, "")
            runs = [_fit(case, max_iter=number) for number in (6, 1)]
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
    runs = [_fit(Case("", X, {**sizes, "objective": name}, "")) for name in names]
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
