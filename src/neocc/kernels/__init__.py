"""How a block of rows is computed: two interchangeable sets of the same few functions.

`numpy_` is the reference (NumPy and SciPy, nothing to compile), `numba_` the compiled twin for
large sparse matrices. Both offer `gather` (sums along each row of a block) and `scatter` (sums
down each column of a block) with identical signatures; `get_kernels` picks a set by name or by
size.
"""

from __future__ import annotations

from typing import Protocol

from neocc._typing import FloatArray, IntArray
from neocc.kernels.blocks import Block, SparseBlock
from neocc.kernels.memberships import Memberships

__all__ = ["KERNEL_NAMES", "Block", "Kernels", "Memberships", "SparseBlock", "get_kernels"]

KERNEL_NAMES = ("auto", "numpy", "numba")

# Below this many stored entries the reference kernels finish a whole fit before numba is even
# imported.
NUMBA_THRESHOLD = 1_000_000


class Kernels(Protocol):
    """The functions a kernel set provides; see `neocc.kernels.numpy_` for what each computes."""

    def gather(
        self,
        block: Block,
        columns: Memberships | None,
        table: FloatArray | None,
        *,
        sums: FloatArray | None,
        squares: FloatArray | None,
        products: FloatArray | None,
    ) -> None:
        """Write row-wise sums, weighted squares and products of a block."""

    def scatter(
        self,
        block: Block,
        rows: Memberships | None,
        table: FloatArray | None,
        *,
        sums: FloatArray | None,
        squares: FloatArray | None,
        products: FloatArray | None,
    ) -> None:
        """Add column-wise sums, weighted squares and products of a block to the outputs."""

    def nearest(
        self,
        d: FloatArray,
        item_terms: FloatArray,
        cluster_terms: FloatArray,
        squares: FloatArray,
        magnitude: FloatArray,
        members: Memberships | None,
    ) -> tuple[IntArray, FloatArray, float]:
        """Complete the distances in `d` and make them comparable.

        Return argmin and min of each row.
        """


def get_kernels(name: str, n_stored: int) -> Kernels:
    """Return the kernel set called `name`; `"auto"` compiles only where compiling pays."""
    if name == "numba" or (name == "auto" and n_stored >= NUMBA_THRESHOLD):
        from neocc.kernels import numba_

        return numba_
    from neocc.kernels import numpy_

    return numpy_
