"""A study in the manner of the paper's, on small planted matrices that need no network.

Everything is importable by name: processes of a run must be able to find it.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import numpy as np
from scipy import sparse

from neocc.datasets import DatasetError
from neocc.paper._data import CHOSEN, DataSet
from neocc.paper._study import Study
from neocc.paper._systems import SYSTEMS, System

sys.path.insert(0, str(Path(__file__).parent))


def blocks(seed, n_rows=40, n_columns=24):
    """Return a matrix with two overlapping groups of rows and two of columns, and the groups."""
    rng = np.random.default_rng(seed)
    rows = np.array([np.arange(n_rows) < 0.6 * n_rows, np.arange(n_rows) >= 0.4 * n_rows]).T
    columns = np.array(
        [np.arange(n_columns) < 0.55 * n_columns, np.arange(n_columns) >= 0.45 * n_columns]
    ).T
    # What belongs to both groups lies halfway between them.
    shares = [members / members.sum(axis=1, keepdims=True) for members in (rows, columns)]
    X = 5.0 * shares[0] @ shares[1].T + rng.normal(scale=0.2, size=(n_rows, n_columns))
    return X, rows, columns


def genes():
    X, rows, _ = blocks(0)
    return X, rows


def films(seed):
    X, _, columns = blocks(seed)
    return sparse.csr_array(np.maximum(X.round(), 0) + np.eye(*X.shape)), columns


def absent():
    raise DatasetError("There is no copy of this data set. Download it, or name a folder.")


YEAST = DataSet("yeast", genes, "rows", 2, 2, other_overlap=0.1, printed="yeast")
FILMS = [
    DataSet(
        name,
        partial(films, seed),
        "columns",
        2,
        2,
        treatments=("raw", CHOSEN),
        printed=printed,
        tried=("raw", CHOSEN, "double-center", "column-tfidf"),
    )
    for seed, (name, printed) in enumerate({"ml-a": "ML1", "ml-b": "ML2"}.items())
]
OTHER = DataSet("other", genes, "rows", 2, 3, treatments=("column-standardize",))

FEW = {name: SYSTEMS[name] for name in ("MSSR2", "k-means", "NEO-lrsdp", "NEO-CC-M", "NEO-CC-RCM")}


def make_study(seed=0, **more):
    """Return a study that runs within seconds."""
    settings = {
        "seed": seed,
        "quick": True,
        "n_trials": 2,
        "data_sets": {data.name: data for data in (YEAST, FILMS[0], OTHER)},
        "systems": FEW,
        "tried_systems": ("MSSR2", "k-means", "NEO-CC-M", "NEO-CC-RCM"),
        "picture_of": "ml-a",
    }
    return Study(**{**settings, **more})


def small_study(seed=0, **more):
    """Return a study of a few trials."""
    names = ("k-means", "NEO-CC-M")
    settings = {
        "data_sets": {"yeast": YEAST},
        "systems": {name: SYSTEMS[name] for name in names},
        "picture_of": None,
        "curves_of": None,
    }
    return make_study(seed, **{**settings, **more})


class Broken:
    """An estimator that cannot be fitted."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def get_params(self, deep=True):
        return {"random_state": self.random_state}

    def set_params(self, random_state):
        self.random_state = random_state
        return self

    def fit(self, X):
        raise ValueError("there is something about this matrix")


BROKEN = System("broken", Broken, lambda task: {})
