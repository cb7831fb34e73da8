"""The folder of a result: tidy tables, the model, and whatever belongs to them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from neocc._extras import need
from neocc.engines.containers import in_memory
from neocc.io._matrix import Matrix
from neocc.io._model import save_model
from neocc.io._record import RunRecord, write_record
from neocc.io._tidy import result_tables
from neocc.io._whole import check_free, whole_file, whole_folder

__all__ = ["check_output", "write_result", "write_table"]

_TABLES = ("rows", "columns", "blocks")
_MODEL = "model.neocc"
_RECORD = "record.json"
_OURS = {
    _MODEL,
    _RECORD,
    "report.html",
    *(f"{name}.{ending}" for name in _TABLES for ending in ("csv", "parquet")),
}


def check_output(folder: str | PathLike[str], *, force: bool = False) -> None:
    """Fail now, not after a long fit, if `write_result` would refuse a folder.

    Parameters
    ----------
    folder : path-like
        Where the result will go.
    force : bool, default=False
        Whether an earlier result may be replaced.

    Raises
    ------
    WouldOverwriteError
        If the folder is not empty, and `force` is not given or it holds other files than results.
    """
    check_free(folder, force=force, is_ours=_is_ours)


def write_result(
    model: Any,
    folder: str | PathLike[str],
    matrix: Any,
    *,
    cell_weight: Any = None,
    record: RunRecord | None = None,
    extra_files: Mapping[str, str | bytes] | None = None,
    parquet: bool = False,
    before: Any = None,
    force: bool = False,
) -> None:
    """Write a result as a folder, atomically.

    It holds `rows.csv` and `columns.csv` (a line per membership, and one per outlier: `name`,
    `cluster`, `distance`, `outlier`, and the number of the row or column), `blocks.csv` (a line per
    pair of a row and a column cluster: sizes, `mean`, and `error`, its part of the objective) and
    `model.neocc`, which `load_model` reads. Rows, columns and clusters are numbered from 1.

    Parameters
    ----------
    model : NEOCC, NEOKMeans, MSSR or LowRankNEOKMeans
        The fitted estimator.
    folder : path-like
        Where to write.
    matrix : Matrix, array, data frame or sparse matrix
        The data of the fit.
    cell_weight : array-like or sparse matrix, default=None
        Weights of observed cells, as given to the fit; those of rows and columns are known.
    record : RunRecord, default=None
        Written as `record.json`.
    extra_files : dict, default=None
        Further files by name, such as `report.html`.
    parquet : bool, default=False
        Whether to write the tables as Parquet besides.
    before : array or sparse matrix, default=None
        The data before they were transformed for the fit: `blocks.csv` then has their means too
        (`mean_before`).
    force : bool, default=False
        Whether to replace the folder of an earlier result. A folder with other files in it is never
        replaced.

    Raises
    ------
    WriteError
        If it cannot be written; nothing is left behind then, and what was there still is.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from neocc import NEOCC
    >>> from neocc.io import write_result
    >>> X = np.array([[5, 5, 0], [5, 5, 0], [0, 0, 5]])
    >>> model = NEOCC(2, 2, random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as parent:
    ...     write_result(model, Path(parent) / "result", matrix=X)
    ...     sorted(path.name for path in Path(parent, "result").iterdir())
    ['blocks.csv', 'columns.csv', 'model.neocc', 'rows.csv']
    """
    if not isinstance(matrix, Matrix):
        matrix = _named(matrix)
    extra_files = extra_files or {}
    for name in extra_files:
        if Path(name).name != name or name.startswith("."):
            raise ValueError(f"{name!r} is not a plain file name.")
    check_output(folder, force=force)
    with warnings.catch_warnings():
        # Those of a data frame that was fitted are known by their order here.
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        tables = result_tables(model, matrix, cell_weight, before)

    def is_ours(path: Path) -> bool:
        return _is_ours(path) or path.name in extra_files

    with whole_folder(folder, force=force, is_ours=is_ours) as partial:
        for name in _TABLES:
            columns = getattr(tables, name)
            if columns is not None:
                for ending in ("csv", "parquet") if parquet else ("csv",):
                    write_table(partial / f"{name}.{ending}", columns)
        names = {"row_names": matrix.row_names, "column_names": matrix.column_names}
        save_model(model, partial / _MODEL, **names)
        if record is not None:
            write_record(record, partial / _RECORD)
        for name, content in extra_files.items():
            data = content.encode() if isinstance(content, str) else content
            (partial / name).write_bytes(data)


def _named(matrix: Any) -> Matrix:
    """Return data with the names that a data frame has; an index that only counts names nothing."""
    matrix = in_memory(matrix)
    if not hasattr(matrix, "columns"):
        return Matrix(matrix if hasattr(matrix, "shape") else np.asarray(matrix))
    index = getattr(matrix, "index", None)
    if type(index).__name__ == "RangeIndex":
        index = None
    rows = None if index is None else tuple(map(str, index))
    return Matrix(matrix.to_numpy(), rows, tuple(map(str, matrix.columns)))


def _is_ours(path: Path) -> bool:
    return path.name in _OURS and path.is_file()


def write_table(path: Path, columns: dict[str, Any], *, force: bool = False) -> None:
    """Write columns as Parquet if the name ends so, else as CSV; masked values become nulls."""
    csv, parquet = need("pyarrow.csv"), need("pyarrow.parquet")
    table = need("pyarrow").table({name: _as_arrow(values) for name, values in columns.items()})
    is_parquet = path.suffix.lower() in (".parquet", ".pq")
    with whole_file(path, force=force) as partial:
        (parquet.write_table if is_parquet else csv.write_csv)(table, partial)


def _as_arrow(values: Any) -> Any:
    pa = need("pyarrow")

    if isinstance(values, np.ma.MaskedArray):
        return pa.array(values.data, mask=np.ma.getmaskarray(values))
    return pa.array(values)
