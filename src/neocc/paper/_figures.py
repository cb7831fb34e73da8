"""The figures: drawn from the trials of the run, with matplotlib (the extra ``plot``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from neocc import plot
from neocc._typing import BoolArray
from neocc.datasets import load_case_study
from neocc.io._whole import whole_file
from neocc.paper._document import Figure
from neocc.paper._expected import case_study
from neocc.paper._printed import PRINTED_TRIALS
from neocc.paper._results import Results, Scores
from neocc.paper._systems import PICTURE, PLAIN_M, PLAIN_RCM
from neocc.paper._treatments import RAW
from neocc.paper._trial import Job
from neocc.plot._style import LIGHT, bare, matplotlib
from neocc.plot.arrange import arrange_both

__all__ = ["check_can_draw", "draw_figures"]

_DPI = 130
_MOVIELENS = ("ML1", "ML2", "ML3")
_BARS = {"NEO-lrsdp": "#9fb0c3", "NEO-CC-M": "#0072B2", "NEO-CC-RCM": "#D55E00"}


def check_can_draw() -> None:
    """Raise an ImportError that names the extra if matplotlib is missing, before hours of work."""
    matplotlib("figure")


def draw_figures(results: Results, folder: Path) -> dict[str, Figure]:
    """Draw what the run has the trials for, and return the figures by their numbers in the paper.

    Parameters
    ----------
    results : Results
        The trials.
    folder : Path
        Where the pictures go.

    Returns
    -------
    figures : dict of Figure
        Keys are "1" to "4".
    """
    study = results.study
    drawn: dict[str, Figure] = {}
    picture = None
    if study.picture_of is not None:
        picture = results.trials.get(Job(study.picture_of, RAW, PICTURE, 1))
    if picture is not None and picture.members:
        X = study.task(picture.job).X
        _save(partial(_sorted_matrix, X, picture.members), folder / "figure-1.png", (7.5, 15.0))
        drawn["1"] = Figure("figure-1.png", _picture_caption(picture.job.data, picture.estimator))
    _save(_case_study, folder / "figure-2.png", (11.0, 7.5))
    drawn["2"] = Figure("figure-2.png", _CASE_CAPTION)
    if study.curves_of is not None and results.histories(study.curves_of, PLAIN_M):
        _save(partial(_curves, results, study.curves_of), folder / "figure-3.png", (11.0, 4.2))
        drawn["3"] = Figure("figure-3.png", _curves_caption(study.curves_of, study.n_trials))
    blocks = [(d.name, t, d.printed) for d, t in results.tables if d.printed in _MOVIELENS]
    if blocks:
        size = (11.0, 4.4 * len({treatment for _, treatment, _ in blocks}))
        _save(partial(_bars, results, blocks), folder / "figure-4.png", size)
        drawn["4"] = Figure("figure-4.png", _BARS_CAPTION)
    return drawn


def _save(draw: Callable[[Any], None], path: Path, size: tuple[float, float]) -> None:
    figure = matplotlib("figure").Figure(figsize=size, layout="constrained")
    draw(figure)
    with whole_file(path, force=True) as partial_path:
        figure.savefig(partial_path, dpi=_DPI, format="png", metadata={"Software": None})


# ------------------------------------------------------------------------ figure 1: sorted matrix


def _picture_caption(data: str, estimator: str) -> str:
    return (
        f"Figure 1. Ratings of {data}, users down, movies across: (a) as they come, (b) with rows "
        "and columns sorted by what was found, (c) the same with the clusters marked. A row or "
        "column in two clusters stands where their frames overlap; the outlying row is set off at "
        f"the end. `{estimator}`"
    )


def _sorted_matrix(X: Any, members: Mapping[str, list[list[int]]], figure: Any) -> None:
    U, V = (
        _dense(members[side], n_items)
        for side, n_items in zip(("rows", "columns"), X.shape, strict=True)
    )
    top, middle, bottom = figure.subplots(3, 1)
    plot.matrix(X, ax=top, title="(a) as they come")
    rows, columns = arrange_both(U, V, _block_means(X, U, V))
    plot.matrix(X[rows.order][:, columns.order], ax=middle, title="(b) sorted")
    plot.reordered((U, V), X, ax=bottom, title="(c) sorted, with clusters marked")


def _dense(clusters: Sequence[Sequence[int]], n_items: int) -> BoolArray:
    members = np.zeros((n_items, len(clusters)), dtype=bool)
    for cluster, items in enumerate(clusters):
        members[items, cluster] = True
    return members


def _block_means(X: Any, U: BoolArray, V: BoolArray) -> Any:
    sizes = np.outer(U.sum(axis=0), V.sum(axis=0))
    return (U.T.astype(float) @ (X @ V.astype(float))) / np.maximum(sizes, 1)


# --------------------------------------------------------------------------- figure 2: case study

_CASE_CAPTION = (
    "Figure 2. The four co-clusterings of the 7 × 6 matrix in the paper, with the objective of "
    "NEO-CC-M as computed and as printed. Overlap and outliers bring it down."
)


def _case_study(figure: Any) -> None:
    from matplotlib.colors import PowerNorm

    case = load_case_study()
    for ax, shown, values in zip(
        figure.subplots(2, 2).flat, case.configurations, case_study(), strict=True
    ):
        title = f"({values.name}) {values.mean:.4f}, printed {values.printed:.4f}"
        pair = (shown.row_membership, shown.column_membership)
        plot.reordered(
            pair,
            case.data,
            row_names=[f"row {number + 1}" for number in range(7)],
            column_names=[f"col. {number + 1}" for number in range(6)],
            title=title,
            colorbar=False,
            ax=ax,
        )
        # One scale for all four: they show the same numbers.
        for image in ax.get_images():
            image.set_norm(PowerNorm(0.5, 0.0, float(case.data.max())))


# ---------------------------------------------------------------------- figure 3: falling objective


def _curves_caption(data: str, n_trials: int) -> str:
    return (
        f"Figure 3. The objective on {data} falls with every iteration of Algorithm 1, both "
        f"sides updated in turn: {n_trials} random starts (lines), and the lowest that the "
        "trials of table 3 come to (dashed)."
    )


def _curves(results: Results, data: str, figure: Any) -> None:
    panels = ((PLAIN_M, "NEO-CC-M"), (PLAIN_RCM, "NEO-CC-RCM"))
    for ax, (plain, system), mark in zip(figure.subplots(1, 2), panels, "ab", strict=True):
        bare(ax, "left", "bottom")
        ax.grid(axis="y", color=LIGHT)
        for history in results.histories(data, plain):
            # Two updates, of the rows and of the columns, are one iteration.
            ax.plot(
                np.arange(len(history)) / 2, history, color=_BARS[system], linewidth=1, alpha=0.7
            )
        ends = [history[-1] for history in results.histories(data, system)]
        if ends:
            low = min(ends)
            ax.axhline(low, color="0.35", linestyle="--", linewidth=1)
            ax.annotate(
                f"table 3: {low:,.1f}", (1, low), (0, 4), xycoords=("axes fraction", "data"),
                textcoords="offset points", ha="right", fontsize=9, color="0.25",
            )  # fmt: skip
        ax.set_title(f"({mark}) {system}", loc="left", fontsize=11)
        ax.set_xlabel("iterations", fontsize=9)
        ax.set_ylabel("objective", fontsize=9)
        ax.tick_params(labelsize=9)
        ax.yaxis.set_major_formatter(matplotlib("ticker").StrMethodFormatter("{x:,.0f}"))


# ------------------------------------------------------------------------------- figure 4: F1 bars

_BARS_CAPTION = (
    "Figure 4. Best-match F1 on the MovieLens stand-ins: averages, with lines from the worst to "
    "the best trial. Open circles are the averages printed for the paper's data sets, which are "
    "not these; the black line is what one cluster of all movies scores."
)


def _bars(results: Results, blocks: Sequence[tuple[str, str, str | None]], figure: Any) -> None:
    treatments = list(dict.fromkeys(treatment for _, treatment, _ in blocks))
    panels = figure.subplots(len(treatments), 1, squeeze=False, sharey=True)[:, 0]
    for ax, treatment in zip(panels, treatments, strict=True):
        shown = [(data, printed) for data, t, printed in blocks if t == treatment]
        _bars_of(results, treatment, shown, ax)


def _bars_of(
    results: Results, treatment: str, shown: Sequence[tuple[str, str | None]], ax: Any
) -> None:
    bare(ax, "left", "bottom")
    ax.grid(axis="y", color=LIGHT)
    ax.set_axisbelow(True)
    systems = [system for system in _BARS if system in results.study.systems]
    width = 0.8 / max(len(systems), 1)
    for place, (data, printed) in enumerate(shown):
        for number, system in enumerate(systems):
            x = place + (number - (len(systems) - 1) / 2) * width
            scores = results.scores(data, treatment, system, "best-match F1", 100.0)
            if scores is not None:
                _one_bar(ax, x, width, scores, _BARS[system])
            trials = PRINTED_TRIALS.get(printed or "", {}).get(system)
            if trials is not None:
                ax.plot(x, np.mean(trials), "o", markerfacecolor="none", color="0.25", markersize=6)
        baseline = 100 * results.baselines[data]["best-match F1"]
        ax.plot([place - 0.45, place + 0.45], [baseline] * 2, color="black", linewidth=1.5)
    handles = [matplotlib("patches").Patch(color=_BARS[system]) for system in systems]
    ax.legend(handles, systems, ncols=3, fontsize=9, frameon=False, loc="lower right",
              bbox_to_anchor=(1, 1))  # fmt: skip
    labels = [f"{data}\n(printed: {printed})" for data, printed in shown]
    ax.set_xticks(range(len(shown)), labels, fontsize=9)
    ax.set_ylabel("best-match F1, percent", fontsize=9)
    ax.tick_params(labelsize=9)
    ax.set_title(f"Preprocessing: {treatment}", loc="left", fontsize=11)


def _one_bar(ax: Any, x: float, width: float, scores: Scores, colour: str) -> None:
    ax.bar(x, scores.mean, 0.92 * width, color=colour)
    ax.plot([x, x], [scores.worst, scores.best], color="0.1", linewidth=1.2)
    text = {"ha": "center", "va": "bottom", "fontsize": 8, "color": "white"}
    ax.annotate(f"{scores.mean:.1f}", (x, 1), **text)
