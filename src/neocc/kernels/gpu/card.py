"""The card, and the kernels compiled for it."""

from __future__ import annotations

from functools import cache, cached_property
from importlib.resources import files
from typing import Any

import numpy as np

from neocc.kernels.gpu.lines import SparseOnCard
from neocc.kernels.gpu.sending import Staging, send
from neocc.kernels.inputs import Block, SparseBlock

__all__ = ["FLOAT", "INT", "LONG", "Card"]

INT, LONG, FLOAT = np.int32, np.int64, np.float64

# Threads of a block of simple kernels, and those that a multiprocessor runs at once.
_THREADS, _AT_ONCE = 512, 2048
_NULL = np.uintp(0)


class Card:
    """The current card of CuPy."""

    def __init__(self, cupy: Any) -> None:
        self.xp = cupy
        attributes = cupy.cuda.Device().attributes
        self.n_multiprocessors = int(attributes["MultiProcessorCount"])
        self.shared = int(attributes["MaxSharedMemoryPerBlockOptin"])
        self.function = cache(self._load)
        self._staging = Staging(cupy)

    def put(self, array: Any) -> Any:
        """Return a copy on the card of a table that is small; None for None."""
        if array is None or hasattr(array, "get"):
            return array
        return self._staging.put(np.asarray(array))

    def fetch(self, array: Any) -> Any:
        """Return a copy in the memory of this process."""
        return self.xp.asnumpy(array)

    def hold(self, block: Block) -> Any:
        """Put rows on the card."""
        if not isinstance(block, SparseBlock):
            return self.xp.ascontiguousarray(self._there(block, FLOAT))
        at = block.stored()
        indptr = self._there(block.indptr, LONG) - int(block.indptr[0])
        indices, data = self._there(block.indices[at], INT), self._there(block.data[at])
        weights = None if block.weights is None else self._there(block.weights[at])
        return SparseOnCard(self.xp, self.launch, indptr, indices, data, block.n_columns, weights)

    def _there(self, array: Any, dtype: Any = None) -> Any:
        """Return an array on the card, where it may be already."""
        if not hasattr(array, "get"):
            return send(self.xp, array, array.dtype if dtype is None else dtype)
        array = array if dtype is None else array.astype(dtype, copy=False)
        # Vectors of four entries are read at once.
        return array.copy() if array.data.ptr % 16 else array

    def _load(self, source: str, name: str, *options: str) -> Any:
        sources = (files(__package__).joinpath(each) for each in ("common.cu", source))
        code = "".join(each.read_text(encoding="utf-8") for each in sources)
        found = self.xp.RawKernel(code, name, options=("--std=c++14", *options))
        found.max_dynamic_shared_size_bytes = self.shared - found.shared_size_bytes
        return found

    def call(
        self, function: Any, blocks: tuple[int, ...], threads: int, arguments: Any, shared: int = 0
    ) -> None:
        """Call a kernel; tables that are None are null pointers there."""
        given = tuple(_NULL if each is None else each for each in arguments)
        function(blocks, (threads,), given, shared_mem=shared)

    def launch(self, name: str, n: int, *arguments: Any, shared: int = 0, blocks: int = 0) -> None:
        """Call a kernel of `scores.cu`, a thread for each of so many, or with so many blocks."""
        self._launch("scores.cu", name, n, arguments, shared, blocks or -(-n // _THREADS))

    def walk(self, name: str, n: int, *arguments: Any, shared: int = 0) -> None:
        """Call a kernel of `select.cu` that walks over so many."""
        self._launch("select.cu", name, n, arguments, shared, self.few_blocks)

    def _launch(
        self, source: str, name: str, n: int, arguments: Any, shared: int, blocks: int
    ) -> None:
        if n:
            self.call(self.function(source, name), (blocks,), _THREADS, arguments, shared)

    @cached_property
    def few_blocks(self) -> int:
        """Blocks of a kernel that walks over all items, to fill the card."""
        return self.n_multiprocessors * _AT_ONCE // _THREADS
