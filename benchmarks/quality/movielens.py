"""The MovieLens stand-ins: thorough fits against plain restarts that may take as long."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
from rich.console import Console
from scipy import sparse
from sklearn.preprocessing import normalize

from benchmarks.pages import Line
from neocc import NEOCC
from neocc.datasets import load_movielens_subset

NAMES = ("ml-a", "ml-b", "ml-c", "ml-d")


def matrices(name: str) -> tuple[dict[str, sparse.csr_array], dict[str, float]]:
    """Return ratings, as they are and with columns of norm 1, and the setting that fits them."""
    subset = load_movielens_subset(name)
    genres = subset.column_membership
    setting = {
        "n_row_clusters": 4,
        "n_column_clusters": genres.shape[1],
        "column_overlap": genres.sum() / len(genres) - 1,
    }
    return {"raw": subset.data, "columns of norm 1": normalize(subset.data, axis=0)}, setting


def lines(n_seeds: int, console: Console) -> Iterator[Line]:
    """Compare the objectives reached in the same time."""
    yield [
        "data",
        "ratings",
        "objective",
        "thorough J, best",
        "worst",
        "restarts J, best",
        "worst",
        "seeds at which thorough is lower or equal",
        "restarts in that time",
    ]
    for name in NAMES:
        data, setting = matrices(name)
        for kind, X in data.items():
            for objective in ("mean", "residue"):
                found = [
                    compete(X, {**setting, "objective": objective}, seed) for seed in range(n_seeds)
                ]
                ours, theirs, n_restarts = np.array(found).T
                n_won = np.count_nonzero(ours <= theirs * (1 + 1e-9))
                line = [
                    name,
                    kind,
                    objective,
                    *(f"{J:,.4f}" for J in (ours.min(), ours.max(), theirs.min(), theirs.max())),
                    f"{n_won} of {n_seeds}",
                    f"{np.median(n_restarts):.0f}",
                ]
                console.print(" | ".join(line))
                yield line


def compete(X: sparse.csr_array, options: dict[str, object], seed: int) -> tuple[float, float, int]:
    """Return the objective of a thorough fit, the best of restarts as long, and their number.

    Processor time: on a busy machine wall time would leave the restarts too little of it.
    """
    start = time.process_time()
    ours = NEOCC(**options, refine="thorough", random_state=seed).fit(X).objective_
    budget = time.process_time() - start
    best, n_restarts = np.inf, 0
    start = time.process_time()
    while time.process_time() - start < budget:
        restart = NEOCC(**options, n_init=1, refine=False, random_state=1000 * seed + n_restarts)
        best = min(best, restart.fit(X).objective_)
        n_restarts += 1
    return ours, best, n_restarts
