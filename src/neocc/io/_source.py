"""A file to read: opened once to see what it is, and again, unpacked, by its reader."""

from __future__ import annotations

import gzip
import hashlib
import io
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import BinaryIO, TextIO, cast

from neocc.io._errors import FormatError, ReadError, UnreadableFileError, WriteError

__all__ = ["Source", "check_expansion", "check_shape"]

_HEAD_BYTES = 1 << 16
_GZIP = b"\x1f\x8b"
# Deflate cannot shrink anything further than this.
_LARGEST_GZIP_RATIO = 1032
# What a file may grow to when unpacked: anything small, or this many times its own size. Matrices
# hardly ever shrink further, for the places of their entries do not repeat; bombs do.
_SMALL_BYTES = 256 << 20
_LARGEST_RATIO = 200
# Rows and columns without entries cost memory too. A file may declare any small number of them,
# or this many per byte.
_SMALL_SIDE = 1 << 24
_ITEMS_PER_BYTE = 16
# Others than gzip that people compress files with, by their first bytes.
_OTHER_COMPRESSION = {
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"7z\xbc\xaf\x27\x1c": "7-Zip",
    b"Rar!\x1a\x07": "RAR",
    b"\x04\x22\x4d\x18": "LZ4",
    b"\x1f\x9d": "compress",
}


@dataclass(frozen=True)
class Source:
    """A regular file that can be read.

    Attributes
    ----------
    path : Path
        Where it is.
    size : int
        Bytes on disk.
    is_gzip : bool
        Whether it is compressed, by its first bytes, whatever its name.
    head : bytes
        Its first 64 KiB, unpacked.
    """

    path: Path
    size: int
    is_gzip: bool
    head: bytes

    @classmethod
    def at(cls, path: str | PathLike[str]) -> Source:
        """Look at a file, or say why it cannot be read."""
        path = Path(path)
        try:
            # Asked before opening: to open a pipe is to wait for someone to write to it.
            status = path.stat()
            if stat.S_ISDIR(status.st_mode):
                raise UnreadableFileError(path, "This is a folder.", _file_in(path))
            if not stat.S_ISREG(status.st_mode):
                raise UnreadableFileError(
                    path,
                    "This is a pipe or a device, not a file on disk.",
                    "Write what comes out of it to a file first.",
                )
            with path.open("rb") as file:
                head = file.read(_HEAD_BYTES)
        except (OSError, ValueError) as error:
            raise _unreadable(path, error) from error
        if not head:
            raise FormatError(path, "The file is empty.", "Was it written completely?")
        for magic, name in _OTHER_COMPRESSION.items():
            if head.startswith(magic):
                raise FormatError(path, f"The file is compressed with {name}.", "Unpack it first.")
        is_gzip = head.startswith(_GZIP)
        source = cls(path, status.st_size, is_gzip, head)
        if is_gzip:
            with source.open() as unpacked:
                source = cls(path, status.st_size, is_gzip, unpacked.read(_HEAD_BYTES))
            if not source.head:
                raise FormatError(
                    path, "Unpacked, the file is empty.", "Was it written completely?"
                )
        return source

    @property
    def suffix(self) -> str:
        """The extension of its name in lower case, without `.gz`."""
        name = self.path.name.lower().removesuffix(".gz")
        return Path(name).suffix

    @property
    def most_bytes(self) -> int:
        """Largest number of bytes that it can hold, unpacked."""
        return self.size * _LARGEST_GZIP_RATIO if self.is_gzip else self.size

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Open it for reading bytes, unpacked; whatever goes wrong then is a ReadError."""
        with self.guard(), self.path.open("rb") as file:
            if not self.is_gzip:
                yield file
            else:
                with gzip.GzipFile(fileobj=file) as unpacked:
                    yield cast(BinaryIO, unpacked)

    @contextmanager
    def open_text(self, encoding: str, errors: str = "replace") -> Iterator[TextIO]:
        """Open it for reading lines of text, with line ends as they are."""
        with (
            self.open() as file,
            io.TextIOWrapper(file, _decoding(encoding), errors, newline="") as text,
        ):
            yield text

    def small_text(self, most: int, what: str, remedy: str) -> str:
        """Return all of its text, which is UTF-8; refuse more bytes than `what` may have."""
        with self.open() as file:
            data = file.read(most + 1)
        if len(data) > most:
            raise FormatError(self.path, f"The file is too large for {what}.", remedy)
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = data[: error.start].count(b"\n") + 1
            raise FormatError(
                self.path, "The file is not UTF-8.", "Save it as UTF-8.", line=line
            ) from error

    @contextmanager
    def guard(self) -> Iterator[None]:
        """Turn what reading can raise, whoever reads, into a ReadError."""
        try:
            yield
        except (ReadError, WriteError):
            raise
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise FormatError(
                self.path,
                f"The file is truncated or damaged ({str(error).rstrip('.')}).",
                "Copy or download it again.",
            ) from error
        except OSError as error:
            raise _unreadable(self.path, error) from error
        except MemoryError as error:
            raise ReadError(
                self.path,
                "The matrix does not fit into memory.",
                "Keep fewer rows or columns, or store it as a sparse matrix.",
            ) from error

    def sha256(self) -> str:
        """Return the digest of the file as it lies on disk."""
        with self.guard(), self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()


def _file_in(folder: Path) -> str:
    """Say which file of a folder to name: the only matrix, as in those of single cells."""
    found = sorted(one.name for one in folder.glob("*.mtx*"))
    return f"Name a file in it: {found[0]}." if len(found) == 1 else "Name a file in it."


def _decoding(encoding: str) -> str:
    """Recognise a byte order mark at the beginning."""
    return "utf-8-sig" if encoding.lower().replace("_", "-") in ("utf-8", "utf8") else encoding


def check_expansion(path: Path, declared: int, stored: int) -> None:
    """Refuse contents that would take far more memory than the file that holds them."""
    if declared > _SMALL_BYTES and declared > _LARGEST_RATIO * stored:
        raise FormatError(
            path,
            f"{stored} bytes of the file claim to hold {declared} bytes of numbers.",
            "If this is intended, unpack it yourself and store the matrix in sparse form.",
        )


def check_shape(path: Path, shape: tuple[int, int], size: int) -> None:
    """Refuse a declared number of rows or columns that no file of this size would need."""
    if min(shape) < 1:
        raise FormatError(
            path,
            f"The matrix has {shape[0]} rows and {shape[1]} columns.",
            "Give it at least one of each.",
        )
    if max(shape) > max(_SMALL_SIDE, _ITEMS_PER_BYTE * size):
        raise FormatError(
            path,
            f"A file of {size} bytes declares {shape[0]} rows and {shape[1]} columns.",
            "Correct the declared size; rows and columns without entries can be left out.",
        )


def _unreadable(path: Path, error: Exception) -> ReadError:
    if isinstance(error, ReadError):
        return error
    if str(path) == "-" and isinstance(error, FileNotFoundError):
        return UnreadableFileError(
            path, "Standard input is not read.", "Write what comes through it to a file first."
        )
    if isinstance(error, FileNotFoundError):
        return UnreadableFileError(path, "There is no such file.", "Check the name and the folder.")
    if isinstance(error, PermissionError):
        return UnreadableFileError(
            path, "You may not read this file.", "Change its permissions or copy it."
        )
    reason = getattr(error, "strerror", None) or str(error)
    return UnreadableFileError(path, f"The file cannot be read ({reason}).", "Check name and disk.")
