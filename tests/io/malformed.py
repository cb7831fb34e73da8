"""A table of files that cannot be used, and what must be said about each.

Every case writes its file into an empty folder and returns the path. `kind` says what the file
pretends to be: the input of `read_matrix`, of `load_model` or of `read_record`. The tests of the
command line run the same table.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import pickle
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import files
import numpy as np
from scipy import sparse


@dataclass(frozen=True)
class Case:
    """One bad file.

    Attributes
    ----------
    name : str
        What is bad about it.
    write : callable
        Writes it into a folder and returns its path.
    says : tuple of str
        What the message must contain, besides the name of the file.
    line : int or None
        The line that the message must name.
    kind : {"matrix", "model", "record"}
        What the file pretends to be.
    options : dict
        Options of `read_matrix`.
    around : callable
        A context in which to read.
    """

    name: str
    write: Callable[[Path], Path]
    says: tuple[str, ...]
    line: int | None = None
    kind: Literal["matrix", "model", "record"] = "matrix"
    options: dict[str, Any] = field(default_factory=dict)
    around: Callable[[], Any] = nullcontext


@contextmanager
def without_privileges() -> Iterator[None]:
    """Become nobody for a while: permissions do not hold for root."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def text(name: str, content: str | bytes) -> Callable[[Path], Path]:
    """Write text or bytes as they are; into gzip if the name says so."""
    data = content.encode() if isinstance(content, str) else content

    def write(folder: Path) -> Path:
        path = folder / name
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return write


def cut(write: Callable[[Path], Path], keep: float = 0.6) -> Callable[[Path], Path]:
    """Write a good file, and cut off its end."""

    def write_part(folder: Path) -> Path:
        path = write(folder)
        data = path.read_bytes()
        path.write_bytes(data[: int(keep * len(data))])
        return path

    return write_part


def saved(name: str, array: Any) -> Callable[[Path], Path]:
    return text(name, files.npy_bytes(array))


def csr(**changes: Any) -> Callable[[Path], Path]:
    return lambda folder: files.write_csr(folder / "matrix.npz", **changes)


def mtx(body: str, banner: str = "matrix coordinate real general") -> Callable[[Path], Path]:
    return text("matrix.mtx", f"%%MatrixMarket {banner}\n{body}")


def folder_of_that_name(folder: Path) -> Path:
    (folder / "ratings.csv").mkdir()
    return folder / "ratings.csv"


def pipe(folder: Path) -> Path:
    os.mkfifo(folder / "ratings.csv")
    return folder / "ratings.csv"


def forbidden(folder: Path) -> Path:
    path = text("ratings.csv", "1,2\n3,4\n")(folder)
    path.chmod(0)
    return path


def good_parquet(folder: Path) -> Path:
    import pyarrow as pa
    from pyarrow import parquet

    rng = np.random.default_rng(0)
    path = folder / "table.parquet"
    parquet.write_table(pa.table({f"c{i}": rng.normal(size=500) for i in range(5)}), path)
    return path


def parquet_of(columns: dict[str, list[Any]]) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        import pyarrow as pa
        from pyarrow import parquet

        parquet.write_table(pa.table(columns), folder / "table.parquet")
        return folder / "table.parquet"

    return write


def good_h5ad(folder: Path) -> Path:
    data = np.random.default_rng(0).normal(size=(60, 40))
    return files.write_h5ad(folder / "cells.h5ad", data, form="array")


def h5ad(change: Callable[[Any], None]) -> Callable[[Path], Path]:
    """Write a good sparse file, then change it."""

    def write(folder: Path) -> Path:
        import h5py

        path = files.write_h5ad(folder / "cells.h5ad", np.eye(4))
        with h5py.File(path, "r+") as file:
            change(file)
        return path

    return write


def set_first_index(value: int) -> Callable[[Any], None]:
    def change(file: Any) -> None:
        file["X/indices"][0] = value

    return change


def link_to_another_file(file: Any) -> None:
    import h5py

    del file["X"]
    file["X"] = h5py.ExternalLink("/etc/passwd", "X")


def claim_a_huge_array(file: Any) -> None:
    del file["X"]
    file.create_dataset("X", shape=(10**6, 10**6), dtype="f8", chunks=(1000, 1000))


def good_model(folder: Path) -> Path:
    return files.write_model(folder / "model.neocc")


