"""Kernels on a GPU: the functions of `neocc.kernels.numpy_` over arrays that stay on the card.

`cuda` calls the CUDA sources beside it through CuPy. Memberships are `Lists`, blocks of rows are
what `hold` made of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from neocc._typing import FloatArray
from neocc.kernels.gpu.lists import HeldMemberships, Lists
from neocc.kernels.inputs import Block, Features, Parts, SetCosts, Terms

__all__ = ["DeviceKernels", "HeldMemberships", "Lists"]


class DeviceKernels(Protocol):
    """The functions of a device; arrays are those of its module `xp`, but for what is small.

    What has the name of a function of `neocc.kernels.Kernels` computes the same.
    """

    xp: Any

    def put(self, array: Any) -> Any:
        """Return a copy on the device; None for None."""

    def fetch(self, array: Any) -> Any:
        """Return a copy in the memory of this process."""

    def hold(self, block: Block) -> Any:
        """Put rows on the device."""

    def feed(self, blocks: Iterable[Block]) -> Iterator[Any]:
        """Put rows on the device one block after the other, the next while one is worked on.

        What is yielded is gone when the next one is asked for.
        """

    def gather(
        self, block: Any, columns: Lists | None, weights: Any, sums: Any, squares: Any
    ) -> None:
        """Write the sums of each row over column clusters, and its weighted squares."""

    def scatter(
        self, block: Any, rows: Lists | None, weights: Any, sums: Any, squares: Any
    ) -> None:
        """Add the sums of each column over row clusters, and its weighted squares."""

    def gather_observed(self, block: Any, columns: Lists, sums: Any, counts: Any) -> None:
        """Write weighted sums of each row over column clusters, and sums of the weights."""

    def scatter_observed(self, block: Any, rows: Lists, sums: Any, counts: Any) -> None:
        """Add weighted sums of each column over row clusters, and sums of the weights."""

    def multiply(self, block: Any, table: Any, out: Any) -> None:
        """Write X P."""

    def multiply_transposed(self, block: Any, table: Any, out: Any) -> None:
        """Add X' P."""

    def score(
        self,
        features: Features,
        terms: Terms,
        members: Lists | None,
        d: Any,
        labels: Any,
        minima: Any,
    ) -> float:
        """Find the nearest cluster of each item; return the sum of the distances at `members`.

        Features are on the device, terms are not.
        """

    def set_curves(
        self,
        d: Any,
        squares: Any,
        members: Lists | None,
        costs: SetCosts | None,
        curves: Any,
        sets: Any,
        steps: Any,
        present: Any,
    ) -> float:
        """Write the best set of each size, its cost, the price of each step, and present costs.

        Present sets compete with those that are found greedily. Without `costs` lines of `d` go on
        with the distances to pairs of clusters. Returns what the objective has beside the distances
        of present memberships.
        """

    def least_sets(
        self,
        parts: Parts,
        squares: Any,
        minima: Any,
        members: Lists | None,
        curves: Any,
        sets: Any,
        steps: Any,
        present: Any,
    ) -> float:
        """Do the same where the nearest cluster of a set counts, part by part.

        Sums of the parts are on the device. Items are rounded against the smallest distance.
        """

    def follow(self, parts: Parts, squares: Any, minima: Any, members: Lists, items: Any) -> Any:
        """Return which of its clusters each of some items follows in each other cluster."""

    def least(self, block: Any) -> float:
        """Return the smallest entry, 0 if there are none."""

    def sizes(self, lists: Lists) -> FloatArray:
        """Return the total weight of the members of each cluster."""

    def gram(self, lists: Lists) -> FloatArray:
        """Return the inner products of clusters, U'U of weighted memberships."""

    def blocks(self, table: Any, lists: Lists) -> FloatArray:
        """Return the sums of the lines of a table, or of numbers, over clusters: S' V."""

    def diagonal(self, table: Any, lists: Lists) -> FloatArray:
        """Return the diagonal of S' V."""

    def histogram(
        self, values: Any, low: int, high: int, shift: int, most: int
    ) -> tuple[Any, Any, int] | int:
        """Count the keys of values from `low` to `high` by their leading bits.

        Returns the bins that hold any, their counts, and the number of keys below `low`; that
        number alone if more than `most` would be counted.
        """

    def select(self, values: Any, rank: int, first: Any) -> tuple[float, int, int]:
        """Return the value of a rank, how many are smaller, and how many equal it.

        In a table of distances those of `first` memberships are left out, if these are given.
        """

    def near(self, d: Any, first: Any, threshold: float) -> tuple[Any, Any, Any]:
        """Return items and clusters within a threshold, but for first memberships, in order.

        Third, where those of each item begin, and where the last end.
        """
