"""Planted co-clusters: objective and memberships against the truth, and against other methods."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from sklearn.cluster import SpectralBiclustering, SpectralCoclustering

from benchmarks.pages import Line
from neocc import NEOCC, objective_value
from neocc.datasets import make_coclusters
from neocc.metrics import matched_f1, omega_index


class Setting(NamedTuple):
    """What is planted; the separation is 3 throughout."""

    shape: tuple[int, int]
    k: int
    l: int  # noqa: E741 (the paper's letter)
    overlap: float
    outliers: float
    noise: float

    @property
    def fractions(self) -> dict[str, float]:
        """The same for both sides."""
        sides = ("row", "column")
        overlaps = {f"{side}_overlap": self.overlap for side in sides}
        return overlaps | {f"{side}_outliers": self.outliers for side in sides}

    def make(self, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return X, U and V."""
        return make_coclusters(
            self.shape, self.k, self.l, **self.fractions, noise=self.noise, random_state=seed
        )


SETTINGS = [
    Setting((200, 100), 2, 2, 0.0, 0.0, 1.0),
    Setting((200, 100), 3, 3, 0.1, 0.0, 1.0),
    Setting((200, 100), 3, 3, 0.0, 0.1, 1.0),
    Setting((200, 100), 3, 3, 0.1, 0.05, 2.0),
    Setting((500, 200), 4, 3, 0.2, 0.0, 1.0),
    Setting((500, 200), 4, 3, 0.2, 0.05, 2.0),
    Setting((500, 200), 5, 5, 0.3, 0.1, 0.5),
    Setting((1000, 300), 6, 4, 0.1, 0.1, 1.0),
    Setting((1000, 300), 6, 4, 0.3, 0.05, 2.0),
    Setting((2000, 400), 8, 5, 0.2, 0.05, 1.0),
    Setting((2000, 400), 10, 6, 0.1, 0.05, 0.5),
    Setting((5000, 500), 10, 10, 0.1, 0.02, 1.0),
]
MEASURES = (omega_index, matched_f1)


def lines(n_seeds: int, console: Console) -> Iterator[Line]:
    """Fit every setting from every seed; scores are means over seeds and over both sides."""
    yield [
        "rows x columns",
        "k x l",
        "overlap",
        "outliers",
        "noise",
        "J at or below the planted",
        "omega: neocc",
        "biclustering",
        "coclustering",
        "matched F1: neocc",
        "biclustering",
        "coclustering",
    ]
    for setting in SETTINGS:
        scores, below = [], 0
        for seed in range(n_seeds):
            X, U, V = setting.make(seed)
            options = {**setting.fractions, "refine": "thorough", "random_state": seed}
            model = NEOCC(setting.k, setting.l, **options).fit(X)
            below += model.objective_ <= objective_value(X, U, V) * (1 + 1e-9)
            found = [(model.row_membership_, model.column_membership_)]
            found += spectral(X, setting.k, setting.l, seed)
            scores.append([both(measure, (U, V), each) for measure in MEASURES for each in found])
        mean = np.mean(scores, axis=0)
        line = [" x ".join(map(str, setting.shape)), f"{setting.k} x {setting.l}"]
        line += [str(value) for value in setting[3:]]
        line += [f"{below} of {n_seeds}", *(f"{value:.3f}" for value in mean)]
        console.print(" | ".join(line))
        yield line


def spectral(X: np.ndarray, k: int, l_: int, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the clusters of scikit-learn's two methods, told the right numbers of clusters."""
    two = SpectralBiclustering((k, l_), method="log", random_state=seed)
    shifted = X - X.min() + 1
    two.fit(shifted)
    yield np.eye(k)[two.row_labels_], np.eye(l_)[two.column_labels_]
    one = SpectralCoclustering(min(k, l_), random_state=seed).fit(shifted)
    yield one.rows_.T, one.columns_.T


def both(measure: Any, true: tuple[Any, Any], found: tuple[Any, Any]) -> float:
    """Return the mean of a measure over rows and columns."""
    return float(np.mean([measure(t, f) for t, f in zip(true, found, strict=True)]))
