"""A cache of blocks: those used last, and the next one, read meanwhile."""

from __future__ import annotations

from collections import OrderedDict
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import Any

from neocc.engines.source import RowSource

__all__ = ["BlockCache"]


class BlockCache:
    """Blocks of a source by number: those used last, and the next one, read in the background.

    A pass asks for blocks in their order, from several threads.
    """

    def __init__(self, source: RowSource, n_kept: int) -> None:
        self._source, self._n_kept = source, max(1, n_kept)
        self._blocks: OrderedDict[int, Future[Any]] = OrderedDict()
        self._lock = Lock()
        self._reader: ThreadPoolExecutor | None = None

    def find(self, index: int) -> Any:
        """Return a block if it has been read, else None."""
        block = self._blocks.get(index)
        found = block is not None and block.done() and block.exception() is None
        return block.result() if block is not None and found else None

    def get(self, index: int) -> Any:
        """Return a block, and have the next one read."""
        with self._lock:
            block = self._request(index)
            self._read_ahead(index + 1)
            self._blocks.move_to_end(index)
            while len(self._blocks) > self._n_kept + 1:
                self._blocks.popitem(last=False)
        try:
            return block.result()
        except BaseException:
            with self._lock:
                self._blocks.pop(index, None)
            raise

    def _read_ahead(self, index: int) -> None:
        if index < len(self._source.entries):
            self._request(index)

    def _request(self, index: int) -> Future[Any]:
        """Have a block read, unless it is there or under way."""
        if index not in self._blocks:
            if self._reader is None:
                self._reader = ThreadPoolExecutor(1, thread_name_prefix="neocc-reader")
            # A source may have a cheaper way to read what a pass soon leaves behind.
            read = getattr(self._source, "read", self._source.load)
            self._blocks[index] = self._reader.submit(read, index)
        return self._blocks[index]
