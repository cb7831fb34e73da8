"""From a file to the matrix that is clustered: read, filled where asked, preprocessed."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from neocc.cli._guard import Mistake, blaming_the_user
from neocc.cli._settings import Reading
from neocc.io import Matrix, read_matrix

__all__ = ["STORE", "Loaded", "load", "prepare", "read_as_it_is", "refuse_other_order"]

STORE = "blocks"
"""The format of a matrix that is a block store."""


@dataclass(frozen=True)
class Loaded:
    """A file and what was made of it.

    Attributes
    ----------
    file : Matrix
        As it was read.
    matrix : Matrix
        As it is clustered.
    preprocessor : Pipeline
        What turned one into the other; it treats further rows alike.
    """

    file: Matrix
    matrix: Matrix
    preprocessor: Any

    @property
    def is_stored(self) -> bool:
        """Whether the matrix is a block store, whose rows stay on disk."""
        return self.file.format == STORE


def load(path: Path, reading: Reading) -> Loaded:
    """Read a file and preprocess it; a block store is opened and stays where it is."""
    matrix = read_as_it_is(path, reading)
    return prepare(matrix, reading) if matrix.format != STORE else Loaded(matrix, matrix, None)


def read_as_it_is(path: Path, reading: Reading) -> Matrix:
    """Read a file without preprocessing, or open a block store."""
    with blaming_the_user():
        if os.path.isdir(path):  # noqa: PTH112 - False, too, where no one may look
            return _open(path, reading)
        return read_matrix(path, **reading.read_options)


def refuse_other_order(matrix: Matrix, names: tuple[str, ...] | None, side: str) -> None:
    """Refuse a block store, whose rows and columns stay where they are, with others than wanted."""
    own = matrix.row_names if side == "rows" else matrix.column_names
    if matrix.format == STORE and None not in (own, names) and own != names:
        raise Mistake(
            f"{matrix.source}: The {side} are not those of the model in the same order, and those "
            "of a block store cannot be moved. Convert a file with the same ones."
        )


def _open(path: Path, reading: Reading) -> Matrix:
    from neocc.io import open_store

    usual = vars(Reading())
    changed = [name for name, value in usual.items() if getattr(reading, name) != value]
    if changed:
        name = changed[0].replace("_", "-")
        remedy = "Give it to neocc convert, or leave it out."
        if name in ("preprocess", "dense"):
            remedy = "Change the matrix before it is converted, or leave it out."
        raise Mistake(f"{path}: A block store is used as it is; --{name} is for files. {remedy}")
    store = open_store(path)
    return Matrix(
        store,
        store.row_names,
        store.column_names,
        path,
        STORE,
        store.digest,
        store.manifest.notes,
    )


def prepare(file: Matrix, reading: Reading) -> Loaded:
    """Fill and preprocess a matrix as asked."""
    matrix = fill(file) if reading.dense else file
    if not reading.preprocess:
        return Loaded(file, matrix, None)
    from neocc.preprocessing import make_preprocessor

    preprocessor = make_preprocessor(reading.preprocess)
    with blaming_the_user(matrix):
        data = preprocessor.fit_transform(matrix.data)
    return Loaded(file, replace(matrix, data=data), preprocessor)


def fill(matrix: Matrix) -> Matrix:
    """Return a matrix with its zeros stored."""
    if not matrix.is_sparse:
        return matrix
    try:
        return replace(matrix, data=matrix.data.toarray())
    except MemoryError as error:
        n_rows, n_columns = matrix.shape
        raise Mistake(
            f"{matrix.source}: {n_rows} x {n_columns} cells do not fit into memory. Leave out "
            "--dense, or keep fewer rows or columns."
        ) from error
