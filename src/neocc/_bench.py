"""Default fits beside those of scikit-learn: in time, and in what they find.

`neocc bench` shows this for a machine; `python -m benchmarks.performance`, for more data, makes the
tables of the documentation. Times are processor seconds on one thread, the best of several runs of
all methods in turn, so that a busy machine disturbs all alike. All fits have compiled kernels,
which "auto" might choose for the longer of two fits alone; a run before the others loads them.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans, SpectralBiclustering, SpectralCoclustering
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_limits

from neocc._typing import BoolArray, IntArray
from neocc.datasets import make_coclusters
from neocc.estimators import NEOCC, objective_value
from neocc.metrics import omega_index

__all__ = ["Case", "Compared", "compared", "few_cases", "fit_of", "planted_case", "sparse_blocks"]
__all__ += ["timed"]


class Case(NamedTuple):
    """Data, how `NEOCC` is told to fit them, what it is compared with, and true row clusters."""

    name: str
    X: Any
    options: dict[str, Any]
    rival: str = ""
    truth: BoolArray | None = None

    @property
    def sizes(self) -> tuple[int, int]:
        """Numbers of row and of column clusters."""
        return self.options["n_row_clusters"], self.options["n_column_clusters"]

    @property
    def n_entries(self) -> int:
        """Number of stored entries."""
        return int(self.X.nnz if sparse.issparse(self.X) else self.X.size)


class Compared(NamedTuple):
    """Seconds of a default fit, the rival and, if asked for, ten plain starts; what was found.

    `lower` is the share by which J is below that of the rival's clusters, where both cluster rows
    and columns without overlap; `omegas` compare the row clusters of both with the true ones.
    """

    case: Case
    ours: float
    rival: float
    plain: float | None
    lower: float | None
    omegas: tuple[float, float] | None

    @property
    def cells(self) -> list[str]:
        """Its line in a table: data, size, times, omegas, and by how much J is lower."""
        n_rows, n_columns = self.case.X.shape
        omegas = [f"{each:.2f}" for each in self.omegas] if self.omegas else ["", ""]
        lower = "" if self.lower is None else f"{round(100 * self.lower, 2) + 0.0:.2f} %"
        size = f"{n_rows:,} x {n_columns:,}"
        return [self.case.name, size, f"{self.ours:.2f} s", f"{self.rival:.2f} s", *omegas, lower]

    def as_dict(self) -> dict[str, Any]:
        """Return what there is to say of it, without plain starts."""
        n_rows, n_columns = self.case.X.shape
        omega, other = self.omegas or (None, None)
        return {
            "data": self.case.name,
            "n_rows": n_rows,
            "n_columns": n_columns,
            "other": self.case.rival,
            "seconds": self.ours,
            "seconds_other": self.rival,
            "omega": omega,
            "omega_other": other,
            "objective_lower_by": self.lower,
        }


def planted_case(
    name: str, rival: str, shape: tuple[int, int], n_rows: int, n_columns: int, **more: Any
) -> Case:
    """Return planted dense blocks with noise, overlap and outliers as in `more`."""
    X, rows, _ = make_coclusters(shape, n_rows, n_columns, noise=1.0, random_state=0, **more)
    options = {"n_row_clusters": n_rows, "n_column_clusters": n_columns, **more}
    return Case(name, X, options, rival, rows)


def sparse_blocks(
    n: int, m: int, per_row: int, k: int, *, counts: bool = True
) -> tuple[Any, BoolArray]:
    """Draw rows of `per_row` entries in k x k blocks of different density, with their clusters."""
    rng = np.random.default_rng(0)
    rows, columns = rng.integers(k, size=n), np.sort(rng.integers(k, size=m))
    starts: IntArray = np.searchsorted(columns, np.arange(k + 1))
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
    return X[:, some], np.eye(k, dtype=bool)[rows]


def few_cases() -> Iterator[Case]:
    """Yield a few data sets of different kinds that take seconds."""
    digits = load_digits()
    sizes = {"n_row_clusters": 10, "n_column_clusters": 6}
    yield Case("dense, digits", digits.data, sizes, "KMeans", np.eye(10)[digits.target] > 0)
    yield planted_case("dense, tall", "SpectralBiclustering", (2000, 100), 8, 5)
    overlap = planted_case("", "SpectralBiclustering", (500, 200), 5, 5, row_overlap=0.3)
    options = {**overlap.options, "overlap_model": "average"}
    yield overlap._replace(name='dense, overlap, "average"', options=options)
    for name, (n, m), per_row, k in (
        ("sparse counts", (2000, 1000), 60, 8),
        ("sparse, many clusters", (4000, 2000), 60, 40),
        ("sparse, large", (50_000, 5000), 60, 10),
    ):
        X, truth = sparse_blocks(n, m, per_row, k)
        sizes = {"n_row_clusters": k, "n_column_clusters": k}
        yield Case(name, X, sizes, "SpectralCoclustering", truth)


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


def fit_of(case: Case, **more: Any) -> Callable[[], NEOCC]:
    """Return what fits a case on one thread, with `more` options."""
    given = {**case.options, **more, "kernel": "numba"}
    return lambda: NEOCC(**given, random_state=0, n_jobs=1).fit(case.X)


def compared(case: Case, repeats: int, *, with_plain: bool = False) -> Compared:
    """Time a default fit and its rival in turn, and judge both by J and by the true clusters.

    Ten plain starts are timed beside them if asked for.
    """
    runs: list[Callable[[], Any]] = [fit_of(case), lambda: _rival(case).fit(case.X)]
    runs += [fit_of(case, refine=False)] if with_plain else []
    turns = repeats if case.n_entries < 10**6 else max(2, repeats // 2)
    (ours, theirs, *_), (mine, other, *plain) = timed(runs, turns)
    k, l = case.sizes  # noqa: E741
    rows = theirs.labels_ if case.rival == "KMeans" else theirs.row_labels_
    U, lower, omegas = np.eye(k, dtype=bool)[rows], None, None
    if case.rival != "KMeans" and not {"row_overlap", "row_outliers"} & set(case.options):
        J = objective_value(case.X, U, np.eye(l, dtype=bool)[theirs.column_labels_])
        lower = 1.0 - ours.objective_ / J + 0.0
    if case.truth is not None:
        omegas = omega_index(case.truth, ours.row_membership_), omega_index(case.truth, U)
    return Compared(case, mine, other, plain[0] if plain else None, lower, omegas)


def _rival(case: Case) -> Any:
    k, l = case.sizes  # noqa: E741
    if case.rival == "KMeans":
        return KMeans(k, n_init=10, random_state=0)
    if case.rival == "SpectralBiclustering":
        return SpectralBiclustering((k, l), random_state=0)
    return SpectralCoclustering(k, random_state=0)
