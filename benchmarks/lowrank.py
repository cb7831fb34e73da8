"""`python -m benchmarks.lowrank [PART ...]` measures the semidefinite relaxations.

Parts: `yeast` (LowRankNEOKMeans against starts of NEOKMeans), `solvers` (the two solvers, the
number of columns and the start), `planted` (known clusters, against starts of NEOKMeans), `mean`
and `residue` (NEOCC with either objective, from semidefinite and from plain starts).
`--write docs/sdp.md` keeps their tables.

Times are seconds of CPU on one thread: they are the same on a busy machine and on an idle one.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from rich.console import Console

from benchmarks.pages import Line
from benchmarks.parts import Part, run_parts
from benchmarks.quality.yeast import SETTING
from neocc import NEOCC, LowRankNEOKMeans, NEOKMeans
from neocc.datasets import fetch_yeast
from neocc.metrics import best_match_f1

ONE_WAY = {"n_clusters": 14, "overlap": 3.55}
N_STARTS = 20

# Points, features, clusters; shares of points between two clusters and of points far away.
PLANTED = [
    (200, 5, 5, 0.0, 0.0),
    (200, 5, 5, 0.2, 0.05),
    (500, 10, 15, 0.1, 0.0),
    (500, 10, 15, 0.1, 0.05),
    (1000, 10, 25, 0.1, 0.0),
]


def timed(model: Any, X: np.ndarray) -> tuple[Any, float]:
    """Fit a model on one thread; return it with the seconds of CPU that took."""
    start = time.process_time()
    model.set_params(n_jobs=1).fit(X)
    return model, time.process_time() - start


def spread(values: list[float], digits: int = 2) -> str:
    """Format the lowest and the highest of some values."""
    low, high = (f"{value:,.{digits}f}" for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def yeast_lines(n_seeds: int, console: Console) -> Iterator[Line]:
    """Compare the relaxation, rounded and refined, with as many seeds of the alternation."""
    yeast = fetch_yeast()
    yield ["method", "J", "F1 %", "mean F1 %", "seconds", "relaxed J", "largest violation"]

    def line(name: str, fits: list[tuple[Any, float]]) -> Line:
        models, seconds = zip(*fits, strict=True)
        scores = [100 * best_match_f1(yeast.row_membership, each.membership_) for each in models]
        cells = [
            name,
            spread([each.objective_ for each in models]),
            spread(scores),
            f"{np.mean(scores):.2f}",
            f"{np.median(seconds):.1f}",
        ]
        if hasattr(models[0], "relaxed_objective_"):
            cells.append(spread([each.relaxed_objective_ for each in models]))
            cells.append(f"{max(each.infeasibility_ for each in models):.1e}")
        else:
            cells += ["", ""]
        console.print(" | ".join(cells))
        return cells

    for init in ("k-means++", "random"):
        fits = [
            timed(NEOKMeans(**ONE_WAY, init=init, n_init=N_STARTS, random_state=seed), yeast.data)
            for seed in range(n_seeds)
        ]
        yield line(f"NEOKMeans, {init}, best of {N_STARTS} starts", fits)
    for options in (
        {"rounding": "counts", "refine": False},
        {"rounding": "counts"},
        {"rounding": "clusters", "refine": False},
        {"rounding": "clusters"},
        {"rounding": "clusters", "init": "neo-kmeans"},
    ):
        fits = [
            timed(LowRankNEOKMeans(**ONE_WAY, **options, random_state=seed), yeast.data)
            for seed in range(n_seeds)
        ]
        words = [options["rounding"], "rounded" if "refine" in options else "refined"]
        words += [f"from {options['init']}"] if "init" in options else []
        yield line(f"LowRankNEOKMeans, {', '.join(words)}", fits)


def solver_lines(n_seeds: int, console: Console) -> Iterator[Line]:
    """Time both solvers for every number of columns, from random and from iterative starts."""
    X = fetch_yeast().data
    yield [
        "solver",
        "columns per cluster",
        "start",
        "J of the start",
        "relaxed J",
        "largest violation",
        "updates",
        "seconds",
        "refined J",
    ]
    settings = [("admm", 1), ("alm", 1), ("admm", 2), ("admm", 3)]
    for solver, columns in settings:
        for given in (False, True):
            found, seconds, before = [], [], []
            for seed in range(n_seeds):
                options: dict[str, Any] = {"solver": solver, "columns_per_cluster": columns}
                if given:
                    start = NEOKMeans(**ONE_WAY, n_init=1, random_state=seed).fit(X)
                    before.append(start.objective_)
                    options["init"] = start.membership_
                model, spent = timed(LowRankNEOKMeans(**ONE_WAY, **options, random_state=seed), X)
                found.append(model)
                seconds.append(spent)
            cells = [
                solver,
                str(columns),
                "iterative" if given else "random",
                spread(before, 0) if before else "",
                spread([each.relaxed_objective_ for each in found]),
                f"{max(each.infeasibility_ for each in found):.1e}",
                spread([each.n_iter_ for each in found], 0),
                f"{np.median(seconds):.1f}",
                spread([each.objective_ for each in found]),
            ]
            console.print(" | ".join(cells))
            yield cells


def planted_points(
    n: int, m: int, k: int, overlap: float, outliers: float, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Draw points around k centres, some between two of them and some far away from all."""
    rng = np.random.default_rng(seed)
    centers = 3.0 * rng.normal(size=(k, m))
    U = np.eye(k, dtype=bool)[rng.permutation(n) % k]
    between = rng.random(n) < overlap
    U[between, rng.integers(k, size=between.sum())] = True
    X = U @ centers / U.sum(axis=1)[:, None] + rng.normal(size=(n, m))
    far = rng.random(n) < outliers
    X[far] += 24.0 * rng.normal(size=(far.sum(), m))
    U[far] = False
    return X, U


