"""The relaxed problem: minimise f'd - trace(Y' K Y) over Y >= 0 and f.

Letters as in the package's docstring. K comes as a function that multiplies it with a table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from neocc._typing import FloatArray
from neocc.core.objectives import inverse
from neocc.core.problem import Counts
from neocc.kernels import Memberships

Product: TypeAlias = Callable[[FloatArray], FloatArray]
"""Multiplies the Gram matrix K with a table of one row per item."""

Point: TypeAlias = tuple[FloatArray, FloatArray]
"""Y, of shape (n, rank), and f, of shape (n,)."""

MOST_VARIABLES = 5_000_000
"""Entries of Y beyond which a problem is refused: L-BFGS-B keeps some 25 vectors of that length."""


@dataclass(frozen=True)
class Relaxation:
    """A relaxed problem in units of its mean cost, so that one penalty suits all data.

    Attributes
    ----------
    counts : Counts
        n, k, T and N1.
    costs : array of shape (n,)
        d, what one membership of each item costs before its cluster explains any of it.
    product : function
        Multiplies K with a table.
    unit : float
        The objective in the units of the data is `unit` times this one.
    """

    counts: Counts
    costs: FloatArray
    product: Product
    unit: float

    @classmethod
    def of(cls, costs: FloatArray, product: Product, counts: Counts) -> Relaxation:
        """Make the problem from d and K as they are, moved to the mean of the items and scaled.

        Where Z e = f the objective does not depend on the origin; elsewhere it would, and a
        far-away origin makes small violations look like large gains.
        """
        n = len(costs)
        towards_mean = product(np.ones((n, 1)))[:, 0] / n
        at_mean = float(towards_mean.mean())
        centred = np.maximum(costs - 2.0 * towards_mean + at_mean, 0.0)
        unit = float(centred.mean()) or 1.0

        def scaled(Y: FloatArray) -> FloatArray:
            z = Y.sum(axis=0)
            KY = product(Y)
            KY -= np.outer(towards_mean, z)
            KY += at_mean * z - towards_mean @ Y
            KY /= unit
            return KY

        return cls(counts, centred / unit, scaled, unit)

    @property
    def trace(self) -> float:
        """Trace of Z: k, or the number of clusters that T memberships can fill at most."""
        return float(min(self.counts.n_clusters, self.counts.n_memberships))

    def objective(self, point: Point) -> float:
        """Return the objective of a point in the units of the data."""
        Y, f = point
        return self.unit * float(f @ self.costs - np.vdot(Y, self.product(Y)))


def point_of(members: Memberships) -> Point:
    """Return (Y, f) of memberships; feasible memberships meet every constraint."""
    return members.indicator * np.sqrt(inverse(members.sizes)), members.weights


def average(points: Sequence[Point]) -> Point:
    """Return a point whose Z and f are the means of those of the points; feasible if they are."""
    tables, numbers = zip(*points, strict=True)
    return np.hstack(tables) / np.sqrt(len(points)), np.mean(numbers, axis=0)


def check_size(counts: Counts, n_columns: int, items: str) -> None:
    """Refuse problems whose Y would be too large; `items` names what is clustered."""
    size = counts.n_items * n_columns
    if size > MOST_VARIABLES:
        raise ValueError(
            f"The semidefinite relaxation of {counts.n_items:,} {items} in {counts.n_clusters:,} "
            f"clusters has {size:,} variables; it is meant for at most {MOST_VARIABLES:,}. Fit a "
            f"sample of the {items}, or use the alternation alone (NEOKMeans, or another init of "
            "NEOCC)."
        )
