"""Block stores: what goes in comes out, and nothing damaged, half-written or odd gets through."""

from __future__ import annotations

import errno
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import io as scipy_io
from scipy import sparse
from stores import CONTAINERS, flip, planted

from neocc import NEOCC
from neocc.engines.stored import StoredRows
from neocc.io import (
    DuplicateEntryError,
    FormatError,
    Matrix,
    ReadError,
    UnreadableFileError,
    WouldOverwriteError,
    WriteError,
    open_store,
    read_matrix,
    write_store,
)
from neocc.io.blocks import _writer
from neocc.io.blocks._manifest import MANIFEST, Manifest, read_manifest


def contents(store):
    X = StoredRows(store)[:]
    return X.toarray() if sparse.issparse(X) else X


def as_dense(X):
    return X.toarray() if sparse.issparse(X) else X


@pytest.fixture(params=CONTAINERS)
def X(request):
    return planted(request.param, 160, 40)


# --------------------------------------------------------------------------------- round trips


@pytest.mark.parametrize("size", [{"rows_per_block": 1}, {"block_size": 999}, {}])
def test_what_goes_in_comes_out(X, tmp_path, size):
    store = write_store(tmp_path / "a", X, row_names=map(str, range(160)), **size)
    assert (contents(store) == as_dense(X)).all()
    assert store.dtype == X.dtype
    assert store.is_sparse == sparse.issparse(X)
    assert store.row_names == tuple(map(str, range(160)))
    assert store.column_names is None
    again = write_store(tmp_path / "b", store, rows_per_block=31)
    assert (contents(again) == as_dense(X)).all()
    assert again.row_names == store.row_names
    totals = store.manifest.totals
    stored = X.data if sparse.issparse(X) else X
    assert totals["sum"] == pytest.approx(stored.sum())
    assert (totals["least"], totals["largest"]) == (stored.min(), stored.max())


def test_blocks_hold_no_more_than_they_may(X, tmp_path):
    store = write_store(tmp_path / "a", X, block_size=3000)
    sizes = [sum(f.stat().st_size for f in store.path.glob(f"block-{i:06d}*")) for i in range(3)]
    assert store.n_blocks > 3
    assert max(sizes) < 3000 + 3 * 128


def test_blocks_may_come_one_at_a_time_and_in_any_form(tmp_path):
    X = planted("sparse", 160, 40)
    made = (X[i : i + 7].tocoo() for i in range(0, 160, 7))
    store = write_store(tmp_path / "a", made, rows_per_block=50, dtype="float32")
    assert store.dtype == np.float32
    assert (contents(store) == X.toarray().astype(np.float32)).all()
    integers = write_store(tmp_path / "b", np.arange(6).reshape(3, 2))
    assert contents(integers).dtype == np.arange(6).dtype


def test_blocks_with_other_columns_are_refused(tmp_path):
    blocks = [np.ones((3, 4)), np.ones((3, 5))]
    with pytest.raises(ValueError, match=r"Block 1 \(from row 3\) has 5 columns, .* have 4"):
        write_store(tmp_path / "a", blocks)
    with pytest.raises(ValueError, match="Block 1 is sparse"):
        write_store(tmp_path / "a", [np.ones((3, 4)), sparse.eye_array(4)], rows_per_block=3)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e200])
def test_values_that_no_fit_could_use_are_refused(X, tmp_path, bad):
    X = X.astype(float)
    X[3, 2] = bad
    with pytest.raises(ValueError, match="row 3, column 2"):
        write_store(tmp_path / "a", X)


@pytest.mark.parametrize("form", ["dense", "float32", "sparse", "masked", "blocks", "matrix"])
def test_missing_cells_are_left_out_where_that_is_asked_for(form, tmp_path):
    X = np.rint(planted("dense", 160, 40)).astype(np.float32 if form == "float32" else np.float64)
    X[np.random.default_rng(0).random(X.shape) < 0.3] = np.nan
    X[7], X[:, 3] = np.nan, np.nan
    there = ~np.isnan(X)
    given = {
        "sparse": lambda: sparse.csr_array((X.ravel(), np.divmod(np.arange(6400), 40))),
        "masked": lambda: np.ma.masked_array(np.nan_to_num(X, nan=99.0), ~there),
        "blocks": lambda: iter([X[:50], X[50:51], X[51:]]),
        "matrix": lambda: Matrix(X),
    }.get(form, lambda: X)
    options = {"rows_per_block": 60}
    place = "row 0" if form == "blocks" else r"row 0, column \d+"
    with pytest.raises(
        ValueError, match=place + r".* write_store\(.*, missing=\"ignore\"\) stores"
    ):
        write_store(tmp_path / "a", given(), **options)
    store = write_store(tmp_path / "a", given(), missing="ignore", **options)
    whole = StoredRows(store)[:]
    assert (store.n_blocks, store.dtype) == (3, X.dtype)
    assert whole.nnz == there.sum()
    assert np.array_equal(whole.toarray()[there], X[there])
    assert (whole.data == 0).any()  # what is observed may be 0
    settings = {"missing": "ignore", "n_init": 2, "refine": False, "random_state": 0}
    one, other = (NEOCC(3, 2, **settings).fit(data) for data in (X, store))
    assert one.objective_ == other.objective_
    assert np.array_equal(one.row_membership_, other.row_membership_)


