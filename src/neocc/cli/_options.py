"""The options of the commands, each written once; those about files are in `_reading_options`.

All default to None, which means not given: a settings file may then decide, and after it the
defaults in `_settings`, which the texts here repeat.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import typer

from neocc.cli._parsing import fraction_or_auto, make_flag, make_option, number_or_auto, range_of

GROUPS = "Groups"
SEARCH = "Search"
OUTPUT = "Output"

# ---------------------------------------------------------------------------------------- groups

Rows: TypeAlias = Annotated[
    Any,
    make_option(
        "--rows",
        "K",
        GROUPS,
        "Number of groups of rows; chosen from the data if not given.",
        parser=number_or_auto,
    ),
]
Columns: TypeAlias = Annotated[
    Any,
    make_option(
        "--columns", "L", GROUPS, "Number of groups of columns; likewise.", parser=number_or_auto
    ),
]
RowRange: TypeAlias = Annotated[
    Any,
    make_option(
        "--rows",
        "NUMBERS",
        GROUPS,
        "Numbers of groups of rows to try, such as 2-8 (the default) or 5,10,20.",
        parser=range_of,
    ),
]
ColumnRange: TypeAlias = Annotated[
    Any,
    make_option(
        "--columns", "NUMBERS", GROUPS, "Numbers of groups of columns; likewise.", parser=range_of
    ),
]
Objective: TypeAlias = Annotated[
    Literal["mean", "residue"] | None,
    make_option(
        "--objective",
        "NAME",
        GROUPS,
        "mean: look for blocks of one value; residue: for blocks whose rows and columns rise and "
        "fall together. Default: mean.",
    ),
]


def _fraction(name: str, help_: str) -> Any:
    return make_option(name, "SHARE", GROUPS, help_, parser=fraction_or_auto)


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
    make_option(
        "--overlap-rule",
        "NAME",
        GROUPS,
        "How overlap is estimated. averages: by who lies between groups; first, second: by the "
        "rules of the method's authors, which find more. Default: averages.",
    ),
]
Criterion: TypeAlias = Annotated[
    Literal["icl", "hull", "pseudo_f"],
    make_option("--criterion", "NAME", GROUPS, "icl, hull or pseudo_f: what ranks. Default: icl."),
]

# ---------------------------------------------------------------------------------------- search

Init: TypeAlias = Annotated[
    Literal["neo-kmeans", "random", "spectral", "sketch"] | None,
    make_option(
        "--init",
        "NAME",
        SEARCH,
        "neo-kmeans, random, spectral or sketch: how starts are made. Default: neo-kmeans.",
    ),
]
NInit: TypeAlias = Annotated[
    int | None, make_option("--n-init", "N", SEARCH, "Number of starts. Default: 10.", min=1)
]
NInitPerPair: TypeAlias = Annotated[
    int, make_option("--n-init", "N", SEARCH, "Starts for each pair of numbers. Default: 4.", min=1)
]
NoRefine: TypeAlias = Annotated[
    bool | None,
    make_flag("--no-refine", SEARCH, "Run each start once, as the paper does; do not search on."),
]
MaxIter: TypeAlias = Annotated[
    int | None,
    make_option("--max-iter", "N", SEARCH, "Largest number of iterations. Default: 100.", min=1),
]
Tol: TypeAlias = Annotated[
    float | None,
    make_option("--tol", "X", SEARCH, "Relative gain that ends a start. Default: 1e-6.", min=0),
]
Seed: TypeAlias = Annotated[
    int | None, make_option("--seed", "N", SEARCH, "Same seed, same result. Default: 0.", min=0)
]
Jobs: TypeAlias = Annotated[
    int | None, make_option("--jobs", "N", SEARCH, "Threads; as many as cores if not given.")
]

MemoryLimit: TypeAlias = Annotated[
    str | None,
    make_option(
        "--memory-limit",
        "SIZE",
        SEARCH,
        "Most memory for the fit of a block store, such as 4GB; what does not fit goes to disk.",
    ),
]
Checkpoint: TypeAlias = Annotated[
    Path | None,
    make_option(
        "--checkpoint",
        "FILE",
        SEARCH,
        "Keep the state of a long fit here: after a crash or Ctrl-C the same command goes on from "
        "there. Removed at the end.",
    ),
]
CheckpointEvery: TypeAlias = Annotated[
    float | None,
    make_option("--checkpoint-every", "SECONDS", SEARCH, "How often it is written. Default: 120."),
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
    make_option("--rows-per-block", "N", OUTPUT, "Rows of a block, instead of its size.", min=1),
]
BlockSize: TypeAlias = Annotated[
    str,
    make_option("--block-size", "SIZE", OUTPUT, "Bytes of a block, such as 16MB. Default: 64MB."),
]
Float32: TypeAlias = Annotated[
    bool, make_flag("--float32", OUTPUT, "Store numbers in four bytes, with seven digits.")
]
Force: TypeAlias = Annotated[bool, make_flag("--force", OUTPUT, "Replace an earlier result.")]
NoReport: TypeAlias = Annotated[
    bool | None, make_flag("--no-report", OUTPUT, "Do not write report.html.")
]
Parquet: TypeAlias = Annotated[
    bool | None, make_flag("--parquet", OUTPUT, "Write the tables as Parquet besides.")
]
RowNoun: TypeAlias = Annotated[
    str | None, make_option("--row-noun", "WORD", OUTPUT, "What rows are, such as genes.")
]
ColumnNoun: TypeAlias = Annotated[
    str | None,
    make_option("--column-noun", "WORD", OUTPUT, "What columns are, such as conditions."),
]
Quiet: TypeAlias = Annotated[bool, make_flag("--quiet", OUTPUT, "Print nothing but errors.")]
Json: TypeAlias = Annotated[bool, make_flag("--json", OUTPUT, "Print the answer as JSON.")]


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
