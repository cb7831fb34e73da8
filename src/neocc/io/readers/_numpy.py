"""Arrays as NumPy stores them (.npy, .npz) and sparse matrices as SciPy does (.npz); no pickle."""

from __future__ import annotations

from neocc._typing import AnyArray
from neocc.io._archive import Archive, open_archive, read_array
from neocc.io._errors import FormatError, ReadError
from neocc.io._options import ReadOptions
from neocc.io._source import Source
from neocc.io.readers._contents import Contents, finite, real_numbers
from neocc.io.readers._foreign import zip_kind
from neocc.io.readers._repeated import duplicate_error
from neocc.io.readers._sparse import from_compressed, from_entries, read_shape

__all__ = ["is_npy", "is_npz", "read_npy", "read_npz"]


def is_npy(head: bytes) -> bool:
    """Whether a file begins as an array of NumPy does."""
    return head.startswith(b"\x93NUMPY")


def is_npz(head: bytes) -> bool:
    """Whether a file begins as a zip archive does."""
    return head.startswith(b"PK\x03\x04")


def read_npy(source: Source, options: ReadOptions) -> Contents:
    """Read a two-dimensional array."""
    if source.is_gzip:
        raise FormatError(source.path, "Compressed .npy files cannot be read.", "Unpack it first.")
    with source.open() as file:
        values = read_array(source.path, file, source.size)
    return finite(source.path, Contents(_as_table(source, values, "The array")), options.missing)


def read_npz(source: Source, options: ReadOptions) -> Contents:
    """Read a sparse matrix, or the only two-dimensional array of an archive."""
    if not is_npz(source.head):
        raise FormatError(source.path, "This is not an .npz archive.", "Write it again.")
    if kind := zip_kind(source):
        remedy = "Unpack it, or save the matrix as CSV, and name that file."
        raise FormatError(source.path, f"This is {kind}.", remedy)
    with source.guard(), open_archive(source.path) as archive:
        if "format.npy" in archive.members:
            contents = _read_sparse(source, archive, options)
        else:
            contents = _read_dense(source, archive)
    return finite(source.path, contents, options.missing)


def _read_dense(source: Source, archive: Archive) -> Contents:
    names = [name for name in archive.members if name.endswith(".npy")]
    if len(names) != 1:
        others = ", ".join(list(archive.members)[:5]) or "nothing"
        raise FormatError(
            source.path,
            f"It should hold one array, or a sparse matrix of SciPy; it holds {others}.",
            "Store the matrix alone, with numpy.save or scipy.sparse.save_npz.",
        )
    return Contents(_as_table(source, archive.array(names[0]), f"The member {names[0]!r}"))


def _as_table(source: Source, values: AnyArray, what: str) -> AnyArray:
    if values.ndim != 2 or not values.size:
        raise FormatError(
            source.path,
            f"{what} has shape {values.shape}.",
            "A matrix has two dimensions, and at least one row and column.",
        )
    return real_numbers(source.path, values, what)


def _read_sparse(source: Source, archive: Archive, options: ReadOptions) -> Contents:
    path = source.path
    kind = archive.array("format.npy")
    name = kind.item() if kind.size == 1 else b""
    name = name.decode("ascii", "replace") if isinstance(name, bytes) else str(name)
    places = {"csr": ("indices", "indptr"), "csc": ("indices", "indptr"), "coo": ("row", "col")}
    if name not in places:
        raise FormatError(
            path, f"The sparse format is {name!r}.", "Convert it with .tocsr() before saving."
        )
    shape = read_shape(path, archive.array("shape.npy"), source.size)
    data, first, second = (archive.array(f"{part}.npy") for part in ("data", *places[name]))
    if name != "coo":
        return Contents(from_compressed(path, (data, first, second), shape, int(name == "csc")))
    matrix = from_entries(path, (data, first, second), shape, options.duplicates_of("triplets"))
    if isinstance(matrix, tuple):
        raise duplicate(source, matrix)
    return Contents(matrix)


def duplicate(source: Source, place: tuple[int, int]) -> ReadError:
    """Return the error for an entry that occurs more than once, by its numbers from 1."""
    return duplicate_error(source, str(place[0] + 1), str(place[1] + 1))
