"""What a row step needs of each block of rows, from the data or from what is kept of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from neocc._typing import FloatArray
from neocc.core.objectives import Sums, Tables
from neocc.engines.passes import Rows
from neocc.kernels import Block, Memberships

if TYPE_CHECKING:
    from neocc.engines.memory import MemoryEngine

__all__ = ["RowPass"]


class RowPass:
    """One pass of a row step.

    Sums over the same V as last time are not made again, and the data not read, where distances
    need nothing else.

    Parameters
    ----------
    engine : MemoryEngine
        Where the rows are.
    tables : Tables
        The small tables of the step.
    V : Memberships or None
        The column clusters.
    out : array of shape (n_rows, n_clusters)
        Where products are written.
    """

    def __init__(
        self, engine: MemoryEngine, tables: Tables, V: Memberships | None, out: FloatArray
    ) -> None:
        self._engine, self._tables, self._V, self._out = engine, tables, V, out
        self._kept = self._keeping = None
        # Computed before the pass, whose threads would each begin to.
        self._norms = engine.row_squares() if V is None else None
        if V is not None and tables.product is None:
            sums = engine.kept_row_sums
            self._kept = sums.reached(V)
            if self._kept is None:
                self._keeping = sums.renewed(V, engine.shape, engine.n_stored, engine.space)

    @property
    def reading(self) -> bool:
        """Whether the data are read."""
        return self._kept is None

    @contextmanager
    def gathered(self, rows: Rows) -> Iterator[tuple[Block | None, Sums]]:
        """Lend a block of rows, None if it was not read, and the sums for its distances."""
        width = 0 if self._V is None else self._V.n_clusters
        with self._engine.scratch.table(rows[1] - rows[0], width) as room:
            yield self._gather(rows, room)

    def _gather(self, rows: Rows, room: FloatArray) -> tuple[Block | None, Sums]:
        if self._kept is not None:
            return None, self._kept.between(*rows)
        at, V, keeping = slice(*rows), self._V, self._keeping
        sums = squares = None
        if keeping is not None:
            sums, squares = keeping.sums[at], keeping.squares[at]
        elif V is not None:
            sums, squares = room, np.empty(len(room))
        table = self._tables.product
        products = None if table is None else self._out[at]
        block = self._engine.matrix.block(*rows)
        if keeping is not None and keeping.watch is not None:
            keeping.watch.collect(rows[0], block)
        self._engine.kernels.gather(block, V, table, sums=sums, squares=squares, products=products)
        if squares is None:
            assert self._norms is not None
            squares = self._norms[at]
        return block, Sums(sums, squares, products)

    def finish(self) -> None:
        """Say that the pass is over."""
        if self._keeping is not None:
            self._keeping.finish()
