"""Groups of films beside their genres, on the stand-ins for the paper's subsets of MovieLens.

Co-clusterings do not see the genres but for their number and how much they overlap. A classifier
that learns the genres of other films from the same ratings shows how much there is to be found.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from rich.console import Console
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import normalize

from benchmarks.pages import Line
from benchmarks.predictors import Array
from benchmarks.quality.movielens import NAMES, matrices
from neocc import NEOCC
from neocc.datasets import load_movielens_subset
from neocc.metrics import omega_index

IGNORE = {"missing": "ignore", "remove_effects": True}
SYSTEMS: dict[str, tuple[str, dict[str, Any]]] = {
    "plain": ("raw", {}),
    "plain, columns of norm 1": ("columns of norm 1", {}),
    "observed, share": ("raw", {**IGNORE, "overlap_model": "share"}),
    "observed, average": ("raw", {**IGNORE, "overlap_model": "average"}),
}
N_FOLDS = 5


def genre_lines(n_seeds: int, console: Console) -> Iterator[Line]:
    """Return the mean omega index of each system over seeds, and of classifiers."""
    yield ["films", *SYSTEMS, "classifier: ratings", "classifier: who rated", "classifier: rest"]
    for name in NAMES:
        data, setting = matrices(name)
        genres = load_movielens_subset(name).column_membership
        line = [f"{name} ({len(genres)} films, {genres.shape[1]} genres)"]
        for kind, options in SYSTEMS.values():
            found = []
            for seed in range(n_seeds):
                model = NEOCC(**setting, **options, n_init=3, n_jobs=1, random_state=seed)
                found.append(omega_index(genres, model.fit(data[kind]).column_membership_))
            line.append(f"{np.mean(found):.3f}")
        for features in film_features(data["raw"]):
            scores = [omega_index(genres, classified(features, genres, s)) for s in range(n_seeds)]
            line.append(f"{np.mean(scores):.3f}")
        console.print(" | ".join(line), highlight=False)
        yield line


def film_features(ratings: Any) -> Iterator[sparse.csr_array]:
    """Return a line of norm 1 for each film: its ratings, who rated it, and what effects leave."""
    yield normalize(ratings.T)
    seen = ratings.copy()
    seen.data = np.ones_like(seen.data)
    yield normalize(seen.T)
    one_block = NEOCC(1, 1, **IGNORE, random_state=0).fit(ratings)
    rest = ratings.tocoo()
    effects = one_block.row_effects_[rest.row] + one_block.column_effects_[rest.col]
    rest.data = rest.data - one_block.overall_mean_ - effects
    yield normalize(rest.T.tocsr())


def classified(features: sparse.csr_array, genres: Array, seed: int) -> Array:
    """Return genres of films by classifiers that learnt from other folds; each film has one."""
    found = np.zeros_like(genres)
    for train, test in KFold(N_FOLDS, shuffle=True, random_state=seed).split(genres):
        plain = LogisticRegression(solver="liblinear")
        one = GridSearchCV(plain, {"C": (1, 10, 100, 1000)}, scoring="neg_log_loss", cv=3)
        learnt = OneVsRestClassifier(one).fit(features[train], genres[train].astype(int))
        likely = learnt.predict_proba(features[test])
        found[test] = (likely > 0.5) | (likely == likely.max(axis=1, keepdims=True))
    return found
