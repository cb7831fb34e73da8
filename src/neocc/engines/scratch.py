"""Memory for what one block of rows needs for a moment, used again by the next.

An allocator that gives memory back to the system at once (as on Dask's workers, by their default
settings) makes every large temporary array cost more than the work on it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from threading import Lock

import numpy as np

from neocc._typing import FloatArray

__all__ = ["Scratch"]

# A larger array is not used for so much less.
_TOO_LARGE = 4


class Scratch:
    """Arrays that nobody needs any more."""

    def __init__(self) -> None:
        self._free: list[FloatArray] = []
        self._lock = Lock()

    def take(self, *shape: int) -> FloatArray:
        """Return an array of any content."""
        size = prod(shape)
        with self._lock:
            for place, array in enumerate(self._free):
                if size <= array.size <= _TOO_LARGE * size:
                    del self._free[place]
                    break
            else:
                array = np.empty(size)
        return array[:size].reshape(shape)

    def give_back(self, *arrays: FloatArray) -> None:
        """Say that arrays, or what they are views of, are needed no more."""
        with self._lock:
            for array in arrays:
                whole = array if array.base is None else array.base
                if whole.ndim == 1 and whole.size:
                    self._free.append(whole)

    @contextmanager
    def table(self, *shape: int) -> Iterator[FloatArray]:
        """Lend an array of any content."""
        array = self.take(*shape)
        try:
            yield array
        finally:
            self.give_back(array)