def planted_lines(n_seeds: int, console: Console) -> Iterator[Line]:
    """Compare single relaxed starts with starts of the alternation, relative to the planted J."""
    yield [
        "points x features",
        "k",
        "between",
        "outliers",
        "one start of NEOKMeans",
        f"best of {N_STARTS}",
        "seconds",
        "one of LowRankNEOKMeans",
        "seconds",
        "with 1 column per cluster",
    ]
    for n, m, k, overlap, outliers in PLANTED:
        ratios = []
        for seed in range(n_seeds):
            X, U = planted_points(n, m, k, overlap, outliers, seed)
            counts = {
                "n_clusters": k,
                "overlap": U.sum() / n - 1,
                "outliers": (~U.any(axis=1)).mean(),
            }
            truth = NEOKMeans(**counts, init=U, n_jobs=1).fit(X).objective_
            models = [
                NEOKMeans(**counts, n_init=1, random_state=seed),
                NEOKMeans(**counts, n_init=N_STARTS, random_state=seed),
                LowRankNEOKMeans(**counts, random_state=seed),
                LowRankNEOKMeans(**counts, columns_per_cluster=1, random_state=seed),
            ]
            fits = [timed(model, X) for model in models]
            ratios.append([(model.objective_ / truth, spent) for model, spent in fits])
        values, seconds = np.moveaxis(np.array(ratios), 2, 0)
        mean, spent = values.mean(axis=0), np.median(seconds, axis=0)
        cells = [f"{n} x {m}", str(k), f"{overlap}", f"{outliers}"]
        cells += [f"{mean[0]:.3f}", f"{mean[1]:.3f}", f"{spent[1]:.1f}"]
        cells += [f"{mean[2]:.3f}", f"{spent[2]:.1f}", f"{mean[3]:.3f}"]
        console.print(" | ".join(cells))
        yield cells


def cocluster_lines(objective: str, n_seeds: int, console: Console) -> Iterator[Line]:
    """Compare semidefinite starts of NEOCC with plain ones, alone and refined."""
    yeast = fetch_yeast()
    yield ["init", "refine", "J", "mean J", "F1 %", "seconds"]
    for init, options in (
        ("neo-kmeans", {"n_init": 1, "refine": False}),
        ("random", {"n_init": 1, "refine": False}),
        ("random", {"n_init": N_STARTS, "refine": False}),
        ("sdp", {"n_init": 1, "refine": False}),
        ("neo-kmeans", {"refine": "thorough"}),
        ("sdp", {"refine": "thorough"}),
    ):
        fits = [
            timed(
                NEOCC(**SETTING, **options, objective=objective, init=init, random_state=seed),
                yeast.data,
            )
            for seed in range(n_seeds)
        ]
        values = [model.objective_ for model, _ in fits]
        scores = [
            100 * best_match_f1(yeast.row_membership, model.row_membership_) for model, _ in fits
        ]
        n_starts = options.get("n_init", 1)
        cells = [
            init if n_starts == 1 else f"{init}, best of {n_starts}",
            "no" if options["refine"] is False else "yes",
            spread(values),
            f"{np.mean(values):,.2f}",
            spread(scores, 1),
            f"{np.median([spent for _, spent in fits]):.2f}",
        ]
        console.print(" | ".join(cells))
        yield cells


PARTS: dict[str, Part] = {
    "yeast": (yeast_lines, 5),
    "solvers": (solver_lines, 3),
    "planted": (planted_lines, 3),
    "mean": (partial(cocluster_lines, "mean"), 5),
    "residue": (partial(cocluster_lines, "residue"), 5),
}

if __name__ == "__main__":
    run_parts("benchmarks.lowrank", __doc__, PARTS)
