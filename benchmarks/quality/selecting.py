"""Parameters chosen for the user, against those that were planted."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import product

import numpy as np
from rich.console import Console

from benchmarks.pages import Line
from neocc._typing import FloatArray
from neocc.datasets import fetch_yeast, make_coclusters
from neocc.selection import estimate_overlap_and_outliers, suggest_n_clusters

# Rule and its options, as they are offered.
RULES = {
    "second, as the authors count": {"strategy": "second"},
    "second, without the home cluster": {"strategy": "second", "count_home": False},
    "first, delta 1.9": {"strategy": "first"},
    "first, delta 0": {"strategy": "first", "delta_overlap": 0.0},
}
_WITHIN = 0.2
CRITERIA = ("icl", "hull", "pseudo_f")
# Sets to find numbers of clusters in: overlap of both sides, and whether the search knows it.
_PLANTED_NUMBERS = (
    ("no overlap", 0.0, True),
    ("overlap 0.1, told", 0.1, True),
    ("overlap 0.1, not told", 0.1, False),
)
# The first few sets are solved twice, on one thread and on two.
_TIMED = 5
_CLUSTERS = (3, 4, 6)
_OVERLAPS = (0.1, 0.3)
_OUTLIERS = (0.02, 0.1)
_NOISES = (0.5, 1.0)


def estimate_lines(n_seeds: int, console: Console) -> Iterator[Line]:
    """Count how often overlap and outliers are within a fifth of the planted ones."""
    yield ["rule", "data", "overlap within 20 %", "outliers within 20 %", "both", "overlap found"]
    yeast = fetch_yeast().data
    for name, options in RULES.items():
        hits, found = [], []
        for k, overlap, outliers, noise, seed in product(
            _CLUSTERS, _OVERLAPS, _OUTLIERS, _NOISES, range(n_seeds)
        ):
            X, U, _ = make_coclusters(
                (500, 60), k, 4, row_overlap=overlap, row_outliers=outliers, noise=noise,
                random_state=seed,
            )  # fmt: skip
            estimate = estimate_overlap_and_outliers(X, k, random_state=seed, **options)
            truth = U.sum() / len(U) - 1, np.mean(~U.any(axis=1))
            pair = estimate.overlap, estimate.outliers
            hits.append([abs(a - b) <= _WITHIN * abs(b) for a, b in zip(pair, truth, strict=True)])
            found.append(estimate.overlap)
        rates = [*np.mean(hits, axis=0), np.all(hits, axis=1).mean()]
        line = [name, f"{len(hits)} planted", *(f"{rate:.1%}" for rate in rates)]
        line.append(f"{min(found):.2f} to {max(found):.2f}")
        console.print(" | ".join(line))
        yield line
    for name, options in RULES.items():
        found = [
            estimate_overlap_and_outliers(yeast, 14, random_state=seed, **options).overlap
            for seed in range(n_seeds)
        ]
        line = [
            name,
            "yeast (true overlap 3.237)",
            "",
            "",
            "",
            f"{min(found):.2f} to {max(found):.2f}",
        ]
        console.print(" | ".join(line))
        yield line


def number_lines(n_seeds: int, console: Console) -> Iterator[Line]:
    """Count how often the planted numbers of clusters are ranked first, and in the first three."""
    yield [
        "planted sets",
        "criterion",
        "sets",
        "first",
        "within the first three",
        "time, one thread over two",
    ]
    for name, overlap, told in _PLANTED_NUMBERS:
        ranks: dict[str, list[int]] = {criterion: [] for criterion in CRITERIA}
        ratios = []
        for seed in range(n_seeds if overlap == 0 else n_seeds // 4):
            X, pair = _planted_numbers(overlap, seed)
            options = {"row_overlap": overlap, "column_overlap": overlap} if told else {}
            times = []
            for n_jobs in (2, 1) if seed < _TIMED else (None,):
                begin = time.perf_counter()
                found = suggest_n_clusters(
                    X, criteria=CRITERIA, random_state=seed, n_jobs=n_jobs, **options
                )
                times.append(time.perf_counter() - begin)
            if seed < _TIMED:
                ratios.append(times[1] / times[0])
            for criterion, places in ranks.items():
                places.append(_rank(found.table, criterion, pair))
            console.print(f"{name} {seed}: {pair}, ranks {[each[-1] for each in ranks.values()]}")
        for criterion, places in ranks.items():
            rates = [f"{np.mean(np.array(places) <= limit):.0%}" for limit in (1, 3)]
            yield [name, criterion, str(len(places)), *rates, f"{np.median(ratios):.2f}"]


def _planted_numbers(overlap: float, seed: int) -> tuple[FloatArray, tuple[int, int]]:
    """Return planted data, and its numbers of clusters."""
    rng = np.random.default_rng(seed)
    k, other = (int(value) for value in rng.integers(2, 7, size=2))
    shape = int(rng.integers(100, 400)), int(rng.integers(60, 200))
    options = {"row_overlap": overlap, "column_overlap": overlap, "random_state": seed}
    return make_coclusters(shape, k, other, **options)[0], (k, other)


def _rank(table: dict[str, np.ndarray], criterion: str, pair: tuple[int, int]) -> int:
    """Return the place of a pair by one criterion, from 1."""
    planted = (table["n_row_clusters"] == pair[0]) & (table["n_column_clusters"] == pair[1])
    values = np.nan_to_num(table[criterion], nan=-np.inf)
    return 1 + int(np.count_nonzero(values > values[planted][0]))
