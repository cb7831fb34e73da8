"""ARFF, the format of Weka and Mulan: numeric attributes, nominal ones of numbers or two labels.

Dense data is comma-separated text and read as such; sparse data lists `index value` in braces.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TextIO

import numpy as np
from scipy import sparse

from neocc.io._errors import FormatError, MissingValueError, ReadError, ValueInCellError
from neocc.io._options import ReadOptions
from neocc.io._source import Source
from neocc.io.readers._attributes import Attribute, read_attribute, unquoted
from neocc.io.readers._contents import MISSING_REMEDY, Contents, missing_note
from neocc.io.readers._delimited import read_planned
from neocc.io.readers._ids import plan_named
from neocc.io.readers._plan import Plan
from neocc.io.readers._text import Dialect, check_is_text, is_missing, is_number, sample_records
from neocc.io.readers._truths import told

__all__ = ["is_arff", "read_arff"]

_LONGEST_LINE = 1 << 24
_SAMPLE_LINES, _MOST_TOLD = 200, 5
# The share of labels that may repeat where an attribute names the rows.
_FEW = 0.1


@dataclass(frozen=True)
class _Header:
    attributes: list[Attribute]
    n_lines: int
    first: str
    sample: list[str]  # lines of data


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
    is_sparse = header.first.startswith("{")
    quote = "'" if any(re.match(r"'|.*,\s*'", line) for line in header.sample) else '"'
    plan = Plan(
        Dialect(",", ".", quote, options.encoding, comment="%", escape="\\"),
        "table",
        len(header.attributes),
        header.n_lines,
        [one.name for one in header.attributes],
    )
    if is_sparse and options.row_names is None:
        options = replace(options, row_names=False)
    plan = plan_named(source.path, plan, _columns(header, plan, options).__getitem__, options)
    attributes = {place: header.attributes[place] for place in plan.numbers}
    _check_are_numbers(source, plan, attributes, is_sparse=is_sparse)
    codes = {at: one.codes or {} for at, one in attributes.items() if one.is_nominal}
    words = {at: one for at, one in codes.items() if not all(map(is_number, one))}
    notes = (*plan.notes, *told(plan, codes))
    if not all(attributes[at].is_truth for at in words):
        notes += ("Of two labels the first listed is 0; leave out columns of classes.",)
    plan = replace(plan, codes=words, notes=notes)
    if is_sparse:
        return _read_sparse(source, plan, options)
    written = {at: _written(one) for at, one in words.items()}
    return read_planned(source, replace(plan, codes=written), options)


def _written(codes: Mapping[str, float]) -> dict[str, float]:
    """Return the numbers of labels as lines may have them: blanks before a quote keep it."""
    forms = ("{}", "'{}'", '"{}"')
    return {form.format(word).strip(): code for word, code in codes.items() for form in forms}


def _columns(header: _Header, plan: Plan, options: ReadOptions) -> list[list[str]]:
    """Return some cells of every attribute; none where labels repeat, for these name no rows."""
    if options.row_names is not None:
        return [[] for _ in header.attributes]
    found = sample_records(header.sample, True, plan.dialect)
    whole = [record.cells for record in found if len(record.cells) == plan.width]
    columns = [list(cells) for cells in zip(*whole, strict=True)] or [[] for _ in header.attributes]
    for place, attribute in enumerate(header.attributes):
        cells = columns[place]
        if attribute.is_nominal and len(set(cells)) < (1 - _FEW) * len(cells):
            columns[place] = []
    return columns


def _read_header(source: Source, text: TextIO) -> _Header:
    attributes: list[Attribute] = []
    n_lines = 0
    while line := text.readline(_LONGEST_LINE):
        n_lines += 1
        word = line.strip().lower()
        if word.startswith("@attribute"):
            attributes.append(read_attribute(source, line.strip(), n_lines))
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
        raise FormatError(source.path, "There is no @data.", "Was it written completely?")
    if not attributes:
        raise FormatError(source.path, "There is no @attribute.", "Declare the columns.")
    sample: list[str] = []
    while len(sample) < _SAMPLE_LINES and (line := text.readline(_LONGEST_LINE)):
        if line.strip() and not line.startswith("%"):
            sample.append(line)
    if not sample:
        raise FormatError(
            source.path, "Nothing follows @data.", "Was it written completely?", line=n_lines
        )
    return _Header(attributes, n_lines, sample[0].strip(), sample)


def _check_are_numbers(
    source: Source, plan: Plan, attributes: Mapping[int, Attribute], *, is_sparse: bool
) -> None:
    """Refuse all attributes that are not numbers at once, with the option that leaves them out."""
    bad = [place for place, one in attributes.items() if not one.is_number]
    if bad:
        named = [
            f"{attributes[at].name!r} is {attributes[at].kind[:40]}" for at in bad[:_MOST_TOLD]
        ]
        dots = ", ..." if len(bad) > _MOST_TOLD else ""
        raise ValueInCellError(
            source.path,
            f"Of {len(attributes)} attributes, {len(bad)} {'is' if len(bad) == 1 else 'are'} "
            f"not numeric: {', '.join(named)}{dots}.",
            f"Leave {'it' if len(bad) == 1 else 'them'} out with {plan.drop_option(bad)}, or turn "
            "labels into numbers.",
            line=attributes[bad[0]].line,
        )
    for place, one in attributes.items() if is_sparse else ():
        if one.is_nominal and one.codes and one.codes[one.labels[0]] != 0:
            raise ValueInCellError(
                source.path,
                f"Where nothing is given for {one.name!r}, sparse data mean its first label, "
                f"{one.labels[0]!r}, which is not 0.",
                f"Leave it out with {plan.drop_option([place])}, or declare the label for 0 first.",
                line=one.line,
            )


def _read_sparse(source: Source, plan: Plan, options: ReadOptions) -> Contents:
    if plan.ids:
        raise FormatError(
            source.path, "Sparse data with row names cannot be read.", "Pass row_names=False."
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
                column, value = _read_entry(source, plan, entry, number)
                if column not in place:
                    continue
                if value is not None:
                    indices.append(place[column])
                    values.append(value)
                elif options.missing == "error":
                    raise MissingValueError(
                        source.path,
                        f"Attribute {column} has no value.",
                        MISSING_REMEDY,
                        line=number,
                    )
                else:
                    n_missing += 1
            indptr.append(len(indices))
    shape = (len(indptr) - 1, len(plan.numbers))
    data = sparse.csr_array((np.array(values), np.array(indices, dtype=np.int64), indptr), shape)
    data.sum_duplicates()
    notes = (missing_note(n_missing, options.missing),) if n_missing else ()
    return Contents(data, None, plan.number_names, (*plan.notes, *notes))


def _read_entry(source: Source, plan: Plan, entry: str, line: int) -> tuple[str, float | None]:
    """Return the number of an attribute, as it is written, and its value, None if it has none."""
    column, _, cell = entry.strip().partition(" ")
    cell = unquoted(cell)
    if not column.isdigit() or int(column) >= plan.width:
        raise _bad_entry(source, line, entry)
    codes = plan.codes.get(int(column), {})
    if is_missing(cell) and cell not in codes:
        return column, None
    value = float(cell) if is_number(cell) else codes.get(cell)
    if value is None and int(column) in plan.numbers:
        raise _bad_entry(source, line, entry)
    return column, value


def _bad_entry(source: Source, line: int, entry: str) -> ReadError:
    return FormatError(
        source.path,
        f"{entry.strip()[:40]!r} is not the number of an attribute, from 0, and a value.",
        "Correct the line.",
        line=line,
    )
