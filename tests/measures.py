"""Small fits of counts and of observed cells, made once, for those who describe and draw them."""

from __future__ import annotations

from functools import cache

import numpy as np

from neocc import NEOCC
from neocc.datasets import make_count_coclusters

COUNT_OBJECTIVES = ("poisson", "diagonal", "modularity")


@cache
def counts(objective="poisson", overlap=0.0):
    """A fit of counts, with outliers, and its matrix: a row and a column without any counts."""
    X, _, _ = make_count_coclusters(
        (60, 30), 3, 3, fill=0.3, contrast=1.0, structure="diagonal", random_state=0
    )
    X = X.toarray()
    X[7], X[:, 4] = 0, 0
    fractions = {"row_overlap": overlap - 0.05, "row_outliers": 0.05}
    model = NEOCC(3, 3, objective=objective, **fractions, n_init=1, random_state=0)
    return model.fit(X), X


@cache
def ratings(remove_effects=True, overlap_model="share", overlap=0.0, **options):
    """A fit of a few observed cells, with outliers, and its matrix: NaN where nothing is known."""
    rng = np.random.default_rng(0)
    tastes, kinds = rng.integers(3, size=60), rng.integers(3, size=40)
    liking = np.array([[1.5, 0, -1.5], [-1.5, 1.5, 0], [0, -1.5, 1.5]])[tastes][:, kinds]
    X = 3 + liking + rng.normal(scale=0.3, size=(60, 40))
    X[rng.random(X.shape) < 0.6] = np.nan
    X[5] = np.nan
    model = NEOCC(
        *(3, 3),
        missing="ignore",
        remove_effects=remove_effects,
        overlap_model=overlap_model,
        row_overlap=overlap - 0.05,
        row_outliers=0.05,
        n_init=1,
        random_state=0,
        **options,
    )
    return model.fit(X), X
