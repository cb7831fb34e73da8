"""Matrices into files that `read_matrix` reads back, number for number."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
from scipy import sparse

from neocc._extras import need
from neocc._names import frame_names
from neocc._typing import AnyArray
from neocc.io._errors import FormatError
from neocc.io._matrix import Matrix
from neocc.io._options import Layout, ReadOptions
from neocc.io._registry import READERS
from neocc.io._table_form import TableForm, choose_form, sample_size
from neocc.io._whole import whole_file
from neocc.io.readers._parquet import recognise_batch
from neocc.io.readers._plan import Plan
from neocc.io.readers._recognise import recognise_lines
from neocc.io.readers._text import take_sample

__all__ = ["write_matrix"]

_CELLS_AT_ONCE = 1 << 21
_NO_FILE = Path()


def write_matrix(
    matrix: Any,
    path: str | PathLike[str],
    *,
    layout: Layout | None = None,
    force: bool = False,
) -> None:
    """Write a matrix to a file that `read_matrix` reads back, number for number.

    The file name extension gives the format: `.csv` or `.tsv` (also with `.gz`), `.parquet`, `.mtx`
    (also with `.gz`), `.npz` or `.npy`. The last three cannot hold names. The file is written
    atomically.

    No option is needed to read it back. To this end, rows or columns without names get some ("row
    1", "column 1") in tables that would be mistaken for something else, such as three columns of
    whole numbers for triplets. Parquet always has column names.

    Parameters
    ----------
    matrix : Matrix, array, data frame or sparse matrix
        What to write.
    path : path-like
        Where.
    layout : {"table", "triplets"}, default=None
        Layout of delimited text and Parquet; by default, triplets for a sparse matrix. Rows and
        columns without entries get one entry of 0, so that their names are kept. Ids are the names,
        or numbers from 1.
    force : bool, default=False
        Whether to replace an existing file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from neocc.io import read_matrix, write_matrix
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "table.csv.gz"
    ...     write_matrix(np.array([[0.1, 2], [3, 4]]), path)
    ...     read_matrix(path).data
    array([[0.1, 2. ],
           [3. , 4. ]])
    """
    if sparse.issparse(matrix):
        matrix = Matrix(matrix)
    elif not isinstance(matrix, Matrix):
        found = (frame_names(matrix, side) for side in ("rows", "columns"))
        rows, columns = (None if some is None else tuple(map(str, some)) for some in found)
        matrix = Matrix(np.asarray(matrix), rows, columns)
    if not all(matrix.shape):
        raise ValueError(f"A matrix of {matrix.shape[0]} x {matrix.shape[1]} has nothing to write.")
    path = Path(path)
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    write = _WRITERS.get(suffix)
    compressed = path.name.lower().endswith(".gz")
    if write is None or (compressed and suffix not in (".csv", ".tsv", ".mtx")):
        raise ValueError(
            f"{path.name!r} does not end in .csv, .tsv, .mtx (with or without .gz), .parquet, .npz "
            "or .npy. Choose one of these."
        )
    if layout is None:
        layout = "triplets" if matrix.is_sparse else "table"
    with whole_file(path, force=force) as partial, _opened(partial, compressed) as file:
        write(matrix, file, layout)


@contextmanager
def _opened(path: Path, compressed: bool) -> Iterator[BinaryIO]:
    with path.open("wb") as file:
        if not compressed:
            yield file
        else:
            # Without name and time: the same matrix gives the same file.
            with gzip.GzipFile("", "wb", 6, file, mtime=0) as packed:
                yield cast(BinaryIO, packed)


def _write_text(delimiter: str) -> Callable[[Matrix, BinaryIO, Layout], None]:
    def write(matrix: Matrix, file: BinaryIO, layout: Layout) -> None:
        if layout == "triplets":
            _write_csv(file, _triplet_batches(matrix), delimiter, headed=True)
            return

        def recognise(form: TableForm) -> Plan:
            text = io.BytesIO()
            headed = form.columns is not None
            _write_csv(text, _table_batches(matrix, form, sample), delimiter, headed=headed)
            if any(reader.sniff(text.getvalue()) for reader in READERS):
                raise FormatError(_NO_FILE, "It looks like another format.", "")
            with io.StringIO(text.getvalue().decode(), newline="") as lines:
                found = take_sample(_NO_FILE, lines)
            return recognise_lines(_NO_FILE, *found, ReadOptions(), delimiter)

        sample = sample_size(matrix)
        form = choose_form(matrix, recognise, headed=False)
        headed = form.columns is not None
        _write_csv(file, _table_batches(matrix, form), delimiter, headed=headed)

    return write


def _write_csv(file: BinaryIO, batches: Iterable[Any], delimiter: str, *, headed: bool) -> None:
    csv = need("pyarrow.csv")

    options = csv.WriteOptions(include_header=headed, delimiter=delimiter)
    writer = None
    for batch in batches:
        if writer is None:
            writer = csv.CSVWriter(file, batch.schema, write_options=options)
        writer.write_batch(batch)
    assert writer is not None
    writer.close()


def _write_parquet(matrix: Matrix, file: BinaryIO, layout: Layout) -> None:
    parquet = need("pyarrow.parquet")

    def recognise(form: TableForm) -> Plan:
        sample = next(iter(_table_batches(matrix, form, sample_size(matrix))))
        return recognise_batch(_NO_FILE, sample, ReadOptions())

    if layout == "triplets":
        batches = _triplet_batches(matrix)
    else:
        batches = _table_batches(matrix, choose_form(matrix, recognise, headed=True))
    writer = None
    for batch in batches:
        if writer is None:
            writer = parquet.ParquetWriter(file, batch.schema)
        writer.write_batch(batch)
    assert writer is not None
    writer.close()


def _table_batches(matrix: Matrix, form: TableForm, most: int | None = None) -> Iterator[Any]:
    """Yield the rows of a table, or so many of them."""
    pa = need("pyarrow")

    n_rows, n_columns = matrix.shape
    n_rows = n_rows if most is None else most
    names = form.headings or [str(place) for place in range(n_columns + (form.rows is not None))]
    step = max(1, _CELLS_AT_ONCE // n_columns)
    for start in range(0, n_rows, step):
        stop = min(start + step, n_rows)
        rows = matrix.data[start:stop]
        rows = rows.toarray() if sparse.issparse(rows) else rows
        arrays = [pa.array(_exact(column)) for column in np.ascontiguousarray(rows.T)]
        if form.rows is not None:
            arrays.insert(0, pa.array(form.rows[start:stop], pa.string()))
        yield pa.record_batch(arrays, names=names)


def _triplet_batches(matrix: Matrix) -> Iterator[Any]:
    pa = need("pyarrow")

    data = matrix.data if matrix.is_sparse else sparse.csr_array(matrix.data)
    entries = data.tocoo()
    empty_rows = np.flatnonzero(np.diff(data.indptr) == 0)
    empty_columns = np.flatnonzero(np.bincount(data.indices, minlength=data.shape[1]) == 0)
    nothing = np.zeros(len(empty_rows) + len(empty_columns), dtype=data.dtype)
    rows = np.concatenate([entries.row, empty_rows, np.zeros_like(empty_columns)])
    columns = np.concatenate([entries.col, np.zeros_like(empty_rows), empty_columns])
    values = np.concatenate([entries.data, nothing])
    ids = [
        pa.array(_ids(names, size, side))
        for names, size, side in zip(
            (matrix.row_names, matrix.column_names), matrix.shape, ("row", "column"), strict=True
        )
    ]
    for start in range(0, len(values), _CELLS_AT_ONCE):
        part = slice(start, start + _CELLS_AT_ONCE)
        arrays = [
            ids[0].take(pa.array(rows[part])),
            ids[1].take(pa.array(columns[part])),
            pa.array(_exact(values[part])),
        ]
        yield pa.record_batch(arrays, names=["row", "column", "value"])


def _ids(names: tuple[str, ...] | None, size: int, side: str) -> Any:
    """Return what triplets call rows or columns; they must differ."""
    if names is None:
        return np.arange(1, size + 1)
    stripped = [name.strip() for name in names]
    if len(set(stripped)) < size or "" in stripped:
        raise ValueError(
            f'Some {side}s have the same name or none. Rename them, or pass layout="table".'
        )
    return stripped


def _exact(values: AnyArray) -> AnyArray:
    """Return numbers in a type whose decimals, read as float64, give the same numbers again."""
    if values.dtype.kind == "f":
        return values.astype(np.float64)
    return values.astype(np.uint8) if values.dtype.kind == "b" else values


def _write_mtx(matrix: Matrix, file: BinaryIO, layout: Layout) -> None:  # noqa: ARG001
    pa = need("pyarrow")
    csv = need("pyarrow.csv")

    form = "coordinate" if matrix.is_sparse else "array"
    field = "real" if matrix.data.dtype.kind == "f" else "integer"
    size = [*matrix.shape, *([matrix.data.nnz] if matrix.is_sparse else [])]
    banner = f"%%MatrixMarket matrix {form} {field} general\n{' '.join(map(str, size))}\n"
    file.write(banner.encode())
    if matrix.is_sparse:
        entries = matrix.data.tocoo()
        parts = [entries.row + 1, entries.col + 1, _exact(entries.data)]
    else:
        parts = [_exact(matrix.data.T.ravel())]
    columns = {str(place): pa.array(part) for place, part in enumerate(parts)}
    csv.write_csv(pa.table(columns), file, csv.WriteOptions(include_header=False, delimiter=" "))


def _write_npz(matrix: Matrix, file: BinaryIO, layout: Layout) -> None:  # noqa: ARG001
    if matrix.is_sparse:
        sparse.save_npz(file, matrix.data)
    else:
        np.savez_compressed(file, data=matrix.data)


def _write_npy(matrix: Matrix, file: BinaryIO, layout: Layout) -> None:  # noqa: ARG001
    if matrix.is_sparse:
        raise ValueError("A .npy file cannot hold a sparse matrix. Choose .npz.")
    np.save(file, matrix.data, allow_pickle=False)


_WRITERS: dict[str, Callable[[Matrix, BinaryIO, Layout], None]] = {
    ".csv": _write_text(","),
    ".tsv": _write_text("\t"),
    ".parquet": _write_parquet,
    ".mtx": _write_mtx,
    ".npz": _write_npz,
    ".npy": _write_npy,
}
