"""Threads for blocks of rows, with results returned in block order."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from traceback import clear_frames
from typing import Any, TypeVar

import joblib
from threadpoolctl import ThreadpoolController

Task = TypeVar("Task")
Result = TypeVar("Result")


class _OneBlasThread:
    """Limits BLAS to one thread while any fit of the process runs.

    The limit is global, so fits in several threads share it: the first sets it, the last lifts it.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._n_users = 0
        self._controller: Any = None
        self._limit: Any = None

    def enter(self) -> None:
        with self._lock:
            if self._n_users == 0:
                self._controller = self._controller or ThreadpoolController()
                self._limit = self._controller.limit(limits=1, user_api="blas")
            self._n_users += 1

    def leave(self) -> None:
        with self._lock:
            self._n_users -= 1
            if self._n_users == 0:
                self._limit.restore_original_limits()


_one_blas_thread = _OneBlasThread()


def effective_n_jobs(n_jobs: int | None) -> int:
    """Return the number of threads to use: all for None, all but a few for negative numbers.

    `OMP_NUM_THREADS` bounds the default, as it does for scikit-learn's own compiled loops.
    """
    available: int = joblib.cpu_count()
    if n_jobs is None:
        limit = os.environ.get("OMP_NUM_THREADS", "")
        return min(available, int(limit)) if limit.isdigit() and int(limit) > 0 else available
    if n_jobs < 0:
        return max(1, available + 1 + n_jobs)
    return n_jobs


class Workers:
    """A pool of threads that lives as long as one fit.

    Meanwhile BLAS is limited to one thread: blocks already run in parallel, and a single thread
    adds the same numbers in the same order on every machine.
    """

    def __init__(self, n_jobs: int | None = None) -> None:
        self.n_jobs = effective_n_jobs(n_jobs)
        self._pool: ThreadPoolExecutor | None = None
        self._closed: list[Callable[[], None]] = []

    def closes(self, close: Callable[[], None]) -> None:
        """Call a function when the fit has ended, however it does."""
        self._closed.append(close)

    def __enter__(self) -> Workers:
        _one_blas_thread.enter()
        if self.n_jobs > 1:
            self._pool = ThreadPoolExecutor(self.n_jobs, thread_name_prefix="neocc")
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        try:
            if self._pool is not None:
                self._pool.shutdown(cancel_futures=True)
                self._pool = None
            if self._closed:
                _forget_frames(error)
            while self._closed:
                self._closed.pop()()
        finally:
            _one_blas_thread.leave()

    def ordered(
        self, function: Callable[[Task], Result], tasks: Sequence[Task]
    ) -> Iterator[Result]:
        """Return `function(task)` of all tasks, in their order, with few of them under way."""
        if self._pool is None or len(tasks) == 1:
            return map(function, tasks)
        return self._in_threads(self._pool, function, tasks)

    def _in_threads(
        self, pool: ThreadPoolExecutor, function: Callable[[Task], Result], tasks: Sequence[Task]
    ) -> Iterator[Result]:
        waiting: deque[Future[Result]] = deque()
        try:
            for task in tasks:
                waiting.append(pool.submit(function, task))
                if len(waiting) > self.n_jobs:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def _forget_frames(error: BaseException | None) -> None:
    """Forget the variables of what has failed, which would keep arrays where they are."""
    while error is not None:
        clear_frames(error.__traceback__)
        error = error.__cause__ or error.__context__
