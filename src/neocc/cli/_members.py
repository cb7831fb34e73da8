"""Memberships from files: a result, a model, a table of names and groups, a matrix of 0 and 1."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from neocc.cli._guard import Mistake
from neocc.io import FormatError, Matrix, UnreadableFileError, read_matrix, read_model
from neocc.io._source import Source
from neocc.io._tidy import memberships as memberships_of

__all__ = ["Members", "aligned", "read_members"]

_NAME_COLUMNS = ("name", "row", "column", "item")
_GROUP_COLUMNS = ("cluster", "group", "label", "class")


@dataclass(frozen=True)
class Members:
    """Who belongs to which group.

    Attributes
    ----------
    source : Path
        Where it was read from.
    names : list of str or None
        The items; None where they have no names.
    matrix : csr_array of shape (n_items, n_groups)
        1 for a membership.
    """

    source: Path
    names: list[str] | None
    matrix: Any


def read_members(path: Path, side: str) -> Members:
    """Read memberships of rows or of columns.

    Parameters
    ----------
    path : Path
        A folder of results (its rows.csv or columns.csv is read), a model file, a table with a
        column of names and a column of groups, one line per membership, or a matrix of 0 and 1
        with a row per item and a column per group.
    side : {"rows", "columns"}
        Which side of a result or a model.
    """
    if path.is_dir():
        path = path / f"{side}.csv"
        if not path.is_file():
            raise UnreadableFileError(
                path, "There is no such file.", "Name a folder that neocc fit wrote."
            )
    source = Source.at(path)
    if source.suffix == ".neocc":
        return _from_model(path, side)
    delimiter, header = _header(source)
    name_at, group_at = (_place(header, names) for names in (_NAME_COLUMNS, _GROUP_COLUMNS))
    if name_at is not None and group_at is not None:
        return _from_table(source, delimiter, name_at, group_at)
    return _from_matrix(read_matrix(path))


def aligned(true: Members, found: Members) -> tuple[Any, Any, list[str]]:
    """Bring two lists of memberships into the same order of items, that of the first.

    Returns
    -------
    true, found : csr_array
        Memberships, a row per item.
    notes : list of str
        Which items are in one of the two only.
    """
    if true.names is None or found.names is None:
        if true.matrix.shape[0] != found.matrix.shape[0]:
            raise Mistake(
                f"{found.source} has {found.matrix.shape[0]} items, {true.source} "
                f"{true.matrix.shape[0]}, and they cannot be matched by name. Name them in both."
            )
        return true.matrix, found.matrix, []
    at = {name: place for place, name in enumerate(found.names)}
    known = [place for place, name in enumerate(true.names) if name in at]
    if not known:
        raise Mistake(
            f"No name in {found.source} is in {true.source}: {found.names[0]!r} here, "
            f"{true.names[0]!r} there. Use the same names in both."
        )
    notes = []
    n_absent, n_extra = len(true.names) - len(known), len(found.names) - len(known)
    if n_absent:
        notes.append(
            f"{n_absent:,} of the {len(true.names):,} items in {true.source} are not in "
            f"{found.source}; they count as in no group."
        )
    if n_extra:
        notes.append(f"{n_extra:,} items in {found.source} are not in {true.source}; left out.")
    places = [at[true.names[place]] for place in known]
    picked = sparse.csr_array(
        (np.ones(len(known), dtype=np.int8), (known, places)),
        shape=(len(true.names), len(found.names)),
    )
    return true.matrix, picked @ found.matrix, notes


def _from_model(path: Path, side: str) -> Members:
    saved = read_model(path)
    rows, columns = memberships_of(saved.estimator)
    members = rows if side == "rows" else columns
    if members is None:
        raise Mistake(f"{path}: The model has no groups of columns. Name another one.")
    names = saved.row_names if side == "rows" else saved.column_names
    return Members(path, None if names is None else list(names), _as_sparse(members))


def _from_matrix(matrix: Matrix) -> Members:
    assert matrix.source is not None
    values = matrix.data.data if matrix.is_sparse else matrix.data
    wrong = (values != 0) & (values != 1)
    if wrong.any():
        raise FormatError(
            matrix.source,
            f"A matrix of memberships holds 0 and 1 only; found {values[wrong][0]:g}.",
            "Give a row per item and a column per group, or a table with the columns name and "
            "cluster.",
        )
    names = None if matrix.row_names is None else list(matrix.row_names)
    return Members(matrix.source, names, _as_sparse(matrix.data))


def _as_sparse(members: Any) -> Any:
    matrix = sparse.csr_array(members).astype(np.int8)
    matrix.eliminate_zeros()
    return matrix


# ------------------------------------------------------------------ tables of names and groups


def _header(source: Source) -> tuple[str, list[str]]:
    """Return the delimiter and the first line, in small letters, of what may be a text file."""
    first = source.head.decode("utf-8-sig", "replace").partition("\n")[0].rstrip("\r")
    delimiter = max(",\t;", key=first.count)
    return delimiter, [cell.strip().strip('"').lower() for cell in first.split(delimiter)]


def _place(header: list[str], names: tuple[str, ...]) -> int | None:
    return next((header.index(name) for name in names if name in header), None)


def _from_table(source: Source, delimiter: str, name_at: int, group_at: int) -> Members:
    """Read a line per membership; a blank group makes an item without one."""
    items: dict[str, int] = {}
    groups: dict[str, int] = {}
    pairs: set[tuple[int, int]] = set()
    with source.open_text("utf-8", "strict") as text:
        for line, cells in _lines(source, csv.reader(text, delimiter=delimiter)):
            if max(name_at, group_at) >= len(cells):
                raise FormatError(
                    source.path,
                    f"{len(cells)} cells; name and group are in cells {name_at + 1} and "
                    f"{group_at + 1}.",
                    "Fill in what is missing.",
                    line=line,
                )
            item = items.setdefault(cells[name_at], len(items))
            if group := cells[group_at].strip():
                pairs.add((item, groups.setdefault(group, len(groups))))
    if not groups:
        raise FormatError(source.path, "No line names a group.", "Name at least one.")
    places = np.array(sorted(pairs), dtype=np.intp)
    members = sparse.csr_array(
        (np.ones(len(places), dtype=np.int8), (places[:, 0], places[:, 1])),
        shape=(len(items), len(groups)),
    )
    return Members(source.path, list(items), members)


def _lines(source: Source, lines: Any) -> Iterator[tuple[int, list[str]]]:
    """Yield the lines below the header with their numbers."""
    try:
        for cells in lines:
            if lines.line_num > 1 and cells:
                yield lines.line_num, cells
    except csv.Error as error:
        raise FormatError(
            source.path, f"This is no CSV ({error}).", "Correct it.", line=lines.line_num
        ) from error
    except UnicodeDecodeError as error:
        raise FormatError(source.path, "The file is not UTF-8.", "Save it as UTF-8.") from error
