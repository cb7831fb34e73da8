"""Objectives of counts on planted matrices, beside what any method could find."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from rich.console import Console
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import SpectralCoclustering
from sklearn.feature_extraction.text import TfidfTransformer

from benchmarks.pages import Line
from neocc import NEOCC, objective_value
from neocc.datasets import make_count_coclusters
from neocc.metrics import omega_index

Found = tuple[np.ndarray, np.ndarray]
Method = Callable[..., Found]


def neocc(X: Any, k: int, seed: int, *, weigh: bool = False, **options: Any) -> Found:
    """Return the memberships of rows and columns; weighed by TF-IDF if asked."""
    if weigh:
        X = TfidfTransformer().fit_transform(X)
    model = NEOCC(k, k, random_state=seed, **options).fit(X)
    return model.row_membership_, model.column_membership_


def spectral(X: Any, k: int, seed: int, **_: Any) -> Found:
    """Return the clusters of scikit-learn's spectral co-clustering; empty lines go to the first."""
    rows, columns = (np.asarray(X.sum(axis=axis)).ravel() > 0 for axis in (1, 0))
    model = SpectralCoclustering(k, random_state=seed).fit(sparse.csr_matrix(X)[rows][:, columns])
    U, V = (np.eye(1, k, dtype=bool).repeat(len(each), axis=0) for each in (rows, columns))
    U[rows], V[columns] = model.rows_.T, model.columns_.T
    return U, V


METHODS: dict[str, Method] = {
    "poisson repeat": partial(neocc, objective="poisson", overlap_model="repeat"),
    "poisson share": partial(neocc, objective="poisson", overlap_model="share"),
    "poisson average": partial(neocc, objective="poisson", overlap_model="average"),
    "diagonal share": partial(neocc, objective="diagonal", overlap_model="share"),
    "modularity share": partial(neocc, objective="modularity", overlap_model="share"),
    "NEO-CC-M, TF-IDF": partial(neocc, weigh=True),
    "spectral co-clustering": spectral,
}
# Every block has a lift or a diagonal, the contrast of lifts, and how many of the cells are filled.
KINDS = (("blocks", 1.0), ("diagonal", 1.0), ("diagonal", 1.5))
SETTINGS = [(*kind, fill) for kind in KINDS for fill in (0.01, 0.02, 0.05, 0.1)]
FAR_APART = [
    (structure, contrast, fill)
    for structure in ("blocks", "diagonal")
    for contrast in (2.0, 3.0, 4.0)
    for fill in (0.01, 0.02, 0.05, 0.1)
]
LIMITED = [(*kind, fill) for kind in KINDS[:2] for fill in (0.01, 0.03, 0.1)]
MARGINS = 0.5
SHAPE, CLUSTERS = (1000, 500), 5
FRACTIONS = {"row_overlap": 0.1, "row_outliers": 0.05}
OPTIONS: dict[str, Any] = {**FRACTIONS, "n_init": 3}
_TOLD, _TRUE = "told all", "poisson average"
_LIMITS = ("planted", "fitted", "from modularity", "thorough", "from the planted")


def _planted(structure: str, contrast: float, fill: float, seed: int) -> Any:
    shape = (SHAPE, CLUSTERS, CLUSTERS)
    how: Any = {"structure": structure, "contrast": contrast, "fill": fill, "margins": MARGINS}
    return make_count_coclusters(*shape, **how, **FRACTIONS, random_state=seed, return_bunch=True)


def _bayes(planted: Any, seed: int) -> np.ndarray:
    """Return the most probable clusters of rows, told all but who is where.

    Rates, column clusters, the sizes of rows and columns that rates are multiplied by, and how many
    rows are in no cluster, in one, in two and in three: no method can be expected to do better.
    """
    # As `make_count_coclusters` draws them.
    rng = np.random.default_rng(np.random.RandomState(seed).randint(np.iinfo(np.int32).max))
    drawn = rng.spawn(5)[3]
    a, b = (np.exp(MARGINS * drawn.standard_normal(size)) for size in SHAPE)
    X, U, V = planted.data, planted.row_membership, planted.column_membership
    sizes = range(4)
    sets = np.array(
        [np.isin(range(CLUSTERS), each) for n in sizes for each in combinations(range(CLUSTERS), n)]
    )

    def lifts(members: np.ndarray) -> np.ndarray:
        rows, columns = (m / np.maximum(m.sum(axis=1, keepdims=True), 1) for m in (members, V))
        inside = np.logical_and.outer(members.any(axis=1), V.any(axis=1))
        return np.where(inside, rows @ planted.block_lifts @ columns.T, 1.0)

    scale = X.sum() / (a @ lifts(U) @ b)
    likelihood = X @ np.log(lifts(sets)).T - scale * np.multiply.outer(a, lifts(sets) @ b)
    numbers, of_sets = U.sum(axis=1), sets.sum(axis=1)
    share = np.array([np.mean(numbers == n) / np.sum(of_sets == n) for n in sizes])
    found: np.ndarray = sets[(likelihood + np.log(np.maximum(share, 1e-300))[of_sets]).argmax(1)]
    return found


