"""The lines of an entry that a file gives twice, or that lies outside of the matrix."""

from __future__ import annotations

from neocc.io._errors import DuplicateEntryError, FormatError, ReadError, like
from neocc.io._source import Source
from neocc.io.readers._faults import data_records
from neocc.io.readers._plan import Plan

__all__ = ["duplicate_error", "find_duplicate", "find_entry"]


def find_duplicate(source: Source, plan: Plan, row: str, column: str) -> ReadError:
    """Return the error for an entry of triplets that occurs more than once."""
    lines = []
    for record in data_records(source, plan):
        if [record.cells[place].strip() for place in plan.ids] == [row, column]:
            lines.append(record.line)
            if len(lines) == 2:
                break
    fault = duplicate_error(source, row, column, *lines)
    if not plan.guessed:
        return fault
    told = f'If the file is a table, pass layout="table". {fault.remedy}'
    return like(fault, f"{fault.problem} So these may not be triplets.", told)


def find_entry(
    source: Source, plan: Plan, row: int, column: int, shape: tuple[int, int]
) -> ReadError:
    """Return the error for an entry, by numbers from 1, that is twice there or outside."""
    lines = []
    for record in data_records(source, plan):
        # In a symmetric matrix an entry stands for its mirror image too.
        if {int(record.cells[place]) for place in plan.integers} == {row, column}:
            lines.append(record.line)
            if len(lines) == 2:
                break
    if not (1 <= row <= shape[0] and 1 <= column <= shape[1]):
        return FormatError(
            source.path,
            f"Row {row}, column {column} lies outside of {shape[0]} rows and {shape[1]} columns.",
            "Correct the line, or the declared size.",
            line=lines[0] if lines else None,
        )
    return duplicate_error(source, str(row), str(column), *lines)


def duplicate_error(source: Source, row: str, column: str, *lines: int) -> ReadError:
    """Return the error for an entry that occurs more than once, with its lines where known."""
    first = f" (first on line {lines[0]})" if len(lines) == 2 else ""
    return DuplicateEntryError(
        source.path,
        f"Row {row!r}, column {column!r} is given twice{first}.",
        'Remove one, or pass duplicates="sum" or "mean".',
        line=lines[-1] if lines else None,
    )
