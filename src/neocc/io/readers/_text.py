"""Delimited text as lines and records: samples to recognise it by, and the way back to a line."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from neocc.io._errors import FormatError, ReadError
from neocc.io._source import Source

__all__ = [
    "MISSING",
    "Dialect",
    "Record",
    "is_missing",
    "is_number",
    "not_text_error",
    "read_sample",
    "records",
    "separators",
]

_NOTHING = "NA na N/A n/a #N/A <NA> NaN nan NAN NULL null (null) None \\N ? - -- – — . .."
MISSING = ("", *_NOTHING.split())
"""How files say that a cell has no value."""

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_SAMPLE_LINES = 200
_SAMPLE_CHARACTERS = 1 << 18
_LONGEST_LINE = 1 << 26
_BYTE_ORDER_MARKS = {
    b"\xff\xfe\0\0": "utf-32",
    b"\0\0\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}


@dataclass(frozen=True)
class Dialect:
    """How a file writes a record.

    Attributes
    ----------
    delimiter, decimal, quote : str
        What separates cells, what separates the fraction of a number, what encloses text.
    encoding : str
        Text encoding.
    comment : str
        Lines that begin with it are skipped.
    squeeze : bool
        Whether runs of spaces and tabs separate cells, also at the ends of a line.
    thousands : str
        What separates groups of three digits, if anything does.
    escape : str
        What stands before a quote within quotes, other than another one.
    """

    delimiter: str = ","
    decimal: str = "."
    quote: str = '"'
    encoding: str = "utf-8"
    comment: str = ""
    squeeze: bool = False
    thousands: str = ""
    escape: str = ""


@dataclass(frozen=True)
class Record:
    """The cells of a record, and the lines of the file on which it begins and ends."""

    line: int
    last_line: int
    cells: list[str]


def is_missing(cell: str) -> bool:
    """Whether a cell has no value."""
    return cell in MISSING


def is_number(cell: str, decimal: str = ".") -> bool:
    """Whether a cell holds a finite number, as the parser of tables understands numbers."""
    cell = cell.strip(" \t")  # It knows no other spaces, such as non-breaking ones.
    if decimal != ".":
        if "." in cell:
            return False
        cell = cell.replace(decimal, ".")
    return _NUMBER.fullmatch(cell) is not None


def separators(thousands: str) -> str:
    """Return the regular expression of what separates thousands: any space, any apostrophe."""
    return {" ": "[ \u00a0\u2009\u202f]", "'": "['\u2019]"}.get(thousands, re.escape(thousands))


def grouped_number(dialect: Dialect) -> str:
    """Return the regular expression of a number whose thousands are separated."""
    sign, point = separators(dialect.thousands), re.escape(dialect.decimal)
    return rf"^[+-]?[0-9]{{1,3}}({sign}[0-9]{{3}})+({point}[0-9]*)?$"


def _joined(cell: str, dialect: Dialect) -> str:
    """Return a cell without its separators of thousands."""
    grouped = re.match(grouped_number(dialect), cell.strip())
    return re.sub(separators(dialect.thousands), "", cell.strip()) if grouped else cell


def is_infinite(cell: str) -> bool:
    """Whether a cell holds an infinite number, in words."""
    return cell.strip().lower().lstrip("+-") in ("inf", "infinity", "∞")


def is_foreign(cell: str) -> bool:
    """Whether a cell holds bytes that are no text, kept as `surrogateescape` keeps them."""
    return any("\ud800" <= character <= "\udfff" for character in cell)


def not_text_error(path: Path, encoding: str, cell: str, line: int, column: str) -> ReadError:
    """Return the error for bytes that are no text in an encoding."""
    shown = cell.encode(errors="surrogateescape").decode("latin-1")[:40]
    return FormatError(
        path,
        f"The text is not encoded as {encoding.upper()} (read as Latin-1: {shown!r}).",
        'Save the file as UTF-8, or name its encoding, such as encoding="latin-1".',
        line=line,
        column=column,
    )


def _is_wide(encoding: str) -> bool:
    return encoding.lower().replace("_", "-").startswith(("utf-16", "utf-32"))


def check_is_text(source: Source, encoding: str) -> None:
    """Refuse binary files and undeclared UTF-16, which cannot be read as lines of text."""
    if _is_wide(encoding):
        return
    for mark, name in _BYTE_ORDER_MARKS.items():
        if source.head.startswith(mark):
            raise FormatError(
                source.path,
                f"The text is encoded as {name.upper()}.",
                f'Pass encoding="{name}", or save it as UTF-8.',
            )
    if b"\0" in source.head:
        raise FormatError(
            source.path,
            "This is not a text file.",
            "Supported are CSV, TSV, Parquet, Excel, Matrix Market, .npz, .npy, .h5ad, ARFF and "
            "MovieLens files; save the matrix as one of these.",
        )


def read_sample(source: Source, encoding: str) -> tuple[list[str], bool]:
    """Return the first lines of a text file, and whether they are all of it."""
    check_is_text(source, encoding)
    # Bytes that are no text survive, for a header that has some must be refused.
    errors = "replace" if _is_wide(encoding) else "surrogateescape"
    with source.open_text(encoding, errors) as text:
        return take_sample(source.path, text)


def take_sample(path: Path, text: TextIO) -> tuple[list[str], bool]:
    """Return the first lines of a text, and whether they are all of it."""
    lines: list[str] = []
    n_characters = 0
    while len(lines) < 3 or (len(lines) < _SAMPLE_LINES and n_characters < _SAMPLE_CHARACTERS):
        line = text.readline(_LONGEST_LINE)
        if len(line) >= _LONGEST_LINE:
            raise FormatError(
                path,
                f"A line is longer than {_LONGEST_LINE >> 20} million characters.",
                "Is this a text file with line ends?",
                line=len(lines) + 1,
            )
        if not line:
            return lines, True
        lines.append(line)
        n_characters += len(line)
    return lines, False


def parse_records(lines: Iterable[str], dialect: Dialect) -> Iterator[Record]:
    """Split lines into records; blank lines are skipped, quotes may hold line ends."""
    reader = csv.reader(
        lines,
        delimiter=dialect.delimiter,
        quotechar=dialect.quote,
        escapechar=dialect.escape or None,
    )
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise _BadRecordError(line, str(error)) from error
        if cells is None:
            return
        if dialect.thousands:
            cells = [_joined(cell, dialect) for cell in cells]
        if cells:
            yield Record(line, reader.line_num, cells)


class _BadRecordError(Exception):
    """Python's parser gave up; not for users."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line


def sample_records(lines: list[str], complete: bool, dialect: Dialect) -> list[Record]:
    """Parse a sample; what may be the first half of a record is left out."""
    found: list[Record] = []
    lines = [" ".join(line.split()) for line in lines] if dialect.squeeze else lines
    try:
        found.extend(parse_records(lines, dialect))
    except _BadRecordError:
        return found
    return found if complete or len(found) < 2 else found[:-1]


def records(source: Source, dialect: Dialect) -> Iterator[Record]:
    """Go through all records of a file, slowly and exactly, to find the line of a fault."""
    # Bytes that are no text survive as surrogates, for `find_fault` to point at.
    with source.open_text(dialect.encoding, "surrogateescape") as text:
        lines = (" ".join(line.split()) for line in text) if dialect.squeeze else text
        try:
            yield from parse_records(lines, dialect)
        except _BadRecordError as error:
            raise FormatError(
                source.path,
                f"The record that begins here cannot be read ({error}).",
                "Is a quotation mark never closed?",
                line=error.line,
            ) from error
        except UnicodeError as error:
            raise FormatError(
                source.path,
                f"The text is not encoded as {dialect.encoding} ({error}).",
                'Save it as UTF-8, or name its encoding, such as encoding="latin-1".',
            ) from error
