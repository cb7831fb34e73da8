"""One sample of the infinite plaid model, with the residual it leaves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neocc._typing import BoolArray, FloatArray, IntArray
from neocc.rivals.plaid.model import Moments, Parameters

# Entries counted at a time; small enough for float32 to count exactly.
_CHUNK = 1 << 16

Sets = tuple[BoolArray, BoolArray]
"""Rows and columns: of one sub-matrix, (N1,) and (N2,), or of K of them, (K, N1) and (K, N2)."""


def stacked(sets: Sets) -> Sets:
    """One sub-matrix as a collection of one."""
    return sets[0][None], sets[1][None]


def united(sets: Sets) -> Sets:
    """Return the union of the rows and the union of the columns of K sub-matrices."""
    rows: BoolArray = np.logical_or.reduce(sets[0], axis=0)
    columns: BoolArray = np.logical_or.reduce(sets[1], axis=0)
    return rows, columns


def areas(sets: Sets) -> FloatArray:
    """Return the number of entries, seen or not, of each of K sub-matrices."""
    n_entries: FloatArray = sets[0].sum(axis=1) * sets[1].sum(axis=1).astype(float)
    return n_entries


@dataclass(frozen=True)
class Field:
    """A matrix, 0 where nothing was observed, that can be summed along either side.

    `observed` is 1 where an entry was observed and else 0, or None where all were.
    """

    values: FloatArray
    observed: FloatArray | None

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return self.values.shape[0], self.values.shape[1]

    @property
    def T(self) -> Field:
        """The same entries with the sides exchanged, without a copy."""
        return Field(self.values.T, None if self.observed is None else self.observed.T)

    @property
    def n_observed(self) -> int:
        """Number of observed entries."""
        return self.values.size if self.observed is None else int(self.observed.sum())

    @property
    def squares(self) -> float:
        """Sum of the squared entries."""
        return float(np.vdot(self.values, self.values))

    def sums(self, y: FloatArray) -> FloatArray:
        """Sum over j of y_j times the entry, for each row."""
        sums: FloatArray = self.values @ y
        return sums

    def counts(self, y: FloatArray) -> FloatArray:
        """Sum over j of y_j where an entry was observed, for each row."""
        if self.observed is None:
            return np.full(self.shape[0], y.sum())
        counts: FloatArray = self.observed @ y
        return counts

    def block(self, sets: Sets) -> Field:
        """Copy the entries of some rows and columns."""
        place = np.ix_(*sets)
        return Field(self.values[place], None if self.observed is None else self.observed[place])

    def add(self, sets: Sets, amount: float) -> None:
        """Add a number to the observed entries of a block, in place."""
        place = np.ix_(*sets)
        if self.observed is None:
            self.values[place] += amount
        else:
            self.values[place] += amount * self.observed[place]

    def minus(self, mean: FloatArray | float) -> Field:
        """Subtract the mean of every entry from those observed, in a copy."""
        values = self.values - mean
        if self.observed is not None:
            values *= self.observed
        return Field(values, self.observed)

    def totals(self, sets: Sets) -> tuple[FloatArray, FloatArray]:
        """Return the number and the sum of the observed entries of each of K sub-matrices."""
        rows = sets[0].astype(float)
        sums: FloatArray = ((rows @ self.values) * sets[1]).sum(axis=1)
        if self.observed is None:
            return areas(sets), sums
        counts: FloatArray = ((rows @ self.observed) * sets[1]).sum(axis=1)
        return counts, sums

    def moments(self, sets: Sets, chunk: int = _CHUNK) -> Moments:
        """Observed entries that pairs of K sub-matrices share, and sums over each of them."""
        counts, sums = self.totals(sets)
        if len(counts) == 1:
            return counts[:, None], sums
        if self.observed is None:
            U, V = (members.astype(float) for members in sets)
            return (U @ U.T) * (V @ V.T), sums
        return self._shared(sets, chunk), sums

    def _shared(self, sets: Sets, chunk: int) -> FloatArray:
        """Observed entries that pairs of K sub-matrices share, where some are missing."""
        assert self.observed is not None
        rows, columns = sets
        # Count the rarer entries one by one: those seen, or the missing ones, taken off the whole.
        is_missing = self.observed == 0
        few_missing = 2 * int(is_missing.sum()) < is_missing.size
        i, j = np.nonzero(is_missing if few_missing else self.observed)
        shared = np.zeros((len(rows), len(rows)))
        for begin in range(0, len(i), chunk):
            part = slice(begin, begin + chunk)
            inside = (rows[:, i[part]] & columns[:, j[part]]).astype(np.float32)
            shared += inside @ inside.T
        if few_missing:
            U, V = rows.astype(float), columns.astype(float)
            shared = (U @ U.T) * (V @ V.T) - shared
        return shared


@dataclass(frozen=True)
class Sample:
    """What a sample consists of, without the data."""

    rows: BoolArray  # (K, N1)
    columns: BoolArray  # (K, N2)
    theta: FloatArray  # (K,)
    phi: float
    parameters: Parameters


class State:
    """A sample that is being changed, and what it leaves of the data.

    The moves replace the arrays of sub-matrices, and write into the residual.
    """

    def __init__(self, data: Field, sample: Sample) -> None:
        self.data = data
        self.rows, self.columns = sample.rows.copy(), sample.columns.copy()
        self.theta, self.phi = sample.theta.copy(), sample.phi
        self.parameters = sample.parameters
        self.refresh()

    @property
    def sample(self) -> Sample:
        """A copy of the sample."""
        rows, columns, theta = self.rows.copy(), self.columns.copy(), self.theta.copy()
        return Sample(rows, columns, theta, self.phi, self.parameters)

    @property
    def sets(self) -> Sets:
        """Rows and columns of all sub-matrices."""
        return self.rows, self.columns

    @property
    def K(self) -> int:
        """Number of sub-matrices."""
        return len(self.theta)

    @property
    def log_likelihood(self) -> float:
        """Log density of the observed entries."""
        tau0 = self.parameters.tau0
        log_scale = self.data.n_observed * float(np.log(tau0 / (2 * np.pi)))
        return (log_scale - tau0 * self.residual.squares) / 2

    def mean(self) -> FloatArray:
        """Mean of every entry."""
        mean: FloatArray = (self.rows.T * self.theta) @ self.columns.astype(float)
        mean += self.phi
        return mean

    def refresh(self) -> None:
        """Compute the residual from scratch, which also ends the growth of rounding errors."""
        self.residual = self.data.minus(self.mean())

    def add(self, sets: Sets, theta: float) -> None:
        """Add a sub-matrix."""
        self.rows = np.concatenate([self.rows, sets[0][None]])
        self.columns = np.concatenate([self.columns, sets[1][None]])
        self.theta = np.append(self.theta, theta)
        self.residual.add(sets, -theta)

    def remove(self, k: int) -> tuple[Sets, float]:
        """Take a sub-matrix away and return it."""
        sets, theta = (self.rows[k], self.columns[k]), float(self.theta[k])
        self.residual.add(sets, theta)
        self.rows = np.delete(self.rows, k, axis=0)
        self.columns = np.delete(self.columns, k, axis=0)
        self.theta = np.delete(self.theta, k)
        return sets, theta

    def reorder(self, order: IntArray) -> None:
        """Put the sub-matrices into another order."""
        self.rows, self.columns = self.rows[order], self.columns[order]
        self.theta = self.theta[order]
