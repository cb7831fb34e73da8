"""``neocc convert``: a matrix larger than memory, cut into blocks of rows on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from neocc.cli import _options as given
from neocc.cli import _reading_options as read_as
from neocc.cli._guard import guarded
from neocc.cli._help import command_with

__all__ = ["Command", "convert"]

Command = command_with(
    ("Cut a file into blocks of rows", "neocc convert ratings.csv ratings.blocks"),
    ("Then co-cluster it", "neocc fit ratings.blocks --rows 10 --columns 10"),
    ("A folder of Parquet files", "neocc convert clicks/ clicks.blocks --float32"),
    ("Smaller blocks, less memory", "neocc convert big.mtx big.blocks --block-size 16MB"),
)


def convert(
    ctx: typer.Context,
    source: Annotated[
        Path,
        typer.Argument(
            metavar="SOURCE",
            help="The matrix: a file, or Parquet files in a folder.",
            show_default=False,
        ),
    ],
    store: Annotated[
        Path, typer.Argument(metavar="STORE", help="The folder to write.", show_default=False)
    ],
    rows_per_block: given.RowsPerBlock = None,
    block_size: given.BlockSize = "64MB",
    float32: given.Float32 = False,
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
    force: given.Force = False,
    quiet: given.Quiet = False,
    as_json: given.Json = False,
) -> None:
    """Cut the matrix in SOURCE into blocks of rows on disk, for neocc fit.

    SOURCE is read once. Text, Parquet and Matrix Market files may be larger
    than memory; files in other formats are read as a whole.
    """
    with guarded(show_traceback=bool(ctx.obj), interrupted="Interrupted; nothing was written."):
        from neocc.cli._guard import blaming_the_user
        from neocc.cli._settings import Reading, from_options
        from neocc.cli._terminal import Terminal
        from neocc.io import write_store

        terminal = Terminal(quiet=quiet, as_json=as_json)
        with terminal.progress("Converting"), blaming_the_user():
            written = write_store(
                store,
                source,
                rows_per_block=rows_per_block,
                block_size=block_size,
                dtype="float32" if float32 else None,
                force=force,
                **Reading(**from_options(ctx.params)).read_options,
            )
        terminal.notes(written.manifest.notes)
        n_rows, n_columns = written.shape
        summary = (
            f"{store}: {n_rows:,} rows, {n_columns:,} columns, {written.n_stored:,} entries "
            f"({written.dtype}) in {written.n_blocks:,} blocks"
        )
        terminal.show(lambda: [summary])
        terminal.result(
            lambda: {
                "path": str(store),
                "shape": [n_rows, n_columns],
                "entries": written.n_stored,
                "dtype": str(written.dtype),
                "layout": "sparse" if written.is_sparse else "dense",
                "blocks": written.n_blocks,
                "digest": written.digest,
                "notes": list(written.manifest.notes),
            }
        )
