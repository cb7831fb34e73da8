"""How many groups a file has: a ranked table, and the command that follows from it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from neocc.cli._choose import choose, choose_from, set_aside
from neocc.cli._fit_page import chosen, file_line, finite, section
from neocc.cli._fitting import Progress
from neocc.cli._guard import as_options, blaming_the_user, collected_warnings
from neocc.cli._load import Loaded, load
from neocc.cli._reasons import Choice, criterion_in_words
from neocc.cli._settings import FitSettings
from neocc.cli._stored import draw_to_choose
from neocc.selection import SuggestedClusters, suggest_n_clusters

__all__ = ["Suggestion", "suggest_file", "suggestion_json", "suggestion_page"]

_MOST_PAIRS = 10


@dataclass(frozen=True)
class Suggestion:
    """Numbers of groups, ranked, and overlap and outliers for the best of them."""

    loaded: Loaded
    ranked: SuggestedClusters
    choices: list[Choice]
    notes: list[str]


def suggest_file(
    path: Path,
    settings: FitSettings,
    row_clusters: list[int] | None,
    column_clusters: list[int] | None,
    criterion: str,
    n_init: int,
    progress: Progress,
) -> Suggestion:
    """Rank numbers of groups for the matrix in a file.

    Parameters
    ----------
    path : Path
        The file.
    settings : FitSettings
        How to read it, the objective, the rule for overlap, the seed and the number of threads.
    row_clusters, column_clusters : list of int or None
        Numbers to try.
    criterion : str
        What ranks them.
    n_init : int
        Starts per pair.
    progress : callable
        As in `fit_file`.
    """
    with collected_warnings() as warned:
        loaded, ranked, choices = _suggested(
            path, settings, row_clusters, column_clusters, criterion, n_init, progress
        )
    return Suggestion(loaded, ranked, choices, [*ranked.notes, *warned])


def _suggested(
    path: Path,
    settings: FitSettings,
    row_clusters: list[int] | None,
    column_clusters: list[int] | None,
    criterion: str,
    n_init: int,
    progress: Progress,
) -> tuple[Loaded, SuggestedClusters, list[Choice]]:
    with progress("Reading the file"), blaming_the_user():
        loaded = load(path, settings)
        drawn = draw_to_choose(loaded.matrix.data, settings) if loaded.is_stored else None
    X = loaded.matrix.data if drawn is None else drawn.data
    names = [criterion, *(name for name in ("icl", "hull", "pseudo_f") if name != criterion)]
    with progress("Trying pairs of numbers") as tick, blaming_the_user(loaded.matrix):
        ranked = suggest_n_clusters(
            X,
            row_clusters,
            column_clusters,
            objective=settings.objective,  # type: ignore[arg-type]
            criteria=names,
            n_init=n_init,
            random_state=settings.seed,
            n_jobs=settings.jobs,
            callback=tick,
            **set_aside(X, settings),
        )
    if drawn is not None and not drawn.is_whole:
        ranked = replace(ranked, notes=(*ranked.notes, f"computed from {drawn.in_words('rows')}."))
    if not ranked.complete:
        return loaded, ranked, []
    rows, columns = ranked.best
    asked = replace(settings, rows=rows, columns=columns)
    with progress("Estimating overlap and outliers"), blaming_the_user():
        _, choices, _ = choose(X, asked) if drawn is None else choose_from(drawn, asked)
    return loaded, ranked, choices


def suggestion_page(found: Suggestion) -> Iterator[RenderableType]:
    """Yield what to print."""
    ranked = found.ranked
    rows, columns = ranked.best
    yield file_line(found.loaded.file)
    best = f"{rows} groups of rows and {columns} of columns"
    if not ranked.complete:
        best += f" (interrupted: best of {len(ranked.table)} of {ranked.n_pairs} pairs)"
    why = Text(f"by {criterion_in_words(ranked.criteria[0])}", "dim")
    yield section("Suggested", Text(best, "bold green"), why)
    yield section("The best pairs", _table(ranked))
    if found.choices:
        yield section("For the first of them", *chosen(found.choices))
    source = shlex.quote(str(found.loaded.file.source))
    yield section("Next")
    yield f"  neocc fit {source} --rows {rows} --columns {columns}"


def suggestion_json(found: Suggestion) -> dict[str, Any]:
    """Return the answer for programs."""
    ranked = found.ranked
    names = ranked.table.dtype.names or ()
    return {
        "input": {"path": str(found.loaded.file.source), "sha256": found.loaded.file.sha256},
        "best": {"rows": ranked.best[0], "columns": ranked.best[1]},
        "criterion": ranked.criteria[0],
        "estimates": {name: one for c in found.choices for name, one in c.options.items()},
        "table": [{name: finite(row[name].item()) for name in names} for row in ranked.table],
        "complete": ranked.complete,
        "notes": [as_options(note) for note in found.notes],
    }


def _table(ranked: SuggestedClusters) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("rank", "rows", "columns", "objective", "explained", *ranked.criteria):
        table.add_column(name, justify="right", no_wrap=True)
    for row in ranked.table[:_MOST_PAIRS]:
        table.add_row(
            str(row["rank"]),
            str(row["n_row_clusters"]),
            str(row["n_column_clusters"]),
            f"{row['objective']:.6g}",
            f"{row['explained']:.1%}",
            *(f"{row[name]:.5g}" for name in ranked.criteria),
        )
    if len(ranked.table) > _MOST_PAIRS:
        table.add_row("...", "", "", f"{len(ranked.table) - _MOST_PAIRS} more")
    return table