@pytest.mark.parametrize("kind", ["Float64", "object"])
@pytest.mark.parametrize("in_blocks", [False, True], ids=["whole", "blocks"])
def test_data_frames_with_missing_values_of_their_own_are_stored_as_numbers(
    tmp_path, kind, in_blocks
):
    values = np.array([[1.0, np.nan, 3.0], [4.0, 5.0, np.nan]])
    frame = pd.DataFrame(values).astype(kind)
    given = iter([frame[:1], frame[1:]]) if in_blocks else frame
    store = write_store(tmp_path / "a", given, missing="ignore")
    np.testing.assert_array_equal(store.load(0).data, [1.0, 3.0, 4.0, 5.0])
    whole = write_store(tmp_path / "b", frame.fillna(0.0))
    np.testing.assert_array_equal(whole.load(0), np.nan_to_num(values))


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"missing": "zero"}, "missing"),
        ({"missing": "ignore", "layout": "pairs"}, "layout"),
        ({"layout": "pairs"}, "layout"),
    ],
)
def test_other_options_are_for_files(given, named, tmp_path):
    with pytest.raises(TypeError, match=f"'{named}' is an option for files"):
        write_store(tmp_path / "a", np.eye(3), **given)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rows_per_block": 0}, "rows_per_block must be at least 1"),
        ({"block_size": "big"}, "block_size must be a number of bytes"),
        ({"row_names": ["a"]}, "1 names for 160 rows"),
    ],
)
def test_options_that_make_no_sense(tmp_path, options, words):
    with pytest.raises(ValueError, match=words):
        write_store(tmp_path / "a", planted("dense", 160, 40), **options)


# -------------------------------------------------------------------------------------- damage


def test_a_flipped_byte_is_found_wherever_it_is(X, tmp_path):
    write_store(tmp_path / "a", X, rows_per_block=60, column_names=[str(i) for i in range(40)])
    for path in sorted((tmp_path / "a").glob("block-000001*")):
        for at in (5, 90, -1):
            flip(path, at)
            with pytest.raises(FormatError, match="do not match their checksum"):
                open_store(tmp_path / "a").load(1)
            flip(path, at)
    assert open_store(tmp_path / "a").load(1).shape == (60, 40)
    flip(tmp_path / "a" / "column-names.txt")
    with pytest.raises(FormatError, match="checksum"):
        _ = open_store(tmp_path / "a").column_names
    manifest = tmp_path / "a" / MANIFEST
    text = manifest.read_text()
    for at in range(0, len(text), 37):
        flip(manifest, at)
        with pytest.raises(ReadError):
            open_store(tmp_path / "a")
        flip(manifest, at)


def test_a_store_that_was_not_written_to_the_end(X, tmp_path):
    store = write_store(tmp_path / "a", X, rows_per_block=60)
    text = (store.path / MANIFEST).read_text()
    (store.path / MANIFEST).write_text(text[:200])
    with pytest.raises(FormatError, match="truncated or damaged"):
        open_store(store.path)
    (store.path / MANIFEST).unlink()
    with pytest.raises(FormatError, match="not written completely"):
        open_store(store.path)


def test_a_block_that_is_gone_or_short(X, tmp_path):
    store = write_store(tmp_path / "a", X, rows_per_block=60)
    path = store.path / "block-000000.data.npy"
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(FormatError, match="checksum"):
        store.load(0)
    path.unlink()
    with pytest.raises(FormatError, match="cannot be read"):
        store.load(0)


