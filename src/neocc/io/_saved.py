"""What a model file holds, and how it takes data: in the form of those that it was fitted to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np
from sklearn.utils import get_tags

from neocc._typing import FloatArray
from neocc.engines import RowSource
from neocc.estimators import CellPredictor
from neocc.estimators._fitted import memberships
from neocc.io._errors import ReadError, like
from neocc.io._item_table import read_cells
from neocc.io._matrix import Matrix
from neocc.io._new_rows import as_in_the_fit, may_have_decimal_commas
from neocc.io._options import ReadOptions
from neocc.io._read import read_matrix
from neocc.io._record import InputRecord

__all__ = ["SavedModel", "keep_steps"]

_STEPS = "preprocessing_"
# What a remedy for cells without a value ends with: of use only for a model of observed cells.
_TO_SKIP = re.compile(r', (or )?(missing=)?"ignore" to (skip them|leave them out)')
# What a note ends with that more columns than those of the model could be read.
_AS_DATA = re.compile(r"(Left out: column .*); row_names=.* reads it as data\.", re.DOTALL)
# How numbers of a file are understood. The rest is a matter of each file, and mostly recognised.
_READ_ALIKE = ("missing", "layer", "decimal", "thousands")


@dataclass(frozen=True)
class SavedModel:
    """What a model file holds.

    Attributes
    ----------
    estimator : estimator
        Fitted, ready to predict.
    row_names, column_names : tuple of str or None
        Names in the order of the fit.
    version : str
        The version of neocc that wrote the file.
    """

    estimator: Any
    row_names: tuple[str, ...] | None
    column_names: tuple[str, ...] | None
    version: str

    def numbers(self, side: Literal["row", "column"], size: int) -> dict[str, int]:
        """Return the number of each row or column; those without names are called 1 to `size`.

        Parameters
        ----------
        side : {"row", "column"}
            Which of them.
        size : int
            How many there are.

        Returns
        -------
        numbers : dict of str to int
            From 0, by name.
        """
        names = self.row_names if side == "row" else self.column_names
        numbers = {name: at for at, name in enumerate(names or map(str, range(1, size + 1)))}
        if names is not None and len(numbers) < size:
            twice = next(name for at, name in enumerate(names) if numbers[name] != at)
            raise ValueError(f"The model has several {side}s called {twice!r}: predict in Python.")
        return numbers

    @property
    def knows_cells(self) -> bool:
        """Whether it predicts cells: whether it is fitted to observed ones."""
        return getattr(self._one, "missing", "zero") == "ignore"

    @property
    def _one(self) -> Any:
        several = isinstance(self.estimator, CellPredictor)
        return self.estimator.models_[0] if several else self.estimator

    def predict_cells(
        self, path: Path, options: ReadOptions
    ) -> tuple[list[tuple[str, str]], FloatArray, list[str]]:
        """Return the cells that a file lists, predicted values in the observed range, and notes."""
        rows = self.numbers("row", len(self._one.row_effects_))
        columns = self.numbers("column", len(self._one.column_effects_))
        cells = read_cells(path, rows, columns, options)
        sides = {"rows": [rows.get(row, -1) for row, _ in cells]}
        sides["columns"] = [columns.get(column, -1) for _, column in cells]
        if all(set(each) == {-1} for each in sides.values()) and any(
            row in columns and column in rows for row, column in cells
        ):
            raise ReadError(
                path,
                "Rows and columns are exchanged: what is read as rows are columns of the model.",
                "Say where they are, rows first: columns=[2, 1], or their names.",
            )
        values = self.estimator._values(*map(np.asarray, sides.values()))  # noqa: SLF001
        notes = [
            f"The {side} of {places.count(-1):,} of the {len(cells):,} cells are not in the model."
            for side, places in sides.items()
            if -1 in places
        ]
        return cells, self.estimator._clipped(values), notes  # noqa: SLF001

    def read_alike(
        self, path: Path, record: InputRecord | None, given: Mapping[str, Any]
    ) -> tuple[dict[str, Any], list[str]]:
        """Return options of `read_matrix` with which numbers are read as those of the fit were.

        Parameters
        ----------
        path : path-like
            The file that shall be read.
        record : InputRecord or None
            How the file of the fit was read. Options of one format mean nothing to another: it is
            heeded for a file with the same extension.
        given : dict
            The options that are given.

        Returns
        -------
        options : dict
            Those that are not given.
        notes : list of str
            What of the given ones contradicts the fit.
        """
        known = record is not None and Path(record.path).suffix == path.suffix
        options = dict(record.options) if record is not None and known else {}
        asked = given.get("missing")
        ignored = getattr(self.estimator, "missing", "zero") == "ignore"
        if asked == "ignore" and not ignored:
            raise ValueError(
                f"{path}: The model was not fitted with missing='ignore', so it has no use for "
                "cells without a value. Leave out missing='ignore', or fit again with it."
            )
        if ignored:
            options["missing"] = "ignore"
        both = () if {"decimal", "thousands"}.isdisjoint(given) else ("decimal", "thousands")
        options = {
            name: options[name]
            for name in _READ_ALIKE
            if name in options and name not in (*given, *both)
        }
        if options.get("decimal") == "," and not may_have_decimal_commas(path):
            del options["decimal"]
        fills = ignored and asked == "zero"
        said = "the model was fitted with missing='ignore'; here blank cells count as zeros."
        return options, [said] if fills else []

    def read(self, path: str | PathLike[str], **options: Any) -> Matrix:
        """Read new rows like `read_matrix`; which column names them is as in the fit.

        New rows are judged alone, and a few years, or numbers in no order, do not look like names.

        Parameters
        ----------
        path : path-like
            The file.
        **options : Any
            Those of `read_matrix`; `row_names` says which column names the rows, whatever the fit
            had.

        Returns
        -------
        matrix : Matrix
            The rows.
        """
        matrix = self._read(path, options)
        if options.get("row_names") is not None:
            return matrix
        fit = (self.estimator.n_features_in_, self.row_names, self.column_names)
        found = as_in_the_fit(matrix, *fit)
        if found is None:
            return matrix
        drop = options.get("drop", ())
        dropped = [drop] if isinstance(drop, str) else [*drop]
        more = {name: [*dropped, *one] if name == "drop" else one for name, one in found[0].items()}
        try:
            read = self._read(path, {**options, **more})
        except ReadError:
            return matrix
        return replace(read, notes=(*read.notes, found[1]))

    def _read(self, path: str | PathLike[str], options: Mapping[str, Any]) -> Matrix:
        """Read a file; do not advise what the model has no use for: more columns, cells to skip."""
        try:
            matrix = read_matrix(path, **options)
        except ReadError as error:
            if getattr(self.estimator, "missing", "zero") == "ignore":
                raise
            raise like(error, error.problem, _TO_SKIP.sub("", error.remedy)) from error
        if matrix.shape[1] != self.estimator.n_features_in_:
            return matrix
        return replace(matrix, notes=tuple(_AS_DATA.sub(r"\1.", note) for note in matrix.notes))

    def prepare(self, matrix: Matrix) -> Any:
        """Bring new rows into the form of the data that the estimator was fitted to.

        Columns are matched by name where both have names; then come the steps of preprocessing
        that the model carries (`keep_steps`).

        Parameters
        ----------
        matrix : Matrix
            The rows.

        Returns
        -------
        X : array, csr_array or block store
            For `predict` and `transform` of the estimator.
        """
        n_columns = self.estimator.n_features_in_
        if self.column_names is not None and matrix.column_names is not None:
            matrix = matrix.align_columns(self.column_names)
        elif matrix.shape[1] != n_columns:
            raise ValueError(
                f"{matrix.source}: It has {matrix.shape[1]} columns, the model {n_columns}. Use a "
                "file with the same columns."
            )
        kept = getattr(self.estimator, _STEPS, None)
        if kept is None:
            return matrix.data
        if isinstance(matrix.data, RowSource):
            raise ValueError(
                f"{matrix.source}: The model preprocesses its rows, and a block store is used as "
                "it is. Name a file."
            )
        # Data are filled for steps that take no sparse data, too: those of the fit were dense.
        sparse_too = all(get_tags(step).input_tags.sparse for step in kept["steps"])
        X = (matrix.filled() if kept["dense"] or not sparse_too else matrix).data
        for step in kept["steps"]:
            X = step.transform(X)
        return X

    def matrix_of_fit(self, matrix: Matrix) -> Matrix:
        """Return the matrix of the fit as it was clustered, from what its file holds.

        Parameters
        ----------
        matrix : Matrix
            The file; rows may be in another order, where they have names.

        Returns
        -------
        matrix : Matrix
            Its rows in the order of the fit, prepared.
        """
        n_rows, n_columns = len(memberships(self.estimator)[0]), self.estimator.n_features_in_
        if matrix.shape[0] != n_rows:
            raise ValueError(
                f"{matrix.source}: It has {matrix.shape[0]} rows and {matrix.shape[1]} columns, "
                f"the model was fitted to {n_rows} and {n_columns}. Name the file of the fit."
            )
        if self.row_names is not None and matrix.row_names is not None:
            matrix = matrix.align_rows(self.row_names)
        return replace(matrix, data=self.prepare(matrix), column_names=self.column_names)


def keep_steps(model: Any, preprocessor: Any, *, dense: bool) -> None:
    """Give a fitted model the steps that its data went through, `dense` if they were filled."""
    steps = [] if preprocessor is None else [step for _, step in preprocessor.steps]
    if steps or dense:
        setattr(model, _STEPS, {"dense": dense, "steps": steps})
