"""Arrays that are sent to a card, through memory of the process that it can read by itself."""

from __future__ import annotations

from threading import local
from typing import Any

import numpy as np

__all__ = ["Staging", "send"]

# Bytes that are sent at a time.
_SENT = 1 << 25


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
