"""Draw the pictures of the guide: what co-clusters are, how they are found, what choices change.

    python docs/pictures/concepts.py [FOLDER]

All data are made here, but for the leukemia data (the extra `data`).
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from overlap import save

from neocc import NEOCC, plot
from neocc.datasets import load_leukemia, make_coclusters
from neocc.plot.arrange import arrange_both
from neocc.preprocessing import center

BLUE, ORANGE, GREY = "#4477aa", "#ee7733", "0.75"


def show(ax: Any, X: Any, title: str, *, cmap: str = "RdBu_r", limit: float | None = None) -> None:
    """Draw a matrix without ticks."""
    limit = limit or np.abs(X).max()
    low = -limit if X.min() < 0 else 0
    ax.imshow(X, aspect="auto", cmap=cmap, vmin=low, vmax=limit, interpolation="nearest")
    ax.set_title(title, loc="left", fontsize=11)
    ax.set_xticks([])
    ax.set_yticks([])


def members(ax: Any, U: Any, title: str) -> None:
    """Draw a membership matrix: dark is a member."""
    colours = ListedColormap(["0.93", "#31587a"])
    ax.imshow(U, aspect="auto", cmap=colours, vmin=0, vmax=1, interpolation="nearest")
    ax.set_xticks(range(U.shape[1]), [f"R{c + 1}" for c in range(U.shape[1])])
    ax.set_xticks(np.arange(0.5, U.shape[1] - 1), minor=True)
    ax.grid(which="minor", axis="x", color="white", linewidth=3)
    ax.tick_params(which="both", length=0)
    ax.set_yticks([])
    ax.set_title(title, loc="left", fontsize=11)


COUNTS = {"row_overlap": 0.15, "row_outliers": 0.05}


def planted() -> tuple[Any, Any, Any]:
    return make_coclusters((80, 50), 3, 3, **COUNTS, noise=0.7, random_state=3)


def in_order(U: Any, V: Any) -> tuple[Any, Any]:
    """Return rows and columns in the order of their clusters."""
    rows, columns = arrange_both(U, V)
    return np.array(rows.order), np.array(columns.order)


# -------------------------------------------------------------------------------- what it finds


def blocks() -> Figure:
    """A matrix, the same sorted, and its summary."""
    X, _, _ = planted()
    model = NEOCC(3, 3, overlap_model="average", **COUNTS, random_state=0).fit(X)
    at, across = in_order(model.row_membership_, model.column_membership_)
    rows, columns = arrange_both(model.row_membership_, model.column_membership_)
    means = model.block_means_[np.ix_(rows.clusters, columns.clusters)].round(1) + 0.0
    figure = Figure(figsize=(10.5, 4), layout="constrained")
    left, middle, right = figure.subplots(1, 3, width_ratios=(1.4, 1.4, 1))
    limit = 5.0
    show(left, X, "The matrix: 80 rows, 50 columns", limit=limit)
    show(middle, X[at][:, across], "The same, sorted by group", limit=limit)
    show(right, means, "Its summary", limit=limit)
    for (i, j), mean in np.ndenumerate(means):
        colour = "white" if abs(mean) > 0.6 * limit else "black"
        right.text(j, i, f"{mean:.1f}", ha="center", va="center", color=colour, fontsize=12)
    right.set_xticks(range(3), [f"C{j + 1}" for j in range(3)])
    right.set_yticks(range(3), [f"R{i + 1}" for i in range(3)])
    right.tick_params(length=0)
    return figure


def overlap() -> Figure:
    """Who is in which group: one, two, none."""
    X, U, V = planted()
    at, across = in_order(U, V)
    rows, _ = arrange_both(U, V)
    figure = Figure(figsize=(10.5, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(2.4, 1))
    show(left, X[at][:, across], "Rows sorted by group", limit=5.0)
    members(right, U[at][:, rows.clusters], "Their memberships")
    several = np.flatnonzero(U[at].sum(axis=1) > 1)
    none = np.flatnonzero(~U[at].any(axis=1))
    for places, text in ((several[:1], "in two groups:\nbetween both"), (none[:1], "in none")):
        right.annotate(
            text,
            xy=(2.5, places[0]),
            xytext=(2.75, places[0]),
            annotation_clip=False,
            va="center",
            fontsize=11,
            arrowprops={"arrowstyle": "-", "color": "0.4"},
        )
    return figure


def hero() -> Figure:
    """The picture of the front page: a matrix as given, and sorted, with memberships."""
    counts = dict.fromkeys(("row_overlap", "column_overlap"), 0.1)
    counts |= dict.fromkeys(("row_outliers", "column_outliers"), 0.05)
    X, _, _ = make_coclusters((200, 120), 5, 4, **counts, noise=1.0, random_state=7)
    model = NEOCC(5, 4, overlap_model="average", **counts, random_state=0).fit(X)
    figure = Figure(figsize=(11, 5), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.15))
    plot.matrix(X, ax=left, cmap="RdBu_r", title="A matrix", colorbar=False)
    title = "The same, sorted by overlapping groups"
    plot.reordered(model, X, ax=right, cmap="RdBu_r", title=title, colorbar=False)
    for ax in (left, right):
        ax.set_xlabel("")
        ax.set_ylabel("")
    return figure


def leukemia() -> Figure:
    """Genes and patients, sorted by group: how to read such a picture."""
    data = load_leukemia()
    logs = np.log2(data.data)
    X = center(logs[np.argsort(-logs.var(axis=1))[:1000]], axis="both")
    model = NEOCC(8, 3, random_state=0).fit(X)
    figure = Figure(figsize=(9, 6), layout="constrained")
    title = "Expression of 1,000 genes in 38 patients with leukemia"
    plot.reordered(model, X, ax=figure.subplots(), cmap="RdBu_r", title=title)
    return figure


def tutorial() -> Figure:
    """What is high in which group of patients: the picture of the tutorial."""
    data = load_leukemia()
    logs = np.log2(data.data)
    X = center(logs[np.argsort(-logs.var(axis=1))[:1000]], axis="both").T
    figure = Figure(figsize=(10.5, 3.4), layout="constrained")
    title = "Groups of patients and of genes: mean of every block"
    model = NEOCC(3, 8, refine="thorough", random_state=0).fit(X)
    plot.blocks(model, ax=figure.subplots(), cmap="RdBu_r", title=title)
    return figure


# ------------------------------------------------------------------------------ how it is found


def steps() -> Figure:
    """The alternation from a random start: snapshots, and the objective."""
    X, _, _ = make_coclusters((100, 60), 5, 4, noise=1.5, random_state=5)
    rng = np.random.default_rng(1)
    start = tuple(
        np.eye(k, dtype=bool)[rng.permutation(np.arange(n) % k)]
        for n, k in zip(X.shape, (5, 4), strict=True)
    )
    plain = {"init": start, "refine": False, "n_init": 1, "tol": 0.0}
    figure = Figure(figsize=(10.5, 3.6), layout="constrained")
    axes = figure.subplots(1, 4, width_ratios=(1, 1, 1, 1.1))
    full = NEOCC(5, 4, **plain).fit(X)
    shown = {"A random start": None, "After one round": 1, "At the end": 100}
    for ax, (title, rounds) in zip(axes, shown.items(), strict=False):
        U, V = start
        if rounds is not None:
            found = NEOCC(5, 4, max_iter=rounds, **plain).fit(X)
            U, V = found.row_membership_, found.column_membership_
        at, across = (np.argsort(each.argmax(axis=1), kind="stable") for each in (U, V))
        show(ax, X[at][:, across], title, limit=5.0)
        for n, draw in ((U.sum(axis=0), ax.axhline), (V.sum(axis=0), ax.axvline)):
            for edge in np.cumsum(n)[:-1]:
                draw(edge - 0.5, color="black", linewidth=1.5)
    axes[3].plot(full.history_, "o-", color=BLUE, markersize=4)
    axes[3].set_title("The objective", loc="left", fontsize=11)
    axes[3].set_xlabel("half-rounds: rows, columns, rows, ...")
    axes[3].set_ylim(bottom=0)
    axes[3].spines[["top", "right"]].set_visible(False)
    return figure


def choosing() -> Figure:
    """Which rows join a second cluster, and which stay out, by their distances."""
    X, _, _ = planted()
    model = NEOCC(3, 3, **COUNTS, random_state=0).fit(X)
    near = np.sort(model.transform(X), axis=1)
    n = model.row_membership_.sum(axis=1)
    figure = Figure(figsize=(7.5, 4.6), layout="constrained")
    ax = figure.subplots()
    kinds = ((1, "one group", BLUE, "o"), (2, "two groups", ORANGE, "s"), (0, "none", "black", "x"))
    for number, label, colour, marker in kinds:
        is_in = n == number
        text = f"{label}: {is_in.sum()} rows"
        ax.plot(*near[is_in, :2].T, marker, color=colour, label=text, alpha=0.8)
    ax.axline((100, 100), slope=1, color=GREY, linestyle="--", zorder=0)
    ax.annotate(
        "equally far from both", (450, 450), (-8, 0), textcoords="offset points", ha="right"
    )
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("distance to the nearest group")
    ax.set_ylabel("distance to the next one")
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return figure


# ------------------------------------------------------------------------ what objectives look for


def objectives() -> Figure:
    """A block that each objective calls perfect."""
    rng = np.random.default_rng(0)
    figure = Figure(figsize=(10.5, 3.4), layout="constrained")
    axes = figure.subplots(1, 3)
    blocks = np.kron(np.array([[4, -3], [-2, 3]]), np.ones((10, 9)))
    show(axes[0], blocks + rng.normal(scale=0.5, size=(20, 18)), '"mean": flat blocks')
    offsets = np.zeros((20, 18))
    for i in range(2):
        for j in range(2):
            rows, columns = rng.normal(scale=2, size=(10, 1)), rng.normal(scale=2, size=9)
            offsets[10 * i : 10 * i + 10, 9 * j : 9 * j + 9] = rows + columns
    offsets += rng.normal(scale=0.3, size=offsets.shape)
    show(axes[1], offsets, '"residue": blocks with a common pattern')
    rates = np.outer(rng.lognormal(sigma=0.8, size=20), rng.lognormal(sigma=0.8, size=18))
    rates *= np.kron(np.array([[5, 0.5], [0.5, 5]]), np.ones((10, 9)))
    counts = np.minimum(rng.poisson(rates), 25)
    show(axes[2], np.sqrt(counts), "counts: more than totals lead one to expect", cmap="Greys")
    return figure


def preprocessing() -> Figure:
    """The same users before and after rows are scaled."""
    rng = np.random.default_rng(1)
    kind = np.arange(60) % 3
    weight = rng.lognormal(sigma=0.9, size=60)
    taste = np.array([[4, 1, 1], [1, 4, 1], [1, 1, 4]], dtype=float)[kind][:, np.arange(30) % 3]
    X = weight[:, None] * taste * rng.uniform(0.6, 1.4, size=taste.shape)
    scaled = X / np.linalg.norm(X, axis=1, keepdims=True)
    figure = Figure(figsize=(10.5, 4), layout="constrained")
    axes = figure.subplots(1, 2)
    for ax, data, name in (
        (axes[0], X, "As they are"),
        (axes[1], scaled, "Divided by their norms"),
    ):
        model = NEOCC(3, 3, random_state=0).fit(data)
        U = model.row_membership_
        at, across = in_order(U, model.column_membership_)
        right = max(
            (kind == np.array(order)[U.argmax(axis=1)]).sum()
            for order in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))
        )
        shown = data[at][:, across] / np.quantile(data, 0.98)
        show(ax, shown, f"{name}: {right} of 60 users grouped by taste", cmap="Greys", limit=1.0)
        for edge in np.flatnonzero(np.diff(U[at].argmax(axis=1))):
            ax.axhline(edge + 0.5, color=ORANGE, linewidth=2)
    return figure


PICTURES = {
    "hero": hero,
    "leukemia": leukemia,
    "tutorial": tutorial,
    "concept_blocks": blocks,
    "concept_overlap": overlap,
    "concept_steps": steps,
    "concept_choosing": choosing,
    "concept_objectives": objectives,
    "concept_preprocessing": preprocessing,
}


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in PICTURES.items():
        save(draw(), folder / f"{name}.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
