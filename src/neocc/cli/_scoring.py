"""How well groups that were found agree with known ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from neocc.cli._fit_page import section
from neocc.cli._members import aligned, read_members
from neocc.metrics import (
    best_match_f1,
    matched_f1,
    omega_index,
    overlapping_nmi,
    trivial_baseline,
)

__all__ = ["MEASURES", "Score", "score_files", "score_json", "score_page"]

MEASURES = {
    "best_match_f1": "F1 of the best match of each true group; kind to large groups",
    "trivial_baseline": "the same for one group of all items: what doing nothing scores",
    "matched_f1": "F1 when no group may match twice",
    "omega_index": "agreement on pairs of items, 0 by chance",
    "overlapping_nmi": "shared information, 0 for none",
}


@dataclass(frozen=True)
class Score:
    """The measures for one side.

    Attributes
    ----------
    side : {"rows", "columns"}
        What was grouped.
    n_items, n_true, n_found : int
        Items, true groups and groups found.
    values : dict
        The measures by name.
    notes : list of str
        Which items are in one file only.
    """

    side: str
    n_items: int
    n_true: int
    n_found: int
    values: dict[str, float]
    notes: list[str]


def score_files(true: Path, found: Path, side: str | None) -> list[Score]:
    """Compare the groups in two files or folders.

    Parameters
    ----------
    true, found : Path
        Known groups and groups found; see `read_members`.
    side : {"rows", "columns"} or None
        Which side; None for rows, or for both sides of two folders.
    """
    both = side is None and true.is_dir() and found.is_dir()
    sides = ("rows", "columns") if both else (side or "rows",)
    return [_score(true, found, each) for each in sides]


def _score(true: Path, found: Path, side: str) -> Score:
    U, V, notes = aligned(read_members(true, side), read_members(found, side))
    values = {
        "best_match_f1": best_match_f1(U, V),
        "trivial_baseline": trivial_baseline(U),
        "matched_f1": matched_f1(U, V),
        "omega_index": omega_index(U, V),
        "overlapping_nmi": overlapping_nmi(U, V),
    }
    return Score(side, U.shape[0], U.shape[1], V.shape[1], values, notes)


def score_page(scores: list[Score]) -> Iterator[RenderableType]:
    """Yield what to print."""
    for score in scores:
        table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
        table.add_column(no_wrap=True)
        table.add_column(justify="right", no_wrap=True)
        for name, value in score.values.items():
            table.add_row(name, f"{value:.4f}", Text(MEASURES[name], "dim"))
        title = f"{score.n_items:,} {score.side}: {score.n_found} groups found, {score.n_true} true"
        yield section(title, table)


def score_json(scores: list[Score]) -> dict[str, Any]:
    """Return the answer for programs."""
    return {
        score.side: {
            "n_items": score.n_items,
            "n_true": score.n_true,
            "n_found": score.n_found,
            **score.values,
            "notes": score.notes,
        }
        for score in scores
    }
