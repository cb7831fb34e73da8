"""Overlap models on planted data: how well each finds what was planted, and which one "auto" names.

Rows of several clusters are means of prototypes in `make_coclusters`; `generated` also makes sums.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from rich.console import Console

from benchmarks.pages import Line
from benchmarks.quality.planted import SETTINGS, both
from neocc import NEOCC
from neocc.core.overlap import OVERLAP_MODELS
from neocc.metrics import omega_index


def lines(n_seeds: int, console: Console) -> Iterator[Line]:
    """Fit every planted setting under every model; omega is a mean over seeds and both sides."""
    yield (
        ["rows x columns", "k x l", "overlap", "outliers", "noise"]
        + [f"omega: {name}" if at == 0 else name for at, name in enumerate(OVERLAP_MODELS)]
        + ["least of average", "outliers found by average"]
    )
    for setting in SETTINGS:
        scores = {name: [] for name in OVERLAP_MODELS}
        found = []
        for seed in range(n_seeds):
            X, U, V = setting.make(seed)
            for name in OVERLAP_MODELS:
                options = {**setting.fractions, "overlap_model": name, "random_state": seed}
                options["refine"] = "thorough"
                model = NEOCC(setting.k, setting.l, **options).fit(X)
                members = (model.row_membership_, model.column_membership_)
                scores[name].append(both(omega_index, (U, V), members))
                if name == "average":
                    out = ~U.any(axis=1)
                    if out.any():
                        found.append(float(model.row_outliers_[out].mean()))
        line = [" x ".join(map(str, setting.shape)), f"{setting.k} x {setting.l}"]
        line += [str(value) for value in setting[3:]]
        line += [f"{np.mean(scores[name]):.3f}" for name in OVERLAP_MODELS]
        line += [f"{min(scores['average']):.3f}", f"{np.mean(found):.2f}" if found else "none"]
        console.print(" | ".join(line))
        yield line


def generated(kind: str, seed: int, k: int, l: int, n: int, m: int, noise: float):  # noqa: E741
    """Draw rows of one prototype, a fifth of two (their mean or sum), and a few scrambled ones."""
    rng = np.random.default_rng([seed, k, n])
    M = 2.0 * rng.normal(size=(k, l))
    columns = np.eye(l)[rng.permutation(m) % l]
    U = np.eye(k, dtype=bool)[rng.permutation(n) % k]
    for p in rng.choice(n, size=round(0.2 * n), replace=False):
        U[p, rng.choice(np.flatnonzero(~U[p]))] = True
    weights = U / U.sum(axis=1, keepdims=True) if kind == "average" else U
    X = weights @ M @ columns.T
    out = rng.choice(n, size=round(0.05 * n), replace=False)
    X[out] = rng.choice(X.ravel(), size=(len(out), m))
    U[out] = False
    return X + noise * rng.normal(size=X.shape), U


_GENERATORS = (
    {"k": 4, "l": 4, "n": 300, "m": 100, "noise": 0.5},
    {"k": 6, "l": 5, "n": 400, "m": 100, "noise": 0.5},
    {"k": 4, "l": 4, "n": 300, "m": 100, "noise": 1.0},
    {"k": 8, "l": 6, "n": 600, "m": 150, "noise": 1.0},
)


def generator_lines(n_seeds: int, console: Console) -> Iterator[Line]:
    """Let "auto" choose the model of data that one of them made."""
    yield ["rows x columns", "k x l", "noise", "made by", "named", "surely", "omega of rows"]
    for options in _GENERATORS:
        for kind in ("average", "sum"):
            named = surely = 0
            scores = []
            for seed in range(n_seeds):
                X, U = generated(kind, seed, **options)
                fractions = {"row_overlap": U.sum() / len(U) - 1.0, "row_outliers": 0.05}
                asked = {"overlap_model": "auto", "refine": "thorough", "random_state": seed}
                model = NEOCC(options["k"], options["l"], **asked, **fractions).fit(X)
                named += model.overlap_choice_.model == kind
                surely += model.overlap_choice_.is_sure
                scores.append(omega_index(U, model.row_membership_))
            line = [f"{options['n']} x {options['m']}", f"{options['k']} x {options['l']}"]
            line += [str(options["noise"]), kind, f"{named} of {n_seeds}", f"{surely} of {n_seeds}"]
            line += [f"{np.mean(scores):.3f}"]
            console.print(" | ".join(line))
            yield line
