"""Files in the hands of the parser of delimited text, which reads ahead on threads of its own."""

from __future__ import annotations

import codecs
import io
import re
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from typing import Any, BinaryIO, cast

from neocc._extras import need
from neocc.io.readers._text import Dialect

__all__ = ["MOST_BYTES", "lend"]

MOST_BYTES = 512 << 20
"""The longest line, and the largest block of lines."""
# A parser that has read far ahead pauses, and does not come for the end of its file.
_LONGEST_WAIT = 1.0
_BUFFER_BYTES = 1 << 16
# Handles of the last files. Whoever lets go of the last reference to one runs Python, and must not
# be a thread of the parser.
_KEPT: deque[Any] = deque(maxlen=8)


@contextmanager
def lend(file: BinaryIO, dialect: Dialect) -> Iterator[Any]:
    """Give the parser a file as UTF-8 without what it does not know, and take it back at the end.

    To close the parser does not stop its threads. One that runs Python code while Python shuts
    down, as it does after an error that ends a command, aborts the process; so none is left that
    could.
    """
    pa = need("pyarrow")

    if dialect.comment or dialect.squeeze:
        file = cast(BinaryIO, _Tidied(file, dialect))
    lent = _Lent(file, dialect.encoding)
    # It copies what is read: to let go of a `bytes` object takes Python, too.
    handle = pa.BufferedInputStream(pa.PythonFile(lent, mode="r"), _BUFFER_BYTES)
    try:
        yield handle
    finally:
        lent.take_back()
        _KEPT.append(handle)


class _Lent(io.RawIOBase):
    """A file of text that ends early when it is taken back."""

    def __init__(self, file: BinaryIO, encoding: str) -> None:
        self._file: BinaryIO | None = file
        codec = codecs.lookup(encoding)
        self._decoder = None if codec.name == "utf-8" else codec.incrementaldecoder()
        self._left = b""  # recoded, and more than was asked for
        self._has_ended = Event()

    def readable(self) -> bool:
        """Say that this is a file to read."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return some bytes, never more than asked for; none at the end."""
        data, file = self._left, self._file
        try:
            if not data and file is not None:
                data = file.read(size)
                if self._decoder is not None:
                    data = self._recoded(file, data, size)
        finally:
            if not data:
                self._has_ended.set()
        self._left = data[size:] if size >= 0 else b""
        return data[:size] if size >= 0 else data

    def _recoded(self, file: BinaryIO, data: bytes, size: int) -> bytes:
        assert self._decoder is not None
        text = self._decoder.decode(data, final=not data)
        while data and not text:  # a part of a character
            data = file.read(size)
            text = self._decoder.decode(data, final=not data)
        return text.encode()

    def take_back(self) -> None:
        """Wait until the parser has seen the end, and so will not come again."""
        self._file, self._left = None, b""
        self._has_ended.wait(_LONGEST_WAIT)


class _Tidied(io.RawIOBase):
    """A file of lines without comments, and with single spaces between cells, as asked for."""

    def __init__(self, file: BinaryIO, dialect: Dialect) -> None:
        self._file = file
        self._dialect = dialect
        self._lines = b""

    def readable(self) -> bool:
        """Say that this is a file to read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer, or a part of it."""
        while not self._lines:
            # Up to the end of a line, so that no run of spaces is split.
            lines = self._file.read(len(buffer)) + self._file.readline(MOST_BYTES)
            if not lines:
                return 0
            self._lines = _tidy(lines, self._dialect)
        part, self._lines = self._lines[: len(buffer)], self._lines[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)


def _tidy(lines: bytes, dialect: Dialect) -> bytes:
    """Take out what the parser does not know."""
    mark = dialect.comment.encode()
    if mark and mark in lines:
        # The line stays, so that lines before the data can be counted; the parser skips blank ones.
        lines = re.sub(rb"^%b.*" % re.escape(mark), b"", lines, flags=re.MULTILINE)
    if dialect.squeeze:
        lines = lines.replace(b"\t", b" ").strip(b" ")
        while b"  " in lines:
            lines = lines.replace(b"  ", b" ")
        for untidy in (b" \n", b" \r", b"\n "):
            lines = lines.replace(untidy, untidy.strip(b" "))
    return lines