def test_a_store_of_a_newer_version(X, tmp_path):
    store = write_store(tmp_path / "a", X)
    path = store.path / MANIFEST
    path.write_text(json.dumps({**json.loads(path.read_text()), "version": 2}))
    with pytest.raises(FormatError, match=r"version 2; .* up to 1\. Update neocc"):
        open_store(store.path)


def test_indices_out_of_range_do_not_reach_the_kernels(tmp_path):
    store = write_store(tmp_path / "a", planted("sparse", 160, 40))
    path = store.path / "block-000000.indices.npy"
    checksum = _writer._write_array(path, np.full(store.n_stored, 10**6, dtype=np.int32))
    entry = store.manifest.blocks[0]
    block = type(entry)(entry.n_rows, entry.n_entries, {**entry.checksums, "indices": checksum})
    known = {name: getattr(store.manifest, name) for name in Manifest.__dataclass_fields__}
    hostile = Manifest(**{**known, "blocks": (block,)})
    (store.path / MANIFEST).write_text(json.dumps(hostile.as_json()))
    with pytest.raises(FormatError, match="out of range"):
        open_store(store.path).load(0)


def test_folders_that_are_no_stores(tmp_path):
    with pytest.raises(FormatError, match="not a block store"):
        open_store(tmp_path)
    with pytest.raises(UnreadableFileError, match="no such folder"):
        open_store(tmp_path / "absent")
    (tmp_path / "file").write_text("x")
    with pytest.raises(UnreadableFileError, match="This is a file"):
        open_store(tmp_path / "file")


def test_stores_are_replaced_only_if_asked_and_only_stores(X, tmp_path):
    write_store(tmp_path / "a", X)
    with pytest.raises(WouldOverwriteError):
        write_store(tmp_path / "a", X)
    assert write_store(tmp_path / "a", X[:50], force=True).shape == (50, 40)
    (tmp_path / "a" / "thesis.txt").write_text("years of work")
    with pytest.raises(WouldOverwriteError, match="thesis"):
        write_store(tmp_path / "a", X, force=True)


def test_a_full_disk_leaves_the_store_before_whole(X, tmp_path, monkeypatch):
    store = write_store(tmp_path / "a", X)
    real, written = _writer._write_array, []

    def failing(path, array):
        if len(written) > 4:
            raise OSError(errno.ENOSPC, "No space left on device")
        written.append(path)
        return real(path, array)

    monkeypatch.setattr(_writer, "_write_array", failing)
    with pytest.raises(WriteError, match="No space left on device"):
        write_store(tmp_path / "a", X, rows_per_block=9, force=True)
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert open_store(tmp_path / "a").digest == store.digest


@pytest.mark.skipif(sys.platform == "win32", reason="no limits on files there")
def test_a_limit_on_the_size_of_files_is_a_full_disk(tmp_path):
    lines = "".join(f"{i % 97},{i % 89},1\n" for i in range(8000))
    (tmp_path / "big.csv").write_text("user,film,stars\n" + lines)
    code = (
        "import resource, signal, sys\n"
        "from neocc.io import WriteError, write_store\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))\n"
        "try:\n"
        "    write_store('made', 'big.csv')\n"
        "except WriteError as error:\n"
        "    print(error)\n"
    )
    command = [sys.executable, "-c", code]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "could not be written (File too large)" in ran.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["big.csv"]


# ---------------------------------------------------------------------------------- conversion


def triplets(rng, n=1500, prefix=""):
    cells = rng.permutation(np.unique(rng.integers(60 * 40, size=n)))
    return [f"{prefix}{cell // 40},{cell % 40},{cell % 5 + 1}" for cell in cells]


def same_as_read(path, tmp_path, **options):
    matrix = read_matrix(path, **options)
    store = write_store(tmp_path / "store", path, block_size=2000, force=True, **options)
    assert store.is_sparse == matrix.is_sparse
    assert (contents(store) == as_dense(matrix.data)).all()
    assert (store.row_names, store.column_names) == (matrix.row_names, matrix.column_names)
    assert sorted(store.manifest.notes) == sorted(matrix.notes)
    assert read_manifest(store.path).blocks
    assert not [path for path in store.path.iterdir() if path.is_dir()]
    return store


@pytest.mark.parametrize("prefix", ["", "user "])
def test_triplets_in_any_order(tmp_path, prefix):
    lines = triplets(np.random.default_rng(0), prefix=prefix)
    path = tmp_path / "ratings.csv"
    path.write_text("\n".join(["user,film,stars", *lines]))
    assert same_as_read(path, tmp_path).n_blocks > 4


