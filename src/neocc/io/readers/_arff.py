"""ARFF, the format of Weka and Mulan: numeric attributes, and nominal ones labelled by numbers.

Dense data is comma-separated text and read as such; sparse data lists `index value` in braces.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from typing import TextIO

import numpy as np
from scipy import sparse

from neocc.io._errors import FormatError, MissingValueError, ReadError, ValueInCellError
from neocc.io._options import ReadOptions
from neocc.io._source import Source
from neocc.io.readers._contents import MISSING_REMEDY, Contents, missing_note
from neocc.io.readers._delimited import read_planned
from neocc.io.readers._plan import Plan, plan_table
from neocc.io.readers._text import Dialect, check_is_text, is_missing, is_number

__all__ = ["is_arff", "read_arff"]

_ATTRIBUTE = re.compile(
    r"""@attribute\s+ (?: '(?P<single>[^']*)' | "(?P<double>[^"]*)" | (?P<plain>[^\s{]+) )
        \s* (?P<type>.*)""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_NUMERIC = ("numeric", "real", "integer")
_LONGEST_LINE = 1 << 24


@dataclass(frozen=True)
class _Attribute:
    name: str
    kind: str
    line: int

    @property
    def is_text(self) -> bool:
        """Whether it is free text, and so may name the rows."""
        return self.kind.lower() == "string"

    @property
    def is_number(self) -> bool:
        """Whether its values are numbers, be they called nominal."""
        if not self.kind.startswith("{"):
            return self.kind.lower().startswith(_NUMERIC)
        labels = next(csv.reader([self.kind.strip("{} \t")], quotechar="'"), [])
        return all(is_number(label.strip(" '\"")) for label in labels)


@dataclass(frozen=True)
class _Header:
    attributes: list[_Attribute]
    n_lines: int
    first: str


def is_arff(head: bytes) -> bool:
    """Whether the first line that is no comment declares a relation."""
    for line in head.splitlines():
        if line.strip() and not line.startswith(b"%"):
            return line.strip().lower().startswith(b"@relation")
    return False


def read_arff(source: Source, options: ReadOptions) -> Contents:
    """Read the numbers of all attributes but those dropped."""
    check_is_text(source, options.encoding)
    with source.open_text(options.encoding) as text:
        header = _read_header(source, text)
    first = header.attributes[0]
    names = options.row_names
    if names is None:
        names = first.is_text and first.name not in options.drop
    quote = "'" if "'" in header.first else '"'
    plan = Plan(
        Dialect(",", ".", quote, options.encoding, comment="%"),
        "table",
        len(header.attributes),
        header.n_lines,
        [one.name for one in header.attributes],
    )
    plan = plan_table(source.path, plan, names, options.drop)
    for place in plan.numbers:
        _check_is_number(source, header.attributes[place])
    if header.first.startswith("{"):
        return _read_sparse(source, plan, options)
    return read_planned(source, plan, options)


def _read_header(source: Source, text: TextIO) -> _Header:
    attributes: list[_Attribute] = []
    n_lines = 0
    while line := text.readline(_LONGEST_LINE):
        n_lines += 1
        word = line.strip().lower()
        if word.startswith("@attribute"):
            attributes.append(_read_attribute(source, line.strip(), n_lines))
        elif word.startswith("@data"):
            break
        elif word and not word.startswith(("%", "@relation")):
            raise FormatError(
                source.path,
                f"{line.strip()[:40]!r} is neither @attribute nor @data.",
                "Remove the line.",
                line=n_lines,
            )
    else:
        raise FormatError(source.path, "There is no @data.", "Was it written to the end?")
    if not attributes:
        raise FormatError(source.path, "There is no @attribute.", "Declare the columns.")
    first = ""
    while line := text.readline(_LONGEST_LINE):
        if line.strip() and not line.startswith("%"):
            first = line.strip()
            break
    if not first:
        raise FormatError(
            source.path, "Nothing follows @data.", "Was it written to the end?", line=n_lines
        )
    return _Header(attributes, n_lines, first)


def _read_attribute(source: Source, line: str, number: int) -> _Attribute:
    found = _ATTRIBUTE.fullmatch(line)
    if found is None or not found["type"].strip():
        raise FormatError(
            source.path,
            f"{line[:40]!r} is no name and type.",
            "Write, for example, @attribute age numeric.",
            line=number,
        )
    name = next(group for group in found.group("single", "double", "plain") if group is not None)
    return _Attribute(name, found["type"].strip(), number)


def _check_is_number(source: Source, attribute: _Attribute) -> None:
    if not attribute.is_number:
        raise ValueInCellError(
            source.path,
            f"The attribute {attribute.name!r} is no number but {attribute.kind[:40]}.",
            f'Leave it out with drop=["{attribute.name}"], or turn its labels into numbers.',
            line=attribute.line,
        )


def _read_sparse(source: Source, plan: Plan, options: ReadOptions) -> Contents:
    if plan.ids:
        raise FormatError(
            source.path, "Sparse data with row names are not read.", "Pass row_names=False."
        )
    place = {str(column): new for new, column in enumerate(plan.numbers)}
    indptr, indices, values, n_missing = [0], [], [], 0
    with source.open_text(options.encoding) as text:
        for number, line in enumerate(text, start=1):
            line = line.strip()  # noqa: PLW2901
            if number <= plan.skip_lines or not line or line.startswith("%"):
                continue
            if not (line.startswith("{") and line.endswith("}")):
                raise _bad_entry(source, number, line)
            for entry in filter(None, line[1:-1].split(",")):
                column, _, cell = entry.strip().partition(" ")
                cell = cell.strip()
                if is_missing(cell):
                    if options.missing == "error":
                        raise MissingValueError(
                            source.path,
                            f"Attribute {column} has no value ({cell!r}).",
                            MISSING_REMEDY,
                            line=number,
                        )
                    n_missing += 1
                    continue
                if not column.isdigit() or int(column) >= plan.width or not is_number(cell):
                    raise _bad_entry(source, number, entry)
                if column in place:
                    indices.append(place[column])
                    values.append(float(cell))
            indptr.append(len(indices))
    shape = (len(indptr) - 1, len(plan.numbers))
    data = sparse.csr_array((np.array(values), np.array(indices, dtype=np.int64), indptr), shape)
    data.sum_duplicates()
    notes = (missing_note(n_missing, options.missing),) if n_missing else ()
    return Contents(data, None, plan.number_names, notes)


def _bad_entry(source: Source, line: int, entry: str) -> ReadError:
    return FormatError(
        source.path,
        f"{entry.strip()[:40]!r} is no list of an attribute's number, from 0, and a value.",
        "Correct the line.",
        line=line,
    )
