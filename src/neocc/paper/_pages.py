"""The pages of a run: HTML and Markdown, a CSV file for each table, a picture for each figure."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from neocc.io._whole import whole_file
from neocc.paper import _tables, _words
from neocc.paper._document import (
    Figure,
    Heading,
    Items,
    Part,
    Table,
    Text,
    as_csv,
    as_html,
    as_markdown,
)
from neocc.paper._errata import errata
from neocc.paper._expected import case_study_table, expected_table
from neocc.paper._figures import draw_figures
from neocc.paper._results import Results
from neocc.paper._store import Store

__all__ = ["make_page", "write_pages"]

_IN_PAPER = ("ML1", "ML2", "ML3")
_PLAID = "IPM"
_BOLD = "Bold: highest average."


def write_pages(results: Results, store: Store) -> Path:
    """Write everything that people read.

    Parameters
    ----------
    results : Results
        The trials.
    store : Store
        The folder and its record.

    Returns
    -------
    page : Path
        The page to open first.
    """
    folder = store.folder
    parts = list(make_page(results, store, draw_figures(results, folder)))
    tables = [part for part in parts if isinstance(part, Table)]
    files = {f"{table.name}.csv": as_csv(table) for table in tables}
    files["trials.csv"] = as_csv(_tables.trials_table(results, "trials"))
    files["paper.md"] = as_markdown(parts)
    files["index.html"] = as_html(parts)
    for name, text in files.items():
        with whole_file(folder / name, force=True) as partial:
            partial.write_text(text, encoding="utf-8")
    return folder / "index.html"


def make_page(results: Results, store: Store, figures: dict[str, Figure]) -> Iterator[Part]:
    """Yield the page from top to bottom."""
    yield Heading("The NEO-CC paper, run again", 1)
    yield from map(Text, _words.about(results))
    yield Heading("What this run shows")
    yield expected_table(results, "expected", "What the library promises, and what this run found.")
    yield Heading("How to read the scores")
    yield from map(Text, _words.about_measures(results))
    yield from _movielens(results, figures)
    yield from _yeast(results, figures)
    yield from _others(results)
    yield from _measures(results)
    yield from _preprocessing(results)
    yield from _case_and_picture(figures)
    yield from _reckoning(results)
    yield from _settings(results, store)


def _movielens(results: Results, figures: dict[str, Figure]) -> Iterator[Part]:
    blocks = [(data, t) for data, t in results.tables if data.printed in _IN_PAPER]
    if not blocks:
        return
    yield Heading("Table 1 and figure 4: MovieLens")
    yield from map(Text, _words.about_movielens())
    for treatment in dict.fromkeys(treatment for _, treatment in blocks):
        yield _tables.system_columns_table(
            results,
            [block for block in blocks if block[1] == treatment],
            f"table-1-{treatment}",
            f"Table 1, preprocessing `{treatment}`: best-match F1 in percent. {_BOLD}",
        )
    if "4" in figures:
        yield figures["4"]
    if _PLAID in results.study.systems:
        yield Heading("Table 2: the trials of IPM")
        yield _tables.plaid_table(
            results, blocks[0][0], _PLAID, "table-2", "Table 2: best-match F1 in percent."
        )


def _yeast(results: Results, figures: dict[str, Figure]) -> Iterator[Part]:
    found = [data for data, _ in results.tables if data.printed == "yeast"]
    if not found:
        return
    yield Heading("Table 3 and figure 3: yeast")
    yield from map(Text, _words.about_yeast())
    yield _tables.yeast_table(
        results, found[0], "table-3", f"Table 3: best-match F1 in percent. {_BOLD}"
    )
    if "3" in figures:
        yield figures["3"]


def _others(results: Results) -> Iterator[Part]:
    blocks = [(data, treatment) for data, treatment in results.tables if data.printed is None]
    if not blocks:
        return
    yield Heading("Other real data")
    yield from map(Text, _words.about_others())
    yield _tables.system_columns_table(
        results,
        blocks,
        "table-others",
        f"Data sets that the paper does not have: best-match F1 in percent. {_BOLD}",
    )


def _measures(results: Results) -> Iterator[Part]:
    yield Heading("All data sets by all measures")
    yield from _tables.measure_tables(results)


def _preprocessing(results: Results) -> Iterator[Part]:
    if not results.study.tried_systems:
        return
    yield Heading("Preprocessing of the ratings: what was tried")
    yield _tables.tried_table(results, "tried", _words.tried_caption(results))
    yield from map(Text, _words.about_tried())
    yield _tables.treatments_table(results, "treatments", "What the names mean.")


def _case_and_picture(figures: dict[str, Figure]) -> Iterator[Part]:
    if "1" in figures:
        yield Heading("Figure 1: a matrix sorted by its co-clusters")
        yield figures["1"]
    yield Heading("Figure 2: the case study")
    yield case_study_table("figure-2", "Objectives of the four co-clusterings of figure 2.")
    if "2" in figures:
        yield figures["2"]


def _reckoning(results: Results) -> Iterator[Part]:
    yield Heading("What could be reproduced, and what could not")
    yield Heading("Could", 3)
    yield Items(_words.reproduced(results))
    yield Heading("Could not, and why", 3)
    yield Items(_words.not_reproduced())
    yield Heading("Errata of the paper")
    yield Text("Checked in this run on random matrices, where there is something to compute.")
    yield Items(errata(results.study.seed))


def _settings(results: Results, store: Store) -> Iterator[Part]:
    yield Heading("This run")
    yield Items(_words.run_facts(store.record, results))
    if results.failed:
        yield Heading("Trials that failed", 3)
        yield Items([f"{trial.job}: {trial.error}" for trial in results.failed])
    notes = list(dict.fromkeys(note for trial in results.trials.values() for note in trial.notes))
    if notes:
        yield Heading("Warnings of the systems", 3)
        yield Items(notes)
    yield _tables.settings_table(results, "settings", "The estimators, as they can be typed.")
    yield _tables.time_table(
        results, "times", "Seconds of a fit, processor time, average over the trials."
    )
