"""``neocc fit``: co-cluster the matrix in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from neocc.cli import _options as given
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
    ("An earlier run again", "neocc fit --from groups/record.json -o again"),
    steps=True,
)


def fit(
    ctx: typer.Context,
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="The matrix.", show_default=False)
    ] = None,
    rows: given.Rows = None,
    columns: given.Columns = None,
    objective: given.Objective = None,
    row_overlap: given.RowOverlap = None,
    row_outliers: given.RowOutliers = None,
    column_overlap: given.ColumnOverlap = None,
    column_outliers: given.ColumnOutliers = None,
    overlap_rule: given.OverlapRule = None,
    preprocess: given.Preprocess = None,
    format_: given.Format = None,
    layout: given.Layout = None,
    header: given.Header = None,
    no_header: given.NoHeader = None,
    row_names: given.RowNames = None,
    no_row_names: given.NoRowNames = None,
    row_names_in: given.RowNamesIn = None,
    triplet_columns: given.TripletColumns = None,
    delimiter: given.Delimiter = None,
    decimal: given.Decimal = None,
    encoding: given.Encoding = None,
    drop: given.Drop = None,
    layer: given.Layer = None,
    missing: given.Missing = None,
    duplicates: given.Duplicates = None,
    dense: given.Dense = None,
    init: given.Init = None,
    n_init: given.NInit = None,
    no_refine: given.NoRefine = None,
    max_iter: given.MaxIter = None,
    tol: given.Tol = None,
    seed: given.Seed = None,
    jobs: given.Jobs = None,
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
    the best result so far.
    """
    with guarded(show_traceback=bool(ctx.obj), interrupted="Interrupted; nothing was written."):
        from neocc.cli._fit_page import fit_json, fit_page
        from neocc.cli._fitting import run_fit
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
        terminal.show(lambda: fit_page(outcome))
        terminal.result(lambda: fit_json(outcome))
    if outcome.interrupted:
        typer.echo(f"neocc: Interrupted. The best result so far is in {outcome.folder}.", err=True)
        raise typer.Exit(INTERRUPTED)
