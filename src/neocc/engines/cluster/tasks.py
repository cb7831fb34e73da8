"""Work handed to the workers of a Dask cluster, and what they found handed back.

Neighbouring blocks share a task: a unit. Which worker a task runs on is left to Dask, which prefers
the one that holds the unit; it never changes what the task returns. (Tasks tied to workers wait for
ever once these have died.) Sums are added up a tree that depends on the number of blocks alone.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any

from neocc.engines.cluster import rows as on_worker

# Sums of so many units are added at a time: a power of two, as the sizes of units are.
_FAN_IN = 4
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
        self._serial = count()
        self._token = uuid.uuid4().hex[:8]
        with self.translated():
            n_threads = sum(client.nthreads().values())
        if n_threads == 0:
            raise ClusterLostError(
                f"The cluster at {_address(client)} has no workers. Start some, or wait for them: "
                "client.wait_for_workers(1)."
            )
        self.units = cut_units(n_blocks, n_threads)

    def share(self, value: Any, word: str = "tables") -> Any:
        """Put a value that all blocks need on the cluster, once."""
        [future] = self.each(word, on_worker.the_same, [value], units=[0])
        return future

    def each(
        self,
        word: str,
        function: Callable[..., Any],
        *arguments: Sequence[Any],
        units: Sequence[int] | None = None,
        **shared: Any,
    ) -> list[Any]:
        """Call a function for all units, or for those with given numbers; return futures."""
        import dask

        numbers = range(len(self.units)) if units is None else units
        name = f"neocc-{word}-{self._token}-{next(self._serial)}"
        keys = [(name, number) for number in numbers]
        # Rows that are given have to be sent, whatever Dask thinks of their size.
        quiet = dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"})
        with self.translated(), quiet:
            futures: list[Any] = self.client.map(function, *arguments, key=keys, **shared)
            return futures

    def total(self, add: Callable[..., Any], futures: list[Any]) -> Any:
        """Add results of all units up a fixed tree, in their order; return a future."""
        width = 1
        while len(futures) > 1:
            groups = [futures[at : at + _FAN_IN] for at in range(0, len(futures), _FAN_IN)]
            width *= _FAN_IN
            firsts = [at * width for at in range(len(groups))]
            futures = self.each("add", add, groups, units=firsts)
        return futures[0]

    def gather(self, futures: Any) -> Any:
        """Wait for results and fetch them."""
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


def _address(client: Any) -> str:
    scheduler = getattr(client, "scheduler", None)
    return str(getattr(scheduler, "address", "an unknown address"))
