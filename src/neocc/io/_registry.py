"""The readers, one per format, and the choice among them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature

from neocc.io._errors import FormatError
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

__all__ = ["READERS", "Reader", "choose_reader"]

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


def accepted_options(format: str) -> frozenset[str]:  # noqa: A002
    """Return the options that mean something to a format; none of those that are no files."""
    return next((each.accepts for each in READERS if each.name == format), frozenset())


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
    is_text = b"\0" not in source.head or source.head[:2] in (b"\xff\xfe", b"\xfe\xff")
    for reader in READERS:
        # Programs call text a workbook, for Excel opens that, too.
        if source.suffix in reader.suffixes and not (is_text and reader.name == "excel"):
            return reader
    # No magic bytes and no known extension: text, most likely.
    if is_text:
        return READERS[-1]
    endings = ", ".join(suffix for reader in READERS for suffix in reader.suffixes)
    raise FormatError(
        source.path,
        "The format is not one of those known here.",
        f"Name it with format=..., or save the matrix in one of these: {endings}.",
    )
