"""Augmented Lagrangians of the relaxed problem, with their gradients.

The constraints of the low-rank problem, with slacks s and r, are

    c1 = trace(Y'Y) - k    c2 = Y (Y'e) - f    c3 = e'f - T    c4 = f - g - s    c5 = e'g - N1 - r

`FullLagrangian` carries multipliers for all of them (Hou et al., KDD 2015) and leaves all variables
to L-BFGS-B. `SplitLagrangian` carries c1 and c2 only: for a fixed Y the best (f, g, s, r) that
meets c3 to c5 has a closed form (`nearest_feasible`), so that Y is all that is left to search. That
is the splitting of the alternating direction method of multipliers (Hou et al., SDM 2016); the
second block, which costs next to nothing, is just minimised at every step of the first instead of
once after it.

Each constraint enters as -l c + (sigma / 2) c^2, with the shifted multiplier l - sigma c in the
gradient. c1, a single number against n in c2, counts n / trace(Z) times. In c2 an item counts as
often as its cost d exceeds the mean cost: far items would otherwise gain much from small
violations, and dominate whole columns of Y.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from neocc._typing import FloatArray
from neocc.rivals.lowrank.relaxation import Point, Relaxation, nearest_feasible


class Lagrangian(Protocol):
    """What the loop over multipliers needs."""

    penalty: float

    def pack(self, Y: FloatArray, f: FloatArray) -> FloatArray:
        """Return the variables of a point as one vector."""

    def unpack(self, x: FloatArray) -> Point:
        """Return (Y, f) from the variables."""

    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """Return lower and upper bounds of the variables."""

    def evaluate(self, x: FloatArray) -> tuple[float, FloatArray]:
        """Return value and gradient."""

    def update(self, x: FloatArray) -> float:
        """Move the multipliers to the shifted ones of x; return its largest violation."""


class _WithY:
    """The part that both have: the objective, c1 and c2."""

    def __init__(self, relaxation: Relaxation, rank: int) -> None:
        counts = relaxation.counts
        self.relaxation = relaxation
        self.shape = counts.n_items, rank
        self.penalty = 1.0
        self._weight = counts.n_items / relaxation.trace
        self._l1 = 0.0
        self._mu = np.zeros(counts.n_items)
        self._weights = np.maximum(relaxation.costs, 1.0)

    def _traces(self, Y: FloatArray, f: FloatArray) -> tuple[float, FloatArray]:
        """Return c1 and c2."""
        return float(np.vdot(Y, Y)) - self.relaxation.trace, Y @ Y.sum(axis=0) - f

    def _evaluate(
        self, Y: FloatArray, f: FloatArray
    ) -> tuple[float, FloatArray, tuple[float, FloatArray]]:
        """Return value, gradient in Y, and the shifted multipliers of c1 and c2."""
        c1, c2 = self._traces(Y, f)
        t1 = self._l1 - self.penalty * self._weight * c1
        v = self._mu - self.penalty * self._weights * c2
        KY = self.relaxation.product(Y)
        value = float(f @ self.relaxation.costs - np.vdot(Y, KY))
        value -= 0.5 * ((self._l1 + t1) * c1 + float((self._mu + v) @ c2))
        gradient = KY
        gradient += t1 * Y
        gradient *= -2.0
        gradient -= np.outer(v, Y.sum(axis=0))
        gradient -= v @ Y
        return value, gradient, (t1, v)

    def _move(self, Y: FloatArray, f: FloatArray) -> float:
        """Move the multipliers of c1 and c2; return the larger violation, relative."""
        c1, c2 = self._traces(Y, f)
        self._l1 -= self.penalty * self._weight * c1
        self._mu = self._mu - self.penalty * self._weights * c2
        of_rows = float((np.abs(c2) / np.maximum(f, 1.0)).max())
        return max(abs(c1) / self.relaxation.trace, of_rows)


class SplitLagrangian(_WithY):
    """Y alone is searched; the numbers of memberships f follow in closed form."""

    def pack(self, Y: FloatArray, f: FloatArray) -> FloatArray:
        """Return Y as a vector."""
        del f
        return Y.ravel().copy()

    def unpack(self, x: FloatArray) -> Point:
        """Return Y and the best f for it."""
        Y = x.reshape(self.shape)
        return Y, self._best_f(Y)

    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """Return the bounds of Y >= 0."""
        size = self.shape[0] * self.shape[1]
        return np.zeros(size), np.full(size, np.inf)

    def evaluate(self, x: FloatArray) -> tuple[float, FloatArray]:
        """Return value and gradient in Y; f being at its minimum, its derivative adds nothing."""
        value, gradient, _ = self._evaluate(*self.unpack(x))
        return value, gradient.ravel()

    def update(self, x: FloatArray) -> float:
        """Move the multipliers; f meets its own constraints always."""
        return self._move(*self.unpack(x))

    def _best_f(self, Y: FloatArray) -> FloatArray:
        """Minimise f'd + mu'f + (sigma / 2) |Y (Y'e) - f|^2 over feasible f."""
        pull = (self.relaxation.costs + self._mu) / (self.penalty * self._weights)
        wanted = Y @ Y.sum(axis=0) - pull
        return nearest_feasible(wanted, self._weights, self.relaxation.counts)


class FullLagrangian(_WithY):
    """All of (Y, f, g, s, r) is searched, and every constraint has a multiplier."""

    def __init__(self, relaxation: Relaxation, rank: int) -> None:
        super().__init__(relaxation, rank)
        self._l2 = 0.0
        self._gamma = np.zeros(self.shape[0])
        self._l3 = 0.0

    def pack(self, Y: FloatArray, f: FloatArray) -> FloatArray:
        """Return all variables as a vector, g, s and r as f has them."""
        g = np.minimum(f, 1.0)
        r = max(float(g.sum()) - self.relaxation.counts.n_covered, 0.0)
        return np.concatenate([Y.ravel(), f, g, f - g, [r]])

    def unpack(self, x: FloatArray) -> Point:
        """Return Y and f."""
        Y, f, _, _, _ = self._parts(x)
        return Y, f

    def _parts(self, x: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, float]:
        n, rank = self.shape
        Y, f, g, s = np.split(x[:-1], n * (rank + np.arange(3)))
        return Y.reshape(n, rank), f, g, s, float(x[-1])

    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """Return the bounds Y >= 0, 0 <= f <= k, 0 <= g <= 1, s >= 0, r >= 0."""
        n, rank = self.shape
        upper = np.full(n * (rank + 3) + 1, np.inf)
        upper[n * rank : n * (rank + 1)] = self.relaxation.counts.n_clusters
        upper[n * (rank + 1) : n * (rank + 2)] = 1.0
        return np.zeros(len(upper)), upper

    def _counts(
        self, f: FloatArray, g: FloatArray, s: FloatArray, r: float
    ) -> tuple[float, FloatArray, float]:
        """Return c3, c4 and c5."""
        counts = self.relaxation.counts
        return (
            float(f.sum()) - counts.n_memberships,
            f - g - s,
            float(g.sum()) - counts.n_covered - r,
        )

    def evaluate(self, x: FloatArray) -> tuple[float, FloatArray]:
        """Return value and gradient in all variables."""
        Y, f, g, s, r = self._parts(x)
        value, of_Y, (_, v) = self._evaluate(Y, f)
        c3, c4, c5 = self._counts(f, g, s, r)
        t2 = self._l2 - self.penalty * c3
        q = self._gamma - self.penalty * c4
        t3 = self._l3 - self.penalty * c5
        value -= 0.5 * ((self._l2 + t2) * c3 + float((self._gamma + q) @ c4) + (self._l3 + t3) * c5)
        of_f = self.relaxation.costs + v - t2 - q
        return value, np.concatenate([of_Y.ravel(), of_f, q - t3, q, [t3]])

    def update(self, x: FloatArray) -> float:
        """Move all multipliers."""
        Y, f, g, s, r = self._parts(x)
        c3, c4, c5 = self._counts(f, g, s, r)
        self._l2 -= self.penalty * c3
        self._gamma = self._gamma - self.penalty * c4
        self._l3 -= self.penalty * c5
        counts = self.relaxation.counts
        return max(
            self._move(Y, f),
            abs(c3) / counts.n_memberships,
            float((np.abs(c4) / np.maximum(f, 1.0)).max()),
            abs(c5) / counts.n_covered,
        )
