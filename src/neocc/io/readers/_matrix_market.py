"""Matrix Market files, in batches, by the parser of all text.

SciPy's own reader allocates memory for whatever the header declares, and a NUL byte crashes it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from neocc._typing import AnyArray, FloatArray
from neocc.io._errors import FormatError
from neocc.io._options import Missing, ReadOptions
from neocc.io._source import Source, check_shape
from neocc.io.readers._builders import IN_MEMORY, Builders
from neocc.io.readers._contents import Contents, finite, missing_note
from neocc.io.readers._delimited import batches
from neocc.io.readers._faults import find_fault
from neocc.io.readers._plan import Plan
from neocc.io.readers._repeated import find_entry
from neocc.io.readers._text import Dialect, check_is_text

__all__ = ["is_matrix_market", "read_matrix_market"]

_LONGEST_LINE = 1 << 16
_FIELDS = ("real", "double", "integer", "unsigned-integer", "pattern")
_SYMMETRIES = ("general", "symmetric", "skew-symmetric")
# A line of coordinates has a digit per index, a blank and a line end; one of an array half as much.
_LINE_BYTES = {"coordinate": 4, "array": 2}


@dataclass(frozen=True)
class _Header:
    """What the first lines declare."""

    form: str
    field: str
    symmetry: str
    shape: tuple[int, int]
    n_entries: int
    n_lines: int


def is_matrix_market(head: bytes) -> bool:
    """Whether a file begins with the banner of Matrix Market."""
    return head[:14].lower() == b"%%matrixmarket"


def read_matrix_market(
    source: Source, options: ReadOptions, builders: Builders = IN_MEMORY
) -> Contents:
    """Read a matrix in coordinate or array form, with the symmetry that its banner declares."""
    check_is_text(source, options.encoding)
    header = _read_header(source)
    if header.form == "array":
        return finite(source.path, _read_array(source, header, options), options.missing)
    found = _read_coordinates(source, header, options, builders)
    return replace(found, notes=(*found.notes, *_names_beside(source)))


def _names_beside(source: Source) -> tuple[str, ...]:
    """Say that names which stand in other files, as those of single cells do, are not read."""
    known = ("features.tsv", "genes.tsv", "barcodes.tsv")
    found = [
        one.name
        for one in sorted(source.path.parent.glob("*.tsv*"))
        if one.name.removesuffix(".gz").endswith(known)
    ]
    if len(found) < 2:
        return ()
    said = "scanpy.read_10x_mtx(folder).write('cells.h5ad') makes one file of all that is read here"
    return (f"Names in {' and '.join(found)} are not read; {said}.",)


def _read_header(source: Source) -> _Header:
    """Read the banner and the sizes, and refuse sizes that the file cannot hold."""
    with source.open() as file:
        banner = file.readline(_LONGEST_LINE).decode("latin-1").lower().split()
        n_lines = 1
        line = b"%"
        while line.startswith(b"%") or (line and not line.strip()):
            line = file.readline(_LONGEST_LINE)
            n_lines += 1
    known = (("%%matrixmarket",), ("matrix",), tuple(_LINE_BYTES), _FIELDS, _SYMMETRIES)
    for place, words in enumerate(known):
        if len(banner) <= place or banner[place] not in words:
            found = repr(banner[place]) if len(banner) > place else "nothing"
            raise FormatError(
                source.path,
                f"Word {place + 1} of the banner should be {' or '.join(words)}; it is {found}.",
                'Correct it, or name the format, such as format="csv".',
                line=1,
            )
    form, field, symmetry = banner[2:5]
    sizes = line.decode("latin-1").split()
    n_words = 3 if form == "coordinate" else 2
    if len(sizes) != n_words or not all(word.isdigit() and word.isascii() for word in sizes):
        wanted = "rows, columns and entries" if n_words == 3 else "rows and columns"
        raise FormatError(
            source.path,
            f"The first line after the comments should give the numbers of {wanted}.",
            "Correct it.",
            line=n_lines,
        )
    shape = (int(sizes[0]), int(sizes[1]))
    check_shape(source.path, shape, source.size)
    if symmetry != "general" and shape[0] != shape[1]:
        raise FormatError(
            source.path,
            f"The matrix is declared {symmetry}, and not square.",
            "Correct the banner or the size.",
            line=n_lines,
        )
    n_entries = int(sizes[2]) if form == "coordinate" else _n_stored(shape, symmetry)
    if n_entries * _LINE_BYTES[form] > source.most_bytes + _LINE_BYTES[form]:
        raise FormatError(
            source.path,
            f"The line declares {n_entries} entries; a file of {source.size} bytes cannot hold "
            "them.",
            "Is the file truncated? Copy it again, or correct the line.",
            line=n_lines,
        )
    return _Header(form, field, symmetry, shape, n_entries, n_lines)


def _n_stored(shape: tuple[int, int], symmetry: str) -> int:
    """How many numbers an array has in the file: all, or one triangle."""
    n, m = shape
    return {
        "general": n * m,
        "symmetric": n * (n + 1) // 2,
        "skew-symmetric": n * (n - 1) // 2,
    }[symmetry]


def _read_coordinates(
    source: Source, header: _Header, options: ReadOptions, builders: Builders
) -> Contents:
    has_values = header.field != "pattern"
    headings = ["row", "column", *(["value"] if has_values else [])]
    plan = Plan(
        Dialect(" ", squeeze=True),
        "triplets",
        len(headings),
        header.n_lines,
        headings,
        integers=(0, 1),
        numbers=(2,) if has_values else (),
        form=" ".join(headings),
    )
    builder = builders.entries(source, header.shape, options.duplicates_of("triplets"))
    n_found = n_missing = 0
    for batch in batches(source, plan, options.missing, header.n_entries):
        rows, columns = _places(source, plan, batch, header, options.missing)
        values = np.ones(batch.num_rows)
        if has_values:
            values = _values(source, plan, batch, options.missing)
            n_missing += int(np.isnan(values).sum())
        n_found += len(values)
        if options.missing == "ignore":
            kept = ~np.isnan(values)
            rows, columns, values = rows[kept], columns[kept], values[kept]
        values = np.nan_to_num(values, nan=0.0)
        builder.add(rows, columns, values)
        if header.symmetry != "general":
            mirrored = rows != columns
            sign = -1.0 if header.symmetry == "skew-symmetric" else 1.0
            builder.add(columns[mirrored], rows[mirrored], sign * values[mirrored])
    _check_count(source, header, n_found)
    matrix = builder.build()
    if isinstance(matrix, tuple):
        raise find_entry(source, plan, matrix[0] + 1, matrix[1] + 1, header.shape)
    notes = (missing_note(n_missing, options.missing),) if n_missing else ()
    if isinstance(matrix, Contents):
        return replace(matrix, notes=notes)
    if options.missing != "ignore":
        matrix.eliminate_zeros()
    return Contents(matrix, notes=notes)


def _places(
    source: Source, plan: Plan, batch: Any, header: _Header, missing: Missing
) -> tuple[AnyArray, AnyArray]:
    """Return rows and columns of a batch of entries, counted from 0."""
    if any(batch.column(side).null_count for side in range(2)):
        raise find_fault(source, plan, missing, "an index is missing")
    rows, columns = (batch.column(side).to_numpy() for side in range(2))
    for places, size in zip((rows, columns), header.shape, strict=True):
        outside = (places < 1) | (places > size)
        if outside.any():
            at = int(np.argmax(outside))
            raise find_entry(source, plan, int(rows[at]), int(columns[at]), header.shape)
    return rows - 1, columns - 1


def _read_array(source: Source, header: _Header, options: ReadOptions) -> Contents:
    plan = Plan(
        Dialect(" ", squeeze=True),
        "table",
        1,
        header.n_lines,
        ["value"],
        numbers=(0,),
        form="one number",
    )
    found = [
        _values(source, plan, batch, options.missing)
        for batch in batches(source, plan, options.missing, header.n_entries)
    ]
    values = np.concatenate(found or [np.empty(0)])
    _check_count(source, header, len(values))
    n, m = header.shape
    if header.symmetry == "general":
        return Contents(np.ascontiguousarray(values.reshape(m, n).T))
    # Numbers run down the columns: through the upper triangle of the transposed matrix.
    skew = header.symmetry == "skew-symmetric"
    upper = np.zeros((n, n))
    upper[np.triu_indices(n, k=int(skew))] = values
    return Contents(upper.T - upper if skew else upper.T + np.triu(upper, k=1))


def _values(source: Source, plan: Plan, batch: Any, missing: Missing) -> FloatArray:
    """Return the numbers of a batch, missing ones as NaN if they are to become 0."""
    column = batch.column(batch.num_columns - 1).to_numpy(zero_copy_only=False)
    values: FloatArray = column.astype(np.float64, copy=False)
    if not np.isfinite(values).all() and (missing == "error" or np.isinf(values).any()):
        raise find_fault(source, plan, missing, "a number is missing or infinite")
    return values


def _check_count(source: Source, header: _Header, n_found: int) -> None:
    if n_found != header.n_entries:
        raise FormatError(
            source.path,
            f"Entries declared: {header.n_entries}; entries found: {n_found}.",
            "Is the file truncated? Copy it again, or correct the line.",
            line=header.n_lines,
        )
