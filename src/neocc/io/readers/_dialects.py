"""Which delimiter and decimal sign a delimited file has; `_recognise` says by what rules."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from neocc.io._errors import FormatError
from neocc.io._options import ReadOptions
from neocc.io.readers._text import Dialect, Record, is_missing, is_number, sample_records

__all__ = ["choose_dialect"]

_DELIMITERS = (",", "\t", ";", "|")
# The score of a sample of which half the cells are numbers.
_MOSTLY_NUMBERS = 1.5


def choose_dialect(
    path: Path, lines: list[str], complete: bool, options: ReadOptions, preferred: str
) -> Dialect:
    """Return the delimiter and decimal sign that make most sense of a sample."""
    candidates = [options.delimiter] if options.delimiter else [preferred, *_DELIMITERS]
    decimals = [options.decimal] if options.decimal else [".", ","]
    decimals = [sign for sign in decimals if sign != options.thousands]
    best, best_score = _dialect(candidates[0], decimals[0], options), -1.0
    for delimiter in candidates:
        for decimal in decimals:
            dialect = _dialect(delimiter, decimal, options)
            found = sample_records(lines, complete, dialect)
            if decimal == delimiter and not _are_quoted(found, decimal, options.decimal):
                continue
            score = _score(found, dialect)
            if score > best_score:
                best, best_score = dialect, score
    if options.delimiter is None and not best_score:
        # Nothing else separates anything: numbers between blanks, if there are any.
        blanks = _dialect(" ", decimals[0], options)
        if _score(sample_records(lines, complete, blanks), blanks) >= _MOSTLY_NUMBERS:
            _check_blanks(path, lines if complete else lines[:-1])
            return blanks
    return best


def _check_blanks(path: Path, lines: Sequence[str]) -> None:
    """Refuse cells with single blanks in them, between which there are several."""
    split = [re.split(r" {2,}|\t", line.strip()) for line in lines if line.strip()]
    width = len(split[0])
    spaced = (cell for cells in split[1:] for cell in cells if _is_of_words(cell))
    if width > 1 and {len(cells) for cells in split} == {width}:
        cell = next(spaced, None)
        if cell is not None:
            raise FormatError(
                path,
                f"Several blanks separate the cells, and single ones are in them ({cell[:40]!r}).",
                "Separate the cells with tabs or commas, or put such names into quotation marks.",
            )


def _is_of_words(cell: str) -> bool:
    """Whether blanks stand within a text that is not in quotation marks."""
    parts = cell.split(" ")
    return len(parts) > 1 and cell[0] != '"' and not all(map(is_number, parts))


def _dialect(delimiter: str, decimal: str, options: ReadOptions) -> Dialect:
    # Columns that are separated by spaces are often aligned with several.
    squeeze = delimiter == " "
    thousands = options.thousands or ""
    return Dialect(
        delimiter, decimal, encoding=options.encoding, squeeze=squeeze, thousands=thousands
    )


def _are_quoted(found: Sequence[Record], sign: str, given: str | None) -> bool:
    """Whether signs that separate cells are also decimal, within quotes.

    Unless that is given, columns with such numbers have no other cells, and no number has a point.
    """
    body = [record.cells for record in found[1:] or found]
    columns = [[one for one in each if not is_missing(one)] for each in zip(*body, strict=False)]
    signed = [each for each in columns if any(sign in one and is_number(one, sign) for one in each)]
    if given is not None or not signed:
        return bool(signed)
    pointed = any("." in one and is_number(one) for each in columns for one in each)
    return not pointed and all(is_number(one, sign) for each in signed for one in each)


def _score(found: Sequence[Record], dialect: Dialect) -> float:
    """How well a sample is split: 0 for single cells, up to a half for ragged lines, else more."""
    body = found[1:] or found
    widths = [len(record.cells) for record in body]
    if not widths or max(widths) < 2:
        return 0.0
    width = max(set(widths), key=widths.count)
    agree = widths.count(width) / len(widths)
    if width < 2 or agree < 1.0 or len(found[0].cells) not in (width, width - 1):
        return 0.5 * agree if width > 1 else 0.0
    cells = [cell for record in body for cell in record.cells]
    decimal = dialect.decimal
    numbers = sum(is_number(cell, decimal) or is_missing(cell) for cell in cells) / len(cells)
    # Split at its decimal commas, every line of `a;b;4,5` keeps its semicolons.
    others = [sign for sign in _DELIMITERS if sign != dialect.delimiter]
    kept = any(all(_holds(record, sign, decimal) for record in body) for sign in others)
    return (0.6 if kept else 1.0) + numbers


def _holds(record: Record, sign: str, decimal: str) -> bool:
    return any(sign in cell and not is_number(cell, decimal) for cell in record.cells)
