"""``neocc demo``: co-cluster the Southern Women and explain the result on one page.

Every name and number on the page is read from the data or from the fitted model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console, RenderableType
from rich.constrain import Constrain
from rich.panel import Panel
from rich.table import Table
from rich.text import Text
from scipy.optimize import linear_sum_assignment

from neocc._typing import BoolArray, FloatArray
from neocc.cli._command import Answer
from neocc.cli._picture import ASCII, UNICODE, Glyphs, Side, draw
from neocc.cli._terminal import section, table
from neocc.datasets._southern_women import neutral_order
from neocc.plot._words import plural
from neocc.plot.arrange import arrange_both

if TYPE_CHECKING:
    from sklearn.utils import Bunch

__all__ = ["SETTINGS", "View", "demo_answer", "make_view", "page"]

PAGE_WIDTH = 80

# To 18 women two memberships are added, so that two women can be in both groups; of 14 events one
# stays outside and none is shared.
SETTINGS: dict[str, Any] = {
    "n_row_clusters": 2,
    "n_column_clusters": 2,
    "overlap_model": "average",
    "row_overlap": 0.11,
    "column_overlap": -0.07,
    "column_outliers": 0.07,
    "n_init": 10,
    "random_state": 0,
}


def demo_answer(console: Console) -> Answer:
    """Fit the model; the page is drawn with what the console can show."""
    from neocc import NEOCC

    data = neutral_order()
    view = make_view(data, NEOCC(**SETTINGS).fit(data.data))

    def parts() -> Iterator[RenderableType]:
        for part in page(view, ASCII if console.options.ascii_only else UNICODE):
            yield Constrain(part, PAGE_WIDTH)
        if console.width < PAGE_WIDTH:
            yield Text(f"\nThe pictures need {PAGE_WIDTH} columns; this terminal cuts them off.")

    return Answer(parts, lambda: _json(view))


@dataclass(frozen=True)
class View:
    """The data and their co-clustering, with the clusters in the order to show them."""

    data: Bunch
    rows: Side
    columns: Side
    row_membership: BoolArray
    column_membership: BoolArray
    block_means: FloatArray
    model: Any


def make_view(data: Bunch, model: Any) -> View:
    """Read a fitted model: groups of women have letters, groups of events numbers."""
    U, V, means = model.row_membership_, model.column_membership_, model.block_means_
    rows, columns = arrange_both(U, V, means)
    letters = ascii_uppercase[: U.shape[1]]
    numbers = [str(group + 1) for group in range(V.shape[1])]
    return View(
        data,
        Side(data.row_names, rows.renumbered().segments, letters),
        Side(data.column_names, columns.renumbered().segments, numbers),
        U[:, rows.clusters],
        V[:, columns.clusters],
        means[np.ix_(rows.clusters, columns.clusters)],
        model,
    )


def _json(view: View) -> dict[str, Any]:
    """Return the result for programs, groups counted from 1 in the order of the page."""

    def listed(names: Sequence[str], membership: BoolArray) -> list[dict[str, Any]]:
        return [
            {"name": name, "groups": (np.flatnonzero(members) + 1).tolist()}
            for name, members in zip(names, membership, strict=True)
        ]

    return {
        "settings": SETTINGS,
        "objective": float(view.model.history_[-1]),
        "block_means": view.block_means.tolist(),
        "rows": listed(view.rows.names, view.row_membership),
        "columns": listed(view.columns.names, view.column_membership),
    }


def page(view: View, glyphs: Glyphs = UNICODE) -> Iterator[RenderableType]:
    """Yield the page from top to bottom."""
    data = view.data
    yield Panel(_introduction(data), title="neocc demo: who met whom?", title_align="left")
    before = Side.unsorted(data.row_names), Side.unsorted(data.column_names)
    yield section(
        "Before: women by name, events by date",
        draw(data.data, *before, glyphs),
        Text(f"{glyphs.member} attended   {glyphs.zero} did not", "dim"),
    )
    yield section("What was asked", _request(view))
    yield section(
        "After: the same table, sorted by what was found",
        draw(data.data, view.rows, view.columns, glyphs),
        Text(
            f"{glyphs.member} attended   {glyphs.overlap} attended, in the overlap of two groups   "
            f"{glyphs.outlier} attended, outlier",
            "dim",
        ),
    )
    yield section("Groups of women", _group_table(view.rows, data.row_names))
    events = [f"{e} ({d})" for e, d in zip(data.column_names, data.column_dates, strict=True)]
    yield section("Groups of events (month-day)", _group_table(view.columns, events))
    example = Text(
        f"For example: had every woman of group {view.rows.clusters[0]} come to every event of "
        f"group {view.columns.clusters[0]}, that would read 100%; it was "
        f"{view.block_means[0, 0]:.0%}.",
        "dim",
    )
    yield section("How full each block is", _density_table(view, glyphs), example)
    yield section("How good it is", _quality(view, glyphs))
    yield section(
        "Try it on your own matrix",
        Text(
            "from neocc import NEOCC\n"
            "model = NEOCC(n_row_clusters=2, n_column_clusters=3, row_overlap=0.1).fit(X)\n"
            "model.row_membership_, model.column_membership_, model.row_outliers_",
            no_wrap=True,
        ),
    )


def _introduction(data: Bunch) -> str:
    n_rows, n_columns = data.data.shape
    return (
        f"In the 1930s, in a small town of the American South, anthropologists noted which of "
        f"{n_rows} women were seen at which of {n_columns} social events: {int(data.data.sum())} "
        f"attendances in all (Davis, Gardner and Gardner, Deep South, 1941).\n\n"
        f"neocc groups the women and the events at the same time, from this table alone. Groups "
        f"may overlap, and what fits no group may stay outside."
    )


def _request(view: View) -> Text:
    n_rows, n_columns = view.data.data.shape
    used = ", ".join(f"{name}={value}" for name, value in SETTINGS.items())
    return Text(
        f"NEOCC({used})\n\n"
        f"In words: {len(view.rows.clusters)} groups of women and {len(view.columns.clusters)} of "
        f"events. {view.row_membership.sum()} memberships are shared out among {n_rows} women and "
        f"{view.column_membership.sum()} among {n_columns} events, of which "
        f"{SETTINGS['column_outliers']:.0%}, rounded to whole ones, may stay outside. A woman of "
        f"both groups is compared with the mean of both."
    )


def _group_table(side: Side, names: Sequence[str]) -> Table:
    made = table()
    only = "only " if any(part.is_overlap for part in side.segments) else ""
    for part in side.segments:
        label = " and ".join(side.clusters[cluster] for cluster in part.clusters)
        if part.is_outlier:
            label = "outlier"
        elif not part.is_overlap:
            label = only + label
        # Lines are broken between names, not within one.
        listed = ", ".join(names[item].replace(" ", "\xa0") for item in part.items)
        listed = fill(listed, PAGE_WIDTH - 16, break_on_hyphens=False).replace("\xa0", " ")
        made.add_row(Text(label, "bold"), Text(listed))
    return made


def _density_table(view: View, glyphs: Glyphs, bar_width: int = 8) -> Table:
    made = table("", *(f"events {name}" for name in view.columns.clusters), gap=3)
    for name, means in zip(view.rows.clusters, view.block_means, strict=True):
        shares = [f"{mean:4.0%} {glyphs.bar * round(bar_width * mean)}" for mean in means]
        made.add_row(f"women {name}", *shares)
    return made


def _quality(view: View, glyphs: Glyphs, most: int = 7) -> Text:
    steps = [f"{value:.2f}" for value in view.model.history_]
    if len(steps) > most:
        steps[most - 2 : -1] = ["..."]
    # The cliques in the order of the groups that share the most women with them.
    shared = view.row_membership.astype(int).T @ view.data.cliques.astype(int)
    cliques = view.data.cliques[:, linear_sum_assignment(shared, maximize=True)[1]]
    agrees = cliques == view.row_membership
    differs = [name for name, same in zip(view.rows.names, agrees, strict=True) if not same.all()]
    exceptions = f" The exceptions: {', '.join(differs)}." if differs else ""
    return Text(
        f"The objective adds up, over all blocks, the squared differences between the cells and "
        f"what their groups lead one to expect; lower is better. The best start went from "
        f"{steps[0]} to {steps[-1]} in {plural(view.model.n_iter_, 'iteration')}:\n"
        f"{f' {glyphs.arrow} '.join(steps)}\n\n"
        f"The authors of the book, who knew the town, saw two overlapping cliques of women. Of "
        f"the {cliques.size} questions whether a woman belongs to a group, neocc answers "
        f"{agrees.sum()} as they did.{exceptions}"
    )
