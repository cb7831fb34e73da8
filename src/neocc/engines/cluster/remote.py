"""What workers hold and run: shards of rows, several consecutive ones to a task.

All functions here are pure: for the same shards and tables they return the same bits on any worker,
however often they run. This lets Dask recompute lost results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from scipy import sparse

from neocc._typing import FloatArray
from neocc.engines.gpu import WorkerShard, clear_errors
from neocc.engines.matrix import Matrix
from neocc.engines.shard import Shard
from neocc.engines.stored import RowSource
from neocc.engines.workers import Workers
from neocc.kernels import GPU, get_kernels

__all__ = ["HeldShard", "add", "call", "hold", "identity", "subtract"]


@dataclass(frozen=True, eq=False)
class HeldShard:
    """A shard on a worker, minus row and column effects if its kind of matrix has them.

    It travels between workers, and to their disks when memory is short, as `load`, which reads the
    rows from their source. Rows that came with the call are their own source.
    """

    load: Callable[[], Any]
    kernel: str
    kind: type[Matrix]
    row_effects: FloatArray | None = None
    column_effects: FloatArray | None = None

    @cached_property
    def matrix(self) -> Matrix:
        """The rows, read on first use."""
        return self.kind.of_rows(self.load(), self.row_effects, self.column_effects)

    @cached_property
    def shard(self) -> Shard:
        """The shard, on one thread."""
        kind = WorkerShard if self.kernel == GPU else Shard
        return kind(self.matrix, get_kernels(self.kernel, 0), Workers(1))

    def __getstate__(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in self.__dataclass_fields__}

    def __sizeof__(self) -> int:
        if "matrix" not in self.__dict__:
            return 0
        values = self.matrix.values
        parts: tuple[Any, ...] = (values,)
        if sparse.issparse(values):
            parts = (values.data, values.indices, values.indptr)
        return sum(int(part.nbytes) for part in parts)


def identity(value: Any) -> Any:
    """Return a value: the task that puts it on a worker, again if it is lost."""
    return value


def hold(
    rows: Sequence[Any], source: RowSource | None, kernel: str, kind: type[Matrix]
) -> list[HeldShard]:
    """Read the shards of a unit: rows as they are, or blocks of a source by number."""
    get = identity if source is None else source.load
    unit = [HeldShard(partial(get, each), kernel, kind) for each in rows]
    for held in unit:
        held.matrix  # noqa: B018
    return unit


def subtract(
    unit: Sequence[HeldShard], rows: Sequence[FloatArray | None], columns: FloatArray | None
) -> list[HeldShard]:
    """Return the shards of a unit minus row effects, a part for each shard, and column effects."""
    return [
        replace(held, row_effects=part, column_effects=columns)
        for held, part in zip(unit, rows, strict=True)
    ]


def call(collect: Callable[[Iterable[Any]], Any], method: str, n_each: int, *arguments: Any) -> Any:
    """Call a method for all shards of a unit; collect the results in a list, or `add` them.

    The first `n_each` arguments have a part for each shard, of which the first has the method; the
    others are common to all.
    """
    each, common = arguments[:n_each], arguments[n_each:]
    with Workers(1), clear_errors():  # limits BLAS to one thread
        return collect(
            getattr(one.shard if isinstance(one, HeldShard) else one, method)(*parts, *common)
            for one, *parts in zip(*each, strict=True)
        )


def add(parts: Iterable[Any]) -> Any:
    """Add features or tables of consecutive shards or units, up a fixed tree.

    Pairs are added, the sums of these in pairs, and so on, as soon as there are two of a size: sums
    of units of 2, 4, 8, ... shards add up to the same bits as those of the shards.
    """
    waiting: list[tuple[int, Any]] = []
    for part in parts:
        size, total = 1, part
        while waiting and waiting[-1][0] == size:
            total = waiting.pop()[1] + total
            size *= 2
        waiting.append((size, total))
    total = waiting.pop()[1]
    while waiting:
        total = waiting.pop()[1] + total
    return total
