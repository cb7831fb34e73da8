"""The whole chain: `neocc fit FILE` and nothing else, against rivals that know how many classes.

What was run is kept in the folder that NEOCC_KEPT names, if any: a run that was broken off goes on.
"""

from __future__ import annotations

import json
import os
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import Memory
from rich.console import Console
from scipy import sparse
from sklearn.cluster import SpectralBiclustering
from sklearn.metrics import adjusted_rand_score
from typer.testing import CliRunner

from benchmarks.choosing.advice import items_of, kmeans, spectral
from benchmarks.choosing.tables import Table, read_tables
from benchmarks.pages import Line
from neocc.cli import app
from neocc.io import load_model

__all__ = ["lines"]

_WORSE = 0.1
_COLUMNS = ["ours", "k-means", "spectral co-clustering", "spectral biclustering"]


def lines(n_seeds: int, console: Console) -> Iterator[Line]:
    """Fit every table as a file; adjusted Rand indices with the classes, means over seeds."""
    yield ["table", "shape", "classes", "found", *_COLUMNS, "said to be unsure"]
    found = []
    for table, X, classes in read_tables():
        k, items = len(np.unique(classes)), items_of(X, table)
        runs = [_run(table.name, seed, table, X, items, classes) for seed in range(n_seeds)]
        number = np.median([run.number for run in runs])
        unsure = float(np.mean([run.unsure for run in runs]))
        scores = np.mean([run.scores for run in runs], axis=0).tolist()
        found.append((scores, runs))
        line = [table.marked, f"{X.shape[0]} x {X.shape[1]}", str(k), f"{number:g}"]
        line += [*(f"{score:.2f}" for score in scores), f"{unsure:.0%}"]
        console.print(" | ".join(line))
        yield line
    means = [f"{mean:.2f}" for mean in np.mean([scores for scores, _ in found], axis=0)]
    yield [f"mean ({len(found)})", "", "", "", *means, ""]
    best = np.mean([max(scores[1:]) for scores, _ in found])
    yield ["mean of the best rival of each", "", "", "", "", f"{best:.2f}", "", "", ""]
    tables = sum(_is_worse(scores) for scores, _ in found)
    worse = [run.unsure for _, runs in found for run in runs if _is_worse(run.scores)]
    what = (
        f"worse than the best by more than {_WORSE}: {tables} tables on average, {len(worse)} runs"
    )
    said = f"{np.mean(worse):.0%}" if worse else ""
    yield [what, *[""] * 7, said]


def _is_worse(scores: list[float]) -> bool:
    return scores[0] < max(scores[1:]) - _WORSE


class Run(NamedTuple):
    """One seed of one table: groups found, whether that was said to be unsure, all scores."""

    number: int
    unsure: bool
    scores: list[float]


@Memory(os.environ.get("NEOCC_KEPT"), verbose=0).cache(ignore=["table", "X", "items", "classes"])
def _run(
    name: str,  # noqa: ARG001 - what is kept is known by it, and by the seed
    seed: int,
    table: Table,
    X: Any,
    items: np.ndarray,
    classes: np.ndarray,
) -> Run:
    """Run the chain and its rivals."""
    labels, answer = _chosen(X, table, seed)
    said = answer["story"]["sure"]
    doubts = (one for one in said if "unclear" in one and table.side in one)
    unsure = any(doubts) or any("little" in one for one in said)
    k = len(np.unique(classes))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = [method(items, k, seed) for method in (kmeans, spectral, _biclustered)]
    scores = [float(adjusted_rand_score(classes, each)) for each in (labels, *theirs)]
    return Run(len(np.unique(labels[labels >= 0])), unsure, scores)


def _chosen(X: Any, table: Table, seed: int) -> tuple[np.ndarray, dict[str, Any]]:
    """Run the command on a file of the data; return labels, -1 for none, and what it said."""
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / "data", Path(folder) / "out"
        if sparse.issparse(X):
            path = path.with_suffix(".npz")
            sparse.save_npz(path, X)
        else:
            path = path.with_suffix(".npy")
            np.save(path, X)
        words = ["fit", path, "--json", "--no-report", "--seed", seed, "-o", out]
        ran = CliRunner().invoke(app, [str(word) for word in words])
        if ran.exit_code:
            raise RuntimeError(ran.stderr)
        model = load_model(out / "model.neocc")
        members = model.row_membership_ if table.side == "rows" else model.column_membership_
        labels = np.where(members.any(axis=1), members.argmax(axis=1), -1)
        return labels, json.loads(ran.stdout)


def _biclustered(items: np.ndarray, k: int, seed: int) -> np.ndarray:
    """Cluster by spectral biclustering of positive data without empty lines."""
    items = items - min(0.0, float(items.min()))
    rows = items.sum(axis=1) > 0
    columns = items[rows].sum(axis=0) > 0
    labels = np.zeros(len(items), dtype=int)
    shape = (k, min(10, int(columns.sum())))
    model = SpectralBiclustering(shape, method="log", random_state=seed)
    labels[rows] = model.fit(items[rows][:, columns] + 1.0).row_labels_
    return labels
