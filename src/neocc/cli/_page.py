"""The page that ``neocc demo`` prints.

Every name and number on it is read from the data or from the fitted model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from neocc._typing import BoolArray, FloatArray
from neocc.cli._picture import UNICODE, Glyphs, bands, draw, whole
from neocc.plot.arrange import Segment

if TYPE_CHECKING:
    from sklearn.utils import Bunch

__all__ = ["PAGE_WIDTH", "View", "page"]

PAGE_WIDTH = 80


@dataclass(frozen=True)
class View:
    """A data set and its co-clustering, with the clusters in the order to show them.

    Attributes
    ----------
    data : Bunch
        The Southern Women, women by name and events by date.
    rows, columns : sequence of Segment
        Women and events in the order to show them.
    row_membership, column_membership : ndarray, bool
        Which woman and which event belong to which group.
    block_means : ndarray of shape (n_row_clusters, n_column_clusters)
        Share of attendances in every block.
    history : ndarray
        Objective of the start and after every half-step.
    n_iter : int
        Number of iterations.
    settings : mapping
        Parameters of the estimator that were set.
    """

    data: Bunch
    rows: Sequence[Segment]
    columns: Sequence[Segment]
    row_membership: BoolArray
    column_membership: BoolArray
    block_means: FloatArray
    history: FloatArray
    n_iter: int
    settings: Mapping[str, Any]

    @property
    def row_names(self) -> list[str]:
        """Names of the groups of women: letters."""
        return list(ascii_uppercase[: self.row_membership.shape[1]])

    @property
    def column_names(self) -> list[str]:
        """Names of the groups of events: numbers."""
        return [str(j + 1) for j in range(self.column_membership.shape[1])]


def page(view: View, glyphs: Glyphs = UNICODE) -> Iterator[RenderableType]:
    """Yield the page from top to bottom.

    Parameters
    ----------
    view : View
        What to show.
    glyphs : Glyphs, default=UNICODE
        The characters to draw with.

    Yields
    ------
    part : RenderableType
        Something that a rich console can print.
    """
    data = view.data
    rows, columns = view.rows, view.columns
    names = data.row_names, data.column_names
    n_rows, n_columns = data.data.shape
    yield Panel(_introduction(data), title="neocc demo: who met whom?", title_align="left")
    yield _section(
        "Before: women by name, events by date",
        draw(data.data, *names, whole(n_rows), whole(n_columns), glyphs),
        Text(f"{glyphs.member} attended   {glyphs.zero} did not", "dim"),
    )
    yield _section("What was asked", _request(view))
    yield _section(
        "After: the same table, sorted by what was found",
        draw(
            data.data,
            *names,
            bands(rows, view.row_names),
            bands(columns, view.column_names),
            glyphs,
        ),
        _legend(glyphs),
    )
    yield _section("Groups of women", _group_table(rows, view.row_names, data.row_names))
    events = [f"{e} ({d})" for e, d in zip(data.column_names, data.column_dates, strict=True)]
    yield _section("Groups of events (month-day)", _group_table(columns, view.column_names, events))
    yield _section("How full each block is", _density_table(view, glyphs), _reading(view))
    yield _section("How good it is", _quality(view, glyphs))
    yield _section("Try it on your own matrix", _TRY_IT)


_TRY_IT = Text(
    "from neocc import NEOCC\n"
    "model = NEOCC(n_row_clusters=2, n_column_clusters=3, row_overlap=0.1).fit(X)\n"
    "model.row_membership_, model.column_membership_, model.row_outliers_",
    no_wrap=True,
)


def _section(title: str, *parts: RenderableType) -> RenderableType:
    return Group(Text(f"\n{title}", "bold"), *(Padding.indent(part, 2) for part in parts))


def _introduction(data: Bunch) -> str:
    n_rows, n_columns = data.data.shape
    return (
        f"In the 1930s, in a small town of the American South, anthropologists noted which of "
        f"{n_rows} women were seen at which of {n_columns} social events: {int(data.data.sum())} "
        f"attendances in all (Davis, Gardner and Gardner, Deep South, 1941).\n\n"
        f"neocc groups the women and the events at the same time, from this table alone. Groups "
        f"may overlap, and whoever fits no group may stay outside."
    )


def _request(view: View) -> Text:
    n_rows, n_columns = view.data.data.shape
    used = ", ".join(f"{name}={value}" for name, value in view.settings.items())
    return Text(
        f"NEOCC({used})\n\n"
        f"In words: {len(view.row_names)} groups of women and {len(view.column_names)} of events. "
        f"{view.row_membership.sum()} memberships are shared out among {n_rows} women and "
        f"{view.column_membership.sum()} among {n_columns} events; "
        f"{view.settings['row_outliers']:.0%} of the women and "
        f"{view.settings['column_outliers']:.0%} of the events, rounded to whole ones, may stay "
        f"outside."
    )


def _legend(glyphs: Glyphs) -> Text:
    return Text(
        f"{glyphs.member} attended   {glyphs.overlap} attended, in the overlap of two groups   "
        f"{glyphs.outlier} attended, outlier",
        "dim",
    )


def _group_table(
    parts: Sequence[Segment], cluster_names: Sequence[str], item_names: Sequence[str]
) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    only = "only " if any(part.is_overlap for part in parts) else ""
    for part in parts:
        label = " and ".join(cluster_names[cluster] for cluster in part.clusters)
        if part.is_outlier:
            label = "outlier"
        elif not part.is_overlap:
            label = only + label
        names = _fill([item_names[item] for item in part.items])
        table.add_row(Text(label, "bold"), Text(names))
    return table


def _fill(names: Sequence[str], width: int = PAGE_WIDTH - 16) -> str:
    """Join names to lines of at most ``width`` characters without breaking a name."""
    lines = [names[0]]
    for name in names[1:]:
        lines[-1] += ","
        if len(lines[-1]) + len(name) + 2 <= width:
            lines[-1] += f" {name}"
        else:
            lines.append(name)
    return "\n".join(lines)


def _density_table(view: View, glyphs: Glyphs, bar_width: int = 8) -> Table:
    table = Table(box=None, padding=(0, 3, 0, 0))
    table.add_column("")
    for name in view.column_names:
        table.add_column(f"events {name}")
    for name, means in zip(view.row_names, view.block_means, strict=True):
        shares = [f"{mean:4.0%} {glyphs.bar * round(bar_width * mean)}" for mean in means]
        table.add_row(f"women {name}", *shares)
    return table


def _reading(view: View) -> Text:
    return Text(
        f"For example: had every woman of group {view.row_names[0]} come to every event of group "
        f"{view.column_names[0]}, that would read 100%; it was {view.block_means[0, 0]:.0%}.",
        "dim",
    )


def _quality(view: View, glyphs: Glyphs) -> Text:
    start, end = view.history[0], view.history[-1]
    cliques = _in_found_order(view.data.cliques, view.row_membership)
    agrees = cliques == view.row_membership
    differs = [
        name for name, same in zip(view.data.row_names, agrees, strict=True) if not same.all()
    ]
    exceptions = f" The exceptions: {', '.join(differs)}." if differs else ""
    return Text(
        f"The objective adds up, over all blocks, the squared differences between the cells and "
        f"the mean of their block; lower is better. The best start "
        f"went from {start:.2f} to {end:.2f} in {view.n_iter} "
        f"iteration{'s' if view.n_iter != 1 else ''}:\n"
        f"{_steps(view.history, glyphs)}\n\n"
        f"The authors of the book, who knew the town, saw two overlapping cliques of women. Of "
        f"the {cliques.size} questions whether a woman belongs to a group, neocc answers "
        f"{agrees.sum()} as they did.{exceptions}"
    )


def _steps(history: FloatArray, glyphs: Glyphs, most: int = 7) -> str:
    """Write out the objective step by step, the middle left out when there are many."""
    values = [f"{value:.2f}" for value in history]
    if len(values) > most:
        values[most - 2 : -1] = ["..."]
    return f" {glyphs.arrow} ".join(values)


def _in_found_order(truth: BoolArray, found: BoolArray) -> BoolArray:
    """Sort the columns of ``truth`` like those of ``found`` that share the most items."""
    from scipy.optimize import linear_sum_assignment

    shared = found.astype(int).T @ truth.astype(int)
    _, order = linear_sum_assignment(shared, maximize=True)
    matched: BoolArray = truth[:, order]
    return matched
