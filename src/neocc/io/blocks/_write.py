"""From anything with rows to a block store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from neocc._sizes import as_bytes
from neocc.engines.changed import observed_cells
from neocc.engines.reading import readable, summed
from neocc.engines.stored import RowSource
from neocc.io._matrix import Matrix
from neocc.io._whole import whole_folder
from neocc.io.blocks._cutting import Cutter
from neocc.io.blocks._store import BlockStore, open_store
from neocc.io.blocks._writer import StoreWriter, is_ours

__all__ = ["write_store"]

# The one option for rows in memory.
_OBSERVED = ("missing", "ignore")


def write_store(
    path: str | PathLike[str],
    source: Any,
    *,
    rows_per_block: int | None = None,
    block_size: int | str = "64MB",
    dtype: Any = None,
    row_names: Iterable[str] | None = None,
    column_names: Sequence[str] | None = None,
    force: bool = False,
    **read_options: Any,
) -> BlockStore:
    """Write a matrix to disk in blocks of rows, in one pass and in bounded memory.

    Parameters
    ----------
    path : path-like
        The folder to write, atomically.
    source : array, sparse matrix, Matrix, BlockStore, iterable of blocks, or path-like
        The rows. An iterable yields blocks of rows, arrays or sparse matrices, of any size, so that
        matrices larger than memory can be generated and stored. Dask arrays are computed by chunks
        of rows. A path names a file in any format of `read_matrix`, or a folder of Parquet files,
        read in the order of their names. Text, Parquet and Matrix Market files may be larger than
        memory; others are read as a whole.
    rows_per_block : int, default=None
        Number of rows per block; by default, as many as fit into `block_size`.
    block_size : int or str, default="64MB"
        Bytes of a block. Two or three blocks are in memory at a time, here and in a fit.
    dtype : data type, default=None
        Type of the stored numbers, "float32" or "float64"; by default, that of the source.
    row_names, column_names : iterable of str, default=None
        Names, if the source has none.
    force : bool, default=False
        Whether to replace an earlier store.
    **read_options
        For paths: options of `read_matrix`, such as ``missing="zero"``. For rows in memory,
        ``missing="ignore"`` stores the cells that are not NaN, as entries of a sparse matrix: the
        observed cells of ``NEOCC(missing="ignore")``.

    Returns
    -------
    store : BlockStore
        The store, opened.

    Raises
    ------
    WriteError
        If the folder exists, or could not be written; what was there is still there.
    ReadError
        If a file cannot be used.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from neocc.io import write_store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     blocks = (np.full((10, 3), number) for number in range(4))
    ...     store = write_store(f"{folder}/made", blocks, rows_per_block=20)
    >>> store.shape, store.n_blocks
    ((40, 3), 2)
    """
    if rows_per_block is not None and rows_per_block < 1:
        raise ValueError(f"rows_per_block must be at least 1; got {rows_per_block}.")
    limit = as_bytes(block_size, "block_size")
    is_file = isinstance(source, str | PathLike)
    observed = not is_file and read_options.get("missing") == "ignore"
    if not is_file and len(read_options) > observed:
        name = next(name for name, one in read_options.items() if (name, one) != _OBSERVED)
        raise TypeError(f"{name!r} is an option for files, not for arrays.")
    with whole_folder(path, force=force, is_ours=is_ours) as folder:
        writer = StoreWriter(folder, Path(path), dtype)
        cutter = Cutter(writer, rows_per_block, limit)
        if isinstance(source, str | PathLike):
            from neocc.io.blocks._convert import convert

            found = convert(Path(source), cutter, read_options)
            row_names = row_names if found.row_names is None else found.row_names
            column_names = column_names if found.column_names is None else found.column_names
            notes = found.notes
        else:
            if isinstance(source, Matrix | BlockStore):
                row_names = source.row_names if row_names is None else row_names
                column_names = source.column_names if column_names is None else column_names
            notes = ()
            for block in _blocks(source):
                cutter.add(observed_cells(readable(block)) if observed else block)
        cutter.end()
        writer.finish(row_names, column_names, notes)
    return open_store(path)


def _blocks(source: Any) -> Iterator[Any]:
    if isinstance(source, Matrix):
        source = source.data
    if isinstance(source, RowSource):
        yield from (source.load(index) for index in range(len(source.edges) - 1))
    elif sparse.issparse(source):
        yield summed(source).tocsr()
    elif hasattr(source, "numblocks"):  # an array of Dask, which need not fit into memory
        for block in range(source.numblocks[0]):
            yield source.blocks[block].compute()
    elif isinstance(source, np.ndarray) or hasattr(source, "__array__"):
        array = _numbers(source)
        if array.ndim != 2:
            raise ValueError(
                f"A store holds a matrix, of two dimensions; got an array of {array.ndim}."
            )
        yield array
    elif not isinstance(source, Iterable):
        raise TypeError(
            "A store is made of a file, an array, a sparse matrix, another store, or blocks of "
            f"rows one after the other; got {type(source).__name__}."
        )
    else:
        for block in source:
            is_sparse = sparse.issparse(block)
            yield summed(block).tocsr() if is_sparse else np.atleast_2d(_numbers(block))


def _numbers(rows: Any) -> Any:
    """Return dense rows as an array of numbers; what a data frame calls missing is NaN."""
    rows = readable(rows)
    array = np.asarray(rows)
    if array.dtype.kind != "O":
        return array
    return np.asarray((rows if hasattr(rows, "astype") else array).astype(np.float64))
