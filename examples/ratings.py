"""Predict ratings that nobody gave, recommend with reasons, and show the groups behind them.

    python examples/ratings.py [FOLDER]

Ratings are made here: viewers of four tastes, some of two, have rated one film in eight, and some
of them are generous. Predictions are compared with ratings that were held out. Pictures and a
report, in which cells without a rating are blank, are written to FOLDER, by default a temporary
one.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.model_selection import train_test_split

from neocc import NEOCC, CellPredictor, plot
from neocc.report import write_report

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


def recommend(model: CellPredictor, viewer: str, n: int = 3) -> list[str]:
    """Return lines that recommend films and say why."""
    lines = []
    for best in model.recommend(viewer, n=n):
        reason = best.reasons[0]
        side = "above" if reason.level > 0 else "below"
        lines.append(
            f"{best.column}: {best.value:.1f} stars, {best.expected:.1f} by effects alone, for "
            f"viewers of group {reason.row_cluster + 1} give films of group "
            f"{reason.column_cluster + 1} {abs(reason.level):.1f} {side} expectation"
        )
    return lines


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


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    train, test = planted().split()
    model = predictor().fit(train.pairs, train.stars)
    print(f"{len(train.pairs)} ratings; {len(test.pairs)} held out, and predicted")
    for name, error in errors(model, test).items():
        print(f"  by {name}: off by {error:.2f} stars")
    viewer = train.pairs[0][0]
    print(f"\nFor {viewer}:")
    print("\n".join(recommend(model, viewer)))
    groups, X = model.models_[0], as_matrix(model, train)
    names = {"row_names": model.row_ids_, "column_names": model.column_ids_}
    for kind, ax in (
        ("blocks", plot.blocks(groups)),
        ("matrix", plot.reordered(groups, X, **names)),
    ):
        ax.figure.savefig(folder / f"ratings_{kind}.png", dpi=100)
    page = {"matrix": X, **names, "row_noun": "viewers", "column_noun": "films"}
    write_report(groups, folder / "ratings.html", **page, force=True)
    print(f"\nPictures and the report are in {folder}.")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()))
