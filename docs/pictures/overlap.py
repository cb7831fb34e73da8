"""Draw the pictures of docs/overlap.md, and print its table: what overlap models are, and find.

    python docs/pictures/overlap.py [FOLDER]

One picture for each model shows what it compares a row of two clusters with. A table measures the
models on planted data: rows that lie between two clusters, rows that add two clusters up, and rows
that follow one or the other. The last picture shows what the paper's model and "average" make of
the same matrix. All data are made here.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from PIL import Image
from scipy.optimize import linear_sum_assignment

from neocc import NEOCC, objective_value
from neocc.datasets import make_coclusters
from neocc.metrics import omega_index
from neocc.plot.arrange import arrange_both

DPI = 144
MODELS = ("repeat", "share", "average", "sum", "either")
BLUE, ORANGE, GREY = "#4477aa", "#ee7733", "0.35"

# ----------------------------------------------------------------- what a row is compared with

# Two clusters over twelve columns in four column clusters, and two rows in both of them.
A = np.repeat([3.0, 0.0, 0.0, 2.0], 3)
B = np.repeat([0.0, 1.0, 3.0, 2.0], 3)
NOISE = np.array([2, -1, -2, 1, 2, -2, -1, 1, 2, -2, 1, -1]) / 10
ROWS = {"a row between A and B": (A + B) / 2 + NOISE, "a row that adds A and B up": A + B + NOISE}


def nearer(row: Any) -> Any:
    """Return A or B in each of the four column clusters, whichever is nearer to a row."""
    to_a, to_b = (np.square(row - line).reshape(4, 3).sum(axis=1) for line in (A, B))
    return np.where(np.repeat(to_a <= to_b, 3), A, B)


def targets(model: str, row: Any) -> list[tuple[Any, float, str]]:
    """Return what a row of A and B is compared with: each a line, its weight, and a colour."""
    if model in ("repeat", "share"):
        weight = 1.0 if model == "repeat" else 0.5
        return [(A, weight, BLUE), (B, weight, ORANGE)]
    if model == "either":
        return [(nearer(row), 1.0, "black")]
    return [((A + B) / 2 if model == "average" else A + B, 1.0, "black")]


def cost(model: str, row: Any) -> float:
    """Return what a row pays for being in both clusters."""
    lines = targets(model, row)
    return float(sum(weight * np.square(row - line).sum() for line, weight, _ in lines))


CAPTIONS = {
    "repeat": "repeat: the distance to A and the distance to B, both in full",
    "share": "share: half of the distance to A, half of that to B",
    "average": "average: one distance, to the mean of A and B",
    "sum": "sum: one distance, to the sum of A and B",
    "either": "either: in each column cluster the distance to A or to B, whichever is nearer",
}
LABELS = {"average": "their mean", "sum": "their sum", "either": "one of them"}


def draw_model(model: str) -> Figure:
    """Draw two rows of two clusters, what they are compared with, and what that costs."""
    figure = Figure(figsize=(10.5, 3.4), layout="constrained")
    figure.suptitle(CAPTIONS[model], fontsize=12, fontweight="bold", x=0.01, ha="left")
    places = np.arange(len(A))
    for ax, (name, row) in zip(figure.subplots(1, 2, sharey=True), ROWS.items(), strict=True):
        lines = targets(model, row)
        for shift, (line, weight, colour) in zip((-0.12, 0.12), lines, strict=False):
            x = places + (shift if len(lines) > 1 else 0)
            width = 4.0 * weight
            ax.vlines(x, line, row, color=colour, linewidth=width, alpha=0.55)
        for line, colour, label in ((A, BLUE, "cluster A"), (B, ORANGE, "cluster B")):
            ax.step(places, line, where="mid", color=colour, linewidth=1.5, label=label)
        if len(lines) == 1:
            of_row = {"color": "black", "linewidth": 2, "label": LABELS[model]}
            ax.step(places, lines[0][0], where="mid", **of_row)
        ax.plot(places, row, "o", color=GREY, markersize=6, label="the row")
        ax.set_title(f"{name}: pays {cost(model, row):.1f}", loc="left", fontsize=11)
        ax.set_xticks([])
        ax.set_xlabel("columns")
        ax.spines[["top", "right"]].set_visible(False)
    figure.axes[0].set_ylabel("value")
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside right center")
    return figure


# ------------------------------------------------------------------------- planted memberships

SHAPE, CLUSTERS = (150, 60), (5, 3)
SETTINGS = {"row_overlap": 0.3, "row_outliers": 0.05}
N_SEEDS = 3
KINDS = {"mean": "their mean", "sum": "their sum", "either": "one or the other"}


def planted(kind: str, seed: int) -> tuple[Any, Any, Any]:
    """Make a matrix whose rows of two clusters are their mean, sum, or either, and the truth."""
    X, U, V = make_coclusters(SHAPE, *CLUSTERS, **SETTINGS, noise=0.5, random_state=seed)
    if kind == "mean":
        return X, U, V
    rng = np.random.default_rng(seed)
    levels = rng.permutation(np.linspace(-4, 4, 15)).reshape(CLUSTERS)
    made = U.astype(float) @ levels
    if kind == "either":
        # The clusters of a row by turns, in a random order.
        turns = [np.resize(rng.permutation(np.flatnonzero(has)), 3) for has in U if has.any()]
        made[U.any(axis=1)] = levels[np.array(turns), np.arange(3)]
    X = np.where(U.any(axis=1)[:, None], made @ V.T + rng.normal(scale=0.5, size=X.shape), X)
    return X, U, V


def find(X: Any, model: str, seed: int) -> NEOCC:
    """Fit a model that is told the true numbers."""
    options = {**SETTINGS, "n_init": 3, "refine": "thorough", "random_state": seed}
    return NEOCC(*CLUSTERS, overlap_model=model, **options).fit(X)


def measure(
    kinds: tuple[str, ...] = ("mean", "sum", "either"), models: tuple[str, ...] = MODELS
) -> list[str]:
    """Return the lines of a table: how true the row clusters of each model are."""
    heads = ["rows of two clusters are", "model", "omega", "in several clusters: found", "planted"]
    heads += ["J below the planted"]
    lines = [f"| {' | '.join(heads)} |", "| --- " * len(heads) + "|"]
    for kind in kinds:
        data = [planted(kind, seed) for seed in range(N_SEEDS)]
        for model in models:
            found = [find(X, model, seed) for seed, (X, _, _) in enumerate(data)]
            omega = np.mean(
                [
                    omega_index(U, f.row_membership_)
                    for (_, U, _), f in zip(data, found, strict=True)
                ]
            )
            several = [f.row_membership_.sum(axis=1) > 1 for f in found]
            truly = [U.sum(axis=1) > 1 for _, U, _ in data]
            # By more than rounding: some find exactly what was planted.
            below = [
                f.objective_ < (1.0 - 1e-9) * objective_value(X, U, V, overlap_model=model)
                for (X, U, V), f in zip(data, found, strict=True)
            ]
            lines.append(
                f"| {KINDS[kind]} | {model} | {omega:.2f} | {np.sum(several)} | {np.sum(truly)} "
                f"| {sum(below)} of {N_SEEDS} |"
            )
    return lines


# -------------------------------------------------------------------------- on the same matrix

RIGHT, WRONG, MISSING, NONE = "#31587a", "#cc3311", "#f4b8a8", "0.93"


def matched(found: Any, truth: Any) -> Any:
    """Return memberships with the clusters in the order of those they share most members with."""
    shared = truth.T.astype(int) @ found.astype(int)
    return found[:, linear_sum_assignment(shared, maximize=True)[1]]


def draw_members(ax: Any, found: Any, truth: Any) -> None:
    """Draw who is in which cluster: rightly, wrongly, or not though it should be."""
    kinds = np.select([found & truth, found, truth], [3, 2, 1], 0)
    colours = ListedColormap([NONE, MISSING, WRONG, RIGHT])
    ax.imshow(kinds, aspect="auto", cmap=colours, vmin=0, vmax=3, interpolation="nearest")
    ax.set_xticks(range(truth.shape[1]), [f"R{c + 1}" for c in range(truth.shape[1])])
    ax.set_xticks(np.arange(0.5, truth.shape[1] - 1), minor=True)
    ax.grid(which="minor", axis="x", color="white", linewidth=3)
    ax.tick_params(which="both", length=0)
    ax.set_yticks([])
    ax.spines[:].set_visible(False)


def compare() -> Figure:
    """Draw what "repeat" and "average" make of one matrix, beside the truth."""
    X, U, V = planted("mean", 0)
    rows, columns = arrange_both(U, V)
    at, across = np.array(rows.order), np.array(columns.order)
    truth = U[at][:, rows.clusters]
    figure = Figure(figsize=(12, 6), layout="constrained")
    axes = figure.subplots(1, 4, width_ratios=(1.6, 1, 1, 1))
    limit = np.abs(X[U.any(axis=1)]).max()
    axes[0].imshow(
        X[at][:, across], aspect="auto", cmap="RdBu_r", vmin=-limit, vmax=limit, rasterized=True
    )
    axes[0].set_title("The matrix, rows by planted clusters", loc="left", fontsize=11)
    axes[0].set_xlabel(f"{X.shape[1]} columns")
    axes[0].set_ylabel(f"{X.shape[0]} rows; the last are outliers")
    axes[0].set_xticks([])
    axes[0].set_yticks([])
    draw_members(axes[1], truth, truth)
    extra = int(truth.sum(axis=1).clip(1).sum() - len(truth))
    axes[1].set_title(f"The truth:\n{extra} memberships beyond one", loc="left", fontsize=11)
    for ax, model in zip(axes[2:], ("repeat", "average"), strict=True):
        found = find(X, model, 0).row_membership_
        draw_members(ax, matched(found[at], truth), truth)
        wrong = int((matched(found[at], truth) & ~truth).sum())
        text = f'"{model}": {wrong} of {found.sum()} wrong,\nomega {omega_index(U, found):.2f}'
        ax.set_title(text, loc="left", fontsize=11)
        print(text.replace("\n", " "))
    keys = {"in the cluster, rightly": RIGHT, "wrongly": WRONG, "missing": MISSING}
    figure.legend(
        handles=[Patch(color=colour, label=label) for label, colour in keys.items()],
        loc="outside lower right",
        ncols=3,
        frameon=False,
    )
    return figure


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in MODELS:
        save(draw_model(name), folder / f"overlap_{name}.png")
        for about, row in ROWS.items():
            print(f"{name}: {about} pays {cost(name, row):.1f}")
    print("\n".join(measure()))
    save(compare(), folder / "overlap.png")


def save(figure: Figure, path: Path) -> None:
    """Save a picture without the last bits of its colours, which noise would keep from packing."""
    pixels = io.BytesIO()
    figure.savefig(pixels, dpi=DPI)
    with Image.open(pixels) as image:
        rounded = [min(8 * round(level / 8), 255) for level in range(256)]
        image.convert("RGB").point(rounded * 3).save(path, optimize=True)
    print(f"{path} ({path.stat().st_size // 1000} kB)")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
