"""Parquet files: data frames as tables, or triplets with ids of any type."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from neocc._extras import need
from neocc.io._errors import FormatError, MissingValueError, ReadError, ValueInCellError
from neocc.io._options import ReadOptions
from neocc.io._source import Source, check_expansion
from neocc.io.readers._builders import IN_MEMORY, Builders
from neocc.io.readers._contents import MISSING_REMEDY, Contents
from neocc.io.readers._plan import Plan
from neocc.io.readers._recognise import recognise_records
from neocc.io.readers._repeated import duplicate_error
from neocc.io.readers._text import MISSING, Dialect, Record
from neocc.io.readers._totals import without_summary_rows
from neocc.io.readers._triplets import with_ones
from neocc.io.readers._truths import coded, neither

__all__ = ["is_parquet", "read_parquet", "recognise_batch"]

_SAMPLE_ROWS = 200
_BATCH_CELLS = 1 << 21
# Where pandas keeps the index of a data frame.
_PANDAS_INDEX = "__index_level_0__"


def is_parquet(head: bytes) -> bool:
    """Whether a file begins as Parquet files do."""
    return head.startswith(b"PAR1")


def read_parquet(source: Source, options: ReadOptions, builders: Builders = IN_MEMORY) -> Contents:
    """Read a table or triplets."""
    pa = need("pyarrow")
    parquet = need("pyarrow.parquet")

    try:
        with source.guard(), parquet.ParquetFile(source.path) as file:
            plan = _plan(source, file, options)
            return _read(source, file, plan, options, builders)
    except (pa.ArrowException, UnicodeError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise FormatError(
            source.path, f"The file is not a complete Parquet file ({reason}).", "Copy it again."
        ) from error


def _plan(source: Source, file: Any, options: ReadOptions) -> Plan:
    """Recognise the layout from the names of the columns and the first rows."""
    names = list(file.schema_arrow.names)
    n_rows = file.metadata.num_rows
    if not n_rows or not names:
        raise FormatError(source.path, "The file has no rows.", "Was it written completely?")
    check_expansion(source.path, 8 * n_rows * len(names), source.size)
    first = next(file.iter_batches(_SAMPLE_ROWS))
    return recognise_batch(source.path, first, options, complete=n_rows <= _SAMPLE_ROWS)


def recognise_batch(path: Path, first: Any, options: ReadOptions, *, complete: bool = True) -> Plan:
    """Plan the reading of a file whose first rows, or all, are in a record batch."""
    names = first.schema.names
    if len(set(names)) < len(names):
        raise FormatError(path, "Several columns have the same name.", "Rename them.")
    if options.row_names is None and options.layout in (None, "table") and _PANDAS_INDEX in names:
        options = replace(options, row_names=_PANDAS_INDEX)
    first = first.slice(0, _SAMPLE_ROWS)
    columns = [[_cell(value) for value in one.to_pylist()] for one in first.columns]
    data = [Record(0, 0, list(cells)) for cells in zip(*columns, strict=True)]
    known = replace(options, delimiter=",", decimal=".", header=True)
    return recognise_records(path, Dialect(), Record(0, 0, names), data, known, complete=complete)


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return str(int(value))
    return "" if value is None else str(value)


def _read(
    source: Source, file: Any, plan: Plan, options: ReadOptions, builders: Builders
) -> Contents:
    if plan.layout == "table":
        builder = builders.table(plan.number_names, has_row_names=bool(plan.ids))
    else:
        builder = builders.triplets(plan.duplicates(options))
    n_before = 0
    for batch in _batches(source, file, plan):
        if not builder.add(batch, options.missing):
            raise _fault(source, plan, batch, n_before, options)
        n_before += batch.num_rows
    contents = builder.build(plan.notes)
    if isinstance(contents, Contents):
        return without_summary_rows(contents, plan, options)
    raise duplicate_error(source, *contents)


def _batches(source: Source, file: Any, plan: Plan) -> Iterator[Any]:
    """Yield record batches of dictionaries of text and of float64, as from delimited files."""
    pa = need("pyarrow")

    known = file.schema_arrow.names
    names = [known[place] for place in (*plan.ids, *plan.numbers)]
    _check_types(source, file.schema_arrow, plan)
    n_rows = max(1024, _BATCH_CELLS // len(names))
    for batch in file.iter_batches(n_rows, columns=names):
        arrays: list[Any] = []
        for place, name in zip((*plan.ids, *plan.numbers), names, strict=True):
            column = batch.column(name)
            if len(arrays) < len(plan.ids):
                arrays.append(_as_ids(source, name, column))
            elif place in plan.codes and not _is_numeric(column.type):
                arrays.append(_as_coded(source, plan, place, column))
            else:
                arrays.append(_as_numbers(column))
        made = pa.record_batch(arrays, names=[str(place) for place in range(len(arrays))])
        yield with_ones(made) if plan.layout == "pairs" else made


def _as_ids(source: Source, name: str, column: Any) -> Any:
    pa = need("pyarrow")

    if not pa.types.is_dictionary(column.type):
        try:
            column = column.dictionary_encode()
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise _wrong_type(source, name, column) from error
    try:
        values = column.dictionary.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise _wrong_type(source, name, column) from error
    return pa.DictionaryArray.from_arrays(column.indices.cast(pa.int32()), values)


def _check_types(source: Source, schema: Any, plan: Plan) -> None:
    """Refuse all columns of numbers that are of other types at once."""
    kinds = {place: schema.field(place).type for place in plan.numbers}
    # Words of a pair, or categories of them, are told of when they are read.
    bad = {p: kind for p, kind in kinds.items() if p not in plan.codes and not _is_numeric(kind)}
    if not bad:
        return
    first = next(iter(bad))
    told = f"The column is of type {bad[first]}, and cannot be read as numbers."
    if len(bad) > 1:
        told += f" Nor can {len(bad) - 1} more of {len(kinds)} columns."
    remedy = "Name the three columns of triplets with columns=[...]."
    if plan.layout == "table":
        remedy = f"Leave {'it' if len(bad) == 1 else 'them'} out with {plan.drop_option(bad)}."
    raise ValueInCellError(source.path, told, remedy, column=repr(plan.name(first)))


def _is_numeric(kind: Any) -> bool:
    types = need("pyarrow.types")

    kind = kind.value_type if types.is_dictionary(kind) else kind
    numeric = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
    return any(test(kind) for test in (types.is_null, *numeric))


def _as_coded(source: Source, plan: Plan, place: int, column: Any) -> Any:
    """Return words for yes and no as numbers; name another word."""
    pa = need("pyarrow")

    codes = plan.codes[place]
    words = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    try:
        return coded(words.cast(pa.string()), codes)
    except pa.ArrowInvalid as error:
        known = (*codes, *MISSING, None)
        other = next(word for word in words.to_pylist() if (word and word.strip()) not in known)
        remedy = f"Correct it, or leave the column out with {plan.drop_option([place])}."
        problem = str(neither(other, codes))
        raise ValueInCellError(source.path, problem, remedy, column=plan.labels[place]) from error


def _as_numbers(column: Any) -> Any:
    pa = need("pyarrow")

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.uint8())
    return column.cast(pa.float64(), safe=False)


def _wrong_type(source: Source, name: str, column: Any) -> ReadError:
    return ValueInCellError(
        source.path,
        f"The column is of type {column.type}, and cannot be read as names.",
        "Leave it out with drop=[...], or name the three columns of triplets with columns=[...].",
        column=repr(name),
    )


def _fault(
    source: Source, plan: Plan, batch: Any, n_before: int, options: ReadOptions
) -> ReadError:
    """Return the error for the first cell of a batch without a finite number or a name."""
    places = (*plan.ids, *plan.numbers)
    columns = [batch.column(at).to_pylist() for at in range(len(places))]
    for row, cells in enumerate(zip(*columns, strict=True)):
        for place, value in zip(places, cells, strict=True):
            at, where = plan.labels[place], f"in row {n_before + row + 1}"
            if place in plan.ids:
                if plan.layout != "table" and not (value or "").strip():
                    return MissingValueError(
                        source.path, f"The name {where} is blank.", "Fill it in.", column=at
                    )
            elif value is None or math.isnan(value):
                if options.missing == "error":
                    found = f"There is no number {where}."
                    return MissingValueError(source.path, found, MISSING_REMEDY, column=at)
            elif math.isinf(value):
                found = f"The number {where} is infinite."
                return ValueInCellError(source.path, found, "Replace it.", column=at)
    raise AssertionError("no fault in a batch that was refused")
