"""Tasks on the workers of a Dask cluster.

Consecutive blocks share a task and form a unit. Dask decides which worker runs a task, and prefers
the one that holds the unit; the result is the same anywhere. (Tasks tied to workers would wait
forever for workers that have died.) Sums are added along a tree that depends only on the number of
blocks.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from itertools import count
from typing import Any
from weakref import WeakSet

import numpy as np

from neocc._extras import need
from neocc.engines.cluster import remote

# Sums of this many units are added at a time: a power of two, as the sizes of units are.
_FAN_IN = 4
# Total bytes of a value that may be sent along with every task.
_SMALL_BYTES = 1_000_000
# Units are as large as possible while the busiest thread has at most this factor too much work.
_UNEVEN = 1.25


class ClusterLostError(RuntimeError):
    """The connection to a cluster ended, or its workers did, before a fit was done."""


def find_client(where: Any) -> Any:
    """Return the client that an `engine` stands for: itself, or for "dask" the one in use."""
    get_client = need("distributed").get_client
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
    """Group blocks into units of 1, 2, 4, ... consecutive ones: few tasks, evenly distributed."""
    most_blocks = _UNEVEN * -(-n_blocks // n_threads)
    size, larger = 1, 2
    while larger < 2 * n_blocks:
        n_units = -(-n_blocks // larger)
        if larger * -(-n_units // n_threads) <= most_blocks:
            size = larger
        larger *= 2
    return [range(at, min(at + size, n_blocks)) for at in range(0, n_blocks, size)]


class Remote:
    """Results of all units, which stay on the workers: keys of calls, then futures once sent."""

    def __init__(self, tasks: Tasks, keys: list[Any]) -> None:
        self.keys = keys
        self._tasks = tasks

    def __del__(self) -> None:
        # Futures are released with the next message.
        self._tasks.given_up.append(self.keys)


class Tasks:
    """A Dask client, and the calls of an engine that have not been sent to it yet."""

    def __init__(self, client: Any, n_blocks: int) -> None:
        self.client = client
        self._graph: dict[Any, Any] = {}
        self._wanted: WeakSet[Remote] = WeakSet()
        self.given_up: list[Any] = []
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

    def by_unit(self, parts: Sequence[Any]) -> list[list[Any]]:
        """Group parts that belong to shards by unit."""
        return [list(parts[unit.start : unit.stop]) for unit in self.units]

    def share(self, value: Any) -> Any:
        """Return a value as an argument for all units.

        It is sent with every task if it is small or if each worker has one unit. Otherwise it is
        put on a worker, from which the others fetch it: the scheduler would send it several times
        to each.
        """
        n_units = len(self.units)
        if n_units <= self._n_workers or _size(value) * n_units <= _SMALL_BYTES:
            return value
        return self.each("tables", remote.identity, [value]).keys[0]

    def each(
        self,
        word: str,
        function: Callable[..., Any],
        *arguments: Any,
        common: Sequence[Any] = (),
    ) -> Remote:
        """Call a function for each unit.

        An argument is a list with a part for each unit, or the results of earlier calls; common
        ones come last. All calls until `submit` or `gather` are sent to the scheduler in a single
        message, because Dask delays a second one by ten milliseconds.
        """
        shared = [self.share(value) for value in common]
        lists = [part.keys if isinstance(part, Remote) else part for part in arguments]
        name = f"neocc-{word}-{self._token}-{next(self._serial)}"
        results = Remote(self, [(name, number) for number in range(len(lists[0]))])
        for key, *given in zip(results.keys, *lists, strict=True):
            self._graph[key] = (function, *given, *shared)
        self._wanted.add(results)
        return results

    def total(self, parts: Remote) -> Remote:
        """Add the results of all units along a fixed tree, in their order."""
        while len(parts.keys) > 1:
            ranges = range(0, len(parts.keys), _FAN_IN)
            parts = self.each("add", remote.add, [parts.keys[at : at + _FAN_IN] for at in ranges])
        return parts

    def submit(self) -> None:
        """Send all calls; results that are no longer referenced are released after use."""
        import dask

        # Rows in memory have to be sent, however large Dask finds the graph.
        quiet = dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"})
        graph, self._graph = self._graph, {}
        wanted = [each for each in self._wanted if isinstance(each.keys[0], tuple)]
        keys = [key for each in wanted for key in each.keys]
        with self.translated(), quiet:
            futures = self.client.get(graph, keys, sync=False)
        self._wanted.clear()
        # Released now: a message of their own would have delayed this one.
        self.given_up.clear()
        of_key = dict(zip(keys, futures, strict=True))
        for each in wanted:
            each.keys = [of_key[key] for key in each.keys]

    def gather(self, results: Remote) -> list[Any]:
        """Wait for results and fetch them."""
        if self._graph:
            self.submit()
        with self.translated():
            found: list[Any] = self.client.gather(results.keys)
        return found

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Translate errors about lost connections and dead workers."""
        from distributed import KilledWorker
        from distributed.comm import CommClosedError

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
            is_lost = isinstance(error, CancelledError | CommClosedError)
            is_lost = is_lost or self.client.status not in ("running", "newly-created")
            if isinstance(error, ClusterLostError) or not is_lost:
                raise
            raise ClusterLostError(
                f"The connection to the cluster at {_address(self.client)} ended during a fit "
                f"({type(error).__name__}: {error}). Connect again and repeat the fit."
            ) from error


def _size(value: Any) -> int:
    """Return the bytes of an array, or of all arrays that an object holds."""
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    if is_dataclass(value) and not isinstance(value, type):
        return sum(_size(getattr(value, each.name)) for each in fields(value))
    return 0


def _address(client: Any) -> str:
    scheduler = getattr(client, "scheduler", None)
    return str(getattr(scheduler, "address", "an unknown address"))
