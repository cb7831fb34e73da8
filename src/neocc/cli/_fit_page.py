"""What `neocc fit` says when it is done: for people, and for programs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from neocc.cli._fitting import FitOutcome
from neocc.cli._guard import as_options, printable
from neocc.cli._load import STORE
from neocc.cli._reasons import Choice
from neocc.io import column_distances
from neocc.plot._words import fall, plural
from neocc.report._facts import Side, group_facts
from neocc.report._result import Result, read_result
from neocc.report._words import figure, headline

__all__ = ["chosen", "file_line", "finite", "fit_json", "fit_page", "section"]

_MOST_GROUPS = 12
_MOST_BLOCK_COLUMNS = 8
_N_TYPICAL = 12
_SIDES = ("row", "column")


def fit_page(outcome: FitOutcome) -> Iterator[RenderableType]:
    """Yield the page from top to bottom."""
    result = _measured(outcome)
    yield file_line(outcome.loaded.file)
    if outcome.choices:
        yield section("Chosen for you", *chosen(outcome.choices))
    found = headline(result.sides)
    if outcome.interrupted:
        found += " (interrupted: the best so far)"
    yield section("Found", Text(printable(found), "bold green"))
    for side in result.sides:
        yield section(f"Groups of {printable(side.noun)}", _group_table(result, side))
    if result.clusters.means is not None and len(result.clusters.means[0]) <= _MOST_BLOCK_COLUMNS:
        yield section("Mean of every block", _block_table(result))
    yield Text(f"\n{fall(outcome.model.history_)}.", "dim")
    yield section(f"Written to {printable(str(outcome.folder))}", _files(outcome))


def fit_json(outcome: FitOutcome) -> dict[str, Any]:
    """Return the answer for programs."""
    file, model = outcome.loaded.file, outcome.model
    sides = _result_of(outcome).sides
    return {
        "input": {
            "path": str(file.source),
            "format": file.format,
            "sha256": file.sha256,
            "shape": list(file.shape),
            "notes": [as_options(note) for note in file.notes],
        },
        "settings": outcome.settings.as_json(),
        "choices": [
            {"what": choice.what, "why": choice.why, "options": choice.options}
            for choice in outcome.choices
        ],
        "result": {
            "headline": headline(sides),
            "objective": float(model.objective_),
            "n_iter": int(model.n_iter_),
            **{f"{side}s": _side_json(facts) for side, facts in zip(_SIDES, sides, strict=True)},
            "block_means": [[finite(float(mean)) for mean in line] for line in model.block_means_],
        },
        "interrupted": outcome.interrupted,
        "checkpoint": None if outcome.checkpoint is None else str(outcome.checkpoint),
        "notes": [as_options(note) for note in outcome.notes],
        "output": {
            "folder": str(outcome.folder),
            "files": sorted(path.name for path in outcome.folder.iterdir()),
        },
    }


def section(title: str, *parts: RenderableType) -> RenderableType:
    """Put a title above indented parts."""
    return Group(Text(f"\n{title}", "bold"), *(Padding.indent(part, 2) for part in parts))


def chosen(choices: Iterable[Choice]) -> Iterator[RenderableType]:
    """List what was chosen, with the reasons."""
    for choice in choices:
        yield Text(choice.what)
        yield Padding.indent(Text(choice.why, "dim"), 2)


def finite(value: float) -> float | None:
    """Return a number that JSON knows, None for others."""
    return value if math.isfinite(value) else None


def file_line(file: Any) -> RenderableType:
    """Say what was read."""
    n_rows, n_columns = file.shape
    text = f"{file.source}: {n_rows:,} rows, {n_columns:,} columns"
    if file.is_sparse:
        text += f", {file.data.nnz:,} entries"
    elif file.format == STORE:
        text += f", {file.data.n_stored:,} entries in {plural(file.data.n_blocks, 'block')}"
    notes = " ".join(as_options(note) for note in file.notes)
    return Group(Text(printable(text), "bold"), Padding.indent(Text(printable(notes), "dim"), 2))


def _result_of(outcome: FitOutcome) -> Result:
    nouns = (outcome.settings.row_noun, outcome.settings.column_noun)
    matrix = outcome.loaded.matrix
    if outcome.loaded.is_stored:
        # The rows of a store stay on disk.
        return read_result(outcome.model, None, matrix.row_names, matrix.column_names, nouns)
    return read_result(outcome.model, matrix, None, None, nouns)


def _measured(outcome: FitOutcome) -> Result:
    """Return the result with distances, which tell who is typical; of a store by a pass over it."""
    result = _result_of(outcome)
    if not outcome.loaded.is_stored:
        return result
    store = outcome.loaded.matrix.data
    rows = replace(result.rows, distances=outcome.model.transform(store))
    assert result.columns is not None
    columns = replace(result.columns, distances=column_distances(outcome.model, store))
    return replace(result, rows=rows, columns=columns)


def _side_json(side: Side) -> dict[str, Any]:
    one, several, none = side.n_in
    return {
        "in_one_group": one,
        "in_several_groups": several,
        "outliers": none,
        "group_sizes": [int(size) for size in side.sizes],
    }


def _group_table(result: Result, side: Side) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("group", "size", "shared"):
        table.add_column(name, justify="right", no_wrap=True)
    # Of all columns only this one gives way; its cells are cut, not wrapped.
    table.add_column("most typical")
    for cluster in range(min(side.n_clusters, _MOST_GROUPS)):
        facts = group_facts(side, cluster, _N_TYPICAL, result.other_sizes(side))
        names = [printable(side.name(item)) for item, _ in facts.typical]
        table.add_row(
            str(cluster + 1), f"{facts.size:,}", f"{facts.n_shared:,}", _in_one_line(names)
        )
    if side.n_clusters > _MOST_GROUPS:
        table.add_row("", "", "", f"and {side.n_clusters - _MOST_GROUPS} more groups")
    outliers = [int(item) for item in (side.weights == 0).nonzero()[0]]
    if outliers:
        names = [printable(side.name(item)) for item in outliers[:_N_TYPICAL]]
        table.add_row("none", f"{len(outliers):,}", "", _in_one_line(names))
    return table


def _in_one_line(names: Sequence[str]) -> Text:
    return Text(", ".join(names), no_wrap=True, overflow="ellipsis")


def _block_table(result: Result) -> Table:
    means: Sequence[Sequence[float]] = result.clusters.means  # type: ignore[assignment]
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column(f"{printable(result.nouns[0])} \\ {printable(result.nouns[1])}", style="dim")
    for cluster in range(len(means[0])):
        table.add_column(str(cluster + 1), justify="right")
    for cluster, line in enumerate(means[:_MOST_GROUPS]):
        table.add_row(str(cluster + 1), *(figure(float(mean)) for mean in line))
    if len(means) > _MOST_GROUPS:
        table.add_row("...", *("..." for _ in means[0]))
    return table


def _files(outcome: FitOutcome) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    if outcome.settings.report:
        what = "a sample of the rows" if outcome.page_is_sample else "everything on one page"
        table.add_row("report.html", f"{what}: open it in a browser")
    table.add_row("rows.csv, columns.csv", "who belongs to which group")
    table.add_row("blocks.csv", "means and errors of the blocks")
    if outcome.settings.parquet:
        table.add_row("*.parquet", "the same tables as Parquet")
    table.add_row("model.neocc", "for neocc predict, and for load_model in Python")
    table.add_row("record.json", "repeats this run: neocc fit --from record.json")
    return table
