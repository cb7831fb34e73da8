"""One iteration on one thread, against SciPy's (or BLAS') products with vectors of ones.

`python -m benchmarks iterations`. An iteration reads X once for the rows and once for the columns,
as `X @ 1` and `X.T @ 1` do; what it takes beyond them is what this table is about. Times are those
of the thread on its processor, which a busy machine disturbs little; products and runs take turns,
and the best of each counts. An iteration is the difference of a long and a short run.

`--against REV` also measures an iteration of a small dense fit there: through the public estimator,
so that it works with any commit, in processes that take turns with those of this checkout.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks import data
from benchmarks.pages import Line
from neocc.core.initialise import random_start
from neocc.core.objectives import OBJECTIVES
from neocc.core.problem import Counts, Problem
from neocc.core.solve import Solution, solve
from neocc.core.steps import Pair
from neocc.engines import Workers, open_engine
from neocc.engines.reading import as_matrix
from neocc.kernels import get_kernels

KINDS = {"disjoint": (0.0, 0.0), "overlap and outliers": (0.2, 0.05)}
GOAL_AGAINST = 0.2
FEW, MANY = 2, 12
# Times shorter than this are measured as the sum of several.
_LEAST_SECONDS = 5e-3
# Starts that are tried for one whose run is long enough.
_STARTS = 50
_ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Size:
    """A matrix of random numbers, the numbers of its clusters, and a goal for NEO-CC-M, if any."""

    n: int
    m: int
    n_entries: int | None
    k: int
    l: int  # noqa: E741
    goal: float | None = None

    @property
    def name(self) -> str:
        """What it is, in words."""
        kind = "dense" if self.n_entries is None else f"{self.n_entries:,} entries"
        return f"{self.n:,} x {self.m:,}, {kind}, {self.k} x {self.l}"

    def make(self) -> Any:
        """Return the matrix: uniform where it is sparse, normal where it is dense."""
        rng = np.random.default_rng(0)
        if self.n_entries is None:
            return rng.normal(size=(self.n, self.m))
        density = self.n_entries / self.n / self.m
        return sparse.random_array(
            (self.n, self.m), density=density, format="csr", random_state=rng
        )


# Its goal is one against an earlier commit: products of so few cells take no time.
SMALL_DENSE = Size(100, 80, None, 4, 4)
SIZES = (
    Size(6_040, 3_706, 1_000_000, 10, 10, 4.0),
    Size(3_891, 4_303, 176_000, 3, 3, 4.0),
    Size(2_340, 1_000, 140_000, 20, 20, 5.0),
    Size(475, 1_000, 16_000, 4, 4, 6.0),
    Size(2_417, 103, None, 14, 3, 12.0),
    SMALL_DENSE,
)
LARGE = Size(100_000, 10_000, 10_000_000, 20, 20, 4.0)


def lines(repeats: int, sizes: tuple[Size, ...] = SIZES, *, large: bool = True) -> Iterator[Line]:
    """Measure all sizes; with `large` also the planted matrix of ten million entries."""
    yield ["matrix, clusters", "objective", "kind", "X @ 1, X.T @ 1", "iteration", "ratio", "goal"]
    for size in sizes:
        yield from _lines_of(size, size.make(), repeats)
    if large:
        yield from _lines_of(LARGE, data.planted(), max(2, repeats // 5))


def _lines_of(size: Size, X: Any, repeats: int) -> Iterator[Line]:
    products = _products(X)
    for objective in ("mean", "residue"):
        for kind, fractions in KINDS.items():
            alone, iteration = _times(size, X, products, objective, fractions, repeats)
            ratio = iteration / alone
            goal = size.goal if objective == "mean" and kind == "disjoint" else None
            times = in_words(alone), in_words(iteration)
            yield [size.name, objective, kind, *times, f"{ratio:.1f}", judged(ratio, goal)]


def _times(
    size: Size,
    X: Any,
    products: Callable[[], object],
    objective: str,
    fractions: tuple[float, float],
    repeats: int,
) -> tuple[float, float]:
    """Return the seconds of both products, and of an iteration."""
    counts = (
        Counts.from_fractions(size.n, size.k, *fractions),
        Counts.from_fractions(size.m, size.l, *fractions),
    )
    with Workers(1) as workers:
        engine = open_engine(as_matrix(X), get_kernels("numba", 0), workers)

        def run(pair: Pair, n_iter: int) -> Solution:
            problem = Problem(OBJECTIVES[objective], *counts, max_iter=n_iter, tol=0.0)
            return solve(engine.centred(problem.centring), problem, pair)

        pair, many = long_run(counts, run)
        alone, short, long = interleaved(
            products, lambda: run(pair, FEW), lambda: run(pair, many), repeats=repeats
        )
    return alone, (long - short) / (many - FEW)


def long_run(counts: tuple[Counts, ...], run: Callable[[Pair, int], Solution]) -> tuple[Pair, int]:
    """Return the start of the longest run among a few, and its number of iterations."""
    found: tuple[Pair, int] | None = None
    for seed in range(_STARTS):
        rng = np.random.default_rng(seed)
        pair = random_start(counts[0], rng), random_start(counts[1], rng)
        n_iter = run(pair, MANY).n_iter
        if found is None or n_iter > found[1]:
            found = pair, n_iter
        if n_iter == MANY:
            break
    if found is None or found[1] <= FEW:
        raise RuntimeError("no run is long enough to be measured")
    return found


def _products(X: Any) -> Callable[[], object]:
    n, m = X.shape
    ones_m, ones_n, transposed = np.ones(m, dtype=X.dtype), np.ones(n, dtype=X.dtype), X.T
    return lambda: (X @ ones_m, transposed @ ones_n)


def interleaved(
    *calls: Callable[[], object], repeats: int, clock: Callable[[], float] = time.thread_time
) -> list[float]:
    """Return the best seconds, of this thread, in each of several calls, which take turns."""
    n_inner = []
    for call in calls:
        call()
        n_inner.append(max(1, int(_LEAST_SECONDS / max(_seconds(call, 1, clock), 1e-6))))
    best = [np.inf] * len(calls)
    for _ in range(repeats):
        for place, (call, n) in enumerate(zip(calls, n_inner, strict=True)):
            best[place] = min(best[place], _seconds(call, n, clock))
    return best


def _seconds(call: Callable[[], object], n: int, clock: Callable[[], float]) -> float:
    start = clock()
    for _ in range(n):
        call()
    return (clock() - start) / n


def in_words(seconds: float) -> str:
    """Return a time in microseconds, or in milliseconds."""
    return f"{1e6 * seconds:.0f} us" if seconds < 1e-3 else f"{1e3 * seconds:.2f} ms"


def judged(ratio: float, goal: float | None) -> str:
    """Return a goal, and whether it is met."""
    return "" if goal is None else f"<= {goal:g}: {'met' if ratio <= goal else 'not met'}"


# ------------------------------------------------------------------------ against another commit

_FITS = """
import sys, time
from pathlib import Path
import numpy as np
import neocc
from neocc import NEOCC

