"""What is wrong with the columns of a table, told of all of them at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from neocc.io._errors import MissingValueError, ReadError, like
from neocc.io._options import Missing
from neocc.io.readers._numerals import grouping
from neocc.io.readers._plan import Plan
from neocc.io.readers._remedies import if_triplets, is_typeset, remedy_for_number
from neocc.io.readers._text import Record, is_infinite, is_missing, is_number

__all__ = ["bad_columns"]

# So many cells after a fault are looked at for more of its kind; so many columns are shown.
_MOST_CELLS, _MOST_TOLD = 2_000_000, 5
# So many cells of two words, or of a mark and nothing, are answers rather than mistakes.
_ENOUGH_WORDS = 4
_MISSING_TOO = 'pass missing="zero" to read such cells as 0, or missing="ignore" to leave them out'


@dataclass
class _Survey:
    """What columns of numbers hold instead, from the first fault on."""

    words: dict[int, str] = field(default_factory=dict)  # the first text of a column
    blank: dict[int, int] = field(default_factory=dict)  # how many cells have no value
    mixed: set[int] = field(default_factory=set)  # columns that have numbers, too
    only_text: str = ""  # a text from below the first line, if most lines hold nothing else
    has_line_of_text: bool = False  # whether some lines do
    hint: str = ""  # what to do about marks and about columns of two words


def bad_columns(
    fault: ReadError, plan: Plan, missing: Missing, data: Iterator[Record]
) -> ReadError:
    """Say of a fault in one column which others have text, or no values, and how to drop them."""
    found = _survey(plan, data)
    words, blank = found.words, found.blank
    n_blank = sum(blank.values()) if missing == "error" else 0
    is_blank = isinstance(fault, MissingValueError)
    if is_blank and n_blank > 1 and not words:
        said = f"{fault.problem} {n_blank} cells {_in(blank, plan)} have no value."
        return like(fault, said, fault.remedy)
    # Thousands that are separated, and the like, are no text: the fault says how to read them.
    decimal = plan.dialect.decimal
    grouped = all(grouping(word) or is_typeset(word, decimal) for word in words.values())
    if not words or (not is_blank and grouped):
        return fault
    if not is_blank and len(words) == 1 and not n_blank:
        is_rare = set(words) <= found.mixed and remedy_for_number(plan, *words.values()) is None
        hint = " If it stands for no value, blank the cell." if is_rare else found.hint
        return like(fault, fault.problem, fault.remedy + hint)
    if found.only_text:
        return _nothing_but_text(fault, plan, found.only_text)
    if not is_blank and all(remedy_for_number(plan, word) for word in words.values()):
        said = f"Such text stands in {len(words)} of {len(plan.numbers)} columns."
        return like(fault, f"{fault.problem} {said}", fault.remedy)
    return _told(fault, plan, found, n_blank)


def _nothing_but_text(fault: ReadError, plan: Plan, text: str) -> ReadError:
    said = f"No column holds numbers, but text such as {text[:40]!r}."
    plain = "Write the values as plain numbers, without words and signs such as %, answers that "
    plain += "have an order as 1, 2, 3, and categories as columns of 0 and 1."
    remedy = remedy_for_number(plan, text) or plain
    if fault.line == 1:  # it may well be a header, which is not at fault
        return type(fault)(fault.path, said, remedy)
    return like(fault, f"{fault.problem} {said}", remedy)


def _told(fault: ReadError, plan: Plan, found: _Survey, n_blank: int) -> ReadError:
    """Name the columns that hold text, and say what to do about them and about blank cells."""
    words, numbers = found.words, plan.numbers
    told = [f"{plan.labels[p]}: {word[:20]!r}" for p, word in list(words.items())[:_MOST_TOLD]]
    dots = "; ..." if len(words) > _MOST_TOLD else ""
    columns = "1 column" if len(numbers) == 1 else f"{len(numbers)} columns"
    said = f"{fault.problem} Of {columns}, {len(words)} "
    said += f"{'holds' if len(words) == 1 else 'hold'} text ({'; '.join(told)}{dots})."
    remedy = f"Leave {'them' if len(words) > 1 else 'it'} out with {plan.drop_option(words)}"
    if len(words) == len(numbers) > 1:  # then nothing would be left
        remedy = "Correct these cells, and blank those that stand for no value"
        if found.has_line_of_text and not found.hint:
            remedy = "If the line holds a title, units or a header again, delete it"
    elif set(words) <= found.mixed:
        remedy = f"Blank cells that stand for no value, correct others, or l{remedy[1:]}"
    elif not plan.ids:
        remedy += f"; if one names the rows, pass row_names='...'{if_triplets(plan)}"
    if n_blank:
        have = "cell has" if n_blank == 1 else "cells have"
        remedy += f". {n_blank} {have} no value; {_MISSING_TOO}"
    return like(fault, said, f"{remedy}.{found.hint}")


def _survey(plan: Plan, data: Iterable[Record]) -> _Survey:
    """Look at all records, or at very many."""
    found = _Survey()
    texts: dict[int, Counter[str]] = {}
    n_lines, n_of_text, n_cells = 0, 0, 0
    numbers, decimal, code = set(plan.numbers), plan.dialect.decimal, plan.codes.get
    with suppress(ReadError):  # a record that cannot be read: not what this is about
        for record in data:
            last, n_texts = "", 0
            cells = enumerate(cell.strip(" \t") for cell in record.cells)
            for place, cell in ((at, cell) for at, cell in cells if at in numbers):
                if cell in code(place, ()) or is_number(cell, decimal):
                    found.mixed.add(place)
                elif is_missing(cell.strip()):
                    found.blank[place] = found.blank.get(place, 0) + 1
                elif not is_infinite(cell):
                    _count(texts.setdefault(place, Counter()), cell)
                    last, n_texts = last or cell, n_texts + 1
            n_lines += 1
            if n_texts == len(numbers) > 1:
                n_of_text += 1
                found.only_text = last
            n_cells += len(record.cells)
            if n_cells > _MOST_CELLS:
                break
    found.words = {place: next(iter(known)) for place, known in texts.items()}
    found.has_line_of_text = n_of_text > 0
    if n_of_text <= max(1, n_lines / 2):
        found.only_text = ""
    pure = {p: known for p, known in texts.items() if p not in found.mixed}
    found.hint = _about_marks(plan, pure, found.blank) or _about_two(plan, pure)
    return found


def _count(known: Counter[str], word: str) -> None:
    """Count a word of a column, but not many words."""
    if len(known) <= 2 or word in known:
        known[word] += 1


def _about_two(plan: Plan, columns: Mapping[int, Counter[str]]) -> str:
    """Say what to do about columns of two words that mean nothing here."""
    pairs = (
        (place, words)
        for place, words in columns.items()
        if len(words) == 2 and words.total() >= _ENOUGH_WORDS
    )
    for place, words in pairs:
        told = f"{plan.name(place)!r} ({' or '.join(word[:20] for word in words)})"
        return f" Two words, such as those of {told}, can be written as 0 and 1."
    return ""


def _about_marks(plan: Plan, columns: Mapping[int, Counter[str]], blank: Mapping[int, int]) -> str:
    """Say what to do about columns of one mark, such as x, and blank cells."""
    for place, words in columns.items():
        if len(words) == 1 and blank.get(place) and words.total() + blank[place] >= _ENOUGH_WORDS:
            said = f"{next(iter(words))[:20]!r} in column {plan.labels[place]}"
            return f" Marks such as {said} can be written as 1, and blank cells beside them as 0."
    return ""


def _in(places: Collection[int], plan: Plan) -> str:
    if len(places) == 1:
        return f"in column {plan.labels[next(iter(places))]}"
    return f"in {len(places)} of {len(plan.numbers)} columns"
