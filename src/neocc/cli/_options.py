"""The options of the commands, each written once.

All default to None, which means not given: a settings file may then decide, and after it the
defaults in `_settings`, which the texts here repeat.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import typer

from neocc.preprocessing import PREPROCESSORS

READING = "Reading the file"
GROUPS = "Groups"
SEARCH = "Search"
OUTPUT = "Output"

FORMATS = ("csv", "tsv", "parquet", "mtx", "npz", "npy", "h5ad", "arff", "u.data", "ratings.dat")


def _option(name: str, metavar: str, panel: str, help_: str, **more: Any) -> Any:
    """Make an option whose help tells its default itself."""
    return typer.Option(
        name, metavar=metavar, rich_help_panel=panel, show_default=False, help=help_, **more
    )


def _flag(name: str, panel: str, help_: str) -> Any:
    return _option(name, "", panel, help_)


def _among(names: Any) -> Callable[[str], list[str]]:
    """Complete words of a list in the shell."""
    return lambda incomplete: [name for name in names if name.startswith(incomplete)]


def number_or_auto(text: str) -> int | str:
    """Read a whole number, or "auto"."""
    if text == "auto":
        return text
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is neither a whole number nor 'auto'.") from None


def fraction_or_auto(text: str) -> float | str:
    """Read a number, also in percent, or "auto".

    Examples
    --------
    >>> from neocc.cli._options import fraction_or_auto
    >>> fraction_or_auto("0.25"), fraction_or_auto("5%"), fraction_or_auto("auto")
    (0.25, 0.05, 'auto')
    """
    if text == "auto":
        return text
    try:
        return float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is neither a number nor 'auto'.") from None


def range_of(text: str) -> list[int]:
    """Read numbers such as "4", "2-8" or "2,4,8".

    Examples
    --------
    >>> from neocc.cli._options import range_of
    >>> range_of("2-4,8")
    [2, 3, 4, 8]
    """
    found: list[int] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        try:
            numbers = range(int(first), int(last if dash else first) + 1)
        except ValueError:
            numbers = range(0)
        if not numbers or len(numbers) > 1000:
            raise typer.BadParameter(f"{text!r} is no list of numbers such as 2-8 or 2,4,8.")
        found += numbers
    return found


# ------------------------------------------------------------------------------ reading the file

Format: TypeAlias = Annotated[
    str | None,
    _option(
        "--format",
        "NAME",
        READING,
        f"{', '.join(FORMATS)}; recognised if not given.",
        autocompletion=_among(FORMATS),
    ),
]
Layout: TypeAlias = Annotated[
    Literal["table", "triplets"] | None,
    _option(
        "--layout",
        "NAME",
        READING,
        "table: a line is a row of the matrix; triplets: a line is a row id, a column id and a "
        "value. Recognised if not given.",
    ),
]
Header: TypeAlias = Annotated[
    bool | None, _flag("--header", READING, "The first line names the columns.")
]
NoHeader: TypeAlias = Annotated[
    bool | None, _flag("--no-header", READING, "It does not. Recognised if not given.")
]
RowNames: TypeAlias = Annotated[
    bool | None, _flag("--row-names", READING, "The first column names the rows.")
]
NoRowNames: TypeAlias = Annotated[
    bool | None, _flag("--no-row-names", READING, "It does not. Recognised if not given.")
]
RowNamesIn: TypeAlias = Annotated[
    str | None, _option("--row-names-in", "COLUMN", READING, "This column names the rows.")
]
TripletColumns: TypeAlias = Annotated[
    str | None,
    _option(
        "--triplet-columns",
        "A,B,C",
        READING,
        "Columns of row ids, column ids and values, by name or number; the first three if not "
        "given.",
    ),
]
Delimiter: TypeAlias = Annotated[
    str | None,
    _option("--delimiter", "SIGN", READING, "What separates cells, such as ';' or tab."),
]
Decimal: TypeAlias = Annotated[
    Literal[".", ","] | None, _option("--decimal", "SIGN", READING, "Decimal point or comma.")
]
Encoding: TypeAlias = Annotated[
    str | None, _option("--encoding", "NAME", READING, "How text is coded; utf-8 if not given.")
]
Drop: TypeAlias = Annotated[
    list[str] | None,
    _option(
        "--drop",
        "COLUMN",
        READING,
        "Leave out a column, or all that match a pattern such as 'Class*'. Repeatable.",
    ),
]
Layer: TypeAlias = Annotated[
    str | None, _option("--layer", "NAME", READING, "Layer of an AnnData file instead of X.")
]
Missing: TypeAlias = Annotated[
    Literal["error", "zero"] | None,
    _option(
        "--missing", "WHAT", READING, "error: refuse blank cells and NaN; zero: read them as 0."
    ),
]
Duplicates: TypeAlias = Annotated[
    Literal["sum", "mean", "error"] | None,
    _option(
        "--duplicates",
        "WHAT",
        READING,
        "sum, mean or error: what several values for one cell become. Default: sum.",
    ),
]
Dense: TypeAlias = Annotated[
    bool | None,
    _flag("--dense", READING, "Store the zeros of a sparse matrix, for steps that need them."),
]
Preprocess: TypeAlias = Annotated[
    list[str] | None,
    _option(
        "--preprocess",
        "STEP",
        READING,
        "Transform the data first; repeatable, in order. Steps are listed below.",
        autocompletion=_among(PREPROCESSORS),
    ),
]

# ---------------------------------------------------------------------------------------- groups

Rows: TypeAlias = Annotated[
    Any,
    _option(
        "--rows",
        "K",
        GROUPS,
        "Number of groups of rows; chosen from the data if not given.",
        parser=number_or_auto,
    ),
]
Columns: TypeAlias = Annotated[
    Any,
    _option(
        "--columns", "L", GROUPS, "Number of groups of columns; likewise.", parser=number_or_auto
    ),
]
RowRange: TypeAlias = Annotated[
    Any,
    _option(
        "--rows",
        "NUMBERS",
        GROUPS,
        "Numbers of groups of rows to try, such as 2-8 (the default) or 5,10,20.",
        parser=range_of,
    ),
]
ColumnRange: TypeAlias = Annotated[
    Any,
    _option(
        "--columns", "NUMBERS", GROUPS, "Numbers of groups of columns; likewise.", parser=range_of
    ),
]
Objective: TypeAlias = Annotated[
    Literal["mean", "residue"] | None,
    _option(
        "--objective",
        "NAME",
        GROUPS,
        "mean: look for blocks of one value; residue: for blocks whose rows and columns rise and "
        "fall together. Default: mean.",
    ),
]


def _fraction(name: str, help_: str) -> Any:
    return _option(name, "SHARE", GROUPS, help_, parser=fraction_or_auto)


RowOverlap: TypeAlias = Annotated[
    Any,
    _fraction(
        "--row-overlap",
        "Memberships beyond one for each row, as a share of the rows, such as 0.1 or 10%; "
        "estimated if not given.",
    ),
]
RowOutliers: TypeAlias = Annotated[
    Any, _fraction("--row-outliers", "Largest share of rows in no group; likewise.")
]
ColumnOverlap: TypeAlias = Annotated[
    Any, _fraction("--column-overlap", "The same for columns; likewise.")
]
ColumnOutliers: TypeAlias = Annotated[
    Any, _fraction("--column-outliers", "The same for columns; likewise.")
]
OverlapRule: TypeAlias = Annotated[
    Literal["averages", "first", "second"] | None,
    _option(
        "--overlap-rule",
        "NAME",
        GROUPS,
        "How overlap is estimated. averages: by who lies between groups; first, second: by the "
        "rules of the method's authors, which find more. Default: averages.",
    ),
]
Criterion: TypeAlias = Annotated[
    Literal["icl", "hull", "pseudo_f"],
    _option("--criterion", "NAME", GROUPS, "icl, hull or pseudo_f: what ranks. Default: icl."),
]

# ---------------------------------------------------------------------------------------- search

Init: TypeAlias = Annotated[
    Literal["neo-kmeans", "random", "spectral", "sketch"] | None,
    _option(
        "--init",
        "NAME",
        SEARCH,
        "neo-kmeans, random, spectral or sketch: how starts are made. Default: neo-kmeans.",
    ),
]
NInit: TypeAlias = Annotated[
    int | None, _option("--n-init", "N", SEARCH, "Number of starts. Default: 10.", min=1)
]
NInitPerPair: TypeAlias = Annotated[
    int, _option("--n-init", "N", SEARCH, "Starts for each pair of numbers. Default: 4.", min=1)
]
NoRefine: TypeAlias = Annotated[
    bool | None,
    _flag("--no-refine", SEARCH, "Run each start once, as the paper does; do not search on."),
]
MaxIter: TypeAlias = Annotated[
    int | None,
    _option("--max-iter", "N", SEARCH, "Largest number of iterations. Default: 100.", min=1),
]
Tol: TypeAlias = Annotated[
    float | None,
    _option("--tol", "X", SEARCH, "Relative gain that ends a start. Default: 1e-6.", min=0),
]
Seed: TypeAlias = Annotated[
    int | None, _option("--seed", "N", SEARCH, "Same seed, same result. Default: 0.", min=0)
]
Jobs: TypeAlias = Annotated[
    int | None, _option("--jobs", "N", SEARCH, "Threads; as many as cores if not given.")
]

# ---------------------------------------------------------------------------------------- output

OutputFolder: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FOLDER",
        rich_help_panel=OUTPUT,
        show_default=False,
        help="Folder for the results; called after the file if not given.",
    ),
]
RowsPerBlock: TypeAlias = Annotated[
    int | None,
    _option("--rows-per-block", "N", OUTPUT, "Rows of a block, instead of its size.", min=1),
]
BlockSize: TypeAlias = Annotated[
    str,
    _option("--block-size", "SIZE", OUTPUT, "Bytes of a block, such as 16MB. Default: 64MB."),
]
Float32: TypeAlias = Annotated[
    bool, _flag("--float32", OUTPUT, "Store numbers in four bytes, with seven digits.")
]
Force: TypeAlias = Annotated[bool, _flag("--force", OUTPUT, "Replace an earlier result.")]
NoReport: TypeAlias = Annotated[
    bool | None, _flag("--no-report", OUTPUT, "Do not write report.html.")
]
Parquet: TypeAlias = Annotated[
    bool | None, _flag("--parquet", OUTPUT, "Write the tables as Parquet besides.")
]
RowNoun: TypeAlias = Annotated[
    str | None, _option("--row-noun", "WORD", OUTPUT, "What rows are, such as genes.")
]
ColumnNoun: TypeAlias = Annotated[
    str | None, _option("--column-noun", "WORD", OUTPUT, "What columns are, such as conditions.")
]
Quiet: TypeAlias = Annotated[bool, _flag("--quiet", OUTPUT, "Print nothing but errors.")]
Json: TypeAlias = Annotated[bool, _flag("--json", OUTPUT, "Print the answer as JSON.")]


def output_file(help_: str) -> Any:
    """Make the option `--output` of a command that writes one file."""
    return typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        rich_help_panel=OUTPUT,
        show_default=False,
        help=help_,
    )
