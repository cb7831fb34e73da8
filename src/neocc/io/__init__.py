"""Files in and out: matrices with names, results as tidy tables, models, records of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neocc._later import importing_later
from neocc.io._errors import (
    DuplicateEntryError,
    FormatError,
    MissingValueError,
    ModelFileError,
    ReadError,
    UnreadableFileError,
    ValueInCellError,
    WouldOverwriteError,
    WriteError,
    as_command_line,
)
from neocc.io._matrix import Matrix
from neocc.io._read import read_matrix
from neocc.io._record import InputRecord, RunRecord, make_record, read_record, write_record
from neocc.io._registry import READERS, Reader
from neocc.io._write_matrix import write_matrix

if TYPE_CHECKING:
    from neocc.io._checkpoint import Checkpoint, CheckpointError
    from neocc.io._model import SavedModel, load_model, read_model, save_model
    from neocc.io._result import check_output, write_result
    from neocc.io._tidy import ResultTables, column_distances, result_tables
    from neocc.io.blocks._parquet_rows import ParquetRows, open_parquet
    from neocc.io.blocks._store import BlockStore, open_store
    from neocc.io.blocks._write import write_store

__all__ = [
    "READERS",
    "BlockStore",
    "Checkpoint",
    "CheckpointError",
    "DuplicateEntryError",
    "FormatError",
    "InputRecord",
    "Matrix",
    "MissingValueError",
    "ModelFileError",
    "ParquetRows",
    "ReadError",
    "Reader",
    "ResultTables",
    "RunRecord",
    "SavedModel",
    "UnreadableFileError",
    "ValueInCellError",
    "WouldOverwriteError",
    "WriteError",
    "as_command_line",
    "check_output",
    "column_distances",
    "load_model",
    "make_record",
    "open_parquet",
    "open_store",
    "read_matrix",
    "read_model",
    "read_record",
    "result_tables",
    "save_model",
    "write_matrix",
    "write_record",
    "write_result",
    "write_store",
]

# These need the estimators, and with them scikit-learn, which a matrix from a file does not.
_LATER = {
    "_checkpoint": ("Checkpoint", "CheckpointError"),
    "blocks._parquet_rows": ("ParquetRows", "open_parquet"),
    "blocks._store": ("BlockStore", "open_store"),
    "blocks._write": ("write_store",),
    "_model": ("SavedModel", "load_model", "read_model", "save_model"),
    "_result": ("check_output", "write_result"),
    "_tidy": ("ResultTables", "column_distances", "result_tables"),
}


__getattr__, __dir__ = importing_later(
    "neocc.io", {name: module for module, names in _LATER.items() for name in names}, __all__
)
