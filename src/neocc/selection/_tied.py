"""Lines that add up to a constant: the last of them follows from the others.

Centring m lines leaves correlations of -1/(m - 1) between them, and shares of a whole are no more
independent. Of hundreds of lines nobody would notice; of six, clusters of the cells that are known
predict those that are held out, in pure noise, by no more than what all must add up to. With w the
weights of lines that add up to a constant, and x_h the held-out cells of an item, the part of x_h
along w_h follows from the known ones. Given it, lines that can be exchanged tell nothing of each
other: what clusters predict of the rest of x_h is structure.

Of two lines nothing is left to predict, and of three too little to be sure. Weights must be
positive: columns that tell the same, like the length and the width of shells, have differences that
hardly vary, and these are structure.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from neocc._typing import FloatArray
from neocc.core.engine import Engine
from neocc.core.objectives import Side

__all__ = ["Ties", "of_their_sum"]

# The correlation that centring leaves between more lines is too small to be taken for groups.
_FEW_LINES = 20
# Of three at best half of the cells that are held out do not follow from the others.
_TOO_FEW = 3
# Variance of the sum over that of independent lines: shares are often rounded.
_CONSTANT = 0.01
# Fewer items than lines are always dependent.
_ITEMS_PER_LINE = 2
_LEAST_WEIGHT = 1e-3


class Ties(NamedTuple):
    """Weights with which rows, and columns, add up to a constant: zeros if they do not."""

    rows: FloatArray
    columns: FloatArray

    @classmethod
    def of(cls, engine: Engine) -> Ties:
        """Look for them."""
        return cls(_weights(engine, "rows"), _weights(engine, "columns"))

    @property
    def told(self) -> tuple[bool, bool]:
        """Whether held-out cells can tell clearly of rows, and of columns."""
        of_rows, of_columns = (
            not 0 < int(np.count_nonzero(w)) <= _TOO_FEW for w in (self.columns, self.rows)
        )
        return of_rows, of_columns


def of_their_sum(unseen: Engine, P: FloatArray, Q: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the squared error of each column along weights of its cells, predicted by P Q'."""
    if not weights.any():
        return np.zeros(len(Q))
    w = (weights / np.linalg.norm(weights))[:, None]
    return np.asarray(np.square(unseen.multiply_transposed(w) - Q @ (P.T @ w))[:, 0])


def _weights(engine: Engine, side: Side) -> FloatArray:
    n, m = engine.shape if side == "rows" else engine.shape[::-1]
    weights = np.zeros(n)
    if n > _FEW_LINES or m < _ITEMS_PER_LINE * n:
        return weights
    each = np.eye(n)
    lines = engine.multiply_transposed(each) if side == "rows" else engine.multiply(each)
    away = lines - lines.mean(axis=0)
    varies = away.std(axis=0)
    some = varies > 0
    if some.sum() < 2:
        return weights
    products = away[:, some].T @ away[:, some] / m
    for found in (np.ones(int(some.sum())), np.linalg.eigh(products)[1][:, 0]):
        w = found * np.sign(found.sum())
        alone = np.square(w) @ np.square(varies[some])
        if w.min() > _LEAST_WEIGHT * w.max() and w @ products @ w <= _CONSTANT * alone:
            weights[some] = w
            break
    return weights
