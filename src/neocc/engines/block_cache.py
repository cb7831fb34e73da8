"""A cache of blocks: those used last, and the next one, read meanwhile."""

from __future__ import annotations

from collections import OrderedDict
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import Any

from neocc.engines.source import RowSource

__all__ = ["BlockCache"]


class BlockCache:
    """Blocks of a source by number. A pass asks for them in their order, from several threads.

    Parameters
    ----------
    source : RowSource
        Where they come from.
    n_kept : int
        How many are kept; one more is on its way.
    """

    def __init__(self, source: RowSource, n_kept: int) -> None:
        self._source, self._n_kept = source, max(1, n_kept)
        self._kept: OrderedDict[int, Any] = OrderedDict()
        self._coming: dict[int, Future[Any]] = {}
        self._lock = Lock()
        self._reader: ThreadPoolExecutor | None = None

    def find(self, index: int) -> Any:
        """Return a block if it is here, else None."""
        return self._kept.get(index)

    def get(self, index: int) -> Any:
        """Return a block, and begin to read the next one."""
        with self._lock:
            block = self._kept.get(index)
            if block is not None:
                self._kept.move_to_end(index)
                return block
            coming = self._begin(index)
            if index + 1 < len(self._source.entries) and index + 1 not in self._kept:
                self._begin(index + 1)
        try:
            block = coming.result()
        finally:
            with self._lock:
                if self._coming.get(index) is coming:
                    del self._coming[index]
        with self._lock:
            self._kept[index] = block
            self._kept.move_to_end(index)
            while len(self._kept) > self._n_kept:
                self._kept.popitem(last=False)
        return block

    def _begin(self, index: int) -> Future[Any]:
        """Have a block read, unless that is under way."""
        if index not in self._coming:
            if self._reader is None:
                self._reader = ThreadPoolExecutor(1, thread_name_prefix="neocc-reader")
            # A source may have a way of its own to get at what is soon left behind.
            read = getattr(self._source, "read", self._source.load)
            self._coming[index] = self._reader.submit(read, index)
        return self._coming[index]
