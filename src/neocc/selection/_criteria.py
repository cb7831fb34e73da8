"""Criteria for numbers of clusters. Larger is better for all of them.

With N = sum n_i * sum m_j the number of cells (memberships counted as often as they occur), J the
objective, and p the number of parameters of the block model,

* `icl`: integrated completed likelihood of the Gaussian latent block model with a common variance
  (Keribin, Brault, Celeux and Govaert, "Estimation and selection for the latent block model on
  categorical data", 2015, in its Gaussian form): likelihood + shares, with

      likelihood = - N/2 (log(2 pi J/N) + 1) - (p+1)/2 log N,    p = k l
      shares = sum_i n_i log(n_i / sum n) + sum_j m_j log(m_j / sum m)
               - (k-1)/2 log n - (l-1)/2 log m.

  The residue model has a mean per column in each row cluster and per row in each column cluster,
  p = k m + l n - k l. These grow with the data, which the penalty above does not allow for; they
  are integrated out under a Gaussian of fitted variance instead (empirical Bayes, as George and
  Foster, "Calibration and empirical Bayes variable selection", 2000). With J0 and p0 of one block,

      likelihood = - (N-p)/2 (log(2 pi J/(N-p)) + 1)
                   - (p-p0)/2 (log(2 pi (J0-J)/(p-p0)) + 1).
* `pseudo_f`: Calinski and Harabasz' ratio for two-mode partitions (Rocci and Vichi, "Two-mode
  multi-partitioning", 2008): explained sum of squares per parameter over J per degree of freedom.
* `hull`: elbow of J over the number of clusters k + l (CHull: Ceulemans and Kiers, "Selecting among
  three-mode principal component models of different types and complexities", 2006; the best of four
  criteria for two-mode partitions in Schepers, Ceulemans and Van Mechelen, "Selecting among
  multi-mode partitioning models of different complexities", 2008). For a pair on the lower convex
  hull, the slope of the hull before it over the slope after it; 0 at the end of the hull. Pairs
  above the hull are worse than all of these: minus their height above it, as a fraction of J0.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from neocc._typing import FloatArray
from neocc.core.objectives import Objective
from neocc.core.solve import Solution

CRITERIA = ("icl", "hull", "pseudo_f")


@dataclass(frozen=True)
class Fit:
    """What the criteria need from a solution."""

    objective: float
    row_sizes: FloatArray
    column_sizes: FloatArray
    n_rows: int
    n_columns: int
    n_cells: float

    @classmethod
    def of(cls, solution: Solution) -> Fit:
        """Read a solution of a two-sided problem."""
        U, V = solution.U, solution.V
        assert U is not None and V is not None
        cells = (float(members.weights.sum()) for members in (U, V))
        return cls(solution.objective, U.sizes, V.sizes, U.n_items, V.n_items, prod(cells))

    @property
    def n_row_clusters(self) -> int:
        """k."""
        return len(self.row_sizes)

    @property
    def n_column_clusters(self) -> int:
        """l."""
        return len(self.column_sizes)

    def n_parameters(self, objective: Objective) -> float:
        """p."""
        shape, n_clusters = (
            (self.n_rows, self.n_columns),
            (self.n_row_clusters, self.n_column_clusters),
        )
        return float(objective.n_parameters(shape, n_clusters))


def icl(fit: Fit, whole: Fit, objective: Objective, floor: float) -> float:
    """Integrated completed likelihood; NaN with as many parameters as cells.

    `whole` is the fit of one block, `floor` the smallest J that rounding can distinguish from 0.
    """
    N, p, J = fit.n_cells, fit.n_parameters(objective), max(fit.objective, floor)
    if p >= N:
        return float("nan")
    if not objective.per_item:
        likelihood = _gaussian(J, N) - 0.5 * (p + 1.0) * np.log(N)
    else:
        explained = max(whole.objective - fit.objective, floor)
        likelihood = _gaussian(J, N - p) + _gaussian(explained, p - whole.n_parameters(objective))
    entropies = _entropy(fit.row_sizes) + _entropy(fit.column_sizes)
    row_shares = 0.5 * (fit.n_row_clusters - 1) * np.log(fit.n_rows)
    column_shares = 0.5 * (fit.n_column_clusters - 1) * np.log(fit.n_columns)
    return float(likelihood + entropies - row_shares - column_shares)


def pseudo_f(fit: Fit, whole: Fit, objective: Objective, floor: float) -> float:
    """Explained sum of squares per parameter over J per degree of freedom; NaN where undefined."""
    added = fit.n_parameters(objective) - whole.n_parameters(objective)
    left = fit.n_cells - fit.n_parameters(objective)
    if added <= 0 or left <= 0:
        return float("nan")
    J = max(fit.objective, floor)
    return float((whole.objective - fit.objective) / added / (J / left))


def hull(fits: list[Fit], whole: Fit, floor: float) -> FloatArray:
    """Elbow of J for all fits together; `whole`, the fit of one block, begins the hull."""
    points = [whole, *fits]
    sizes = np.array([each.n_row_clusters + each.n_column_clusters for each in points], float)
    values = np.array([each.objective for each in points])
    corners = _lower_hull(sizes, values)
    x, y = sizes[corners], values[corners]
    slopes = np.maximum(-np.diff(y) / np.diff(x), floor)
    found: FloatArray = (np.interp(sizes, x, y) - values) / max(whole.objective, floor)
    found[corners] = 0.0
    found[corners[1:-1]] = slopes[:-1] / slopes[1:]
    return found[1:]


def _lower_hull(x: FloatArray, y: FloatArray) -> list[int]:
    """Return the corners of the lower convex hull, from left to right, while it falls."""
    corners: list[int] = []
    for i in np.lexsort((y, x)).tolist():
        if corners and (x[i] == x[corners[-1]] or y[i] >= y[corners[-1]]):
            continue
        while len(corners) > 1 and _turns_up(x, y, corners[-2], corners[-1], i):
            corners.pop()
        corners.append(i)
    return corners


def _turns_up(x: FloatArray, y: FloatArray, a: int, b: int, c: int) -> bool:
    """Return whether b lies on or above the line from a to c."""
    return bool((y[b] - y[a]) * (x[c] - x[a]) >= (y[c] - y[a]) * (x[b] - x[a]))


def _gaussian(squares: float, n: float) -> float:
    """Log-likelihood of n centred values with a sum of squares, at the variance that fits best."""
    return float(-0.5 * n * (np.log(2.0 * np.pi * squares / n) + 1.0)) if n > 0 else 0.0


def _entropy(sizes: FloatArray) -> float:
    filled = sizes[sizes > 0]
    return float(filled @ np.log(filled / filled.sum()))
