"""The relaxed problem: minimise f'd - trace(Y' K Y) over Y >= 0 and f; and its feasible f.

Letters as in the package's docstring. K comes as a function that multiplies it with a table. An f
is feasible if 0 <= f <= k, e'f = T and e'min(f, 1) >= N1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from neocc._typing import FloatArray
from neocc.core.problem import Counts
from neocc.kernels import Memberships, inverse

Product: TypeAlias = Callable[[FloatArray], FloatArray]
"""Multiplies the Gram matrix K with a table of one row per item."""

Point: TypeAlias = tuple[FloatArray, FloatArray]
"""Y, of shape (n, rank), and f, of shape (n,)."""

_MOST_VARIABLES = 5_000_000
"""Entries of Y beyond which a problem is refused: L-BFGS-B keeps some 25 vectors of that length."""

# Totals are met up to this share of the sums behind them, or after so many steps.
_ROUNDING = 1e-13
_MOST_STEPS = 200


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


def check_size(counts: Counts, n_columns: int, items: str, most: int = _MOST_VARIABLES) -> None:
    """Refuse problems whose Y would be too large; `items` names what is clustered."""
    size = counts.n_items * n_columns
    if size > most:
        raise ValueError(
            f"The semidefinite relaxation of {counts.n_items:,} {items} in {counts.n_clusters:,} "
            f"clusters has {size:,} variables; it is meant for at most {most:,}. Fit a "
            f"sample of the {items}, or use the alternation alone (NEOKMeans, or another init of "
            "NEOCC)."
        )


def nearest_feasible(t: FloatArray, weights: FloatArray, counts: Counts) -> FloatArray:
    """Return the feasible f of smallest sum_i weights_i (f_i - t_i)^2.

    Without the last condition it is `t` plus a common shift over the weights, clipped. Where that
    covers too few items, the parts of f below and above 1 are shifted separately: by the
    Karush-Kuhn-Tucker conditions the one then sums to N1 and the other to the rest.
    """
    pace = 1.0 / weights
    k, T, n = counts.n_clusters, counts.n_memberships, counts.n_items
    if counts.n_covered < n:
        f = clipped_to_total(t, pace, 0.0, k, T)
        if np.minimum(f, 1.0).sum() >= counts.n_covered:
            return f
    above = clipped_to_total(t, pace, 1.0, k, T - counts.n_covered + n)
    if counts.n_covered == n:
        return above
    below = clipped_to_total(t, pace, 0.0, 1.0, counts.n_covered)
    return below + (above - 1.0)


def clipped_to_total(
    t: FloatArray, pace: FloatArray, low: float, high: float, total: float
) -> FloatArray:
    """Return `t` plus a multiple of `pace`, clipped to [low, high] and then of sum `total`.

    The sum is a rising, piecewise linear function of the multiple: Newton's method ends on the
    right piece, and halving the bracket takes over where it would leave it.
    """
    enough = _ROUNDING * (total + float(np.abs(t).sum()))
    under, over = float(((low - t) / pace).min()), float(((high - t) / pace).max())
    shift = min(max((total - float(t.sum())) / float(pace.sum()), under), over)
    f = np.clip(t + shift * pace, low, high)
    for _ in range(_MOST_STEPS):
        excess = float(f.sum()) - total
        if abs(excess) <= enough:
            break
        if excess > 0:
            over = shift
        else:
            under = shift
        slope = float(pace[(f > low) & (f < high)].sum())
        step = shift - excess / slope if slope else under
        shift = step if under < step < over else 0.5 * (under + over)
        f = np.clip(t + shift * pace, low, high)
    return f
