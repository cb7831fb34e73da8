"""Files for tests that no writer of the library makes."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from pathlib import Path

import numpy as np
from scipy import sparse

from neocc import MSSR, NEOCC, NEOKMeans
from neocc.io import save_model


def write_h5ad(path: Path, data, rows=None, columns=None, form="csr_matrix", **kwargs) -> Path:
    """Write what anndata writes of a matrix and the names of its two sides."""
    import h5py

    with h5py.File(path, "w") as file:
        write_h5ad_matrix(file, "X", data, form, **kwargs)
        for side, names, size in zip(("obs", "var"), (rows, columns), np.shape(data), strict=True):
            group = file.create_group(side)
            group.attrs["_index"] = "_index"
            index = names or [f"{side}{i}" for i in range(size)]
            group.create_dataset("_index", data=np.array(index, dtype=h5py.string_dtype()))
    return path


def write_h5ad_matrix(parent, name: str, data, form: str, **kwargs) -> None:
    """Write one matrix, dense or compressed, with attributes as anndata writes them."""
    if form == "array":
        dataset = parent.create_dataset(name, data=data, **kwargs)
        dataset.attrs["encoding-type"] = "array"
        return
    kind = sparse.csr_array if form == "csr_matrix" else sparse.csc_array
    matrix = kind(data)
    group = parent.create_group(name)
    group.attrs["encoding-type"] = form
    group.attrs["shape"] = np.array(matrix.shape)
    for part in ("data", "indices", "indptr"):
        group.create_dataset(part, data=getattr(matrix, part))


def npy_bytes(array=None, header: bytes | None = None, body: bytes = b"") -> bytes:
    """Return an array in NumPy's format, or a header of one's own with any body."""
    if header is None:
        buffer = io.BytesIO()
        np.save(buffer, array, allow_pickle=True)
        return buffer.getvalue()
    padded = header + b" " * (63 - (10 + len(header)) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(padded).to_bytes(2, "little") + padded + body


def write_npz(path: Path, **members) -> Path:
    """Write an archive of arrays; bytes are written as they are."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in members.items():
            data = value if isinstance(value, bytes) else npy_bytes(np.asarray(value))
            archive.writestr(f"{name}.npy", data)
    return path


def write_csr(path: Path, **changes) -> Path:
    """Write a small sparse matrix as SciPy does, with some of its parts changed."""
    matrix = sparse.csr_array(np.array([[1.0, 0, 2], [0, 3, 0]]))
    parts = {
        "format": np.array(b"csr"),
        "shape": np.array(matrix.shape),
        "data": matrix.data,
        "indices": matrix.indices,
        "indptr": matrix.indptr,
    }
    return write_npz(path, **{**parts, **changes})


def small_matrix() -> np.ndarray:
    """Return twelve rows and nine columns of noise."""
    return np.random.default_rng(0).normal(size=(12, 9))


def fitted(kind: str = "NEOCC", X=None, **options):
    """Return a small fitted estimator."""
    X = small_matrix() if X is None else X
    if kind == "NEOKMeans":
        return NEOKMeans(3, random_state=0, n_init=2, **options).fit(X)
    cls = {"NEOCC": NEOCC, "MSSR": MSSR}[kind]
    return cls(3, 2, random_state=0, n_init=2, refine=False, **options).fit(X)


def write_model(path: Path) -> Path:
    """Write a small model."""
    save_model(fitted(row_overlap=0.25, row_outliers=0.1), path)
    return path


def change_member(path: Path, name: str, change) -> Path:
    """Replace a member of an archive by what `change` makes of its bytes."""
    with zipfile.ZipFile(path) as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist()}
    members[name] = change(members[name])
    with zipfile.ZipFile(path, "w") as archive:
        for member, data in members.items():
            if data is not None:
                archive.writestr(member, data)
    return path


def write_bomb(path: Path, name: str, start: bytes, mebibytes: int) -> Path:
    """Write an archive with one member: a beginning, then zeros, a thousandth of their size.

    A compressed block of zeros is made once and repeated.
    """
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    data = packer.compress(start) + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    data += block * mebibytes + packer.flush()
    size = len(start) + (mebibytes << 20)
    crc = zlib.crc32(start)
    for _ in range(mebibytes):
        crc = zlib.crc32(bytes(1 << 20), crc)
    common = struct.pack("<HHHHHIIIHH", 20, 0, 8, 0, 33, crc, len(data), size, len(name), 0)
    local = b"PK\3\4" + common + name.encode() + data
    central = b"PK\1\2" + struct.pack("<H", 20) + common
    central += struct.pack("<HHHII", 0, 0, 0, 0, 0) + name.encode()
    end = b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(central), len(local), 0)
    path.write_bytes(local + central + end)
    return path
