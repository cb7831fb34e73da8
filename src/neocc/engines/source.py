"""Sources of rows that are not in memory: a few numbers about them, and blocks on demand.

`neocc.io` has a source on disk; engines know it by this protocol alone.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np

from neocc._typing import IntArray

__all__ = ["RowSource"]


@runtime_checkable
class RowSource(Protocol):
    """Blocks of rows, one after the other.

    A source is cheap to pickle: it tells a worker how to read the rows and does not hold them.
    All values are finite, and sparse blocks are in canonical form.
    """

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""

    @property
    def n_stored(self) -> int:
        """Number of stored entries."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the numbers."""

    @property
    def is_sparse(self) -> bool:
        """Whether blocks are row-compressed."""

    @property
    def edges(self) -> IntArray:
        """Block i holds rows `edges[i]` to `edges[i + 1]`."""

    @property
    def entries(self) -> IntArray:
        """Number of stored entries of each block."""

    def load(self, index: int) -> Any:
        """Return one block, a `csr_array` or an array; an error if it is damaged."""
