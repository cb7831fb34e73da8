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
        line = [name, f"{len(hits)} planted", *(f"{rate:.0%}" for rate in rates)]
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
    for criterion in ("icl", "hull", "pseudo_f"):
        ranks, ratios = [], []
        for seed in range(n_seeds):
            rng = np.random.default_rng(seed)
            k, other = (int(value) for value in rng.integers(2, 7, size=2))
            X, _, _ = make_coclusters(
                (int(rng.integers(100, 400)), int(rng.integers(60, 200))), k, other,
                random_state=seed,
            )  # fmt: skip
            times = []
            for n_jobs in (1, 2):
                begin = time.perf_counter()
                found = suggest_n_clusters(X, criteria=criterion, random_state=seed, n_jobs=n_jobs)
                times.append(time.perf_counter() - begin)
            ranks.append(_rank(found.table, k, other))
            ratios.append(times[0] / times[1])
        line = [criterion, str(n_seeds)]
        line += [f"{np.mean(np.array(ranks) <= limit):.0%}" for limit in (1, 3)]
        line.append(f"{np.median(ratios):.2f}")
        console.print(" | ".join(line))
        yield line


def _rank(table: dict[str, np.ndarray], k: int, other: int) -> int:
    """Return the place of a pair, from 1, or infinity where it was not tried."""
    pairs = list(zip(table["n_row_clusters"], table["n_column_clusters"], strict=True))
    return pairs.index((k, other)) + 1
