"""The options about how a file is read, each written once; see `_options`."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from neocc.cli._parsing import make_among, make_flag, make_option
from neocc.preprocessing import PREPROCESSORS

__all__ = [
    "Decimal",
    "Delimiter",
    "Dense",
    "Drop",
    "Duplicates",
    "Encoding",
    "Format",
    "Header",
    "Layer",
    "Layout",
    "Missing",
    "NoHeader",
    "NoRowNames",
    "Preprocess",
    "RowNames",
    "RowNamesIn",
    "TripletColumns",
]

READING = "Reading the file"

FORMATS = ("csv", "tsv", "parquet", "mtx", "npz", "npy", "h5ad", "arff", "u.data", "ratings.dat")

Format: TypeAlias = Annotated[
    str | None,
    make_option(
        "--format",
        "NAME",
        READING,
        f"{', '.join(FORMATS)}; recognised if not given.",
        autocompletion=make_among(FORMATS),
    ),
]
Layout: TypeAlias = Annotated[
    Literal["table", "triplets"] | None,
    make_option(
        "--layout",
        "NAME",
        READING,
        "table: a line is a row of the matrix; triplets: a line is a row id, a column id and a "
        "value. Recognised if not given.",
    ),
]
Header: TypeAlias = Annotated[
    bool | None, make_flag("--header", READING, "The first line names the columns.")
]
NoHeader: TypeAlias = Annotated[
    bool | None, make_flag("--no-header", READING, "It does not. Recognised if not given.")
]
RowNames: TypeAlias = Annotated[
    bool | None, make_flag("--row-names", READING, "The first column names the rows.")
]
NoRowNames: TypeAlias = Annotated[
    bool | None, make_flag("--no-row-names", READING, "It does not. Recognised if not given.")
]
RowNamesIn: TypeAlias = Annotated[
    str | None, make_option("--row-names-in", "COLUMN", READING, "This column names the rows.")
]
TripletColumns: TypeAlias = Annotated[
    str | None,
    make_option(
        "--triplet-columns",
        "A,B,C",
        READING,
        "Columns of row ids, column ids and values, by name or number; the first three if not "
        "given.",
    ),
]
Delimiter: TypeAlias = Annotated[
    str | None,
    make_option("--delimiter", "SIGN", READING, "What separates cells, such as ';' or tab."),
]
Decimal: TypeAlias = Annotated[
    Literal[".", ","] | None, make_option("--decimal", "SIGN", READING, "Decimal point or comma.")
]
Encoding: TypeAlias = Annotated[
    str | None, make_option("--encoding", "NAME", READING, "How text is coded; utf-8 if not given.")
]
Drop: TypeAlias = Annotated[
    list[str] | None,
    make_option(
        "--drop",
        "COLUMN",
        READING,
        "Leave out a column, or all that match a pattern such as 'Class*'. Repeatable.",
    ),
]
Layer: TypeAlias = Annotated[
    str | None, make_option("--layer", "NAME", READING, "Layer of an AnnData file instead of X.")
]
Missing: TypeAlias = Annotated[
    Literal["error", "zero"] | None,
    make_option(
        "--missing", "WHAT", READING, "error: refuse blank cells and NaN; zero: read them as 0."
    ),
]
Duplicates: TypeAlias = Annotated[
    Literal["sum", "mean", "error"] | None,
    make_option(
        "--duplicates",
        "WHAT",
        READING,
        "sum, mean or error: what several values for one cell become. Default: sum.",
    ),
]
Dense: TypeAlias = Annotated[
    bool | None,
    make_flag("--dense", READING, "Store the zeros of a sparse matrix, for steps that need them."),
]
Preprocess: TypeAlias = Annotated[
    list[str] | None,
    make_option(
        "--preprocess",
        "STEP",
        READING,
        "Transform the data first; repeatable, in order. Steps are listed below.",
        autocompletion=make_among(PREPROCESSORS),
    ),
]
