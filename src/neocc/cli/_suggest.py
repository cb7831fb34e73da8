"""How many groups a file has: a ranked table, and the command that follows from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from neocc.cli._choose import Choice, asked_model, choose
from neocc.cli._command import Answer
from neocc.cli._fit import Progress
from neocc.cli._fit_page import chosen, file_line, finite
from neocc.cli._guard import INTERRUPTED, as_options, blaming_the_user, collected_warnings
from neocc.cli._kinds import AUTO
from neocc.cli._load import draw_to_choose, look
from neocc.cli._settings import FitSettings
from neocc.cli._story import fit_again
from neocc.cli._terminal import section, table
from neocc.io import Matrix
from neocc.plot._words import plural
from neocc.selection import PredictedClusters, SuggestedClusters, suggest_n_clusters

__all__ = ["suggest_answer"]

Ranked: TypeAlias = SuggestedClusters | PredictedClusters

_CRITERIA = {
    "prediction": "the prediction of cells that were held out",
    "icl": "the integrated completed likelihood (icl), which weighs fit against number of groups",
    "hull": "the elbow of the objective (hull), beyond which more groups gain little",
    "pseudo_f": "the two-mode ratio of Calinski and Harabasz (pseudo_f)",
}
_MOST_PAIRS = 10


def suggest_answer(
    path: Path,
    settings: FitSettings,
    numbers: tuple[list[int] | None, list[int] | None],
    criterion: str,
    n_init: int,
    progress: Progress,
) -> Answer:
    """Rank numbers of groups of rows and of columns; estimate overlap and outliers for the best."""
    choices: list[Choice] = []
    asked_model(settings)
    with collected_warnings() as notes:
        with progress("Reading the file"), blaming_the_user():
            seen = look(path, settings)
            asked, settings = settings, seen.settings
            rows = draw_to_choose(seen.matrix.data, settings)
        others = [name for name in _CRITERIA if name not in (criterion, "prediction")]
        criteria = criterion if criterion == "prediction" else [criterion, *others]
        with progress("Trying pairs of numbers") as tick, blaming_the_user(seen.matrix):
            ranked = suggest_n_clusters(
                rows.data,
                *numbers,
                criteria=criteria,
                objective=settings.objective,
                missing=settings.estimator_options["missing"],
                remove_effects=bool(settings.remove_effects),
                # Outliers and items in two groups would ask for groups of their own.
                row_overlap=AUTO,
                row_outliers=AUTO,
                column_overlap=AUTO,
                column_outliers=AUTO,
                n_init=n_init,
                random_state=settings.seed,
                n_jobs=settings.jobs,
                callback=tick,
            )
        if ranked.complete:
            best = replace(settings, rows=ranked.best[0], columns=ranked.best[1])
            with progress("Estimating overlap and outliers"), blaming_the_user():
                _, choices, _ = choose(rows, best)
    sampled = [] if rows.is_whole else [f"computed from {rows.in_words('rows')}."]
    notes = [*ranked.notes, *sampled, *notes]
    return Answer(
        lambda: _page(path, seen.file, ranked, [*seen.choices, *choices], asked),
        lambda: _json(seen.file, ranked, choices, notes),
        notes,
        code=0 if ranked.complete else INTERRUPTED,
    )


def _page(
    path: Path, file: Matrix, ranked: Ranked, choices: Sequence[Choice], settings: FitSettings
) -> Iterator[RenderableType]:
    rows, columns = ranked.best
    yield file_line(file)
    best = f"{plural(rows, 'group')} of rows and {columns} of columns"
    if not ranked.complete:
        best += f" (interrupted: {ranked.progress})"
    by = Text(f"by {_CRITERIA[ranked.criteria[0]]}", "dim")
    yield section("Suggested", Text(best, "bold green"), by)
    if isinstance(ranked, PredictedClusters):
        why = (f"{each.side}: {each.reason}.".replace("cluster", "group") for each in ranked.sides)
        yield section("Why", *map(Text, why))
        yield section("Held-out error", _errors(ranked))
    else:
        yield section("The best pairs", _table(ranked))
    if choices:
        yield section("For the first of them", *chosen(choices))
    yield section("Next")
    yield f"  {fit_again(path, settings, rows=rows, columns=columns)}"


def _json(
    file: Matrix, ranked: Ranked, choices: Sequence[Choice], notes: Sequence[str]
) -> dict[str, Any]:
    names = ranked.table.dtype.names or ()
    return {
        "input": {"path": str(file.source), "sha256": file.sha256},
        "best": {"rows": ranked.best[0], "columns": ranked.best[1]},
        "criterion": ranked.criteria[0],
        "clear": getattr(ranked, "is_clear", None),
        "estimates": {name: one for c in choices for name, one in c.options.items()},
        "table": [{name: finite(row[name].item()) for name in names} for row in ranked.table],
        "complete": ranked.complete,
        "notes": [as_options(note) for note in notes],
    }


def _errors(ranked: PredictedClusters) -> Table:
    """Return errors and agreement for the number chosen, its neighbours, and the largest."""
    made = table("groups of", "number", "error", "parts agree", right=(1, 2, 3))
    for side in ranked.sides:
        for at in side.shown:
            error = f"{side.errors[at - 1]:.4g}"
            made.add_row(side.side, str(at), error, f"{side.stability[at - 1]:.2f}")
    return made


def _table(ranked: SuggestedClusters) -> Table:
    names = ("rank", "rows", "columns", "objective", "explained", *ranked.criteria)
    made = table(*names, right=range(len(names)))
    for row in ranked.table[:_MOST_PAIRS]:
        made.add_row(
            *(str(row[name]) for name in ("rank", "n_row_clusters", "n_column_clusters")),
            f"{row['objective']:.6g}",
            f"{row['explained']:.1%}",
            *(f"{row[name]:.5g}" for name in ranked.criteria),
        )
    if len(ranked.table) > _MOST_PAIRS:
        made.add_row("...", "", "", f"{len(ranked.table) - _MOST_PAIRS} more")
    return made