def model(name: str, change: Callable[[bytes], bytes | None]) -> Callable[[Path], Path]:
    """Write a good model, with one member changed (None: left out)."""
    return lambda folder: files.change_member(good_model(folder), name, change)


def header(change: Callable[[dict[str, Any]], None]) -> Callable[[Path], Path]:
    """Write a good model, with its JSON changed."""

    def changed(data: bytes) -> bytes:
        content = json.loads(data)
        change(content)
        return json.dumps(content).encode()

    return model("model.json", changed)


def replace(**values: Any) -> Callable[[Path], Path]:
    return header(lambda content: content.update(values))


def attribute(name: str, value: Any) -> Callable[[Path], Path]:
    return header(lambda content: content["attributes"].update({name: value}))


def without(name: str) -> Callable[[Path], Path]:
    return header(lambda content: content["attributes"].pop(name))


def row_model(change: Callable[[dict[str, Any]], None]) -> Callable[[Path], Path]:
    return header(lambda content: change(content["attributes"]["_row_model"]["RowModel"]))


def bomb(folder: Path) -> Path:
    """Write a megabyte that unpacks to a gigabyte."""
    return files.write_bomb(folder / "model.neocc", "model.json", b"", 1 << 10)


def npz_bomb(folder: Path) -> Path:
    """Write half a megabyte that unpacks to half a gigabyte of zeros, honestly declared."""
    declared = b"{'descr': '<f8', 'fortran_order': False, 'shape': (8192, 8192)}"
    start = files.npy_bytes(header=declared)
    return files.write_bomb(folder / "matrix.npz", "data.npy", start, 1 << 9)


def model_with_member(name: str) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        path = good_model(folder)
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr(name, b"root::0:0:::")
        return path

    return write


def without_first_array(content: dict[str, Any]) -> None:
    content["V"]["Memberships"]["first"] = {"array": "array999.npy"}


def out_of_range_cluster(data: bytes) -> bytes:
    array = np.load(io.BytesIO(data)).copy()
    array[0] = 10**6
    return files.npy_bytes(array)


def member_of_v(part: str) -> Callable[[Callable[[bytes], bytes]], Callable[[Path], Path]]:
    """Change the array of a part of the column memberships."""

    def changed(change: Callable[[bytes], bytes]) -> Callable[[Path], Path]:
        def write(folder: Path) -> Path:
            path = good_model(folder)
            with zipfile.ZipFile(path) as archive:
                content = json.loads(archive.read("model.json"))
            held = content["attributes"]["_row_model"]["RowModel"]["V"]["Memberships"]
            return files.change_member(path, held[part]["array"], change)

        return write

    return changed


def broken_gzip(folder: Path) -> Path:
    data = bytearray(gzip.compress(b"1,2,3\n" * 5000))
    data[-6] ^= 0xFF
    (folder / "r.csv.gz").write_bytes(bytes(data))
    return folder / "r.csv.gz"


def workbook(folder: Path) -> Path:
    path = folder / "book.ods"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("content.xml", "<office/>")
    return path


def other_zip(folder: Path) -> Path:
    path = folder / "model.neocc"
    sparse.save_npz(folder / "m.npz", sparse.csr_array(np.eye(2)), compressed=False)
    (folder / "m.npz").rename(path)
    return path


ARFF = "@relation r\n@attribute a numeric\n@attribute b numeric\n@data\n"
U_DATA = "1\t2\t3\t881250949\n"
RATINGS = "1::1193::5::978300760\n"
OBJECTS = np.array([[1, "a"], [None, 2.0]], dtype=object)

