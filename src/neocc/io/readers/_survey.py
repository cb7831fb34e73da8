"""What is wrong with the columns of a table, told of all of them at once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress

from neocc.io._errors import MissingValueError, ReadError, like
from neocc.io._options import Missing
from neocc.io.readers._numerals import grouping
from neocc.io.readers._plan import Plan
from neocc.io.readers._remedies import if_triplets, is_typeset, remedy_for_number
from neocc.io.readers._text import Record, is_infinite, is_missing, is_number

__all__ = ["bad_columns"]

# So many cells after a fault are looked at for more of its kind; so many columns are shown.
_MOST_CELLS, _MOST_TOLD = 2_000_000, 5
_MISSING_TOO = 'pass missing="zero" to read such cells as 0, or missing="ignore" to leave them out'


def bad_columns(
    fault: ReadError, plan: Plan, missing: Missing, data: Iterator[Record]
) -> ReadError:
    """Say of a fault in one column which others have text, or no values, and how to drop them."""
    words, blank, two, only_text = _survey(plan, data)
    n_blank = sum(blank.values()) if missing == "error" else 0
    is_blank = isinstance(fault, MissingValueError)
    if is_blank and n_blank > 1 and not words:
        said = f"{fault.problem} {n_blank} cells {_in(blank, plan)} have no value."
        return like(fault, said, fault.remedy)
    # Thousands that are separated, and the like, are no text: the fault says how to read them.
    grouped = all(
        grouping(word) or is_typeset(word, plan.dialect.decimal) for word in words.values()
    )
    if not words or (not is_blank and grouped):
        return fault
    if not is_blank and len(words) == 1 and not n_blank:
        return like(fault, fault.problem, fault.remedy + two)
    if only_text:
        said = f"No column holds numbers, but text such as {only_text[:40]!r}."
        plain = "Write the values as plain numbers, without words and signs such as %, and "
        plain += "categories as columns of 0 and 1."
        remedy = remedy_for_number(plan, only_text) or plain
        if fault.line == 1:  # it may well be a header, which is not at fault
            return type(fault)(fault.path, said, remedy)
        return like(fault, f"{fault.problem} {said}", remedy)
    told = [f"{plan.labels[p]}: {word[:20]!r}" for p, word in list(words.items())[:_MOST_TOLD]]
    dots = "; ..." if len(words) > _MOST_TOLD else ""
    columns = "1 column" if len(plan.numbers) == 1 else f"{len(plan.numbers)} columns"
    said = f"{fault.problem} Of {columns}, {len(words)} "
    said += f"{'holds' if len(words) == 1 else 'hold'} text ({'; '.join(told)}{dots})."
    remedy = f"Leave {'them' if len(words) > 1 else 'it'} out with {plan.drop_option(words)}"
    if len(words) == len(plan.numbers) > 1:  # then nothing would be left
        remedy = "If the line holds a title, units or a header again, delete it"
    elif not plan.ids:
        remedy += f"; if one names the rows, pass row_names='...'{if_triplets(plan)}"
    if n_blank:
        have = "cell has" if n_blank == 1 else "cells have"
        remedy += f". {n_blank} {have} no value; {_MISSING_TOO}"
    return like(fault, said, f"{remedy}.{two}")


def _survey(plan: Plan, data: Iterable[Record]) -> tuple[dict[int, str], dict[int, int], str, str]:
    """Return the first text of each column that has any, and how many cells have no value.

    Third is what to do about columns of two words; fourth a text from below the first line, if most
    lines hold some in every column.
    """
    words: dict[int, dict[str, None]] = {}
    blank: dict[int, int] = {}
    mixed: set[int] = set()
    only_text, n_lines, n_of_text = "", 0, 0
    n_cells, numbers, decimal, code = 0, set(plan.numbers), plan.dialect.decimal, plan.codes.get
    with suppress(ReadError):  # a record that cannot be read: not what this is about
        for record in data:
            texts = []
            for place, cell in enumerate(map(str.strip, record.cells)):
                if place not in numbers:
                    continue
                if cell in code(place, ()) or is_number(cell, decimal):
                    mixed.add(place)
                elif is_missing(cell):
                    blank[place] = blank.get(place, 0) + 1
                elif not is_infinite(cell):
                    known = words.setdefault(place, {})
                    if len(known) <= 2:
                        known[cell] = None
                    texts.append(cell)
            n_lines += 1
            if len(texts) == len(numbers) > 1:
                n_of_text += 1
                only_text = texts[0]
            n_cells += len(record.cells)
            if n_cells > _MOST_CELLS:
                break
    first = {place: next(iter(known)) for place, known in words.items()}
    only_text = only_text if n_of_text > max(1, n_lines / 2) else ""
    two = {p: known for p, known in words.items() if len(known) == 2 and p not in mixed}
    return first, blank, _about_two(plan, two), only_text


def _about_two(plan: Plan, columns: Mapping[int, Iterable[str]]) -> str:
    """Say what to do about columns of two words that mean nothing here."""
    if not columns:
        return ""
    place, words = next(iter(columns.items()))
    told = " or ".join(word[:20] for word in words)
    return f" Two words, such as those of {plan.name(place)!r} ({told}), can be written as 0 and 1."


def _in(places: Collection[int], plan: Plan) -> str:
    if len(places) == 1:
        return f"in column {plan.labels[next(iter(places))]}"
    return f"in {len(places)} of {len(plan.numbers)} columns"
