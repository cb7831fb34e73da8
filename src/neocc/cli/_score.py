"""How well groups that were found agree with known ones, both from files.

Memberships are in a folder of results, in a model file, in a table with a column of names and a
column of groups, one line per membership, or in a matrix of 0 and 1 with a row per item and a
column per group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import RenderableType
from rich.text import Text
from scipy import sparse

from neocc.cli._command import Answer
from neocc.cli._guard import Mistake
from neocc.cli._terminal import section, table
from neocc.io import FormatError, Matrix, UnreadableFileError, read_matrix, read_model
from neocc.io._item_table import Lines
from neocc.io._tidy import memberships as memberships_of
from neocc.metrics import (
    best_match_f1,
    matched_f1,
    omega_index,
    overlapping_nmi,
    trivial_baseline,
)

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
_NAME_COLUMNS = ("name", "row", "column", "item")
_GROUP_COLUMNS = ("cluster", "group", "label", "class")


def score_answer(true: Path, found: Path, side: str | None) -> Answer:
    """Compare known groups with groups found; without a side rows, or both sides of two folders."""
    both = side is None and true.is_dir() and found.is_dir()
    sides = ("rows", "columns") if both else (side or "rows",)
    scores = {each: _score(true, found, each) for each in sides}
    notes = [note for score in scores.values() for note in score["notes"]]
    return Answer(lambda: _page(scores), lambda: scores, notes)


def _score(true: Path, found: Path, side: str) -> dict[str, Any]:
    U, V, notes = _aligned(_read(true, side), _read(found, side))
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


def _aligned(true: Matrix, found: Matrix) -> tuple[Any, Any, list[str]]:
    """Bring memberships into the order of items of the first; say which are in one only."""
    if true.row_names is None or found.row_names is None:
        if true.shape[0] != found.shape[0]:
            raise Mistake(
                f"{found.source} has {found.shape[0]} items, {true.source} "
                f"{true.shape[0]}, and they cannot be matched by name. Name them in both."
            )
        return true.data, found.data, []
    at = {name: place for place, name in enumerate(found.row_names)}
    known = [place for place, name in enumerate(true.row_names) if name in at]
    if not known:
        raise Mistake(
            f"No name in {found.source} is in {true.source}: {found.row_names[0]!r} here, "
            f"{true.row_names[0]!r} there. Use the same names in both."
        )
    notes = []
    n_absent, n_extra = true.shape[0] - len(known), found.shape[0] - len(known)
    if n_absent:
        notes.append(
            f"{n_absent:,} of the {true.shape[0]:,} items in {true.source} are not in "
            f"{found.source}; they count as in no group."
        )
    if n_extra:
        notes.append(f"{n_extra:,} items in {found.source} are not in {true.source}; left out.")
    places = [at[true.row_names[place]] for place in known]
    picked = _members((known, places), (true.shape[0], found.shape[0]))
    return true.data, picked @ found.data, notes


def _read(path: Path, side: str) -> Matrix:
    """Read memberships of rows or of columns: a matrix of 0 and 1, a row per item."""
    if path.is_dir():
        path = path / f"{side}.csv"
        if not path.is_file():
            raise UnreadableFileError(
                path, "There is no such file.", "Name a folder that neocc fit wrote."
            )
    if path.suffix.lower() == ".neocc":
        return _from_model(path, side)
    lines = Lines.of(path)
    header = [cell.lower() for cell in lines.first]
    places = [
        next((header.index(name) for name in names if name in header), None)
        for names in (_NAME_COLUMNS, _GROUP_COLUMNS)
    ]
    if None not in places:
        return _from_table(lines, *places)  # type: ignore[arg-type]
    matrix = read_matrix(path)
    values = matrix.data.data if matrix.is_sparse else matrix.data
    wrong = (values != 0) & (values != 1)
    if wrong.any():
        raise FormatError(
            path,
            f"A matrix of memberships holds 0 and 1 only; found {values[wrong][0]:g}.",
            "Give a row per item and a column per group, or a table with the columns name and "
            "cluster.",
        )
    return Matrix(_members(matrix.data.nonzero(), matrix.shape), matrix.row_names, source=path)


def _from_model(path: Path, side: str) -> Matrix:
    saved = read_model(path)
    rows, columns = memberships_of(saved.estimator)
    members = rows if side == "rows" else columns
    if members is None:
        raise Mistake(f"{path}: The model has no groups of columns. Name another one.")
    names = saved.row_names if side == "rows" else saved.column_names
    return Matrix(_members(members.nonzero(), members.shape), names, source=path)


def _from_table(lines: Lines, name_at: int, group_at: int) -> Matrix:
    """Read a line per membership; a blank group makes an item without one."""
    items: dict[str, int] = {}
    groups: dict[str, int] = {}
    pairs: set[tuple[int, int]] = set()
    path = lines.source.path
    for number, cells in islice(lines, 1, None):
        if max(name_at, group_at) >= len(cells):
            places = f"{name_at + 1} and {group_at + 1}"
            what = f"{len(cells)} cells; name and group are in cells {places}."
            raise FormatError(path, what, "Fill in what is missing.", line=number)
        item = items.setdefault(cells[name_at], len(items))
        if group := cells[group_at].strip():
            pairs.add((item, groups.setdefault(group, len(groups))))
    if not groups:
        raise FormatError(path, "No line names a group.", "Name at least one.")
    members = _members(tuple(zip(*pairs, strict=True)), (len(items), len(groups)))
    return Matrix(members, tuple(items), source=path)


def _members(places: Any, shape: tuple[int, int]) -> Any:
    """Make a matrix of 0 and 1, with 1 at these rows and columns."""
    ones = np.ones(len(places[0]), dtype=np.int8)
    return sparse.csr_array((ones, places), shape=shape)
