"""The readers, one per format, and `read_matrix`, which chooses among them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import signature
from os import PathLike

from neocc.io._errors import FormatError
from neocc.io._matrix import Matrix
from neocc.io._options import Duplicates, Layout, Missing, ReadOptions
from neocc.io._source import Source
from neocc.io.readers import (
    _arff,
    _delimited,
    _excel,
    _h5ad,
    _matrix_market,
    _movielens,
    _numpy,
    _parquet,
)
from neocc.io.readers._contents import Contents
from neocc.io.readers._foreign import refuse_foreign

__all__ = ["READERS", "Reader", "choose_reader", "read_matrix"]

_SHEETS = {"layout", "header", "row_names", "decimal", "thousands", "columns", "drop"}
_TABLES = _SHEETS | {"delimiter", "encoding"}


@dataclass(frozen=True)
class Reader:
    """How one format is recognised and read.

    Attributes
    ----------
    name : str
        What `read_matrix` calls the format.
    about : str
        One line for people.
    suffixes : tuple of str
        File name extensions, with or without `.gz` after them.
    sniff : callable
        Whether the first bytes, unpacked, are those of the format; for delimited text, which has
        no mark of its own, never.
    read : callable
        Reads the file.
    accepts : frozenset of str
        Options that have a meaning; `missing` always has one.
    streams : bool
        Whether `read` takes builders as a third argument, and hands them one batch at a time.
    """

    name: str
    about: str
    suffixes: tuple[str, ...]
    sniff: Callable[[bytes], bool]
    read: Callable[..., Contents]
    accepts: frozenset[str]
    streams: bool = False


def _never(head: bytes) -> bool:  # noqa: ARG001
    return False


def _reader(
    name: str,
    about: str,
    suffixes: str,
    sniff: Callable[[bytes], bool],
    read: Callable[..., Contents],
    accepts: set[str],
) -> Reader:
    streams = len(signature(read).parameters) == 3
    return Reader(name, about, tuple(suffixes.split()), sniff, read, frozenset(accepts), streams)


READERS = (
    _reader("npy", "NumPy array", ".npy", _numpy.is_npy, _numpy.read_npy, set()),
    _reader(
        "excel",
        "Excel workbook: a sheet with a table, or triplets",
        ".xlsx .xlsm",
        _excel.is_excel,
        _excel.read_excel,
        _SHEETS | {"duplicates", "sheet"},
    ),
    _reader(
        "npz",
        "SciPy sparse matrix, or one NumPy array",
        ".npz",
        _numpy.is_npz,
        _numpy.read_npz,
        {"duplicates"},
    ),
    _reader(
        "parquet",
        "Parquet: a table, or triplets",
        ".parquet .pq",
        _parquet.is_parquet,
        _parquet.read_parquet,
        {"duplicates", "layout", "row_names", "columns", "drop"},
    ),
    _reader(
        "h5ad", "AnnData: X or a layer", ".h5ad .h5", _h5ad.is_hdf5, _h5ad.read_h5ad, {"layer"}
    ),
    _reader(
        "mtx",
        "Matrix Market",
        ".mtx .mm",
        _matrix_market.is_matrix_market,
        _matrix_market.read_matrix_market,
        {"duplicates"},
    ),
    _reader(
        "arff",
        "ARFF, dense or sparse",
        ".arff",
        _arff.is_arff,
        _arff.read_arff,
        {"row_names", "encoding", "drop"},
    ),
    _reader(
        "ratings.dat",
        "MovieLens 1M and 10M: user::movie::rating::time",
        ".dat",
        _movielens.is_ratings_dat,
        _movielens.read_ratings_dat,
        {"duplicates"},
    ),
    _reader(
        "u.data",
        "MovieLens 100K: user, movie, rating and time, separated by tabs",
        ".data .base .test",
        _movielens.is_u_data,
        _movielens.read_u_data,
        {"duplicates"},
    ),
    _reader(
        "tsv",
        "tab-separated table, or triplets",
        ".tsv .tab",
        _never,
        _delimited.read_tsv,
        _TABLES | {"duplicates"},
    ),
    _reader(
        "csv",
        "comma-separated table, or triplets",
        ".csv .txt",
        _never,
        _delimited.read_csv,
        _TABLES | {"duplicates"},
    ),
)
"""All formats, in the order in which they are tried."""


def read_matrix(
    path: str | PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
    missing: Missing = "error",
    duplicates: Duplicates | None = None,
    layout: Layout | None = None,
    header: bool | None = None,
    row_names: bool | str | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str = "utf-8",
    columns: Sequence[str | int] | None = None,
    drop: str | Sequence[str] = (),
    layer: str | None = None,
    thousands: str | None = None,
    sheet: str | None = None,
) -> Matrix:
    r"""Read a matrix from a file.

    Formats: tables and triplets in CSV, TSV and Parquet; MovieLens' `u.data` and `ratings.dat`;
    Matrix Market; SciPy's `.npz` and NumPy's `.npy`; AnnData's `.h5ad`; ARFF. Text may be
    compressed with gzip. A format is recognised by the first bytes of the file and by its name.

    Parameters
    ----------
    path : path-like
        The file.
    format : str, default=None
        "csv", "tsv", "parquet", "u.data", "ratings.dat", "mtx", "npz", "npy", "h5ad" or "arff".
    missing : {"error", "zero", "ignore"}, default="error"
        Whether cells without a number (blank, NaN, NA) are refused, read as 0, or stay missing, for
        ``NEOCC(missing="ignore")``: NaN in a table, and no entry in a sparse matrix, which then
        keeps the zeros that are given. Infinite numbers are always refused.
    duplicates : {"sum", "mean", "error"}, default="sum"
        What becomes of several values for the same cell, in triplets and in coordinate form.
    layout : {"table", "triplets"}, default=None
        Whether a CSV, TSV or Parquet file holds the cells of the matrix, or a row id, a column id
        and a value per line. By default a file holds triplets if its first three headings say so
        ("user", "item", "rating"; columns after them are left out), or if it has three columns
        (or four, the last being a time), of which the third holds numbers and the first two hold
        text or whole numbers in combinations of which at most a tenth repeat; but a first column
        of text that hardly repeats, followed by numbers, holds the row names of a table.
    header : bool, default=None
        Whether the first line names the columns. By default it does if it has text above numbers,
        or is one cell shorter than the others, or begins with a blank cell, "id", "name", "index"
        or "row". Numbers may be headings, too, above a table whose rows have names: after a word
        for what rows are, such as "gene" or "country", or one that is written otherwise than the
        names below it; or if they rise in equal steps as those of no other line do.
    row_names : bool or str, default=None
        Whether the first column of a table holds the names of the rows, or the name of the column
        that does. By default the first column does if it holds text, or has one of the headings
        just mentioned.
    delimiter : str, default=None
        What separates cells; by default comma, tab, semicolon or bar, whichever fits. A space
        stands for any number of spaces and tabs.
    decimal : {".", ","}, default=None
        Decimal sign; by default whichever fits.
    encoding : str, default="utf-8"
        Text encoding.
    columns : sequence of str or int, default=None
        Names, or numbers counted from 1, of the three columns of triplets: row, column, value.
        By default the first three.
    drop : str or sequence of str, default=()
        Columns of a table to leave out: names or patterns such as "Class*"; numbers from 1 where
        there is no header.
    layer : str, default=None
        Layer of an AnnData file to read instead of X.

    Returns
    -------
    matrix : Matrix
        The numbers (dense as given, or row-compressed), the names and their origin. Ids of triplets
        are in numerical order if all are whole numbers, else in alphabetical order.

    Raises
    ------
    ReadError
        If the file cannot be used; the message names file, line and remedy.

    Notes
    -----
    Files are not trusted: nothing in them is run, declared sizes are compared with what is there
    before memory is allocated, and indices are checked. The exception is `.h5ad`: a file crafted
    for it can make the HDF5 library, which parses it, hang. Read only those that you trust.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from neocc.io import read_matrix
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "ratings.csv"
    ...     _ = path.write_text("user,film,stars\nann,Alien,5\nann,Brazil,4\nbob,Alien,2\n")
    ...     matrix = read_matrix(path)
    >>> matrix.data.toarray()
    array([[5., 4.],
           [2., 0.]])
    >>> matrix.row_names, matrix.column_names
    (('ann', 'bob'), ('Alien', 'Brazil'))
    """
    options = ReadOptions(
        missing,
        duplicates,
        layout,
        header,
        row_names,
        delimiter,
        decimal,
        encoding,
        None if columns is None else tuple(columns),
        (drop,) if isinstance(drop, str) else tuple(drop),
        layer,
        thousands,
        sheet,
    )
    source = Source.at(path)
    reader = choose_reader(source, format)
    options.refuse_others({"missing", *reader.accepts}, reader.name)
    with source.guard():
        contents = reader.read(source, options)
        given = options.given if format is None else {"format": format, **options.given}
        return Matrix(
            contents.data,
            contents.row_names,
            contents.column_names,
            source.path,
            reader.name,
            source.sha256(),
            contents.notes,
            given,
        )


def choose_reader(source: Source, format: str | None) -> Reader:  # noqa: A002
    """Return the reader asked for, or the one that a file's first bytes or name call for."""
    if format is not None:
        for reader in READERS:
            if reader.name == format:
                return reader
        names = ", ".join(repr(reader.name) for reader in READERS)
        raise ValueError(f"format must be one of {names}; got {format!r}.")
    for reader in READERS:
        if reader.sniff(source.head):
            return reader
    refuse_foreign(source)
    for reader in READERS:
        if source.suffix in reader.suffixes:
            return reader
    # No magic bytes and no known extension: text, most likely.
    if b"\0" not in source.head or source.head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return READERS[-1]
    endings = ", ".join(suffix for reader in READERS for suffix in reader.suffixes)
    raise FormatError(
        source.path,
        "The format is not one of those known here.",
        f"Name it with format=..., or save the matrix in one of these: {endings}.",
    )
