"""The same mixture where items are means of observed cells, of few here and of many there.

Coordinate j of item p is the mean of n_pj cells: its variance is v_j / n_pj, with v_j that of a
cell, or v_ij if clusters differ. Where there are no cells a coordinate tells nothing. Coordinates
have no cells in common, so that covariances are diagonal.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from neocc._typing import FloatArray
from neocc.selection._mixture import Mixture

__all__ = ["Cells", "Scattered"]

_FLOOR = 1e-8
_TINY = 1e-300


@dataclass(frozen=True)
class Cells:
    """Items as means of cells, and numbers of these: two tables with a line per item."""

    means: FloatArray
    numbers: FloatArray

    def __len__(self) -> int:
        return len(self.means)

    def __getitem__(self, items: Any) -> Cells:
        return Cells(self.means[items], self.numbers[items])

    @cached_property
    def known(self) -> FloatArray:
        """Which coordinates have any cells: 1 or 0."""
        return np.asarray(self.numbers > 0.0, dtype=np.float64)

    @cached_property
    def sums(self) -> FloatArray:
        """Sums of the cells."""
        return self.numbers * self.means

    @cached_property
    def squared(self) -> FloatArray:
        """Squares of the means, as often as there are cells."""
        return self.sums * self.means

    @cached_property
    def table(self) -> FloatArray:
        """All that densities are linear in: squares, sums, numbers, and which there are."""
        return np.hstack([self.squared, self.sums, self.numbers, self.known])

    @cached_property
    def constant(self) -> FloatArray:
        """What the log-density of each item has in common with that of any means and variances."""
        known = self.numbers > 0.0
        logs = np.log(2.0 * np.pi / np.where(known, self.numbers, 1.0))
        return np.asarray(np.where(known, logs, 0.0).sum(axis=1))

    def squares(self, points: FloatArray) -> FloatArray:
        """Return the squared distance of every item to points: a sum over cells."""
        total: FloatArray = self.squared.sum(axis=1)[:, None] - 2.0 * self.sums @ points.T
        return np.maximum(total + self.numbers @ np.square(points).T, 0.0)


class Scattered(Mixture):
    """Prototypes and variances of a cell: of shape (n_dimensions,), or a line per cluster."""

    @property
    def common(self) -> FloatArray:
        """The variances of all clusters, or the means of theirs."""
        v = self.covariance
        return v if v.ndim == 1 else self.single @ v

    @property
    def variance(self) -> float:
        """The mean variance of a cell around a prototype."""
        return float(self.common.mean())

    @property
    def n_variances(self) -> float:
        """The number of parameters that tell the noise."""
        return float(self.covariance.size)

    def white(self, Y: Cells) -> FloatArray:
        """Return what turns the noise of usual items into that of variance 1."""
        return np.diag(np.sqrt(Y.numbers.mean(axis=0) / self.common))

    def densities(self, Y: Cells) -> FloatArray:
        """Return the log-density of items at each set, given its size."""
        centres, v = self.sets.weights @ self.prototypes, self._of_sets()
        slopes = np.hstack([1.0 / v, -2.0 * centres / v, np.square(centres) / v, np.log(v)])
        density: FloatArray = (-0.5 * slopes @ Y.table.T).T
        density -= 0.5 * Y.constant[:, None]
        density += self.within(self.white(Y))
        return density

    def learned(self, Y: Cells, parts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return prototypes and variances, given the parts of items in sets."""
        W, v = self.sets.weights, self._of_sets()
        k, r = self.prototypes.shape
        squares, sums, cells, known = np.hsplit(parts.T @ Y.table, 4)
        gram = np.einsum("si,sj,sh->jih", W, cells / v, W)
        traces = np.einsum("jii->j", gram) + _TINY
        gram += _FLOOR * traces[:, None, None] / k * np.eye(k)
        prototypes = np.linalg.solve(gram, (W.T @ (sums / v)).T[:, :, None])[:, :, 0].T
        centres = W @ prototypes
        scatter = np.maximum(squares - 2.0 * centres * sums + np.square(centres) * cells, 0.0)
        floor = _FLOOR * Y.squared.mean(axis=0) + _TINY
        usual = scatter.sum(axis=0) / (known.sum(axis=0) + _TINY) + floor
        if self.covariance.ndim == 1:
            return prototypes, usual
        # Drawn towards the usual ones as by as many items as there are dimensions.
        prior = r + 1.0
        return prototypes, (W.T @ scatter + prior * usual) / (W.T @ known + prior)

    def _of_sets(self) -> FloatArray:
        """Return the variances of every set."""
        v, W = self.covariance, self.sets.weights
        return np.broadcast_to(v, (len(W), len(v))) if v.ndim == 1 else W @ v
