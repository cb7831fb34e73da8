"""Ctrl-C that waits for what should not be left half done."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

__all__ = ["first_waits"]


@contextmanager
def first_waits(note: Callable[[], Any], doing: str) -> Iterator[None]:
    """Within the block, the first Ctrl-C is noted and says what is being done; a second stops it.

    In other threads, which get no signals, nothing changes; nor where Ctrl-C is ignored.
    """
    usual = signal.getsignal(signal.SIGINT)
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or usual in (None, signal.SIG_IGN):
        yield
        return
    said = f"\nneocc: Interrupted; {doing}. Ctrl-C again stops at once.\n".encode()

    def wait(number: int, frame: Any) -> None:  # noqa: ARG001
        note()
        signal.signal(signal.SIGINT, usual)
        # Not through a progress bar, which may be in the middle of drawing itself.
        with suppress(OSError, ValueError):
            os.write(sys.stderr.fileno(), said)

    signal.signal(signal.SIGINT, wait)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
