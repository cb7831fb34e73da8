"""Files and folders that appear whole or not at all.

They are written beside their place, under a hidden name, and renamed when they are complete.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from uuid import uuid4

from neocc.io._errors import ReadError, WouldOverwriteError, WriteError

__all__ = ["check_free", "check_not_read", "reporting", "whole_file", "whole_folder"]


@contextmanager
def whole_file(path: str | PathLike[str], *, force: bool) -> Iterator[Path]:
    """Yield the path to write to; the file is at `path` once the block ends without an error."""
    path = Path(path)
    with reporting(path):
        if path.is_dir():
            raise WouldOverwriteError(f"{path}: This is a folder. Name a file.")
        partial = _partial(path)
        if path.exists() and not force:
            raise WouldOverwriteError(
                f"{path}: This file already exists. Choose another name, or replace it with "
                "force=True."
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            yield partial
            _flush(partial)
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)


def check_not_read(output: Path | None, *inputs: Path | None) -> None:
    """Refuse to replace a file from which the output is made, whatever the caller may force."""
    there = [path for path in (output, *inputs) if path is not None and path.exists()]
    if output in there and any(output.samefile(path) for path in there if path is not output):
        raise WouldOverwriteError(f"{output}: This file is read, and not replaced. Name another.")


def check_free(
    folder: str | PathLike[str], *, force: bool = False, is_ours: Callable[[Path], bool]
) -> None:
    """Fail now, not after a long fit, if a folder would not be written.

    Parameters
    ----------
    folder : path-like
        Where results will go.
    force : bool, default=False
        Whether an earlier result may be replaced. Nothing else ever is.
    is_ours : callable
        Whether a file in the folder belongs to an earlier result.
    """
    folder = Path(folder)
    with reporting(folder):
        is_there = folder.exists() or folder.is_symlink()
        if is_there and not folder.is_dir():
            raise WouldOverwriteError(f"{folder}: This is a file. Choose another name.")
        found = sorted(folder.iterdir()) if is_there else []
    if found and not force:
        raise WouldOverwriteError(
            f"{folder}: This folder already exists and is not empty. Choose another name, "
            "or replace it with force=True."
        )
    strange = [path.name for path in found if not is_ours(path)]
    if strange:
        raise WouldOverwriteError(
            f"{folder}: The folder holds {strange[0]!r}, which is not part of an earlier result, "
            "and is not replaced. Choose another folder."
        )
    _try_to_write(folder)


def _try_to_write(folder: Path) -> None:
    """Make an empty folder where that of the results will be made, and take it away again."""
    with reporting(folder):
        parent = folder.resolve().parent
        while not parent.exists():
            parent = parent.parent
        trial = _partial(parent / folder.name)
        trial.mkdir()
        trial.rmdir()


@contextmanager
def whole_folder(
    folder: str | PathLike[str], *, force: bool, is_ours: Callable[[Path], bool]
) -> Iterator[Path]:
    """Yield a folder to write to; it is at `folder` once the block ends without an error."""
    folder = Path(folder)
    check_free(folder, force=force, is_ours=is_ours)
    folder = folder.resolve()
    partial = _partial(folder)
    with reporting(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        partial.mkdir()
        try:
            yield partial
            for path in partial.iterdir():
                _flush(path)
            _swap(partial, folder)
        finally:
            shutil.rmtree(partial, ignore_errors=True)


def _swap(new: Path, place: Path) -> None:
    """Put a folder in its place; what was there goes only after that has worked."""
    if not place.exists():
        new.rename(place)
        return
    old = _partial(place)
    place.rename(old)
    try:
        new.rename(place)
    except BaseException:
        old.rename(place)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _partial(path: Path) -> Path:
    return path.with_name(f".{path.name[:100]}.{uuid4().hex[:8]}.partial")


def _flush(path: Path) -> None:
    """Have the system write a file now: some full disks are noticed only then."""
    if path.is_file():
        with path.open("rb+") as file:
            os.fsync(file.fileno())


@contextmanager
def reporting(path: Path) -> Iterator[None]:
    """Turn what writing can raise into a WriteError about a file or folder."""
    try:
        yield
    except (WriteError, ReadError):
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise WriteError(
            f"{path}: It could not be written ({reason}); nothing is left behind. Make room or "
            "choose another place."
        ) from error
