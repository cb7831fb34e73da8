"""The one loop of the plaid sampler that must run item by item: a Gibbs visit to memberships.

`numpy_` is the reference, `numba_` its compiled twin. Both offer `visit_items` with the
same signature and take the same random numbers, so that they make the same draws.
"""

from __future__ import annotations

from typing import Protocol

from neocc._typing import BoolArray, FloatArray, IntArray

__all__ = ["PlaidKernels", "get_plaid_kernels"]

# Visits of one item to one sub-matrix. Below this many the reference is done before numba, even
# with its cache, has been loaded.
COMPILE_THRESHOLD = 100_000


class PlaidKernels(Protocol):
    """What a set of kernels provides; see `neocc.rivals.plaid.kernels.numpy_` for the meaning."""

    def visit_items(
        self,
        residual: FloatArray,
        observed: FloatArray | None,
        members: BoolArray,
        sizes: IntArray,
        other_starts: IntArray,
        other_items: IntArray,
        theta: FloatArray,
        tau0: float,
        order: IntArray,
        thresholds: FloatArray,
    ) -> None:
        """Draw the memberships of items, one by one, in place."""


def get_plaid_kernels(name: str, n_visits: int) -> PlaidKernels:
    """Return the kernels called `name`; `"auto"` compiles only where compiling pays."""
    if name == "numba" or (name == "auto" and n_visits >= COMPILE_THRESHOLD):
        from neocc.rivals.plaid.kernels import numba_

        return numba_
    from neocc.rivals.plaid.kernels import numpy_

    return numpy_