@pytest.mark.parametrize("duplicates", ["sum", "mean"])
def test_triplets_that_occur_again(tmp_path, duplicates):
    lines = triplets(np.random.default_rng(0))
    path = tmp_path / "ratings.csv"
    path.write_text("\n".join(["user,film,stars", *lines, *lines[:7], "3,4,0"]))
    same_as_read(path, tmp_path, duplicates=duplicates, layout="triplets")
    with pytest.raises(DuplicateEntryError, match="is given twice"):
        write_store(tmp_path / "x", path, duplicates="error", layout="triplets")
    assert not (tmp_path / "x").exists()


def test_tables_with_names_and_missing_cells(tmp_path):
    path = tmp_path / "table.csv"
    rows = [f"r{i},{i},{i / 7},{'' if i % 9 == 0 else i}" for i in range(300)]
    path.write_text("\n".join(["name,a,b,c", *rows]))
    assert same_as_read(path, tmp_path, missing="zero").row_names[-1] == "r299"
    with pytest.raises(ReadError, match="line 2"):
        write_store(tmp_path / "x", path)


@pytest.mark.parametrize("symmetry", ["general", "symmetric"])
def test_matrix_market(tmp_path, symmetry):
    X = sparse.random_array((50, 50), density=0.2, random_state=0)
    X = X + X.T if symmetry == "symmetric" else X
    scipy_io.mmwrite(tmp_path / "m.mtx", X, symmetry=symmetry)
    same_as_read(tmp_path / "m.mtx", tmp_path)
    scipy_io.mmwrite(tmp_path / "array.mtx", np.arange(12.0).reshape(3, 4))
    same_as_read(tmp_path / "array.mtx", tmp_path)


def test_formats_that_are_read_as_a_whole(tmp_path):
    np.save(tmp_path / "m.npy", planted("dense", 160, 40))
    same_as_read(tmp_path / "m.npy", tmp_path)


def test_a_folder_of_parquet_files(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    X = planted("dense", n=90, m=4)
    (tmp_path / "parts").mkdir()
    for i in range(3):
        part = {f"c{j}": X[30 * i : 30 * i + 30, j] for j in range(4)}
        parquet.write_table(pa.table(part), tmp_path / "parts" / f"{i}.parquet")
    store = write_store(tmp_path / "a", tmp_path / "parts", rows_per_block=20)
    assert (contents(store) == X).all()
    assert store.column_names == ("c0", "c1", "c2", "c3")
    parquet.write_table(pa.table({"c0": X[:2, 0], "c1": X[:2, 1]}), tmp_path / "parts" / "9.pq")
    with pytest.raises(FormatError, match=r"9\.pq: Its 2 columns are not the 4"):
        write_store(tmp_path / "b", tmp_path / "parts")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UnreadableFileError, match="without Parquet files"):
        write_store(tmp_path / "b", tmp_path / "empty")


def test_an_unreadable_source(tmp_path):
    with pytest.raises(UnreadableFileError, match="no such file"):
        write_store(tmp_path / "a", tmp_path / "absent.csv")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("dtype", ["int8", "bool", "complex128", "U5", "object", "float16"])
def test_types_that_would_change_numbers_are_refused_and_the_store_before_is_kept(tmp_path, dtype):
    write_store(tmp_path / "a", np.eye(3))
    with pytest.raises(ValueError, match="dtype must be float32 or float64"):
        write_store(tmp_path / "a", np.eye(4), dtype=dtype, force=True)
    assert open_store(tmp_path / "a").shape == (3, 3)


@pytest.mark.parametrize("as_sparse", [False, True])
def test_numbers_that_do_not_fit_the_type_are_refused(tmp_path, as_sparse):
    X = np.array([[1.0, 0.0], [0.0, 1e60], [2.0, 3.0]])
    with pytest.raises(ValueError, match=r"holds 1e\+60, which float32 cannot hold"):
        write_store(tmp_path / "a", sparse.csr_array(X) if as_sparse else X, dtype="float32")
    assert not (tmp_path / "a").exists()


def test_sources_that_are_no_matrix_are_refused(tmp_path):
    with pytest.raises(ValueError, match="two dimensions; got an array of 1"):
        write_store(tmp_path / "a", np.arange(4.0))
    with pytest.raises(TypeError, match="blocks of rows one after the other; got int"):
        write_store(tmp_path / "a", 5)
