"""From a file in any of the formats to a matrix with names."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike

from neocc.io._matrix import Matrix
from neocc.io._options import Duplicates, Layout, Missing, ReadOptions
from neocc.io._registry import choose_reader
from neocc.io._source import Source
from neocc.io.readers._contents import sentinel_note, tiny_note

__all__ = ["read_matrix"]


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

    Formats: tables, triplets and pairs in CSV, TSV, Parquet and Excel (extra `excel`); MovieLens'
    `u.data` and `ratings.dat`; Matrix Market; SciPy's `.npz` and NumPy's `.npy`; AnnData's `.h5ad`
    (extra `io`); ARFF. Text may be compressed with gzip. A format is recognised by the first bytes
    of the file and, where these say nothing, by its name.

    Parameters
    ----------
    path : path-like
        The file.
    format : str, default=None
        "csv", "tsv", "parquet", "excel", "u.data", "ratings.dat", "mtx", "npz", "npy", "h5ad" or
        "arff".
    missing : {"error", "zero", "ignore"}, default="error"
        Whether cells without a number (blank, NaN, NA) are rejected, read as 0, or kept missing,
        for ``NEOCC(missing="ignore")``: NaN in a table, and no entry in a sparse matrix, which then
        keeps the zeros that are given. Infinite numbers are always rejected.
    duplicates : {"sum", "mean", "error"}, default=None
        How to combine several values for the same cell, in triplets and in coordinate form. By
        default, they are summed, but ratings (by their heading) are averaged, and a pair is a cell
        with 1, however often it is given.
    layout : {"table", "triplets", "pairs"}, default=None
        Whether a CSV, TSV, Parquet or Excel file holds the cells of the matrix, or in each line a
        row id, a column id and a value, or the two ids only. By default a file holds triplets if
        its first three headings say so ("user", "item", "rating"; columns after them are left out),
        or if it has three columns (or four, the last being a time), of which the third holds
        numbers and the first two hold text or whole numbers in combinations of which at most a
        tenth repeat; but a first column of text that hardly repeats, followed by numbers, holds the
        row names of a table. It holds pairs if its first two headings say so ("user", "item") and
        nothing but times or text follows, or if it has two columns of text of which the first
        repeats, or of numbers that repeat and text below headings such as "Transaction" and
        "Product".
    header : bool, default=None
        Whether the first line names the columns. By default it does if it has text above numbers,
        or is one cell shorter than the others, or begins with a blank cell, "id", "name", "index"
        or "row". Numbers may be headings, too, above a table whose rows have names: after a word
        for what rows are, such as "gene" or "country", or a cell of another form than the names
        below it; or if they rise in equal steps, as those of no other line do.
    row_names : bool or str, default=None
        Whether the first column of a table holds the names of the rows, or the name of the column
        that does. By default the first column does if it holds text, has one of the headings just
        mentioned or one that says id ("customer_id"), or holds whole numbers that never repeat
        below a word for what rows are ("GENES"), or that count in steps of one. Failing that,
        another column does that says id or holds text, and never repeats. Further ids beside names
        are left out, and so are rows and columns whose name says that they sum up the others
        ("Total", "Mean"), if they do. False: all columns are data; True, or a name: all others are.
    delimiter : str, default=None
        Field separator; by default comma, tab, semicolon or bar, whichever fits. A space stands for
        any number of spaces and tabs.
    decimal : {".", ","}, default=None
        Decimal separator; by default whichever fits. Commas that might also separate thousands, as
        in ``2,000`` beside ``137``, are rejected unless this or `thousands` says what they are.
    encoding : str, default="utf-8"
        Text encoding.
    columns : sequence of str or int, default=None
        Names, or numbers counted from 1, of the three columns of triplets: row, column, value; or
        of the two of pairs. By default the first ones.
    drop : str or sequence of str, default=()
        Columns of a table to leave out: names or patterns such as "Class*"; numbers from 1 where
        there is no header.
    layer : str, default=None
        Layer of an AnnData file to read instead of X.
    thousands : {",", ".", " ", "'"}, default=None
        Thousands separator, if any; a space stands for non-breaking ones as well.
    sheet : str, default=None
        Sheet of an Excel workbook; by default the first that is not blank.

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
            contents.notes + tiny_note(contents.data) + sentinel_note(contents.data),
            given,
        )
