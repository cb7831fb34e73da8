"""Overlap models on planted data: how well each finds what was planted, and which one "auto" names.

Rows of several clusters are means of prototypes in `make_coclusters`; `generated` also makes sums,
rows that follow one or the other, and rows that no model assumes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from rich.console import Console

from benchmarks.pages import Line
from benchmarks.quality.planted import SETTINGS, both
from neocc import NEOCC
from neocc.core.overlap import OVERLAP_MODELS, compared_models
from neocc.metrics import omega_index

# Those in which columns overlap, too.
_BOTH_SIDES = [name for name, model in OVERLAP_MODELS.items() if model().both_sides]


def lines(n_seeds: int, console: Console) -> Iterator[Line]:
    """Fit every planted setting under every model; omega is a mean over seeds and both sides."""
    yield (
        ["rows x columns", "k x l", "overlap", "outliers", "noise"]
        + [f"omega: {name}" if at == 0 else name for at, name in enumerate(_BOTH_SIDES)]
        + ["least of average", "outliers found by average"]
    )
    for setting in SETTINGS:
        scores = {name: [] for name in _BOTH_SIDES}
        found = []
        for seed in range(n_seeds):
            X, U, V = setting.make(seed)
            for name in _BOTH_SIDES:
                options = {**setting.fractions, "overlap_model": name, "random_state": seed}
                model = NEOCC(setting.k, setting.l, **options).fit(X)
                members = (model.row_membership_, model.column_membership_)
                scores[name].append(both(omega_index, (U, V), members))
                if name == "average":
                    out = ~U.any(axis=1)
                    if out.any():
                        found.append(float(model.row_outliers_[out].mean()))
        line = [" x ".join(map(str, setting.shape)), f"{setting.k} x {setting.l}"]
        line += [str(value) for value in setting[3:]]
        line += [f"{np.mean(scores[name]):.3f}" for name in _BOTH_SIDES]
        line += [f"{min(scores['average']):.3f}", f"{np.mean(found):.2f}" if found else "none"]
        console.print(" | ".join(line))
        yield line


class Planted(NamedTuple):
    """What is planted: rows of one prototype, and a fifth of two."""

    k: int
    l: int  # noqa: E741 (the paper's letter)
    n: int
    m: int
    noise: float


OFF_MODEL = ("unequal", "max", "dense", "scale")
"""Rows of two clusters are a mean with unequal weights, or the larger of both, entry by entry; the
rows of one cluster are nearly duplicates; or rows differ in scale."""


def generated(kind: str, seed: int, planted: Planted) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows of one prototype, a fifth of two, and a few scrambled ones."""
    k, l, n, m, noise = planted  # noqa: E741
    rng = np.random.default_rng([seed, k, n])
    M = 2.0 * rng.normal(size=(k, l))
    M = np.abs(M) if kind == "max" else M
    columns = np.eye(l)[rng.permutation(m) % l]
    U = np.eye(k, dtype=bool)[rng.permutation(n) % k]
    for p in rng.choice(n, size=round(0.2 * n), replace=False):
        U[p, rng.choice(np.flatnonzero(~U[p]))] = True
    lines = np.stack([_line(kind, M[has], rng) for has in U])
    X = lines @ columns.T
    out = rng.choice(n, size=round(0.05 * n), replace=False)
    X[out] = rng.choice(X.ravel(), size=(len(out), m))
    U[out] = False
    spread = np.full(n, noise)
    if kind == "dense":
        spread[U[:, 0] & (U.sum(axis=1) == 1)] *= 0.05
    X = X + spread[:, None] * rng.normal(size=X.shape)
    return X * np.exp(0.3 * rng.normal(size=(n, 1))) if kind == "scale" else X, U


def _line(kind: str, prototypes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return what a row of one or two prototypes is, by column cluster."""
    if len(prototypes) == 1:
        return prototypes[0]
    if kind == "sum":
        return prototypes.sum(axis=0)
    if kind == "max":
        return prototypes.max(axis=0)
    if kind == "either":
        follows = rng.integers(2, size=prototypes.shape[1])
        if follows.min() == follows.max():
            follows[rng.integers(len(follows))] ^= 1
        return prototypes[follows, np.arange(len(follows))]
    weight = rng.uniform(0.3, 0.7) if kind == "unequal" else 0.5
    return weight * prototypes[0] + (1.0 - weight) * prototypes[1]


_GENERATORS = (
    Planted(4, 4, 300, 100, 0.5),
    Planted(6, 5, 400, 100, 0.5),
    Planted(4, 4, 300, 100, 1.0),
    Planted(8, 6, 600, 150, 1.0),
)


_EXPECTED = {"unequal": "average", "max": "either", "dense": "average", "scale": "average"}
"""The model whose rows are most like those that none of them makes."""


def name_lines(n_seeds: int, console: Console) -> Iterator[Line]:
    """Let "auto" name the model of data of the first size, many times; one plain start each."""
    yield ["rows x columns", "k x l", "noise", "made by", "most like", "auto names", "share"]
    planted = _GENERATORS[0]
    for kind in (*compared_models("mean"), *OFF_MODEL):
        named = Counter()
        for seed in range(n_seeds):
            X, U = generated(kind, seed, planted)
            options = {"row_overlap": U.sum() / len(U) - 1.0, "row_outliers": 0.05}
            options |= {"overlap_model": "auto", "n_init": 1, "refine": False}
            model = NEOCC(planted.k, planted.l, random_state=seed, **options).fit(X)
            named[model.overlap_choice_.model] += 1
        expected = _EXPECTED.get(kind, kind)
        line = [f"{planted.n} x {planted.m}", f"{planted.k} x {planted.l}", str(planted.noise)]
        line += [kind, expected, _counted(named), f"{named[expected] / n_seeds:.0%}"]
        console.print(" | ".join(line))
        yield line


def _counted(named: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in named.most_common())


def generator_lines(n_seeds: int, console: Console) -> Iterator[Line]:
    """Let "auto" choose the model of data that one of them made, or none; the first also by all."""
    yield (
        [*("rows x columns", "k x l", "noise", "made by", "auto names", "surely")]
        + ["omega of rows: auto", *OVERLAP_MODELS]
    )
    cases = [(each, kind) for each in _GENERATORS for kind in compared_models("mean")]
    for planted, kind in [(_GENERATORS[0], kind) for kind in OFF_MODEL] + cases:
        tried = OVERLAP_MODELS if planted == _GENERATORS[0] else ()
        scores = {name: [] for name in ("auto", *tried)}
        named, surely = Counter(), 0
        for seed in range(n_seeds):
            X, U = generated(kind, seed, planted)
            fractions = {"row_overlap": U.sum() / len(U) - 1.0, "row_outliers": 0.05}
            for name, found in scores.items():
                options = {"overlap_model": name, "n_init": 4, "random_state": seed, **fractions}
                model = NEOCC(planted.k, planted.l, **options).fit(X)
                found.append(omega_index(U, model.row_membership_))
                if name == "auto":
                    named[model.overlap_choice_.model] += 1
                    surely += model.overlap_choice_.is_sure
        line = [f"{planted.n} x {planted.m}", f"{planted.k} x {planted.l}", str(planted.noise)]
        line += [kind, _counted(named), f"{surely} of {n_seeds}"]
        means = {name: f"{np.mean(found):.3f}" for name, found in scores.items()}
        line += [means.get(name, "") for name in ("auto", *OVERLAP_MODELS)]
        console.print(" | ".join(line))
        yield line
