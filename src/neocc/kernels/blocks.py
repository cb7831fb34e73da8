"""A block of consecutive rows as the kernels see it: dense float64, or views into a CSR matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from scipy import sparse

from neocc._typing import AnyArray, FloatArray


@dataclass(frozen=True)
class SparseBlock:
    """Rows of a CSR matrix as views; `indptr` keeps its positions in the whole matrix."""

    indptr: AnyArray
    indices: AnyArray
    data: AnyArray
    n_columns: int

    @property
    def n_rows(self) -> int:
        """Number of rows in the block."""
        return len(self.indptr) - 1

    def stored(self) -> slice:
        """Where the block's entries lie in `indices` and `data`."""
        return slice(int(self.indptr[0]), int(self.indptr[-1]))

    def matrix(self, data: AnyArray | None = None) -> sparse.csr_array:
        """Return the block as a SciPy matrix, with its own values or with `data` in their place."""
        at = self.stored()
        values = self.data[at] if data is None else data
        return sparse.csr_array(
            (values, self.indices[at], self.indptr - self.indptr[0]),
            shape=(self.n_rows, self.n_columns),
        )


Block: TypeAlias = SparseBlock | FloatArray
