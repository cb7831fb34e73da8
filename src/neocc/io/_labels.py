"""What is known of rows or columns besides the matrix: labels to test groups by, names to show.

Both come from tables with a column of ids, which are the names of the matrix, and are brought into
its order here. Nothing is left out without a word.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np
from scipy import sparse

from neocc._typing import IntArray
from neocc.io._errors import DuplicateEntryError
from neocc.io._item_table import ItemTable, match_ids

__all__ = ["Labels", "read_labels", "read_names_table"]

_LABEL_HEADINGS = ("label", "labels", "class", "group", "cluster")
_NAME_HEADINGS = ("name", "title", "label")
_BETWEEN = "|"


@dataclass(frozen=True, eq=False)
class Labels:
    """Labels of the items of a side, in its order.

    Attributes
    ----------
    names : tuple of str
        The labels.
    members : csr_array of shape (n_items, n_labels), int8
        Which items have which.
    notes : tuple of str
        What a reader should know: items without a label, ids without an item.
    """

    names: tuple[str, ...]
    members: Any
    notes: tuple[str, ...] = ()

    def take(self, items: IntArray) -> Labels:
        """Return the labels of some items."""
        return replace(self, members=self.members[items])


# -------------------------------------------------------------------------------------- labels


def read_labels(given: Any, ids: Sequence[str], noun: str = "rows") -> Labels:
    """Read labels of items: from a file, by id, or one entry for each item.

    Parameters
    ----------
    given : path-like, mapping, sequence or Labels
        A table with a column of ids and one of labels (``FILE:COLUMN`` says which; several labels
        stand in several lines or have ``|`` between them); a mapping from ids; or a sequence in
        the order of the items. An entry of a mapping or a sequence is a label, a list of labels,
        or None.
    ids : sequence of str
        The items.
    noun : str, default="rows"
        What they are called in messages.
    """
    if isinstance(given, Labels):
        return given
    if isinstance(given, str | PathLike):
        table = ItemTable.look_at(given, ids, noun, "label", _LABEL_HEADINGS)
        found: dict[str, list[str]] = {}
        for line, key, cell in table.lines():
            labels = found.setdefault(key, [])
            for label in filter(None, map(str.strip, cell.split(_BETWEEN))):
                if label in labels:
                    what = f"{key!r} has the label {label!r} twice."
                    remedy = "Leave one of them out."
                    raise DuplicateEntryError(table.path, what, remedy, line=line)
                labels.append(label)
        entries, notes = table.match(found)
        return _gathered(entries, notes, f" in {table.path.name}", noun, table.fault)
    if isinstance(given, Mapping):
        by_id = {str(key): _several(value) for key, value in given.items()}
        entries, notes = match_ids(by_id, ids, noun, "labels", ValueError)
        return _gathered(entries, notes, "", noun, ValueError)
    each = [_several(entry) for entry in given]
    if len(each) != len(ids):
        raise ValueError(f"{len(each)} labels for {len(ids)} {noun}: give one entry for each.")
    return _gathered(each, [], "", noun, ValueError)


def _several(entry: Any) -> list[str]:
    """Return the labels of one entry: a word, a number, several of them, or nothing."""
    several = entry if isinstance(entry, list | tuple | set | frozenset) else [entry]
    texts = [str(one) for one in several if not _is_nothing(one)]
    if isinstance(several, set | frozenset):
        texts.sort()
    return list(dict.fromkeys(filter(None, texts)))


def _is_nothing(one: Any) -> bool:
    """Whether this is None, NaN, or what pandas has for it."""
    is_nan = isinstance(one, float) and math.isnan(one)
    return one is None or is_nan or type(one).__name__ == "NAType"


def _gathered(
    entries: Sequence[Sequence[str] | None],
    notes: list[str],
    where: str,
    noun: str,
    fault: Any,
) -> Labels:
    """Make a matrix of the labels of all items; say how many items have none."""
    numbers: dict[str, int] = {}
    places = [
        (item, numbers.setdefault(label, len(numbers)))
        for item, labels in enumerate(entries)
        for label in labels or ()
    ]
    if not places:
        raise fault(f"None of the {noun} has a label{where}.")
    items, labels = np.array(places).T
    shape = (len(entries), len(numbers))
    members = sparse.csr_array((np.ones(len(items), np.int8), (items, labels)), shape=shape)
    n_without = len(entries) - len(np.unique(items))
    if n_without:
        has = "has" if n_without == 1 else "have"
        notes = [*notes, f"{n_without:,} of the {len(entries):,} {noun} {has} no label{where}."]
    if len(numbers) == len(places) > 1:
        alone = f"every label{where} is that of one of the {noun} alone"
        notes = [*notes, f"{alone}: there is nothing to test. Are these names to show?"]
    return Labels(tuple(numbers), members, tuple(notes))


# --------------------------------------------------------------------------------------- names


def read_names_table(
    path: str | PathLike[str], ids: Sequence[str], noun: str = "rows"
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Read names to show instead of ids from a table; return them in order, and what to note.

    Items that the table does not name keep their ids.
    """
    table = ItemTable.look_at(path, ids, noun, "name", _NAME_HEADINGS)
    found: dict[str, str] = {}
    for line, key, cell in table.lines():
        if key in found:
            what = f"{key!r} has a second name here."
            remedy = "Give each id one line; labels, of which it may have several, are no names."
            raise DuplicateEntryError(table.path, what, remedy, line=line)
        found[key] = cell
    entries, notes = table.match(found)
    n_without = sum(not name for name in entries)
    if n_without:
        of_all = f"{n_without:,} of the {len(ids):,} {noun} without a name in {table.path.name}"
        notes.append(f"{of_all}: the id is shown.")
    return tuple(name or key for name, key in zip(entries, ids, strict=True)), tuple(notes)
