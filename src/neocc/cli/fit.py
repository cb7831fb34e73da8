"""``neocc fit``: co-cluster the matrix in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from neocc.cli import _options as given
from neocc.cli import _reading_options as read_as
from neocc.cli._guard import INTERRUPTED, guarded
from neocc.cli._help import command_with

__all__ = ["Command", "fit"]

Command = command_with(
    ("Choose everything from the data, and say why", "neocc fit ratings.csv"),
    (
        "So many groups, results into groups/",
        "neocc fit ratings.csv --rows 10 --columns 10 -o groups",
    ),
    (
        "Overlap and outliers as given",
        "neocc fit genes.tsv --row-overlap 0.3 --row-outliers 2%",
    ),
    (
        "Transform first",
        "neocc fit counts.mtx --preprocess log1p --preprocess row-norm",
    ),
    ("Settings from a file", "neocc fit --config settings.toml"),
    (
        "Data larger than memory, in a store that neocc convert wrote",
        "neocc fit ratings.blocks --memory-limit 4GB --checkpoint fit.checkpoint",
    ),
    ("An earlier run again", "neocc fit --from groups/record.json -o again"),
    steps=True,
)


def fit(
    ctx: typer.Context,
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE",
            help="The matrix: a file, or a block store that neocc convert wrote.",
            show_default=False,
        ),
    ] = None,
    rows: given.Rows = None,
    columns: given.Columns = None,
    objective: given.Objective = None,
    row_overlap: given.RowOverlap = None,
    row_outliers: given.RowOutliers = None,
    column_overlap: given.ColumnOverlap = None,
    column_outliers: given.ColumnOutliers = None,
    overlap_rule: given.OverlapRule = None,
    preprocess: read_as.Preprocess = None,
    format_: read_as.Format = None,
    layout: read_as.Layout = None,
    header: read_as.Header = None,
    no_header: read_as.NoHeader = None,
    row_names: read_as.RowNames = None,
    no_row_names: read_as.NoRowNames = None,
    row_names_in: read_as.RowNamesIn = None,
    triplet_columns: read_as.TripletColumns = None,
    delimiter: read_as.Delimiter = None,
    decimal: read_as.Decimal = None,
    encoding: read_as.Encoding = None,
    drop: read_as.Drop = None,
    layer: read_as.Layer = None,
    missing: read_as.Missing = None,
    duplicates: read_as.Duplicates = None,
    dense: read_as.Dense = None,
    init: given.Init = None,
    n_init: given.NInit = None,
    no_refine: given.NoRefine = None,
    max_iter: given.MaxIter = None,
    tol: given.Tol = None,
    seed: given.Seed = None,
    jobs: given.Jobs = None,
    memory_limit: given.MemoryLimit = None,
    checkpoint: given.Checkpoint = None,
    checkpoint_every: given.CheckpointEvery = None,
    output: given.OutputFolder = None,
    force: given.Force = False,
    no_report: given.NoReport = None,
    parquet: given.Parquet = None,
    row_noun: given.RowNoun = None,
    column_noun: given.ColumnNoun = None,
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            show_default=False,
            help="Settings from a TOML file: lines such as rows = 3 or row_overlap = 0.1, called "
            "like the options here. The command line comes first.",
        ),
    ] = None,
    from_record: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="RECORD",
            show_default=False,
            help="Repeat an earlier run, to the bit, from the record.json in its folder.",
        ),
    ] = None,
    quiet: given.Quiet = False,
    as_json: given.Json = False,
) -> None:
    """Co-cluster the matrix in FILE and write a folder of results.

    FILE is a table, or a list of row, column and value: CSV, TSV, Parquet,
    Matrix Market, NumPy, SciPy, AnnData, ARFF or MovieLens, gzip or not.
    What you do not give is chosen from the data, and explained. Ctrl-C keeps
    the best result so far. FILE may also be a block store, for data larger
    than memory: neocc convert writes one.
    """
    with guarded(show_traceback=bool(ctx.obj), interrupted="Interrupted; nothing was written."):
        from neocc.cli._fit_page import fit_json, fit_page
        from neocc.cli._running import run_fit
        from neocc.cli._terminal import Terminal

        terminal = Terminal(quiet=quiet, as_json=as_json)
        outcome = run_fit(
            ctx.params,
            file=file,
            output=output,
            config=config,
            from_record=from_record,
            force=force,
            progress=terminal.progress,
        )
    with guarded(show_traceback=bool(ctx.obj)):
        terminal.notes(outcome.notes)
        if terminal.for_people:
            with terminal.progress("Describing the groups"):
                page = list(fit_page(outcome))
            terminal.show(lambda: page)
        terminal.result(lambda: fit_json(outcome))
    if outcome.interrupted:
        said = f"Interrupted. The best result so far is in {outcome.folder}."
        if outcome.checkpoint is not None:
            said += f" The same command with --force goes on from {outcome.checkpoint}."
        typer.echo(f"neocc: {said}", err=True)
        raise typer.Exit(INTERRUPTED)
