"""The files of a block as arrays: read, or mapped into memory."""

from __future__ import annotations

import ctypes
import mmap
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy

from neocc._typing import AnyArray

__all__ = ["mapped", "mapped_whole", "read"]

# Maps all pages at once instead of one fault at a time; Python has no name for it yet.
_MADV_POPULATE_READ = 22


def read(path: Path) -> AnyArray:
    """Read an array into memory."""
    with path.open("rb", buffering=0) as file:
        shape, dtype = _header(file)
        array = np.empty(shape, dtype)
        rest = memoryview(array.reshape(-1).view(np.uint8).data)
        while rest:
            n_read = file.readinto(rest)
            if not n_read:
                raise ValueError("it ends too early")
            rest = rest[n_read:]
    return array


def mapped(path: Path) -> AnyArray:
    """Map an array; its pages go when the array does."""
    with path.open("rb") as file:
        shape, dtype = _header(file)
        offset, count = file.tell(), int(np.prod(shape))
        if not count:
            return np.empty(shape, dtype)
        # Private, writable pages: kernels would be compiled again for read-only arrays.
        mapping = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    return np.frombuffer(mapping, dtype, count, offset).reshape(shape)


def mapped_whole(path: Path) -> AnyArray:
    """Map an array, all pages of which are needed, and have them read."""
    array = mapped(path)
    if array.size:
        _populate(array)
    return array


def _header(file: Any) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Read what is said of an array before its numbers."""
    if npy.read_magic(file) != (1, 0):
        raise ValueError("not an array in NumPy's format 1.0")
    shape, fortran, dtype = npy.read_array_header_1_0(file)
    if fortran or dtype.hasobject:
        raise ValueError("not an array of numbers in C order")
    return shape, dtype


def _populate(array: AnyArray) -> None:
    """Read all pages of a mapped array, while other threads go on.

    The method of `mmap` would hold the interpreter's lock all the time that the disk takes.
    """
    if sys.platform != "linux":
        return
    before = array.ctypes.data % mmap.PAGESIZE
    place = ctypes.c_void_p(array.ctypes.data - before)
    length = ctypes.c_size_t(array.nbytes + before)
    # Linux before 5.14 does not know the second; then the first, a hint, must do.
    for advice in (mmap.MADV_WILLNEED, _MADV_POPULATE_READ):
        ctypes.CDLL(None).madvise(place, length, advice)
