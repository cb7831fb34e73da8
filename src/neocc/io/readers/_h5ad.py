"""AnnData files (.h5ad), read with h5py: the matrix X or a layer, and the names of both sides.

What the file declares is checked as in other formats. But the HDF5 library parses it, and
it was never hardened: single bytes changed on purpose can make it loop, or allocate gigabytes. No
other format here has this weakness, so a warning in the documentation of `read_matrix` must do.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from neocc._extras import need
from neocc._typing import AnyArray
from neocc.io._errors import FormatError, ReadError
from neocc.io._options import ReadOptions
from neocc.io._source import Source, check_expansion
from neocc.io.readers._contents import Contents, finite, real_numbers
from neocc.io.readers._sparse import from_compressed, read_shape

__all__ = ["is_hdf5", "read_h5ad"]

_AGAIN = "Write the file again with anndata."


def is_hdf5(head: bytes) -> bool:
    """Whether a file begins as HDF5 files do."""
    return head.startswith(b"\x89HDF\r\n\x1a\n")


def read_h5ad(source: Source, options: ReadOptions) -> Contents:
    """Read X, or the layer asked for, and the names of observations and variables."""
    h5py = need("h5py")
    if not is_hdf5(source.head):
        raise FormatError(source.path, "This is no HDF5 file.", _AGAIN)
    try:
        with h5py.File(source.path, "r") as file:
            contents = _read(source, _Guarded(source, h5py, file), options)
    except ReadError:
        raise
    # h5py raises nearly anything about damaged files; none of it says more than this.
    except (
        OSError,
        RuntimeError,
        KeyError,
        TypeError,
        AttributeError,
        OverflowError,
        ValueError,
    ) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise FormatError(source.path, f"The file is damaged ({reason}).", _AGAIN) from error
    return finite(source.path, contents, options.missing)


class _Guarded:
    """Items of an HDF5 file, without a way to other files and without surprises in size."""

    def __init__(self, source: Source, h5py: Any, file: Any) -> None:
        self._source = source
        self._h5py = h5py
        self._file = file

    def item(self, *path: str) -> Any:
        """Return a group or data set by its path; links to other files are refused."""
        at = self._file
        for name in path:
            if name not in at:
                raise FormatError(
                    self._source.path,
                    f"There is no {'/'.join(path)!r} in the file.",
                    f"There is: {', '.join(map(repr, list(at)[:10])) or 'nothing'}.",
                )
            if isinstance(at.get(name, getlink=True), self._h5py.ExternalLink):
                raise FormatError(
                    self._source.path,
                    f"{'/'.join(path)!r} is a link to another file.",
                    "Store the data in the file itself.",
                )
            at = at[name]
        return at

    def array(self, *path: str) -> AnyArray:
        """Return a data set after a look at what it claims to be."""
        found = self.item(*path)
        where = "/".join(path)
        if not isinstance(found, self._h5py.Dataset):
            raise FormatError(self._source.path, f"{where!r} is not an array.", _AGAIN)
        if found.is_virtual or found.external:
            raise FormatError(
                self._source.path,
                f"The data of {where!r} lie in another file.",
                "Store them in the file itself.",
            )
        n_bytes = math.prod(found.shape or (0,)) * found.dtype.itemsize
        check_expansion(self._source.path, n_bytes, found.id.get_storage_size())
        values: AnyArray = found.asstr()[()] if found.dtype.kind == "O" else found[()]
        return np.asarray(values)


def _read(source: Source, file: _Guarded, options: ReadOptions) -> Contents:
    where = ("X",) if options.layer is None else ("layers", options.layer)
    item = file.item(*where)
    form = item.attrs.get("encoding-type", item.attrs.get("h5sparse_format", ""))
    form = form.decode() if isinstance(form, bytes) else str(form)
    data: Any
    if hasattr(item, "dtype"):
        data = real_numbers(source.path, file.array(*where), repr("/".join(where)))
        if data.ndim != 2 or not data.size:
            raise FormatError(
                source.path,
                f"{'/'.join(where)!r} has shape {data.shape}.",
                "A matrix has two dimensions, and at least one row and column.",
            )
        data = np.ascontiguousarray(data)
    elif form in ("csr_matrix", "csc_matrix", "csr", "csc"):
        declared = item.attrs.get("shape", item.attrs.get("h5sparse_shape"))
        shape = read_shape(source.path, declared, source.size)
        parts = tuple(file.array(*where, part) for part in ("data", "indices", "indptr"))
        data = from_compressed(source.path, parts, shape, int(form.startswith("csc")))  # type: ignore[arg-type]
    else:
        raise FormatError(
            source.path,
            f"{'/'.join(where)!r} is stored as {form or 'something unknown'!r}.",
            "Store it as an array, or as a sparse matrix in csr or csc form.",
        )
    row_names, column_names = (
        _names(source, file, side, size)
        for side, size in zip(("obs", "var"), data.shape, strict=True)
    )
    return Contents(data, row_names, column_names, (f"Read from {'/'.join(where)!r}.",))


def _names(source: Source, file: _Guarded, side: str, size: int) -> tuple[str, ...] | None:
    """Return the index of observations or variables."""
    frame = file.item(side)
    if hasattr(frame, "dtype"):  # anndata before 0.7 wrote a table of records
        fields = frame.dtype.names or ()
        field = next((name for name in ("index", "_index") if name in fields), None)
        values = None if field is None else np.asarray(frame[field])
    else:
        field = frame.attrs.get("_index", "_index")
        field = field.decode() if isinstance(field, bytes) else str(field)
        path: tuple[str, ...] = (side, field)
        if not hasattr(file.item(*path), "dtype"):  # text that may be missing
            path = (side, field, "values")
        values = file.array(*path)
    if values is None:
        return None
    if values.shape != (size,):
        raise FormatError(
            source.path, f"{side!r} has {values.size} names, the matrix {size}.", _AGAIN
        )
    return tuple(
        value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
        for value in values.tolist()
    )
