"""The table of contents of a block store, and what is checked before it is believed.

A store is a folder::

    manifest.json              this table; written last
    block-000000.indptr.npy    row-compressed blocks: three arrays each
    block-000000.indices.npy
    block-000000.data.npy      dense blocks: this one alone, two-dimensional
    row-names.txt              one JSON string per line, where rows have names
    column-names.txt           likewise
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from neocc.io._errors import FormatError, UnreadableFileError

__all__ = [
    "MANIFEST",
    "NAMES_FILES",
    "BlockEntry",
    "Manifest",
    "checksum",
    "file_of",
    "is_store",
    "members_of",
    "read_manifest",
]

MANIFEST = "manifest.json"
NAMES_FILES = {"rows": "row-names.txt", "columns": "column-names.txt"}
_FORMAT = "neocc block store"
_VERSION = 1
_AGAIN = "Write the store again: neocc convert SOURCE STORE."
_CHUNK = 1 << 22


@dataclass(frozen=True)
class BlockEntry:
    """One block: its rows, its stored entries, and the checksum of each of its files."""

    n_rows: int
    n_entries: int
    checksums: Mapping[str, int]


@dataclass(frozen=True)
class Manifest:
    """What a store holds.

    Attributes
    ----------
    shape : pair of int
        Number of rows and of columns.
    dtype : str
        Type of the numbers.
    is_sparse : bool
        Whether blocks are row-compressed.
    blocks : tuple of BlockEntry
        The blocks, in the order of their rows.
    names : dict
        Checksums of the files of names, by side ("rows", "columns").
    totals : dict
        Sum, sum of squares, least and largest of the stored entries.
    notes : tuple of str
        What was recognised and changed when the store was written.
    """

    shape: tuple[int, int]
    dtype: str
    is_sparse: bool
    blocks: tuple[BlockEntry, ...]
    names: Mapping[str, int]
    totals: Mapping[str, float]
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the manifest as it is written, with a digest of itself."""
        content: dict[str, Any] = {
            "format": _FORMAT,
            "version": _VERSION,
            "shape": list(self.shape),
            "dtype": self.dtype,
            "layout": "sparse" if self.is_sparse else "dense",
            "names": dict(self.names),
            "totals": dict(self.totals),
            "notes": list(self.notes),
            "blocks": [
                {"rows": each.n_rows, "entries": each.n_entries, "checksums": dict(each.checksums)}
                for each in self.blocks
            ],
        }
        return {**content, "sha256": _digest(content)}

    @property
    def sha256(self) -> str:
        """Digest of the manifest, and through the checksums in it of the whole store."""
        return str(self.as_json()["sha256"])


def _digest(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def members_of(is_sparse: bool) -> tuple[str, ...]:
    """Return what the files of a block hold."""
    return ("indptr", "indices", "data") if is_sparse else ("data",)


def file_of(index: int, member: str) -> str:
    """Return the name of one file of a block."""
    return f"block-{index:06d}.{member}.npy"


def is_store(path: Path) -> bool:
    """Whether a folder is a block store, whole or not."""
    if (path / MANIFEST).is_file():
        return True
    return path.is_dir() and any(path.glob("block-*.npy"))


def checksum(path: Path) -> int:
    """Return the CRC-32 of a file; it changes with any byte."""
    value = 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            value = zlib.crc32(chunk, value)
    return value


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of a store, or say why the folder cannot be used as one."""
    path = folder / MANIFEST
    content = _content(folder, path)
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise FormatError(path, "This is not the manifest of a block store.", _AGAIN)
    version = content.get("version")
    if not isinstance(version, int) or version > _VERSION:
        raise FormatError(
            path,
            f"The store has version {version}; this neocc knows those up to {_VERSION}.",
            "Update neocc: pip install --upgrade neocc.",
        )
    if content.pop("sha256", None) != _digest(content):
        raise FormatError(path, "The manifest is damaged: its digest does not match.", _AGAIN)
    try:
        return _checked(path, content)
    except FormatError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FormatError(path, f"The manifest lacks something ({error}).", _AGAIN) from error


def _content(folder: Path, path: Path) -> Any:
    if not folder.is_dir():
        problem = "This is a file." if folder.exists() else "There is no such folder."
        raise UnreadableFileError(folder, problem, "Name the folder that `neocc convert` wrote.")
    if not path.exists():
        if is_store(folder):
            raise FormatError(
                folder, "The store has no manifest: it was not written completely.", _AGAIN
            )
        remedy = "Name a file in it, or a folder that `neocc convert` wrote."
        raise FormatError(folder, "This folder is not a block store.", remedy)
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UnreadableFileError(
            path, f"It cannot be read ({error.strerror}).", "Check the permissions and the disk."
        ) from error
    except ValueError as error:
        raise FormatError(path, "The manifest is truncated or damaged.", _AGAIN) from error


def _checked(path: Path, content: dict[str, Any]) -> Manifest:
    n, m = (int(size) for size in content["shape"])
    is_sparse = {"sparse": True, "dense": False}[content["layout"]]
    blocks = tuple(
        BlockEntry(int(one["rows"]), int(one["entries"]), dict(one["checksums"]))
        for one in content["blocks"]
    )
    dtype = np.dtype(content["dtype"])
    wanted = set(members_of(is_sparse))
    good = (
        min(n, m) >= 1
        and dtype.kind in ("f" if is_sparse else "biuf")
        and sum(block.n_rows for block in blocks) == n
        and all(set(block.checksums) == wanted for block in blocks)
        and all(block.n_rows > 0 for block in blocks)
        and all(0 <= block.n_entries <= block.n_rows * m for block in blocks)
    )
    if not good:
        raise FormatError(path, "The blocks that it lists do not make up the matrix.", _AGAIN)
    return Manifest(
        (n, m),
        content["dtype"],
        is_sparse,
        blocks,
        dict(content["names"]),
        dict(content["totals"]),
        tuple(content["notes"]),
    )
