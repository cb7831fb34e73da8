"""Arrays in untrusted files and zip archives: nothing is unpickled or extracted to disk.

What a file declares (lengths, shapes, types) is compared with the bytes that are there before
memory is allocated for it.
"""

from __future__ import annotations

import math
import re
import struct
import warnings
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from tokenize import TokenError
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.lib import format as npy

from neocc._typing import AnyArray
from neocc.io._errors import FormatError, ReadError
from neocc.io._source import check_expansion
from neocc.io._whole import whole_file

__all__ = ["Archive", "open_archive", "read_array", "write_archive"]

_AGAIN = "Copy or download the file again."
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.]*")
_ENCRYPTED = 0x1
# The same contents give the same file, whenever it is written.
_LONG_AGO = (1980, 1, 1, 0, 0, 0)


def write_archive(
    path: str | PathLike[str],
    header_name: str,
    header: str,
    arrays: Mapping[str, AnyArray],
    *,
    force: bool,
) -> None:
    """Write a text and arrays, uncompressed, to a file that appears whole or not at all."""
    with whole_file(path, force=force) as partial, zipfile.ZipFile(partial, "x") as archive:
        archive.writestr(zipfile.ZipInfo(header_name, _LONG_AGO), header)
        for member, array in arrays.items():
            # One of unknown length could not grow beyond 2 GiB without this.
            with archive.open(zipfile.ZipInfo(member, _LONG_AGO), "w", force_zip64=True) as file:
                np.save(file, np.ascontiguousarray(array), allow_pickle=False)


def read_array(path: Path, file: BinaryIO, n_bytes: int, what: str = "The file") -> AnyArray:
    """Read one array in NumPy's format from a file that holds `n_bytes` bytes.

    Objects are refused, for only pickle could read them.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # headers written by Python 2
            version = npy.read_magic(file)
            if version == (1, 0):
                shape, fortran, dtype = npy.read_array_header_1_0(file)
            elif version == (2, 0):
                shape, fortran, dtype = npy.read_array_header_2_0(file)
            else:
                raise ValueError(f"format {version[0]}.{version[1]} is for records")
    # NumPy has Python parse what should be a dict; this is how Python may fail.
    except (ValueError, TypeError, SyntaxError, RecursionError, TokenError) as error:
        raise FormatError(path, f"{what} is not a NumPy array, or is truncated.", _AGAIN) from error
    if dtype.hasobject or dtype.kind not in "biufcSU" or not dtype.itemsize:
        raise FormatError(
            path,
            f"{what} holds {'Python objects' if dtype.hasobject else f'values of type {dtype}'}, "
            "which are not read because a file could then run code.",
            "Store it as an array of numbers.",
        )
    n_declared = dtype.itemsize * math.prod(shape)
    n_there = n_bytes - file.tell()
    if min(shape, default=0) < 0 or n_declared != n_there:
        raise FormatError(
            path,
            f"{what} declares an array of shape {shape}, that is {n_declared} bytes; there are "
            f"{n_there}.",
            _AGAIN,
        )
    flat = np.empty(math.prod(shape), dtype=dtype)
    _fill(path, file, flat, what)
    if fortran:
        return np.ascontiguousarray(flat.reshape(shape[::-1]).T)
    return flat.reshape(shape)


def _fill(path: Path, file: BinaryIO, flat: AnyArray, what: str) -> None:
    if not flat.size:
        return
    buffer = memoryview(cast(Any, flat.view(np.uint8)))
    done = 0
    while done < len(buffer):
        n_read = cast(Any, file).readinto(buffer[done:])
        if not n_read:
            raise FormatError(path, f"{what} is cut off.", _AGAIN)
        done += n_read


@dataclass(frozen=True)
class Archive:
    """An open zip archive whose members have plain names and credible sizes."""

    path: Path
    file: zipfile.ZipFile
    members: dict[str, zipfile.ZipInfo]

    def array(self, name: str) -> AnyArray:
        """Return the array in the member `name`."""
        info = self._member(name)
        with _damage_reported(self.path), self.file.open(info) as member:
            stream = cast(BinaryIO, member)
            return read_array(self.path, stream, info.file_size, f"The member {name!r}")

    def text(self, name: str) -> str:
        """Return the text in the member `name`."""
        info = self._member(name)
        with _damage_reported(self.path):
            return self.file.read(info).decode()

    def _member(self, name: str) -> zipfile.ZipInfo:
        if name not in self.members:
            raise FormatError(self.path, f"The member {name!r} is missing.", _AGAIN)
        return self.members[name]


@contextmanager
def open_archive(path: Path, *, stored: bool = False) -> Iterator[Archive]:
    """Open a zip archive after a look at its list of members.

    Parameters
    ----------
    path : Path
        The file.
    stored : bool, default=False
        Refuse compressed members. Then what they take is what the file takes.
    """
    with _damage_reported(path):
        file = zipfile.ZipFile(path)
    with file:
        yield Archive(path, file, _checked_members(path, file, stored=stored))


@contextmanager
def _damage_reported(path: Path) -> Iterator[None]:
    """Turn what a damaged archive can make zipfile raise into one error."""
    try:
        yield
    except ReadError:
        raise
    except (
        zipfile.BadZipFile,
        zlib.error,
        struct.error,
        EOFError,
        NotImplementedError,
        OSError,
        RuntimeError,
        ValueError,
    ) as error:
        raise FormatError(
            path, f"The archive is truncated or damaged ({str(error).rstrip('.')}).", _AGAIN
        ) from error


def _checked_members(
    path: Path, file: zipfile.ZipFile, *, stored: bool
) -> dict[str, zipfile.ZipInfo]:
    members: dict[str, zipfile.ZipInfo] = {}
    for info in file.infolist():
        if not _PLAIN_NAME.fullmatch(info.filename):
            raise FormatError(
                path,
                f"The archive has a member called {info.filename!r}, which is not a plain name.",
                "Do not trust it.",
            )
        if info.filename in members:
            raise FormatError(
                path, f"The archive has two members called {info.filename!r}.", "Do not trust it."
            )
        if info.flag_bits & _ENCRYPTED:
            raise FormatError(path, "The archive is encrypted.", "Unpack it first.")
        if stored and info.compress_type != zipfile.ZIP_STORED:
            raise FormatError(
                path,
                f"The member {info.filename!r} is compressed, which this kind of file never is.",
                "Do not trust it.",
            )
        members[info.filename] = info
    size = path.stat().st_size
    declared = sum(info.file_size for info in members.values())
    if stored and declared > size:
        raise FormatError(
            path, f"{size} bytes claim to hold {declared}.", "Do not trust this file."
        )
    check_expansion(path, declared, size)
    return members