CASES = [
    # Files as such.
    Case("no such file", lambda folder: folder / "ratings.csv", ("no such file",)),
    Case("folder", folder_of_that_name, ("folder",)),
    Case("pipe", pipe, ("pipe",)),
    Case("no permission", forbidden, ("may not read",), around=without_privileges),
    Case("name with a NUL", lambda folder: folder / "a\0b.csv", ("cannot be read",)),
    Case("empty", text("ratings.csv", ""), ("empty",)),
    Case("empty inside gzip", text("ratings.csv.gz", ""), ("empty",)),
    Case("truncated gzip", cut(text("r.csv.gz", "1,2,3\n" * 5000)), ("truncated",)),
    Case("gzip with a wrong checksum", broken_gzip, ("damaged",)),
    Case("xz", text("r.csv", b"\xfd7zXZ\x00 and so on"), ("xz", "Unpack")),
    Case("picture", text("r.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"), ("format is not one",)),
    Case("binary called csv", text("r.csv", b"\x01\x00\x02\x00" * 9), ("not a text file",)),
    Case("pickle", text("r.pkl", pickle.dumps({"a": np.eye(2)})), ("pickle", "to_csv")),
    # Delimited text.
    Case("header only", text("r.csv", "user,item,rating\n"), ("nothing below",), 1),
    Case("blank lines only", text("r.csv", "\n\n\n"), ("no lines with data",)),
    Case("ragged", text("r.csv", "a,b,c\n1,2,3\n4,5\n6,7,8\n"), ("2 cells", "3"), 3),
    Case("ragged after quoted line ends", text("r.csv", 'a,b\n"x\ny",2\n3\nz,4\n'), ("1 cell",), 4),
    Case(
        "ragged far down",
        text("r.csv", "u,i,v\n" + "1,2,3\n" * 300 + "1,2\n"),
        ("2 cells",),
        302,
        options={"layout": "triplets"},
    ),
    Case(
        "short header",
        text("r.csv", "a,b\n1,2,3,4\n5,6,7,8\n"),
        ("header has 2 cells", "below it 4"),
        1,
        options={"header": True},
    ),
    Case(
        "wrong delimiter",
        text("r.csv", "a;b\n1;2\n3;4\n"),
        ("not a number", "delimiter=';'"),
        1,
        options={"delimiter": ","},
    ),
    Case("UTF-16", text("r.csv", "1,2\n3,4\n".encode("utf-16")), ("UTF-16", "encoding=")),
    Case("Latin-1", text("r.csv", b"name,x,y\ncaf\xe9,1,2\n"), ("'caf\xe9'", "latin-1"), 2),
    Case("Latin-1 header", text("r.csv", b"name,caf\xe9\nx,1\ny,2\n"), ("'caf\xe9'", "latin-1"), 1),
    Case("a blank that does not break", text("r.csv", "a,b\n1,2\n3\u00a0,4\n"), ("\\xa0",), 3),
    Case(
        "separated by blanks",
        text("r.txt", "1 2 3\n4 5\n"),
        ("not a number", "delimiter=' '"),
        1,
    ),
    Case(
        "a comment in every line",
        text("r.csv", "a,b,c,why\n1,2,3,good\n1,3,3,bad\n"),
        ("'good'", 'layout="triplets"', "columns=[...]", "row_names='why'"),
        2,
    ),
    Case("wrong encoding", text("r.csv", b"a,1\nb,\xff2\n"), ("UTF-8",), 2),
    Case("unclosed quote", text("r.csv", 'a,b\n1,2\n"3,4\n5,6\n'), ("quotation mark",), 3),
    Case("blank cell", text("r.csv", "a,b\n1,2\n3,\n"), ("blank", "missing=", "'b'"), 3),
    Case("spaces", text("r.csv", "a,b\n1,2\n3,  \n"), ("spaces only", "missing="), 3),
    Case("NaN", text("r.csv", "a,b\n1,NaN\n3,4\n"), ("no value", "NaN"), 2),
    Case("NA in triplets", text("r.csv", "u,i,v\na,x,1\nb,y,NA\n"), ("no value", "'v'"), 3),
    Case("infinity", text("r.csv", "a,b\n1,2\n3,-inf\n"), ("infinite",), 3),
    Case(
        "infinity with missing as zero",
        text("r.csv", "a,b\n1,\n3,inf\n"),
        ("infinite",),
        3,
        options={"missing": "zero"},
    ),
    Case("too large a number", text("r.csv", "a,b\n1,2\n3,1e999\n"), ("too large",), 3),
    Case("text among numbers", text("r.csv", "a,b\n1,2\n3,x\n5,6\n"), ("'x'", "drop="), 3),
    Case("hexadecimal", text("r.csv", "a,b\n1,2\n3,0x10\n5,6\n"), ("'0x10'",), 3),
    Case(
        "decimal commas",
        text("r.csv", 'a,b\n1.5,"2,5"\n3,"4,5"\n'),
        ("decimal=",),
        2,
        options={"header": True},
    ),
    Case(
        "a second column of text",
        text("r.csv", "name,city,x,y\na,Rome,1,2\nb,Oslo,3,4\n"),
        ("'Rome'", "'city'", "drop="),
        2,
    ),
    Case("text values of triplets", text("r.csv", "u,i,v\na,x,1\nb,y,5\na,y,z\n"), ("'z'",), 4),
    Case("blank id", text("r.csv", "u,i,v\na,x,1\n,y,5\na,y,2\n"), ("blank", "'u'"), 3),
    Case(
        "duplicate ids",
        text("r.csv", "u,i,v\na,x,1\nb,x,3\na,y,2\na,x,2\n"),
        ("twice", "line 2", "duplicates="),
        5,
        options={"duplicates": "error"},
    ),
    Case(
        "two columns as triplets",
        text("r.csv", "u,i\n1,2\n3,4\n"),
        ("three columns",),
        options={"layout": "triplets"},
    ),
    Case(
        "a column that is not there",
        text("r.csv", "u,i,v\n1,2,3\n"),
        ("'stars'", "'u', 'i', 'v'"),
        options={"columns": ["u", "i", "stars"]},
    ),
    Case(
        "a column number that is not there",
        text("r.csv", "u,i,v\n1,2,3\n"),
        ("no column 7",),
        options={"columns": [1, 2, 7]},
    ),
    Case(
        "nothing to drop",
        text("r.csv", "a,b\n1,2\n3,4\n"),
        ("No column matches drop='z*'",),
        options={"drop": ["z*"]},
    ),
    Case("all dropped", text("r.csv", "a,b\n1,2\n"), ("No column",), options={"drop": ["*"]}),
    # MovieLens.
    Case("u.data, missing column", text("u.data", U_DATA + "1\t2\t3\n"), ("tabs",), 2),
    Case("u.data, text", text("u.data", U_DATA + "1\t2\tgood\t881250949\n"), ("'good'",), 2),
    Case("ratings.dat, commas", text("ratings.dat", "1,1193,5,978300760\n"), ("::", "format="), 1),
    Case(
        "ratings.dat, one line with single colons",
        text("ratings.dat", RATINGS + "1:2:3:4:5:6:7\n"),
        ("user::movie",),
        2,
    ),
    Case("ratings.dat, blank rating", text("ratings.dat", RATINGS + "1::2::::9\n"), ("blank",), 2),
    # Matrix Market.
    Case("mtx, no banner", text("m.mtx", "2 2 1\n1 1 1\n"), ("banner",), 1),
    Case("mtx, huge number of rows", mtx("1000000000000 2 1\n1 1 1\n"), ("1000000000000 rows",)),
    Case("mtx, huge number of entries", mtx("9 9 1000000000000\n1 1 1\n"), ("cannot hold",), 2),
    Case("mtx, huge array", mtx("9999999 9999999\n1\n", "matrix array real general"), ("hold",), 2),
    Case("mtx, row out of range", mtx("2 2 2\n1 1 1\n3 1 1\n"), ("outside",), 4),
    Case("mtx, row 0", mtx("2 2 1\n0 1 1\n"), ("outside",), 3),
    Case("mtx, cut off", mtx("2 2 2\n1 1 1\n"), ("found: 1",), 2),
    Case("mtx, text", mtx("2 2 1\n1 1 x\n"), ("not a number",), 3),
    Case("mtx, no size", mtx("1 1 one\n"), ("numbers of rows",), 2),
    Case("mtx, NaN", mtx("2 2 1\n2 1 nan\n"), ("no value", "missing="), 3),
    Case(
        "mtx, complex", mtx("1 1 1\n1 1 1 0\n", "matrix coordinate complex general"), ("complex",)
    ),
    Case("mtx, no rows", mtx("0 2 0\n"), ("0 rows",)),
    Case(
        "mtx, symmetric and not square",
        mtx("1 3 1\n1 3 1.5\n", "matrix coordinate real symmetric"),
        ("not square",),
        2,
    ),
    Case(
        "mtx, duplicates",
        mtx("2 2 2\n1 2 1\n1 2 1\n"),
        ("twice", "line 3"),
        4,
        options={"duplicates": "error"},
    ),
    Case("mtx, NUL bytes", mtx("2 2 1\n1 1 3.\0\0\0\n"), ("not a text file",)),
    Case(
        "mtx, NUL bytes far down",
        mtx("2 2 20001\n" + "1 1 3.0\n" * 20000 + "1 2 3\0\n"),
        ("not a number",),
        20003,
    ),
    Case("mtx, fractional index", mtx("2 2 1\n1.5 1 1\n"), ("not a whole number",), 3),
    Case("mtx, huge index", mtx(f"2 2 1\n{10**30} 1 1\n"), ("not a whole number",), 3),
    Case("mtx, too many entries", mtx("2 2 1\n1 1 1\n2 2 2\n"), ("found: 2",), 2),
    Case("mtx, a fourth column", mtx("2 2 1\n1 1 1 1\n"), ("row column value",), 3),
    Case("mtx, infinity", mtx("2 2 1\n1 1 inf\n"), ("infinite",), 3),
    # NumPy and SciPy.
    Case("npy, objects", saved("m.npy", OBJECTS), ("Python objects", "run code")),
    Case("npy, text", saved("m.npy", np.array([["a", "b"]])), ("text",)),
    Case("npy, complex", saved("m.npy", np.eye(2, dtype=complex)), ("complex",)),
    Case("npy, one dimension", saved("m.npy", np.arange(5.0)), ("(5,)",)),
    Case("npy, no rows", saved("m.npy", np.empty((0, 3))), ("(0, 3)",)),
    Case("npy, NaN", saved("m.npy", np.array([[1, np.nan]])), ("row 1, column 2",)),
    Case("npy, infinity", saved("m.npy", np.array([[1], [np.inf]])), ("row 2, column 1",)),
    Case("npy, cut off", cut(saved("m.npy", np.eye(30))), ("there are",)),
    Case("npy, cut off in the header", cut(saved("m.npy", np.eye(2)), 0.2), ("not a NumPy array",)),
    Case("npy called csv and pickled", saved("m.csv", OBJECTS), ("Python objects",)),
    Case(
        "npy, huge shape",
        text(
            "m.npy",
            files.npy_bytes(
                header=b"{'descr': '<f8', 'fortran_order': False, 'shape': (100000, 10000000)}"
            ),
        ),
        ("shape (100000, 10000000)",),
    ),
    Case(
        "npy, negative shape",
        text(
            "m.npy",
            files.npy_bytes(header=b"{'descr': '<f8', 'fortran_order': False, 'shape': (-2, -4)}"),
        ),
        ("shape (-2, -4)",),
    ),
    Case(
        "npy, code in the header",
        text(
            "m.npy",
            files.npy_bytes(header=b"{'descr': __import__('os').system('false'), 'shape': (1, 1)}"),
        ),
        ("not a NumPy array",),
    ),
    Case("npz, pickles", csr(data=files.npy_bytes(OBJECTS)), ("Python objects",)),
    Case("npz, negative index", csr(indices=np.array([0, -1, 1])), ("index is -1",)),
    Case("npz, index out of range", csr(indices=np.array([0, 2, 99])), ("index is 99",)),
    Case("npz, falling pointers", csr(indptr=np.array([0, 9, 3])), ("pointers",)),
    Case("npz, too few pointers", csr(indptr=np.array([0, 3])), ("need 3 pointers",)),
    Case("npz, huge shape", csr(shape=np.array([2, 10**15])), ("1000000000000000 columns",)),
    Case("npz, negative shape", csr(shape=np.array([-2, 3])), ("-2 rows",)),
    Case("npz, shape of three", csr(shape=np.array([2, 3, 4])), ("shape of a matrix",)),
    Case("npz, floats as indices", csr(indices=np.array([0.0, 2, 1])), ("whole numbers",)),
    Case("npz, complex", csr(data=np.array([1j, 2, 3])), ("complex",)),
    Case("npz, unknown format", csr(format=np.array(b"bsr")), ("'bsr'", "tocsr")),
    Case("npz, NaN", csr(data=np.array([1, np.nan, 2])), ("row 1, column 3",)),
    Case("npz, no data", csr(data=b""), ("not a NumPy array",)),
    Case("npz, cut off", cut(csr()), ("truncated",)),
    Case("npz, bomb", npz_bomb, ("claim to hold",)),
    Case(
        "npz, two arrays",
        lambda folder: files.write_npz(folder / "m.npz", a=np.eye(2), b=np.eye(2)),
        ("one array",),
    ),
    Case("npz, a workbook", workbook, ("OpenDocument", "CSV")),
    # Parquet.
    Case("parquet, cut off", cut(good_parquet), ("not a complete Parquet",)),
    Case("parquet, text", parquet_of({"a": [1.5, 2.5], "b": ["x", "y"]}), ("'b'", "string")),
    Case("parquet, null", parquet_of({"a": [1.5, None], "b": [1.0, 2.0]}), ("row 2", "'a'")),
    Case("parquet, infinity", parquet_of({"a": [1.5, np.inf], "b": [1.0, 2.0]}), ("infinite",)),
    Case("parquet, no rows", parquet_of({"a": []}), ("no rows",)),
    Case("parquet, lists", parquet_of({"a": [[1.0], [2.0]], "b": [1.0, 2.0]}), ("'a'", "list")),
    Case(
        "parquet, blank id",
        parquet_of({"u": ["a", None], "i": ["x", "y"], "v": [1.0, 2.0]}),
        ("'u'", "blank"),
    ),
    Case(
        "parquet, duplicate ids",
        parquet_of({"u": ["a", "a", "b"], "i": ["x", "x", "x"], "v": [1.0, 2.0, 3.0]}),
        ("twice",),
        options={"duplicates": "error"},
    ),
    # AnnData.
    Case("h5ad, cut off", cut(good_h5ad), ("damaged",)),
    Case("h5ad, no X", h5ad(lambda file: file.__delitem__("X")), ("no 'X'",)),
    Case("h5ad, no layer", good_h5ad, ("no 'layers/raw'",), options={"layer": "raw"}),
    Case("h5ad, negative index", h5ad(set_first_index(-1)), ("index is -1",)),
    Case("h5ad, index out of range", h5ad(set_first_index(77)), ("index is 77",)),
    Case("h5ad, link to another file", h5ad(link_to_another_file), ("link to another file",)),
    Case("h5ad, huge array", h5ad(claim_a_huge_array), ("claim to hold",)),
    Case("h5ad, not HDF5", text("cells.h5ad", "hello\n"), ("no HDF5",)),
    # ARFF.
    Case("arff, no data", text("r.arff", "@relation r\n@attribute a numeric\n"), ("no @data",)),
    Case("arff, nothing after @data", text("r.arff", ARFF), ("Nothing follows",), 4),
    Case("arff, missing value", text("r.arff", ARFF + "1,?\n"), ("no value", "'b'"), 5),
    Case(
        "arff, nominal attribute",
        text("r.arff", ARFF.replace("@data", "@attribute c {red,blue,green}\n@data") + "1,2,red\n"),
        ("'c'", "drop="),
        4,
    ),
    Case(
        "arff, date",
        text("r.arff", ARFF.replace("b numeric", "b date") + "1,2020-01-01\n"),
        ("'b'",),
        3,
    ),
    Case("arff, ragged", text("r.arff", ARFF + "1,2\n% a comment\n3\n"), ("1 cell",), 7),
    Case("arff, no type", text("r.arff", "@relation r\n@attribute a\n@data\n1\n"), ("type",), 2),
    Case("arff, stray line", text("r.arff", "@relation r\nhello\n@data\n1\n"), ("'hello'",), 2),
    Case("arff, sparse index", text("r.arff", ARFF + "{0 1, 7 2}\n"), ("'7 2'",), 5),
    Case("arff, sparse missing", text("r.arff", ARFF + "{0 1}\n{1 ?}\n"), ("no value",), 6),
    # Models.
    Case(
        "model, not there", lambda folder: folder / "model.neocc", ("no such file",), kind="model"
    ),
    Case("model, bomb", bomb, ("compressed",), kind="model"),
    Case("model, empty", text("model.neocc", ""), ("empty",), kind="model"),
    Case(
        "model, no objective",
        attribute("objective_", {"float": "nan"}),
        ("'objective_'",),
        kind="model",
    ),
    Case("model, cut off", cut(good_model), ("truncated",), kind="model"),
    Case("model, text", text("model.neocc", "hello\n"), ("not a model file",), kind="model"),
    Case("model, pickle", text("model.neocc", pickle.dumps({})), ("not a model",), kind="model"),
    Case("model, a table", text("model.neocc", "1,2\n3,4\n"), ("not a model",), kind="model"),
    Case("model, another archive", other_zip, ("missing",), kind="model"),
    Case(
        "model, path traversal",
        model_with_member("../../etc/passwd"),
        ("'../../etc/passwd'", "trust"),
        kind="model",
    ),
    Case("model, absolute path", model_with_member("/etc/passwd"), ("trust",), kind="model"),
    Case("model, newer version", replace(version=99), ("version 99", "Install"), kind="model"),
    Case("model, unknown estimator", replace(estimator="Popen"), ("'Popen'",), kind="model"),
    Case("model, other format", replace(format="something"), ("not a model file",), kind="model"),
    Case("model, no parameters", replace(parameters=None), ("'parameters'",), kind="model"),
    Case("model, unknown parameter", replace(parameters={"x": 1}), ("not those of",), kind="model"),
    Case(
        "model, impossible parameter",
        header(lambda content: content["parameters"].update(kernel="rm -rf")),
        ("kernel",),
        kind="model",
    ),
    Case("model, names", replace(column_names=["a"]), ("9 names",), kind="model"),
    Case("model, no JSON", model("model.json", lambda data: data[:50]), ("damaged",), kind="model"),
    Case(
        "model, deep JSON", model("model.json", lambda _: b"[" * 10**6), ("damaged",), kind="model"
    ),
    Case("model, no header", model("model.json", lambda _: None), ("'model.json'",), kind="model"),
    Case("model, an array is missing", row_model(without_first_array), ("999",), kind="model"),
    Case(
        "model, objects in an array",
        model("array0.npy", lambda _: files.npy_bytes(OBJECTS)),
        ("Python objects",),
        kind="model",
    ),
    Case(
        "model, text in an array",
        model("array0.npy", lambda _: files.npy_bytes(np.array(["a"]))),
        ("not numbers",),
        kind="model",
    ),
    Case(
        "model, wrong shape",
        model("array0.npy", lambda _: files.npy_bytes(np.ones((2, 2)))),
        ("wrong type",),
        kind="model",
    ),
    Case(
        "model, column in a cluster that is not there",
        member_of_v("first")(out_of_range_cluster),
        ("not there",),
        kind="model",
    ),
    Case(
        "model, attribute that is a method",
        attribute("predict", 1),
        ("'predict'",),
        kind="model",
    ),
    *(
        Case(f"model, no {name}", without(name), (f"'{name}'", "missing"), kind="model")
        for name in (
            "row_membership_",
            "column_membership_",
            "row_outliers_",
            "block_means_",
            "history_",
            "n_iter_",
        )
    ),
    *(
        Case(f"model, text as {name}", attribute(name, "x"), (f"'{name}'",), kind="model")
        for name in ("row_membership_", "column_estimate_", "history_", "n_iter_", "objective_")
    ),
    Case(
        "model, estimated without an estimate",
        header(lambda content: content["parameters"].update(row_overlap="auto")),
        ("'row_estimate_'",),
        kind="model",
    ),
    Case("model, dunder attribute", attribute("__class__", 1), ("'__class__'",), kind="model"),
    Case("model, no row model", attribute("_row_model", None), ("'_row_model'",), kind="model"),
    Case(
        "model, unknown class",
        attribute("_row_model", {"os.system": {"command": "false"}}),
        ("'os.system'",),
        kind="model",
    ),
    Case("model, columns", attribute("n_features_in_", 10**12), ("does not fit",), kind="model"),
    # Records.
    Case("record, no JSON", text("record.json", "{"), ("not JSON",), kind="record"),
    Case("record, a list", text("record.json", "[1]"), ("not a record",), kind="record"),
    Case(
        "record, newer version",
        text("record.json", '{"format": "neocc record", "version": 7}'),
        ("version 7",),
        kind="record",
    ),
    Case(
        "record, fields",
        text("record.json", '{"format": "neocc record", "version": 1, "x": 2}'),
        ("settings",),
        kind="record",
    ),
    Case(
        "record, wrong type",
        text(
            "record.json",
            '{"format": "neocc record", "version": 1, "settings": 3, "seed": 1, "input": null, '
            '"versions": {}, "created": ""}',
        ),
        ("'settings'",),
        kind="record",
    ),
]