def _at_most_two(U: np.ndarray) -> np.ndarray:
    """Return memberships of which rows keep two: rates of no more are averaged."""
    found: np.ndarray = U & (U.cumsum(axis=1) <= 2)
    return found


def _value(X: Any, U: np.ndarray, V: np.ndarray) -> float:
    """Return J of the model that counts are drawn from."""
    return objective_value(X, U, V, "poisson", overlap_model="average")


def _planted_value(planted: Any) -> float:
    U = _at_most_two(planted.row_membership)
    return _value(planted.data, U, planted.column_membership)


def planted_lines(n_seeds: int, console: Console) -> Iterator[Line]:
    """Fit planted counts: omega of the rows, and the share of planted outliers that are found.

    Where J over that of the planted memberships is above 1, J prefers the fit to the truth.
    """
    yield [
        "structure",
        "contrast",
        "fill",
        *(f"omega: {name}" for name in METHODS),
        "omega: told all",
        "outliers: share",
        "average",
        "told all",
        "J: average / planted",
    ]
    for structure, contrast, fill in SETTINGS:
        scores: dict[str, list[float]] = {name: [] for name in (*METHODS, _TOLD)}
        outliers: dict[str, list[float]] = {name: [] for name in ("poisson share", _TRUE, _TOLD)}
        ratios = []
        for seed in range(n_seeds):
            planted = _planted(structure, contrast, fill, seed)
            X, U = planted.data, planted.row_membership
            pairs = {name: each(X, CLUSTERS, seed, **OPTIONS) for name, each in METHODS.items()}
            ratios.append(_value(X, *pairs[_TRUE]) / _planted_value(planted))
            found = {name: members for name, (members, _) in pairs.items()}
            for name, members in {**found, _TOLD: _bayes(planted, seed)}.items():
                scores[name].append(omega_index(U, members))
                if name in outliers:
                    outliers[name].append(float((~members.any(axis=1))[~U.any(axis=1)].mean()))
        line = [structure, f"{contrast:g}", f"{fill:.0%}"]
        line += [f"{np.mean(each):.3f}" for each in scores.values()]
        line += [f"{np.mean(each):.2f}" for each in outliers.values()]
        line.append(f"{np.mean(ratios):.3f}")
        console.print(" | ".join(line))
        yield line


def contrast_lines(n_seeds: int, console: Console) -> Iterator[Line]:
    """Fit planted counts whose lifts are ever farther apart, beside the rule that is told all."""
    yield ["structure", "contrast", "fill", "rows without counts", f"omega: {_TRUE}", "told all"]
    for structure, contrast, fill in FAR_APART:
        scores, empty = [], 0.0
        for seed in range(n_seeds):
            planted = _planted(structure, contrast, fill, seed)
            X, U = planted.data, planted.row_membership
            found = METHODS[_TRUE](X, CLUSTERS, seed, **OPTIONS)[0]
            scores.append([omega_index(U, each) for each in (found, _bayes(planted, seed))])
            empty += float((X.sum(axis=1) == 0).mean()) / n_seeds
        line = [structure, f"{contrast:g}", f"{fill:.0%}", f"{empty:.1%}"]
        line += [f"{each:.3f}" for each in np.mean(scores, axis=0)]
        console.print(" | ".join(line))
        yield line


def limit_lines(n_seeds: int, console: Console) -> Iterator[Line]:
    """Compare fits of planted counts with the planted memberships, and with fits from these.

    Rates of two clusters at most are averaged, so that rows planted in three lose one. "Told" is
    one step of the rows, given the planted columns and the rates of the planted blocks.
    """
    yield [
        "structure",
        "fill",
        "counts of a row",
        *(f"J: {name}" for name in _LIMITS),
        *(f"omega: {name}" for name in (*_LIMITS[1:], "told")),
    ]
    for structure, contrast, fill in LIMITED:
        costs, scores, n_counts = [], [], 0.0
        for seed in range(n_seeds):
            planted = _planted(structure, contrast, fill, seed)
            X, U, V = planted.data, planted.row_membership, planted.column_membership
            n_counts += X.sum() / X.shape[0] / n_seeds
            at_most_two = _at_most_two(U)
            model = NEOCC(
                CLUSTERS,
                CLUSTERS,
                objective="poisson",
                overlap_model="average",
                row_overlap=at_most_two.sum() / len(U) - 1.0,
                row_outliers=FRACTIONS["row_outliers"],
                random_state=seed,
                n_init=OPTIONS["n_init"],
            )
            given = {"init": (at_most_two, V), "n_init": 1, "refine": False}
            ways: list[dict[str, Any]] = [
                {},
                {"init": "modularity"},
                {"refine": "thorough"},
                given,
                {**given, "max_iter": 1},
            ]
            fits = [clone(model).set_params(**options).fit(X) for options in ways]
            costs.append([_planted_value(planted), *(fit.objective_ for fit in fits[:4])])
            scores.append([omega_index(U, fit.row_membership_) for fit in fits])
        line = [structure, f"{fill:.0%}", f"{n_counts:.1f}"]
        line += [f"{each:,.0f}" for each in np.mean(costs, axis=0)]
        line += [f"{each:.3f}" for each in np.mean(scores, axis=0)]
        console.print(" | ".join(line))
        yield line
