"""How well groups that were found agree with known ones, both from files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from neocc.cli._command import Answer
from neocc.cli._guard import blaming_the_user
from neocc.cli._terminal import section, table
from neocc.io._memberships import aligned, read_memberships
from neocc.metrics import best_match_f1, matched_f1, omega_index, overlapping_nmi, trivial_baseline

__all__ = ["score_answer"]

_MEASURES: dict[str, tuple[Callable[[Any, Any], float], str]] = {
    "best_match_f1": (
        best_match_f1,
        "F1 of the best match of each true group; kind to large groups",
    ),
    "trivial_baseline": (
        lambda true, _: trivial_baseline(true),
        "the same for one group of all items: what doing nothing scores",
    ),
    "matched_f1": (matched_f1, "F1 when no group may match twice"),
    "omega_index": (omega_index, "agreement on pairs of items, 0 by chance"),
    "overlapping_nmi": (overlapping_nmi, "shared information, 0 for none"),
}


def score_answer(true: Path, found: Path, side: str | None) -> Answer:
    """Compare known groups with groups found; without a side rows, or both sides of two folders."""
    both = side is None and true.is_dir() and found.is_dir()
    sides = ("rows", "columns") if both else (side or "rows",)
    scores = {each: _score(true, found, each) for each in sides}
    notes = [note for score in scores.values() for note in score["notes"]]
    return Answer(lambda: _page(scores), lambda: scores, notes)


def _score(true: Path, found: Path, side: str) -> dict[str, Any]:
    with blaming_the_user():
        U, V, notes = aligned(read_memberships(true, side), read_memberships(found, side))
    sizes = {"n_items": U.shape[0], "n_true": U.shape[1], "n_found": V.shape[1]}
    scores = {name: measure(U, V) for name, (measure, _) in _MEASURES.items()}
    return {**sizes, **scores, "notes": notes}


def _page(scores: dict[str, dict[str, Any]]) -> Iterator[RenderableType]:
    for side, score in scores.items():
        made = table("", "", "", right=[1])
        for name, (_, about) in _MEASURES.items():
            made.add_row(name, f"{score[name]:.4f}", Text(about, "dim"))
        groups = f"{score['n_found']} groups found, {score['n_true']} true"
        yield section(f"{score['n_items']:,} {side}: {groups}", made)
