"""Memberships from files: results, models, tables of a line per membership, matrices of 0 and 1."""

from __future__ import annotations

from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from neocc.estimators._fitted import memberships
from neocc.io._errors import FormatError, UnreadableFileError, ValueInCellError
from neocc.io._item_table import Lines
from neocc.io._matrix import Matrix
from neocc.io._model import read_groups
from neocc.io._read import read_matrix

__all__ = ["aligned", "member_matrix", "read_memberships"]

_NAME_COLUMNS = ("name", "row", "column", "item")
_GROUP_COLUMNS = ("cluster", "group", "label", "class")
_WANTED = (
    "Give a table with the columns name and cluster, or a matrix of 0 and 1 with a row per item "
    "and a column per group."
)


def read_memberships(path: str | PathLike[str], side: str = "rows") -> Matrix:
    """Read memberships of rows or of columns: a matrix of 0 and 1, a row per item.

    The path is a folder of results, a model file, a table with a column of names and a column of
    groups, one line per membership, or a matrix of 0 and 1 with a column per group.
    """
    path = Path(path)
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
    names, groups = (
        [header.index(name) for name in known if name in header]
        for known in (_NAME_COLUMNS, _GROUP_COLUMNS)
    )
    if groups and (names or len(header) == 2):
        # Of two columns the other one holds names, unless a heading says otherwise.
        return _from_table(lines, names[0] if names else int(groups[0] == 0), groups[0])
    try:
        matrix = read_matrix(path)
    except ValueInCellError as error:
        raise FormatError(path, error.problem, _WANTED, line=error.line) from error
    values = matrix.data.data if matrix.is_sparse else matrix.data
    wrong = (values != 0) & (values != 1)
    if wrong.any():
        found = f"A matrix of memberships holds 0 and 1 only; found {values[wrong][0]:g}."
        raise FormatError(path, found, _WANTED)
    return Matrix(member_matrix(matrix.data.nonzero(), matrix.shape), matrix.row_names, source=path)


def _from_model(path: Path, side: str) -> Matrix:
    saved = read_groups(path)
    rows, columns = memberships(saved.estimator)
    members = rows if side == "rows" else columns
    if members is None:
        raise FormatError(path, "The model has no groups of columns.", "Name another one.")
    names = saved.row_names if side == "rows" else saved.column_names
    return Matrix(member_matrix(members.nonzero(), members.shape), names, source=path)


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
    members = member_matrix(tuple(zip(*pairs, strict=True)), (len(items), len(groups)))
    return Matrix(members, tuple(items), source=path)


def member_matrix(places: Any, shape: tuple[int, int]) -> Any:
    """Make a matrix of 0 and 1, with 1 at these rows and columns."""
    ones = np.ones(len(places[0]), dtype=np.int8)
    return sparse.csr_array((ones, places), shape=shape)


def aligned(true: Matrix, found: Matrix) -> tuple[Any, Any, list[str]]:
    """Bring memberships into the order of items of the first; say which are in one only."""
    if true.row_names is None or found.row_names is None:
        if true.shape[0] != found.shape[0]:
            raise ValueError(
                f"{found.source} has {found.shape[0]} items, {true.source} "
                f"{true.shape[0]}, and they cannot be matched by name. Name them in both."
            )
        return true.data, found.data, []
    at = {name: place for place, name in enumerate(found.row_names)}
    known = [place for place, name in enumerate(true.row_names) if name in at]
    if not known:
        raise ValueError(
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
    picked = member_matrix((known, places), (true.shape[0], found.shape[0]))
    return true.data, picked @ found.data, notes
