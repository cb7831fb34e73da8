"""From a file to the matrix that is clustered: read, filled where asked, preprocessed.

The fitted steps of preprocessing travel with the model, in its attribute `preprocessing_`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from neocc.cli._given import Recorded
from neocc.cli._guard import Mistake, blaming_the_user, message_of
from neocc.cli._settings import SETTINGS, FitSettings, Panel, Reading, option_of
from neocc.io import Matrix, SavedModel, UnreadableFileError, read_matrix
from neocc.io.readers._contents import SMALLEST

__all__ = ["STORE", "Loaded", "attach", "load", "load_again", "prepare", "read_as_it_is"]
__all__ += ["refuse_other_order", "restore", "rows_for"]

STORE = "blocks"
"""The format of a matrix that is a block store."""
_ATTRIBUTE = "preprocessing_"


@dataclass(frozen=True)
class Loaded:
    """A file and what was made of it."""

    file: Matrix  # as it was read
    matrix: Matrix  # as it is clustered
    preprocessor: Any  # what turned one into the other; it treats further rows alike

    @property
    def is_stored(self) -> bool:
        """Whether the matrix is a block store, whose rows stay on disk."""
        return self.file.format == STORE


def load(path: Path, settings: FitSettings) -> Loaded:
    """Read a file and preprocess it; a block store is opened and stays where it is."""
    return prepare(read_as_it_is(path, settings), settings)


def prepare(file: Matrix, settings: FitSettings) -> Loaded:
    """Preprocess what was read from a file."""
    matrix = _fill(file) if settings.dense else file
    if not settings.preprocess:
        _refuse_tiny(matrix)
        return Loaded(file, matrix, None)
    from neocc.preprocessing import make_preprocessor

    preprocessor = make_preprocessor(settings.preprocess)
    with blaming_the_user(matrix):
        data = preprocessor.fit_transform(matrix.data)
    _refuse_tiny(replace(matrix, data=data))
    return Loaded(file, replace(matrix, data=data), preprocessor)


def _refuse_tiny(matrix: Matrix) -> None:
    """Refuse numbers that are all so near to 0 that their squares are 0, or lose their digits."""
    values = matrix.data.data if matrix.is_sparse else matrix.data
    if matrix.format == STORE or values.dtype.kind != "f" or not values.size:
        return
    largest = max(float(values.max()), -float(values.min()))
    if 0 < largest < SMALLEST:
        raise Mistake(
            f"{matrix.source}: No number is larger than {largest:.2g}, and the squares of such "
            "numbers are 0 to a computer, so that all groups would be alike. Multiply the data, or "
            "scale them with --preprocess column-norm."
        )


def load_again(path: Path, recorded: Recorded, how_to_name: str) -> Loaded:
    """Read the file of an earlier run; refuse another one."""
    try:
        loaded = load(path, recorded.settings)
    except UnreadableFileError as error:
        if str(path) != recorded.input.path:
            raise
        advice = f"If the file has moved, {how_to_name}"
        raise Mistake(f"{message_of(error)} {advice}") from error
    recorded.input.check(loaded.file)
    return loaded


def read_as_it_is(path: Path, reading: Reading) -> Matrix:
    """Read a file without preprocessing, or open a block store."""
    with blaming_the_user():
        if not os.path.isdir(path):  # noqa: PTH112 - False, too, where no one may look
            return read_matrix(path, **reading.read_options)
        from neocc.io import open_store

        _refuse_options(path, reading)
        store = open_store(path)
        names = (store.row_names, store.column_names)
        return Matrix(store, *names, path, STORE, store.digest, store.manifest.notes)


def _refuse_options(store: Path, reading: Reading) -> None:
    """Refuse what a block store, which is used as it is, would not heed."""
    usual = vars(FitSettings())
    for name, value in vars(reading).items():
        # A store has the cells that are given; that only these count is a matter of the fit.
        observed = name == "missing" and value == "ignore"
        as_it_is = observed or (name == "preprocess" and not value)
        if SETTINGS[name].panel == Panel.FILE and value != usual[name] and not as_it_is:
            remedy = "Give it to neocc convert, or leave it out."
            if name in ("preprocess", "dense"):
                remedy = "Change the matrix before it is converted, or leave it out."
            said = f"A block store is used as it is; {option_of(name)} is for files."
            raise Mistake(f"{store}: {said} {remedy}")


def refuse_other_order(matrix: Matrix, names: tuple[str, ...] | None, side: str) -> None:
    """Refuse a block store, whose rows and columns stay where they are, with others than wanted."""
    own = matrix.row_names if side == "rows" else matrix.column_names
    if matrix.format == STORE and None not in (own, names) and own != names:
        raise Mistake(
            f"{matrix.source}: The {side} are not those of the model in the same order, and those "
            "of a block store cannot be moved. Convert a file with the same ones."
        )


def rows_for(saved: SavedModel, matrix: Matrix) -> Any:
    """Bring new rows into the form of the data that a model was fitted to."""
    n_columns = saved.estimator.n_features_in_
    refuse_other_order(matrix, saved.column_names, "columns")
    if saved.column_names is not None and matrix.column_names is not None:
        matrix = matrix.align_columns(saved.column_names)
    elif matrix.shape[1] != n_columns:
        raise Mistake(
            f"{matrix.source}: It has {matrix.shape[1]} columns, the model {n_columns}. Use a file "
            "with the same columns."
        )
    prepared, dense = restore(saved.estimator)
    if matrix.format == STORE:
        if hasattr(saved.estimator, _ATTRIBUTE):
            raise Mistake(
                f"{matrix.source}: The model preprocesses its rows, and a block store is used as "
                "it is. Name a file."
            )
        return matrix.data
    with blaming_the_user(matrix):
        return prepared(_fill(matrix).data if dense else matrix.data)


def _fill(matrix: Matrix) -> Matrix:
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


# ------------------------------------------------------------- preprocessing that travels


def attach(model: Any, preprocessor: Any, *, dense: bool) -> None:
    """Give a fitted model the steps that its data went through, `dense` if they were filled."""
    steps = [] if preprocessor is None else [step for _, step in preprocessor.steps]
    if steps or dense:
        setattr(model, _ATTRIBUTE, {"dense": dense, "steps": steps})


def restore(model: Any) -> tuple[Callable[[Any], Any], bool]:
    """Return the function that prepares new rows for a model, and whether they must be filled.

    A sparse file is filled for steps that take no sparse data, too: the data of the fit were dense.
    """
    from sklearn.utils import get_tags

    kept = getattr(model, _ATTRIBUTE, {"dense": False, "steps": []})

    def prepared(X: Any) -> Any:
        for step in kept["steps"]:
            X = step.transform(X)
        return X

    takes_sparse = all(get_tags(step).input_tags.sparse for step in kept["steps"])
    return prepared, kept["dense"] or not takes_sparse
