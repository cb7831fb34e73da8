"""What goes wrong around a store: sources that end too early, full disks, files that change."""

from __future__ import annotations

import errno
import gzip
import importlib.util
import os
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from stores import CONTAINERS, flip, planted

from neocc.engines.stored import StoredRows
from neocc.io import FormatError, ReadError, WriteError, open_store, write_store
from neocc.io.blocks._manifest import MANIFEST


@pytest.fixture(params=CONTAINERS)
def X(request):
    return planted(request.param, 160, 40)


def contents(store):
    X = StoredRows(store)[:]
    return X.toarray() if sparse.issparse(X) else X


def spoilt_sources(folder):
    """Files and folders that cannot be converted, with words of the one error about each."""
    text = "user,film,stars\n" + "".join(f"{i % 97},{i % 89},{i % 5 + 1}\n" for i in range(9000))
    packed = gzip.compress(text.encode())
    (folder / "cut.csv.gz").write_bytes(packed[: len(packed) // 2])
    (folder / "changed.csv.gz").write_bytes(packed[:-8] + bytes(8))
    (folder / "uneven.csv").write_text("a,b,c\n" + "1,2,3\n" * 9000 + "1,2\n")
    (folder / "folder.csv").mkdir()
    yield "cut.csv.gz", "truncated or damaged"
    yield "changed.csv.gz", "truncated or damaged"
    yield "uneven.csv", "uneven.csv, line 9002"
    yield "folder.csv", "without Parquet files"
    if importlib.util.find_spec("pyarrow"):
        import pyarrow as pa
        from pyarrow import parquet

        (folder / "parts").mkdir()
        for name in ("parts/a.parquet", "parts/b.parquet"):
            parquet.write_table(
                pa.table({"x": np.arange(9000.0), "y": np.ones(9000)}), folder / name
            )
        whole = (folder / "parts/b.parquet").read_bytes()
        for name in ("parts/b.parquet", "cut.parquet"):
            (folder / name).write_bytes(whole[: len(whole) // 2])
        yield "cut.parquet", "not a complete Parquet file"
        yield "parts", r"b\.parquet: The file is not a complete Parquet file"
    (folder / "locked.csv").write_text(text)
    (folder / "locked.csv").chmod(0)
    if not os.access(folder / "locked.csv", os.R_OK):  # the superuser may read it all the same
        yield "locked.csv", "You may not read this file"


def test_sources_that_cannot_be_read_to_the_end(tmp_path):
    (tmp_path / "from").mkdir()
    (tmp_path / "to").mkdir()
    before = write_store(tmp_path / "to" / "store", planted("dense", 160, 40))
    for name, words in spoilt_sources(tmp_path / "from"):
        for options in ({"rows_per_block": 50}, {}):
            with pytest.raises(ReadError, match=words):
                write_store(before.path, tmp_path / "from" / name, force=True, **options)
        assert [path.name for path in before.path.parent.iterdir()] == ["store"]
        assert open_store(before.path).digest == before.digest
        assert (contents(before) == planted("dense", 160, 40)).all()


class SmallDisk:
    """Files that are opened for writing share a little room."""

    def __init__(self, room):
        self.room = room
        self.real = Path.open

    def opened(self, path, mode="r", *args, **kwargs):
        file = self.real(path, mode, *args, **kwargs)
        return _SmallFile(self, file) if mode[0] in "wax" else file


class _SmallFile:
    def __init__(self, disk, file):
        self.disk, self.file = disk, file

    def write(self, data):
        self.disk.room -= len(data)
        if self.disk.room < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return self.file.write(data)

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()


LINES = {
    "triplets": lambda i: f"{i % 97},{i % 89},1",
    "table": lambda i: f"{i},{i % 7},{i % 5}",
    "names": lambda i: f"r{i},{i % 7},{i % 5}",
}


@pytest.mark.parametrize("kind", LINES)
def test_a_disk_that_is_full_while_a_file_is_converted(tmp_path, monkeypatch, kind):
    path = tmp_path / "big.csv"
    path.write_text("\n".join(["name,a,b", *map(LINES[kind], range(8000))]))
    options = {"layout": "triplets" if kind == "triplets" else "table", "force": True}
    store = write_store(tmp_path / "store", path, **options)
    size = sum(file.stat().st_size for file in store.path.iterdir() if file.name != MANIFEST)
    for room in (0, 999, size // 2, size - 99):
        disk = SmallDisk(room)
        with monkeypatch.context() as patch:
            patch.setattr(Path, "open", lambda *args, disk=disk, **kw: disk.opened(*args, **kw))
            with pytest.raises(WriteError, match=r"could not be written \(No space left"):
                write_store(store.path, path, **options)
        assert sorted(file.name for file in tmp_path.iterdir()) == ["big.csv", "store"]
        assert open_store(store.path).digest == store.digest


def test_a_store_that_was_replaced_is_noticed(X, tmp_path):
    """Though the files of the new one are known to be whole."""
    before = write_store(tmp_path / "a", X, rows_per_block=60)
    before.load(0)
    after = write_store(tmp_path / "a", X[::-1], rows_per_block=60, force=True)
    assert after.load(0).shape == (60, 40)
    with pytest.raises(FormatError, match="do not match their checksum"):
        before.load(0)


def test_a_block_replaced_by_one_of_the_same_size_and_time_is_noticed(X, tmp_path):
    store = write_store(tmp_path / "a", X, rows_per_block=80)
    path = store.path / "block-000000.data.npy"
    known = path.stat()
    store.load(0)
    other = tmp_path / "other"
    other.write_bytes(path.read_bytes())
    flip(other)
    os.utime(other, ns=(known.st_atime_ns, known.st_mtime_ns))
    other.replace(path)
    assert path.stat().st_mtime_ns == known.st_mtime_ns
    with pytest.raises(FormatError, match="do not match their checksum"):
        store.load(0)
