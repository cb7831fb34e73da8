"""What workers hold: blocks of rows, tables that all blocks need, new memberships."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from neocc._typing import FloatArray
from neocc.core.objectives import Tables
from neocc.engines.matrix import DenseMatrix, SparseMatrix
from neocc.engines.memory import MemoryEngine
from neocc.engines.scratch import Scratch
from neocc.engines.source import RowSource
from neocc.engines.workers import Workers
from neocc.kernels import Memberships, get_kernels


@dataclass(frozen=True, eq=False)
class GivenRows:
    """Rows that came with the call: they travel to the workers as they are."""

    values: Any

    def load(self, index: int) -> Any:  # noqa: ARG002
        """Return the rows; there is one block."""
        return self.values


@dataclass(frozen=True, eq=False)
class HeldRows:
    """A block of rows on a worker, minus row and column effects if it is dense.

    It travels between workers, and to their disks when memory is short, as the way to get the rows
    from their source: the rows themselves are never sent.
    """

    source: RowSource | GivenRows
    index: int
    kernel: str
    is_dense: bool
    row_effects: FloatArray | None = None
    column_effects: FloatArray | None = None

    @cached_property
    def matrix(self) -> SparseMatrix | DenseMatrix:
        """The rows, read on first use."""
        values = self.source.load(self.index)
        if not self.is_dense:
            return SparseMatrix.from_scipy(values)
        if sparse.issparse(values):
            values = values.data.reshape(values.shape)
        return DenseMatrix(values, self.row_effects, self.column_effects)

    @cached_property
    def norms(self) -> FloatArray:
        """Squared norms of the rows: one-way steps use them every time."""
        (engine,) = engines([self])
        return engine.row_squares()

    @cached_property
    def scratch(self) -> Scratch:
        """Memory for tasks on these rows, one after the other."""
        return Scratch()

    def __getstate__(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in self.__dataclass_fields__}

    def __sizeof__(self) -> int:
        matrix = self.__dict__.get("matrix")
        if isinstance(matrix, SparseMatrix):
            return int(matrix.indptr.nbytes + matrix.indices.nbytes + matrix.data.nbytes)
        return int(matrix.values.nbytes) if isinstance(matrix, DenseMatrix) else 0


def engines(unit: Sequence[HeldRows], *, norms: bool = False) -> Iterator[MemoryEngine]:
    """Put each block of a unit into an engine that runs on this thread."""
    with Workers(1) as workers:
        for held in unit:
            kernels, kept = get_kernels(held.kernel, 0), held.norms if norms else None
            scratch = unit[0].scratch
            yield MemoryEngine(held.matrix, kernels, workers, scratch=scratch, _norms=kept)


@dataclass(frozen=True, eq=False)
class Common:
    """What all blocks need in one pass: small tables, and the memberships of the columns."""

    tables: Any = None
    V: Memberships | None = None

    def __sizeof__(self) -> int:
        held = [] if self.V is None else [self.V.first, self.V.extra_clusters]
        if isinstance(self.tables, Tables):
            held += [table for table in vars(self.tables).values() if table is not None]
        elif isinstance(self.tables, np.ndarray):
            held.append(self.tables)
        return sum(int(each.nbytes) for each in held)


@dataclass(frozen=True, eq=False)
class Settled:
    """New memberships of some blocks, and the objectives of the old ones."""

    members: list[Memberships]
    objectives: list[float]

    def __sizeof__(self) -> int:
        return sum(each.first.nbytes + each.extra_items.nbytes for each in self.members)
