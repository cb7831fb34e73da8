"""Draw the pictures in docs/pictures: what `neocc.plot` shows of four data sets.

    python examples/plots.py [FOLDER]

The women ship with neocc. Yeast and MovieLens are read from the folder that NEOCC_DATA names, or
downloaded (the extra `data`); a data set that cannot be had is left out. Of MovieLens only averages
over many ratings are drawn, without names: its terms do not allow passing it on.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from PIL import Image

from neocc import NEOCC, plot
from neocc.datasets import (
    fetch_movielens_100k,
    fetch_yeast,
    load_southern_women,
    make_coclusters,
)

DPI = 72


def southern_women() -> dict[str, Any]:
    women = load_southern_women()
    names = {"row_names": women.row_names, "column_names": women.column_names}
    model = NEOCC(
        n_row_clusters=2,
        n_column_clusters=3,
        row_overlap=0.05,
        row_outliers=0.05,
        column_overlap=-0.07,
        column_outliers=0.07,
        random_state=0,
    ).fit(women.data)
    both = Figure(figsize=(13, 5.4), layout="constrained")
    before, after = both.subplots(1, 2)
    by_name = sorted(range(len(women.row_names)), key=women.row_names.__getitem__)
    by_date = sorted(range(len(women.column_names)), key=women.column_dates.__getitem__)
    plot.matrix(
        women.data[by_name][:, by_date],
        row_names=[women.row_names[p] for p in by_name],
        column_names=[women.column_names[t] for t in by_date],
        title="Before: women by name, events by date",
        colorbar=False,
        ax=before,
    )
    plot.reordered(model, women.data, **names, colorbar=False, ax=after)
    return {
        "women": both,
        "women_repeated": plot.reordered(model, women.data, **names, repeat=True),
        "women_blocks": plot.blocks(model),
        "women_memberships": plot.memberships(model),
        "women_sizes": plot.sizes(model),
    }


def yeast() -> dict[str, Any]:
    X = fetch_yeast().data
    model = NEOCC(
        n_row_clusters=14,
        n_column_clusters=3,
        row_overlap=3.237,
        column_overlap=0.2,
        n_init=5,
        refine=False,
        random_state=0,
    ).fit(X)
    return {
        "yeast": plot.reordered(model, X),
        "yeast_repeated": plot.reordered(model, X, repeat=True),
        "yeast_blocks": plot.blocks(model),
        "yeast_memberships": plot.memberships(model),
        "yeast_sizes": plot.sizes(model),
        "yeast_convergence": plot.convergence(model),
    }


def movielens() -> dict[str, Any]:
    X = fetch_movielens_100k().data
    model = NEOCC(
        n_row_clusters=5,
        n_column_clusters=6,
        row_overlap=0.1,
        row_outliers=0.02,
        column_overlap=0.1,
        column_outliers=0.02,
        n_init=5,
        refine=False,
        random_state=0,
    ).fit(X)
    both = Figure(figsize=(13, 5.8), layout="constrained")
    before, after = both.subplots(1, 2)
    plot.matrix(X, ax=before)
    plot.reordered(model, X, ax=after)
    return {
        "movielens": both,
        "movielens_blocks": plot.blocks(model),
        "movielens_memberships": plot.memberships(model, "columns"),
        "movielens_sizes": plot.sizes(model),
        "movielens_convergence": plot.convergence(model),
    }


def planted() -> dict[str, Any]:
    X, _, _ = make_coclusters(
        (300, 120),
        n_row_clusters=4,
        n_column_clusters=3,
        row_overlap=0.1,
        row_outliers=0.04,
        column_overlap=0.1,
        column_outliers=0.05,
        random_state=0,
    )
    model = NEOCC(
        4, 3, row_overlap=0.1, row_outliers=0.04, column_overlap=0.1, column_outliers=0.05
    )
    model.set_params(random_state=0).fit(X)
    both = Figure(figsize=(12, 5), layout="constrained")
    before, after = both.subplots(1, 2)
    plot.matrix(X, title="Before: rows and columns as they came", ax=before)
    plot.reordered(model, X, ax=after)
    return {"planted": both, "planted_repeated": plot.reordered(model, X, repeat=True)}


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    galleries: tuple[Callable[[], dict[str, Any]], ...] = (
        southern_women,
        yeast,
        movielens,
        planted,
    )
    for draw in galleries:
        try:
            pictures = draw()
        except (ImportError, OSError) as error:
            print(f"{draw.__name__} left out: {error}")
            continue
        for name, picture in pictures.items():
            path = folder / f"{name}.png"
            save(picture if isinstance(picture, Figure) else picture.figure, path)
            print(f"{path} ({path.stat().st_size // 1000} kB)")


def save(figure: Figure, path: Path) -> None:
    """Save a picture without the last bits of its colours, which noise would keep from packing."""
    pixels = io.BytesIO()
    figure.savefig(pixels, dpi=DPI)
    with Image.open(pixels) as image:
        rounded = [min(8 * round(level / 8), 255) for level in range(256)]
        image.convert("RGB").point(rounded * 3).save(path, optimize=True)


if __name__ == "__main__":
    default = Path(__file__).parents[1] / "docs" / "pictures"
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else default)
