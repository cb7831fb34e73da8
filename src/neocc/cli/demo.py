"""``neocc demo``: co-cluster the Southern Women and explain the result on one page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console

from neocc.cli._page import PAGE_WIDTH, View, page
from neocc.cli._picture import ASCII, UNICODE
from neocc.plot.arrange import arrange_both

if TYPE_CHECKING:
    from sklearn.utils import Bunch

__all__ = ["SETTINGS", "make_view", "neutral_order", "run_demo"]

# Of 18 women one may stay outside and one membership is added, so that two women can be in both
# groups; of 14 events one may stay outside and none is shared.
SETTINGS: dict[str, Any] = {
    "n_row_clusters": 2,
    "n_column_clusters": 3,
    "row_overlap": 0.05,
    "row_outliers": 0.05,
    "column_overlap": -0.07,
    "column_outliers": 0.07,
    "n_init": 10,
    "random_state": 0,
}


def run_demo(console: Console | None = None, *, quiet: bool = False, as_json: bool = False) -> None:
    """Fit the model and print the page.

    Parameters
    ----------
    console : rich.console.Console, default=None
        Where to print; standard output when not given.
    quiet : bool, default=False
        Whether to print nothing.
    as_json : bool, default=False
        Whether to print the result as JSON instead.
    """
    from neocc import NEOCC
    from neocc.cli._terminal import Terminal

    terminal = Terminal(quiet=quiet, as_json=as_json)
    data = neutral_order()
    view = make_view(data, NEOCC(**SETTINGS).fit(data.data))
    terminal.result(lambda: demo_json(view))
    if terminal.for_people:
        _show(console or Console(highlight=False), view)


def _show(console: Console, view: View) -> None:
    glyphs = ASCII if console.options.ascii_only else UNICODE
    for part in page(view, glyphs):
        console.print(part, width=min(console.width, PAGE_WIDTH))
    if console.width < PAGE_WIDTH:
        console.print(f"\nThe pictures need {PAGE_WIDTH} columns; this terminal cuts them off.")


def demo_json(view: View) -> dict[str, Any]:
    """Return the result for programs, groups counted from 1 in the order of the page."""
    sides = (
        ("rows", view.data.row_names, view.row_membership),
        ("columns", view.data.column_names, view.column_membership),
    )
    found = {
        side: [
            {"name": name, "groups": [int(group) + 1 for group in np.flatnonzero(members)]}
            for name, members in zip(names, membership, strict=True)
        ]
        for side, names, membership in sides
    }
    return {
        "settings": dict(view.settings),
        "objective": float(view.history[-1]),
        "block_means": view.block_means.tolist(),
        **found,
    }


def neutral_order() -> Bunch:
    """Load the data, women by name and events by date.

    The book prints the table as its authors sorted it, which gives the answer away.

    Returns
    -------
    data : sklearn.utils.Bunch
        As from `neocc.datasets.load_southern_women`.

    Examples
    --------
    >>> from neocc.cli.demo import neutral_order
    >>> data = neutral_order()
    >>> data.row_names[0], data.column_names[0], data.column_dates[0]
    ('Brenda Rogers', 'E11', '02-23')
    """
    from neocc.datasets import load_southern_women

    data = load_southern_women()
    rows = sorted(range(len(data.row_names)), key=data.row_names.__getitem__)
    columns = sorted(range(len(data.column_names)), key=data.column_dates.__getitem__)
    data.data = data.data[np.ix_(rows, columns)]
    data.row_names = [data.row_names[p] for p in rows]
    data.column_names = [data.column_names[t] for t in columns]
    data.column_dates = [data.column_dates[t] for t in columns]
    data.cliques = data.cliques[rows]
    return data


def make_view(data: Bunch, model: Any) -> View:
    """Read a fitted model, its clusters in the order to show them.

    Parameters
    ----------
    data : Bunch
        The data the model was fitted to.
    model : NEOCC
        The fitted model.

    Returns
    -------
    view : View
        What the page shows.
    """
    rows, columns = arrange_both(
        model.row_membership_, model.column_membership_, model.block_means_
    )
    return View(
        data=data,
        rows=rows.renumbered().segments,
        columns=columns.renumbered().segments,
        row_membership=model.row_membership_[:, rows.clusters],
        column_membership=model.column_membership_[:, columns.clusters],
        block_means=model.block_means_[np.ix_(rows.clusters, columns.clusters)],
        history=np.asarray(model.history_),
        n_iter=model.n_iter_,
        settings=SETTINGS,
    )
