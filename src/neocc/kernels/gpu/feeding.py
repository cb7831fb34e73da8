"""Blocks of rows that pass through a card: one is copied there while another is worked on.

Two slots take turns. Rows are copied into memory of the process that the card can read by itself,
and from there by a stream of its own. Neither copy waits for the kernels of the block before, only
for those that read the same slot.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from threading import local
from typing import Any

import numpy as np

from neocc.kernels.inputs import Block, SparseBlock

__all__ = ["feed", "send"]

# Bytes that are sent at a time.
_SENT = 1 << 25


class _Slot:
    """Arrays on the card, each beside one here from which it is filled."""

    def __init__(self, xp: Any, stream: Any) -> None:
        self.xp, self.stream = xp, stream
        self.copied, self.used = xp.cuda.Event(), xp.cuda.Event()
        self.used.record()
        self._pairs: dict[str, tuple[Any, Any]] = {}

    def fill(self, **arrays: Any) -> dict[str, Any]:
        """Copy arrays, which may be converted on the way; return those on the card."""
        # What is here may still be on its way there, what is there still be read.
        self.copied.synchronize()
        for name, array in arrays.items():
            if array is not None and self._size(name) < array.size:
                self._pairs.pop(name, None)
                self._pairs[name] = self._pair(array.size, array.dtype)
                # Kernels may still read what this memory held before.
                self.xp.cuda.get_current_stream().synchronize()
        self.stream.wait_event(self.used)
        found: dict[str, Any] = {}
        for name, array in arrays.items():
            if array is None:
                found[name] = None
                continue
            here, there = (each[: array.size] for each in self._pairs[name])
            here[...] = array.reshape(-1)
            there.set(here, stream=self.stream)
            found[name] = there.reshape(array.shape)
        self.copied.record(self.stream)
        return found

    def _size(self, name: str) -> int:
        return len(self._pairs[name][0]) if name in self._pairs else -1

    def _pair(self, size: int, dtype: Any) -> tuple[Any, Any]:
        return _pinned(self.xp, size, dtype), self.xp.empty(size, dtype=dtype)


def _pinned(xp: Any, size: int, dtype: Any) -> Any:
    """Return an array of this process that the card can read by itself."""
    memory = xp.cuda.alloc_pinned_memory(max(1, size) * np.dtype(dtype).itemsize)
    return np.frombuffer(memory, dtype=dtype, count=size)


class Staging(local):
    """Memory through which small tables are sent without waiting for kernels; one for a thread.

    CuPy would page-lock memory for tables of every new size.
    """

    size = 1 << 20

    def __init__(self, xp: Any) -> None:
        self.xp, self.used = xp, 0
        self._bytes: Any = None

    def put(self, array: Any) -> Any:
        """Return a copy on the card."""
        there = self.xp.empty(array.shape, dtype=array.dtype)
        stream, n_bytes = self.xp.cuda.get_current_stream(), array.nbytes
        if n_bytes > self.size // 4:
            return send(self.xp, array, array.dtype)
        if n_bytes:
            if self._bytes is None:
                self._bytes = _pinned(self.xp, self.size, np.uint8)
            if self.used + n_bytes > self.size:
                # What was sent before may still be on its way.
                stream.synchronize()
                self.used = 0
            here = self._bytes[self.used : self.used + n_bytes].view(array.dtype)
            here = here.reshape(array.shape)
            here[...] = array
            there.set(here, stream=stream)
            self.used += -(-n_bytes // 16) * 16
        return there


def send(xp: Any, array: Any, dtype: Any) -> Any:
    """Return a copy on the card, converted on the way; a part is copied while another is sent."""
    there, flat = xp.empty(array.shape, dtype=dtype), array.reshape(-1)
    step = _SENT // np.dtype(dtype).itemsize
    stream, to = xp.cuda.Stream(non_blocking=True), there.reshape(-1)
    buffers = [_pinned(xp, min(step, flat.size), dtype) for _ in range(2)]
    events = [xp.cuda.Event(), xp.cuda.Event()]
    # Kernels may still read what this memory held before.
    xp.cuda.get_current_stream().synchronize()
    try:
        for number, begin in enumerate(range(0, flat.size, step)):
            buffer, event = buffers[number % 2], events[number % 2]
            event.synchronize()
            part = flat[begin : begin + step]
            buffer[: part.size] = part
            to[begin : begin + step].set(buffer[: part.size], stream=stream)
            event.record(stream)
    finally:
        stream.synchronize()
    return there


def feed(xp: Any, make: Any, blocks: Iterable[Block]) -> Iterator[Any]:
    """Yield what `make` makes of the arrays of each block, which the next but one overwrites."""
    stream = xp.cuda.Stream(non_blocking=True)
    slots = [_Slot(xp, stream), _Slot(xp, stream)]
    waiting: Any = None
    try:
        for number, block in enumerate(blocks):
            slot = slots[number % 2]
            arrays = slot.fill(**_arrays(block))
            if waiting is not None:
                yield _ready(*waiting)
                waiting[0].used.record()
            waiting = slot, make, block, arrays
        if waiting is not None:
            yield _ready(*waiting)
    finally:
        # Nobody else may have this memory while copies or kernels use it.
        stream.synchronize()
        xp.cuda.get_current_stream().synchronize()


def _ready(slot: _Slot, make: Any, block: Block, arrays: dict[str, Any]) -> Any:
    slot.xp.cuda.get_current_stream().wait_event(slot.copied)
    return make(block, arrays)


def _arrays(block: Block) -> dict[str, Any]:
    """Return the arrays of a block as kernels read them."""
    if not isinstance(block, SparseBlock):
        return {"cells": np.asarray(block, dtype=np.float64)}
    at = block.stored()
    indptr = np.asarray(block.indptr, dtype=np.int64)
    return {
        "indptr": indptr - indptr[0],
        "indices": np.asarray(block.indices[at], dtype=np.int32),
        "data": block.data[at],
        "weights": None if block.weights is None else block.weights[at],
    }
