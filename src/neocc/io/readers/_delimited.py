"""CSV and TSV, tables and triplets, in batches of a few megabytes of text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, BinaryIO

import numpy as np

from neocc._extras import need
from neocc.io._options import Missing, ReadOptions
from neocc.io._source import Source
from neocc.io.readers._builders import IN_MEMORY, Builders
from neocc.io.readers._contents import Contents
from neocc.io.readers._faults import find_fault
from neocc.io.readers._lent import MOST_BYTES, lend
from neocc.io.readers._plan import Plan
from neocc.io.readers._recognise import recognise
from neocc.io.readers._repeated import find_duplicate
from neocc.io.readers._text import MISSING, Dialect, grouped_number, separators
from neocc.io.readers._totals import without_summary_rows
from neocc.io.readers._triplets import with_ones
from neocc.io.readers._truths import coded

__all__ = ["batches", "read_csv", "read_planned", "read_tsv"]

_BLOCK_BYTES = 8 << 20
# Tables with many columns get blocks of at least this many lines: each column has its own cost.
_LINES_PER_BLOCK = 64


def read_csv(source: Source, options: ReadOptions, builders: Builders = IN_MEMORY) -> Contents:
    """Read comma-separated text, or text with another delimiter."""
    return read_planned(source, recognise(source, options, ","), options, builders)


def read_tsv(source: Source, options: ReadOptions, builders: Builders = IN_MEMORY) -> Contents:
    """Read tab-separated text."""
    return read_planned(source, recognise(source, options, "\t"), options, builders)


def read_planned(
    source: Source, plan: Plan, options: ReadOptions, builders: Builders = IN_MEMORY
) -> Contents:
    """Read the table or the triplets of a file whose columns are known."""
    if plan.layout == "table":
        builder = builders.table(plan.number_names, has_row_names=bool(plan.ids))
    else:
        builder = builders.triplets(plan.duplicates(options))
    for batch in batches(source, plan, options.missing):
        if not builder.add(batch, options.missing):
            raise find_fault(source, plan, options.missing, "a cell without a finite number")
    contents = builder.build(plan.notes)
    if isinstance(contents, Contents):
        return without_summary_rows(contents, plan, options)
    raise find_duplicate(source, plan, *contents)


def batches(
    source: Source, plan: Plan, missing: Missing, n_expected: int | None = None
) -> Iterator[Any]:
    """Yield record batches: ids as dictionaries of text, integers, numbers with nulls for missing.

    Memory is bounded by a few blocks of text, however large the file. With `n_expected`, a file
    may have no records at all.
    """
    pa = need("pyarrow")

    if plan.dialect.thousands or plan.codes:
        yield from _from_text(source, plan, missing, 0)
        return
    n_records = 0
    with source.open() as file:
        try:
            with _open(file, source, plan) as found:
                for batch in found:
                    n_records += batch.num_rows
                    wanted = _checked_width(batch, source, plan, missing)
                    yield _finished(batch.select(list(range(wanted))), plan)
        # Bytes that are no text in the encoding asked for come as Python's own error.
        except (pa.ArrowInvalid, UnicodeError) as error:
            if n_expected is not None and "Empty CSV file" in str(error):
                return
            if missing == "error":
                raise find_fault(source, plan, missing, str(error)) from error
        else:
            if not n_records and n_expected is None:
                raise find_fault(source, plan, missing, "no line with data")
            return
    yield from _from_text(source, plan, missing, n_records)


def _finished(batch: Any, plan: Plan) -> Any:
    """Return records without those that have neither names nor values; pairs get their 1.

    Spreadsheets write such lines below a table. Where rows have no names, they are rows.
    """
    pa = need("pyarrow")
    pc = need("pyarrow.compute")

    is_blank = np.full(batch.num_rows, bool(plan.ids))
    for at, column in enumerate(batch.columns):
        if not is_blank.any():
            break
        if at < len(plan.ids):
            is_blank &= column.indices.to_numpy() == pc.index(column.dictionary, "").as_py()
        else:
            is_blank &= column.is_null().to_numpy(zero_copy_only=False)
    if is_blank.any():
        kept = pa.array(~is_blank)
        columns = [each.filter(kept) for each in batch.columns]
        for at in range(len(plan.ids)):  # a name that no line is left to have is none
            columns[at] = columns[at].dictionary_decode().dictionary_encode()
        batch = pa.record_batch(columns, names=batch.schema.names)
    return with_ones(batch) if plan.layout == "pairs" else batch


def _checked_width(batch: Any, source: Source, plan: Plan, missing: Missing) -> int:
    """Return the number of columns wanted; those after them must be blank."""
    wanted = len(plan.ids) + len(plan.integers) + len(plan.numbers)
    if not all(_is_blank(one) for one in batch.columns[wanted:]):
        raise find_fault(source, plan, missing, "unknown separators")
    return wanted


def _from_text(source: Source, plan: Plan, missing: Missing, n_done: int) -> Iterator[Any]:
    """Yield what follows the first records of a file that the parser cannot read as numbers.

    It knows missing values without blanks around them, and no separators of thousands. Here it
    reads text, and numbers are made of that.
    """
    pa = need("pyarrow")

    n_ids = len(plan.ids) + len(plan.integers)
    try:
        with source.open() as file, _open(file, source, plan, numbers_as_text=True) as found:
            for batch in found:
                _checked_width(batch, source, plan, missing)
                rest = batch.slice(min(n_done, batch.num_rows))
                n_done -= batch.num_rows - rest.num_rows
                columns = list(rest.columns)
                numbers = [
                    _as_numbers(columns[n_ids + at], plan.dialect, plan.codes.get(place))
                    for at, place in enumerate(plan.numbers)
                ]
                arrays = columns[:n_ids] + numbers
                made = pa.record_batch(arrays, names=rest.schema.names[: len(arrays)])
                yield _finished(made, plan)
    except (pa.ArrowInvalid, UnicodeError) as error:
        raise find_fault(source, plan, missing, str(error)) from error


def _as_numbers(text: Any, dialect: Dialect, codes: Mapping[str, float] | None) -> Any:
    pa = need("pyarrow")
    pc = need("pyarrow.compute")

    if codes is not None:
        return coded(text, codes)
    trimmed = pc.utf8_trim_whitespace(text)
    present = pc.if_else(pc.is_in(trimmed, pa.array(MISSING, pa.string())), None, trimmed)
    if dialect.thousands:
        grouped = pc.match_substring_regex(present, grouped_number(dialect))
        joined = pc.replace_substring_regex(present, separators(dialect.thousands), "")
        present = pc.if_else(grouped, joined, present)
    if dialect.decimal != ".":
        present = pc.replace_substring(present, dialect.decimal, ".")
    return present.cast(pa.float64())


@contextmanager
def _open(
    file: BinaryIO, source: Source, plan: Plan, *, numbers_as_text: bool = False
) -> Iterator[Any]:
    """Open a file for the parser, and take it back however the reading ends."""
    pa = need("pyarrow")
    csv = need("pyarrow.csv")

    # Names of columns may repeat; their numbers do not.
    names = [str(place) for place in range(plan.width)]
    ids = pa.dictionary(pa.int32(), pa.string())
    types = {names[place]: ids for place in (*plan.ids, *plan.blank)}
    types |= {names[place]: pa.int64() for place in plan.integers}
    kind = pa.string() if numbers_as_text else pa.float64()
    types |= {names[place]: kind for place in plan.numbers}
    wanted = (*plan.ids, *plan.integers, *plan.numbers, *plan.blank)
    with lend(file, plan.dialect) as lent:
        yield csv.open_csv(
            lent,
            csv.ReadOptions(
                column_names=names,
                skip_rows=plan.skip_lines,
                block_size=_block_bytes(source),
            ),
            csv.ParseOptions(
                delimiter=plan.dialect.delimiter,
                quote_char=plan.dialect.quote,
                escape_char=plan.dialect.escape or False,
                newlines_in_values=True,
            ),
            csv.ConvertOptions(
                column_types=types,
                include_columns=[names[place] for place in wanted],
                null_values=list(MISSING),
                decimal_point=plan.dialect.decimal,
            ),
        )


def _is_blank(column: Any) -> bool:
    """Whether a column of text holds nothing but blank cells."""
    return not any(column.dictionary.to_pylist())


def _block_bytes(source: Source) -> int:
    """Return a size of block that holds many lines, judging by the beginning of the file."""
    lines = source.head.splitlines(keepends=True)
    longest = max(len(line) for line in lines)
    if len(lines) == 1:
        with source.open() as file:
            longest = len(file.readline(MOST_BYTES // _LINES_PER_BLOCK))
    return min(max(_BLOCK_BYTES, _LINES_PER_BLOCK * longest), MOST_BYTES)
