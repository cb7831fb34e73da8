"""What `neocc fit` says when it is done: for people, and for programs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from neocc.cli._choose import Choice
from neocc.cli._command import Answer
from neocc.cli._fit import FitOutcome
from neocc.cli._guard import INTERRUPTED, as_options, printable
from neocc.cli._load import STORE
from neocc.cli._story import story_page
from neocc.cli._terminal import section, table
from neocc.plot._measure import LIFT
from neocc.plot._words import fall, plural
from neocc.report._enriched import LEVEL, enriched, p_text
from neocc.report._explained import by_models, meaning
from neocc.report._facts import group_facts
from neocc.report._result import Result, read_result
from neocc.report._side import Side
from neocc.report._words import figure_of, headline

__all__ = ["chosen", "file_line", "finite", "fit_answer"]

_MOST_GROUPS = 12
_MOST_BLOCK_COLUMNS = 8
_N_TYPICAL = 12
_COUNTS = ("in_one_group", "in_several_groups", "outliers")


def fit_answer(outcome: FitOutcome) -> Answer:
    """Describe what a fit did."""
    complaints = []
    if outcome.interrupted:
        said = f"Interrupted. The best result so far is in {outcome.plan.folder}."
        if outcome.checkpoint is not None:
            said += f" The same command with --force resumes from {outcome.checkpoint}."
        complaints.append(said)
    elif outcome.cut_short:
        complaints.append(
            "Interrupted while settings were chosen: the best so far were taken. The result is in "
            f"{outcome.plan.folder}."
        )
    elif outcome.late:
        complaints.append(f"Interrupted after the fit. The result is in {outcome.plan.folder}.")
    return Answer(
        lambda: _page(outcome),
        lambda: _json(outcome),
        outcome.notes,
        complaints,
        INTERRUPTED if complaints else 0,
        complaints[0] if complaints else f"Interrupted. The result is in {outcome.plan.folder}.",
    )


def _page(outcome: FitOutcome) -> Iterator[RenderableType]:
    result = _result_of(outcome, outcome.seen.matrix.data)
    yield file_line(outcome.seen.file)
    yield section("The data", Text(printable(outcome.story["data"])))
    if outcome.choices:
        yield section("Chosen for you", *chosen(outcome.choices))
    found = headline(result.sides)
    if outcome.interrupted:
        found += " (interrupted: the best so far)"
    yield section("Found", Text(printable(found), "bold green"), *_overlap(result))
    for side in result.sides:
        yield section(f"Groups of {printable(side.noun)}", _group_table(result, side))
        if side.labels is not None:
            title = f"Labels of {printable(side.noun)} more often than by chance"
            yield section(f"{title} (adjusted p up to {LEVEL:g})", _label_table(side))
    if result.clusters.means is not None and len(result.clusters.means[0]) <= _MOST_BLOCK_COLUMNS:
        title = _block_title(result, outcome.settings.preprocess)
        yield section(title, _block_table(result, result.clusters.means))
        if outcome.story["block_means"] is not None:
            in_file = _block_table(result, outcome.story["block_means"])
            yield section("The same in the units of the file", in_file)
    yield Text(f"\n{fall(outcome.model.history_)}.", "dim")
    yield from story_page(outcome.story)
    yield section(f"Written to {printable(str(outcome.plan.folder))}", _files(outcome))


def _json(outcome: FitOutcome) -> dict[str, Any]:
    file, model = outcome.seen.file, outcome.model
    sides = _result_of(outcome, None).sides
    tested = outcome.known.tested((model.row_membership_, model.column_membership_))
    return {
        "input": {
            "path": str(file.source),
            "format": file.format,
            "sha256": file.sha256,
            "shape": list(file.shape),
            "notes": [as_options(note) for note in file.notes],
        },
        "data": outcome.seen.description.to_dict(),
        "story": outcome.story,
        "settings": outcome.settings.as_json(),
        "choices": [
            {"what": choice.what, "why": choice.why, "options": choice.options}
            for choice in outcome.choices
        ],
        "result": {
            "headline": headline(sides),
            "objective": float(model.objective_),
            "n_iter": int(model.n_iter_),
            **{
                side: {
                    **dict(zip(_COUNTS, facts.n_in, strict=True)),
                    "group_sizes": [int(size) for size in facts.sizes],
                    **({"enrichment": tested[side]} if side in tested else {}),
                }
                for side, facts in zip(("rows", "columns"), sides, strict=True)
            },
            **{
                f"block_{kind}": [[finite(float(value)) for value in line] for line in table_]
                for kind, table_ in (("means", model.block_means_), ("lifts", model.block_lifts_))
                if table_ is not None
            },
        },
        "interrupted": outcome.interrupted or outcome.cut_short,
        "checkpoint": None if outcome.checkpoint is None else str(outcome.checkpoint),
        "notes": [as_options(note) for note in outcome.notes],
        "output": {
            "folder": str(outcome.plan.folder),
            "files": sorted(path.name for path in outcome.plan.folder.iterdir()),
        },
    }


def chosen(choices: Iterable[Choice]) -> Iterator[RenderableType]:
    """List what was chosen, with the reasons."""
    for choice in choices:
        yield Text(choice.what)
        yield Padding.indent(Text(choice.why, "dim"), 2)


def finite(value: float | str) -> float | str | None:
    """Return a number that JSON knows, None for others; a text as it is."""
    return value if isinstance(value, str) or math.isfinite(value) else None


def file_line(file: Any) -> RenderableType:
    """Say what was read."""
    n_rows, n_columns = file.shape
    text = f"{file.source}: {plural(n_rows, 'row')}, {plural(n_columns, 'column')}"
    if file.is_sparse:
        text += f", {file.data.nnz:,} entries"
    elif file.format == STORE:
        text += f", {file.data.n_stored:,} entries in {plural(file.data.n_blocks, 'block')}"
    notes = " ".join(as_options(note) for note in file.notes)
    return Group(Text(printable(text), "bold"), Padding.indent(Text(printable(notes), "dim"), 2))


def _result_of(outcome: FitOutcome, X: Any) -> Result:
    """Return what the page is about; with the data, distances tell who is typical."""
    known, ids = outcome.known, outcome.seen.matrix
    names = known.row_names or ids.row_names, known.column_names or ids.column_names
    labels = known.labels, known.labels_of_columns
    return read_result(outcome.model, X, *names, outcome.settings.nouns, labels)


def _group_table(result: Result, side: Side) -> Table:
    # Of all columns only the last one gives way; its cells are cut, not wrapped.
    other = result.columns if side is result.rows else result.rows
    what = "members" if side.distances is None else "most typical"
    if side.associations is not None and other is not None:
        what = f"{printable(other.noun)} most beyond expectation"
    made = table("group", "size", "shared", what, right=range(3))
    for cluster in range(min(side.n_clusters, _MOST_GROUPS)):
        facts = group_facts(side, cluster, _N_TYPICAL, result.other_sizes(side))
        names = [printable(side.name(item)) for item, _ in facts.typical]
        if facts.frequent and other is not None:
            names = [f"{printable(other.name(o))} {LIFT.figure(x)}" for o, x in facts.frequent]
        made.add_row(
            str(cluster + 1), f"{facts.size:,}", f"{facts.n_shared:,}", _in_one_line(names)
        )
    _add_more(made, side)
    outliers = [int(item) for item in (side.weights == 0).nonzero()[0]]
    if outliers:
        names = [printable(side.name(item)) for item in outliers[:_N_TYPICAL]]
        made.add_row("none", f"{len(outliers):,}", "", _in_one_line(names))
    return made


def _label_table(side: Side) -> Table:
    tested, known = side.enrichment, side.labels
    assert tested is not None and known is not None
    made = table("group", "labels (members, by chance, adjusted p)", right=[0])
    for cluster in range(min(side.n_clusters, _MOST_GROUPS)):
        found = [
            f"{printable(known.names[label])} ({tested.counts[label, cluster]:,}, "
            f"{tested.expected[label, cluster]:.3g}, {p_text(tested.adjusted[label, cluster])})"
            for label in enriched(tested, cluster)[:_N_TYPICAL].tolist()
        ]
        made.add_row(str(cluster + 1), _in_one_line(found or ["none"]))
    _add_more(made, side)
    return made


def _add_more(made: Table, side: Side) -> None:
    if side.n_clusters > _MOST_GROUPS:
        blanks = [""] * (len(made.columns) - 1)
        made.add_row(*blanks, f"and {plural(side.n_clusters - _MOST_GROUPS, 'more group')}")


def _in_one_line(names: Sequence[str]) -> Text:
    return Text(", ".join(names), no_wrap=True, overflow="ellipsis")


def _block_title(result: Result, steps: Sequence[str]) -> str:
    """Say what the numbers of blocks are, and of which values."""
    measure = result.measure
    title = f"{measure.noun.capitalize()} of every block"
    if result.rows.cells is not None:
        title += " (cells observed)"
    if measure.is_ratio:
        title += " (how many times as often as expected)"
    return f"{title}, of the values after {', '.join(steps)}" if steps else title


def _block_table(result: Result, means: Any) -> Table:
    rows, columns = (printable(noun) for noun in result.nouns)
    numbers = [str(place + 1) for place in range(len(means[0]))]
    made = table(f"{rows} \\ {columns}", *numbers, right=range(1, len(numbers) + 1))
    made.columns[0].style = "dim"
    cells = result.rows.cells
    for cluster, line in enumerate(means[:_MOST_GROUPS]):
        figures = ["" if x is None else figure_of(result.measure, float(x)) for x in line]
        if cells is not None:
            counts = cells.observed[cluster].tolist()
            figures = [f"{text} ({n:,})" for text, n in zip(figures, counts, strict=True)]
        made.add_row(str(cluster + 1), *figures)
    if len(means) > _MOST_GROUPS:
        made.add_row("...", *("..." for _ in means[0]))
    return made


def _overlap(result: Result) -> Iterator[RenderableType]:
    """Say what several memberships cost, where there are any."""
    if any(side.n_in[1] for side in result.sides):
        yield Text(f"Overlap model {meaning(result)}. {by_models(result)}".rstrip(), "dim")


def _files(outcome: FitOutcome) -> Table:
    made = table()
    if outcome.settings.report:
        what = "a sample of the rows" if outcome.page_is_sample else "everything on one page"
        made.add_row("report.html", f"{what}: open it in a browser")
    made.add_row("rows.csv, columns.csv", "who belongs to which group")
    lifts = "" if outcome.model.block_lifts_ is None else "lifts, "
    made.add_row("blocks.csv", f"{lifts}means and errors of the blocks")
    if outcome.settings.parquet:
        made.add_row("*.parquet", "the same tables as Parquet")
    made.add_row("model.neocc", "for neocc predict, and for load_model in Python")
    made.add_row("record.json", "repeats this run: neocc fit --from record.json")
    return made
