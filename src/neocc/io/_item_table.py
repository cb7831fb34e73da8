"""Tables about the rows or columns of a matrix: a column of ids, and one of what is wanted.

Ids are the names in the matrix. The first column has them; a first line whose first cell is no id
is a header.
"""

from __future__ import annotations

import csv
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from neocc.io._errors import FormatError
from neocc.io._options import Duplicates, Missing, ReadOptions
from neocc.io._registry import choose_reader
from neocc.io._source import Source
from neocc.io.readers._builders import InMemory
from neocc.io.readers._contents import Contents

__all__ = ["ItemTable", "Lines", "find_table", "match_ids", "read_cells"]

_MOST_COLUMNS_NAMED = 12


@dataclass(frozen=True, eq=False)
class Lines:
    """The lines of a small table of text, as lists of cells."""

    source: Source
    encoding: str
    delimiter: str
    first: list[str]  # the cells of the first one, stripped

    @classmethod
    def of(
        cls, path: str | PathLike[str], encoding: str = "utf-8", delimiter: str | None = None
    ) -> Lines:
        """Look at the first line of a file."""
        source = Source.at(path)
        coding = "utf-8-sig" if encoding == "utf-8" else encoding
        line = source.head.decode(coding, "replace").lstrip("\r\n").splitlines()[:1]
        text = line[0] if line else ""
        sign = delimiter or max(",\t;|", key=text.count)
        first = next(csv.reader([text], delimiter=sign), [])
        return cls(source, encoding, sign, [cell.strip() for cell in first])

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        """Yield number and cells of every line that is not blank."""
        with self.source.open_text(self.encoding, "strict") as text:
            reader = csv.reader(text, delimiter=self.delimiter, strict=True)
            try:
                for cells in reader:
                    if any(cells):
                        yield reader.line_num, cells
            except csv.Error as error:
                what, at = f"This is no table ({error}).", reader.line_num
                raise FormatError(self.source.path, what, "Correct it.", line=at) from error
            except UnicodeDecodeError as error:
                what = f"It is not {self.encoding.upper()}."
                raise FormatError(self.source.path, what, "Save it as UTF-8.") from error


@dataclass(frozen=True, eq=False)
class ItemTable:
    """A text file with a column of ids and one of what is wanted for them."""

    text: Lines
    ids: Sequence[str]
    noun: str
    kind: str
    at: int  # the column wanted; ids are in the first
    has_header: bool
    known: frozenset[str] = field(repr=False)

    @property
    def path(self) -> Path:
        return self.text.source.path

    @classmethod
    def look_at(
        cls,
        path: str | PathLike[str],
        ids: Sequence[str],
        noun: str,
        kind: str,
        headings: Sequence[str],
    ) -> ItemTable:
        """Look at a table: its first line, and where the column is that is wanted."""
        file, column = find_table(path)
        text, known = Lines.of(file), frozenset(ids)
        first = text.first
        has_header = not first or first[0] not in known
        header = first if has_header else None
        at = _column_of(text.source.path, header, len(first), column, kind, headings)
        return cls(text, ids, noun, kind, at, has_header, known)

    def lines(self) -> Iterator[tuple[int, str, str]]:
        """Yield number, id and what is wanted of every line."""
        width = len(self.text.first)
        for number, cells in islice(self.text, int(self.has_header), None):
            if len(cells) != width:
                what = f"{width} cells are expected, as above; found {len(cells)}."
                remedy = f"Quote cells that contain {self.text.delimiter!r}."
                raise FormatError(self.path, what, remedy, line=number)
            key = cells[0] if cells[0] in self.known else cells[0].strip()
            if not key:
                remedy = "Fill it in, or leave out the line."
                raise FormatError(self.path, "The id is blank.", remedy, line=number)
            yield number, key, cells[self.at].strip()

    def fault(self, problem: str) -> FormatError:
        """Return what to raise about the table as a whole."""
        remedy = f"Each line needs a name of the matrix and a {self.kind}; leave out the others."
        return FormatError(self.path, problem, remedy)

    def match(self, found: Mapping[str, Any]) -> tuple[list[Any], list[str]]:
        """Bring what was found into the order of the items."""
        return match_ids(found, self.ids, self.noun, self.path.name, self.fault)


def find_table(path: str | PathLike[str]) -> tuple[Path, str | None]:
    """Take FILE:COLUMN apart, unless there is a file of that name."""
    file, sign, column = fspath(path).rpartition(":")
    is_pair = sign and not Path(path).exists() and Path(file).is_file()
    return (Path(file), column) if is_pair else (Path(path), None)


