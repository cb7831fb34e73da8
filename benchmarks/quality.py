"""`python -m benchmarks.quality` measures how good the default fit is, not how fast.

Parts: `yeast` (both objectives on the setting whose printed values are known) and `planted` (data
with known co-clusters, against scikit-learn's spectral methods). `--write FILE` keeps the tables.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import os
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from rich.console import Console
from sklearn.cluster import SpectralBiclustering, SpectralCoclustering

from benchmarks.__main__ import machine
from neocc import NEOCC, objective_value
from neocc.datasets import make_coclusters
from neocc.metrics import best_match_f1, matched_f1, omega_index

Line = list[str]

# Objective: lowest J known before, printed best F1 in percent.
YEAST = {"mean": (10_074.199, 40.7), "residue": (8_348.79, 38.1)}

# (rows, columns), (k, l), overlap, outliers, noise; separation 3 throughout.
PLANTED = [
    ((200, 100), (2, 2), 0.0, 0.0, 1.0),
    ((200, 100), (3, 3), 0.1, 0.0, 1.0),
    ((200, 100), (3, 3), 0.0, 0.1, 1.0),
    ((200, 100), (3, 3), 0.1, 0.05, 2.0),
    ((500, 200), (4, 3), 0.2, 0.0, 1.0),
    ((500, 200), (4, 3), 0.2, 0.05, 2.0),
    ((500, 200), (5, 5), 0.3, 0.1, 0.5),
    ((1000, 300), (6, 4), 0.1, 0.1, 1.0),
    ((1000, 300), (6, 4), 0.3, 0.05, 2.0),
    ((2000, 400), (8, 5), 0.2, 0.05, 1.0),
    ((2000, 400), (10, 6), 0.1, 0.05, 0.5),
    ((5000, 500), (10, 10), 0.1, 0.02, 1.0),
]


def yeast() -> tuple[np.ndarray, np.ndarray]:
    """Read features and classes of yeast from NEOCC_DATA."""
    path = Path(os.environ["NEOCC_DATA"]) / "yeast" / "yeast.csv.gz"
    with gzip.open(path, "rt") as file:
        header, *lines = csv.reader(file)
    table = np.array(lines, dtype=float)
    return table[:, :103], table[:, [name.startswith("Class") for name in header]] == 1


def yeast_lines(n_seeds: int, console: Console) -> Iterator[Line]:
    """Fit yeast with the default settings from many seeds, and time plain starts beside it."""
    X, classes = yeast()
    setting = {"row_overlap": 3.237, "column_overlap": 0.2}
    yield [
        "objective",
        "seeds",
        "lowest J",
        "highest J",
        "lowest known before",
        "F1 %, lowest",
        "F1 %, highest",
        "printed best F1 %",
        "time of a default fit",
        "of a plain start",
        "ratio",
    ]
    for objective, (known, printed) in YEAST.items():
        values, scores, fits, plain = [], [], [], []
        for seed in range(n_seeds):
            options = {**setting, "objective": objective, "random_state": seed}
            start = time.perf_counter()
            NEOCC(14, 3, n_init=1, refine=False, **options).fit(X)
            plain.append(time.perf_counter() - start)
            start = time.perf_counter()
            model = NEOCC(14, 3, **options).fit(X)
            fits.append(time.perf_counter() - start)
            values.append(model.objective_)
            scores.append(100 * best_match_f1(classes, model.row_membership_))
            console.print(f"{objective} {seed}: J {values[-1]:.4f}, F1 {scores[-1]:.2f}")
        ratio = np.median(fits) / np.median(plain)
        yield [
            objective,
            str(n_seeds),
            f"{min(values):,.3f}",
            f"{max(values):,.3f}",
            f"{known:,.3f}",
            f"{min(scores):.2f}",
            f"{max(scores):.2f}",
            f"{printed}",
            f"{np.median(fits):.2f} s",
            f"{np.median(plain):.3f} s",
            f"{ratio:.0f}",
        ]


def planted_lines(n_seeds: int, console: Console) -> Iterator[Line]:
    """Fit planted data and compare memberships and objective with the truth."""
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
    for shape, (k, l_), overlap, outliers, noise in PLANTED:
        scores, below = [], 0
        sides = {
            "row_overlap": overlap,
            "column_overlap": overlap,
            "row_outliers": outliers,
            "column_outliers": outliers,
        }
        for seed in range(n_seeds):
            X, U, V = make_coclusters(shape, k, l_, **sides, noise=noise, random_state=seed)
            model = NEOCC(k, l_, **sides, random_state=seed).fit(X)
            below += model.objective_ <= objective_value(X, U, V) * (1 + 1e-9)
            found = [(model.row_membership_, model.column_membership_), *spectral(X, k, l_, seed)]
            scores.append([_both(measure, (U, V), each) for measure in MEASURES for each in found])
        mean = np.mean(scores, axis=0)
        line = [f"{shape[0]} x {shape[1]}", f"{k} x {l_}", f"{overlap}", f"{outliers}", f"{noise}"]
        line += [f"{below} of {n_seeds}", *(f"{value:.3f}" for value in mean)]
        console.print(" | ".join(line))
        yield line


MEASURES = (omega_index, matched_f1)


def spectral(X: np.ndarray, k: int, l_: int, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the clusters of scikit-learn's two methods, told the right numbers of clusters."""
    two = SpectralBiclustering((k, l_), method="log", random_state=seed)
    shifted = X - X.min() + 1
    two.fit(shifted)
    yield np.eye(k)[two.row_labels_], np.eye(l_)[two.column_labels_]
    one = SpectralCoclustering(min(k, l_), random_state=seed).fit(shifted)
    yield one.rows_.T, one.columns_.T


def _both(measure: object, true: tuple, found: tuple) -> float:
    return float(np.mean([measure(t, f) for t, f in zip(true, found, strict=True)]))


def markdown(lines: list[Line]) -> str:
    """Format lines as a table."""
    return "\n".join(
        "| " + " | ".join(line) + " |" for line in (lines[0], ["---"] * len(lines[0]), *lines[1:])
    )


def main() -> None:
    """Run the parts asked for, print their tables and, if asked, write them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    parser.add_argument("parts", nargs="*", default=["yeast", "planted"])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    console = Console()
    text = ["# Quality of the default fit", "", "Printed by `python -m benchmarks.quality`.", ""]
    parts = {"yeast": yeast_lines, "planted": planted_lines}
    for name in options.parts:
        table = markdown(list(parts[name](options.seeds, console)))
        console.print(table, soft_wrap=True)
        text += [f"## {name.capitalize()}", "", table, ""]
    if options.write:
        options.write.write_text(
            "\n".join([*text, machine(), "Times are medians over the seeds.", ""])
        )


if __name__ == "__main__":
    main()
