"""Files of data sets that are not part of the package: found or downloaded, and always checked.

A *home* is a folder with one folder per data set, whether somebody filled it by hand or downloads
filled it. A data set is read from there and never unpacked: the loose files, or the archive of its
publisher as it was downloaded.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neocc._extras import need

VARIABLE = "NEOCC_DATA"


class DatasetError(OSError):
    """A data set is not available: no copy, no download, or an invalid file.

    A subclass of :class:`OSError`, which scikit-learn's fetchers raise in the same cases.
    """


@dataclass(frozen=True)
class Collection:
    """The files of one data set: where they come from and what they must be.

    Attributes
    ----------
    title : str
        For messages.
    folder : str
        Name of the folder inside a home.
    url : str
        Public home of the file `download`.
    download : str
        The file to be downloaded: one of the files, or a zip archive of them.
    inside : str
        Folder of the files in the archive.
    checksums : mapping of str to str
        sha256 of every file that may be read, the download included.
    """

    title: str
    folder: str
    url: str
    download: str
    inside: str
    checksums: Mapping[str, str]


@dataclass(frozen=True)
class Files:
    """A folder that holds a data set, at least in part."""

    collection: Collection
    folder: Path

    def read(self, *names: str) -> tuple[str, bytes]:
        """Return name and content of the first of several equivalent files that is there."""
        for name in names:
            if (self.folder / name).exists():
                return name, self._checked(name)
        archive = self.folder / self.collection.download
        if archive.suffix == ".zip" and archive.exists():
            self._checked(archive.name)
            with zipfile.ZipFile(archive) as members:
                there = set(members.namelist())
                for name in names:
                    if self.collection.inside + name in there:
                        return name, members.read(self.collection.inside + name)
        raise DatasetError(
            f"{self.collection.title}: the file {' or '.join(names)} is missing in {self.folder}. "
            f"It comes from {self.collection.url}: put it there, or name another folder with "
            "NEOCC_DATA or data_home."
        )

    def _checked(self, name: str) -> bytes:
        path = self.folder / name
        try:
            content = path.read_bytes()
        except OSError as error:
            raise DatasetError(
                f"{self.collection.title}: cannot read {path}: {error.strerror or error}."
            ) from error
        found, wanted = hashlib.sha256(content).hexdigest(), self.collection.checksums[name]
        if found != wanted:
            raise DatasetError(
                f"{self.collection.title}: {path} is truncated, damaged or another version: the "
                f"sha256 of its {len(content)} bytes is {found}, not {wanted}. Delete it, and copy "
                "or download it again."
            )
        return content


def find_files(
    collection: Collection,
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool | None = None,
) -> Files:
    """Find a data set in a home, or download it into the home.

    The home is `data_home`, else the folder that the environment variable names, else a cache. A
    home that has any file of the data set is left as it is. So is a home that was named, whatever
    it has, unless `download_if_missing` is True: naming one means working offline. That of the
    environment variable is left alone in any case.
    """
    named = os.environ.get(VARIABLE)
    if data_home is not None:
        home = Path(data_home).expanduser()
    elif named:
        home = Path(named).expanduser()
    else:
        home = Path(_pooch(collection).os_cache("neocc"))
    folder = home / collection.folder
    if not any((folder / name).exists() for name in collection.checksums):
        if data_home is None and named:
            raise _not_found(collection, folder, f"{VARIABLE}={named} forbids downloads")
        if download_if_missing is False:
            raise _not_found(collection, folder, "download_if_missing=False forbids downloads")
        if data_home is not None and download_if_missing is None:
            reason = "nothing is downloaded to a data_home without download_if_missing=True"
            raise _not_found(collection, folder, reason)
        _download(collection, folder)
    return Files(collection, folder)


def _not_found(collection: Collection, folder: Path, reason: str) -> DatasetError:
    """All that ends without a copy ends with this one error, which names both ways out."""
    return DatasetError(
        f"{collection.title}: no copy in {folder}, and {reason}. Two ways out: call again with "
        f"network access and without {VARIABLE}, to download {collection.url}; or "
        f"{_way_without_network(collection)}."
    )


def _way_without_network(collection: Collection) -> str:
    return (
        f"set {VARIABLE} (or data_home=) to a folder that holds "
        f"{collection.folder}/{collection.download}"
    )


def _pooch(collection: Collection) -> Any:
    return need("pooch", f"Or {_way_without_network(collection)}.")


def _download(collection: Collection, folder: Path) -> None:
    """Store the checked download in `folder`; leave nothing there if it fails."""
    pooch = _pooch(collection)
    _require_writable(collection, folder)
    try:
        # pooch writes to a temporary file, and renames it once the checksum is right.
        pooch.retrieve(
            collection.url,
            known_hash="sha256:" + collection.checksums[collection.download],
            fname=collection.download,
            path=folder,
        )
    except OSError as error:  # all errors of the connection are
        raise _not_found(collection, folder, f"the download failed ({error})") from error
    except ValueError as error:
        raise DatasetError(
            f"{collection.title}: {collection.url} sent something with the wrong checksum "
            f"({error}). It was not kept. Try again; if it stays wrong, "
            f"{_way_without_network(collection)}."
        ) from error
    finally:
        with suppress(OSError):  # not empty, as it should be
            folder.rmdir()


def _require_writable(collection: Collection, folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise DatasetError(
            f"{collection.title}: cannot write to the cache folder {folder} "
            f"({error.strerror or error}). Name another one with data_home=, or "
            f"{_way_without_network(collection)}."
        ) from error
