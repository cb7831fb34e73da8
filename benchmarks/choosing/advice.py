"""Steps and objective as advised, against the data as they are and against other methods."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from rich.console import Console
from scipy import sparse
from sklearn.cluster import KMeans, SpectralCoclustering
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from benchmarks.choosing.tables import Table, read_tables
from benchmarks.pages import Line
from neocc import NEOCC
from neocc.selection import advise, describe_data

__all__ = ["items_of", "kmeans", "lines", "look_lines", "spectral"]

# Groups of the other side, beside as many as there are classes.
_OTHERS = 10
_SEPARABLE = 0.3


def lines(n_seeds: int, console: Console) -> Iterator[Line]:
    """Fit every table; adjusted Rand indices with the classes, means over seeds."""
    rivals = ["k-means", "standardised k-means", "spectral co-clustering"]
    yield ["table", "shape", "classes", "kind", "advice", "advised", "as they are", *rivals]
    found: list[tuple[Table, list[float]]] = []
    for table, X, classes in read_tables():
        k = len(np.unique(classes))
        advice = advise(X)
        methods: list[Callable[[int], np.ndarray]] = [
            lambda seed, X=X, t=table, k=k: _advised(X, t, k, seed),
            lambda seed, X=X, t=table, k=k: _plain(X, t, k, seed),
            lambda seed, X=X, t=table, k=k: kmeans(items_of(X, t), k, seed),
            lambda seed, X=X, t=table, k=k: kmeans(
                StandardScaler().fit_transform(items_of(X, t)), k, seed
            ),
            lambda seed, X=X, t=table, k=k: spectral(items_of(X, t), k, seed),
        ]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scores = [
                float(np.mean([adjusted_rand_score(classes, of(seed)) for seed in range(n_seeds)]))
                for of in methods
            ]
        found.append((table, scores))
        steps = [name for name, _ in advice.pipeline.steps[:-1]]
        model = advice.pipeline[-1]
        last = "observed cells" if model.missing == "ignore" else model.objective
        chosen = ", ".join([*steps, last])
        shape = f"{X.shape[0]} x {X.shape[1]}"
        line = [table.marked, shape, str(k), advice.description.kind, chosen]
        line += [f"{score:.2f}" for score in scores]
        console.print(" | ".join(line))
        yield line
    for label, kept in {
        "mean, all": lambda _: True,
        "mean, kept back (*)": lambda one: "*" in one[0].marked,
        "mean, read later (†)": lambda one: "†" in one[0].marked,
        "mean, real": lambda one: not one[0].name.startswith("planted"),
        f"mean, k-means at least {_SEPARABLE}": lambda one: max(one[1][2:4]) >= _SEPARABLE,
    }.items():
        rows = [scores for table, scores in found if kept((table, scores))]
        if rows:
            means = [f"{mean:.2f}" for mean in np.mean(rows, axis=0)]
            yield [f"{label} ({len(rows)})", "", "", "", "", *means]


def _sizes(X: Any, table: Table, k: int) -> tuple[int, int]:
    """Return numbers of groups: as many as classes, and somewhat more on the other side."""
    n_others = X.shape[1] if table.side == "rows" else X.shape[0]
    other = min(n_others, max(k, _OTHERS))
    return (k, other) if table.side == "rows" else (other, k)


def _advised(X: Any, table: Table, k: int, seed: int) -> np.ndarray:
    rows, columns = _sizes(X, table, k)
    options = {"n_row_clusters": rows, "n_column_clusters": columns, "random_state": seed}
    return _labels(advise(X, **options).pipeline.fit(X)[-1], table)


def _plain(X: Any, table: Table, k: int, seed: int) -> np.ndarray:
    return _labels(NEOCC(*_sizes(X, table, k), random_state=seed).fit(X), table)


def _labels(model: Any, table: Table) -> np.ndarray:
    members = model.row_membership_ if table.side == "rows" else model.column_membership_
    return members.argmax(axis=1)


def items_of(X: Any, table: Table) -> np.ndarray:
    """Return a line for each thing that has a class."""
    dense = X.toarray() if sparse.issparse(X) else X
    return dense if table.side == "rows" else dense.T


def kmeans(items: np.ndarray, k: int, seed: int) -> np.ndarray:
    """Cluster by k-means."""
    return KMeans(k, n_init=10, random_state=seed).fit_predict(items)


def spectral(items: np.ndarray, k: int, seed: int) -> np.ndarray:
    """Co-cluster; negative data are shifted, and empty lines go to the first cluster."""
    items = items - min(0.0, float(items.min()))
    rows = items.sum(axis=1) > 0
    columns = items[rows].sum(axis=0) > 0
    labels = np.zeros(len(items), dtype=int)
    model = SpectralCoclustering(k, random_state=seed).fit(items[rows][:, columns])
    labels[rows] = model.row_labels_
    return labels


def look_lines(n_seeds: int, console: Console) -> Iterator[Line]:
    """Time a look at data against one plain start of a fit: best of several runs each."""
    yield ["data", "shape", "look", "a plain start", "ratio"]
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(60, 20_000))
    tall = rng.normal(size=(200_000, 50))
    thin = sparse.random_array((800, 1500), density=0.05, random_state=rng, format="csr")
    for name, X in {"wide": dense, "tall": tall, "sparse": thin}.items():
        plain = NEOCC(4, 5, n_init=1, refine=False, random_state=0)
        look = min(_seconds(lambda X=X: describe_data(X)) for _ in range(n_seeds))
        fit = min(_seconds(lambda X=X, m=plain: m.fit(X)) for _ in range(n_seeds))
        shape = f"{X.shape[0]} x {X.shape[1]}"
        line = [name, shape, f"{look:.2f} s", f"{fit:.2f} s", f"{look / fit:.2f}"]
        console.print(" | ".join(line))
        yield line


def _seconds(run: Callable[[], Any]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start
