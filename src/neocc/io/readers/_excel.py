"""Excel workbooks (.xlsx): a sheet becomes text, and is recognised and read as text is.

Lines of messages are rows of the sheet. Formulas count by the values that Excel stored with them.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, time
from string import ascii_uppercase
from typing import Any, BinaryIO, cast

from neocc._extras import need
from neocc.io._errors import FormatError, MissingValueError, ReadError, like
from neocc.io._options import ReadOptions
from neocc.io._source import Source, check_expansion
from neocc.io.readers._builders import IN_MEMORY, Builders
from neocc.io.readers._contents import Contents
from neocc.io.readers._delimited import read_csv
from neocc.io.readers._foreign import EXCEL, refuse_foreign, zip_kind
from neocc.io.readers._text import is_number

__all__ = ["is_excel", "read_excel"]

_MEMBER = re.compile(rb"PK\x03\x04.{26}(xl/|\[Content_Types\]\.xml|docProps/)", re.DOTALL)
# A formula without a value. That of an empty text is one: it has a type.
_FORMULA = re.compile(rb"<c\b([^>]*)><f\b(?:[^>]*/>|[^>]*>[^<]*</f>)(?:<v ?/>|<v></v>)?</c>")
_CELL = re.compile(rb'\br="([A-Z]+[0-9]+)"')
_COMPUTE = "Open the workbook in Excel or LibreOffice and save it there, which stores the values."
_AGAIN = "Open it in Excel, and save it again or as CSV."


def is_excel(head: bytes) -> bool:
    """Whether a zip archive begins as a workbook does, or as another document of Office."""
    return head.startswith(b"PK\x03\x04") and _MEMBER.search(head) is not None


def read_excel(source: Source, options: ReadOptions, builders: Builders = IN_MEMORY) -> Contents:
    """Read the sheet asked for, or the first that is not blank."""
    kind = zip_kind(source)
    if kind != EXCEL:
        refuse_foreign(source)
        said = f"This is {kind}." if kind else "The workbook is truncated or damaged."
        raise FormatError(source.path, said, "Save the matrix as CSV, or as .xlsx.")
    openpyxl = need("openpyxl", "Or save the sheet as CSV.")
    try:
        with zipfile.ZipFile(source.path) as archive:
            n_bytes = sum(member.file_size for member in archive.infolist())
        check_expansion(source.path, n_bytes, source.size)
        # Opened here, for openpyxl judges a path by its name.
        with source.path.open("rb") as file:
            book = openpyxl.load_workbook(file, read_only=True, data_only=True)
            try:
                name, others, lines = _choose_sheet(source, book, options)
                undone = _undone_formulas(source, book[name])
            finally:
                book.close()
    except (ReadError, MemoryError):
        raise
    # openpyxl raises nearly anything about damaged files; none of it says more than this.
    except Exception as error:
        reason = str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__
        raise FormatError(
            source.path, f"The workbook cannot be read ({reason}).", _AGAIN
        ) from error
    text = _Text(source.path, len(lines), False, lines[: 1 << 16], lines)
    try:
        found = read_csv(text, replace(options, delimiter=",", encoding="utf-8"), builders)
    except ReadError as error:
        problem, remedy = error.problem, error.remedy
        rows = {int(cell.lstrip(ascii_uppercase)) for cell in undone}
        if isinstance(error, MissingValueError) and error.line in rows:
            problem, remedy = f"{_told(undone)}.", _COMPUTE
        if "delimiter" in remedy:
            remedy = "If a cell holds a whole line, split it: Data, Text to Columns."
        if others and options.sheet is None:
            remedy += f" This is sheet {name!r}; pass sheet=... for {', '.join(map(repr, others))}."
        raise like(error, problem, remedy) from error
    notes = [f"Sheet: {name!r}{'; others: ' if others else ''}{', '.join(map(repr, others))}."]
    if undone:
        notes.append(f"{_told(undone)}: read as blank. {_COMPUTE}")
    return replace(found, notes=(*notes, *found.notes))


def _undone_formulas(source: Source, sheet: Any) -> list[str]:
    """Return the cells of a sheet with formulas whose values were never computed."""
    with zipfile.ZipFile(source.path) as archive:
        text = archive.read(sheet._worksheet_path.lstrip("/"))  # noqa: SLF001 - for reading only
    found = (_CELL.search(one[1]) for one in _FORMULA.finditer(text) if b't="str"' not in one[1])
    return [one[1].decode() for one in found if one is not None]


def _told(undone: list[str]) -> str:
    if len(undone) == 1:
        return f"The value of the formula in cell {undone[0]} is not stored"
    return f"The values of {len(undone)} formulas (first: cell {undone[0]}) are not stored"


@dataclass(frozen=True)
class _Text(Source):
    """The text of a sheet, in the place of a file."""

    text: bytes

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Open it for reading bytes."""
        with self.guard(), io.BytesIO(self.text) as file:
            yield cast(BinaryIO, file)


def _choose_sheet(source: Source, book: Any, options: ReadOptions) -> tuple[str, list[str], bytes]:
    names = [sheet.title for sheet in book.worksheets]
    if options.sheet is not None and options.sheet not in names:
        known = ", ".join(map(repr, names))
        raise FormatError(
            source.path, f"There is no sheet {options.sheet!r}.", f"There is {known}."
        )
    found = []
    for name in names if options.sheet is None else [options.sheet]:
        lines, is_remark = _as_text(book[name])
        if lines:
            found.append((name, [other for other in names if other != name], lines))
            if not is_remark:
                return found[-1]
    if found:
        return found[0]
    raise FormatError(source.path, "There is nothing on the sheet.", "Was it saved?")


def _as_text(sheet: Any) -> tuple[bytes, bool]:
    """Write the cells of a sheet as comma-separated text, without blank columns at its sides.

    Also say whether they are lines of words: a sheet on what the others hold.
    """
    rows = [_used(map(_cell, row)) for row in sheet.iter_rows(values_only=True)]
    used = [place for row in rows for place, cell in enumerate(row) if cell]
    if not used:
        return b"", False
    left, right = min(used), max(used) + 1
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for row in rows:
        writer.writerow(row[left:] + [""] * (right - max(len(row), left)) if row else [])
    is_remark = right - left == 1 and not any(is_number(one) for row in rows for one in row)
    return text.getvalue().encode(), is_remark


def _used(cells: Iterable[str]) -> list[str]:
    """Return the cells of a row up to the last that is not blank: sheets may be very wide."""
    row = list(cells)
    while row and not row[-1]:
        row.pop()
    return row


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float):
        return repr(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, datetime) and value.time() == time():
        value = value.date()
    text = " ".join(str(value).split("\n"))
    return text if text.strip() else ""
