"""A table in Parquet files as a source of rows: its row groups are the blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from neocc._extras import need
from neocc._typing import FloatArray, IntArray
from neocc.io._errors import FormatError, UnreadableFileError, ValueInCellError

__all__ = ["ParquetRows", "open_parquet"]

_NOT_WHOLE = "Was it written completely? Copy it again, or write it again."


@dataclass(frozen=True, eq=False)
class ParquetRows:
    """A table in Parquet files, for `fit`; make one with `open_parquet`.

    Attributes
    ----------
    groups : tuple of (Path, int, int)
        File, number within it and number of rows of each row group: of each block.
    column_names : tuple of str
        Names of the columns.
    dtype : dtype
        Type of the numbers.
    """

    groups: tuple[tuple[Path, int, int], ...]
    column_names: tuple[str, ...]
    dtype: np.dtype[Any]

    is_sparse = False
    row_names = None

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return int(self.edges[-1]), len(self.column_names)

    @property
    def n_stored(self) -> int:
        """Number of cells."""
        return self.shape[0] * self.shape[1]

    @cached_property
    def edges(self) -> IntArray:
        """Block i holds rows `edges[i]` to `edges[i + 1]`."""
        return np.cumsum([0, *(n_rows for _, _, n_rows in self.groups)])

    @cached_property
    def entries(self) -> IntArray:
        """Number of cells of each block."""
        cells: IntArray = np.diff(self.edges) * len(self.column_names)
        return cells

    def load(self, index: int) -> FloatArray:
        """Return one row group as an array; an error names what is not a finite number.

        Parameters
        ----------
        index : int
            Number of the block, from 0.

        Returns
        -------
        rows : ndarray
            Its rows.
        """
        pa = need("pyarrow")
        parquet = need("pyarrow.parquet")

        path, group, n_rows = self.groups[index]
        try:
            with parquet.ParquetFile(path) as file:
                table = file.read_row_group(group, columns=list(self.column_names))
        except (OSError, pa.ArrowException) as error:
            reason = str(error).splitlines()[0].rstrip(".")
            raise FormatError(
                path, f"A row group cannot be read ({reason}).", _NOT_WHOLE
            ) from error
        if table.num_rows != n_rows:
            raise FormatError(path, "It has changed since it was opened.", "Open it again.")
        rows = np.empty((n_rows, len(self.column_names)), dtype=self.dtype)
        for place, name in enumerate(self.column_names):
            rows[:, place] = table[name].to_numpy()
        if not np.isfinite(rows).all():
            row, column = np.argwhere(~np.isfinite(rows))[0]
            raise ValueInCellError(
                path,
                f"Row {row} of row group {group} has a missing or infinite value.",
                "Fill such cells or leave such rows out.",
                column=repr(self.column_names[column]),
            )
        return rows


def open_parquet(path: str | PathLike[str], *, columns: Sequence[str] | None = None) -> ParquetRows:
    """Open a table of numbers in Parquet files that is larger than memory.

    `fit` reads its row groups in order, once per pass: a store (`write_store`) is read much faster,
    but takes disk space.

    Parameters
    ----------
    path : path-like
        A file, or a folder of files with the same columns, read in the order of their names.
    columns : sequence of str, default=None
        The columns to use, by default all.

    Returns
    -------
    rows : ParquetRows
        The table, for `fit`.

    Raises
    ------
    ReadError
        If there are no such files, if they are damaged, or if a column does not hold numbers.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from neocc import NEOCC
    >>> from neocc.io import open_parquet
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     frame = pd.DataFrame({"a": [1.0, 1.0, 0.0], "b": [0.0, 0.0, 5.0]})
    ...     frame.to_parquet(f"{folder}/part-0.parquet")
    ...     rows = open_parquet(folder)
    ...     model = NEOCC(2, 2, random_state=0).fit(rows)
    >>> rows.shape, model.objective_
    ((3, 2), 0.0)
    """
    pa, parquet = need("pyarrow"), need("pyarrow.parquet")
    folder = Path(path)
    files = sorted(folder.glob("*.parquet")) if folder.is_dir() else [folder]
    if not files:
        raise UnreadableFileError(folder, "The folder holds no .parquet files.", "Name another.")
    groups: list[tuple[Path, int, int]] = []
    schema: Any = None
    for file in files:
        try:
            with parquet.ParquetFile(file) as opened:
                found, about = opened.schema_arrow, opened.metadata
        except FileNotFoundError as error:
            raise UnreadableFileError(file, "There is no such file.", "Check its name.") from error
        except (OSError, pa.ArrowException) as error:
            reason = str(error).splitlines()[0].rstrip(".")
            raise FormatError(
                file, f"It is not a complete Parquet file ({reason}).", _NOT_WHOLE
            ) from error
        names = tuple(columns) if columns is not None else tuple(found.names)
        kinds = {name: _kind(file, found, name) for name in names}
        if schema is not None and kinds != schema:
            raise FormatError(
                file, f"Its columns are not those of {files[0].name}.", "Give all files the same."
            )
        schema = kinds
        sizes = (about.row_group(at).num_rows for at in range(about.num_row_groups))
        groups += [(file, at, size) for at, size in enumerate(sizes) if size]
    if not groups or not schema:
        raise FormatError(folder, "It holds no rows or no columns.", "Name another file.")
    narrow = all(kind == pa.float32() for kind in schema.values())
    return ParquetRows(tuple(groups), tuple(schema), np.dtype("float32" if narrow else "float64"))


def _kind(path: Path, schema: Any, name: str) -> Any:
    """Return the type of a column; an error if it does not hold numbers."""
    pa = need("pyarrow")

    place = schema.get_field_index(name)
    if place < 0:
        raise FormatError(path, f"It has no column {name!r}.", "Name columns that all files have.")
    kind = schema.field(place).type
    if not (pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind)):
        raise FormatError(
            path,
            f"Column {name!r} holds {kind}, not numbers.",
            "Name the columns to use (columns=...), or write a store, which takes triplets.",
        )
    return kind
