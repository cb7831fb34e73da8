"""Iterations and whole fits on planted matrices, sparse and dense."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

# asv knows the folder of this file only.
sys.path.append(str(Path(__file__).parents[2]))

from benchmarks import data
from neocc import NEOCC, NEOKMeans

OVERLAP, OUTLIERS, K = 0.1, 0.05, 10


class Iterations:
    """Ten iterations from a given start on one thread."""

    timeout = 600
    param_names = ("objective and overlap model",)
    params = ("mean repeat", "mean average", "residue repeat", "residue average", "poisson repeat")
    shape = (20_000, 2_000, 1_000_000)

    def setup(self, case: str) -> None:
        n, m, n_entries = self.shape
        self.X = data.planted(n, m, n_entries, K)
        self.start = tuple(data.memberships(size, K, OVERLAP, OUTLIERS) for size in (n, m))
        self.fit(case, 1)  # compiled, and read from the cache

    def fit(self, case: str, n_iter: int) -> float:
        objective, overlap_model = case.split()
        model = NEOCC(
            K,
            K,
            objective=objective,
            overlap_model=overlap_model,
            row_overlap=OVERLAP,
            column_overlap=OVERLAP,
            row_outliers=OUTLIERS,
            column_outliers=OUTLIERS,
            init=self.start,
            refine=False,
            max_iter=n_iter,
            tol=0,
            n_jobs=1,
        ).fit(self.X)
        return float(model.objective_)

    def time_iterations(self, case: str) -> None:
        self.fit(case, 10)

    def peakmem_iterations(self, case: str) -> None:
        self.fit(case, 10)

    def track_objective(self, case: str) -> float:
        return self.fit(case, 10)


class Fits:
    """Default fits of a dense matrix, starts and search included, and what is done with them."""

    timeout = 600
    shape = (600, 200)

    def setup(self) -> None:
        rng = np.random.default_rng(0)
        n, m = self.shape
        means = rng.normal(size=(4, 4))
        self.X = means[rng.integers(4, size=n)][:, rng.integers(4, size=m)]
        self.X = self.X + rng.normal(size=self.shape)
        self.model = NEOCC(4, 4, row_overlap=OVERLAP, random_state=0).fit(self.X)

    def time_coclusters(self) -> None:
        NEOCC(4, 4, row_overlap=OVERLAP, random_state=0).fit(self.X)

    def time_clusters(self) -> None:
        NEOKMeans(4, overlap=OVERLAP, random_state=0).fit(self.X)

    def time_predict(self) -> None:
        self.model.predict(self.X)

    def track_objective(self) -> float:
        return float(self.model.objective_)
