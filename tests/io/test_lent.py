"""Files that the parser of text reads ahead: nobody reads them once a reading has been given up."""

from __future__ import annotations

import io
import subprocess
import sys
import textwrap
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pytest

from neocc.io import ReadError, read_matrix
from neocc.io._options import ReadOptions
from neocc.io._source import Source
from neocc.io.readers._delimited import batches, read_csv
from neocc.io.readers._lent import _Lent
from neocc.io.readers._recognise import recognise

LINES = b"a,b\n" + b"1,2\n" * 50_000


@dataclass(frozen=True)
class Slow(Source):
    """A file that takes its time, and knows when somebody reads it."""

    text: bytes = LINES
    reads: list[float] = field(default_factory=list)

    @contextmanager
    def open(self):
        reads = self.reads

        class File(io.BytesIO):
            def read(self, size=-1):
                time.sleep(0.05)
                reads.append(time.monotonic())
                return super().read(min(size, 10_000))

        yield File(self.text)


def slow(tmp_path, text=LINES) -> Slow:
    path = tmp_path / "slow.csv"
    path.write_bytes(text)
    return Slow(path, len(text), False, text[:1000], text)


def test_nobody_reads_on_after_a_reading_was_given_up(tmp_path):
    source = slow(tmp_path)
    found = batches(source, recognise(source, ReadOptions(), ","), "error")
    next(found)
    found.close()
    n_reads = len(source.reads)
    time.sleep(0.3)
    assert len(source.reads) == n_reads


def test_nobody_reads_on_after_an_error(tmp_path):
    source = slow(tmp_path, LINES[:400] + b"1,x\n" + LINES)
    with pytest.raises(ReadError, match="'x' is not a number"):
        read_csv(source, ReadOptions())
    n_reads = len(source.reads)
    time.sleep(0.3)
    assert len(source.reads) == n_reads


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "latin-1"])
def test_python_can_shut_down_after_a_reading_was_given_up(encoding, tmp_path):
    # A thread that wants to read while Python shuts down aborts the process.
    path = tmp_path / "bad.csv"
    path.write_bytes(LINES.decode().replace("a", "ä").encode(encoding))
    code = f"""
        import io, time
        from neocc.io._options import ReadOptions
        from neocc.io._source import Source
        from neocc.io.readers._delimited import batches
        from neocc.io.readers._recognise import recognise

        class File(io.FileIO):
            def read(self, size=-1):
                time.sleep(0.05)
                return super().read(min(size, 9999))

        io.open = lambda path, *more, **options: File(path)
        source = Source.at({str(path)!r})
        plan = recognise(source, ReadOptions(encoding={encoding!r}), ",")
        import pathlib
        pathlib.Path.open = lambda path, *more: File(path)
        found = batches(source, plan, "error")
        next(found)
        found.close()
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")


def test_text_that_is_cut_within_characters(tmp_path):
    text = ("näme,b\n" + "ä€,2\n" * 3).encode("utf-16")

    @dataclass(frozen=True)
    class Bytewise(Slow):
        @contextmanager
        def open(self):
            class File(io.BytesIO):
                def read(self, size=-1):
                    return super().read(min(size, 33))

            yield File(self.text)

    path = tmp_path / "cut.csv"
    path.write_bytes(text)
    source = Bytewise(path, len(text), False, text, text)
    assert read_csv(source, ReadOptions(encoding="utf-16")).row_names == ("ä€",) * 3


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_text_of_other_encodings_is_never_more_than_asked_for(encoding):
    text = "é漢"[: 1 if encoding == "latin-1" else 2] * 1000
    lent = _Lent(io.BytesIO(text.encode(encoding)), encoding)
    parts = list(iter(partial(lent.read, 100), b""))
    assert max(map(len, parts)) <= 100
    assert b"".join(parts).decode() == text


def test_large_files_of_other_encodings_are_read_whole(tmp_path):
    """Nothing is lost between the blocks in which the parser asks for a file."""
    path, numbers = tmp_path / "large.csv", np.arange(400_000)
    lines = [f"Müller{i},{1000 + i % 7000},{2000 + i % 5000}\n" for i in numbers]
    path.write_text("name,a,b\n" + "".join(lines), encoding="latin-1")
    found = read_matrix(path, encoding="latin-1", row_names=True)
    np.testing.assert_array_equal(
        found.data, np.stack([1000 + numbers % 7000, 2000 + numbers % 5000], 1)
    )
    assert found.row_names[-1] == "Müller399999"
