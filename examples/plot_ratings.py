"""
Ratings: predict what nobody has rated, and say why
===================================================

Most cells of a table of ratings are empty, and empty does not mean zero. Here groups of viewers and
films are found from the cells that are known, and predict the others. The ratings are planted:
viewers of four tastes, some of two, some generous, have rated one film in eight.
"""

# %%
# Make the ratings, and hold out a fifth of them.

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from scipy import sparse
from sklearn.model_selection import train_test_split

from neocc import NEOCC, CellPredictor, plot

KINDS = ("comedy", "drama", "thriller", "western")
SHAPE, SHARE, NOISE = (240, 120), 0.125, 0.5
N_GROUPS = (4, 4)


@dataclass(frozen=True)
class Ratings:
    """Pairs of a viewer and a film with their stars."""

    pairs: list[tuple[str, str]]
    stars: Any

    def split(self, seed: int = 0) -> tuple[Ratings, Ratings]:
        """Hold out a fifth."""
        parts = train_test_split(self.pairs, self.stars, test_size=0.2, random_state=seed)
        return Ratings(parts[0], parts[2]), Ratings(parts[1], parts[3])


def planted(seed: int = 0) -> Ratings:
    """Make ratings: viewers like one or two kinds of films, and some give many stars."""
    rng = np.random.default_rng(seed)
    likes = np.eye(4, dtype=bool)[rng.integers(4, size=SHAPE[0])]
    likes[: SHAPE[0] // 5] |= np.eye(4, dtype=bool)[rng.integers(4, size=SHAPE[0] // 5)]
    kinds = rng.integers(4, size=SHAPE[1])
    level = np.where(likes, 1.2, -0.6)[:, kinds]
    level += rng.normal(scale=0.5, size=(SHAPE[0], 1)) + rng.normal(scale=0.3, size=SHAPE[1])
    stars = np.clip(np.round(3 + level + rng.normal(scale=NOISE, size=SHAPE)), 1, 5)
    rated = np.nonzero(rng.random(SHAPE) < SHARE)
    films = [f"{KINDS[kind]} {film}" for film, kind in enumerate(kinds)]
    pairs = [(f"viewer {p}", films[t]) for p, t in zip(*rated, strict=True)]
    return Ratings(pairs, stars[rated])


train, test = planted().split()
print(f"{len(train.pairs)} ratings; {len(test.pairs)} held out")

# %%
# ``missing="ignore"`` leaves empty cells out, and ``remove_effects=True`` first subtracts what
# viewers give and films get on the whole. A `CellPredictor` averages several such fits.


def predictor(n_models: int = 8) -> CellPredictor:
    """Return the mean of several co-clusterings, in which viewers may have two tastes."""
    groups = NEOCC(
        *N_GROUPS,
        missing="ignore",
        remove_effects=True,
        overlap_model="average",
        row_overlap=0.15,
        n_init=1,
        init="random",
    )
    return CellPredictor(groups, n_models=n_models, random_state=0)


model = predictor().fit(train.pairs, train.stars)

# %%
# How far off are the predictions? Compare with what is known without groups.


def places(model: CellPredictor, ratings: Ratings) -> tuple[list[int], list[int]]:
    """Return the rows and columns of ratings in the fits of a model."""
    rows, columns = (
        {name: at for at, name in enumerate(names)} for names in (model.row_ids_, model.column_ids_)
    )
    pairs = ratings.pairs
    return [rows[viewer] for viewer, _ in pairs], [columns[film] for _, film in pairs]


def as_matrix(model: CellPredictor, ratings: Ratings) -> Any:
    """Return ratings as a sparse matrix; what it does not store is unknown."""
    shape = len(model.row_ids_), len(model.column_ids_)
    return sparse.csr_array((ratings.stars, places(model, ratings)), shape=shape)


def errors(model: CellPredictor, test: Ratings) -> dict[str, float]:
    """Return root mean squares of errors, in stars: of groups, and of what is known without."""
    first = model.models_[0]
    rows, columns = places(model, test)
    effects = first.overall_mean_ + first.row_effects_[rows] + first.column_effects_[columns]
    predictions = {
        "groups": model.predict(test.pairs),
        "what viewers give and films get on the whole": effects,
        "the mean of all": np.full(len(test.stars), first.overall_mean_),
    }
    return {
        name: float(np.sqrt(np.mean(np.square(found - test.stars))))
        for name, found in predictions.items()
    }


for name, error in errors(model, test).items():
    print(f"by {name}: off by {error:.2f} stars")

# %%
# Recommendations come with reasons.


def recommend(model: CellPredictor, viewer: str, n: int = 3) -> list[str]:
    """Return lines that recommend films and say why."""
    lines = []
    for best in model.recommend(viewer, n=n):
        reason = best.reasons[0]
        side = "more" if reason.level > 0 else "fewer"
        lines.append(
            f"{best.column}: {best.value:.1f} stars, {best.expected:.1f} by effects alone; viewers "
            f"of group {reason.row_cluster + 1} give {abs(reason.level):.1f} stars {side} than "
            f"expected to films of group {reason.column_cluster + 1}"
        )
    return lines


viewer = train.pairs[0][0]
print(f"For {viewer}:")
print("\n".join(recommend(model, viewer)))

# %%
# One of the fits: what each group of viewers gives to each group of films beyond expectation, and
# the ratings sorted by group. Blank cells have no rating.

first = model.models_[0]
figure, axes = plt.subplots(
    1, 2, figsize=(12.5, 5.5), layout="constrained", gridspec_kw={"width_ratios": (1, 1.4)}
)
plot.blocks(first, title="Stars beyond expectation", ax=axes[0])
plot.reordered(first, as_matrix(model, train), title="Ratings, sorted by group", ax=axes[1])

# %%
# Groups predict better than the effects of viewers and films alone, because they know which tastes
# go with which films. Part of the remaining error is noise that nobody could predict. On real
# ratings expect less: :doc:`/ratings-study` has figures on MovieLens.
