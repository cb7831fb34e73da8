"""Parameters chosen for the user, against those that were planted."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import product

import numpy as np
from rich.console import Console

from benchmarks.pages import Line
from neocc.datasets import fetch_yeast, make_coclusters
from neocc.selection import estimate_overlap_and_outliers, suggest_n_clusters

# Rule and its options, as they are offered.
RULES = {
    "second, as the authors count": {"strategy": "second"},
    "second, without the home cluster": {"strategy": "second", "count_home": False},
    "first, delta 1.9": {"strategy": "first"},
    "first, delta 0": {"strategy": "first", "delta_overlap": 0.0},
    "averages": {"strategy": "averages"},
}
_WITHIN = 0.2
CRITERIA = ("icl", "hull", "pseudo_f")
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
    yield ["criterion", "sets", "first", "within the first three", "time, one thread over two"]
    ranks: dict[str, list[int]] = {name: [] for name in CRITERIA}
    ratios = []
    for seed in range(n_seeds):
        rng = np.random.default_rng(seed)
        k, other = (int(value) for value in rng.integers(2, 7, size=2))
        shape = int(rng.integers(100, 400)), int(rng.integers(60, 200))
        X, _, _ = make_coclusters(shape, k, other, random_state=seed)
        times = []
        for n_jobs in (2, 1) if seed < _TIMED else (None,):
            begin = time.perf_counter()
            found = suggest_n_clusters(X, criteria=CRITERIA, random_state=seed, n_jobs=n_jobs)
            times.append(time.perf_counter() - begin)
        if seed < _TIMED:
            ratios.append(times[1] / times[0])
        for name, places in ranks.items():
            places.append(_rank(found.table, name, (k, other)))
        console.print(f"{seed}: {k} x {other}, ranks {[places[-1] for places in ranks.values()]}")
    for name, places in ranks.items():
        rates = [f"{np.mean(np.array(places) <= limit):.0%}" for limit in (1, 3)]
        yield [name, str(n_seeds), *rates, f"{np.median(ratios):.2f}"]


def _rank(table: dict[str, np.ndarray], criterion: str, pair: tuple[int, int]) -> int:
    """Return the place of a pair by one criterion, from 1."""
    planted = (table["n_row_clusters"] == pair[0]) & (table["n_column_clusters"] == pair[1])
    values = np.nan_to_num(table[criterion], nan=-np.inf)
    return 1 + int(np.count_nonzero(values > values[planted][0]))
