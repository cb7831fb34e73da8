"""Speed of iterations and of whole fits, against SciPy's products and scikit-learn's estimators."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans, SpectralCoclustering

from benchmarks import data
from benchmarks.measure import Row, import_seconds, in_fresh_process, iteration_beside, side_by_side
from neocc import NEOCC, NEOKMeans

OVERLAP, OUTLIERS = 0.1, 0.05


def sparse_rows(
    name: str, X: sparse.csr_array, k: int, fit_goal: float, repeats: int
) -> Iterator[Row]:
    """Compare iterations and fits on one sparse matrix with k row and k column clusters."""
    n, m = X.shape
    ones_m, ones_n = np.ones(m, dtype=X.dtype), np.ones(n, dtype=X.dtype)
    C, A = np.ones((m, 20)), np.ones((n, 20))
    C32, A32 = C.astype(np.float32), A.astype(np.float32)
    for overlap, outliers in ((0.0, 0.0), (OVERLAP, OUTLIERS)):
        start = data.memberships(n, k, overlap, outliers), data.memberships(m, k, overlap, outliers)
        kind = "overlap and outliers" if overlap else "disjoint"

        def fit(
            objective: str, n_iter: int, start=start, overlap=overlap, outliers=outliers
        ) -> None:
            NEOCC(
                k,
                k,
                objective=objective,
                row_overlap=overlap,
                column_overlap=overlap,
                row_outliers=outliers,
                column_outliers=outliers,
                init=start,
                refine=False,
                max_iter=n_iter,
                tol=0,
            ).fit(X)

        for objective, label in (("mean", "NEO-CC-M"), ("residue", "NEO-CC-RCM")):
            fit(objective, 1)
            rivals = (
                [("X @ 1, X.T @ 1", lambda: (X @ ones_m, X.T @ ones_n), 4.0)]
                if objective == "mean"
                else [
                    ("X @ C, X.T @ A, 20 columns, float64", lambda: (X @ C, X.T @ A), 1.5),
                    ("the same in float32", lambda: (X @ C32, X.T @ A32), None),
                ]
            )
            for rival_name, rival, goal in rivals:
                times = iteration_beside(lambda i, o=objective: fit(o, i), rival, repeats)
                yield Row(f"{label} iteration, {kind}, {name}", rival_name, *times, goal)
    ours, theirs = side_by_side(
        lambda: NEOCC(k, k, n_init=1, refine=False, random_state=0).fit(X),
        lambda: SpectralCoclustering(k, n_init=1, random_state=0).fit(X),
        repeats,
    )
    yield Row(
        f"NEOCC fit with its start, {name}", "SpectralCoclustering fit", ours, theirs, fit_goal
    )


def kmeans_rows(repeats: int) -> Iterator[Row]:
    """Compare an iteration of NEO-K-Means with one of Lloyd's k-means on dense data."""
    X = data.gaussian()

    def lloyd(n_iter: int) -> None:
        KMeans(20, init=X[:20], n_init=1, max_iter=n_iter, tol=0, algorithm="lloyd").fit(X)

    for overlap, outliers, goal in ((0.0, 0.0, 1.5), (OVERLAP, OUTLIERS, None)):
        start = data.memberships(len(X), 20, overlap, outliers)

        def fit(n_iter: int, start=start, overlap=overlap, outliers=outliers) -> None:
            NEOKMeans(
                20, overlap=overlap, outliers=outliers, init=start, max_iter=n_iter, tol=0
            ).fit(X)

        fit(1)
        kind = "overlap and outliers" if overlap else "disjoint"
        ours, _ = iteration_beside(fit, lambda: None, repeats, 5, 25)
        theirs, _ = iteration_beside(lloyd, lambda: None, repeats, 5, 25)
        name = f"NEO-K-Means iteration, {kind}, dense 100,000 x 50, k = 20"
        yield Row(name, "KMeans (Lloyd) iteration", ours, theirs, goal)


def bandwidth_rows(repeats: int) -> Iterator[Row]:
    """Compare an iteration with reading the matrix twice at the speed of memory."""
    X = data.planted()
    start = data.memberships(X.shape[0], 20, 0, 0), data.memberships(X.shape[1], 20, 0, 0)
    edges = np.linspace(0, X.nnz, 3).astype(int)

    def read_twice() -> None:
        with ThreadPoolExecutor(2) as pool:
            for _ in range(2):
                list(pool.map(lambda i: X.data[edges[i] : edges[i + 1]].max(), (0, 1)))
                list(pool.map(lambda i: X.indices[edges[i] : edges[i + 1]].max(), (0, 1)))

    def fit(n_iter: int) -> None:
        NEOCC(20, 20, init=start, refine=False, max_iter=n_iter, tol=0).fit(X)

    times = iteration_beside(fit, read_twice, repeats)
    yield Row("NEO-CC-M iteration, disjoint, 10 million", "reading X twice", *times, None)


def scaling_rows(repeats: int) -> Iterator[Row]:
    """Fit the slope of log time against log entries, the same shape from 1 to 30 million."""
    millions = (1, 3, 10, 30)
    times = []
    for count in millions:
        X = data.planted(10_000 * count, 1_000 * count, 1_000_000 * count)
        start = data.memberships(X.shape[0], 20, 0, 0), data.memberships(X.shape[1], 20, 0, 0)

        def fit(n_iter: int, X=X, start=start) -> None:
            NEOCC(20, 20, init=start, refine=False, max_iter=n_iter, tol=0, kernel="numba").fit(X)

        times.append(iteration_beside(fit, lambda: None, repeats)[0])
    slope = float(np.polyfit(np.log(millions), np.log(times), 1)[0])
    yield Row(
        "slope of log(time) over log(entries), 1 to 30 million",
        "linear",
        times[-1],
        times[0],
        1.1,
        low=0.9,
        value=slope,
    )


def start_rows(repeats: int) -> Iterator[Row]:
    """Compare imports, and see that a small first fit compiles nothing."""
    theirs = import_seconds("import sklearn.cluster", repeats)
    for statement in ("import neocc", "from neocc import NEOCC"):
        ours = import_seconds(statement, repeats)
        yield Row(statement, "import sklearn.cluster", 1e3 * ours, 1e3 * theirs, 1.3)
    ours = import_seconds("from neocc.cli import app; app(['--help'])", repeats)
    yield Row("neocc --help", "import sklearn.cluster", 1e3 * ours, 1e3 * theirs, 0.4)
    loaded = in_fresh_process(
        "import sys, numpy as np; from neocc import NEOCC;"
        "NEOCC(random_state=0).fit(np.random.default_rng(0).random((100, 80)));"
        "print(int('numba' in sys.modules))"
    )
    yield Row("modules compiled by a first fit of 100 x 80", "none", float(loaded), 1.0, 0.0, "")
