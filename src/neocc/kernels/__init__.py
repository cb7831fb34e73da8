"""How a block of rows is computed: two interchangeable sets of the same few functions.

`numpy_` is the reference (NumPy and SciPy, nothing to compile), `numba_` its compiled twin;
`get_kernels` picks a set by name or by the amount of work.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib import import_module
from typing import Protocol, TypeAlias

import numpy as np

from neocc._typing import AnyArray, FloatArray, IntArray, LabelArray
from neocc.kernels.inputs import (
    Base,
    Block,
    Features,
    Parts,
    SetCosts,
    SparseBlock,
    Terms,
    inverse,
)
from neocc.kernels.memberships import Memberships

__all__ = [
    "GPU",
    "KERNEL_NAMES",
    "Base",
    "Block",
    "Features",
    "Kernels",
    "Memberships",
    "Parts",
    "SetCosts",
    "SparseBlock",
    "Terms",
    "get_kernels",
    "inverse",
]

KERNEL_NAMES = ("auto", "numpy", "numba")
GPU = "gpu"
"""What `kernel` calls the cards of a cluster's workers."""

# Entries times iterations below which the reference is done before numba, even with its cache, has
# been loaded; an iteration of the reference costs as much as so many entries besides.
_WORTH_LOADING, _ITERATION = 40_000_000, 5_000

_Members: TypeAlias = Memberships | None
_Table: TypeAlias = FloatArray | None


class Kernels(Protocol):
    """The functions a kernel set provides; see `neocc.kernels.numpy_` for what each computes."""

    def gather(
        self,
        block: Block,
        columns: _Members,
        weights: _Table,
        sums: _Table,
        squares: _Table,
        counts: _Table = None,
    ) -> None:
        """Write the sums of each row over column clusters, and its weighted squares."""

    def scatter(
        self,
        block: Block,
        rows: _Members,
        weights: _Table,
        sums: _Table,
        squares: _Table,
        counts: _Table = None,
    ) -> None:
        """Add the sums of each column over row clusters, and its weighted squares."""

    def move(
        self,
        block: Block,
        before: Memberships,
        now: Memberships,
        some: IntArray,
        sums: _Table,
        squares: _Table,
        counts: _Table = None,
    ) -> None:
        """Add some rows to the sums of the clusters they are in now, not of those they were in."""

    def multiply(self, block: Block, table: FloatArray, out: FloatArray) -> None:
        """Write X P."""

    def multiply_transposed(self, block: Block, table: FloatArray, out: FloatArray) -> None:
        """Add X' P."""

    def score(
        self,
        features: Features,
        terms: Terms,
        members: _Members,
        d: _Table,
        labels: LabelArray,
        minima: FloatArray,
    ) -> float:
        """Find the nearest cluster of each item; return the sum of the distances at `members`."""

    def take_seed(
        self,
        closest: FloatArray,
        left: FloatArray,
        labels: LabelArray,
        number: int,
        tie: float,
        n_kept: int,
    ) -> int:
        """Take the candidate that leaves the least sum of distances from the nearest seed."""

    def best_sets(
        self, d: FloatArray, squares: _Table, costs: SetCosts, curves: FloatArray, sets: AnyArray
    ) -> None:
        """Find the best set of clusters of each size, and its cost."""

    def least_sets(
        self,
        parts: Parts,
        squares: FloatArray,
        anchors: FloatArray,
        curves: FloatArray,
        sets: AnyArray,
    ) -> None:
        """Find the best sets where the nearest cluster of a set counts, part by part."""

    def hull_steps(self, curves: FloatArray, steps: FloatArray) -> None:
        """Write the slopes of the lower convex hull of each curve, step by step."""

    def compared(
        self,
        table: FloatArray,
        weights: tuple[FloatArray, FloatArray],
        labels: LabelArray,
        k: int,
        residual: bool,
    ) -> tuple[FloatArray, float]:
        """Return what columns of cells are compared by, and what is left of them."""

    def move_cells(
        self, points: FloatArray, weights: FloatArray, labels: LabelArray, k: int, least: float
    ) -> tuple[float, int]:
        """Move cells to where that gains most; return what clusters explain, and how many moved."""


@cache
def _compiled_kernels() -> Kernels:
    """Load the compiled kernels.

    In a thread, which Ctrl-C does not reach: it leaves an import half done, and numba cannot be
    imported again after that.
    """
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(_loaded_kernels).result()


def _loaded_kernels() -> Kernels:
    loaded: Kernels = import_module("neocc.kernels.numba_")
    # The first call of a compiled function imports the rest of numba.
    loaded.hull_steps(np.zeros((1, 2)), np.zeros((1, 1)))
    return loaded


def get_kernels(name: str, n_stored: int, n_iterations: int = 40) -> Kernels:
    """Return the kernel set called `name`; `"auto"` loads compiled code only where that pays."""
    work = (n_stored + _ITERATION) * n_iterations
    if name == "numba" or (name == "auto" and work >= _WORTH_LOADING):
        return _compiled_kernels()
    from neocc.kernels import numpy_

    return numpy_
