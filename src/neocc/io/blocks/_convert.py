"""From files larger than memory to blocks: readers hand over a batch at a time."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from neocc._extras import need
from neocc._typing import AnyArray
from neocc.io._errors import FormatError, UnreadableFileError
from neocc.io._options import Duplicates, Missing, ReadOptions
from neocc.io._read import read_matrix
from neocc.io._registry import choose_reader
from neocc.io._source import Source
from neocc.io._whole import reporting
from neocc.io.blocks._cutting import Cutter
from neocc.io.blocks._spool import EntrySpool
from neocc.io.readers._contents import Contents
from neocc.io.readers._repeated import duplicate_error
from neocc.io.readers._table import TableBuilder
from neocc.io.readers._totals import SummaryWatch
from neocc.io.readers._triplets import entry_notes, has_blank, rank_names, triplet_values

__all__ = ["Converted", "convert"]

_NOTHING = Contents(None)


@dataclass(frozen=True)
class Converted:
    """Names and remarks of what was converted; the numbers are on disk."""

    row_names: Iterable[str] | None
    column_names: Sequence[str] | None
    notes: tuple[str, ...]


def convert(path: Path, cutter: Cutter, read_options: dict[str, Any]) -> Converted:
    """Write the matrix in a file, or in the Parquet files of a folder, as blocks."""
    files = _parquet_files(path) if path.is_dir() else [path]
    given = dict(read_options)
    format_ = given.pop("format", None)
    if isinstance(given.get("drop"), str):
        given["drop"] = (given["drop"],)
    for name in ("drop", "columns"):
        if given.get(name) is not None:
            given[name] = tuple(given[name])
    options = ReadOptions(**given)
    if options.missing == "ignore":
        raise ValueError(
            'missing="ignore" is for files that are read into memory. A store has the entries that '
            'are given: fit it with NEOCC(missing="ignore"). Of a table with missing cells, write '
            'what read_matrix(..., missing="ignore") returns, with the same option.'
        )
    spool = cutter.writer.folder / "spool"
    collected: _Collected | None = None
    try:
        for file in files:
            source = Source.at(file)
            reader = choose_reader(source, format_)
            if not reader.streams:
                matrix = read_matrix(file, **read_options)
                cutter.add(matrix.data)
                return Converted(matrix.row_names, matrix.column_names, matrix.notes)
            options.refuse_others({"missing", *reader.accepts}, reader.name)
            collected = collected or _Collected(cutter, spool)
            collected.source = source
            with source.guard():
                found = reader.read(source, options, collected)
            if found.data is not None:
                # A form that cannot be read in batches, such as a Matrix Market array.
                cutter.add(found.data)
                return Converted(found.row_names, found.column_names, found.notes)
            collected.notes = collected.notes or found.notes
        assert collected is not None
        return collected.finish()
    finally:
        if collected is not None:
            collected.close()


def _parquet_files(folder: Path) -> list[Path]:
    files = sorted(path for path in folder.iterdir() if path.suffix in (".parquet", ".pq"))
    if not files:
        raise UnreadableFileError(
            folder, "This is a folder without Parquet files.", "Name a file in it."
        )
    return files


class _Collected:
    """Builders that put what they are given on disk; all files of a folder share one."""

    def __init__(self, cutter: Cutter, spool: Path) -> None:
        self.cutter = cutter
        self.source: Any = None
        self.notes: tuple[str, ...] = ()
        self._folder = spool
        self._table: _StoredTable | None = None
        self._triplets: _StoredTriplets | None = None

    def table(self, names: tuple[str, ...] | None, *, has_row_names: bool) -> _StoredTable:
        """Return the builder of the one table."""
        if self._table is None:
            self._refuse_both(self._triplets)
            self._folder.mkdir(exist_ok=True)
            self._table = _StoredTable(self.cutter, self._folder, names, has_row_names)
        elif (names, has_row_names) != (self._table.names, self._table.has_row_names):
            known = len(self._table.names or ())
            raise FormatError(
                self.source.path,
                f"Its {len(names or ())} columns are not the {known} of the files before it.",
                "Give all files the same columns in the same order.",
            )
        return self._table

    def triplets(self, duplicates: Duplicates) -> _StoredTriplets:
        """Return the builder of all triplets."""
        if self._triplets is None:
            self._refuse_both(self._table)
            self._triplets = _StoredTriplets(self.cutter, EntrySpool(self._folder), duplicates)
        return self._triplets

    def entries(
        self, source: Source, shape: tuple[int, int], duplicates: Duplicates
    ) -> _StoredEntries:
        """Return a builder of entries in coordinate form."""
        self.source = source
        return _StoredEntries(self.cutter, EntrySpool(self._folder), shape, duplicates)

    def _refuse_both(self, other: Any) -> None:
        if other is not None:
            raise FormatError(
                self.source.path,
                "Some files of the folder hold a table and some hold triplets.",
                "Name the layout with layout=..., or sort the files.",
            )

    def finish(self) -> Converted:
        """Write what is left; return the names."""
        if self._table is not None:
            return self._table.finish(self.notes)
        if self._triplets is None:
            return Converted(None, None, self.notes)  # entries were written as they were built
        found = self._triplets.finish(self.notes)
        if isinstance(found, Converted):
            return found
        raise duplicate_error(self.source, *found)

    def close(self) -> None:
        """Remove all that is not part of the store, but for names that are yet to be read."""
        if self._table is None:
            shutil.rmtree(self._folder, ignore_errors=True)


class _StoredTable:
    def __init__(
        self, cutter: Cutter, folder: Path, names: tuple[str, ...] | None, has_row_names: bool
    ) -> None:
        self.names = names
        self.has_row_names = has_row_names
        self._cutter = cutter
        self._folder = folder
        self._n_missing = 0
        self._watch = SummaryWatch()

    def add(self, batch: Any, missing: Missing) -> bool:
        one = TableBuilder(self.names, has_row_names=self.has_row_names)
        if not one.add(batch, missing):
            return False
        if batch.num_rows:
            contents = one.build(())
            self._n_missing += one.n_missing
            self._watch.add(contents.data, contents.row_names or ())
            with reporting(self._cutter.writer.place):
                self._cutter.add(contents.data)
                self._spool_names(contents.row_names or ())
        return True

    def _spool_names(self, names: tuple[str, ...]) -> None:
        with (self._folder / "names").open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(name) + "\n" for name in names)

    def build(self, notes: tuple[str, ...]) -> Contents:
        return Contents(None, notes=notes)

    def finish(self, notes: tuple[str, ...]) -> Converted:
        names = self._read_names() if self.has_row_names else None
        if names is None:
            shutil.rmtree(self._folder, ignore_errors=True)
        notes += entry_notes(0, "sum", self._n_missing) + self._watch.notes
        return Converted(names, self.names, notes)

    def _read_names(self) -> Iterator[str]:
        with (self._folder / "names").open(encoding="utf-8") as file:
            yield from (json.loads(line) for line in file)
        shutil.rmtree(self._folder, ignore_errors=True)


class _StoredTriplets:
    def __init__(self, cutter: Cutter, spool: EntrySpool, duplicates: Duplicates) -> None:
        self._cutter = cutter
        self._spool = spool
        self._duplicates = duplicates
        self._codes: tuple[dict[str, int], dict[str, int]] = ({}, {})
        self._n_missing = 0

    def add(self, batch: Any, missing: Missing) -> bool:
        found = triplet_values(batch, missing)
        if found is None:
            return False
        ids = (batch.column(0), batch.column(1))
        if any(each.null_count or has_blank(each.dictionary) for each in ids):
            return False
        rows, columns = (_coded(*pair) for pair in zip(ids, self._codes, strict=True))
        with reporting(self._cutter.writer.place):
            self._spool.add(rows, columns, found[0])
        self._n_missing += found[1]
        return True

    def build(self, notes: tuple[str, ...]) -> Contents:
        return Contents(None, notes=notes)

    def finish(self, notes: tuple[str, ...]) -> Converted | tuple[str, str]:
        pa = need("pyarrow")

        rows, columns = (rank_names(pa.array(list(codes), pa.string())) for codes in self._codes)
        shape = (len(rows[1]), len(columns[1]))
        found = self._spool.write(self._cutter, shape, self._duplicates, rows[0], columns[0])
        if found.twice is not None:
            return rows[1][found.twice[0]], columns[1][found.twice[1]]
        notes += entry_notes(found.n_again, self._duplicates, self._n_missing)
        return Converted(rows[1], columns[1], notes)


def _coded(ids: Any, codes: dict[str, int]) -> AnyArray:
    """Give ids numbers in the order in which they first occur."""
    known = [
        codes.setdefault((name or "").strip(), len(codes)) for name in ids.dictionary.to_pylist()
    ]
    places: AnyArray = np.array(known, dtype=np.int32)[ids.indices.to_numpy()]
    return places


class _StoredEntries:
    def __init__(
        self, cutter: Cutter, spool: EntrySpool, shape: tuple[int, int], duplicates: Duplicates
    ) -> None:
        self._cutter = cutter
        self._spool = spool
        self._shape = shape
        self._duplicates = duplicates

    def add(self, rows: AnyArray, columns: AnyArray, values: AnyArray) -> None:
        with reporting(self._cutter.writer.place):
            self._spool.add(rows, columns, values)

    def build(self) -> Contents | tuple[int, int]:
        with reporting(self._cutter.writer.place):
            found = self._spool.write(self._cutter, self._shape, self._duplicates)
        return _NOTHING if found.twice is None else found.twice