def _column_of(
    path: Path,
    header: Sequence[str] | None,
    width: int,
    wanted: str | None,
    kind: str,
    headings: Sequence[str],
) -> int:
    """Return where the column is: as the caller says, the only one, or one with a usual heading."""
    lower = [heading.lower() for heading in header or ()]
    if width < 2:
        what = f"It has one column; one of ids and one of {kind}s are needed."
        raise FormatError(path, what, f"Give each line an id and a {kind}, with a comma between.")
    if wanted is not None:
        if header is not None and wanted in header:
            return list(header).index(wanted)
        if wanted.isdecimal() and 1 <= int(wanted) <= width:
            return int(wanted) - 1
    elif width == 2:
        return 1
    else:
        for heading in headings:
            if heading in lower[1:]:
                return lower.index(heading, 1)
    columns = [str(at + 1) for at in range(width)] if header is None else list(header)
    named = ", ".join(columns[:_MOST_COLUMNS_NAMED])
    named += ", ..." if width > _MOST_COLUMNS_NAMED else ""
    what = f"Its columns are {named}"
    what += f"; there is no {wanted!r}." if wanted is not None else "."
    remedy = f"Say which has the {kind}s: {path.name}:{columns[-1]}, for example."
    raise FormatError(path, what, remedy)


def match_ids(
    found: Mapping[str, Any], ids: Sequence[str], noun: str, source: str, fault: Any
) -> tuple[list[Any], list[str]]:
    """Bring what was found by id into the order of the items, None where there is nothing.

    A table may be about more items than these if it has all of them. Where it lacks some, an id
    that is not among them is more likely misspelt, and refused.
    """
    known = set(ids)
    unknown = [key for key in found if key not in known]
    absent = [key for key in ids if key not in found]
    said = f"{len(unknown):,} of {len(found):,} ids in {source} are not among the {noun}"
    if unknown and absent:
        raise fault(
            f"{said}, such as {unknown[0]!r}; {len(absent):,} of {len(ids):,} {noun} are not in "
            f"{source}, such as {absent[0]!r}."
        )
    notes = [f"{said}, such as {unknown[0]!r}: left out."] if unknown else []
    return [found.get(key) for key in ids], notes


def read_cells(
    path: Path,
    rows: Container[str],
    columns: Container[str],
    options: ReadOptions,
) -> list[tuple[str, str]]:
    """Read a list of cells, a row and a column in each line: the first two, or those named.

    Text is read line by line; Parquet and Excel files are read as `read_matrix` reads pairs. A
    first line that names nothing known is a heading, unless it is known whether there is one.
    """
    source, header = Source.at(path), options.header
    reader = choose_reader(source, None)
    if "layout" not in reader.accepts or "encoding" in reader.accepts:
        cells = _read_lines(Lines.of(path, options.encoding, options.delimiter), options.columns)
    else:
        options.refuse_others(reader.accepts, reader.name)
        listed, plan = _Listed(), replace(options, layout="pairs")
        named = any(isinstance(name, str) for name in options.columns or ())
        if header is None and not named and "header" in reader.accepts:
            plan = replace(plan, header=False)  # the first line is judged by what is known
        else:
            header = False  # what is read stands below it
        with source.guard():
            reader.read(source, plan, listed)
        cells = listed.cells
    if header is None:
        header = bool(cells) and cells[0][0] not in rows and cells[0][1] not in columns
    if not cells[header:]:
        raise FormatError(path, "It lists no cells.", "Give a row and a column in each line.")
    return cells[header:]


class _Listed(InMemory):
    """A builder that keeps pairs in their order."""

    def __init__(self) -> None:
        self.cells: list[tuple[str, str]] = []

    def triplets(self, duplicates: Duplicates) -> _Listed:  # noqa: ARG002
        return self

    def add(self, batch: Any, missing: Missing) -> bool:  # noqa: ARG002
        ids = ([(one or "").strip() for one in batch.column(at).to_pylist()] for at in (0, 1))
        self.cells += zip(*ids, strict=True)
        return True

    def build(self, notes: tuple[str, ...]) -> Contents:
        return Contents(None, notes=notes)


def _read_lines(lines: Lines, places: Sequence[str | int] | None) -> list[tuple[str, str]]:
    row, column = (0, 1) if places is None else (_place_of(lines, name) for name in places)
    cells = []
    for number, line in lines:
        if len(line) <= max(row, column):
            wanted = f"A row and a column are wanted; got {line}."
            remedy = "Complete the line."
            raise FormatError(lines.source.path, wanted, remedy, line=number)
        cells.append((line[row].strip(), line[column].strip()))
    return cells


def _place_of(lines: Lines, name: str | int) -> int:
    """Return the place of a column given by its heading or, counted from 1, by its number."""
    first = lines.first
    if isinstance(name, int) and 1 <= name <= len(first):
        return name - 1
    if name in first:
        return first.index(str(name))
    remedy = f"The columns are {', '.join(first[:_MOST_COLUMNS_NAMED])}."
    raise FormatError(lines.source.path, f"There is no column {name!r}.", remedy)
