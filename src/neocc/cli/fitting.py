"""The commands that find groups: ``neocc demo``, ``fit``, ``convert``, ``suggest``."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import typer

from neocc.cli._command import FORCE, Answer, Run, argument, command, flag, option, output
from neocc.cli._guard import blaming_the_user
from neocc.cli._settings import READ_OPTIONS, SETTINGS, SUGGEST_OPTIONS, FitSettings, Panel, Reading

__all__ = ["convert", "demo", "fit", "range_of", "suggest"]


@command(
    ("See co-clusters on one page", "neocc demo"),
    ("The same for a program", "neocc demo --json"),
)
def demo(run: Run) -> Answer:
    """Co-cluster a small real data set and explain the result.

    The data are the 18 women and 14 social events of Davis, Gardner and Gardner.
    """
    from neocc.cli._demo import demo_answer

    return demo_answer(run.terminal.console)


@command(
    ("Choose everything from the data, and say why", "neocc fit ratings.csv"),
    ("Ten groups each, into groups/", "neocc fit ratings.csv --rows 10 --columns 10 -o groups"),
    ("Given overlap and outliers", "neocc fit genes.tsv --row-overlap 0.3 --row-outliers 2%"),
    (
        "Rows in two groups lie between them",
        "neocc fit genes.tsv --row-overlap 0.3 --overlap-model average",
    ),
    ("Transform first", "neocc fit counts.mtx --preprocess log1p --preprocess row-norm"),
    ("What groups have in common", "neocc fit films.csv --labels genres.csv"),
    ("Settings from a file", "neocc fit --config settings.toml"),
    (
        "Data larger than memory, in a store that neocc convert wrote",
        "neocc fit ratings.blocks --memory-limit 4GB --checkpoint fit.checkpoint",
    ),
    ("Repeat an earlier run", "neocc fit --from groups/record.json -o again"),
    settings=tuple(SETTINGS),
    interrupted="Interrupted; nothing was written.",
)
def fit(
    run: Run,
    file: Path | None = argument(
        "FILE", "The matrix: a file, or a block store that neocc convert wrote.", None
    ),
    memory_limit: str | None = option(
        "SIZE",
        "Memory limit for the fit of a block store, such as 4GB; what does not fit goes to disk.",
        Panel.LONG,
    ),
    checkpoint: Path | None = option(
        "FILE",
        "Save the state of a long fit here: after a crash or Ctrl-C, the same command resumes from "
        "there. Removed at the end.",
        Panel.LONG,
    ),
    checkpoint_every: float | None = option(
        "SECONDS", "Interval between checkpoints. Default: 120.", Panel.LONG
    ),
    output: Path | None = output(
        "FOLDER", "Folder for the results; named after the file if not given."
    ),
    force: bool = FORCE,
    config: Path | None = option(
        "FILE",
        "TOML file of settings: lines such as rows = 3 or row_overlap = 0.1, named like the "
        "options here. The command line takes precedence.",
    ),
    from_record: Path | None = option(
        "RECORD",
        "Repeat an earlier run exactly, from the record.json in its folder.",
        None,
        "--from",
    ),
) -> Answer:
    """Co-cluster the matrix in FILE and write a folder of results.

    FILE is a table, or a list of row, column and value: CSV, TSV, Parquet,
    Excel, Matrix Market, NumPy, SciPy, AnnData, ARFF or MovieLens, gzip or not.
    Settings that are not given are chosen from the data, with reasons. Ctrl-C
    ends the choice, then the fit, with the best found so far; if there is nothing
    yet, nothing is written. FILE may also be a block store written by neocc
    convert, for data larger than memory.
    """
    from neocc.cli._checkpoint import Resources
    from neocc.cli._fit import run_plan
    from neocc.cli._fit_page import fit_answer
    from neocc.cli._given import make_plan

    plan = make_plan(run.given, file, output, config, from_record)
    resources = Resources.of(plan, memory_limit, checkpoint, checkpoint_every)
    return fit_answer(run_plan(plan, resources, force=force, progress=run.terminal.progress))


@command(
    ("Cut a file into blocks of rows", "neocc convert ratings.csv ratings.blocks"),
    ("Then co-cluster it", "neocc fit ratings.blocks --rows 10 --columns 10"),
    ("A folder of Parquet files", "neocc convert clicks/ clicks.blocks --float32"),
    ("Smaller blocks, less memory", "neocc convert big.mtx big.blocks --block-size 16MB"),
    settings=READ_OPTIONS,
    interrupted="Interrupted; nothing was written.",
)
def convert(
    run: Run,
    source: Path = argument("SOURCE", "The matrix: a file, or Parquet files in a folder."),
    store: Path = argument("STORE", "The folder to write."),
    rows_per_block: int | None = option(
        "N", "Rows per block, instead of --block-size.", Panel.OUTPUT, min=1
    ),
    block_size: str = option(
        "SIZE", "Size of a block, such as 16MB. Default: 64MB.", Panel.OUTPUT, default="64MB"
    ),
    float32: bool = flag("--float32", "Store numbers in single precision (about seven digits)."),
    force: bool = FORCE,
) -> Answer:
    """Convert the matrix in SOURCE to a store of row blocks on disk, for neocc fit.

    SOURCE is read once. Text, Parquet and Matrix Market files may be larger
    than memory; files in other formats are read as a whole.
    """
    from neocc.io import write_store
    from neocc.plot._words import plural

    with run.terminal.progress("Converting"), blaming_the_user():
        written = write_store(
            store,
            source,
            rows_per_block=rows_per_block,
            block_size=block_size,
            dtype="float32" if float32 else None,
            force=force,
            **Reading(**run.given).read_options,
        )
    n_rows, n_columns = written.shape
    notes = list(written.manifest.notes)
    summary = (
        f"{store}: {n_rows:,} rows, {n_columns:,} columns, {written.n_stored:,} entries "
        f"({written.dtype}) in {plural(written.n_blocks, 'block')}"
    )
    told = {
        "path": str(store),
        "shape": [n_rows, n_columns],
        "entries": written.n_stored,
        "dtype": str(written.dtype),
        "layout": "sparse" if written.is_sparse else "dense",
        "blocks": written.n_blocks,
        "digest": written.digest,
        "notes": notes,
    }
    return Answer(lambda: [summary], lambda: told, notes)


def range_of(text: str) -> list[int]:
    """Read numbers such as "4", "2-8" or "2,4,8"."""
    found: list[int] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        try:
            numbers = range(int(first), int(last if dash else first) + 1)
        except ValueError:
            numbers = range(0)
        if not numbers or len(numbers) > 1000:
            raise typer.BadParameter(f"{text!r} is not a list of numbers such as 2-8 or 2,4,8.")
        found += numbers
    return found


@command(
    ("Suggest numbers of groups of rows and of columns", "neocc suggest ratings.csv"),
    ("Try these only", "neocc suggest ratings.csv --rows 5,10,20 --columns 2-6"),
    ("For a program", "neocc suggest ratings.csv --json"),
    settings=SUGGEST_OPTIONS,
)
def suggest(
    run: Run,
    file: Path = argument("FILE", "The matrix: a file or a block store."),
    row_clusters: Any = option(
        "NUMBERS",
        "Numbers of groups of rows to try, such as 2-8 or 5,10,20. Default: 1-16, and more if "
        "these predict better; 2-8 for other criteria.",
        Panel.GROUPS,
        "--rows",
        parser=range_of,
    ),
    column_clusters: Any = option(
        "NUMBERS", "The same for groups of columns.", Panel.GROUPS, "--columns", parser=range_of
    ),
    criterion: Literal["prediction", "icl", "hull", "pseudo_f"] = option(
        "NAME",
        "prediction of held-out cells, or a criterion that ranks pairs: icl, hull or pseudo_f. "
        "Default: prediction.",
        Panel.GROUPS,
        default="prediction",
    ),
    n_init: int = option(
        "N", "Starts for each pair of numbers. Default: 4.", Panel.SEARCH, default=4, min=1
    ),
) -> Answer:
    """Rank numbers of groups for the matrix in FILE.

    By default, the numbers are those that best predict held-out cells. The other
    criteria try every pair of numbers and weigh the fit against the number of
    groups. Ctrl-C gives the result so far.
    """
    from neocc.cli._suggest import suggest_answer

    numbers = (row_clusters, column_clusters)
    settings = FitSettings(**run.given)
    return suggest_answer(file, settings, numbers, criterion, n_init, run.terminal.progress)
