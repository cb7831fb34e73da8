"""Damaged files of every format are refused by a ReadError, or read as some matrix; never worse."""

from __future__ import annotations

import gzip
from pathlib import Path

import files
import numpy as np
import pytest
from malformed import ARFF
from scipy import sparse

from neocc.io import Matrix, ReadError, read_matrix, write_matrix


def good_files(folder: Path) -> dict[str, Path]:
    """Write a small matrix in every format."""
    rng = np.random.default_rng(0)
    data = rng.normal(size=(12, 7)).round(3)
    data[rng.random(data.shape) < 0.5] = 0
    named = Matrix(data, tuple(f"r{i}" for i in range(12)), tuple(f"c{j}" for j in range(7)))
    paths = {}
    for name in (
        "table.csv",
        "table.tsv.gz",
        "table.parquet",
        "array.mtx",
        "array.npy",
        "array.npz",
    ):
        paths[name] = folder / name
        write_matrix(named, folder / name)
    for name in ("triplets.csv", "triplets.parquet", "entries.mtx", "entries.npz"):
        paths[name] = folder / name
        write_matrix(
            Matrix(sparse.csr_array(data), named.row_names, named.column_names), paths[name]
        )
    paths["dense.h5ad"] = files.write_h5ad(folder / "dense.h5ad", data, form="array")
    paths["sparse.h5ad"] = files.write_h5ad(folder / "sparse.h5ad", data)
    lines = {
        "u.data": "".join(f"{i}\t{i % 3}\t{i % 5}\t881250949\n" for i in range(20)),
        "ratings.dat": "".join(f"{i}::{i % 3}::{i % 5}::881250949\n" for i in range(20)),
        "dense.arff": ARFF + "1,2\n3,4\n" * 5,
        "sparse.arff": ARFF + "{0 1}\n{1 2.5}\n" * 5,
    }
    for name, text in lines.items():
        paths[name] = folder / name
        paths[name].write_text(text)
    return paths


NAMES = (
    *("table.csv", "table.tsv.gz", "table.parquet", "array.mtx", "array.npy", "array.npz"),
    *("triplets.csv", "triplets.parquet", "entries.mtx", "entries.npz"),
    *("u.data", "ratings.dat", "dense.arff", "sparse.arff"),
)
# Their parser, the HDF5 library, does not always survive changed bytes. It knows cut-off files.
ONLY_CUT = ("dense.h5ad", "sparse.h5ad")


def damaged(data: bytes, rng: np.random.Generator) -> bytes:
    """Change, cut, repeat or insert some bytes."""
    out = bytearray(data)
    for _ in range(int(rng.integers(1, 5))):
        if not out:
            break
        place = int(rng.integers(len(out)))
        kind = rng.integers(5)
        if kind == 0:
            out[place] = int(rng.integers(256))
        elif kind == 1:
            del out[place : place + int(rng.integers(1, 40))]
        elif kind == 2:
            out[place:place] = out[place : place + int(rng.integers(1, 40))]
        elif kind == 3:
            out[place:place] = bytes(rng.choice(list(b'0,;\t\n"-.e \x00\xff9'), size=3))
        else:
            del out[place:]
    return bytes(out)


def check(path: Path, data: bytes, rng: np.random.Generator) -> bool:
    """Read damaged data; return whether it was refused."""
    if path.name.endswith(".gz") and rng.random() < 0.5:
        path.write_bytes(gzip.compress(damaged(gzip.decompress(data), rng)))
    else:
        path.write_bytes(damaged(data, rng))
    try:
        matrix = read_matrix(path, missing="zero" if rng.random() < 0.5 else "error")
    except ReadError:
        return True
    values = matrix.data.data if matrix.is_sparse else matrix.data
    assert np.isfinite(values).all()
    assert min(matrix.shape) > 0
    if matrix.is_sparse:
        matrix.data.check_format(full_check=True)
    return False


def test_the_list_of_names_is_complete(tmp_path):
    assert set(good_files(tmp_path)) == {*NAMES, *ONLY_CUT}


@pytest.mark.parametrize("name", NAMES)
def test_damaged_files(name, tmp_path):
    path = good_files(tmp_path)[name]
    read_matrix(path)
    data = path.read_bytes()
    rng = np.random.default_rng(1)
    assert sum(check(path, data, rng) for _ in range(60)) > 5


@pytest.mark.parametrize("name", ONLY_CUT)
def test_files_that_are_cut_off_anywhere(name, tmp_path):
    path = good_files(tmp_path)[name]
    read_matrix(path)
    data = path.read_bytes()
    for end in np.random.default_rng(0).integers(1, len(data) - 1, size=40):
        path.write_bytes(data[:end])
        with pytest.raises(ReadError):
            read_matrix(path)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_many_damaged_files(name, tmp_path):
    path = good_files(tmp_path)[name]
    data = path.read_bytes()
    rng = np.random.default_rng(2)
    for _ in range(3000):
        check(path, data, rng)