assert Path(neocc.__file__).is_relative_to(sys.argv[1]), neocc.__file__
n, m, k, l, few, many, repeats = {numbers!r}
X = np.random.default_rng(0).normal(size=(n, m))
overlap, outliers = {fractions!r}
options = dict(n_init=1, refine=False, tol=0, n_jobs=1, objective={objective!r}, kernel={kernel!r})
for side in ("row", "column"):
    options |= {{side + "_overlap": overlap, side + "_outliers": outliers}}

def random_start(n_items, n_clusters, rng):
    members = np.eye(n_clusters, dtype=bool)[rng.permutation(n_items) % n_clusters]
    chosen = rng.permutation(n_items)[: round(overlap * n_items)]
    members[chosen, (members[chosen].argmax(axis=1) + 1) % n_clusters] = True
    return members

def fit(start, n_iter):
    return NEOCC(k, l, init=start, max_iter=n_iter, **options).fit(X)

for seed in range({n_starts}):
    rng = np.random.default_rng(seed)
    start = random_start(n, k, rng), random_start(m, l, rng)
    reached = fit(start, many).n_iter_
    if reached == many:
        break
best = dict.fromkeys((few, reached), np.inf)
for _ in range(repeats):
    for n_iter in best:
        begin = time.thread_time()
        fit(start, n_iter)
        best[n_iter] = min(best[n_iter], time.thread_time() - begin)
print((best[reached] - best[few]) / (reached - few), reached)
"""


def against_lines(
    revision: str, repeats: int, size: Size = SMALL_DENSE, n_processes: int = 3
) -> Iterator[Line]:
    """Measure an iteration here and at another commit, in turns."""
    yield ["matrix, clusters", "objective", "kind", "kernel", revision, "here", "ratio", "goal"]
    with worktree(revision) as there:
        for objective, kind, kernel in product(("mean", "residue"), KINDS, ("auto", "numba")):
            code = _FITS.format(
                numbers=(size.n, size.m, size.k, size.l, FEW, MANY, 10 * repeats),
                fractions=KINDS[kind],
                objective=objective,
                kernel=kernel,
                n_starts=_STARTS,
            )
            pairs = [(_fitted(code, there), _fitted(code, _ROOT)) for _ in range(n_processes)]
            before, now = (min(times) for times in zip(*pairs, strict=True))
            goal = GOAL_AGAINST if objective == "mean" and kind == "disjoint" else None
            line = [size.name, objective, kind, kernel, in_words(before), in_words(now)]
            yield [*line, f"{now / before:.2f}", judged(now / before, goal)]


def _fitted(code: str, root: Path) -> float:
    """Return the seconds of an iteration, by the package in a checkout."""
    source = str(root / "src")
    result = subprocess.run(
        [sys.executable, "-c", code, source],
        env={**os.environ, "PYTHONPATH": source},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(result.stdout.split()[0])


@contextmanager
def worktree(revision: str) -> Iterator[Path]:
    """Check a commit out into a temporary folder."""
    git = ["git", "-C", str(_ROOT), "worktree"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder).resolve() / "there"
        subprocess.run(
            [*git, "add", "--detach", str(path), revision], check=True, capture_output=True
        )
        try:
            yield path
        finally:
            subprocess.run([*git, "remove", "--force", str(path)], check=True, capture_output=True)
