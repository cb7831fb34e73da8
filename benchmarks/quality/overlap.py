"""Overlap and outliers that "auto" finds: on planted data, on data without overlap, and the time.

The rule was tuned on rows that are means of two prototypes (300 x 100, 60 x 400, 1000 x 40 and
200 x 60, k = 3 to 5, seeds 101 to 160; 500 x 240 with a fifth of the cells, 420 x 70 and 1300 x 45,
seeds 77000 and 88000 and on; the shapes below, seeds 1000 to 1060 and 2000 to 2060, then 5000 to
5960, 31000 to 32960, 90000 to 90960, 160000 to 163000, and 200000 to 232000, where the causes of
misses were looked for; uneven noise, seeds 200000 to 200040 and 500000 to 500100), and on wine,
digits, leukemia, iris and breast cancer. Of the seeds of the planted data here only one thing was
decided, against a slower search that misses less. The real tables are among those it was tuned on.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from scipy import sparse
from sklearn.datasets import load_digits, load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import scale

from benchmarks.pages import Line
from neocc import NEOCC
from neocc.core.objectives import OBJECTIVES
from neocc.datasets import load_leukemia, make_coclusters
from neocc.selection._data import opened, read
from neocc.selection._together import Asked, estimate_sides

AUTO = dict.fromkeys(("row_overlap", "row_outliers", "column_overlap", "column_outliers"), "auto")
OVERLAPS, NOISES = (0.0, 0.1, 0.2, 0.4), (0.5, 1.0, 2.0)
# Share of outliers, and whether they are far or scrambled: by turns.
OUTLIERS = ((0.0, True), (0.05, True), (0.1, False), (0.0, False), (0.1, True), (0.05, False))
_FIRST_SEED = 300000
NEAR_OVERLAP, NEAR_OUTLIERS = 0.05, 0.02


class Shape(NamedTuple):
    """What is planted, and by what: `means_of_two`, or `make_coclusters` on both sides."""

    name: str
    n: int
    m: int
    k: int
    l: int  # noqa: E741 (the paper's letter)
    density: float = 1.0
    both: bool = False

    def make(self, overlap: float, noise: float, outliers: tuple[float, bool], seed: int) -> Any:
        """Return X, U and V."""
        if not self.both:
            return means_of_two(self, overlap, noise, outliers, seed)
        share = outliers[0]
        fractions = {"row_overlap": overlap - share, "row_outliers": share}
        fractions |= {"column_overlap": overlap / 2}
        return make_coclusters(
            (self.n, self.m), self.k, self.l, **fractions, noise=noise, random_state=seed
        )


SHAPES = (
    Shape("means of two", 400, 80, 4, 3),
    Shape("means of two, wide", 120, 600, 3, 4),
    Shape("means of two, tall", 1500, 50, 6, 4),
    Shape("means of two, 60 rows", 60, 2000, 3, 3),
    Shape("means of two, ten clusters", 800, 150, 10, 6),
    Shape("means of two, sparse", 600, 300, 4, 4, density=0.2),
    Shape("make_coclusters, both sides", 250, 120, 4, 3, both=True),
)


def means_of_two(
    shape: Shape, overlap: float, noise: float, outliers: tuple[float, bool], seed: int
) -> tuple[Any, np.ndarray, np.ndarray]:
    """Plant rows in one cluster, rows that are the mean of two, and outliers; columns are disjoint.

    Prototypes are normal with standard deviation 2. An outlier has values beyond all prototypes
    with random signs (far), or those of other rows in random places (scrambled).
    """
    _, n, m, k, l, density, _ = shape  # noqa: E741
    rng = np.random.default_rng(seed)
    prototypes = 2.0 * rng.normal(size=(k, l))
    share, far = outliers
    order = rng.permutation(n)
    out, rest = np.split(order, [round(share * n)])
    U = np.zeros((n, k), dtype=bool)
    U[rest, np.arange(len(rest)) % k] = True
    for row in rng.choice(rest, round(overlap * n), replace=False):
        U[row, rng.choice(np.flatnonzero(~U[row]))] = True
    V = np.eye(l, dtype=bool)[rng.permutation(m) % l]
    means = U / np.maximum(U.sum(axis=1, keepdims=True), 1) @ prototypes @ V.T
    if far:
        means[out] = (np.abs(prototypes).max() + 3) * rng.choice([-1, 1], size=(len(out), m))
    else:
        means[out] = rng.choice(means[rest].ravel(), size=(len(out), m))
    X = means + noise * rng.normal(size=(n, m))
    if density < 1:
        X = sparse.csr_array(np.where(rng.random((n, m)) < density, X, 0.0))
    return X, U, V


def planted_lines(n_seeds: int, console: Console) -> Iterator[Line]:
    """Compare estimates with what was planted: all overlaps and noises, outliers by turns."""
    yield [
        "data",
        "size, k x l",
        "noise",
        "runs",
        "overlap within 0.05",
        "largest error",
        "disjoint sides found exactly disjoint",
        "outliers within 0.02",
        "largest error",
    ]
    every, means = [], []
    for shape, noise in product(SHAPES, NOISES):
        found = [
            errors(shape, overlap, noise, OUTLIERS[(seed + place) % len(OUTLIERS)], seed)
            for seed in range(n_seeds)
            for place, overlap in enumerate(OVERLAPS)
        ]
        every.append(np.concatenate(found))
        means += _mean_errors(found)
        size = f"{shape.n} x {shape.m}, {shape.k} x {shape.l}"
        line = [shape.name, size, str(noise), *_summary(every[-1])]
        console.print(" | ".join(line))
        yield line
    yield ["**all**", "", "", *_summary(np.concatenate(every))]
    of_overlap, of_outliers = np.array(means).T
    line = ["**mean errors over seeds, by overlap and side**", "", "", f"{len(means)} settings"]
    line += [f"{np.mean(of_overlap <= NEAR_OVERLAP):.1%}", f"{of_overlap.max():.3f}", ""]
    yield [*line, f"{np.mean(of_outliers <= NEAR_OUTLIERS):.1%}", f"{of_outliers.max():.3f}"]


def _mean_errors(found: list[np.ndarray]) -> list[np.ndarray]:
    """Return the mean absolute errors of overlap and outliers over seeds, for rows and columns."""
    by_overlap = np.abs(np.array(found)[:, :, :2]).reshape(-1, len(OVERLAPS), 2, 2).mean(axis=0)
    return list(by_overlap.reshape(-1, 2))


def seed_of(seed: int, overlap: float, noise: float) -> int:
    """Return the seed of the data, and of the estimate, of a run."""
    return _FIRST_SEED + 100 * seed + round(100 * overlap + 10 * noise)


def errors(
    shape: Shape, overlap: float, noise: float, outliers: tuple[float, bool], seed: int
) -> np.ndarray:
    """Return errors of overlap and outliers, and what was planted; a line for each side."""
    number = seed_of(seed, overlap, noise)
    X, *truth = shape.make(overlap, noise, outliers, number)
    asked = Asked(shape.k), Asked(shape.l)
    with opened(read(X), None) as engine:
        rng = np.random.default_rng(number)
        found = estimate_sides(engine, OBJECTIVES["mean"], asked, rng)
    lines = []
    for members, each in zip(truth, found.values(), strict=True):
        n, share = len(members), np.mean(~members.any(axis=1))
        extra = (members.sum() - n) / n + share
        mine = each.overlap + each.outliers
        errors = each.overlap - (extra - share), each.outliers - share
        lines.append([*errors, extra, mine])
    return np.array(lines)


def _summary(found: np.ndarray) -> Line:
    overlap, outliers, planted, mine = found.T
    disjoint = mine[np.abs(planted) < 1e-9]
    near = np.abs(overlap) <= NEAR_OVERLAP + 1e-9
    few = np.abs(outliers) <= NEAR_OUTLIERS + 1e-9
    return [
        str(len(found) // 2),
        f"{near.mean():.1%}",
        f"{np.abs(overlap).max():.3f}",
        f"{np.mean(np.abs(disjoint) < 1e-9):.1%}" if len(disjoint) else "",
        f"{few.mean():.1%}",
        f"{np.abs(outliers).max():.3f}",
    ]


UNEVEN = (
    "same everywhere",
    "of rows",
    "of columns",
    "of blocks",
    "of every row",
    "tails",
    "0 or 1",
)
_UNEVEN_SHAPES = ((300, 60, 5, 4), (200, 80, 3, 3), (120, 300, 4, 5), (600, 100, 4, 4))


def uneven(kind: str, seed: int) -> tuple[np.ndarray, int, int]:
    """Return disjoint blocks whose noise differs, or with heavy tails, or of 0 and 1; and k, l."""
    rng = np.random.default_rng(seed)
    n, m, k, l = _UNEVEN_SHAPES[seed % len(_UNEVEN_SHAPES)]  # noqa: E741
    rows, columns = rng.permutation(n) % k, rng.permutation(m) % l
    means = rng.normal(scale=2.0, size=(k, l))[rows][:, columns]
    if kind == "0 or 1":
        chances = rng.uniform(0.05, 0.95, (k, l))[rows][:, columns]
        return (rng.random((n, m)) < chances).astype(float), k, l
    noise = rng.standard_t(5, size=(n, m)) if kind == "tails" else rng.normal(size=(n, m))
    if kind == "of rows":
        noise *= rng.uniform(0.5, 2.0, (k, 1))[rows]
    elif kind == "of columns":
        noise *= rng.uniform(0.5, 2.0, (1, l))[:, columns]
    elif kind == "of blocks":
        noise *= rng.uniform(0.5, 2.0, (k, l))[rows][:, columns]
    elif kind == "of every row":
        noise *= rng.lognormal(sigma=0.3, size=(n, 1))
    return means + noise, k, l


def uneven_lines(n_seeds: int, console: Console) -> Iterator[Line]:
    """Count false overlap and false outliers in disjoint data without outliers."""
    yield ["noise", "sides", "without overlap", "without outliers", "most outliers found"]
    for kind in UNEVEN:
        found = []
        for seed in range(_FIRST_SEED, _FIRST_SEED + n_seeds):
            X, *numbers = uneven(kind, seed)
            asked = Asked(numbers[0]), Asked(numbers[1])
            with opened(read(X), None) as engine:
                rng = np.random.default_rng(seed)
                sides = estimate_sides(engine, OBJECTIVES["mean"], asked, rng).values()
            found += [(each.overlap + each.outliers, each.outliers) for each in sides]
        overlap, outliers = np.array(found).T
        line = [kind, str(len(found)), f"{np.mean(np.abs(overlap) < 1e-9):.1%}"]
        line += [f"{np.mean(outliers == 0):.1%}", f"{outliers.max():.3f}"]
        console.print(" | ".join(line))
        yield line


def real_lines(n_seeds: int, console: Console) -> Iterator[Line]:
    """Compare fits with "auto" and disjoint fits by the known classes of real tables."""
    yield ["data", "k x l", "overlap found", "outliers found", "ARI, disjoint", "ARI, auto"]
    for name, X, classes, side, k, l in _tables():  # noqa: E741
        overlaps, outliers, scores = [], [], []
        for seed in range(n_seeds):
            options = {"overlap_model": "average", "refine": "thorough", "random_state": seed}
            models = [NEOCC(k, l, **options, **given).fit(X) for given in ({}, AUTO)]
            estimates = models[1].row_estimate_, models[1].column_estimate_
            overlaps.append([each.overlap + each.outliers for each in estimates])
            outliers.append([each.outliers for each in estimates])
            scores.append([adjusted_rand_score(classes, _labels(each, side)) for each in models])
        line = [name, f"{k} x {l}", _highest(overlaps), _highest(outliers)]
        line += [f"{score:.3f}" for score in np.mean(scores, axis=0)]
        console.print(" | ".join(line))
        yield line


def _tables() -> Iterator[tuple[str, np.ndarray, np.ndarray, str, int, int]]:
    wine, digits, leukemia = load_wine(), load_digits(), load_leukemia()
    yield "wine", wine.data, wine.target, "row", 3, 3
    yield "wine, standardised", scale(wine.data), wine.target, "row", 3, 3
    yield "digits", digits.data, digits.target, "row", 10, 10
    classes = leukemia.column_membership.argmax(axis=1)
    yield "leukemia, logarithms", np.log(leukemia.data), classes, "column", 4, 3
    yield "leukemia", leukemia.data, classes, "column", 4, 3
    logs = np.log2(leukemia.data.astype(float))
    logs -= logs.mean(axis=1, keepdims=True)
    for name, table in (("", logs), (", samples centred, too", logs - logs.mean(axis=0))):
        genes = np.argsort(-table.var(axis=1))[:500]
        yield f"leukemia, 500 genes, centred{name}", table[genes], classes, "column", 4, 3


def _labels(model: NEOCC, side: str) -> np.ndarray:
    """Return the first cluster of each item, -1 for an outlier."""
    members = getattr(model, f"{side}_membership_")
    return np.where(members.any(axis=1), members.argmax(axis=1), -1)


def _highest(pairs: list[list[float]]) -> str:
    rows, columns = np.max(pairs, axis=0)
    return f"rows {rows:.3g}, columns {columns:.3g}"


def time_lines(n_seeds: int, console: Console) -> Iterator[Line]:
    """Time estimates against thorough fits with the numbers that were planted."""
    yield ["data", "size, k x l", "overlap", "estimate", "fit with the numbers", "ratio"]
    for shape, overlap in product(SHAPES, (0.0, 0.2)):
        times = []
        for seed in range(n_seeds):
            X, U, V = shape.make(overlap, 1.0, OUTLIERS[1 if overlap else 0], _FIRST_SEED + seed)
            fractions = {}
            for name, members in (("row", U), ("column", V)):
                fractions[f"{name}_overlap"] = (members.sum() - len(members)) / len(members)
                fractions[f"{name}_outliers"] = np.mean(~members.any(axis=1))
            model = NEOCC(
                shape.k, shape.l, overlap_model="average", refine="thorough", random_state=seed
            )
            begin = time.process_time()
            model.set_params(**fractions).fit(X)
            middle = time.process_time()
            with opened(read(X), 1) as engine:
                rng = np.random.default_rng(seed)
                estimate_sides(engine, OBJECTIVES["mean"], (Asked(shape.k), Asked(shape.l)), rng)
            times.append([time.process_time() - middle, middle - begin])
        mine, fit = np.median(times, axis=0)
        size = f"{shape.n} x {shape.m}, {shape.k} x {shape.l}"
        line = [shape.name, size, str(overlap), f"{mine:.2f} s", f"{fit:.2f} s"]
        line.append(f"{mine / fit:.2f}")
        console.print(" | ".join(line))
        yield line
