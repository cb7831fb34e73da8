"""Work handed to the workers of a Dask cluster, and what they found handed back.

Neighbouring blocks share a task: a unit. Which worker a task runs on is left to Dask, which prefers
the one that holds the unit; it never changes what the task returns. (Tasks tied to workers wait for
ever once these have died.) Sums are added up a tree that depends on the number of blocks alone.
"""

from __future__ import annotations

import sys
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count
from typing import Any

from neocc.engines.cluster import rows as on_worker

# Sums of so many units are added at a time: a power of two, as the sizes of units are.
_FAN_IN = 4
# What is sent along with every task may be so large, all of them together.
_SMALL_BYTES = 1_000_000
# Units are as large as they can be while the busiest thread has so much more to do than need be.
_UNEVEN = 1.25


class ClusterLostError(RuntimeError):
    """The connection to a cluster ended, or its workers did, before a fit was done."""


def find_client(where: Any) -> Any:
    """Return the client that an `engine` stands for: itself, or for "dask" the one in use."""
    try:
        from distributed import get_client
    except ImportError as error:
        raise ImportError(
            'engine="dask" needs dask and distributed: pip install "neocc[dask]"'
        ) from error
    client = where
    if where == "dask":
        try:
            client = get_client()
        except ValueError as error:
            raise ValueError(
                'engine="dask" runs on the cluster of the current Dask client, and there is none. '
                "Make one first: client = dask.distributed.Client(), for workers on this machine, "
                "or Client(address) for a cluster; or pass the client as engine."
            ) from error
    if client.asynchronous:
        raise ValueError(
            "The Dask client given as engine is asynchronous; a fit needs one made without "
            "asynchronous=True."
        )
    return client


def cut_units(n_blocks: int, n_threads: int) -> list[range]:
    """Put blocks into units of 1, 2, 4, ... consecutive ones: few tasks, evenly spread."""
    most_blocks = _UNEVEN * -(-n_blocks // n_threads)
    size, larger = 1, 2
    while larger < 2 * n_blocks:
        n_units = -(-n_blocks // larger)
        if larger * -(-n_units // n_threads) <= most_blocks:
            size = larger
        larger *= 2
    return [range(at, min(at + size, n_blocks)) for at in range(0, n_blocks, size)]


class Tasks:
    """A Dask client with what all tasks of an engine have in common."""

    def __init__(self, client: Any, n_blocks: int) -> None:
        self.client = client
        self._graph: dict[Any, Any] = {}
        self._let_go: list[Any] = []
        self._serial = count()
        self._token = uuid.uuid4().hex[:8]
        with self.translated():
            n_threads = client.nthreads()
        self._n_workers = len(n_threads)
        if self._n_workers == 0:
            raise ClusterLostError(
                f"The cluster at {_address(client)} has no workers. Start some, or wait for them: "
                "client.wait_for_workers(1)."
            )
        self.units = cut_units(n_blocks, sum(n_threads.values()))

    def share(self, value: Any, word: str = "tables") -> Any:
        """Tell all units of a value; return what is to be given to them.

        A small one travels with every task, and any if there is one unit to a worker. Otherwise it
        is put on a worker, from where the others fetch it: the scheduler would have to send it
        several times to each.
        """
        n_units = len(self.units)
        if n_units <= self._n_workers or sys.getsizeof(value) * n_units <= _SMALL_BYTES:
            return value
        [key] = self.each(word, on_worker.the_same, [value], units=[0])
        return key

    def each(
        self,
        word: str,
        function: Callable[..., Any],
        *arguments: Sequence[Any],
        units: Sequence[int] | None = None,
        **options: Any,
    ) -> list[Any]:
        """Call a function for all units, or for those with given numbers; return their keys.

        An argument of a unit may be the key of another task, a future, or a list of either; lists
        of arguments are as long as there are units. Options are the same for all. Nothing is sent
        before `submit` or `gather`: all tasks until then go to the scheduler in one message, for
        Dask lets the next one wait ten milliseconds.
        """
        numbers = range(len(self.units)) if units is None else units
        name = f"neocc-{word}-{self._token}-{next(self._serial)}"
        keys = [(name, number) for number in numbers]
        call = partial(function, **options) if options else function
        for key, *given in zip(keys, *arguments, strict=True):
            self._graph[key] = (call, *given)
        return keys

    def total(self, add: Callable[..., Any], keys: list[Any]) -> Any:
        """Add results of all units up a fixed tree, in their order; return a key."""
        width = 1
        while len(keys) > 1:
            groups = [keys[at : at + _FAN_IN] for at in range(0, len(keys), _FAN_IN)]
            width *= _FAN_IN
            firsts = [at * width for at in range(len(groups))]
            keys = self.each("add", add, groups, units=firsts)
        return keys[0]

    def submit(self, wanted: Any) -> Any:
        """Send all tasks; return what is wanted, in the same lists, with futures in place of keys.

        What only other tasks need is given up when these are done.
        """
        import dask

        # Rows that are given have to be sent, whatever Dask thinks of their size.
        quiet = dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"})
        graph, self._graph = self._graph, {}
        keys = [key for key in _flat(wanted) if isinstance(key, tuple)]
        with self.translated(), quiet:
            futures = dict(zip(keys, self.client.get(graph, keys, sync=False), strict=True))
        self._let_go = [futures]
        return _replaced(wanted, futures)

    def let_go(self, *futures: Any) -> None:
        """Give futures up with the next message: one of their own would hold that up."""
        self._let_go.append(futures)

    def gather(self, wanted: Any) -> Any:
        """Wait for results and fetch them, given their keys or futures."""
        futures = self.submit(wanted) if self._graph else wanted
        with self.translated():
            return self.client.gather(futures)

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Say what a lost connection or dead workers mean for a fit."""
        from distributed import KilledWorker

        try:
            yield
        except KilledWorker as error:
            raise ClusterLostError(
                f"Dask gave up on a task that was under way when several workers died: {error} "
                "Workers that are killed for using too much memory need smaller blocks or more "
                "memory; where workers come and go, raise Dask's setting "
                "distributed.scheduler.allowed-failures."
            ) from error
        except Exception as error:
            if isinstance(error, ClusterLostError) or not self._is_lost(error):
                raise
            raise ClusterLostError(
                f"The connection to the cluster at {_address(self.client)} ended during a fit "
                f"({type(error).__name__}: {error}). Connect again and repeat the fit."
            ) from error

    def _is_lost(self, error: Exception) -> bool:
        from concurrent.futures import CancelledError

        from distributed.comm import CommClosedError

        lost = isinstance(error, CancelledError | CommClosedError)
        return lost or self.client.status not in ("running", "newly-created")


def _flat(wanted: Any) -> Iterator[Any]:
    """Yield what is in lists of lists."""
    if isinstance(wanted, list):
        for each in wanted:
            yield from _flat(each)
    else:
        yield wanted


def _replaced(wanted: Any, futures: dict[Any, Any]) -> Any:
    """Put futures in the place of keys, in lists of lists."""
    if isinstance(wanted, list):
        return [_replaced(each, futures) for each in wanted]
    return futures[wanted] if isinstance(wanted, tuple) else wanted


def _address(client: Any) -> str:
    scheduler = getattr(client, "scheduler", None)
    return str(getattr(scheduler, "address", "an unknown address"))
